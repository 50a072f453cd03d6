// Node handlers that `auth` serves next to the endpoint, such as those of an authorization server.
import { once } from 'node:events';
import { type IncomingHttpHeaders, type IncomingMessage, request as httpRequest, type ServerResponse } from 'node:http';
import { text as textOf } from 'node:stream/consumers';

import { expect, it } from '@jest/globals';
import type { McpServerOptions } from '@decorum/core';
import { type Auth, authRoutes, listen, mcp } from '@decorum/http';
import { fetchHandler } from '@decorum/http/fetch';
import { nodeHandler } from '@decorum/http/node';
import express from 'express';
import fastify from 'fastify';

import { afterwards, createServer, type Fields, Probe, serveNode } from '../../packages/http/test/fixture.js';
import { overEveryHost, serveOn } from './contract.js';
import { HOSTS } from './hosts.js';

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

/** An `auth` whose mount tells which request it got. */
function createAuth(paths: readonly string[] = ['/token', '/authorize/']) {
  const handled: string[] = [];
  const handle = async (request: IncomingMessage & { readonly body?: unknown }, response: ServerResponse) => {
    const { method, url = '' } = request;
    handled.push(`${method} ${url}`);
    response.setHeader('set-cookie', ['a=1; Path=/', 'b=2; HttpOnly']);
    if (url.endsWith('?fails')) throw new Error('secret');
    if (url.endsWith('?breaks')) response.write('begun');
    if (url.endsWith('?breaks')) throw new Error('late');
    const body = request.readable ? await textOf(request) : request.body;
    response.end(method === 'HEAD' ? undefined : JSON.stringify({ method, url, body }));
  };
  const auth: Auth = { authenticate: () => undefined, mount: { paths, handle: handle as never } };
  return { auth, handled };
}

interface Sent {
  readonly headers?: Fields;
  readonly body?: string;
}

/** Sends a request to a path as it is, which `fetch` would normalize. */
async function send(url: string, path: string, method = 'GET', { headers = {}, body }: Sent = {}) {
  const sent = httpRequest(url, { path, method, headers: { connection: 'close', ...headers } }).end(body);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  return { status: response.statusCode, headers: response.headers, text: await textOf(response).catch(() => 'cut') };
}

const corsOf = (headers: IncomingHttpHeaders) => headers['access-control-allow-origin'];

const NODE_HOSTS = HOSTS.filter(({ name }) => name !== 'the fetch handler' && name !== 'Hono');

async function served(host: (typeof HOSTS)[number], options: Partial<McpServerOptions> = {}) {
  const { auth, handled } = createAuth();
  const { url, errors } = await serveOn(host, { auth: { ...auth, allowedHosts: ['id.example'] } }, options);
  return { url, errors, handled };
}

overEveryHost(
  'the mount of `auth`',
  (host) => {
    it('gets each request with its body, and answers with headers of its own', async () => {
      const { url } = await served(host);
      for (const [method, path, sent] of [
        ['GET', '/token?a=%20b', {}],
        ['POST', '/token', { headers: FORM, body: 'a=1&b=%2B' }],
        ['PUT', '/authorize/', { headers: { 'content-type': 'text/plain' }, body: '{"a":1}' }],
        ['OPTIONS', '/authorize/x/y', { headers: { origin: 'https://page.example' } }],
      ] as const) {
        const { status, headers, text } = await send(url, path, method, sent);
        expect([status, JSON.parse(text)]).toEqual([200, { method, url: path, body: 'body' in sent ? sent.body : '' }]);
        expect([headers['set-cookie'], corsOf(headers)]).toEqual([['a=1; Path=/', 'b=2; HttpOnly'], undefined]);
      }
      // a parser of the application may have read it
      const body = '{"a":1}';
      const json = await send(url, '/token', 'POST', { headers: { 'content-type': 'application/json' }, body });
      expect([body, JSON.parse(body)]).toContainEqual((JSON.parse(json.text) as { body: unknown }).body);
      expect(await send(url, '/token', 'HEAD')).toMatchObject({ status: 200, text: '' });
    });

    it('is behind the host guard, which accepts the hosts of `auth`', async () => {
      const { url, handled } = await served(host);
      expect((await send(url, '/token', 'GET', { headers: { host: 'evil.example' } })).status).toBe(403);
      expect(handled).toEqual([]);
      expect((await send(url, '/token', 'GET', { headers: { host: 'id.example' } })).status).toBe(200);
      const call = { headers: { host: 'id.example', 'content-type': 'application/json' }, body: '{}' };
      expect((await send(url, '/mcp', 'POST', call)).status).not.toBe(403);
    });

    it('serves no path beside its own, and nothing but its own', async () => {
      const { url, handled } = await served(host);
      for (const path of ['/tokens', '/token/', '/authorizex', '/authorize', '/mcp/../token', '/.well-known/x']) {
        expect([path, (await send(url, path)).status]).not.toEqual([path, 200]);
      }
      expect(handled).toEqual([]);
      const tricks = ['/authorize/..%2fmcp', '/authorize/../mcp', '/authorize/%2e%2e/mcp', '/authorize//mcp'];
      for (const path of tricks) await send(url, path, 'POST', { headers: FORM });
      expect(handled).toEqual(tricks.map((path) => `POST ${path}`));
    });

    it('fails without a trace, and reports why', async () => {
      const { url, errors } = await served(host);
      const { status, headers, text } = await send(url, '/token?fails', 'POST', { headers: FORM, body: 'a=1' });
      expect([status, headers['set-cookie']]).toEqual([500, undefined]);
      expect(text).not.toContain('secret');
      expect((await send(url, '/token?breaks')).text).toBe('cut');
      const messages = errors.map((error) => (error as Error).message);
      expect(messages).toEqual(host.name.startsWith('the Fastify plugin') ? [] : ['secret', 'late']);
    });
  },
  NODE_HOSTS,
);

