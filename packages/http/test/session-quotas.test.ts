import { beforeEach, describe, expect, it, jest } from '@jest/globals';

import { cpuMs } from '../../../test/support/cpu.js';
import type { Sender } from '../src/endpoint/caller.js';
import { EndingSinks } from '../src/streams/stream-parts.js';
import type { Sink } from '../src/endpoint/http-context.js';
import { HttpError } from '../src/endpoint/http-error.js';
import { PendingCallbacks } from '../src/endpoint/pending-callbacks.js';
import { SlowReaders } from '../src/endpoint/slow-readers.js';
import { HttpSession, type SessionSettings } from '../src/sessions/session.js';
import { Sessions } from '../src/sessions/sessions.js';
import { StoreCalls } from '../src/sessions/store-calls.js';
import { stopClock } from './clock.js';
import { afterwards, createServer, kernelOf, Probe } from './fixture.js';

const MANY = 10_000;

async function createSessions(limits: Partial<SessionSettings> = {}) {
  const { server } = createServer(new Probe());
  afterwards(() => server.close());
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
    stores: new StoreCalls(new PendingCallbacks(), () => {}),
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

/** A connected reader. */
const READER: Sink = {
  closed: false,
  backlog: 0,
  left: 0,
  slow: false,
  own() {},
  start() {},
  write: () => true,
  end() {},
  destroy() {},
};

/** Attaches a reader to a session. Returns a function that disconnects it. */
function connect(session: HttpSession): () => void {
  const stream = session.openStream('g');
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
    expect([!ended().has(first), !ended().has(second)]).toEqual([true, false]);
    leave[0]?.();
    sessions.open(at(address(3)), false);
    expect(!ended().has(first)).toBe(true);
    leave[1]?.();
    // it was used last until now
    sessions.open(at(address(4)), false);
    expect(!ended().has(first)).toBe(true);
    sessions.open(at(address(5)), false);
    expect(!ended().has(first)).toBe(false);
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

describe('an expired token', () => {
  const MINUTE = 60_000;
  const ANN = { subject: 'ann' };
  const until = (ms: number) => ({ ...at(address(0)), principal: { ...ANN, expiresAt: Date.now() + ms } });

  /** Opens a session whose client reads a stream. */
  function reading(sessions: Sessions, sender: Sender) {
    const session = sessions.open(sender, false);
    connect(session);
    return session;
  }

  it('ends the streams of its caller at that time, and no others', async () => {
    const wind = stopClock();
    const sessions = await createSessions();
    const expiring = reading(sessions, until(MINUTE));
    const others = [at(address(1)), { ...at(address(2)), principal: ANN }, until(MINUTE + 1)];
    const lasting = others.map((sender) => reading(sessions, sender));
    wind(MINUTE - 1);
    sessions.expire();
    expect(expiring.connected).toBe(true);
    wind(1);
    sessions.expire();
    expect([expiring, ...lasting].map(({ connected }) => connected)).toEqual([false, true, true, true]);
    expect(sessions.local(expiring.id, ANN)).toBe(expiring);
  });

  it('does no harm to a session that has seen a newer one', async () => {
    const wind = stopClock();
    const sessions = await createSessions();
    const session = reading(sessions, until(MINUTE));
    for (const ms of [2 * MINUTE, MINUTE]) expect(sessions.local(session.id, until(ms).principal)).toBe(session);
    wind(2 * MINUTE - 1);
    sessions.expire();
    expect(session.connected).toBe(true);
    wind(1);
    sessions.expire();
    expect(session.connected).toBe(false);
  });

  it('ends a session that ends with its stream', async () => {
    const wind = stopClock();
    const sessions = await createSessions();
    const session = sessions.open(until(MINUTE), false);
    session.useSoleStream(session.openStream('g'));
    wind(MINUTE);
    sessions.expire();
    expect(sessions.local(session.id, ANN)).toBeUndefined();
  });
});
