// What an endpoint serves besides MCP, without a token: routes of plugins, and public documents of `auth`.
import { once } from 'node:events';
import { type IncomingMessage, request as httpRequest } from 'node:http';
import { text as textOf } from 'node:stream/consumers';

import { describe, expect, it } from '@jest/globals';
import { health, type McpServerOptions } from '@decorum/core';
import { definePlugin, type Plugin, type RouteRequest } from '@decorum/core/plugin';
import { type Auth, authRoutes, listen, mcp, MemorySessionStore } from '@decorum/http';
import { fetchHandler } from '@decorum/http/fetch';
import { nodeHandler } from '@decorum/http/node';
import express from 'express';
import fastify from 'fastify';

import { afterwards, createServer, kernelOf, Probe, serveNode, whenBegun } from '../../packages/http/test/fixture.js';
import { ADD, WAIT } from '../../packages/http/test/messages.js';
import { openSession, post, raw, statusOf } from '../../packages/http/test/sending.js';
import { inAnyRevision, inEveryRevision, overEveryHost } from './contract.js';
import { type HostOptions, HOSTS, type HttpHost } from './hosts.js';
import { doorsOf, enter, HttpClient } from '../support/http-client.js';
import { MemoryCluster } from '../support/memory-cluster.js';
import { ANN, AUTH, BAD, serveFiles } from './auth-fixture.js';
import { Connection } from '../../packages/http/test/connection.js';

type Options = Partial<McpServerOptions & HostOptions>;

async function served(host: HttpHost, plugins: readonly Plugin[], { auth, ...others }: Options = {}) {
  const probe = new Probe();
  const { server, errors } = createServer(probe, { plugins, ...others });
  const hosted = await host.serve(server, { ...(auth && { auth }), closeDeadlineMs: 5000 });
  afterwards(async () => {
    probe.emit('go');
    await hosted.close();
    await server.close();
  });
  // below the path that Express mounts the handler at, which it removes
  const at = (path: string) => new URL(host.name.startsWith('Express') ? `/mcp${path}` : path, hosted.url);
  return { probe, server, errors, url: hosted.url, at };
}

const fails = (): never => {
  throw Object.assign(new Error('secret'), { statusCode: 404 });
};

/** The answer of `health`. */
async function readiness(at: (path: string) => URL): Promise<unknown[]> {
  const response = await fetch(at('/readyz'));
  return [response.status, await response.json()];
}

const messages = (errors: readonly unknown[]) =>
  errors.map((error) => [(error as Error).message, ((error as Error).cause as Error | undefined)?.message]);

