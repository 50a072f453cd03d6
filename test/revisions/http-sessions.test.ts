import { once } from 'node:events';

import { describe, expect } from '@jest/globals';
import type { Principal } from '@decorum/core';
import { type ListenOptions, mcp, MemorySessionStore } from '@decorum/http';
import fastify, { type FastifyRequest } from 'fastify';

import { stopClock } from '../../packages/http/test/clock.js';
import { nextSweep } from '../../packages/http/test/events.js';
import {
  afterwards,
  call,
  createServer,
  type Fields,
  json,
  post,
  Probe,
  request,
  serve,
} from '../../packages/http/test/fixture.js';
import { eachSessionRevision } from '../support/requirements.js';
import { ADD, doorsOf, enter, HttpClient, initialize } from './http-client.js';

const ID = 'mcp-session-id';
const VISIBLE_ASCII = expect.stringMatching(/^[\x21-\x7e]+$/);

/** All kinds of messages besides requests. */
const OTHERS: readonly unknown[] = [
  { jsonrpc: '2.0', method: 'notifications/initialized' },
  { jsonrpc: '2.0', id: 's1', result: {} },
  { jsonrpc: '2.0', id: 's1', error: { code: -1, message: 'No' } },
  [request(1, 'tools/list'), { jsonrpc: '2.0', method: 'notifications/initialized' }],
];

/** Trusts the caller's claim about its identity. */
const principal: ListenOptions['principal'] = ({ headers }) => {
  const subject = headers['x-user'];
  return typeof subject === 'string' ? { subject } : undefined;
};

