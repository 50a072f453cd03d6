// The routes of plugins, beside every endpoint.
import { once } from 'node:events';
import { type IncomingMessage, request as httpRequest } from 'node:http';
import { text as textOf } from 'node:stream/consumers';

import { describe, expect, it } from '@jest/globals';
import { health, type McpServerOptions } from '@decorum/core';
import { definePlugin, type Plugin, type RouteRequest } from '@decorum/core/plugin';
import { listen, MemorySessionStore } from '@decorum/http';
import { fetchHandler } from '@decorum/http/fetch';
import { nodeHandler } from '@decorum/http/node';

import {
  afterwards,
  call,
  createServer,
  kernelOf,
  modernCall,
  modernHeaders,
  openSession,
  post,
  Probe,
} from '../../packages/http/test/fixture.js';
import { inAnyRevision, overEveryHost } from './contract.js';
import { HOSTS, type HostOptions, type HttpHost } from './hosts.js';

/** The status that a host answers with to a request with this header `Host`. */
async function statusFor(url: URL, host: string): Promise<number | undefined> {
  const sent = httpRequest(url, { headers: { host } }).end();
  const [response] = (await once(sent, 'response')) as [{ statusCode?: number; resume(): void }];
  response.resume();
  return response.statusCode;
}

async function served(
  host: HttpHost,
  plugins: readonly Plugin[],
  options: Partial<McpServerOptions & HostOptions> = {},
) {
  const probe = new Probe();
  const { auth, ...others } = options;
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
      {
        method: 'GET',
        path: '/fails',
        handle: () => {
          throw Object.assign(new Error('secret'), { statusCode: 404 });
        },
      },
      { method: 'GET', path: '/odd', handle: () => ({ status: 7 }) },
      { method: 'GET', path: '/split', handle: () => ({ status: 200, headers: { 'x-a': 'a\r\nb: c' } }) },
    ],
  }));

  it('answer without credentials, with what the plugin returns', async () => {
    const auth = { authenticate: () => undefined };
    const { at, url } = await served(host, [routes()], { auth });
    const response = await fetch(new URL('?verbose=1', at('/status')), { headers: { authorization: 'Bearer x' } });
    expect([response.status, await response.text()]).toEqual([200, 'fine']);
    expect(response.headers.get('x-kind')).toBe('status');
    expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(requests.at(-1)).toMatchObject({
      method: 'GET',
      url: expect.stringMatching(/\/status\?verbose=1$/),
      closing: false,
    });
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
    const headers = { ...modernHeaders('tools/call', 'add'), 'content-type': 'application/json' };
    const [status, text] = await absolute(
      new URL(url),
      'POST',
      headers,
      JSON.stringify(modernCall(1, 'add', { a: 1, b: 2 })),
    );
    expect([status, JSON.parse(String(text))]).toMatchObject([200, { result: { content: [{ text: '3' }] } }]);
  });

  it('are behind the host guard [HTTP-03] [HTTP-04]', async () => {
    const { at } = await served(host, [routes()]);
    expect(await statusFor(at('/status'), 'evil.example')).toBe(403);
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
    const ready = async () => {
      const response = await fetch(at('/readyz'));
      return [response.status, await response.json()];
    };
    expect(await ready()).toEqual([200, { status: 'ok' }]);
    const began = once(probe, 'began');
    const pending = post(url, modernCall(1, 'wait'), modernHeaders('tools/call', 'wait'));
    await began;
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
  const readyOf = (at: (path: string) => URL) => async () => {
    const response = await fetch(at('/readyz'));
    return [response.status, await response.json()];
  };

  it('fails while a check fails, shows only names, and reports each failure once', async () => {
    let [mode, stop] = ['fine', () => {}];
    const db = async () => {
      if (mode === 'throws') throw new Error('postgres://admin:hunter2@db');
      if (mode === 'hangs') await new Promise<void>((resolve) => (stop = resolve));
      return mode !== 'false';
    };
    const plugin = health({ checks: { db, cache: () => undefined }, timeoutMs: 5 });
    const { at, errors } = await served(listening, [plugin]);
    const ready = readyOf(at);
    const FAILED = [503, { status: 'unavailable', checks: { db: 'failed', cache: 'ok' } }];
    const FINE = [200, { status: 'ok', checks: { db: 'ok', cache: 'ok' } }];
    expect(await ready()).toEqual(FINE);
    mode = 'throws';
    expect([await ready(), await ready()]).toEqual([FAILED, FAILED]);
    mode = 'fine';
    expect(await ready()).toEqual(FINE);
    mode = 'hangs';
    expect(await ready()).toEqual(FAILED);
    mode = 'fine';
    stop();
    expect(await ready()).toEqual(FINE);
    mode = 'false';
    expect(await ready()).toEqual(FAILED);
    expect(messages(errors)).toEqual([
      ['The health check "db" failed.', 'postgres://admin:hunter2@db'],
      ['The health check "db" failed.', 'It did not end within 5 ms.'],
      ['The health check "db" failed.', 'It returned false.'],
    ]);
  });

  it('runs a check once at a time, however many ask', async () => {
    let [runs, end] = [0, () => {}];
    const slow = async () => {
      runs += 1;
      await new Promise<void>((resolve) => (end = resolve));
    };
    const [, ready] = health({ checks: { slow }, timeoutMs: 3_600_000 }).routes ?? [];
    const request = { method: 'GET', url: '/readyz', headers: {}, remoteAddress: undefined, closing: false };
    const ask = async () => (await ready?.handle({ ...request, report: () => {} }))?.status;
    const first = Promise.all([ask(), ask(), ask()]);
    expect(runs).toBe(1);
    end();
    expect(await first).toEqual([200, 200, 200]);
    const second = ask();
    expect(runs).toBe(2);
    end();
    expect(await second).toBe(200);
  });

  it('does not run a check again while it hangs', async () => {
    let [runs, end] = [0, () => {}];
    const hung = async () => {
      runs += 1;
      await new Promise<void>((resolve) => (end = resolve));
    };
    const plugin = health({ checks: { hung }, timeoutMs: 5 });
    const { at, errors } = await served(listening, [plugin]);
    const status = async () => (await fetch(at('/readyz'))).status;
    expect([await status(), await status(), await status(), runs]).toEqual([503, 503, 503, 1]);
    end();
    await new Promise(setImmediate);
    expect([await status(), runs]).toEqual([503, 2]);
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
        expect({ revision, transport, continued }).toEqual({
          revision: '2025-11-25',
          transport: 'http',
          continued: false,
        });
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
    expect((await post(url, call(1, 'add', { a: 1, b: 2 }), last)).status).toBe(200);
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
    for (const id of [1, 2]) await post(other, call(id, 'add', { a: 1, b: 2 }), headers);
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
    const headers = modernHeaders('tools/call', 'wait');
    const left = post(url, modernCall(1, 'wait'), headers, controller.signal).catch(() => 'left');
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
