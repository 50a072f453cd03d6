// Sessions: how they start and end, what one caller may hold, and what belongs to a caller until its token expires.
import { once } from 'node:events';

import { describe, expect, it } from '@jest/globals';
import type { JsonObject, Principal } from '@decorum/core';
import { type Auth, type ListenOptions, MemorySessionStore } from '@decorum/http';

import { stopClock } from '../../packages/http/test/clock.js';
import { Connection } from '../../packages/http/test/connection.js';
import { EventReader, nextSweep } from '../../packages/http/test/events.js';
import { byUser, serve } from '../../packages/http/test/fixture.js';
import { call, type Fields, INITIALIZED, json, request } from '../../packages/http/test/messages.js';
import { post, statusOf, statusOfGet } from '../../packages/http/test/sending.js';
import { ADD, HttpClient, initialize, SseClient, TOKEN } from '../support/http-client.js';
import { eachRevision, eachSessionRevision, type SessionRevision } from '../support/requirements.js';
import { ANN, as, serveFiles } from './auth-fixture.js';
import {
  connectTo,
  inAnyRevision,
  inEveryRevision,
  inEverySessionRevision,
  inTheFirstRevision,
  inTheStatelessRevision,
  overEveryBinding,
  overEveryHost,
  serveOn,
} from './contract.js';
import type { HostOptions, HttpHost } from './hosts.js';

const ID = 'mcp-session-id';

