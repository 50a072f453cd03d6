// Sessions: what keeps and ends them, whose place others get, and what each of their clients is told.
import { EventEmitter, once } from 'node:events';
import type { Socket } from 'node:net';

import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { McpServer, Tool } from '@decorum/core';
import { listen, mcp } from '@decorum/http';
import { connect as connectClient } from '@decorum/testing';
import fastify from 'fastify';

import { cpuMs } from '../../../test/support/cpu.js';
import type { Sink } from '../src/endpoint/http-context.js';
import { HttpError } from '../src/endpoint/http-error.js';
import { PendingCallbacks } from '../src/endpoint/pending-callbacks.js';
import { SlowReaders } from '../src/endpoint/slow-readers.js';
import { HttpSession } from '../src/sessions/session.js';
import type { SessionSettings } from '../src/sessions/session-settings.js';
import { Sessions } from '../src/sessions/sessions.js';
import { StoreCalls } from '../src/sessions/store-calls.js';
import { EndingSinks } from '../src/streams/stream-parts.js';
import { stopClock } from './clock.js';
import { EventReader, getStream, nextSweep, type ServerEvent } from './events.js';
import { afterwards, createServer, kernelOf, Probe, serve, serveSession, whenBegun } from './fixture.js';
import { call, INITIALIZE, request } from './messages.js';
import { openSession, post, statusOf } from './sending.js';

describe('a session', () => {
  it('ends with DELETE even if that has a content type and no body, as from the official Python client', async () => {
    const { url } = await serve();
    const typed = { 'content-type': 'application/json' };
    const session = await openSession(url);
    expect((await fetch(url, { method: 'DELETE', headers: { ...session, ...typed } })).status).toBe(204);
    expect(await statusOf(url, session)).toBe(404);
    const stateless = { ...typed, 'mcp-protocol-version': '2026-07-28' };
    expect((await fetch(url, { method: 'DELETE', headers: stateless })).status).toBe(405);
    // a POST without a body is still invalid
    expect(await statusOf(url, session, '')).toBe(400);
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
    expect(await statusOf(url, {}, INITIALIZE)).toBe(503);
    const aborted = once(probe, 'aborted');
    await resumed.cancel();
    // the server notices it when the connection closes
    for (let code = 503; code === 503;) code = await statusOf(url, {}, INITIALIZE);
    await aborted;
    expect(await statusOf(url, session)).toBe(404);
  });

  it('protects a call until it is answered', async () => {
    const { url, probe, session } = await serveSession({ limits: { maxSessions: 1 } });
    const [pending] = await whenBegun(probe, post(url, call(1, 'wait'), session));
    expect(await statusOf(url, {}, INITIALIZE)).toBe(503);
    probe.emit('go');
    await (await pending).text();
    expect([await statusOf(url, {}, INITIALIZE), await statusOf(url, session)]).toEqual([200, 404]);
  });

  it('protects a call that is paused until its client is back only as long as there is room', async () => {
    const { url, probe, session, hits } = await serveSession({ limits: { maxSessions: 1 } });
    const aborted = once(probe, 'aborted');
    // the stream ends, but not its connection
    await (await post(url, call(1, 'poll'), session)).text();
    await openSession(url);
    await aborted;
    expect(await statusOf(url, session)).toBe(404);
    expect(hits).toEqual([{ limit: 'maxSessions', remoteAddress: '127.0.0.1' }]);
  });

  it('protects a batch while its client waits', async () => {
    const { url, probe, session } = await serveSession({ limits: { maxSessions: 1 } }, {}, '2025-03-26');
    const left = new AbortController();
    const batch = [call(1, 'wait'), request(2, 'ping')];
    const [pending] = await whenBegun(
      probe,
      post(url, batch, session, left.signal).catch(() => {}),
    );
    expect(await statusOf(url, {}, INITIALIZE)).toBe(503);
    const aborted = once(probe, 'aborted');
    left.abort();
    await pending;
    for (let code = 503; code === 503;) code = await statusOf(url, {}, INITIALIZE);
    await aborted;
    expect(await statusOf(url, session)).toBe(404);
  });

  it.each([
    ['a refused GET', { accept: 'text/html' }, 406],
    ['a GET for a stream that is unknown', { accept: 'text/event-stream', 'last-event-id': 'unknown' }, 400],
  ])('keeps a session from being idle with %s', async (_name, headers, expected) => {
    const pass = stopClock();
    const { url, errors } = await serve({ limits: { sessionIdleMs: 60_000 }, keepAliveMs: 5 });
    const [used, idle, reading] = [await openSession(url), await openSession(url), await openSession(url)];
    const sweep = () => nextSweep(() => getStream(url, reading));
    await sweep();
    pass(60_000);
    expect((await fetch(url, { headers: { ...used, ...headers } })).status).toBe(expected);
    await sweep();
    pass(1);
    await sweep();
    expect(await statusOf(url, idle)).toBe(404);
    pass(59_999);
    await sweep();
    expect([await statusOf(url, used), errors]).toEqual([200, []]);
  });

  it('shrinks for others when a session cannot resume its stream, and has no other client', async () => {
    const reads: (() => void)[] = [];
    const read = () => new Promise<undefined>((resolve) => reads.push(() => resolve(undefined)));
    const events = { append() {}, read };
    // the store has until the second sweep
    const { url } = await serve({ limits: { maxSessions: 2 }, events, keepAliveMs: 200 });
    const [resuming, reading] = [await openSession(url), await openSession(url)];
    await getStream(url, reading);
    const resumed = { ...resuming, accept: 'text/event-stream', 'last-event-id': `p${'0'.repeat(8)}-0` };
    const answer = fetch(url, { headers: resumed });
    while (reads.length === 0) await new Promise(setImmediate);
    expect(await statusOf(url, {}, INITIALIZE)).toBe(503);
    reads[0]?.();
    expect((await answer).status).toBe(400);
    await nextSweep(() => getStream(url, reading));
    expect(await statusOf(url, {}, INITIALIZE)).toBe(200);
    expect([await statusOf(url, resuming), await statusOf(url, reading)]).toEqual([404, 200]);
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
    const [aborted, left] = [once(probe, 'aborted'), new AbortController()];
    const [pending] = await whenBegun(
      probe,
      post(url, call(1, 'wait'), leaving, left.signal).catch(() => {}),
    );
    const closed = once(sockets, 'closed');
    left.abort();
    await Promise.all([pending, closed]);
    const sweep = () => nextSweep(() => getStream(url, reading));
    await sweep();
    pass(60_001);
    await sweep();
    await aborted;
    expect([await statusOf(url, leaving), await statusOf(url, reading)]).toEqual([404, 200]);
    probe.emit('go');
  });
});