overEveryHost('routes of plugins', (host) => {
  const requests: RouteRequest[] = [];
  const routes = definePlugin(() => ({
    name: 'routes',
    routes: [
      {
        method: 'GET',
        path: '/status',
        async handle(request) {
          requests.push(request);
          return await Promise.resolve({ status: 200, body: 'fine', headers: { 'X-Kind': 'status' } });
        },
      },
      { method: 'POST', path: '/status', handle: () => ({ status: 204, body: 'dropped' }) },
      { method: 'GET', path: '/fails', handle: fails },
      { method: 'GET', path: '/odd', handle: () => ({ status: 7 }) },
      { method: 'GET', path: '/split', handle: () => ({ status: 200, headers: { 'x-a': 'a\r\nb: c' } }) },
    ],
  }));

  it('answer without credentials, with what the plugin returns', async () => {
    const auth = { authenticate: () => undefined };
    const { at, url } = await served(host, [routes()], { auth });
    const response = await fetch(new URL('?verbose=1', at('/status')), { headers: { authorization: 'Bearer x' } });
    expect([response.status, await response.text()]).toEqual([200, 'fine']);
    const fields = { 'x-kind': 'status', 'content-type': 'text/plain; charset=utf-8' };
    expect(Object.fromEntries(response.headers)).toMatchObject(fields);
    const found = { method: 'GET', url: expect.stringMatching(/\/status\?verbose=1$/), closing: false };
    expect(requests.at(-1)).toMatchObject(found);
    expect(requests.at(-1)?.headers).not.toHaveProperty('authorization');
    const head = await fetch(at('/status'), { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
    const posted = await fetch(at('/status'), { method: 'POST', body: '{"a":1}', headers: { 'content-type': 'a/b' } });
    expect([posted.status, posted.headers.get('content-length')]).toEqual([204, null]);
    const put = await fetch(at('/status'), { method: 'PUT', body: 'a' });
    expect([put.status, put.headers.get('allow')]).toEqual([405, 'GET, HEAD, POST']);
    expect((await post(url, { jsonrpc: '2.0', id: 1, method: 'ping' })).status).toBe(401);
  });

  inAnyRevision('are found, as the endpoint is, by the absolute URL that a proxy may send', async () => {
    const { at, url } = await served(host, [routes()]);
    const absolute = async (target: URL, method: string, headers: Record<string, string>, body = '') => {
      const sent = httpRequest(target, { path: target.href, method, headers, agent: false }).end(body);
      const [response] = (await once(sent, 'response')) as [IncomingMessage];
      return [response.statusCode, await textOf(response)];
    };
    expect(await absolute(at('/status'), 'GET', {})).toEqual([200, 'fine']);
    const [message, headers] = ADD;
    const typed = { ...headers, 'content-type': 'application/json' };
    const [status, text] = await absolute(new URL(url), 'POST', typed, JSON.stringify(message));
    expect([status, JSON.parse(String(text))]).toMatchObject([200, { result: { content: [{ text: '3' }] } }]);
  });

  it('are behind the host guard [HTTP-03] [HTTP-04]', async () => {
    const { at } = await served(host, [routes()]);
    expect((await raw(at('/status').href, 'GET', { host: 'evil.example' }))[0].statusCode).toBe(403);
    expect((await fetch(at('/status'), { headers: { origin: 'http://evil.example' } })).status).toBe(403);
  });

  it('mask what a plugin throws or answers wrongly, and name the plugin to the operator', async () => {
    const { at, errors } = await served(host, [routes()]);
    for (const path of ['/fails', '/odd', '/split']) {
      const response = await fetch(at(path));
      expect([response.status, await response.text()]).toEqual([500, expect.not.stringContaining('secret')]);
    }
    const problem = expect.stringContaining('must answer with a `status`');
    expect(messages(errors)).toEqual([
      ['The plugin "routes" failed in its route GET /fails.', 'secret'],
      ['The plugin "routes" failed in its route GET /odd.', problem],
      ['The plugin "routes" failed in its route GET /split.', problem],
    ]);
  });

  it('tell with `health` that the server closes, while its calls go on', async () => {
    const { at, url, server, probe } = await served(host, [health()]);
    const ready = () => readiness(at);
    expect(await ready()).toEqual([200, { status: 'ok' }]);
    const [pending] = await whenBegun(probe, post(url, ...WAIT));
    const closing = server.close();
    expect(await ready()).toEqual([503, { status: 'unavailable' }]);
    expect((await fetch(at('/healthz'))).status).toBe(200);
    probe.emit('go');
    expect((await pending).status).toBe(200);
    await closing;
  });
});

describe('`health`', () => {
  const listening = HOSTS[0] as HttpHost;
  it('fails while a check fails, shows only names, and reports each failure once', async () => {
    let [mode, stop] = ['fine', () => {}];
    const db = async () => {
      if (mode === 'throws') throw new Error('postgres://admin:hunter2@db');
      if (mode === 'hangs') await new Promise<void>((resolve) => (stop = resolve));
      return mode !== 'false';
    };
    const plugin = health({ checks: { db, cache: () => undefined }, timeoutMs: 5 });
    const { at, errors } = await served(listening, [plugin]);
    const ready = () => readiness(at);
    const FAILED = [503, { status: 'unavailable', checks: { db: 'failed', cache: 'ok' } }];
    const FINE = [200, { status: 'ok', checks: { db: 'ok', cache: 'ok' } }];
    for (const [next, expected] of [
      ['fine', FINE],
      ['throws', FAILED],
      ['throws', FAILED],
      ['fine', FINE],
      ['hangs', FAILED],
      ['fine', FINE],
      ['false', FAILED],
    ] as const) {
      mode = next;
      stop();
      expect([mode, await ready()]).toEqual([mode, expected]);
    }
    expect(messages(errors)).toEqual([
      ['The health check "db" failed.', 'postgres://admin:hunter2@db'],
      ['The health check "db" failed.', 'It did not end within 5 ms.'],
      ['The health check "db" failed.', 'It returned false.'],
    ]);
  });

  it('is not ready while the cluster cannot be reached', async () => {
    let isReachable = true;
    const ping = async () => {
      if (!isReachable) throw new Error('connect ECONNREFUSED 10.0.0.7:6379');
    };
    const cluster = { ...new MemoryCluster().node(), ping };
    const options = { cluster, secret: 's'.repeat(32) };
    const { at, errors } = await served(listening, [health({ checks: { db: () => true } })], options);
    const FINE = [200, { status: 'ok', checks: { db: 'ok', cluster: 'ok' } }];
    expect(await readiness(at)).toEqual(FINE);
    isReachable = false;
    expect(await readiness(at)).toEqual([503, { status: 'unavailable', checks: { db: 'ok', cluster: 'failed' } }]);
    expect((await fetch(at('/healthz'))).status).toBe(200);
    isReachable = true;
    expect(await readiness(at)).toEqual(FINE);
    expect(messages(errors)).toEqual([['The health check "cluster" failed.', 'connect ECONNREFUSED 10.0.0.7:6379']]);
  });

  it('runs a check once at a time, however many ask, and not again while it hangs', async () => {
    let [runs, end] = [0, () => {}];
    const slow = async () => {
      runs += 1;
      await new Promise<void>((resolve) => (end = resolve));
    };
    const [, ready] = health({ checks: { slow }, timeoutMs: 3_600_000 }).routes ?? [];
    const request = { method: 'GET', url: '/readyz', headers: {}, remoteAddress: undefined, closing: false };
    const ask = async () => (await ready?.handle({ ...request, report: () => {} }))?.status;
    for (const run of [1, 2]) {
      const asked = Promise.all([ask(), ask(), ask()]);
      expect(runs).toBe(run);
      end();
      expect(await asked).toEqual([200, 200, 200]);
    }
    const { at, errors } = await served(listening, [health({ checks: { slow }, timeoutMs: 5 })]);
    const status = async () => (await fetch(at('/readyz'))).status;
    expect([await status(), await status(), await status(), runs]).toEqual([503, 503, 503, 3]);
    end();
    await new Promise(setImmediate);
    expect([await status(), runs]).toEqual([503, 4]);
    expect(messages(errors)).toHaveLength(1);
  });

  it.each([
    [{ checks: { db: 1 } }, /checks\.db/],
    [{ checks: new Map() }, /`checks` is a Map/],
    [{ check: {} }, /`checks`/],
    [{ timeoutMs: 0 }, /whole number/],
  ])('rejects the options %j', (options, message) => {
    expect(() => health(options as never)).toThrow(message);
  });
});

describe('A route of a plugin', () => {
  const route = (path: string): Plugin => ({
    name: 'routes',
    routes: [{ method: 'GET', path, handle: () => ({ status: 200 }) }],
  });
  const serverAt = (path: string) => createServer(new Probe(), { plugins: [route(path)] }).server;

  it('cannot be at a path of the endpoint', async () => {
    const taken =
      /GET .* belongs to (?:the MCP endpoint|`auth`|`legacySse`) and to the plugin "routes".*DUPLICATE_ROUTE/;
    await expect(listen(serverAt('/mcp'), { port: 0 })).rejects.toThrow(taken);
    await expect(listen(serverAt('/sse'), { port: 0, legacySse: true })).rejects.toThrow(taken);
    expect(() => nodeHandler(serverAt('/'))).toThrow(taken);
    expect(() => fetchHandler(serverAt('/x'), { path: '/x' })).toThrow(taken);
    const answer = () => ({ status: 200 });
    const auth = { authenticate: () => undefined, documents: [{ path: '/doc', answer }] };
    expect(() => nodeHandler(serverAt('/doc'), { auth })).toThrow(taken);
  });

  it('cannot be one of the application', async () => {
    const plugin = HOSTS.find(({ name }) => name === 'the Fastify plugin') as HttpHost;
    const error = plugin.serve(serverAt('/health'), {});
    await expect(error).rejects.toThrow(/GET \/health belongs to the application and to the plugin "routes"/);
  });
});

describe('`session` over HTTP', () => {
  it('ends with the session: deleted, evicted, or at shutdown', async () => {
    const ended: unknown[] = [];
    const sessions = definePlugin(() => ({
      name: 'sessions',
      session: ({ id, revision, transport, continued }) => {
        expect([revision, transport, continued]).toEqual(['2025-11-25', 'http', false]);
        return () => void ended.push(id);
      },
    }));
    const { server } = createServer(new Probe(), { plugins: [sessions()] });
    const { url, close } = await listen(server, { port: 0, limits: { maxSessions: 2 } });
    afterwards(close);
    const ids: unknown[] = [];
    const open = async () => {
      const headers = await openSession(url);
      ids.push(headers['mcp-session-id']);
      return headers;
    };
    const deleted = await open();
    await fetch(url, { method: 'DELETE', headers: deleted });
    expect(ended).toEqual(ids);
    await open();
    await open();
    const last = await open();
    expect(ended).toEqual(ids.slice(0, 2));
    expect(await statusOf(url, last)).toBe(200);
    await server.close();
    expect(ended.toSorted()).toEqual(ids.toSorted());
  });

  it('tells of a session of another process that it continues it', async () => {
    const told: unknown[] = [];
    const sessions = definePlugin((process: string) => ({
      name: 'sessions',
      session: ({ client, continued }) => void told.push([process, client?.name, continued]),
    }));
    const sessionStore = new MemorySessionStore();
    const urls: string[] = [];
    for (const process of ['one', 'other']) {
      const { server } = createServer(new Probe(), { plugins: [sessions(process)] });
      const { url, close } = await listen(server, { port: 0, sessionStore });
      afterwards(close);
      urls.push(url);
    }
    const [one = '', other = ''] = urls;
    const headers = await openSession(one);
    for (let n = 0; n < 2; n += 1) await statusOf(other, headers);
    expect(told).toEqual([
      ['one', 'test', false],
      ['other', 'test', true],
    ]);
  });
});

describe('A plugin that waits before `run`', () => {
  it('finds the request cancelled if the client has left meanwhile', async () => {
    let go = () => {};
    const statuses: string[] = [];
    const waits = definePlugin(() => ({
      name: 'waits',
      async observe(_request, run) {
        await new Promise<void>((resolve) => (go = resolve));
        statuses.push((await run()).status);
      },
    }));
    const probe = new Probe();
    const { server, errors } = createServer(probe, { plugins: [waits()] });
    const { url, close } = await listen(server, { port: 0 });
    afterwards(close);
    const controller = new AbortController();
    const left = post(url, ...WAIT, controller.signal).catch(() => 'left');
    const { inFlight } = await kernelOf(server);
    const isHeld = () => (inFlight as unknown as { exchanges: Set<unknown> }).exchanges.size > 0;
    while (!isHeld()) await new Promise(setImmediate);
    controller.abort();
    expect(await left).toBe('left');
    while (isHeld()) await new Promise(setImmediate);
    go();
    while (statuses.length === 0) await new Promise(setImmediate);
    expect([statuses, probe.contexts, errors]).toEqual([['cancelled'], [], []]);
  });
});

const PATH = '/.well-known/oauth-protected-resource/mcp';
const JSON_TYPE = 'application/json; charset=utf-8';
const TEXT = '{"resource":"https://mcp.example.com/mcp"}';
const FIELDS = { 'Content-Type': JSON_TYPE, 'cache-control': 'max-age=300' };

const WITH_DOCUMENTS: Auth = {
  ...AUTH,
  documents: [
    { path: PATH, answer: () => ({ status: 200, headers: FIELDS, body: TEXT }) },
    {
      path: '/token',
      answersPost: true,
      answer: async ({ url }) => ({ status: 307, headers: { location: `https://id.example.com${url}` } }),
    },
    { path: '/broken', answer: fails },
    { path: '/my%20mcp/%C3%A9:7', answer: () => ({ status: 200, body: 'encoded' }) },
    { path: '/late', answer: async () => ({ status: 199 }) },
  ],
};

overEveryHost('a document of auth', (host) => {
  inEveryRevision('and a preflight need no token, but everything else does [AUTHRS-18]', async (revision) => {
    const { url, files } = await serveFiles(host, { auth: WITH_DOCUMENTS, legacySse: true });
    for (const headers of [{}, BAD, { 'mcp-protocol-version': revision }]) {
      const response = await fetch(new URL(PATH, url), { headers });
      expect([response.status, await response.text()]).toEqual([200, TEXT]);
      const fields = { 'access-control-allow-origin': '*', 'cache-control': 'max-age=300', 'content-type': JSON_TYPE };
      expect(Object.fromEntries(response.headers)).toMatchObject(fields);
    }
    for (const door of await doorsOf(url, revision, ANN)) {
      const { authorization: _token, ...headers } = door.headers;
      const { status } = await enter({ ...door, headers });
      expect([door.name, status]).toEqual([door.name, door.method === 'OPTIONS' ? 204 : 401]);
    }
    expect(files.ran).toEqual([]);
    // nor do the documents hide the endpoint
    expect((await (await HttpClient.open(url, revision, ANN)).call(1, 'list')).status).toBe(200);
  });

  it('can be read by pages of any origin and through any host', async () => {
    const { url } = await serveFiles(host, { auth: WITH_DOCUMENTS });
    const at = new URL(PATH, url).href;
    const headers = { host: 'proxy.example', origin: 'https://any.example', 'x-forwarded-host': 'evil.example' };
    const [answer, text] = await raw(at, 'GET', headers);
    expect([answer.statusCode, answer.headers['access-control-allow-origin'], text]).toEqual([200, '*', TEXT]);
    const asked = { 'access-control-request-method': 'GET', 'access-control-request-headers': 'mcp-protocol-version' };
    const [preflight] = await raw(at, 'OPTIONS', { ...headers, ...asked });
    expect([preflight.statusCode, preflight.headers]).toMatchObject([
      204,
      {
        'access-control-allow-origin': '*',
        'access-control-allow-methods': 'GET, HEAD',
        'access-control-allow-headers': expect.stringMatching(/mcp-protocol-version/i),
      },
    ]);
  });

  it('answers HEAD, with a query too, and no other methods', async () => {
    const { url } = await serveFiles(host, { auth: WITH_DOCUMENTS });
    const at = new URL(PATH, url).href;
    const [head, nothing] = await raw(`${at}?a=1`, 'HEAD', {});
    expect([head.statusCode, head.headers['content-type'], nothing]).toEqual([200, JSON_TYPE, '']);
    for (const method of ['POST', 'PUT', 'DELETE']) {
      const [answer, text] = await raw(at, method, {});
      expect([answer.statusCode, answer.headers.allow]).toEqual([405, 'GET, HEAD']);
      expect(JSON.parse(text)).toMatchObject({ jsonrpc: '2.0', error: { code: -32600 } });
    }
  });

  it('can redirect a POST without reading its body', async () => {
    const { url } = await serveFiles(host, { auth: WITH_DOCUMENTS });
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const [answer] = await raw(new URL('/token?a=1', url).href, 'POST', headers, 'code=1');
    expect([answer.statusCode, answer.headers.location]).toEqual([307, 'https://id.example.com/token?a=1']);
    const connection = await Connection.open(new URL('/token', url).href);
    expect(await connection.endless('POST', headers).until(/\r\n\r\n/)).toMatch(/^HTTP\/1\.1 307 /);
  });

  it('is a masked 500 that is reported if it cannot be sent, and may have a path with encoded characters', async () => {
    const { url, errors } = await serveFiles(host, { auth: WITH_DOCUMENTS });
    for (const path of ['/broken', '/late']) {
      const response = await fetch(new URL(path, url));
      expect([response.status, await response.json()]).toMatchObject([500, { error: { message: 'Internal error' } }]);
    }
    if (!host.name.startsWith('the Fastify plugin')) expect(errors).toHaveLength(2);
    expect(await (await fetch(new URL('/my%20mcp/%C3%A9:7', url))).text()).toBe('encoded');
  });
});

describe('documents of `auth` in Fastify', () => {
  /** A Fastify application with a server, until the end of the test. */
  function application() {
    const app = fastify();
    const { server } = createServer(new Probe());
    afterwards(async () => {
      await app.close();
      await server.close();
    });
    return { app, server };
  }

  it('keep the plugin from starting if nothing serves them, whenever it is registered', async () => {
    // neither within a scope, nor with the routes of the object that is given
    for (const auth of [WITH_DOCUMENTS, { ...WITH_DOCUMENTS, routes: authRoutes(WITH_DOCUMENTS) }]) {
      const { app, server } = application();
      await app.register(async (scope) => await scope.register(authRoutes(WITH_DOCUMENTS)), { prefix: '/api' });
      await app.register(mcp, { server, auth });
      await expect(app.ready()).rejects.toMatchObject({
        code: 'DECORUM_INVALID_OPTION',
        message: expect.stringContaining('app.register(authRoutes(auth))'),
      });
    }
    const { app, server } = application();
    await app.register(mcp, { server, auth: WITH_DOCUMENTS, path: '/mcp' });
    await app.register(authRoutes(WITH_DOCUMENTS));
    expect((await app.inject(PATH)).body).toBe(TEXT);
  });

  it('are those of the first endpoint that has them', async () => {
    const { app } = application();
    const second = { path: PATH, answer: () => ({ status: 200, body: 'second' }) };
    const own = { path: '/own', answer: () => ({ status: 200, body: 'own' }) };
    await app.register(authRoutes(WITH_DOCUMENTS));
    await app.register(authRoutes({ ...AUTH, documents: [second, own] }));
    expect([(await app.inject(PATH)).body, (await app.inject('/own')).body]).toEqual([TEXT, 'own']);
  });
});

it.each([
  ['once if it is', WITH_DOCUMENTS, [expect.stringContaining("app.use(nodeHandler(server, { auth, path: '/mcp' }))")]],
  ['of nothing if there are none and it is', { ...AUTH, documents: [] }, []],
])('the handler for Node warns %s mounted where clients do not find the documents', async (_when, auth, expected) => {
  const warnings: string[] = [];
  const logger = { warn: (_details: object, text: string) => void warnings.push(text), error() {} };
  const { server } = createServer(new Probe(), { logger });
  afterwards(() => server.close());
  const url = await serveNode(express().use('/mcp', nodeHandler(server, { auth })));
  for (let n = 0; n < 2; n++) await fetch(`${url}/mcp`, { method: 'POST' });
  expect(warnings).toEqual(expected);
});
