import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { describe, expect, it } from '@jest/globals';
import swagger from '@fastify/swagger';
import fastify, { type FastifyInstance, type FastifyRequest } from 'fastify';
import { definePlugin } from '@decorum/core/plugin';
import { authRoutes, mcp, type McpPluginOptions } from '@decorum/http';

import {
  afterwards,
  createServer,
  INITIALIZE,
  json,
  modernCall,
  modernHeaders,
  openSession,
  post,
  Probe,
} from './fixture.js';

async function start(app: FastifyInstance): Promise<string> {
  afterwards(() => app.close());
  return await app.listen({ port: 0, host: '127.0.0.1' });
}

function create(options: Partial<McpPluginOptions> = {}) {
  const probe = new Probe();
  const { server, errors } = createServer(probe);
  afterwards(() => {
    probe.emit('go');
    return server.close();
  });
  return { probe, server, errors, options: { server, ...options } };
}

const ADD = [modernCall(1, 'add', { a: 1, b: 2 }), modernHeaders('tools/call', 'add')] as const;
const STEPS = [modernCall(1, 'steps', {}, { progressToken: 1 }), modernHeaders('tools/call', 'steps')] as const;

describe('the plugin', () => {
  it('serves at /mcp, at another path, and under a prefix, several servers in one application [HTTP-01]', async () => {
    const app = fastify();
    await app.register(mcp, create().options);
    await app.register(mcp, create({ path: '/other' }).options);
    await app.register(mcp, { ...create().options, prefix: '/v1' });
    const base = await start(app);
    for (const path of ['/mcp', '/other', '/v1/mcp']) {
      expect((await json(await post(base + path, ...ADD))).result?.content?.[0]?.text).toBe('3');
    }
    const session = await openSession(`${base}/mcp`);
    expect((await post(`${base}/other`, INITIALIZE, session)).status).toBe(404);
  });

  it('keeps a connection whose body a plugin route or a document has not read', async () => {
    const [app, denied] = [fastify(), { status: 403, body: 'denied' }];
    const routes = definePlugin(() => ({
      name: 'routes',
      routes: [{ method: 'POST', path: '/hook', handle: () => denied }],
    }));
    const { server } = createServer(new Probe(), { plugins: [routes()] });
    const auth = { authenticate: () => undefined, documents: [{ path: '/about', answer: () => ({ status: 200 }) }] };
    await app.register(authRoutes(auth));
    await app.register(mcp, { server, auth });
    const base = await start(app);
    for (const [path, status] of [
      ['/hook', 403],
      ['/about', 405],
    ] as const) {
      const sent = await fetch(base + path, { method: 'POST', body: 'unread' });
      expect([path, sent.status, sent.headers.get('connection')]).toEqual([path, status, 'keep-alive']);
    }
  });

  it('does not affect other routes of the application', async () => {
    const app = fastify();
    app.post('/own', async ({ body }) => ({ body }));
    app.get('/fails', async () => {
      throw new Error('own error');
    });
    await app.register(mcp, create().options);
    const base = await start(app);
    const text = await fetch(`${base}/own`, { method: 'POST', headers: { 'content-type': 'text/plain' }, body: 'x' });
    expect(await text.json()).toEqual({ body: 'x' });
    const headers = { 'content-type': 'application/json', origin: 'http://evil.example' };
    expect((await fetch(`${base}/own`, { method: 'POST', headers, body: '{"a":1}' })).status).toBe(200);
    expect(await (await fetch(`${base}/fails`)).json()).toMatchObject({ statusCode: 500, message: 'own error' });
    expect((await fetch(`${base}/own`, { method: 'OPTIONS' })).status).toBe(404);
  });

  it('rejects text/plain even if the application parses it', async () => {
    const app = fastify();
    app.addContentTypeParser('*', (_request, _payload, done) => done(null, {}));
    await app.register(mcp, create().options);
    const response = await post(`${await start(app)}/mcp`, INITIALIZE, { 'content-type': 'text/plain' });
    expect(response.status).toBe(415);
  });

  it('keeps headers set by other plugins, on JSON and on streams', async () => {
    const app = fastify();
    app.addHook('onRequest', async (_request, reply) => {
      reply.header('x-frame-options', 'DENY').header('vary', 'Accept-Encoding');
    });
    app.addHook('onSend', async (_request, reply) => {
      reply.header('x-sent', 'yes');
    });
    const { options } = create({ allowedOrigins: ['https://app.example.com'] });
    await app.register(mcp, options);
    const url = `${await start(app)}/mcp`;
    const [message, headers] = ADD;
    const plain = await post(url, message, { ...headers, origin: 'https://app.example.com' });
    expect(plain.headers.get('x-frame-options')).toBe('DENY');
    expect(plain.headers.get('x-sent')).toBe('yes');
    expect(plain.headers.get('vary')).toBe('Accept-Encoding, Origin');
    const streamed = await post(url, STEPS[0], { ...STEPS[1], origin: 'https://app.example.com' });
    expect(streamed.headers.get('content-type')).toBe('text/event-stream');
    expect(streamed.headers.get('x-frame-options')).toBe('DENY');
    expect(streamed.headers.get('access-control-allow-origin')).toBe('https://app.example.com');
    await streamed.text();
  });

  it('encodes errors of the application’s hooks as JSON-RPC, and masks bugs', async () => {
    const app = fastify();
    app.addHook('onRequest', async ({ headers }, reply) => {
      if (headers['x-case'] === 'limit') {
        reply.header('retry-after', '7');
        throw Object.assign(new Error('Too many requests'), { statusCode: 429 });
      }
      if (headers['x-case'] === 'bug') throw new Error('a secret');
    });
    const { options, errors } = create();
    await app.register(mcp, options);
    const url = `${await start(app)}/mcp`;
    const limited = await post(url, INITIALIZE, { 'x-case': 'limit' });
    expect([limited.status, limited.headers.get('retry-after')]).toEqual([429, '7']);
    expect((await json(limited)).error).toEqual({ code: -32600, message: 'Too many requests' });
    const failed = await post(url, INITIALIZE, { 'x-case': 'bug' });
    expect([failed.status, (await json(failed)).error]).toEqual([500, { code: -32603, message: 'Internal error' }]);
    expect(errors).toEqual([new Error('a secret')]);
  });

  it.each(['principal', 'auth'] as const)('gives `%s` its request, after earlier hooks', async (option) => {
    const app = fastify();
    app.decorateRequest('user', '');
    app.addHook('onRequest', async (request) => request.setDecorator('user', request.headers.authorization ?? ''));
    const principal = (request: FastifyRequest) => ({ subject: request.getDecorator<string>('user') });
    const auth = { authenticate: (_head: unknown, request: FastifyRequest) => principal(request) };
    const { probe, options } = create(option === 'auth' ? { auth } : { principal });
    await app.register(mcp, options);
    const url = `${await start(app)}/mcp`;
    const began = once(probe, 'began');
    const headers = { ...modernHeaders('tools/call', 'wait'), authorization: 'alice' };
    const pending = post(url, modernCall(1, 'wait'), headers);
    await began;
    expect(probe.contexts[0]?.principal).toEqual({ subject: 'alice' });
    probe.emit('go');
    await pending;
  });

  it('makes the application fail to start if a hook of the server fails', async () => {
    class Broken {
      onStart() {
        throw new Error('cannot start');
      }
    }
    const probe = Object.assign(new Probe(), { onStart: () => new Broken().onStart() });
    const app = fastify();
    app.register(mcp, { server: createServer(probe).server });
    await expect(app.ready()).rejects.toThrow('cannot start');
    await app.close();
  });

  it.each([
    ['0.0.0.0', (app: FastifyInstance) => app.listen({ port: 0, host: '0.0.0.0' })],
    [
      '0.0.0.0 with a callback',
      async (app: FastifyInstance) => {
        const failure = await new Promise((resolve) => app.listen({ port: 0, host: '0.0.0.0' }, resolve));
        throw failure;
      },
    ],
  ])('makes an application fail to listen on %s without allowedHosts', async (_where, begin) => {
    const app = fastify();
    afterwards(() => app.close());
    await app.register(mcp, create().options);
    await app.register(mcp, create({ path: '/other' }).options);
    await expect(begin(app)).rejects.toMatchObject({ code: 'DECORUM_UNSAFE_HOST' });
    if (app.server.listening) await once(app.server, 'close');
    expect(app.server.address()).toBeNull();
  });

  it('lets an application listen on any address with allowedHosts, and on a Unix socket without', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'decorum-'));
    afterwards(() => rm(folder, { recursive: true }));
    const named = fastify();
    await named.register(mcp, create({ allowedHosts: ['mcp.example.com'] }).options);
    afterwards(() => named.close());
    await expect(named.listen({ port: 0, host: '0.0.0.0' })).resolves.toMatch(/^http/);
    const local = fastify();
    await local.register(mcp, create().options);
    afterwards(() => local.close());
    await expect(local.listen({ path: join(folder, 'socket') })).resolves.toBe(join(folder, 'socket'));
  });

  it('passes the client address to handlers, or the one from a trusted proxy', async () => {
    for (const [trustProxy, address] of [
      [false, '127.0.0.1'],
      [true, '203.0.113.7'],
    ] as const) {
      const app = fastify({ trustProxy });
      const { probe, options } = create();
      await app.register(mcp, options);
      const url = `${await start(app)}/mcp`;
      const began = once(probe, 'began');
      const headers = { ...modernHeaders('tools/call', 'wait'), 'x-forwarded-for': '203.0.113.7' };
      const pending = post(url, modernCall(1, 'wait'), headers);
      await began;
      expect(probe.contexts[0]?.transport.remoteAddress).toBe(address);
      probe.emit('go');
      await (await pending).text();
    }
  });

  it('works without a socket, as in app.inject', async () => {
    const app = fastify();
    const { options } = create();
    await app.register(mcp, options);
    afterwards(() => app.close());
    const [payload, headers] = ADD;
    const response = await app.inject({ method: 'POST', url: '/mcp', headers, payload });
    expect(response.json()).toMatchObject({ result: { content: [{ text: '3' }] } });
    const foreign = { ...headers, host: 'evil.example' };
    expect((await app.inject({ method: 'POST', url: '/mcp', headers: foreign, payload })).statusCode).toBe(403);
  });
});

it('stays out of the OpenAPI document of @fastify/swagger (#23)', async () => {
  const app = fastify();
  await app.register(swagger);
  app.get('/cities', () => []);
  await app.register(mcp, { ...create().options, legacySse: true });
  afterwards(() => app.close());
  await app.ready();
  expect(Object.keys(app.swagger().paths ?? {})).toEqual(['/cities']);
});
