import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';

import { describe, expect, it } from '@jest/globals';
import type { McpServer } from '@decorum/core';
import { type Auth, listen, mcp } from '@decorum/http';
import { fetchHandler } from '@decorum/http/fetch';
import { nodeHandler, type NodeHandlerOptions } from '@decorum/http/node';
import fastify, { type FastifyRequest } from 'fastify';

import {
  afterwards,
  createServer,
  type Fields,
  INITIALIZE,
  json,
  modernCall,
  modernHeaders,
  openSession,
  post,
  Probe,
  raw,
  request,
  serve,
} from './fixture.js';

type Authenticate = Auth<object>['authenticate'];

const REALM = { 'WWW-Authenticate': 'Bearer realm="mcp"' };

/** Trusts the name after `Bearer`. */
const bearer: Authenticate = ({ headers }) => {
  const [, subject] = /^Bearer (\w+)$/.exec(headers['authorization'] ?? '') ?? [];
  return subject === undefined ? { status: 401, headers: REALM } : { subject };
};
const late: Authenticate = async (head, incoming) => {
  await turn();
  return await bearer(head, incoming);
};

const as = (name: string): Fields => ({ authorization: `Bearer ${name}` });
const ADD = [modernCall(1, 'add', { a: 1, b: 2 }), modernHeaders('tools/call', 'add')] as const;

describe.each([
  ['at once', bearer],
  ['later', late],
])('authenticate, which answers %s', (_when, authenticate) => {
  it('identifies the caller', async () => {
    const { url, probe } = await serve({ auth: { authenticate } });
    const began = once(probe, 'began');
    const pending = post(url, modernCall(1, 'wait'), { ...modernHeaders('tools/call', 'wait'), ...as('ann') });
    await began;
    expect(probe.contexts[0]?.principal).toEqual({ subject: 'ann' });
    probe.emit('go');
    expect((await pending).status).toBe(200);
  });

  it('binds a session to the principal that started it', async () => {
    const { url } = await serve({ auth: { authenticate } });
    const session = await openSession(url, as('ann'));
    expect((await post(url, request(1, 'ping'), { ...session, ...as('bob') })).status).toBe(404);
    expect((await post(url, request(1, 'ping'), session)).status).toBe(200);
  });

  it('rejects every kind of request with its own status and headers', async () => {
    const { url } = await serve({ auth: { authenticate }, legacySse: true });
    const accept = { accept: 'text/event-stream' };
    const answers = [
      await post(url, ...ADD),
      await post(url, INITIALIZE),
      await fetch(url, { headers: accept }),
      await fetch(url, { method: 'DELETE' }),
      await fetch(new URL('/sse', url), { headers: accept }),
      await post(new URL('/messages', url).href, INITIALIZE),
    ];
    for (const response of answers) {
      expect([response.status, response.headers.get('www-authenticate')]).toEqual([401, 'Bearer realm="mcp"']);
      expect(response.headers.get('content-type')).toMatch(/^application\/json/);
      const { error } = await json(response);
      expect(error).toEqual({ code: -32600, message: 'Authentication is required.' });
    }
  });

  it('does not ask a preflight request for credentials, which it never has', async () => {
    const { url } = await serve({ auth: { authenticate }, allowedOrigins: ['https://app.example.com'] });
    const headers = { origin: 'https://app.example.com', 'access-control-request-headers': 'authorization' };
    const [response] = await raw(url, 'OPTIONS', headers);
    expect([response.statusCode, response.headers['access-control-allow-headers']]).toEqual([204, 'authorization']);
    const refused = await post(url, INITIALIZE, { origin: 'https://app.example.com' });
    expect([refused.status, refused.headers.get('access-control-allow-origin')]).toEqual([
      401,
      'https://app.example.com',
    ]);
  });

  it('runs after the guard and before the body is read', async () => {
    const heads: unknown[] = [];
    const seen: Authenticate = async (head, incoming) => {
      heads.push(head);
      return await authenticate(head, incoming);
    };
    const { url, port } = await serve({ auth: { authenticate: seen } });
    const [forbidden] = await raw(url, 'POST', { host: 'evil.example', 'content-type': 'application/json' });
    expect([forbidden.statusCode, heads]).toEqual([403, []]);
    const socket = connect(port, '127.0.0.1');
    afterwards(() => socket.destroy());
    socket.write(
      `POST /mcp HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n{`,
    );
    const answer = Buffer.concat((await socket.toArray()) as Buffer[]).toString();
    expect(answer).toMatch(/^HTTP\/1\.1 401 [^]*\r\nconnection: close\r\n/i);
    expect(heads).toMatchObject([
      { method: 'POST', headers: { 'content-length': '1000' }, remoteAddress: '127.0.0.1' },
    ]);
  });
});

