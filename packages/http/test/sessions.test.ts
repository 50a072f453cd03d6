import { EventEmitter, once } from 'node:events';
import type { Socket } from 'node:net';

import { describe, expect, it } from '@jest/globals';
import { type ListenOptions, mcp } from '@decorum/http';
import fastify from 'fastify';

import { EventReader, getStream, nextSweep, type ServerEvent } from './events.js';
import {
  afterwards,
  call,
  createServer,
  type Fields,
  INITIALIZE,
  openSession,
  post,
  Probe,
  request,
  serve,
  serveSession,
} from './fixture.js';
import { stopClock } from './clock.js';

const PING = request(1, 'ping');
const status = async (url: string, headers: Fields, message: unknown = PING) =>
  (await post(url, message, headers)).status;

/** Trusts the caller's claim about its identity. */
const principal: ListenOptions['principal'] = ({ headers }) => {
  const subject = headers['x-user'];
  return typeof subject === 'string' ? { subject } : undefined;
};

describe('a session', () => {
  it('ends with DELETE even if that has a content type and no body, as from the official Python client', async () => {
    const { url } = await serve();
    const typed = { 'content-type': 'application/json' };
    const session = await openSession(url);
    expect((await fetch(url, { method: 'DELETE', headers: { ...session, ...typed } })).status).toBe(204);
    expect(await status(url, session)).toBe(404);
    const stateless = { ...typed, 'mcp-protocol-version': '2026-07-28' };
    expect((await fetch(url, { method: 'DELETE', headers: stateless })).status).toBe(405);
    // a POST without a body is still invalid
    expect((await post(url, '', session)).status).toBe(400);
  });
});

describe('the owner of a session', () => {
  it('is known to handlers', async () => {
    const { url, probe } = await serve({ principal });
    const began = once(probe, 'began');
    const session = await openSession(url, { 'x-user': 'alice' });
    const pending = post(url, call(1, 'wait'), session);
    await began;
    const [context] = probe.contexts;
    expect(context?.principal).toEqual({ subject: 'alice' });
    expect(context?.sessionId).toBe(session['mcp-session-id']);
    expect(context?.transport).toMatchObject({ kind: 'http', headers: { 'x-user': 'alice' } });
    probe.emit('go');
    await (await pending).text();
  });
});

describe('the number of sessions', () => {
  it('protects a call only while a client is on its stream, the first or one that resumes it', async () => {
    const { url, probe, session } = await serveSession({ limits: { maxSessions: 1 } });
    const began = once(probe, 'began');
    // the handler lets the client come back later
    const polled = new EventReader(await post(url, call(1, 'poll'), session));
    const { id } = (await polled.next()) as ServerEvent;
    await polled.rest();
    await began;
    const resumed = await getStream(url, { ...session, 'last-event-id': id as string });
    expect((await post(url, INITIALIZE)).status).toBe(503);
    const aborted = once(probe, 'aborted');
    await resumed.cancel();
    // the server notices it when the connection closes
    for (let code = 503; code === 503;) code = (await post(url, INITIALIZE)).status;
    await aborted;
    expect(await status(url, session)).toBe(404);
  });

  it('protects a call that is paused until its client is back only as long as there is room', async () => {
    const { url, probe, session } = await serveSession({ limits: { maxSessions: 1 } });
    const aborted = once(probe, 'aborted');
    await new EventReader(await post(url, call(1, 'poll'), session)).rest();
    await openSession(url);
    await aborted;
    expect(await status(url, session)).toBe(404);
  });

  it('protects a batch while its client waits', async () => {
    const { url, probe, session } = await serveSession({ limits: { maxSessions: 1 } }, {}, '2025-03-26');
    const began = once(probe, 'began');
    const left = new AbortController();
    const pending = post(url, [call(1, 'wait'), PING], session, left.signal).catch(() => {});
    await began;
    expect((await post(url, INITIALIZE)).status).toBe(503);
    const aborted = once(probe, 'aborted');
    left.abort();
    await pending;
    for (let code = 503; code === 503;) code = (await post(url, INITIALIZE)).status;
    await aborted;
    expect(await status(url, session)).toBe(404);
  });

  it.each([
    ['a refused GET', { accept: 'text/html' }, 406],
    ['a GET for a stream that is unknown', { accept: 'text/event-stream', 'last-event-id': 'unknown' }, 400],
  ])('keeps a session from being idle with %s', async (_name, headers, expected) => {
    const pass = stopClock();
    const { url } = await serve({ limits: { sessionIdleMs: 60_000 }, keepAliveMs: 5 });
    const [used, idle, reading] = [await openSession(url), await openSession(url), await openSession(url)];
    const sweep = () => nextSweep(async () => await getStream(url, reading));
    await sweep();
    pass(60_000);
    expect((await fetch(url, { headers: { ...used, ...headers } })).status).toBe(expected);
    await sweep();
    pass(1);
    await sweep();
    expect(await status(url, idle)).toBe(404);
    pass(59_999);
    await sweep();
    expect(await status(url, used)).toBe(200);
  });

  it('shrinks for others when a session cannot resume its stream, and has no other client', async () => {
    const reads: (() => void)[] = [];
    const read = () => new Promise<undefined>((resolve) => reads.push(() => resolve(undefined)));
    const events = { append() {}, read };
    const { url } = await serve({ limits: { maxSessions: 2 }, events, keepAliveMs: 5 });
    const [resuming, reading] = [await openSession(url), await openSession(url)];
    await getStream(url, reading);
    const resumed = { ...resuming, accept: 'text/event-stream', 'last-event-id': `p${'0'.repeat(8)}-0` };
    const answer = fetch(url, { headers: resumed });
    while (reads.length === 0) await new Promise(setImmediate);
    expect(await status(url, {}, INITIALIZE)).toBe(503);
    reads[0]?.();
    expect((await answer).status).toBe(400);
    await nextSweep(async () => await getStream(url, reading));
    expect(await status(url, {}, INITIALIZE)).toBe(200);
    expect([await status(url, resuming), await status(url, reading)]).toEqual([404, 200]);
  });

  it('shrinks when a session is idle whose client has left, and its call is cancelled', async () => {
    const pass = stopClock();
    const probe = new Probe();
    const app = fastify();
    const sockets = new EventEmitter();
    app.server.on('connection', (socket: Socket) => socket.once('close', () => sockets.emit('closed')));
    await app.register(mcp, { server: createServer(probe).server, limits: { sessionIdleMs: 60_000 }, keepAliveMs: 5 });
    afterwards(() => app.close());
    const url = `${await app.listen({ port: 0, host: '127.0.0.1' })}/mcp`;
    const [leaving, reading] = [await openSession(url), await openSession(url)];
    const began = once(probe, 'began');
    const [aborted, left] = [once(probe, 'aborted'), new AbortController()];
    const pending = post(url, call(1, 'wait'), leaving, left.signal).catch(() => {});
    await began;
    const closed = once(sockets, 'closed');
    left.abort();
    await Promise.all([pending, closed]);
    const sweep = () => nextSweep(async () => await getStream(url, reading));
    await sweep();
    pass(60_001);
    await sweep();
    await aborted;
    expect([await status(url, leaving), await status(url, reading)]).toEqual([404, 200]);
    probe.emit('go');
  });
});
