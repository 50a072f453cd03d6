// Stores of sessions and events: the contract, what several endpoints share, and stores that fail.
import { EventEmitter, once } from 'node:events';

import { describe, expect, it, jest } from '@jest/globals';
import { NoInput } from '@decorum/core';
import {
  type KeptSession,
  type ListenOptions,
  MemoryEventStore,
  MemorySessionStore,
  type SessionStore,
} from '@decorum/http';
import { eventStoreContract, sessionStoreContract } from '@decorum/testing/contracts';

import { LateEventStore, LateSessionStore } from '../../../test/support/late-stores.js';
import { stopClock } from './clock.js';
import { EventReader, getStream, nextSweep, type ServerEvent } from './events.js';
import { afterwards, byUser, serve, serveSession, serveTwice, whenBegun } from './fixture.js';
import { call, cancelOf, INITIALIZE, INITIALIZED, json, request, SUM, TOKEN } from './messages.js';
import { openSession, post, statusOf, statusOfGet } from './sending.js';

const pass = (ms: number): void => {
  const now = Date.now() + ms;
  jest.spyOn(Date, 'now').mockReturnValue(now);
  afterwards(() => jest.restoreAllMocks());
};

it.each(sessionStoreContract)('MemorySessionStore %s', async (_rule, check) => {
  await check(new MemorySessionStore(), { pass });
});

it.each(sessionStoreContract)('a late session store %s', async (_rule, check) => {
  await check(new LateSessionStore(), { pass });
});

it.each(eventStoreContract)('MemoryEventStore %s', async (_rule, check) => {
  await check(new MemoryEventStore());
});

it.each(eventStoreContract)('a late event store %s', async (_rule, check) => {
  await check(new LateEventStore());
});

describe('MemorySessionStore', () => {
  const HOUR = 3_600_000;
  /** A record that takes so many characters. */
  const record = (id: string, chars: number): KeptSession => {
    const sized = (name: string) => ({ id, client: { info: { name, version: '1' }, capabilities: {} }, createdAt: 1 });
    const pad = chars - JSON.stringify({ ...sized(''), usedAt: 1 }).length;
    return { ...sized('x'.repeat(pad)), usedAt: 1 } as KeptSession;
  };

  it.each([
    ['`maxChars`', { maxChars: 1000 }, 1000],
    ['64 Mi by default', {}, 67_108_864],
  ])('keeps records of %s characters, and then drops those that were used least recently', (_name, options, max) => {
    const store = new MemorySessionStore(options);
    const ids = ['a', 'b', 'c', 'd'];
    const kept = () => ids.filter((id) => store.get(id) !== undefined).join('');
    for (const id of ids) store.set(record(id, max / 4), HOUR);
    expect(kept()).toBe('abcd');
    // used, replaced and deleted ones are not counted twice
    store.touch('a', HOUR);
    store.set(record('b', max / 4), HOUR);
    store.delete('d');
    store.delete('d');
    store.set(record('d', max / 4), HOUR);
    expect(kept()).toBe('abcd');
    store.set(record('d', max / 4 + 1), HOUR);
    expect(kept()).toBe('abd');
    expect(() => new MemorySessionStore({ maxChars: 0 })).toThrow('MemorySessionStore: `maxChars` is 0, but must be');
  });

  it('costs a client its session when others take its place, and the client can start another', async () => {
    const { url } = await serve({ sessionStore: new MemorySessionStore({ maxChars: 500 }) });
    const first = await openSession(url);
    while ((await statusOf(url, first)) === 200) await openSession(url);
    expect([await statusOf(url, first), await statusOf(url, await openSession(url))]).toEqual([404, 200]);
  });
});

describe('a session store that answers at once', () => {
  it('delays no message', async () => {
    const order: string[] = [];
    class Noted extends MemorySessionStore {
      override get(id: string) {
        queueMicrotask(() => order.push('another job'));
        return super.get(id);
      }
    }
    const { url, probe, session } = await serveSession({ sessionStore: new Noted() });
    probe.on('began', () => order.push('the handler'));
    order.length = 0;
    const [called] = await whenBegun(probe, post(url, call(1, 'wait'), session));
    probe.emit('go');
    expect((await called).status).toBe(200);
    expect(order).toEqual(['the handler', 'another job']);
  });
});

