// Anonymous sessions whose client signs in: what the principal gets, and what it doesn't.
import { EventEmitter, once } from 'node:events';

import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Resource } from '@decorum/core';
import { type ListenOptions, MemorySessionStore, type SessionStore } from '@decorum/http';

import { LateEventStore, LateSessionStore } from '../../../test/support/late-stores.js';
import { stopClock } from './clock.js';
import { EventReader, getStream, nextSweep } from './events.js';
import { afterwards, byUser as principal, serve, serveSession, serveTwice, whenBegun } from './fixture.js';
import { call, type Fields, INITIALIZE, INITIALIZED, json, request, SUM, TOKEN } from './messages.js';
import { openSession, post, statusOf, statusOfGet } from './sending.js';

const ANN = { 'x-user': 'ann' };
const BOB = { 'x-user': 'bob' };
const GUIDE = { uri: 'docs://guide' };
const subscribe = (uri: string, id = 1) => request(id, 'resources/subscribe', { uri });

/** The status of a request with this method. */
const statusBy = async (method: string, url: string, headers: Fields) =>
  method === 'POST'
    ? await statusOf(url, headers)
    : method === 'GET'
      ? await statusOfGet(url, headers)
      : (await fetch(url, { method, headers })).status;

/** The methods of the next messages of a stream. */
async function heard(reader: EventReader, count: number): Promise<unknown[]> {
  const methods = [];
  while (methods.length < count) methods.push((await reader.message()).message?.method);
  return methods;
}

const CHANGED = ['tools', 'prompts', 'resources'].map((list) => `notifications/${list}/list_changed`);

/** Tells tests that an access function was asked, and holds it until `go`. Later it answers at once. */
const gate = new EventEmitter();
let isOpen = false;
gate.on('go', () => (isOpen = true));
beforeEach(() => {
  isOpen = false;
});

const answerLate = async () => {
  if (isOpen) return true;
  const letGo = once(gate, 'go');
  gate.emit('asked');
  await letGo;
  return true;
};

/** Resources that not everybody may see. */
class Guarded {
  @Resource('a://nobody', { name: 'nobody', access: (caller) => caller === undefined })
  nobody() {
    return 'text';
  }

  @Resource('a://late', { name: 'late', access: (caller) => caller === undefined || answerLate() })
  late() {
    return 'text';
  }

  @Resource('a://slow', { name: 'slow', access: () => answerLate() })
  slow() {
    return 'text';
  }
}