describe('a session', () => {
  eachSessionRevision('SESS-01', 'is named with the result of initialize', async (revision) => {
    const { url } = await serve();
    for (const [accept, type] of [
      ['application/json, text/event-stream', 'application/json; charset=utf-8'],
      ['application/json', 'application/json; charset=utf-8'],
      ['text/event-stream', 'text/event-stream'],
    ] as const) {
      const response = await post(url, initialize(revision), { accept });
      const { status, headers } = response;
      expect([status, headers.get('content-type'), headers.get(ID)]).toEqual([200, type, expect.any(String)]);
      expect(await response.text()).toContain(`"protocolVersion":"${revision}"`);
      const client = { [ID]: headers.get(ID) as string };
      expect((await post(url, request(1, 'tools/list'), client)).status).toBe(200);
    }
  });

  eachSessionRevision('SESS-11', 'starts without an id, and gets none if it cannot start', async (revision) => {
    const { url } = await serve();
    const client = await HttpClient.open(url, revision);
    expect(await client.status()).toBe(200);
    const failed = await post(url, request(1, 'initialize', {}));
    expect([failed.headers.get(ID), (await json(failed)).error?.code]).toEqual([null, -32602]);
    const chosen = await post(url, initialize(revision), { [ID]: 'chosen' });
    expect([chosen.status, chosen.headers.get(ID)]).toEqual([404, null]);
  });

  eachSessionRevision('SESS-11', 'starts whatever the id of the request is', async (revision) => {
    const { url } = await serve();
    for (const id of [0, -1, '', '0', 'x'.repeat(256), Number.MAX_SAFE_INTEGER]) {
      const response = await post(url, { ...initialize(revision), id });
      expect([response.status, response.headers.get(ID)]).toEqual([200, expect.any(String)]);
      expect(await json(response)).toMatchObject({ id, result: { protocolVersion: revision } });
    }
  });

  const idsOf = async (url: string, count: number, revision: Parameters<typeof initialize>[0]) => {
    const clients = await Promise.all(Array.from({ length: count }, () => HttpClient.open(url, revision)));
    return clients.map(({ headers }) => headers[ID] as string);
  };

  eachSessionRevision('SESS-02', 'has a unique id that cannot be guessed', async (revision) => {
    const { url } = await serve();
    const ids = await idsOf(url, 100, revision);
    expect(new Set(ids).size).toBe(100);
    // a version 4 UUID, which has 122 random bits
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    const digits = ids.map((id) => id.replaceAll('-', ''));
    for (const at of [0, 5, 10, 15, 20, 31]) expect(new Set(digits.map((id) => id[at])).size).toBeGreaterThan(8);
  });

  eachSessionRevision('SESS-03', 'has an id of visible ASCII, whatever its caller is called', async (revision) => {
    for (const subject of [undefined, 'Ada Lovelace', 'José', '李四', 'two\nlines']) {
      const { url } = await serve({ principal: () => (subject === undefined ? undefined : { subject }) });
      for (const id of await idsOf(url, 5, revision)) expect([subject, id]).toEqual([subject, VISIBLE_ASCII]);
    }
  });

  eachSessionRevision('SESS-09', 'has an id that does not depend on its first request', async (revision) => {
    const ids = [];
    for (let n = 0; n < 3; n++) ids.push(...(await idsOf((await serve()).url, 2, revision)));
    expect(new Set(ids).size).toBe(6);
    // no part is the same in all ids, except for the UUID version
    const parts = ids.map((id) => id.split('-'));
    for (const at of [0, 1, 4]) expect(new Set(parts.map((part) => part[at])).size).toBeGreaterThan(1);
  });

  eachSessionRevision('SESS-04', 'must be named, or else the answer is 400', async (revision) => {
    const { client, url } = await open(revision);
    const { [ID]: _, ...headers } = client.headers;
    const response = await post(url, request(7, 'tools/list'), headers);
    expect([response.status, await json(response)]).toMatchObject([400, { id: 7, error: { code: -32600 } }]);
    for (const message of OTHERS) {
      const answer = await post(url, message, headers);
      expect([message, answer.status, await json(answer)]).toMatchObject([message, 400, { error: { code: -32600 } }]);
    }
    const without = await fetch(url, { headers: { accept: 'text/event-stream', ...headers } });
    expect(without.status).toBe(400);
    expect((await fetch(url, { method: 'DELETE', headers })).status).toBe(400);
  });

  eachSessionRevision('SESS-05', 'may be ended by the server', async (revision) => {
    const { client, url } = await open(revision, { limits: { maxSessions: 1 } });
    expect(await client.status()).toBe(200);
    const next = await HttpClient.open(url, revision);
    expect([await client.status(), await next.status()]).toEqual([404, 200]);
  });

  eachSessionRevision('SESS-06', 'that has ended or never existed is unknown: 404', async (revision) => {
    const { client } = await open(revision);
    const lost = (await (await client.stream(1, 'steps')).rest()).at(-1)?.id as string;
    expect(await client.end()).toBe(204);
    const unknown = [client.headers[ID] as string, 'bogus', '00000000-0000-4000-8000-000000000000', '__proto__'];
    for (const id of unknown) {
      const headers = { [ID]: id };
      const posted = await client.post(request(7, 'tools/list'), headers);
      expect([id, posted.status, await json(posted)]).toMatchObject([id, 404, { id: 7, error: { code: -32600 } }]);
      for (const message of OTHERS) {
        const answer = await client.post(message, headers);
        expect([message, answer.status, await json(answer)]).toMatchObject([message, 404, { error: { code: -32600 } }]);
      }
      expect([id, (await client.get(headers)).status]).toEqual([id, 404]);
      expect([id, (await client.get({ ...headers, 'last-event-id': lost })).status]).toEqual([id, 404]);
      expect([id, await client.end(headers)]).toEqual([id, 404]);
      expect([id, (await client.post(initialize(revision), headers)).status]).toEqual([id, 404]);
    }
  });

  eachSessionRevision('SESS-07', 'ends with DELETE, and its streams with it', async (revision) => {
    const { client, url } = await open(revision);
    const other = await HttpClient.open(url, revision);
    const listening = await client.listen();
    expect(await client.end()).toBe(204);
    await listening.rest();
    expect([listening.ended, await client.status(), await client.end()]).toEqual([true, 404, 404]);
    expect(await other.status()).toBe(200);
    // in all processes
    const sessionStore = new MemorySessionStore();
    const processes = [await serve({ sessionStore }), await serve({ sessionStore }), await serve({ sessionStore })];
    const shared = await HttpClient.open(processes[0]?.url as string, revision);
    const there = processes.map((each) => shared.at(each.url));
    expect(await there[1]?.status()).toBe(200);
    expect(await there[1]?.end()).toBe(204);
    for (const each of there) expect([await each.status(), await each.end()]).toEqual([404, 404]);
  });

  eachSessionRevision('SESS-12', 'cannot be initialized twice: 400', async (revision) => {
    const { client } = await open(revision);
    const response = await client.post(initialize(revision));
    expect([response.status, await json(response)]).toMatchObject([400, { id: 'hello', error: { code: -32600 } }]);
    const { id: _id, ...notification } = initialize(revision);
    for (const again of [{ ...initialize(revision), id: 0 }, { ...initialize(revision), params: {} }, notification]) {
      expect((await client.post(again)).status).toBe(400);
    }
    expect(await client.status()).toBe(200);
  });

  eachSessionRevision('SESS-13', 'ends after its idle time, and counts towards a cap', async (revision) => {
    const pass = stopClock();
    const { client, url, probe } = await open(revision, {
      limits: { sessionIdleMs: 60_000, maxSessions: 5 },
      keepAliveMs: 5,
      principal,
    });
    const [reading, working] = [await HttpClient.open(url, revision), await HttpClient.open(url, revision)];
    const known = await HttpClient.open(url, revision, { 'x-user': 'ann' });
    const lost = await HttpClient.open(url, revision);
    await reading.listen();
    // what its client has left does not keep a session
    await (await lost.stream(1, 'steps')).rest();
    await (await lost.listen()).cancel();
    const began = once(probe, 'began');
    const pending = working.call(1, 'wait');
    await began;
    const sweep = () => nextSweep(() => reading.listen());
    await sweep();
    pass(60_000);
    await sweep();
    expect(await client.status()).toBe(200);
    await sweep();
    pass(60_001);
    await sweep();
    for (const idle of [client, known, lost]) expect(await idle.status()).toBe(404);
    // idle sessions can be evicted, but those in use can't
    for (let last = 2; last < 5; last += 1) await (await HttpClient.open(url, revision)).listen();
    expect((await post(url, initialize(revision))).status).toBe(503);
    probe.emit('go');
    expect((await pending).status).toBe(200);
    expect([await reading.status(), await working.status()]).toEqual([200, 200]);
  });
});