describe('a session', () => {
  eachSessionRevision(
    'SESS-11',
    'starts without an id, whatever that of the request, and gets none if it cannot start',
    async (revision) => {
      const { url } = await serve();
      const failed = await post(url, request(1, 'initialize', {}));
      expect([failed.headers.get(ID), (await json(failed)).error?.code]).toEqual([null, -32602]);
      const chosen = await post(url, initialize(revision), { [ID]: 'chosen' });
      expect([chosen.status, chosen.headers.get(ID)]).toEqual([404, null]);
      for (const id of [0, -1, '', '0', 'x'.repeat(256), Number.MAX_SAFE_INTEGER]) {
        const response = await post(url, { ...initialize(revision), id });
        expect([response.status, response.headers.get(ID)]).toEqual([200, expect.any(String)]);
        expect(await json(response)).toMatchObject({ id, result: { protocolVersion: revision } });
      }
    },
  );

  eachRevision(['SESS-02', 'SESS-03', 'SESS-09'], 'has a unique id that nothing else tells', async (revision) => {
    const ids: string[] = [];
    for (const subject of [undefined, 'Ada Lovelace', 'José', '李四', 'two\nlines']) {
      const { url } = await serve({ principal: () => (subject === undefined ? undefined : { subject }) });
      const clients = await Promise.all(Array.from({ length: 10 }, () => HttpClient.open(url, revision)));
      ids.push(...clients.map(({ headers }) => headers[ID] as string));
    }
    expect(new Set(ids).size).toBe(50);
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
      principal: byUser,
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

/** Those who must not use the session of ann, and the status that they get. */
const STRANGERS: readonly (readonly [stranger: Fields, status: number])[] = [
  [{ 'x-user': 'bob' }, 404],
  [{ 'x-user': 'Ann' }, 404],
  [{ 'x-user': 'ann2' }, 404],
  [{}, 401],
];

describe('the id of a session', () => {
  eachSessionRevision('SESS-10', 'is useless to them in the other processes that serve it too', async (revision) => {
    const sessionStore = new MemorySessionStore();
    const options = { principal: byUser, sessionStore };
    const [one, other] = [await serve(options), await serve(options)];
    const client = await HttpClient.open(one.url, revision, { 'x-user': 'ann' });
    const { 'x-user': _, ...session } = client.headers;
    for (const [stranger, status] of STRANGERS) {
      const headers = { ...session, ...stranger };
      expect(await statusOf(other.url, headers, call(1, 'wait'))).toBe(status);
      expect(await statusOfGet(other.url, headers)).toBe(status);
      expect((await fetch(other.url, { method: 'DELETE', headers })).status).toBe(status);
    }
    expect(await statusOf(other.url, client.headers)).toBe(200);
    expect(other.probe.contexts).toEqual([]);
  });
});

/** Trusts the caller's claim about its identity. */
const principal: NonNullable<HostOptions['principal']> = (header) =>
  byUser({ headers: { 'x-user': header('x-user') } });

const OWNER = { 'x-user': 'ann' };
const OTHER = { 'x-user': 'bob' };

/** A local proxy that isn't trusted adds this. The address of the client is then unknown. */
const FORWARDED = { 'x-forwarded-for': '192.0.2.7' };

const statuses = async (...clients: HttpClient[]) => {
  const found = [];
  for (const client of clients) found.push(await client.status());
  return found;
};

/** What a client sees that is refused at a quota. */
async function refusal(response: Response) {
  const { error } = await json(response);
  return [response.status, response.headers.get('retry-after'), error?.code];
}

/** Opens sessions of one caller at its cap and beyond. Others are not affected. */
async function seeCap(host: HttpHost, revision: SessionRevision, limit: string, headers: Fields): Promise<void> {
  const { url, hits } = await serveOn(host, { limits: { [limit]: 2 }, principal });
  const join = async (of = headers) => await HttpClient.open(url, revision, of);
  const other = await join(OTHER);
  const [first, second] = [await join(), await join()];
  expect(await statuses(second, first)).toEqual([200, 200]);
  const third = await join();
  expect(await statuses(other, first, second, third)).toEqual([200, 200, 404, 200]);
  const streams = [await first.listen(), await third.listen()];
  expect(await refusal(await post(url, initialize(revision), headers))).toEqual([429, '10', -32600]);
  const caller = headers === OWNER && { principal: { subject: 'ann' } };
  const hit = { limit, remoteAddress: '127.0.0.1', ...caller };
  expect(hits).toEqual([hit, hit]);
  expect(await statuses(first, third, other, await join(OTHER))).toEqual([200, 200, 200, 200]);
  expect(streams.map(({ ended }) => ended)).toEqual([false, false]);
  expect(await third.end()).toBe(204);
  expect(await statuses(await join(), first)).toEqual([200, 200]);
}

overEveryHost('sessions of one address', (host) => {
  inEverySessionRevision('are capped: the idlest one ends, and if all are connected, the next gets 429', (revision) =>
    seeCap(host, revision, 'maxSessionsPerAddress', {}),
  );

  inEverySessionRevision('are not counted behind a proxy that is not trusted', async (revision) => {
    const { url } = await serveOn(host, { limits: { maxSessionsPerAddress: 1 } });
    const clients = [];
    for (let n = 0; n < 3; n++) clients.push(await HttpClient.open(url, revision, FORWARDED));
    expect(await statuses(...clients)).toEqual([200, 200, 200]);
  });

  inEverySessionRevision('are only those of anonymous callers', async (revision) => {
    const { url } = await serveOn(host, { limits: { maxSessionsPerAddress: 1 }, principal });
    const clients = [await HttpClient.open(url, revision, OWNER), await HttpClient.open(url, revision, OTHER)];
    clients.push(await HttpClient.open(url, revision));
    expect(await statuses(...clients)).toEqual([200, 200, 200]);
  });

  inTheFirstRevision('include those of HTTP+SSE', async (revision) => {
    const { url } = await serveOn(host, { limits: { maxSessionsPerAddress: 2 }, legacySse: true });
    const sse = new URL('/sse', url).href;
    const client = await HttpClient.open(url, revision);
    const old = [await SseClient.open(sse), await SseClient.open(sse)];
    expect(await client.status()).toBe(404);
    expect(await refusal(await fetch(sse))).toEqual([429, '10', -32600]);
    expect(await refusal(await post(url, initialize(revision)))).toEqual([429, '10', -32600]);
    for (const each of old) expect(await each.ask({ jsonrpc: '2.0', id: 1, method: 'ping' })).toMatchObject({ id: 1 });
  });
});

overEveryBinding('sessions of one principal', (host) => {
  inEverySessionRevision('are capped like those of one address', (revision) =>
    seeCap(host, revision, 'maxSessionsPerPrincipal', OWNER),
  );
});

overEveryBinding('anonymous callers', (host) => {
  inEverySessionRevision('never displace a principal: their sessions end first', async (revision) => {
    const { url, hits } = await serveOn(host, { limits: { maxSessions: 2 }, principal });
    const ann = await HttpClient.open(url, revision, OWNER);
    const anonymous = [await HttpClient.open(url, revision), await HttpClient.open(url, revision)] as const;
    expect(await statuses(ann, ...anonymous)).toEqual([200, 404, 200]);
    await anonymous[1].listen();
    expect(await refusal(await post(url, initialize(revision)))).toEqual([503, '10', -32600]);
    expect(await statuses(ann, anonymous[1])).toEqual([200, 200]);
    expect(hits.map(({ limit }) => limit)).toEqual(['maxSessions', 'maxSessions']);
  });

  inEverySessionRevision('make room for a principal even if they are connected', async (revision) => {
    const { client, url } = await connectTo(host, revision, { limits: { maxSessions: 2 }, principal });
    const ann = await HttpClient.open(url, revision, OWNER);
    const stream = await client.listen();
    const bob = await HttpClient.open(url, revision, OTHER);
    await stream.rest();
    expect([stream.ended, ...(await statuses(client, ann, bob))]).toEqual([true, 404, 200, 200]);
    // without anonymous callers, the principal that is idle for longest makes room
    const eve = await HttpClient.open(url, revision, { 'x-user': 'eve' });
    expect(await statuses(eve, ann, bob)).toEqual([200, 404, 200]);
  });
});

overEveryHost('a session whose client is gone', (host) => {
  inEverySessionRevision('can be evicted although its call is still running', async (revision) => {
    const { client, url, probe } = await connectTo(host, revision, { limits: { maxSessions: 2 } });
    const staying = await HttpClient.open(url, revision);
    await staying.listen();
    for (const name of ['wait', 'stream']) {
      const leaving = name === 'wait' ? client : await HttpClient.open(url, revision);
      const connection = await Connection.open(url);
      const began = once(probe, 'began');
      const params = { name, arguments: {}, _meta: { progressToken: 1 } };
      connection.post(leaving.buildMessage(name, 'tools/call', params), leaving.headers);
      await began;
      if (name === 'stream') await connection.until(/progress/);
      // while its client waits, it can't be evicted
      expect((await post(url, initialize(revision))).status).toBe(503);
      const aborted = once(probe, 'aborted');
      connection.leave();
      // the server has noticed it when these are answered
      for (let n = 0; n < 3; n++) expect(await staying.status()).toBe(200);
      const next = await HttpClient.open(url, revision);
      await aborted;
      expect(await statuses(leaving, next, staying)).toEqual([404, 200, 200]);
      await next.end();
    }
  });
});

const CHUNKED = { 'content-type': 'application/json' };

/** A chunk of a body. */
const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;
const LAST = '0\r\n\r\n';

overEveryHost('unfinished bodies', (host) => {
  const PING = JSON.stringify({ jsonrpc: '2.0', id: 'late', method: 'ping' });
  const REFUSED = (status: number) =>
    new RegExp(`^HTTP/1\\.1 ${status} [^]*\\r\\nretry-after: 10\\r\\n[^]*"code":-32600`, 'i');

  const caps: [limit: string, headers: Fields, status: number][] = [
    ['maxUnfinishedBytesPerAddress', {}, 429],
    ['maxUnfinishedBytes', FORWARDED, 503],
  ];
  for (const [limit, headers, status] of caps)
    inAnyRevision(`together may hold ${limit}, and the one that exceeds it is rejected`, async () => {
      const options = { limits: { bodyLimit: 1000, [limit]: 1000 } };
      const { client, url, hits } = await connectTo(host, '2025-11-25', options);
      const send = async (text: string) => {
        const connection = await Connection.open(url);
        connection.head('POST', { ...CHUNKED, ...headers, ...client.headers });
        connection.socket.write(chunk(text));
        // what was sent has arrived when this is answered
        expect(await client.status()).toBe(200);
        return connection;
      };
      const held = await send(PING + ' '.repeat(600 - PING.length));
      const next = await send('x'.repeat(400));
      expect([held.text, next.text]).toEqual(['', '']);
      next.socket.write(chunk('x'));
      expect(await next.closed()).toMatch(REFUSED(status));
      expect(hits).toMatchObject([{ limit }]);
      // complete messages are served meanwhile
      expect((await client.call(1, 'add', { args: ADD })).status).toBe(200);
      // the rejected body no longer counts
      const last = await send('x'.repeat(400));
      expect(last.text).toBe('');
      held.socket.write(LAST);
      expect(await held.until(/"result"/)).toMatch(/^HTTP\/1\.1 200 [^]*"id":"late"/);
      last.leave();
    });

  it('are not counted by address behind a proxy that is not trusted', async () => {
    const { client, url } = await connectTo(host, '2025-11-25', {
      limits: { bodyLimit: 1000, maxUnfinishedBytesPerAddress: 1000, maxUnfinishedBytes: 10_000 },
    });
    const connections = [];
    for (let n = 0; n < 5; n++) {
      const connection = await Connection.open(url);
      connection.head('POST', { ...CHUNKED, ...FORWARDED });
      connection.socket.write(chunk('x'.repeat(900)));
      connections.push(connection);
    }
    expect(await client.status()).toBe(200);
    expect(connections.map(({ text }) => text)).toEqual(Array(5).fill(''));
    for (const connection of connections) connection.leave();
  });
});

/** Callers that are not the one who has only the subject `ann`. */
const OTHERS: Partial<Principal>[] = [{ subject: 'bob' }, { issuer: 'https://a.example' }, { clientId: 'app' }];

/** The session revisions in which users can be asked. */
const WITH_QUESTIONS = ['2025-06-18', '2025-11-25'] as const;

const MINUTE = 60_000;

/** The headers of a caller whose token expires after some milliseconds. */
const until = (ms: number) => as({ expiresAt: Date.now() + ms });

/** Short ticks, so that the tests need only move the clock. */
const TICKS = { keepAliveMs: 10 };

overEveryBinding('a session with auth', (host) => {
  inEverySessionRevision('is found only by its issuer, subject and client [SESS-10]', async (revision) => {
    const { url } = await serveFiles(host);
    const client = await HttpClient.open(url, revision, ANN);
    const events = await (await client.stream(1, 'steps')).rest();
    for (const other of OTHERS.map(as)) {
      const posts = [client.buildMessage(2, 'tools/list'), INITIALIZED].map((each) => client.post(each, other));
      const gets = [{}, { 'last-event-id': events[0]?.id as string }].map((more) => client.get({ ...other, ...more }));
      const answers = await Promise.all([...posts, ...gets]);
      expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404]);
      expect(await client.end(other)).toBe(404);
    }
    expect(await client.status()).toBe(200);
  });

  inEverySessionRevision('is no authentication [SEC-08]', async (revision) => {
    const { url, files } = await serveFiles(host);
    const client = await HttpClient.open(url, revision, ANN);
    const events = await (await client.stream(1, 'steps')).rest();
    const message = client.buildMessage(2, 'tools/call', { name: 'list', arguments: {} });
    const notification = { jsonrpc: '2.0', method: 'notifications/roots/list_changed' };
    const answer = { jsonrpc: '2.0', id: 's1', result: {} };
    // neither the session nor what its client knows is a token
    const claims = [undefined, '', 'Bearer', 'Bearer ', `Bearer ${client.headers['mcp-session-id']}`];
    for (const authorization of claims) {
      for (const body of [message, notification, answer, client.buildMessage(3, 'ping')]) {
        expect([authorization, (await client.post(body, { authorization })).status]).toEqual([authorization, 401]);
      }
    }
    const { authorization: _token, ...headers } = client.headers;
    for (const more of [{}, { 'last-event-id': events[0]?.id as string }])
      expect(await statusOfGet(url, { ...headers, ...more })).toBe(401);
    expect((await fetch(url, { method: 'DELETE', headers })).status).toBe(401);
    expect([await client.status(), files.ran]).toEqual([200, []]);
  });

  it.each(WITH_QUESTIONS)('takes an answer only from the caller who was asked (%s)', async (revision) => {
    const { url } = await serveFiles(host);
    const client = await HttpClient.open(url, revision, ANN);
    const reader = await client.stream(1, 'ask');
    const { message } = await reader.message();
    const answer = { jsonrpc: '2.0', id: message?.id, result: { action: 'accept', content: { name: 'Bob' } } };
    for (const other of OTHERS.map(as)) expect((await client.post(answer, other)).status).toBe(404);
    expect((await client.post({ ...answer, result: { action: 'decline' } })).status).toBe(202);
    expect((await reader.rest()).at(-1)?.message).toMatchObject({ id: 1, result: { content: [{ text: 'decline' }] } });
  });

  it('counts towards the quota of its issuer, subject and client, whose own idlest session ends', async () => {
    const { url } = await serveFiles(host, { limits: { maxSessionsPerPrincipal: 1 } });
    const others = await Promise.all(OTHERS.map((other) => HttpClient.open(url, '2025-11-25', as(other))));
    const first = await HttpClient.open(url, '2025-11-25', ANN);
    const second = await HttpClient.open(url, '2025-11-25', ANN);
    expect(await statuses(...others, first, second)).toEqual([200, 200, 200, 404, 200]);
  });
});

overEveryBinding('a stream with auth', (host) => {
  inEverySessionRevision(
    'of a GET ends after the token expires with a retry time, and goes on with a newer one [RESUME-09]',
    async (revision) => {
      const wind = stopClock();
      const { url, server } = await serveFiles(host, TICKS);
      const client = await HttpClient.open(url, revision, until(MINUTE));
      const reader = await client.listen();
      wind(MINUTE - 1);
      expect(await client.status()).toBe(200);
      server.notify.toolsChanged();
      const { id } = await reader.message();
      wind(1);
      expect((await reader.rest()).at(-1)).toEqual({ retry: expect.stringMatching(/^\d+$/) });
      const renewed = new EventReader(await client.get({ ...until(MINUTE), 'last-event-id': String(id) }));
      server.notify.toolsChanged();
      expect((await renewed.message()).message).toMatchObject({ method: 'notifications/tools/list_changed' });
    },
  );

  inEverySessionRevision('of a GET goes on if the session has seen a newer token', async (revision) => {
    const wind = stopClock();
    const { url, server } = await serveFiles(host, TICKS);
    const client = await HttpClient.open(url, revision, until(MINUTE));
    const reader = await client.listen();
    const list = client.buildMessage(1, 'tools/list');
    expect((await client.post(list, until(2 * MINUTE))).status).toBe(200);
    // an older one doesn't shorten it
    expect((await client.post(list)).status).toBe(200);
    wind(MINUTE);
    // the ticks of a call's own stream show that sweeps have run
    const steps = await client.stream(2, 'steps', { headers: until(MINUTE), meta: TOKEN });
    await steps.rest();
    server.notify.toolsChanged();
    expect((await reader.message()).message).toMatchObject({ method: 'notifications/tools/list_changed' });
    wind(MINUTE);
    await reader.rest();
  });

  inEverySessionRevision(
    'that was resumed ends too, but not the one of a call [HTTP-18] [RESUME-09]',
    async (revision) => {
      const wind = stopClock();
      const { url, files } = await serveFiles(host, TICKS);
      const client = await HttpClient.open(url, revision, until(MINUTE));
      const began = once(files, 'began');
      const own = await client.stream(1, 'stream');
      await began;
      const { id } = (await own.message()) as { id: string };
      wind(MINUTE);
      const resumed = new EventReader(await client.get({ 'last-event-id': id }));
      expect((await resumed.rest()).at(-1)).toEqual({ retry: expect.stringMatching(/^\d+$/) });
      // a call keeps its stream
      const again = once(files, 'began');
      const late = await client.stream(2, 'stream');
      await again;
      // the sweep that ends this one has found that one too
      await (await client.listen()).rest();
      files.emit('go');
      expect((await late.rest()).at(-1)?.message).toMatchObject({ id: 2, result: {} });
    },
  );

  inTheStatelessRevision('of subscriptions/listen ends after the token expires [CANC-13]', async (revision) => {
    const wind = stopClock();
    const { url } = await serveFiles(host, TICKS);
    const client = await HttpClient.open(url, revision, until(MINUTE));
    const lasting = await HttpClient.open(url, revision, until(2 * MINUTE));
    const listen = async (each: HttpClient) => {
      const reader = new EventReader(
        await each.post(each.buildMessage(1, 'subscriptions/listen', { notifications: { toolsListChanged: true } })),
      );
      await reader.message();
      return reader;
    };
    const [reader, other] = [await listen(client), await listen(lasting)];
    wind(MINUTE);
    expect((await reader.rest()).at(-1)?.message).toMatchObject({ id: 1, result: {} });
    wind(MINUTE);
    expect((await other.rest()).at(-1)?.message).toMatchObject({ id: 1, result: {} });
  });

  inTheFirstRevision('of HTTP+SSE ends with its session after the token expires', async () => {
    const wind = stopClock();
    const { url, files } = await serveFiles(host, { ...TICKS, legacySse: true });
    const sse = new URL('/sse', url).href;
    const client = await SseClient.open(sse, until(MINUTE));
    const kept = await SseClient.open(sse, until(MINUTE));
    expect((await kept.send(call(1, 'list'), until(2 * MINUTE))).status).toBe(202);
    wind(MINUTE);
    await client.reader.rest();
    expect((await client.send(call(2, 'list'), until(MINUTE))).status).toBe(404);
    expect((await kept.send(call(3, 'list'), until(MINUTE))).status).toBe(202);
    expect(files.ran).toEqual(['list', 'list']);
  });

  inEverySessionRevision('of an anonymous caller, or without an expiry, goes on', async (revision) => {
    const wind = stopClock();
    const { url, server } = await serveFiles(host, TICKS);
    const client = await HttpClient.open(url, revision, ANN);
    const reader = await client.listen();
    wind(1000 * MINUTE);
    expect(await client.status()).toBe(200);
    server.notify.toolsChanged();
    expect((await reader.message()).message).toMatchObject({ method: 'notifications/tools/list_changed' });
    await reader.cancel();
  });

  it.each<[string, number]>([
    ['in seconds', 1_900_000_000],
    ['that is not a number', Number.NaN],
  ])('is not opened for an expiry %s, which is a bug', async (_what, expiresAt) => {
    const auth: Auth = { authenticate: () => ({ subject: 'ann', expiresAt }) };
    const { url, errors } = await serveFiles(host, { auth });
    expect((await post(url, initialize('2025-11-25'))).status).toBe(500);
    expect(errors).toEqual([expect.objectContaining({ message: expect.stringContaining('milliseconds') })]);
  });
});

overEveryBinding('a state with auth', (host) => {
  inTheStatelessRevision('can only be used by its issuer, subject and client [SEC-09]', async (revision) => {
    const { url } = await serveFiles(host);
    const client = await HttpClient.open(url, revision, ANN);
    const meta = { 'io.modelcontextprotocol/clientCapabilities': { elicitation: {} } };
    const { result } = await json(await client.call(1, 'ask', { meta }));
    const { inputRequests, requestState } = result as { inputRequests: JsonObject; requestState: string };
    const [key] = Object.keys(inputRequests);
    const inputResponses = { [key as string]: { action: 'decline' } };
    const params = { name: 'ask', arguments: {}, _meta: meta, inputResponses, requestState };
    for (const other of OTHERS.map(as)) {
      expect(await json(await client.post(client.buildMessage(2, 'tools/call', params), other))).toMatchObject({
        error: { code: -32602 },
      });
    }
    expect(await json(await client.post(client.buildMessage(3, 'tools/call', params)))).toMatchObject({
      result: { content: [{ text: 'decline' }] },
    });
  });

  inEveryRevision('that is a cursor can only be used by its caller', async (revision) => {
    const { url } = await serveFiles(host, {}, undefined, { pageSize: 2 });
    const client = await HttpClient.open(url, revision, ANN);
    const { result } = await json(await client.post(client.buildMessage(1, 'tools/list')));
    const next = { cursor: result?.['nextCursor'] };
    for (const other of OTHERS.map(as)) {
      const theirs = await HttpClient.open(url, revision, other);
      const answer = await theirs.post(theirs.buildMessage(2, 'tools/list', next));
      expect(await json(answer)).toMatchObject({ error: { code: -32602 } });
    }
    expect((await client.post(client.buildMessage(3, 'tools/list', next))).status).toBe(200);
  });
});