describe('an anonymous session', () => {
  it('gets a principal only once, even if several sign in at once (#22)', async () => {
    const { url, session } = await serveSession({ principal });
    const users = ['ann', 'bob', 'cid', 'dan'];
    const answers = users.map((user) => statusOf(url, { ...session, 'x-user': user }));
    expect((await Promise.all(answers)).toSorted()).toEqual([200, 404, 404, 404]);
  });

  it.each(['POST', 'GET', 'DELETE'])('can be signed in to with any request: %s (#22)', async (method) => {
    const { url, session } = await serveSession({ principal });
    expect(await statusBy(method, url, { ...session, ...ANN })).toBe(method === 'DELETE' ? 204 : 200);
    expect(await statusOf(url, { ...session, ...BOB })).toBe(404);
    expect(await statusOf(url, session)).toBe(method === 'DELETE' ? 404 : 401);
  });

  it('keeps the stream with which its principal signs in (#22)', async () => {
    const { url, server, session } = await serveSession({ principal, keepAliveMs: 5 });
    const other = await openSession(url);
    const stream = await getStream(url, { ...session, ...ANN });
    expect(await heard(stream, 3)).toEqual(CHANGED);
    for (let n = 0; n < 2; n += 1) await nextSweep(() => getStream(url, other));
    server.notify.toolsChanged();
    expect(await heard(stream, 1)).toEqual([CHANGED[0]]);
  });

  it('is used by the request with which its principal signs in (#22)', async () => {
    const pass = stopClock();
    const { url, session } = await serveSession({ principal, limits: { sessionIdleMs: 60_000 }, keepAliveMs: 5 });
    const reading = await openSession(url);
    const sweep = () => nextSweep(() => getStream(url, reading));
    await sweep();
    pass(60_000);
    expect(await statusOf(url, { ...session, ...ANN })).toBe(200);
    await sweep();
    pass(1);
    await sweep();
    expect(await statusOf(url, { ...session, ...ANN })).toBe(200);
  });

  it('ends the streams that an anonymous caller has opened, and replays nothing of them (#22)', async () => {
    const { url, server, session } = await serveSession({ principal });
    const stream = await getStream(url, session);
    server.notify.toolsChanged();
    const { id } = (await stream.message()) as { id: string };
    const steps = await new EventReader(await post(url, call(2, 'steps', {}, TOKEN), session)).rest();
    expect(await statusOf(url, { ...session, ...ANN })).toBe(200);
    await stream.rest();
    server.notify.promptsChanged();
    for (const lost of [id, steps[0]?.id as string]) {
      expect(await statusOfGet(url, { ...session, 'last-event-id': lost })).toBe(401);
    }
    expect(await statusOfGet(url, { ...session, ...ANN, 'last-event-id': steps[0]?.id as string })).toBe(400);
    // a client that reconnects gets a stream of its own: it would give up if it got an error
    const again = await getStream(url, { ...session, ...ANN, 'last-event-id': id });
    expect(await heard(again, 3)).toEqual(CHANGED);
    server.notify.resourcesChanged();
    let next = await again.message();
    // changes are announced a moment later, so the prompts may come here
    if (next.message?.method === CHANGED[1]) next = await again.message();
    expect(next.message?.method).toBe(CHANGED[2]);
  });

  it('announces changed lists once, and only to a client that is ready (#22)', async () => {
    const { url, server, session } = await serveSession({ principal });
    expect(await statusOf(url, { ...session, ...ANN })).toBe(200);
    const first = await getStream(url, { ...session, ...ANN });
    expect(await heard(first, 3)).toEqual(CHANGED);
    await first.cancel();
    const second = await getStream(url, { ...session, ...ANN });
    server.notify.promptsChanged();
    await heard(second, 1);
    const begun = await post(url, INITIALIZE);
    await begun.text();
    const early = { 'mcp-session-id': begun.headers.get('mcp-session-id') as string, ...ANN };
    const reader = await getStream(url, early);
    expect(await statusOf(url, early, INITIALIZED)).toBe(202);
    server.notify.promptsChanged();
    expect(await heard(reader, 1)).toEqual([CHANGED[1]]);
  });

  it('answers the calls that are in flight on their own connections, as anonymous calls (#22)', async () => {
    const { url, probe, session } = await serveSession({ principal });
    const [sent] = await whenBegun(probe, post(url, call(1, 'stream', {}, TOKEN), session));
    const streaming = new EventReader(await sent);
    const [waiting] = await whenBegun(probe, post(url, call(2, 'wait'), session));
    expect(await statusOf(url, { ...session, ...ANN })).toBe(200);
    const [ahead] = probe.contexts;
    ahead?.progress(2);
    probe.emit('go');
    const rest = (await streaming.rest()).flatMap(({ message }) => message ?? []);
    expect(rest.at(-1)).toMatchObject({ id: 1, result: { content: [{ text: 'let go' }] } });
    expect(await json(await waiting)).toMatchObject({ id: 2, result: {} });
    expect(probe.contexts.map((context) => context.principal)).toEqual([undefined, undefined]);
    expect(probe.aborted).toBe(0);
  });

  it('lets its client answer a question that it got before it signed in, but nobody else (#22)', async () => {
    const { url, session } = await serveSession({ principal });
    const reader = new EventReader(await post(url, call(1, 'ask'), session));
    const { message } = await reader.message();
    const result = (name: string) => ({ action: 'accept', content: { name } });
    const answer = (name: string) => ({ jsonrpc: '2.0', id: message?.id, result: result(name) });
    expect(await statusOf(url, { ...session, ...ANN })).toBe(200);
    expect(await statusOf(url, session, answer('Mallory'))).toBe(401);
    expect(await statusOf(url, { ...session, ...BOB }, answer('Bob'))).toBe(404);
    expect(await statusOf(url, { ...session, ...ANN }, answer('Ann'))).toBe(202);
    expect((await reader.rest()).at(-1)?.message).toMatchObject({ result: { content: [{ text: 'Hello, Ann' }] } });
  });

  it('takes no cursor that an anonymous caller got (#22)', async () => {
    const { url } = await serve({ principal }, { pageSize: 2 });
    const session = await openSession(url);
    const pageOf = async (headers: Fields, cursor?: unknown) =>
      await json(await post(url, request(1, 'tools/list', cursor ? { cursor: String(cursor) } : {}), headers));
    const before = (await pageOf(session)).result?.['nextCursor'];
    expect((await pageOf({ ...session, ...ANN }, before)).error?.code).toBe(-32602);
    const after = (await pageOf({ ...session, ...ANN })).result?.['nextCursor'];
    expect((await pageOf({ ...session, ...ANN }, after)).result).toMatchObject({ tools: expect.any(Array) });
  });

  it('forgets the roots that an anonymous caller has told (#22)', async () => {
    const { url, server } = await serve({ principal });
    server.addTool({ name: 'roots', input: { type: 'object' } }, async (_input, ctx) =>
      JSON.stringify(await ctx.roots()),
    );
    const params = { ...INITIALIZE.params, capabilities: { roots: { listChanged: true } } };
    const begun = await post(url, { ...INITIALIZE, params });
    await begun.text();
    const session = { 'mcp-session-id': begun.headers.get('mcp-session-id') as string };
    const asks = async (headers: Fields, id: number, uri: string) => {
      const reader = new EventReader(await post(url, call(id, 'roots'), headers));
      const { message } = await reader.message();
      if (message?.method === 'roots/list') {
        await post(url, { jsonrpc: '2.0', id: message.id, result: { roots: [{ uri }] } }, headers);
      }
      return JSON.stringify((await reader.rest()).at(-1)?.message);
    };
    expect(await asks(session, 1, 'file:///evil')).toContain('evil');
    expect(await asks({ ...session, ...ANN }, 2, 'file:///home')).toContain('home');
  });

  it('counts towards the quota of its principal, and no longer towards the one of its address (#22)', async () => {
    const limits = { maxSessionsPerPrincipal: 1, maxSessionsPerAddress: 1 };
    const { url } = await serve({ principal, limits });
    const own = await openSession(url, ANN);
    const first = await openSession(url);
    expect(await statusOf(url, { ...first, ...ANN })).toBe(200);
    expect(await statusOf(url, own)).toBe(404);
    // the place of the address is free
    const second = await openSession(url);
    const reader = await getStream(url, { ...first, ...ANN });
    // the principal has no other session that could end
    expect(await statusOf(url, { ...second, ...ANN })).toBe(429);
    expect(await statusOf(url, second)).toBe(200);
    await reader.cancel();
  });

  it('ends its streams when the token of its principal expires (#22)', async () => {
    const expiresAt = Date.now() + 3_600_000;
    const { url } = await serve({
      keepAliveMs: 5,
      principal: (incoming) => principal(incoming) && { subject: 'ann', expiresAt },
    });
    const session = await openSession(url);
    expect(await statusOf(url, { ...session, ...ANN })).toBe(200);
    const reader = await getStream(url, { ...session, ...ANN });
    await nextSweep(() => getStream(url, { ...session, ...ANN }));
    const clock = jest.spyOn(Date, 'now').mockReturnValue(expiresAt);
    afterwards(() => clock.mockRestore());
    await reader.rest();
  });
});

