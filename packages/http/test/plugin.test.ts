import { once } from 'node:events';

import { describe, expect, it } from '@jest/globals';
import fastify, { type FastifyInstance } from 'fastify';
import { mcp, type McpPluginOptions } from '@decorum/http';

import { EventReader, getStream } from './events.js';
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
  it('serves at /mcp, at another path, and under a prefix, several servers in one application', async () => {
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

  it('leaves the other routes of the application as they are', async () => {
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

  it('refuses text/plain even where the application parses it', async () => {
    const app = fastify();
    app.addContentTypeParser('*', (_request, _payload, done) => done(null, {}));
    await app.register(mcp, create().options);
    const response = await post(`${await start(app)}/mcp`, INITIALIZE, { 'content-type': 'text/plain' });
    expect(response.status).toBe(415);
  });

  it('keeps the headers that other plugins set, on JSON and on streams', async () => {
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

  it('words refusals of the application’s own hooks as JSON-RPC errors, and masks its failures', async () => {
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

  it('knows the caller by what an earlier hook has found out', async () => {
    const app = fastify();
    app.decorateRequest('user', '');
    app.addHook('onRequest', async (request) => {
      request.setDecorator('user', request.headers.authorization ?? '');
    });
    const { probe, options } = create({ principal: (request) => ({ subject: request.getDecorator<string>('user') }) });
    await app.register(mcp, options);
    const url = `${await start(app)}/mcp`;
    const began = once(probe, 'began');
    const pending = post(url, modernCall(1, 'wait'), {
      ...modernHeaders('tools/call', 'wait'),
      authorization: 'alice',
    });
    await began;
    expect(probe.contexts[0]?.principal).toEqual({ subject: 'alice' });
    probe.emit('go');
    await pending;
  });

  it('does not keep app.close() waiting for open streams, but for running requests', async () => {
    const app = fastify();
    const { probe, options } = create();
    await app.register(mcp, options);
    const url = `${await start(app)}/mcp`;
    const listening = await getStream(url, await openSession(url));
    const began = once(probe, 'began');
    const reader = post(url, modernCall(1, 'stream', {}, { progressToken: 1 }), modernHeaders('tools/call', 'stream'));
    await began;
    const running = new EventReader(await reader);
    const closed = app.close();
    await listening.rest();
    probe.emit('go');
    expect((await running.rest()).at(-1)?.message).toMatchObject({ id: 1 });
    await closed;
  });

  it('answers with 503 once its server is closed, and the application goes on', async () => {
    const app = fastify();
    app.get('/own', async () => 'fine');
    const { server, options } = create();
    await app.register(mcp, options);
    const base = await start(app);
    await server.close();
    const response = await post(`${base}/mcp`, ...ADD);
    expect([response.status, (await json(response)).error?.code]).toEqual([503, -32600]);
    expect((await fetch(`${base}/mcp`, { headers: { accept: 'text/event-stream' } })).status).toBe(503);
    expect((await fetch(`${base}/own`)).status).toBe(200);
  });

  it('fails the start of the application when a hook of the server fails', async () => {
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

  it('works without a socket, as app.inject does', async () => {
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