const ANN = { 'x-user': 'ann' };
const GUIDE = { uri: 'docs://guide' };
const FAILURE = new Error('no store');
const UNAVAILABLE = 'The server cannot reach its data. Try again later.';
const STORES = [
  ['a store in memory', () => new MemorySessionStore()],
  ['a late store', () => new LateSessionStore()],
] as const;

describe.each(STORES)('sessions in %s', (_name, create) => {
  it('are served by every endpoint that shares it', async () => {
    const [one, other] = await serveTwice({ sessionStore: create() });
    const session = await openSession(one.url);
    for (const { url } of [other, one, other]) {
      const answer = await json(await post(url, call(1, 'add', SUM), session));
      expect(answer).toMatchObject({ result: { content: [{ text: '3' }] } });
    }
    expect(await statusOf(other.url, session, INITIALIZE)).toBe(400);
  });

  it('can open a GET stream at another endpoint and get its changes', async () => {
    const [one, other] = await serveTwice({ sessionStore: create(), events: new LateEventStore() });
    const session = await openSession(one.url);
    await statusOf(one.url, session, request(1, 'resources/subscribe', GUIDE));
    const stream = await getStream(other.url, session);
    other.server.notify.resourceUpdated('docs://guide');
    expect((await stream.message()).message?.method).toBe('notifications/resources/updated');
  });

  it('apply changes made at another endpoint with the next request [RES-19]', async () => {
    const [one, other] = await serveTwice({ sessionStore: create() });
    const session = await openSession(one.url);
    const stream = await getStream(one.url, session);
    const change = async (method: string) => {
      await statusOf(other.url, session, request(1, method, GUIDE));
      await statusOf(one.url, session);
      one.server.notify.resourceUpdated('docs://guide');
      one.server.notify.toolsChanged();
      return (await stream.message()).message?.method;
    };
    // repeatedly, also after the first endpoint has looked at the subscriptions
    for (let time = 0; time < 2; time += 1) {
      expect(await change('resources/unsubscribe')).toBe('notifications/tools/list_changed');
      expect(await change('resources/subscribe')).toBe('notifications/resources/updated');
      expect((await stream.message()).message?.method).toBe('notifications/tools/list_changed');
    }
  });

  it('have the log level that was set last, at any endpoint [LOG-02]', async () => {
    const both = await serveTwice({ sessionStore: create() });
    const session = await openSession(both[0].url);
    for (const { server } of both) {
      server.addTool({ name: 'talk', input: NoInput }, (_input, { log }) => {
        for (const level of ['debug', 'error'] as const) log[level](level);
      });
    }
    for (const [at, [level, heard]] of [
      ['error', ['error']],
      ['debug', ['debug', 'error']],
      ['alert', []],
      ['debug', ['debug', 'error']],
    ].entries() as Iterable<[number, [string, string[]]]>) {
      await statusOf(both[at % 2]!.url, session, request(1, 'logging/setLevel', { level }));
      for (const { url } of both) {
        const told = await (await post(url, call(2, 'talk'), session)).text();
        expect([level, [...told.matchAll(/"data":"(\w+)"/g)].map(([, data]) => data)]).toEqual([level, heard]);
      }
    }
  });

  it('hear of changes at another endpoint only once they are initialized [LIFE-07]', async () => {
    const [one, other] = await serveTwice({ sessionStore: create() });
    const begun = await post(one.url, INITIALIZE);
    await begun.text();
    const session = { 'mcp-session-id': begun.headers.get('mcp-session-id') as string };
    const stream = await getStream(other.url, session);
    other.server.notify.toolsChanged();
    await statusOf(other.url, session, INITIALIZED);
    other.server.notify.promptsChanged();
    expect((await stream.message()).message?.method).toBe('notifications/prompts/list_changed');
  });

  it('end their streams with the next request when another endpoint has ended them', async () => {
    const [one, other] = await serveTwice({ sessionStore: create() });
    const session = await openSession(one.url);
    const stream = await getStream(one.url, session);
    expect((await fetch(other.url, { method: 'DELETE', headers: session })).status).toBe(204);
    expect(await statusOf(one.url, session)).toBe(404);
    await stream.rest();
  });

  it('know their requests in flight when another message comes', async () => {
    const [{ url, probe }] = await serveTwice({ sessionStore: create() });
    const session = await openSession(url);
    const [pending] = await whenBegun(probe, post(url, call(1, 'wait'), session));
    const aborted = once(probe, 'aborted');
    await post(url, cancelOf(1), session);
    await aborted;
    expect((await pending).status).toBe(202);
  });

  it('outlive the endpoint that started them, and eviction at the cap', async () => {
    const [one, other] = await serveTwice({ sessionStore: create(), limits: { maxSessions: 1 } });
    const sessions = [await openSession(one.url), await openSession(one.url)];
    for (const { url } of [one, other]) {
      for (const session of sessions) expect(await statusOf(url, session)).toBe(200);
      await one.close();
    }
  });

  it('stay as long as they are used', async () => {
    const put = stopClock();
    const limits = { sessionIdleMs: 60_000 };
    const [one, other] = await serveTwice({ sessionStore: create(), limits, keepAliveMs: 5 });
    const [used, idle, reading] = [await openSession(one.url), await openSession(one.url), await openSession(one.url)];
    const sweep = () => nextSweep(() => getStream(one.url, reading));
    for (let n = 0; n < 4; n++) {
      expect(await statusOf(one.url, used)).toBe(200);
      await sweep();
      put(30_000);
    }
    expect(await statusOf(other.url, used)).toBe(200);
    expect(await statusOf(other.url, idle)).toBe(404);
  });
});