describe('the subscriptions of an anonymous session', () => {
  /** Subscribes to resources that not everybody sees. */
  async function subscribed() {
    const { url, server } = await serve({ principal }, { providers: [new Guarded()] });
    afterwards(() => gate.emit('go'));
    const session = await openSession(url);
    for (const uri of ['a://nobody', 'a://late', GUIDE.uri]) {
      expect(await statusOf(url, session, subscribe(uri))).toBe(200);
    }
    return { url, server, session, mine: { ...session, ...ANN } };
  }

  it('are checked again for the principal, and silent until then (#22)', async () => {
    const { url, server, mine } = await subscribed();
    const checking = once(gate, 'asked');
    expect(await statusOf(url, mine)).toBe(200);
    await checking;
    const reader = await getStream(url, mine);
    await heard(reader, 3);
    const told = async () => {
      for (const uri of ['a://nobody', 'a://late', GUIDE.uri]) server.notify.resourceUpdated(uri);
      server.notify.toolsChanged();
      const uris = [];
      for (let next = await reader.message(); next.message?.params?.['uri']; next = await reader.message()) {
        uris.push(next.message.params['uri']);
      }
      return uris;
    };
    expect(await told()).toEqual([]);
    gate.emit('go');
    await statusOf(url, mine);
    expect((await told()).toSorted()).toEqual(['a://late', GUIDE.uri]);
  });

  it('can be ended while they are checked (#22)', async () => {
    const { url, server, mine } = await subscribed();
    const checking = once(gate, 'asked');
    expect(await statusOf(url, mine, request(1, 'resources/unsubscribe', GUIDE))).toBe(200);
    await checking;
    gate.emit('go');
    const reader = await getStream(url, mine);
    await heard(reader, 3);
    for (const uri of [GUIDE.uri, 'a://late']) server.notify.resourceUpdated(uri);
    expect((await reader.message()).message?.params).toEqual({ uri: 'a://late' });
  });

  it('get none that an anonymous caller still asks for (#22)', async () => {
    const { url, server, session, mine } = await subscribed();
    const asked = once(gate, 'asked');
    const pending = post(url, subscribe('a://slow', 9), session);
    await asked;
    const checking = once(gate, 'asked');
    expect(await statusOf(url, mine)).toBe(200);
    await checking;
    gate.emit('go');
    const answer = await pending;
    expect([answer.status, (await json(answer)).error?.message]).toEqual([401, 'Authorization is required.']);
    const reader = await getStream(url, mine);
    await heard(reader, 3);
    server.notify.resourceUpdated('a://slow');
    server.notify.toolsChanged();
    expect(await heard(reader, 1)).toEqual([CHANGED[0]]);
  });
});

