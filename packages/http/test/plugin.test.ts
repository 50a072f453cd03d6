// The plugin for Fastify, in applications with routes, hooks and plugins of their own.
import { EventEmitter, once } from 'node:events';
import { type IncomingMessage, request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import swagger from '@fastify/swagger';
import { describe, expect, it } from '@jest/globals';
import { definePlugin } from '@decorum/core/plugin';
import { authRoutes, mcp, type McpPluginOptions } from '@decorum/http';
import fastify, { type FastifyInstance, type FastifyRequest } from 'fastify';

import { Connection } from './connection.js';
import { afterwards, createServer, listenersOf, Probe, whenBegun } from './fixture.js';
import { ADD, calling, INITIALIZE, json, modern, modernHeaders, TOKEN, WAIT } from './messages.js';
import { openSession, post, statusOf } from './sending.js';

/** An application that is closed at the end of the test. */
function createApp(): FastifyInstance {
  const app = fastify();
  afterwards(() => app.close());
  return app;
}

const start = async (app: FastifyInstance) => await app.listen({ port: 0, host: '127.0.0.1' });

function create(options: Partial<McpPluginOptions> = {}) {
  const probe = new Probe();
  const { server, errors } = createServer(probe);
  afterwards(() => {
    probe.emit('go');
    return server.close();
  });
  return { probe, server, errors, options: { server, ...options } };
}

describe('the plugin', () => {
  it('serves at /mcp, at another path, and under a prefix, several servers in one application', async () => {
    const app = createApp();
    await app.register(mcp, create().options);
    await app.register(mcp, create({ path: '/other' }).options);
    await app.register(mcp, { ...create().options, prefix: '/v1' });
    const base = await start(app);
    for (const path of ['/mcp', '/other', '/v1/mcp']) {
      expect((await json(await post(base + path, ...ADD))).result?.content?.[0]?.text).toBe('3');
    }
    expect(await statusOf(`${base}/other`, await openSession(`${base}/mcp`), INITIALIZE)).toBe(404);
  });

  it('keeps a connection whose body a plugin route or a document has not read', async () => {
    const app = createApp();
    const handle = () => ({ status: 403, body: 'denied' });
    const routes = definePlugin(() => ({ name: 'routes', routes: [{ method: 'POST', path: '/hook', handle }] }));
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
    const app = createApp();
    app.post('/own', async ({ body }) => ({ body }));
    app.get('/fails', async () => {
      throw new Error('own error');
    });
    await app.register(mcp, create().options);
    const base = await start(app);
    const text = await fetch(`${base}/own`, { method: 'POST', headers: { 'content-type': 'text/plain' }, body: 'x' });
    expect(await text.json()).toEqual({ body: 'x' });
    expect(await statusOf(`${base}/own`, { origin: 'http://evil.example' }, '{"a":1}')).toBe(200);
    expect(await (await fetch(`${base}/fails`)).json()).toMatchObject({ statusCode: 500, message: 'own error' });
    expect((await fetch(`${base}/own`, { method: 'OPTIONS' })).status).toBe(404);
  });

  it('checks its requests even if the application overwrites the hooks of each route', async () => {
    const app = createApp();
    app.addHook('onRoute', (route) => {
      route.onRequest = (_request, _reply, done) => done();
    });
    await app.register(mcp, create().options);
    const url = `${await start(app)}/mcp`;
    expect(await statusOf(url, ADD[1], ADD[0])).toBe(200);
    expect(await statusOf(url, { ...ADD[1], origin: 'http://evil.example' }, ADD[0])).toBe(403);
  });

  it('rejects text/plain even if the application parses it', async () => {
    const app = createApp();
    app.addContentTypeParser('*', (_request, _payload, done) => done(null, {}));
    await app.register(mcp, create().options);
    expect(await statusOf(`${await start(app)}/mcp`, { 'content-type': 'text/plain' }, INITIALIZE)).toBe(415);
  });

  it('keeps headers set by other plugins, on JSON and on streams', async () => {
    const app = createApp();
    app.addHook('onRequest', async (_request, reply) => {
      reply.header('x-frame-options', 'DENY').header('vary', 'Accept-Encoding');
    });
    app.addHook('onSend', async (_request, reply) => {
      reply.header('x-sent', 'yes');
    });
    const origin = 'https://app.example.com';
    await app.register(mcp, create({ allowedOrigins: [origin] }).options);
    const url = `${await start(app)}/mcp`;
    const usual = { 'x-frame-options': 'DENY', vary: 'Accept-Encoding, Origin', 'access-control-allow-origin': origin };
    for (const [[message, headers], own] of [
      [ADD, { 'x-sent': 'yes' }],
      [calling('steps', {}, TOKEN), { 'content-type': 'text/event-stream' }],
    ] as const) {
      const answer = await post(url, message, { ...headers, origin });
      expect(Object.fromEntries(answer.headers)).toMatchObject({ ...usual, ...own });
      await answer.text();
    }
  });

  it('encodes errors of the application’s hooks as JSON-RPC, and masks bugs', async () => {
    const app = createApp();
    app.addHook('onRequest', async ({ headers }, reply) => {
      if (headers['x-case'] === 'bug') throw new Error('a secret');
      reply.header('retry-after', '7');
      throw Object.assign(new Error('Too many requests'), { statusCode: 429 });
    });
    const { options, errors } = create();
    await app.register(mcp, options);
    const url = `${await start(app)}/mcp`;
    const limited = await post(url, INITIALIZE);
    expect([limited.status, limited.headers.get('retry-after')]).toEqual([429, '7']);
    expect((await json(limited)).error).toEqual({ code: -32600, message: 'Too many requests' });
    const failed = await post(url, INITIALIZE, { 'x-case': 'bug' });
    expect([failed.status, (await json(failed)).error]).toEqual([500, { code: -32603, message: 'Internal error' }]);
    expect(errors).toEqual([new Error('a secret')]);
  });

  it.each(['principal', 'auth'] as const)('gives `%s` its request, after earlier hooks', async (option) => {
    const app = createApp();
    app.decorateRequest('user', '');
    app.addHook('onRequest', async (request) => request.setDecorator('user', request.headers.authorization ?? ''));
    const principal = (request: FastifyRequest) => ({ subject: request.getDecorator<string>('user') });
    const auth = { authenticate: (_head: unknown, request: FastifyRequest) => principal(request) };
    const { probe, options } = create(option === 'auth' ? { auth } : { principal });
    await app.register(mcp, options);
    const [message, headers] = WAIT;
    await whenBegun(probe, post(`${await start(app)}/mcp`, message, { ...headers, authorization: 'alice' }));
    expect(probe.contexts[0]?.principal).toEqual({ subject: 'alice' });
  });

  it('makes the application fail to start if a hook of the server fails', async () => {
    const onStart = () => {
      throw new Error('cannot start');
    };
    const app = createApp();
    app.register(mcp, { server: createServer(Object.assign(new Probe(), { onStart })).server });
    await expect(app.ready()).rejects.toThrow('cannot start');
  });

  it.each([
    ['0.0.0.0', (app: FastifyInstance) => app.listen({ port: 0, host: '0.0.0.0' })],
    [
      '0.0.0.0 with a callback',
      async (app: FastifyInstance) => {
        throw await new Promise((resolve) => app.listen({ port: 0, host: '0.0.0.0' }, resolve));
      },
    ],
  ])('makes an application fail to listen on %s without allowedHosts', async (_where, begin) => {
    const app = createApp();
    await app.register(mcp, create().options);
    await app.register(mcp, create({ path: '/other' }).options);
    await expect(begin(app)).rejects.toMatchObject({ code: 'DECORUM_UNSAFE_HOST' });
    if (app.server.listening) await once(app.server, 'close');
    expect(app.server.address()).toBeNull();
  });

  it('lets an application listen on any address with allowedHosts, and on a Unix socket without', async () => {
    const [named, local] = [createApp(), createApp()];
    await named.register(mcp, create({ allowedHosts: ['mcp.example.com'] }).options);
    await expect(named.listen({ port: 0, host: '0.0.0.0' })).resolves.toMatch(/^http/);
    await local.register(mcp, create().options);
    const socketPath = join(tmpdir(), `decorum-${process.pid}.sock`);
    await local.listen({ path: socketPath });
    const headers = { host: 'localhost', 'content-type': 'application/json', ...ADD[1] };
    const sent = httpRequest({ socketPath, path: '/mcp', method: 'POST', headers, agent: false });
    const [response] = await Promise.all([once(sent, 'response'), sent.end(JSON.stringify(ADD[0]))]);
    expect((response as [IncomingMessage])[0].resume().statusCode).toBe(200);
  });

  it('works without a socket, as in app.inject', async () => {
    const app = createApp();
    await app.register(mcp, create().options);
    const [payload, headers] = ADD;
    const response = await app.inject({ method: 'POST', url: '/mcp', headers, payload });
    expect(response.json()).toMatchObject({ result: { content: [{ text: '3' }] } });
    const foreign = { ...headers, host: 'evil.example' };
    expect((await app.inject({ method: 'POST', url: '/mcp', headers: foreign, payload })).statusCode).toBe(403);
  });

  it('stays out of the OpenAPI document of @fastify/swagger (#23)', async () => {
    const app = createApp();
    await app.register(swagger);
    app.get('/cities', () => []);
    await app.register(mcp, { ...create().options, legacySse: true });
    await app.ready();
    expect(Object.keys(app.swagger().paths ?? {})).toEqual(['/cities']);
  });

  it('begins nothing for a client that leaves while a hook of the application runs', async () => {
    const app = createApp();
    const hook = new EventEmitter();
    app.addHook('preHandler', async ({ raw: { socket } }) => {
      hook.emit('runs');
      if (!socket.destroyed) await once(socket, 'close');
      setImmediate(() => hook.emit('over'));
    });
    const { options, probe, server, errors } = create();
    await app.register(mcp, options);
    const url = `${await start(app)}/mcp`;
    const subscription = modern(1, 'subscriptions/listen', { notifications: { toolsListChanged: true } });
    for (const sent of [[subscription, modernHeaders('subscriptions/listen')], WAIT] as const) {
      const connection = await Connection.open(url);
      const runs = once(hook, 'runs');
      connection.post(...sent);
      await runs;
      const over = once(hook, 'over');
      connection.leave();
      await over;
    }
    expect([await listenersOf(server), probe.contexts, errors]).toEqual([0, [], []]);
  });
});
