import { type ClientRequest, get } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';

import { CALLS, type Era } from './calls.js';
import type { Measured, Samples } from './entrant.js';
import { HttpEntrant } from './http-entrant.js';
import { closeSession, openSession, type Session, sessionHeaders } from './requests.js';

/** Just below a power of two, because maps double their capacity, and unused capacity would count as session memory. */
const SESSIONS = 2000;
const STREAMS = 200;
/** Warm-up sessions. After these and as many streams as are measured, code is compiled and connections are open. */
const FIRST = 300;
/** Calls over which heap growth is measured. */
const CALLS_KEPT = 40_000;
/** Sessions to open concurrently. */
const AT_ONCE = 8;
/** Milliseconds until the server has released the memory of responses. */
const QUIET_MS = 300;

/** Measures the heap of the server with many idle sessions, with streams on some of them, and after many calls. */
export async function measureSessions(arena: Measured): Promise<Samples> {
  const { urls } = await arena.ask({ kind: 'open', parts: ['listen'], moreTools: 0 });
  const url = new URL(urls?.listen ?? '');
  const heap = async () => {
    await wait(QUIET_MS);
    return (await arena.ask({ kind: 'heap' })).bytes ?? NaN;
  };
  const first = await openSessions(url, FIRST);
  for (const stream of await openStreams(url, first.slice(0, STREAMS))) stream.destroy();
  for (const session of first) await closeSession(url, session);
  const empty = await heap();
  const sessions = await openSessions(url, SESSIONS);
  const idle = await heap();
  const streams = await openStreams(url, sessions.slice(0, STREAMS));
  const streaming = await heap();
  for (const stream of streams) stream.destroy();
  const kept = async (style: Era) => {
    const calls = new HttpEntrant(arena, { url: url.href, call: CALLS.add, style, connections: AT_ONCE, bare: false });
    await calls.prepare();
    await calls.slice(CALLS_KEPT / 2);
    const before = await heap();
    await calls.slice(CALLS_KEPT);
    const cost = ((await heap()) - before) / CALLS_KEPT;
    await calls.finish();
    return { cost };
  };
  return new Map([
    ['idle', { cost: (idle - empty) / SESSIONS }],
    ['with a stream, more', { cost: (streaming - idle) / STREAMS }],
    ['kept per call, session', await kept('session')],
    ['kept per call, stateless', await kept('stateless')],
  ]);
}

async function openSessions(url: URL, count: number): Promise<Session[]> {
  const sessions: Session[] = [];
  while (sessions.length < count) {
    sessions.push(...(await Promise.all(Array.from({ length: AT_ONCE }, () => openSession(url)))));
  }
  return sessions;
}

async function openStreams(url: URL, sessions: readonly Session[]): Promise<ClientRequest[]> {
  return await Promise.all(
    sessions.map(
      (session) =>
        new Promise<ClientRequest>((resolve, reject) => {
          const headers = { accept: 'text/event-stream', ...sessionHeaders(session) };
          const request = get(url, { agent: false, headers }, (response) => {
            // ignore the events, and the error when we destroy the request
            response.on('error', () => {}).resume();
            if (response.statusCode === 200) resolve(request);
            else reject(new Error(`GET got status ${response.statusCode}`));
          });
          request.on('error', reject);
        }),
    ),
  );
}