/** Connects a client with a session. */
async function open(revision: Parameters<typeof initialize>[0], options: ListenOptions = {}) {
  const served = await serve(options);
  return { ...served, client: await HttpClient.open(served.url, revision) };
}

const TOKENS: Readonly<Record<string, Principal>> = {
  'Bearer a': { subject: 'ann', scopes: ['write'] },
  'Bearer less': { subject: 'ann', scopes: ['read'] },
};

/** An application that requires a token in every request. */
async function serveWithTokens() {
  const probe = new Probe();
  const { server } = createServer(probe);
  const app = fastify({ forceCloseConnections: true });
  const userOf = ({ headers }: FastifyRequest) => TOKENS[headers.authorization ?? ''];
  app.addHook('onRequest', async (incoming) => {
    if (userOf(incoming) === undefined) throw Object.assign(new Error('Who are you?'), { statusCode: 401 });
  });
  await app.register(mcp, { server, legacySse: true, principal: userOf });
  afterwards(async () => {
    await app.close();
    await server.close();
  });
  return { probe, url: `${await app.listen({ port: 0, host: '127.0.0.1' })}/mcp` };
}

/** The user who starts a session. */
const OWNER: Fields = { 'x-user': 'ann' };

/** Others, who must not use it, and the status that they get. */
const STRANGERS: readonly (readonly [stranger: Fields, status: number])[] = [
  [{ 'x-user': 'bob' }, 404],
  [{ 'x-user': 'Ann' }, 404],
  [{ 'x-user': 'ann2' }, 404],
  [{}, 401],
];