/** A store that reads a record, and then holds up as many readers as `holds` until `open`. It tells of each. */
class HeldStore extends EventEmitter {
  holds = 0;
  readonly store: SessionStore;

  constructor() {
    super();
    const memory = new MemorySessionStore();
    this.store = Object.assign(plain(memory), {
      get: async (id: string) => {
        const record = memory.get(id);
        if (this.holds === 0) return record;
        this.holds -= 1;
        const opened = once(this, 'open');
        this.emit('held');
        await opened;
        return record;
      },
    });
  }
}

/** A store that ignores the expected version, so the last write wins. */
function plain(store: SessionStore): SessionStore {
  return {
    get: (id) => store.get(id),
    set: (record, ttlMs) => store.set(record, ttlMs),
    touch: (id, ttlMs) => store.touch(id, ttlMs),
    delete: (id) => store.delete(id),
  };
}

describe.each([
  ['a store in memory', () => new MemorySessionStore()],
  ['a late store', () => new LateSessionStore()],
  ['a store that cannot compare', () => plain(new LateSessionStore())],
])('an anonymous session in %s', (_name, create) => {
  it('belongs to its first principal in every process (#22)', async () => {
    const [one, other] = await serveTwice({ principal, sessionStore: create() });
    const session = await openSession(one.url);
    for (const { url } of [one, other]) expect(await statusOf(url, session)).toBe(200);
    expect(await statusOf(one.url, { ...session, ...ANN })).toBe(200);
    for (const { url } of [other, one]) {
      expect(await statusOf(url, { ...session, ...ANN })).toBe(200);
      expect(await statusOf(url, { ...session, ...BOB })).toBe(404);
      for (const method of ['POST', 'GET', 'DELETE']) expect(await statusBy(method, url, session)).toBe(401);
    }
  });

  it('belongs to one principal if several sign in at once, in one process or in two (#22)', async () => {
    const both = await serveTwice({ principal, sessionStore: create() });
    for (const nodes of [both, [both[0], both[0]] as const]) {
      const session = await openSession(nodes[0].url);
      const signIns = nodes.map(({ url }, at) => statusOf(url, { ...session, 'x-user': ['ann', 'bob'][at] as string }));
      await Promise.all(signIns);
      const owners = [];
      for (const user of ['ann', 'bob']) {
        const codes = [];
        for (const { url } of nodes) codes.push(await statusOf(url, { ...session, 'x-user': user }));
        expect(new Set(codes).size).toBe(1);
        if (codes[0] === 200) owners.push(user);
      }
      expect(owners).toHaveLength(1);
      for (const { url } of nodes) expect(await statusOf(url, session)).toBe(401);
    }
  });

  it('lets the anonymous calls in other processes go on (#22)', async () => {
    const [one, other] = await serveTwice({ principal, sessionStore: create() });
    const session = await openSession(one.url);
    const [pending] = await whenBegun(other.probe, post(other.url, call(1, 'wait'), session));
    for (const { url } of [one, other]) expect(await statusOf(url, { ...session, ...ANN })).toBe(200);
    other.probe.emit('go');
    expect((await pending).status).toBe(200);
  });

  it('takes one place of its principal where another process serves it (#22)', async () => {
    const limits = { maxSessionsPerPrincipal: 1 };
    const [one, other] = await serveTwice({ principal, sessionStore: create(), limits });
    const session = await openSession(one.url);
    expect([await statusOf(other.url, { ...session, ...ANN }), other.hits]).toEqual([200, []]);
  });

  it('keeps its streams while nobody else has signed in, whoever its caller is (#22)', async () => {
    const { url, server } = await serve({ principal, sessionStore: create(), keepAliveMs: 5 });
    const sweeping = await openSession(url);
    for (const caller of [{}, ANN]) {
      const session = await openSession(url, caller);
      const stream = await getStream(url, session);
      expect(await statusOf(url, session)).toBe(200);
      for (let n = 0; n < 3; n += 1) await nextSweep(() => getStream(url, sweeping));
      server.notify.promptsChanged();
      expect(await heard(stream, 1)).toEqual([CHANGED[1]]);
    }
  });

  it('ends its anonymous streams in other processes at the next sweep, without a request (#22)', async () => {
    const [one, other] = await serveTwice({ principal, sessionStore: create(), keepAliveMs: 5 });
    const session = await openSession(one.url);
    const stream = await getStream(other.url, session);
    expect(await statusOf(one.url, { ...session, ...ANN })).toBe(200);
    await stream.rest();
  });

  it('replays nothing of its anonymous streams in another process, and announces changed lists (#22)', async () => {
    const [one, other] = await serveTwice({ principal, sessionStore: create(), events: new LateEventStore() });
    const session = await openSession(one.url);
    const stream = await getStream(one.url, session);
    one.server.notify.toolsChanged();
    const { id } = (await stream.message()) as { id: string };
    expect(await statusOf(one.url, { ...session, ...ANN })).toBe(200);
    const again = await getStream(other.url, { ...session, ...ANN, 'last-event-id': id });
    expect(await heard(again, 3)).toEqual(CHANGED);
    other.server.notify.promptsChanged();
    expect(await heard(again, 1)).toEqual([CHANGED[1]]);
  });

  it('keeps the subscriptions that its principal may have, in every process (#22)', async () => {
    const [one, other] = await serveTwice({ principal, sessionStore: create() });
    const session = await openSession(one.url);
    expect(await statusOf(one.url, session, subscribe(GUIDE.uri))).toBe(200);
    expect(await statusOf(other.url, session)).toBe(200);
    const mine = { ...session, ...ANN };
    expect(await statusOf(one.url, mine)).toBe(200);
    for (const { url, server } of [one, other]) {
      const stream = await getStream(url, mine);
      await heard(stream, 3);
      server.notify.resourceUpdated(GUIDE.uri);
      expect(await heard(stream, 1)).toEqual(['notifications/resources/updated']);
    }
  });
});