describe('authenticate', () => {
  it('rejects a request without credentials with its challenge', async () => {
    const { url } = await serve({ auth: { authenticate: () => undefined } });
    const response = await post(url, ...ADD);
    expect([response.status, response.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
  });

  it('may choose the body of a refusal', async () => {
    const authenticate: Authenticate = () => ({
      status: 403,
      headers: { 'Content-Type': 'text/plain', 'retry-after': '7' },
      body: 'not you',
    });
    const { url } = await serve({ auth: { authenticate } });
    const response = await post(url, ...ADD);
    expect([response.status, response.headers.get('content-type'), await response.text()]).toEqual([
      403,
      'text/plain',
      'not you',
    ]);
    expect(response.headers.get('retry-after')).toBe('7');
  });

  it.each([
    [
      'throws',
      () => {
        throw new Error('a secret');
      },
    ],
    [
      'rejects',
      async () => {
        throw Object.assign(new Error('a secret'), { statusCode: 401 });
      },
    ],
    ['names no subject', () => ({ name: 'ann' })],
    ['names an empty subject', async () => ({ subject: '' })],
    ['answers with null', () => null],
    ['answers with true', () => true],
    ['refuses with a status that is none', () => ({ status: 200 })],
    ['refuses with a body that is no text', async () => ({ status: 401, body: {} })],
    ['refuses with a header that is no text', () => ({ status: 401, headers: { a: 1 } })],
  ])('that %s is a bug: a masked 500, which is reported', async (_what, authenticate) => {
    const { url, errors } = await serve({ auth: { authenticate: authenticate as unknown as Authenticate } });
    const response = await post(url, ...ADD);
    expect(response.status).toBe(500);
    expect(await json(response)).toEqual({ jsonrpc: '2.0', error: { code: -32603, message: 'Internal error' } });
    expect(errors).toHaveLength(1);
  });

  it('gets the framework request, after hooks of the application', async () => {
    const { server, errors } = createServer(new Probe());
    const app = fastify();
    afterwards(() => Promise.all([app.close(), server.close()]));
    app.decorateRequest('user', '');
    app.addHook('onRequest', async (incoming) => incoming.setDecorator('user', 'ann'));
    const seen: unknown[] = [];
    const authenticate: Auth<FastifyRequest>['authenticate'] = (_head, incoming) => {
      seen.push(incoming.getDecorator('user'), incoming.url);
      return { subject: 'ann' };
    };
    await app.register(mcp, { server, auth: { authenticate } });
    const [payload, headers] = ADD;
    const response = await app.inject({ method: 'POST', url: '/mcp', headers, payload });
    expect([response.statusCode, seen, errors]).toEqual([200, ['ann', '/mcp'], []]);
  });

  it.each([
    [{ auth: { authenticate: bearer }, principal: () => undefined }, "`auth` can't be combined with `principal`"],
    [{ auth: 5 as never }, '`auth` must be an object with the method `authenticate`'],
    [{ auth: (() => undefined) as never }, '`auth` must be an object with the method `authenticate`'],
    [{ auth: { authenticate: bearer, scopes: 'mcp' as never } }, '`auth` has `scopes` that are not a list'],
    [{ auth: { authenticate: bearer, scopes: ['a b'] } }, '`auth` has `scopes` that are not a list'],
    [{ auth: { authenticate: bearer, challenge: {} as never } }, '`auth` has a `challenge` that is not a function'],
    [{ auth: { authenticate: bearer, opened: {} as never } }, '`auth` has an `opened` that is not a function'],
    [{ auth: { authenticate: bearer, credentialHeaders: ['a b'] } }, '`auth` has `credentialHeaders` that are not'],
    [{ auth: { authenticate: bearer, documents: [{ path: 'a' }] as never } }, '`auth` has `documents` that are not'],
    [
      { sessionStore: {} as never },
      '`sessionStore` must be a store with the methods `get`, `set`, `touch` and `delete`',
    ],
  ])('rejects invalid options: %j', async (options, problem) => {
    const { server } = createServer(new Probe());
    const started = listen(server, { port: 0, ...options });
    await expect(started).rejects.toMatchObject({
      code: 'DECORUM_INVALID_OPTION',
      message: expect.stringContaining(problem),
    });
  });
});

async function serveNode(server: McpServer, options: NodeHandlerOptions): Promise<string> {
  const http = createHttpServer(nodeHandler(server, options)).listen(0, '127.0.0.1');
  await once(http, 'listening');
  afterwards(() => http.close());
  return `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
}

describe('the headers of a refusal', () => {
  it.each([
    ['a line break in a value', { 'www-authenticate': 'Bearer error="a\nb"' }],
    ['a value beyond Latin-1', { 'www-authenticate': 'Bearer error="\u4e2d"' }],
    ['a name that is no token', { 'www authenticate': 'Bearer' }],
  ])('with %s are a bug, and masked in every binding', async (_what, headers) => {
    for (const authenticate of [() => ({ status: 401, headers }), async () => ({ status: 401, headers })]) {
      const { server, errors } = createServer(new Probe());
      afterwards(() => server.close());
      const listening = await listen(server, { port: 0, auth: { authenticate } });
      const answers = [
        await post(listening.url, ...ADD),
        await post(await serveNode(server, { auth: { authenticate } }), ...ADD),
        await fetchHandler(server, { auth: { authenticate } })(
          new Request('http://localhost/mcp', { method: 'DELETE' }),
        ),
      ];
      expect(answers.map(({ status }) => status)).toEqual([500, 500, 500]);
      for (const answer of answers) expect(await json(answer)).toMatchObject({ error: { message: 'Internal error' } });
      expect(errors).toHaveLength(3);
    }
  });

  it('cannot override the length of the body', async () => {
    const authenticate = () => ({ status: 401, headers: { 'Content-Length': '2', via: 'a' }, body: '{"a":1}' });
    const { server } = createServer(new Probe());
    afterwards(() => server.close());
    const answer = await post(await serveNode(server, { auth: { authenticate } }), ...ADD);
    expect([answer.headers.get('content-length'), answer.headers.get('via')]).toEqual(['7', 'a']);
    expect(await answer.text()).toBe('{"a":1}');
  });
});