describe('the id of a session', () => {
  eachSessionRevision('SESS-08', 'is not a credential: without a token, each request gets 401', async (revision) => {
    const { url, probe } = await serveWithTokens();
    const client = await HttpClient.open(url, revision, { authorization: 'Bearer a' });
    const listening = await client.listen();
    for (const authorization of [undefined, 'Bearer x', 'Bearer a b']) {
      const headers = Object.entries({ ...client.headers, authorization }).filter(([, value]) => value !== undefined);
      const all = Object.fromEntries(headers) as Record<string, string>;
      expect((await post(url, call(1, 'wait'), all)).status).toBe(401);
      expect((await fetch(url, { headers: { accept: 'text/event-stream', ...all } })).status).toBe(401);
      expect((await fetch(url, { method: 'DELETE', headers: all })).status).toBe(401);
    }
    expect(probe.contexts).toEqual([]);
    // the caller is determined by the token of the call, not by that of initialize
    for (const [authorization, { scopes }] of Object.entries(TOKENS)) {
      const began = once(probe, 'began');
      const pending = client.call(authorization, 'wait', { headers: { authorization } });
      await began;
      expect(probe.contexts.at(-1)?.principal?.scopes).toEqual(scopes);
      probe.emit('go');
      expect((await pending).status).toBe(200);
    }
    // the session has not ended, and serves requests with a token
    expect([await client.status(), listening.ended]).toEqual([200, false]);
    for (const door of (await doorsOf(url, revision, { authorization: 'Bearer a' })).filter(
      ({ name }) => name !== 'OPTIONS',
    )) {
      const { authorization: _, ...headers } = door.headers;
      expect([door.name, (await enter({ ...door, headers })).status]).toEqual([door.name, 401]);
      expect([door.name, (await enter(door)).status]).toEqual([door.name, door.served]);
    }
  });

  eachSessionRevision('SESS-10', 'is useless to anyone but the user who started it', async (revision) => {
    const { url, probe } = await serve({ principal });
    const client = await HttpClient.open(url, revision, OWNER);
    const listening = await client.listen();
    const { 'x-user': _, ...session } = client.headers;
    for (const [stranger, status] of STRANGERS) {
      const headers = { ...session, ...stranger };
      const posted = await post(url, call(1, 'wait'), headers);
      expect([stranger, posted.status]).toEqual([stranger, status]);
      expect((await fetch(url, { headers: { accept: 'text/event-stream', ...headers } })).status).toBe(status);
      expect((await fetch(url, { method: 'DELETE', headers })).status).toBe(status);
    }
    expect(probe.contexts).toEqual([]);
    expect((await json(await client.call(1, 'add', { args: ADD }))).result?.content?.[0]?.text).toBe('3');
    expect(listening.ended).toBe(false);
  });

  eachSessionRevision('SESS-10', 'is useless to them in the other processes that serve it too', async (revision) => {
    const sessionStore = new MemorySessionStore();
    const [one, other] = [await serve({ principal, sessionStore }), await serve({ principal, sessionStore })];
    const client = await HttpClient.open(one.url, revision, OWNER);
    const { 'x-user': _, ...session } = client.headers;
    for (const [stranger, status] of STRANGERS) {
      const headers = { ...session, ...stranger };
      expect((await post(other.url, call(1, 'wait'), headers)).status).toBe(status);
      expect((await fetch(other.url, { headers: { accept: 'text/event-stream', ...headers } })).status).toBe(status);
      expect((await fetch(other.url, { method: 'DELETE', headers })).status).toBe(status);
    }
    expect((await post(other.url, request(2, 'ping'), client.headers)).status).toBe(200);
    expect(other.probe.contexts).toEqual([]);
  });
});