it('an ended subscription of a session counts in no process that has known it (#22)', async () => {
  const more = { providers: [new Guarded()], limits: { maxSubscriptions: 1 } };
  const sessionStore = new MemorySessionStore();
  const [one, other] = [await serve({ principal, sessionStore }, more), await serve({ principal, sessionStore }, more)];
  const session = await openSession(one.url);
  expect(await statusOf(other.url, session, subscribe(GUIDE.uri))).toBe(200);
  const mine = { ...session, ...ANN };
  for (const { url } of [one, other]) expect(await statusOf(url, mine)).toBe(200);
  const ended = await post(one.url, request(1, 'resources/unsubscribe', GUIDE), mine);
  const begun = await post(other.url, subscribe(GUIDE.uri), mine);
  for (const answer of [ended, begun]) expect(await json(answer)).toMatchObject({ result: {} });
});

/** A store in which two principals meet: both are about to be stored before one of them is. */
function meetingIn(store: SessionStore): SessionStore {
  const door = new EventEmitter();
  let asked = 0;
  const set: SessionStore['set'] = async (...args) => {
    if (args[0].principal !== undefined && asked < 2) {
      const opened = once(door, 'open');
      asked += 1;
      if (asked === 2) queueMicrotask(() => door.emit('open'));
      await opened;
    }
    return await store.set(...args);
  };
  return { ...plain(store), set };
}