const TAKEN = /belongs to (?=.*`auth`).* and to .*DUPLICATE_ROUTE/;

it('a mount gets what parsers of Express have read, at its full path', async () => {
  const { auth } = createAuth(['/id/token']);
  const app = express().use(express.json(), express.urlencoded());
  const handler = nodeHandler(createServer(new Probe()).server, { auth, path: '/mcp' });
  afterwards(async () => await handler.close());
  app.use('/id', handler);
  const url = await serveNode(app);
  for (const [type, body] of [
    [FORM['content-type'], 'a=1'],
    ['application/json', '{"a":"1"}'],
  ] as const) {
    const { text } = await send(url, '/id/token', 'POST', { headers: { 'content-type': type }, body });
    expect(JSON.parse(text)).toMatchObject({ url: '/id/token', body: { a: '1' } });
  }
});

it('several endpoints in a Fastify application share a mount, with the hosts of all', async () => {
  const { auth } = createAuth();
  const app = fastify();
  afterwards(async () => await app.close());
  for (const [path, host] of [
    ['/one', 'one.example'],
    ['/other', 'other.example'],
  ] as const) {
    await app.register(authRoutes(auth));
    await app.register(mcp, { server: createServer(new Probe()).server, auth, path, allowedHosts: [host] });
  }
  const url = await app.listen({ port: 0 });
  for (const [host, status] of [
    ['one.example', 200],
    ['other.example', 200],
    ['evil.example', 403],
  ] as const) {
    expect((await send(url, '/token', 'GET', { headers: { host } })).status).toBe(status);
  }
});

it('a public address needs no more than the hosts of `auth`', async () => {
  const { server } = createServer(new Probe());
  const auth = { ...createAuth().auth, allowedHosts: ['id.example'] };
  const { close } = await listen(server, { port: 0, host: '0.0.0.0', auth });
  await close();
  const app = fastify();
  await app.register(authRoutes(auth));
  await app.register(mcp, { server, auth });
  await app.listen({ port: 0, host: '0.0.0.0' });
  await app.close();
});

it('a mount shares no path with a plugin, the endpoint or the application', async () => {
  const { auth } = createAuth();
  const routes = [{ method: 'GET' as const, path: '/authorize/x', handle: () => ({ status: 200 }) }];
  const { server } = createServer(new Probe());
  const withRoutes = createServer(new Probe(), { plugins: [{ name: 'routes', routes }] }).server;
  await expect(listen(withRoutes, { port: 0, auth })).rejects.toThrow(TAKEN);
  await expect(listen(server, { port: 0, auth, path: '/authorize/mcp' })).rejects.toThrow(TAKEN);
  expect(() => nodeHandler(server, { auth, path: '/mcp', legacySse: { path: '/token' } })).toThrow(TAKEN);
  for (const [url, prefix] of [
    ['/token', ''],
    ['/authorize/*', ''],
    ['/mcp', '/authorize'],
  ] as const) {
    const app = fastify();
    if (prefix === '') app.patch(url, async () => 'own');
    const registered = async () => {
      await app.register(authRoutes(auth));
      await app.register(mcp, { server, auth, prefix });
    };
    await expect(registered()).rejects.toThrow(TAKEN);
    await app.close();
  }
});

it('a mount is served, or its host says what to do', async () => {
  const { auth } = createAuth();
  const { server } = createServer(new Probe());
  expect(() => fetchHandler(server, { auth })).toThrow(/fetchHandler: `auth`.*Serve with `listen`/);
  const app = fastify();
  await app.register(mcp, { server, auth });
  await expect(app.ready()).rejects.toThrow(/such as \/token.*authRoutes/);
});