const fails = () => {
  throw FAILURE;
};
const failsLater = async () => fails();

/** Two endpoints, of which the first has a session and its GET stream. */
async function interrupted(events?: ListenOptions['events'], version?: string) {
  const options = { sessionStore: new LateSessionStore(), ...(events && { events }) };
  const [one, other] = await serveTwice(options);
  const session = await openSession(one.url, {}, version);
  const stream = await getStream(one.url, session);
  const resume = async (id: string) => await getStream(other.url, { ...session, 'last-event-id': id });
  return { one, other, session, stream, resume };
}

describe.each([
  ['shared', () => new LateEventStore()],
  ['not shared', () => undefined],
])('a GET stream that is resumed at another endpoint, with events that are %s,', (_name, createEvents) => {
  it.each(['2025-11-25', '2025-06-18'])('goes on with new messages (%s) (#22)', async (version) => {
    const { one, other, stream, resume } = await interrupted(createEvents(), version);
    one.server.notify.toolsChanged();
    let last = (await stream.message()).id as string;
    await one.close();
    // and each time that it is interrupted again
    for (let time = 0; time < 2; time += 1) {
      const again = await resume(last);
      other.server.notify.promptsChanged();
      const next = await again.message();
      expect(next.message?.method).toBe('notifications/prompts/list_changed');
      expect(next.id).not.toBe(last);
      last = next.id as string;
      await again.cancel();
    }
  });

  it('goes on even if it has sent nothing yet (#22)', async () => {
    const { one, other, stream, resume } = await interrupted(createEvents());
    const { id } = (await stream.next()) as { id: string };
    await one.close();
    const again = await resume(id);
    other.server.notify.promptsChanged();
    expect((await again.message()).message?.method).toBe('notifications/prompts/list_changed');
  });
});