describe('two requests that sign in at once, in two processes,', () => {
  it.each([
    ['two principals, are told at once who was first', BOB, [200, 404]],
    ['one principal, both get the session', ANN, [200, 200]],
  ])('of %s (#22)', async (_who, second, expected) => {
    const [one, other] = await serveTwice({ principal, sessionStore: meetingIn(new MemorySessionStore()) });
    const session = await openSession(one.url);
    const signIns = [statusOf(one.url, { ...session, ...ANN }), statusOf(other.url, { ...session, ...second })];
    const codes = await Promise.all(signIns);
    expect(codes.toSorted()).toEqual(expected);
    const [winner] = [ANN, second].filter((_user, index) => codes[index] === 200);
    for (const { url } of [one, other]) expect(await statusOf(url, { ...session, ...winner })).toBe(200);
  });

  it('are told it with the next request if the store cannot compare: the last one gets the session (#22)', async () => {
    const memory = new MemorySessionStore();
    const [one, other] = await serveTwice({ principal, sessionStore: meetingIn(plain(memory)) });
    const session = await openSession(one.url);
    const signIns = [statusOf(one.url, { ...session, ...ANN }), statusOf(other.url, { ...session, ...BOB })];
    expect(await Promise.all(signIns)).toEqual([200, 200]);
    const last = memory.get(session['mcp-session-id'] as string)?.principal?.subject;
    const users = [ANN, BOB].toSorted((a) => (a['x-user'] === last ? -1 : 1));
    for (const [at, user] of users.entries()) {
      for (const { url } of [one, other]) expect(await statusOf(url, { ...session, ...user })).toBe([200, 404][at]);
    }
  });

  it('keep their session from a late change of the anonymous caller (#22)', async () => {
    const [one, other] = await serveTwice({ principal, sessionStore: new LateSessionStore() }, [new Guarded()]);
    const session = await openSession(one.url);
    const asked = once(gate, 'asked');
    const pending = post(other.url, subscribe('a://slow', 9), session);
    await asked;
    expect(await statusOf(one.url, { ...session, ...ANN })).toBe(200);
    gate.emit('go');
    await (await pending).text();
    for (const { url } of [one, other]) expect(await statusOf(url, session)).toBe(401);
  });
});

