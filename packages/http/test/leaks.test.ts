// What nobody needs any more: streams that have ended, messages whose calls wait, and events that nobody reads.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import { afterEach, describe, expect, it } from '@jest/globals';
import { MemoryEventStore } from '@decorum/http';

import { EventStream } from '../src/streams/stream.js';
import { Connection } from './connection.js';
import { EventReader } from './events.js';
import { afterwards, serveSession } from './fixture.js';
import { call, type Fields, INITIALIZE, TOKEN } from './messages.js';
import { post, statusOf } from './sending.js';

setFlagsFromString('--expose-gc');
const gc = runInNewContext('gc') as () => void;

const attach = EventStream.prototype.attach;
const seen = new Set<WeakRef<EventStream>>();
// every stream with a reader is seen once, without being held
EventStream.prototype.attach = function attachAndNote(this: EventStream, sink) {
  seen.add(new WeakRef(this));
  attach.call(this, sink);
};
afterEach(() => seen.clear());

/** How many objects are still in memory. */
async function held(objects: Iterable<WeakRef<object>>): Promise<number> {
  for (let turn = 0; turn < 5; turn += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    gc();
  }
  return [...objects].filter((object) => object.deref() !== undefined).length;
}

const STREAMS = 20;
const CALLS = 40;

describe('A session keeps nothing', () => {
  it.each([
    ['without an event store', false as const],
    ['beyond what is in its event store', new MemoryEventStore({ maxEvents: 8 })],
  ])('of streams that have ended, %s', async (_how, events) => {
    const { url, session } = await serveSession({ events });
    for (let id = 1; id <= STREAMS; id += 1) {
      const response = await post(url, call(id, 'steps', {}, TOKEN), session);
      expect((await new EventReader(response).rest()).at(-1)?.message).toMatchObject({ id, result: {} });
    }
    expect(seen.size).toBe(STREAMS);
    // the last one may still be in use by its connection
    expect(await held(seen)).toBeLessThan(3);
    expect(await statusOf(url, session)).toBe(200);
  });
});

/** Bytes that this process retains. */
function retained(): number {
  gc();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

describe('A call that waits for the client', () => {
  it('keeps neither the bytes of its message nor what was parsed from them', async () => {
    const { url, session } = await serveSession();
    const parsed: WeakRef<object>[] = [];
    const { parse } = JSON;
    afterwards(() => (JSON.parse = parse));
    // the calls would delay the end of the server
    afterwards(() => fetch(url, { method: 'DELETE', headers: session }));
    JSON.parse = (text: string) => {
      const message = parse(text) as { params: object };
      parsed.push(new WeakRef(message), new WeakRef(message.params));
      return message;
    };
    let before = 0;
    for (let id = 0; id <= CALLS; id += 1) {
      const { params, ...message } = call(id, 'ask');
      const connection = await Connection.open(url);
      connection.post({ ...message, params: { ...params, unknown: `${id} ${'x'.repeat(262_144)}` } }, session);
      expect(await connection.until(/elicitation/)).toMatch(/content-type: text\/event-stream/i);
      if (id === 0) before = retained();
    }
    expect(parsed).toHaveLength(2 * CALLS + 2);
    // the last one may still be in use by its connection
    expect(await held(parsed)).toBeLessThan(5);
    // what connections read with is freed a little later
    while (retained() - before >= 4_000_000) await new Promise((resolve) => setTimeout(resolve, 20));
  });
});

const MANY = 1000;
const FIXTURE = fileURLToPath(new URL('fixtures/unread.mjs', import.meta.url));
const MIB = 1_048_576;

/** Starts the fixture, a program that uses the built packages. */
async function start(count: number, size: number) {
  const folder = await mkdtemp(join(tmpdir(), 'unread-'));
  const path = join(folder, 'socket');
  const limits = { maxTotalBufferedBytes: 16 * MIB, maxStreams: MANY };
  const child = fork(
    FIXTURE,
    [path, count, size, limits].map((each) => JSON.stringify(each)),
  );
  afterwards(() => rm(folder, { recursive: true }));
  afterwards(() => child.kill('SIGKILL'));
  await once(child, 'message');
  const rss = async (): Promise<number> => {
    const answered = once(child, 'message');
    child.send('rss');
    const [{ rss: bytes }] = (await answered) as [{ rss: number }];
    return bytes;
  };
  /** Sends a request on a new connection. Returns the first part of the answer, if any, and reads no more. */
  const send = async (method: string, more: Fields, body = ''): Promise<string> => {
    const accept = method === 'GET' ? 'text/event-stream' : 'application/json, text/event-stream';
    const headers = { host: 'localhost', accept, ...more };
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    const client = connect(path);
    client.on('error', () => {});
    afterwards(() => client.destroy());
    client.write(`${method} /mcp HTTP/1.1\r\n${lines.join('')}\r\n${body}`);
    const [first] = (await Promise.race([once(client, 'data'), once(client, 'close')])) as [Buffer | boolean];
    client.pause();
    return typeof first === 'boolean' ? '' : first.toString('latin1', 0, 1000);
  };
  return { rss, send };
}

describe('a client that resumes a thousand streams and reads nothing', () => {
  it.each([
    ['one large event', 1, 400_000],
    ['many small events', 4000, 250],
  ])('does not make the process hold %s of each', async (_which, count, size) => {
    const { rss, send } = await start(count, size);
    const body = JSON.stringify(INITIALIZE);
    const type = { 'content-type': 'application/json', 'content-length': String(body.length) };
    const id = /^mcp-session-id: (.+)\r$/im.exec(await send('POST', type, body))?.[1] as string;
    const session = { 'mcp-session-id': id, 'mcp-protocol-version': '2025-11-25' };
    const before = await rss();
    const streamIds = Array.from({ length: MANY }, (_, n) => `p${String(n).padStart(8, '0')}`);
    const answers: string[] = [];
    while (streamIds.length > 0) {
      // more at once would not fit in the queue of a socket file, and be refused
      const some = streamIds.splice(0, 100);
      answers.push(
        ...(await Promise.all(some.map((stream) => send('GET', { ...session, 'last-event-id': `${stream}-0` })))),
      );
    }
    // the others were cut off before their first byte
    const begun = answers.filter((answer) => answer !== '');
    expect(begun.length).toBeGreaterThan(MANY / 10);
    for (const answer of begun) expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    // 400 MB to 1 GB if each were copied; what exceeds the limit is garbage that the runtime has not collected
    expect((await rss()) - before).toBeLessThan(200 * MIB);
  });
});