describe('a GET stream that is resumed at another endpoint', () => {
  it('starts with what it has missed, and loses nothing that is sent meanwhile (#22)', async () => {
    const memory = new MemoryEventStore();
    const reads = new EventEmitter();
    const read = async (key: string, after: number) => {
      const found = memory.read(key, after, 2);
      const go = once(reads, 'go');
      reads.emit('read');
      await go;
      return found;
    };
    const events = { append: memory.append.bind(memory), read };
    const { one, other, session, stream: lost, resume } = await interrupted(events);
    const { id } = (await lost.next()) as { id: string };
    await statusOf(one.url, session, request(1, 'resources/subscribe', GUIDE));
    for (let n = 0; n < 5; n += 1) one.server.notify.resourceUpdated('docs://guide');
    for (let n = 0; n < 5; n += 1) await lost.message();
    await one.close();
    let begun = once(reads, 'read');
    const resumed = resume(id);
    await begun;
    other.server.notify.resourceUpdated('docs://guide');
    for (let page = 0; page < 3; page += 1) {
      begun = once(reads, 'read');
      reads.emit('go');
      await begun;
    }
    other.server.notify.resourceUpdated('docs://guide');
    reads.on('read', () => setImmediate(() => reads.emit('go')));
    reads.emit('go');
    const again = await resumed;
    const ids = [];
    for (let n = 0; n < 7; n += 1) ids.push((await again.message()).id as string);
    const stream = id.slice(0, -'0'.length);
    expect(ids).toEqual([1, 2, 3, 4, 5, 6, 7].map((n) => `${stream}${n}`));
    await again.cancel();
    const third = await resume(ids.at(-1) as string);
    other.server.notify.toolsChanged();
    expect((await third.message()).message?.method).toBe('notifications/tools/list_changed');
  });

  it('keeps no messages if the store fails, so that the next attempt gets them (#22)', async () => {
    const events = new LateEventStore();
    const { one, other, session, stream, resume } = await interrupted(events);
    const { id } = (await stream.next()) as { id: string };
    await one.close();
    const read = events.read.bind(events);
    events.read = failsLater;
    expect(await statusOfGet(other.url, { ...session, 'last-event-id': id })).toBe(503);
    events.read = read;
    const again = await resume(id);
    other.server.notify.toolsChanged();
    expect((await again.message()).message?.method).toBe('notifications/tools/list_changed');
  });

  it('of a call that has sent nothing yet, is answered without events, so that its client comes back (#22)', async () => {
    const [one, other] = await serveTwice({ sessionStore: new LateSessionStore(), events: new LateEventStore() });
    const session = await openSession(one.url);
    const began = once(one.probe, 'began');
    const [primed] = await new EventReader(await post(one.url, call(9, 'poll'), session)).rest();
    await began;
    const again = async () =>
      await (await getStream(other.url, { ...session, 'last-event-id': primed?.id as string })).rest();
    expect((await again()).filter(({ message }) => message !== undefined)).toEqual([]);
    one.probe.emit('go');
    let events: ServerEvent[] = [];
    while (!events.some(({ message }) => message !== undefined)) events = await again();
    expect(events.at(-1)?.message).toMatchObject({ id: 9, result: {} });
    expect(await statusOfGet(other.url, { ...session, 'last-event-id': 'p00000000-1' })).toBe(400);
  });
});

/** A server, and the lines of its log. */
async function serveLogged(options: ListenOptions) {
  const lines: unknown[] = [];
  const error = (details: object, message: string) => void lines.push([message, details]);
  const { url, errors } = await serve(options, { logger: { warn() {}, error } });
  const logged = async () => {
    while (lines.length === 0) await new Promise(setImmediate);
    return lines[0];
  };
  return { url, errors, logged, session: await openSession(url) };
}

const failed = (method: string) => [`${method} failed`, { reference: expect.any(String), err: FAILURE }];