describe('signing in while the store fails', () => {
  const FAILURE = new Error('no store');
  const fails = async () => await Promise.reject(FAILURE);

  /** Serves a store, and collects the lines of the log. */
  async function logging(sessionStore: SessionStore) {
    const lines: string[] = [];
    const logger = { warn() {}, error: (_details: object, line: string) => void lines.push(line) };
    const served = await serve({ principal, sessionStore }, { logger });
    return { ...served, lines, session: await openSession(served.url) };
  }

  it.each([
    ['a store that compares', new LateSessionStore()],
    ['one that does not', plain(new LateSessionStore())],
  ])('in %s, gets a 503, and works in every process as soon as the store does (#22)', async (_what, store) => {
    const { url, errors, lines, session } = await logging(store);
    const other = await serve({ principal, sessionStore: store });
    const works = store.set;
    Object.assign(store, { set: fails });
    expect(await statusOf(url, { ...session, ...ANN })).toBe(503);
    expect([errors, lines]).toEqual([[FAILURE], ['sessionStore.set failed']]);
    expect(await statusOf(url, { ...session, ...BOB })).toBe(404);
    Object.assign(store, { set: works });
    expect(await statusOf(url, { ...session, ...ANN })).toBe(200);
    for (const at of [url, other.url]) expect(await statusOf(at, session)).toBe(401);
  });

  it.each<[string, (kept: object) => unknown, number, string[]]>([
    ['has the same principal', (kept) => ({ ...kept, principal: { subject: 'ann' } }), 200, []],
    ['has another principal', (kept) => ({ ...kept, principal: { subject: 'bob' } }), 404, []],
    ['is gone', () => undefined, 404, []],
    ['cannot be read', fails, 503, ['sessionStore.get failed']],
  ])('or had another principal first, looks who it is: if the record %s (#22)', async (_what, found, status, log) => {
    const memory = new MemorySessionStore();
    let isTaken = false;
    const store = Object.assign(plain(memory), {
      get: (id: string) => (isTaken ? found(memory.get(id) as object) : memory.get(id)),
      set(...[kept, ttlMs, expected]: Parameters<SessionStore['set']>) {
        isTaken = kept.principal !== undefined;
        return isTaken ? false : memory.set(kept, ttlMs, expected);
      },
    }) as SessionStore;
    const { url, probe, lines, session } = await logging(store);
    const [pending] = await whenBegun(probe, post(url, call(1, 'wait'), session));
    expect([await statusOf(url, { ...session, ...ANN }), lines]).toEqual([status, log]);
    // a session that belongs to somebody else ends here, with its calls
    probe.emit('go');
    expect((await pending).status).toBe(status === 404 ? 404 : 200);
  });

  it('reports it if the store then fails to keep the subscriptions (#22)', async () => {
    const store = new LateSessionStore();
    const { url, errors, session } = await logging(store);
    expect(await statusOf(url, session, subscribe(GUIDE.uri))).toBe(200);
    const works = store.set.bind(store);
    store.set = async (...args) => (args[0].subscriptions?.length ? await fails() : await works(...args));
    expect(await statusOf(url, { ...session, ...ANN })).toBe(200);
    while (errors.length === 0) await new Promise(setImmediate);
    expect(errors).toEqual([FAILURE]);
  });

  it('costs one write of the store, and one read like every request (#22)', async () => {
    const store = new LateSessionStore();
    const { url, session } = await logging(store);
    const [read, write] = [jest.spyOn(store, 'get'), jest.spyOn(store, 'set')];
    for (const reads of [1, 2]) {
      expect(await statusOf(url, { ...session, ...ANN })).toBe(200);
      expect([read.mock.calls.length, write.mock.calls.length]).toEqual([reads, 1]);
    }
  });
});