const MANY = 10_000;

async function createSessions(limits: Partial<SessionSettings> = {}) {
  const { server } = createServer(new Probe());
  afterwards(() => server.close());
  const counts = { letters: 0, untaken: 0, adopted: 0, conflicts: 0, timeouts: 0 };
  const readers = new SlowReaders({ maxTotalBufferedBytes: 1000, readerTimeoutMs: 1000 }, () => {});
  const sessions = new Sessions(await kernelOf(server), {
    streams: { open: new Set(), ending: new EndingSinks(), maxBufferedBytes: 1000, hit: () => {}, readers },
    events: false,
    retryMs: 1000,
    sessionStore: undefined,
    maxSessions: MANY,
    maxSessionsPerAddress: MANY,
    maxSessionsPerPrincipal: MANY,
    sessionIdleMs: 1000,
    keepAliveMs: 1000,
    maxStreams: 8,
    stores: new StoreCalls(new PendingCallbacks(), {
      storeTimeoutMs: 1000,
      maxStoreCalls: MANY,
      report: () => {},
      counts,
    }),
    letters: undefined,
    appends: new StoreCalls(new PendingCallbacks(), {
      storeTimeoutMs: 1000,
      maxStoreCalls: MANY,
      report: () => {},
      counts,
    }),
    counts,
    unauthorized: () => new HttpError(401, 'Authorization is required.'),
    recheck: async () => {},
    report: () => {},
    hit: () => {},
    ...limits,
  });
  afterwards(() => sessions.endAll());
  return sessions;
}

/** An anonymous caller. */
const at = (remoteAddress: string) => ({ headers: {}, remoteAddress, principal: undefined });

/** A different address for each number. */
const address = (n: number) => `10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`;

const nothing = () => {};
const STATE = { closed: false, backlog: 0, left: 0, slow: false };
/** A connected reader. */
const READER: Sink = { ...STATE, own: nothing, start: nothing, write: () => true, end: nothing, destroy: nothing };

/** Attaches a reader to a session. Returns a function that disconnects it. */
function connect(session: HttpSession): () => void {
  const stream = session.streams.open();
  const sink = { ...READER };
  stream.attach(sink);
  return () => stream.closed(sink);
}

const open = (sessions: Sessions, from: number, to: number, place: (n: number) => string) => {
  const opened: HttpSession[] = [];
  for (let n = from; n < to; n++) opened.push(sessions.open(at(place(n)), false));
  return opened;
};

