// The public documents of `auth`, and what else needs no token.
import { once } from 'node:events';

import { expect, it } from '@jest/globals';
import { type Auth, authRoutes, mcp } from '@decorum/http';
import { nodeHandler } from '@decorum/http/node';
import express from 'express';
import fastify from 'fastify';

import { afterwards, createServer, Probe, raw } from '../../packages/http/test/fixture.js';
import { doorsOf, enter, HttpClient } from '../support/http-client.js';
import { AUTH, ANN, BAD, serveFiles } from './auth-fixture.js';
import { Connection } from './connection.js';
import { inEveryRevision, overEveryHost } from './contract.js';

const PATH = '/.well-known/oauth-protected-resource/mcp';
const JSON_TYPE = 'application/json; charset=utf-8';
const TEXT = '{"resource":"https://mcp.example.com/mcp"}';

const DOCUMENTS = [
  {
    path: PATH,
    answer: () => ({
      status: 200,
      headers: { 'Content-Type': JSON_TYPE, 'cache-control': 'max-age=300' },
      body: TEXT,
    }),
  },
  {
    path: '/token',
    answersPost: true,
    answer: async ({ url }: { url: string }) => ({
      status: 307,
      headers: { location: `https://id.example.com${url}` },
    }),
  },
  {
    path: '/broken',
    answer() {
      throw new Error('a secret');
    },
  },
  { path: '/my%20mcp/%C3%A9:7', answer: () => ({ status: 200, body: 'encoded' }) },
  { path: '/late', answer: async () => ({ status: 199 }) },
];

const WITH_DOCUMENTS: Auth = { ...AUTH, documents: DOCUMENTS };

overEveryHost('a document of auth', (host) => {
  inEveryRevision('and a preflight need no token, but everything else does [AUTHRS-18]', async (revision) => {
    const { url, files } = await serveFiles(host, { auth: WITH_DOCUMENTS, legacySse: true });
    for (const headers of [{}, BAD, { 'mcp-protocol-version': revision }]) {
      const response = await fetch(new URL(PATH, url), { headers });
      expect([response.status, await response.text()]).toEqual([200, TEXT]);
      expect(Object.fromEntries(response.headers)).toMatchObject({
        'access-control-allow-origin': '*',
        'cache-control': 'max-age=300',
        'content-type': JSON_TYPE,
      });
    }
    for (const door of await doorsOf(url, revision, ANN)) {
      const { authorization: _token, ...headers } = door.headers;
      expect([door.name, (await enter({ ...door, headers })).status]).toEqual([
        door.name,
        door.method === 'OPTIONS' ? 204 : 401,
      ]);
    }
    expect(files.ran).toEqual([]);
  });

  it('can be read by pages of any origin and through any host', async () => {
    const { url } = await serveFiles(host, { auth: WITH_DOCUMENTS });
    const at = new URL(PATH, url).href;
    const headers = { host: 'proxy.example', origin: 'https://any.example', 'x-forwarded-host': 'evil.example' };
    const [answer, text] = await raw(at, 'GET', headers);
    expect([answer.statusCode, answer.headers['access-control-allow-origin'], text]).toEqual([200, '*', TEXT]);
    const asked = {
      ...headers,
      'access-control-request-method': 'GET',
      'access-control-request-headers': 'mcp-protocol-version',
    };
    const [preflight] = await raw(at, 'OPTIONS', asked);
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

  it.each(['/broken', '/late'])('is a masked 500 that is reported if it cannot be sent: %s', async (path) => {
    const { url, errors } = await serveFiles(host, { auth: WITH_DOCUMENTS });
    const response = await fetch(new URL(path, url));
    expect([response.status, await response.json()]).toMatchObject([500, { error: { message: 'Internal error' } }]);
    if (!host.name.startsWith('the Fastify plugin')) expect(errors).toHaveLength(1);
  });

  it('may have a path with encoded characters', async () => {
    const { url } = await serveFiles(host, { auth: WITH_DOCUMENTS });
    expect(await (await fetch(new URL('/my%20mcp/%C3%A9:7', url))).text()).toBe('encoded');
  });

  it('does not hide the endpoint', async () => {
    const { url } = await serveFiles(host, { auth: WITH_DOCUMENTS });
    const client = await HttpClient.open(url, '2025-11-25', ANN);
    expect((await client.call(1, 'list')).status).toBe(200);
  });
});

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

it('the plugin does not start if nothing serves the documents, whenever it is registered', async () => {
  const { app, server } = application();
  await app.register(async (scope) => await scope.register(authRoutes(WITH_DOCUMENTS)), { prefix: '/api' });
  await app.register(mcp, { server, auth: WITH_DOCUMENTS });
  await expect(app.ready()).rejects.toMatchObject({
    code: 'DECORUM_INVALID_OPTION',
    message: expect.stringContaining('await app.register(authRoutes(auth))'),
  });
  const other = application();
  await other.app.register(mcp, { server: other.server, auth: WITH_DOCUMENTS, path: '/mcp' });
  await other.app.register(authRoutes(WITH_DOCUMENTS));
  await other.app.ready();
  expect((await other.app.inject(PATH)).body).toBe(TEXT);
});

it('of two endpoints in Fastify, the first has the documents that both have', async () => {
  const { app } = application();
  const second = { path: PATH, answer: () => ({ status: 200, body: 'second' }) };
  const own = { path: '/own', answer: () => ({ status: 200, body: 'own' }) };
  await app.register(authRoutes(WITH_DOCUMENTS));
  await app.register(authRoutes({ ...AUTH, documents: [second, own] }));
  expect((await app.inject(PATH)).body).toBe(TEXT);
  expect((await app.inject('/own')).body).toBe('own');
});

it('the plugin names the routes of the object that it was given', async () => {
  const { app, server } = application();
  const auth = { ...WITH_DOCUMENTS, routes: authRoutes(WITH_DOCUMENTS) };
  await app.register(mcp, { server, auth });
  await expect(app.ready()).rejects.toMatchObject({
    message: expect.stringContaining('app.register(authRoutes(auth))'),
  });
});

it.each([
  ['once if it is', WITH_DOCUMENTS, [expect.stringContaining("app.use(nodeHandler(server, { auth, path: '/mcp' }))")]],
  ['of nothing if there are none and it is', { ...AUTH, documents: [] }, []],
])('the handler for Node warns %s mounted where clients do not find the documents', async (_when, auth, expected) => {
  const warnings: string[] = [];
  const logger = { warn: (_details: object, text: string) => void warnings.push(text), error() {} };
  const { server } = createServer(new Probe(), { logger });
  const handler = nodeHandler(server, { auth });
  await handler.ready;
  const app = express().use('/mcp', handler);
  const http = app.listen(0, '127.0.0.1');
  await once(http, 'listening');
  afterwards(async () => {
    http.close();
    await server.close();
  });
  const { port } = http.address() as { port: number };
  for (let n = 0; n < 2; n++) await fetch(`http://127.0.0.1:${port}/mcp`, { method: 'POST' });
  expect(warnings).toEqual(expected);
});