describe('a request that has read the store before a principal signed in', () => {
  it('brings back no subscription that the principal may not have or has ended (#22)', async () => {
    const door = new HeldStore();
    const [{ url, server }] = await serveTwice({ principal, sessionStore: door.store }, [new Guarded()]);
    const session = await openSession(url);
    for (const uri of ['a://nobody', GUIDE.uri]) expect(await statusOf(url, session, subscribe(uri))).toBe(200);
    const mine = { ...session, ...ANN };
    door.holds = 1;
    const held = once(door, 'held');
    const late = statusOf(url, mine);
    await held;
    expect(await statusOf(url, mine)).toBe(200);
    expect(await statusOf(url, mine, request(1, 'resources/unsubscribe', GUIDE))).toBe(200);
    door.emit('open');
    expect(await late).toBe(200);
    const reader = await getStream(url, mine);
    await heard(reader, 3);
    for (const uri of ['a://nobody', GUIDE.uri]) server.notify.resourceUpdated(uri);
    server.notify.toolsChanged();
    expect(await heard(reader, 1)).toEqual([CHANGED[0]]);
  });

  it.each(['POST', 'GET', 'DELETE'])('is refused if it is anonymous: %s (#22)', async (method) => {
    const door = new HeldStore();
    const { url, session } = await serveSession({ principal, sessionStore: door.store });
    door.holds = 1;
    const held = once(door, 'held');
    const pending = statusBy(method, url, session);
    await held;
    expect(await statusOf(url, { ...session, ...ANN })).toBe(200);
    door.emit('open');
    expect([await pending, await statusOf(url, { ...session, ...ANN })]).toEqual([401, 200]);
  });

  it.each(['POST', 'GET', 'DELETE'])('is refused, too, if both have read it: %s (#22)', async (method) => {
    const door = new HeldStore();
    const { url, session } = await serveSession({ principal, sessionStore: door.store });
    const answers = [];
    door.holds = 2;
    for (const answer of [() => statusBy(method, url, session), () => statusOf(url, { ...session, ...ANN })]) {
      const held = once(door, 'held');
      answers.push(answer());
      await held;
    }
    door.emit('open');
    expect(await Promise.all(answers)).toEqual([401, 200]);
  });
});

it('a stranger who names a session of another process takes no place (#22)', async () => {
  const [one, other] = await serveTwice({
    principal,
    sessionStore: new LateSessionStore(),
    limits: { maxSessions: 1 },
  });
  const session = await openSession(one.url, ANN);
  await getStream(other.url, await openSession(other.url, ANN));
  expect(await statusOf(other.url, { ...session, ...BOB })).toBe(404);
});

describe('an anonymous session of HTTP+SSE', () => {
  /** Opens the stream. Resolves with the URL for messages too. */
  async function connect(headers: Fields = {}, options: ListenOptions = {}) {
    const { url, probe } = await serve({ principal, legacySse: true, ...options });
    const stream = await getStream(new URL('/sse', url).href, headers);
    const target = new URL((await stream.next())?.data as string, url).href;
    return { url, probe, stream, send: (message: unknown, more: Fields = {}) => statusOf(target, more, message) };
  }

  it('ends when a principal uses it, and sends nothing to the stream that was opened without one (#22)', async () => {
    const { probe, stream, send } = await connect();
    expect(await send(INITIALIZE)).toBe(202);
    await stream.message();
    expect(await send(call(1, 'add', SUM), ANN)).toBe(404);
    expect(await stream.rest()).toEqual([]);
    expect([await send(request(2, 'ping')), probe.contexts]).toEqual([404, []]);
  });

  it('is not given to a principal by its id either (#22)', async () => {
    const { url, probe, stream, send } = await connect();
    await send(INITIALIZE);
    await whenBegun(probe, send(call(1, 'wait')));
    const id = probe.contexts[0]?.sessionId as string;
    expect(await statusOf(url, { 'mcp-session-id': id, ...ANN })).toBe(404);
    await stream.rest();
  });

  it('lets a principal wait before it sends its first message (#22)', async () => {
    const { stream, send } = await connect(ANN, { keepAliveMs: 5 });
    for (let n = 0; n < 3; n += 1) expect((await stream.next())?.comment).toBeDefined();
    expect(await send(INITIALIZE, ANN)).toBe(202);
  });

  it('refuses an anonymous caller if it belongs to a principal: 401 (#22)', async () => {
    const { send } = await connect(ANN);
    expect([await send(INITIALIZE), await send(INITIALIZE, BOB), await send(INITIALIZE, ANN)]).toEqual([401, 404, 202]);
  });
});