describe('10,000 sessions and 10,000 more', () => {
  let looks = 0;
  beforeEach(() => {
    looks = 0;
    const connected = Object.getOwnPropertyDescriptor(HttpSession.prototype, 'connected')?.get as () => boolean;
    const spy = jest.spyOn(HttpSession.prototype, 'connected', 'get');
    spy.mockImplementation(function look(this: HttpSession) {
      looks += 1;
      return connected.call(this);
    });
    afterwards(() => spy.mockRestore());
  });

  it.each([
    ['many addresses', address],
    ['one address', () => '192.0.2.7'],
  ])('from %s cost as much as the first: eviction looks at one session', async (_name, place) => {
    const sessions = await createSessions();
    open(sessions, 0, 100, place);
    const began = cpuMs();
    const first = open(sessions, 100, MANY, place);
    const between = cpuMs();
    const more = open(sessions, MANY, 2 * MANY, place);
    const [before, after] = [between - began, cpuMs() - between];
    expect(looks).toBe(MANY);
    expect(after).toBeLessThan(5 * before + 100);
    expect(sessions.local(first.at(-1)?.id as string, undefined)).toBeUndefined();
    expect(sessions.local(more[0]?.id as string, undefined)).toBe(more[0]);
  });

  it.each([
    ['many addresses', address, 503],
    ['one address', () => '192.0.2.7', 429],
  ])('from %s are refused if all are connected, after one look at each', async (_name, place, expected) => {
    const sessions = await createSessions();
    const opened = open(sessions, 0, MANY, place);
    const leave = opened.map(connect);
    const refused = new Map<unknown, number>();
    const began = cpuMs();
    for (let n = 0; n < MANY; n++) {
      try {
        sessions.open(at(place(MANY + n)), false);
      } catch (error) {
        const { status } = error as HttpError;
        refused.set(status, (refused.get(status) ?? 0) + 1);
      }
    }
    expect(refused).toEqual(new Map([[expected, MANY]]));
    // once when it is found connected, and once when its end is watched
    expect(looks).toBeLessThanOrEqual(2 * MANY);
    expect(cpuMs() - began).toBeLessThan(5000);
    // being used doesn't make them candidates again
    for (const { id } of opened) sessions.local(id, undefined);
    expect(() => sessions.open(at(place(MANY)), false)).toThrow('too many');
    expect(looks).toBeLessThanOrEqual(2 * MANY);
    // the last one is found at once
    leave[7777]?.();
    const next = sessions.open(at(place(MANY)), false);
    expect(looks).toBeLessThanOrEqual(2 * MANY + 2);
    expect(sessions.local(opened[7777]?.id as string, undefined)).toBeUndefined();
    expect(sessions.local(next.id, undefined)).toBe(next);
  });
});