describe('a session store that fails', () => {
  it.each([
    ['get', 'at once', 'POST'],
    ['get', 'later', 'POST'],
    ['get', 'at once', 'GET'],
    ['delete', 'at once', 'DELETE'],
    ['delete', 'later', 'DELETE'],
    ['set', 'at once', 'initialize'],
    ['set', 'later', 'initialize'],
  ] as const)(
    'in `%s`, %s, tells the client to try %s again later, and the log why (#22)',
    async (method, when, kind) => {
      const store = new LateSessionStore();
      const { url, errors, session, logged } = await serveLogged({ sessionStore: store });
      Object.assign(store, { [method]: when === 'later' ? failsLater : fails });
      const answer =
        kind === 'POST'
          ? await post(url, request(1, 'ping'), session)
          : kind === 'initialize'
            ? await post(url, INITIALIZE)
            : await fetch(url, { method: kind, headers: { accept: 'text/event-stream', ...session } });
      expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '10']);
      expect(answer.headers.get('mcp-session-id')).toBeNull();
      expect(await answer.text()).toContain(UNAVAILABLE);
      expect([errors, await logged()]).toEqual([[FAILURE], failed(`sessionStore.${method}`)]);
    },
  );

  it('is reported once, and again if it fails after it has worked', async () => {
    const store = new LateSessionStore();
    const { url, errors, session } = await serveLogged({ sessionStore: store });
    const { get } = store;
    const statuses: number[] = [];
    for (const method of [failsLater, fails, get, failsLater]) {
      Object.assign(store, { get: method });
      statuses.push(await statusOf(url, session));
    }
    expect([statuses, errors]).toEqual([
      [503, 503, 200, 503],
      [FAILURE, FAILURE],
    ]);
  });

  it('answers 503 to a subscription that it cannot keep (#26)', async () => {
    const sessionStore = new LateSessionStore();
    const { url, session } = await serveLogged({ sessionStore });
    Object.assign(sessionStore, { set: failsLater });
    const answer = await post(url, request(1, 'resources/subscribe', GUIDE), session);
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '10']);
    expect(await answer.text()).toContain(UNAVAILABLE);
  });

  it.each([
    ['later', failsLater],
    ['at once', fails],
  ])('is reported if it cannot extend the life of a session: %s (#22)', async (_when, touch) => {
    const sessionStore = Object.assign(new LateSessionStore(), { touch });
    const { url, errors, session, logged } = await serveLogged({ sessionStore, keepAliveMs: 10 });
    expect(await logged()).toEqual(failed('sessionStore.touch'));
    expect([errors[0], await statusOf(url, session)]).toEqual([FAILURE, 200]);
  });
});

describe('the sweeps of a session store', () => {
  it('touch records now and then, and read only those of anonymous sessions with a client, which may be gone', async () => {
    const store = new LateSessionStore();
    const touch = jest.spyOn(store, 'touch');
    const { url, errors } = await serve({ sessionStore: store, keepAliveMs: 5, legacySse: true, principal: byUser });
    const [used, read, known] = [await openSession(url), await openSession(url), await openSession(url, ANN)];
    const sse = await getStream(new URL('/sse', url).href, {});
    expect(await statusOf(new URL((await sse.next())?.data as string, url).href, {}, INITIALIZE)).toBe(202);
    await getStream(url, read);
    expect(await statusOf(url, used)).toBe(200);
    const get = jest.spyOn(store, 'get');
    const sweep = () => nextSweep(() => getStream(url, known));
    for (let n = 0; n < 3; n += 1) await sweep();
    const idsOf = (calls: readonly (readonly unknown[])[]) => new Set(calls.map(([id]) => id));
    const [isUsed, isRead, isKnown] = [used, read, known].map((each) => each['mcp-session-id']);
    // a record lives for longer than a quarter of `sessionIdleMs`
    for (const id of [isUsed, isRead, isKnown])
      expect(touch.mock.calls.filter(([touched]) => touched === id)).toHaveLength(1);
    expect(idsOf(get.mock.calls)).toEqual(new Set([isRead, isKnown]));
    await store.delete(isRead as string);
    for (let n = 0; n < 3; n += 1) await sweep();
    expect(errors).toEqual([]);
  });

  it('report that a record cannot be read', async () => {
    const sessionStore = new LateSessionStore();
    const { url, errors, session, logged } = await serveLogged({ sessionStore, keepAliveMs: 10 });
    await getStream(url, session);
    sessionStore.get = failsLater;
    expect([await logged(), errors[0]]).toEqual([failed('sessionStore.get'), FAILURE]);
  });
});

