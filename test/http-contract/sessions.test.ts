import { once } from 'node:events';

import { describe, expect } from '@jest/globals';
import { type ListenOptions, MemorySessionStore } from '@decorum/http';

import { stopClock } from '../../packages/http/test/clock.js';
import { nextSweep } from '../../packages/http/test/events.js';
import { call, type Fields, json, post, request, serve } from '../../packages/http/test/fixture.js';
import { eachRevision, eachSessionRevision, type SessionRevision } from '../support/requirements.js';
import { HttpClient, initialize } from '../support/http-client.js';

const ID = 'mcp-session-id';

/** Trusts the caller's claim about its identity. */
const principal: ListenOptions['principal'] = ({ headers }) => {
  const subject = headers['x-user'];
  return typeof subject === 'string' ? { subject } : undefined;
};

describe('a session', () => {
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

  const idsOf = async (url: string, count: number, revision: SessionRevision) => {
    const clients = await Promise.all(Array.from({ length: count }, () => HttpClient.open(url, revision)));
    return clients.map(({ headers }) => headers[ID] as string);
  };

  eachRevision(['SESS-02', 'SESS-03', 'SESS-09'], 'has a unique id that nothing else tells', async (revision) => {
    const ids: string[] = [];
    for (const subject of [undefined, 'Ada Lovelace', 'José', '李四', 'two\nlines']) {
      const { url } = await serve({ principal: () => (subject === undefined ? undefined : { subject }) });
      ids.push(...(await idsOf(url, 20, revision as SessionRevision)));
    }
    expect(new Set(ids).size).toBe(100);
    // a version 4 UUID, which has 122 random bits
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    const digits = ids.map((id) => id.replaceAll('-', ''));
    for (const at of [0, 5, 10, 15, 20, 31]) expect(new Set(digits.map((id) => id[at])).size).toBeGreaterThan(8);
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
async function open(revision: SessionRevision, options: ListenOptions = {}) {
  const served = await serve(options);
  return { ...served, client: await HttpClient.open(served.url, revision) };
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