describe('eviction', () => {
  let close: jest.SpiedFunction<HttpSession['close']>;
  /** The sessions that have ended, in this order. */
  const ended = () => new Set(close.mock.contexts as HttpSession[]);
  beforeEach(() => {
    close = jest.spyOn(HttpSession.prototype, 'close');
    afterwards(() => close.mockRestore());
  });

  it('ends sessions in the order of their last use, whoever they belong to', async () => {
    const sessions = await createSessions({ maxSessions: 5, maxSessionsPerAddress: 3 });
    const opened = open(sessions, 0, 5, (n) => address(n % 2));
    const order = [3, 1, 4, 0, 2];
    // the last of them twice
    for (const n of [...order, 2]) sessions.local(opened[n]?.id as string, undefined);
    for (const n of order) {
      sessions.open(at(address(100 + n)), false);
      expect([...ended()]).toEqual(order.slice(0, order.indexOf(n) + 1).map((index) => opened[index]));
    }
  });

  it("ends a caller's sessions in the order of their last use", async () => {
    const sessions = await createSessions({ maxSessionsPerAddress: 5 });
    const other = open(sessions, 0, 3, () => address(1));
    const opened = open(sessions, 0, 5, () => address(0));
    // from the middle, from both ends, and the last of them twice
    const order = [2, 0, 4, 1, 3];
    for (const n of [3, ...order, 3]) sessions.local(opened[n]?.id as string, undefined);
    for (const n of order) {
      sessions.open(at(address(0)), false);
      expect([...ended()]).toEqual(order.slice(0, order.indexOf(n) + 1).map((index) => opened[index]));
    }
    expect(other.filter((session) => ended().has(session))).toEqual([]);
  });

  it('spares the sessions of an unknown address by their last use, although no quota counts them', async () => {
    const sessions = await createSessions({ maxSessions: 2, maxSessionsPerAddress: 1 });
    const unknown = { headers: {}, remoteAddress: undefined, principal: undefined };
    const [first, second] = [sessions.open(unknown, false), sessions.open(unknown, false)];
    expect(sessions.local(first.id, undefined)).toBe(first);
    sessions.open(unknown, false);
    expect([...ended()]).toEqual([second]);
  });

  it('still spares the sessions of principals when these have been used', async () => {
    const sessions = await createSessions({ maxSessions: 2 });
    const ann = { subject: 'ann' };
    const own = sessions.open({ ...at(address(0)), principal: ann }, false);
    const [anonymous] = open(sessions, 1, 2, address);
    sessions.local(anonymous?.id as string, undefined);
    expect(sessions.local(own.id, ann)).toBe(own);
    for (let n = 2; n < 5; n += 1) sessions.open(at(address(n)), false);
    expect([ended().has(anonymous as HttpSession), ended().has(own)]).toEqual([true, false]);
  });

  it('passes over a connected session until its last reader is gone', async () => {
    const sessions = await createSessions({ maxSessions: 2 });
    const [first, second] = open(sessions, 0, 2, address) as [HttpSession, HttpSession];
    const leave = [connect(first), connect(first)];
    sessions.open(at(address(2)), false);
    expect([ended().has(first), ended().has(second)]).toEqual([false, true]);
    leave[0]?.();
    sessions.open(at(address(3)), false);
    expect(ended().has(first)).toBe(false);
    leave[1]?.();
    // it was used last until now
    sessions.open(at(address(4)), false);
    expect(ended().has(first)).toBe(false);
    sessions.open(at(address(5)), false);
    expect(ended().has(first)).toBe(true);
  });

  it('of all sessions ends each of them', async () => {
    const sessions = await createSessions();
    const opened = open(sessions, 0, 5, address);
    sessions.endAll();
    expect([...ended()]).toEqual(opened);
    for (const { id } of opened) expect(sessions.local(id, undefined)).toBeUndefined();
  });

  it('frees the places of ended sessions', async () => {
    const sessions = await createSessions({ maxSessionsPerAddress: 2 });
    for (let n = 0; n < 10; n++) {
      const [one, other] = open(sessions, 0, 2, () => '192.0.2.7') as [HttpSession, HttpSession];
      for (const session of [one, other]) connect(session);
      expect(() => sessions.open(at('192.0.2.7'), false)).toThrow('too many open sessions');
      for (const session of [one, other]) sessions.end(session);
    }
  });
});

it('an expired token does no harm to a session that has seen a newer one, even if an older one came later', async () => {
  const wind = stopClock();
  const sessions = await createSessions();
  const until = (ms: number) => ({ subject: 'ann', expiresAt: Date.now() + ms });
  const session = sessions.open({ ...at(address(0)), principal: until(1000) }, false);
  connect(session);
  for (const ms of [2000, 1000]) expect(sessions.local(session.id, until(ms))).toBe(session);
  for (const [ms, isConnected] of [
    [1999, true],
    [1, false],
  ] as const) {
    wind(ms);
    sessions.expire();
    expect(session.connected).toBe(isConnected);
  }
});

class Shop {
  @Tool() greet() {}
}

it.each(['stateful', 'stateless'] as const)(
  'a client in a %s revision is notified of hidden members by the headers of its own stream (#22)',
  async (era) => {
    const server = new McpServer({ name: 'shop', version: '1.0.0', providers: [Shop] });
    const { url, close } = await listen(server, { port: 0 });
    const connecting = ['guest', 'admin'].map((role) => connectClient(url, { era, headers: { 'x-role': role } }));
    const clients = await Promise.all(connecting);
    for (const client of clients) {
      if (era === 'stateful') continue;
      void client.request('subscriptions/listen', { notifications: { toolsListChanged: true } }).catch(() => {});
      await client.nextNotification('notifications/subscriptions/acknowledged');
    }
    const [guest, admin] = clients as [(typeof clients)[0], (typeof clients)[0]];
    server.addTool({ name: 'purge', access: (_, { headers }) => headers?.['x-role'] === 'admin' }, () => {});
    await admin.nextNotification('notifications/tools/list_changed');
    // what is announced to everybody comes next
    server.addTool({ name: 'count' }, () => {});
    await admin.nextNotification('notifications/tools/list_changed');
    await guest.nextNotification('notifications/tools/list_changed');
    const changes = clients.map(({ notifications }) =>
      notifications.filter(({ method }) => method.endsWith('list_changed')),
    );
    expect(changes.map(({ length }) => length)).toEqual([1, 2]);
    for (const client of clients) await client.close();
    await close();
  },
);