describe('an event store that fails', () => {
  it.each(['append', 'appendBatch', 'read'] as const)('is named in the log, with `%s` (#22)', async (method) => {
    const events = { append() {}, read: () => [], [method]: failsLater };
    const { url, logged, session } = await serveLogged({ events });
    const headers = { ...session, accept: 'text/event-stream', 'last-event-id': `g${'0'.repeat(8)}-0` };
    if (method === 'read') await fetch(url, { headers });
    else await (await post(url, call(1, 'steps', {}, TOKEN), session)).text();
    expect(await logged()).toEqual(failed(`events.${method}`));
  });
});

/** A store that only looks up sessions. */
const storeOf = (get: () => unknown): SessionStore => ({
  get: get as SessionStore['get'],
  set() {},
  touch() {},
  delete() {},
});

describe('a session store that returns bad data', () => {
  const ID = 'a';
  const RECORD = { id: ID, revision: '2025-11-25', createdAt: 1, usedAt: 1 };
  const serveStore = async (get: () => unknown) => await serve({ sessionStore: storeOf(get), principal: byUser });
  const session = { 'mcp-session-id': ID, 'mcp-protocol-version': '2025-11-25' };

  it.each([
    ['null', null],
    ['the record of another session', { ...RECORD, id: 'b' }],
    ['a record without a revision', { ...RECORD, revision: undefined }],
    ['a revision that is unknown here', { ...RECORD, revision: '2099-01-01' }],
    ['a record whose principal has no subject', { ...RECORD, principal: { subject: '' } }],
    ['a revision without sessions', { ...RECORD, revision: '2026-07-28' }],
  ])('has no session if it returns %s', async (_what, record) => {
    const { url } = await serveStore(() => record);
    for (const caller of [{}, ANN]) expect(await statusOf(url, { ...session, ...caller })).toBe(404);
    expect((await fetch(url, { method: 'DELETE', headers: session })).status).toBe(404);
  });

  it.each([
    ['a string', '{"id":"a"}'],
    ['a string', ''],
    ['an array', [RECORD]],
    ['a boolean', false],
  ])('reports what it must return if it returns %s: %j (#22)', async (kind, found) => {
    const { url, errors } = await serveStore(() => found);
    const answer = await post(url, request(1, 'ping'), session);
    expect([answer.status, await answer.text()]).toEqual([503, expect.stringContaining(UNAVAILABLE)]);
    expect(errors).toEqual([
      expect.objectContaining({
        message: expect.stringMatching(`^sessionStore.get returned ${kind}, but must return the record as an object`),
      }),
    ]);
  });

  it('starts no stream once the endpoint is closing', async () => {
    const asked = new EventEmitter();
    const { url, close } = await serveStore(async () => {
      asked.emit('asked');
      await once(asked, 'go');
      return RECORD;
    });
    const began = once(asked, 'asked');
    const pending = fetch(url, { headers: session });
    await began;
    const closing = close();
    asked.emit('go');
    expect((await pending).status).toBe(503);
    await closing;
  });
});

describe('A store that never responds', () => {
  const never = () => new Promise<never>(() => {});

  it.each(['get', 'set', 'delete'] as const)(
    'in `%s`, costs the client a 503 instead of an endless wait (#22)',
    async (method) => {
      const store = new LateSessionStore();
      const { url, errors, session } = await serveSession({ sessionStore: store, storeTimeoutMs: 20 });
      Object.assign(store, { [method]: never });
      const kind = { get: 'GET', set: 'POST', delete: 'DELETE' }[method];
      const answer =
        kind === 'POST' ? await post(url, INITIALIZE) : await fetch(url, { method: kind, headers: session });
      expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '10']);
      expect(errors).toEqual([new Error(`sessionStore.${method} does not answer.`)]);
    },
  );

  it('does not delay closing the endpoint, and requests that wait for it get a 503', async () => {
    const asked = new EventEmitter();
    const sessionStore = storeOf(() => {
      asked.emit('asked');
      return never();
    });
    const { url, close } = await serve({ sessionStore, closeDeadlineMs: 20 });
    const told = once(asked, 'asked');
    const answer = statusOf(url, { 'mcp-session-id': 'anything', 'mcp-protocol-version': '2025-11-25' });
    await told;
    await close();
    expect(await answer).toBe(503);
  });
});
