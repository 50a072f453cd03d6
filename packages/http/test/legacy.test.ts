import { once } from 'node:events';

import { describe, expect, it } from '@jest/globals';
import type { Context } from '@decorum/core';
import { listen, type ListenOptions, mcp } from '@decorum/http';
import fastify from 'fastify';

import { EventReader, type ServerEvent } from './events.js';
import {
  afterwards,
  call,
  createServer,
  type Fields,
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

const ADD = { a: 1, b: 2 };
const TOKEN = { progressToken: 1 };
const REVISION = '2024-11-05';
const INITIALIZE = request(0, 'initialize', {
  protocolVersion: REVISION,
  capabilities: { roots: {}, sampling: {} },
  clientInfo: { name: 'old', version: '1.0.0' },
});

/** An HTTP+SSE client. It starts with only the URL of the stream. */
class OldClient {
  private constructor(
    readonly reader: EventReader,
    /** URL for messages. */
    readonly endpoint: string,
    readonly first: ServerEvent,
    private readonly headers: Fields,
  ) {}

  static async connect(url: string, headers: Fields = {}): Promise<OldClient> {
    const response = await fetch(url, { headers: { accept: 'text/event-stream', ...headers } });
    if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
    const reader = new EventReader(response);
    const first = (await reader.next()) as ServerEvent;
    return new OldClient(reader, new URL(first.data as string, url).href, first, headers);
  }

  /** Opens the stream and initializes the session. */
  static async open(url: string, headers: Fields = {}): Promise<OldClient> {
    const client = await OldClient.connect(url, headers);
    await client.ask(INITIALIZE);
    await client.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
    return client;
  }

  async send(message: unknown): Promise<number> {
    const response = await post(this.endpoint, message, this.headers);
    await response.text();
    return response.status;
  }

  /** Sends a request and returns the next message of the stream. */
  async ask(message: unknown): Promise<ServerEvent['message']> {
    const status = await this.send(message);
    if (status !== 202) throw new Error(`${status}`);
    return (await this.reader.message()).message;
  }
}

/** Serves HTTP+SSE. Returns the URL of the stream too. */
async function serveOld(options: ListenOptions = {}) {
  const served = await serve({ legacySse: true, ...options });
  return { ...served, sse: new URL('/sse', served.url).href };
}

describe('HTTP+SSE', () => {
  it('is disabled by default [SSE-06]', async () => {
    const { url } = await serve();
    expect((await fetch(new URL('/sse', url))).status).toBe(404);
    expect((await post(new URL('/messages', url).href, INITIALIZE)).status).toBe(404);
  });

  it('first sends the URL for messages, and answers them on the stream [SSE-01] [SSE-02] [SSE-03]', async () => {
    const { sse } = await serveOld();
    const client = await OldClient.connect(sse);
    expect(client.reader.response.headers.get('content-type')).toBe('text/event-stream');
    expect(client.first).toEqual({ event: 'endpoint', data: expect.stringMatching(/^messages\?sessionId=[\w-]{32}$/) });
    const response = await post(client.endpoint, INITIALIZE);
    expect([response.status, await response.text(), response.headers.get('mcp-session-id')]).toEqual([202, '', null]);
    const answer = await client.reader.next();
    expect(answer).toMatchObject({ event: 'message', message: { id: 0, result: { protocolVersion: REVISION } } });
    expect(answer).not.toHaveProperty('id');
    expect(await client.send({ jsonrpc: '2.0', method: 'notifications/initialized' })).toBe(202);
    expect(await client.ask(call('x', 'add', ADD))).toMatchObject({ id: 'x', result: { content: [{ text: '3' }] } });
    expect(await client.ask(request(2, 'no/method'))).toMatchObject({ id: 2, error: { code: -32601 } });
  });

  it('carries everything on one stream: progress, changes, questions [SSE-03]', async () => {
    const { sse, server } = await serveOld();
    const client = await OldClient.open(sse);
    expect(await client.send(call(1, 'steps', {}, TOKEN))).toBe(202);
    const messages = [];
    for (let n = 0; n < 4; n++) messages.push((await client.reader.message()).message);
    expect(messages.map((message) => message?.method ?? message?.id)).toEqual([
      ...Array(3).fill('notifications/progress'),
      1,
    ]);
    await client.ask(request(2, 'resources/subscribe', { uri: 'docs://guide' }));
    server.notify.resourceUpdated('docs://guide');
    expect((await client.reader.message()).message).toMatchObject({ method: 'notifications/resources/updated' });
    server.addTool(
      { name: 'roots', description: 'Asks', input: { type: 'object' } },
      async (_input: object, ctx: Context) => {
        const roots = await ctx.roots();
        return roots.map(({ uri }) => uri).join();
      },
    );
    expect((await client.reader.message()).message).toMatchObject({ method: 'notifications/tools/list_changed' });
    const question = await client.ask(call(3, 'roots'));
    expect(question).toMatchObject({ method: 'roots/list' });
    const answer = { jsonrpc: '2.0', id: question?.id, result: { roots: [{ uri: 'file:///home' }] } };
    expect(await client.ask(answer)).toMatchObject({ id: 3, result: { content: [{ text: 'file:///home' }] } });
  });

  it('guards both of its endpoints [SSE-04]', async () => {
    const { sse, port } = await serveOld();
    const { endpoint } = await OldClient.open(sse);
    const type = { 'content-type': 'application/json' };
    for (const bad of [{ origin: 'https://evil.example' }, { host: 'evil.example' }]) {
      const headers = { host: `127.0.0.1:${port}`, ...type, ...bad };
      const get = await raw(sse, 'GET', headers);
      const sent = await raw(endpoint, 'POST', headers, JSON.stringify(request(1, 'ping')));
      expect([get[0].statusCode, sent[0].statusCode]).toEqual([403, 403]);
    }
    const origin = `http://localhost:${port}`;
    const headers = { origin, 'access-control-request-headers': 'content-type' };
    for (const url of [sse, endpoint]) expect((await fetch(url, { method: 'OPTIONS', headers })).status).toBe(204);
    expect((await OldClient.open(sse, { origin })).reader.response.headers.get('access-control-allow-origin')).toBe(
      origin,
    );
  });

  it('shares no sessions with Streamable HTTP', async () => {
    const { sse, url, probe } = await serveOld();
    const old = await OldClient.open(sse);
    const session = await openSession(url);
    expect((await post(url, call(1, 'add', ADD), session)).status).toBe(200);
    expect(await old.ask(call(1, 'add', ADD))).toMatchObject({ id: 1 });
    expect((await post(url, modernCall(1, 'add', ADD), modernHeaders('tools/call', 'add'))).status).toBe(200);
    const key = new URL(old.endpoint).searchParams.get('sessionId') as string;
    expect((await post(url, call(2, 'add', ADD), { 'mcp-session-id': key })).status).toBe(404);
    const messages = new URL(old.endpoint);
    messages.searchParams.set('sessionId', session['mcp-session-id'] as string);
    expect((await post(messages.href, call(2, 'add', ADD))).status).toBe(404);
    // the session id that handlers see is no key either
    const began = once(probe, 'began');
    expect(await old.send(call(3, 'wait'))).toBe(202);
    await began;
    messages.searchParams.set('sessionId', probe.contexts[0]?.sessionId as string);
    expect((await post(messages.href, call(2, 'add', ADD))).status).toBe(404);
  });

  it('answers an unknown key with 404, and never repeats keys', async () => {
    const { sse } = await serveOld();
    const [one, two] = [await OldClient.open(sse), await OldClient.open(sse)];
    expect(one.endpoint).not.toBe(two.endpoint);
    const messages = new URL('/messages', sse).href;
    const key = new URL(one.endpoint).search;
    for (const query of [
      '',
      '?sessionId=',
      `${key}x`,
      key.slice(0, -1),
      `${key}&${key.slice(1)}`,
      '?sessionId=__proto__',
    ]) {
      const response = await post(`${messages}${query}`, request(1, 'ping'));
      expect([query, response.status, (await json(response)).error?.code]).toEqual([query, 404, -32600]);
    }
    expect(await one.ask(request(1, 'ping'))).toMatchObject({ id: 1 });
  });

  it.each([
    ['/sse', '/messages/'],
    ['/sse', '/'],
    ['/old/sse', '/old'],
    ['/old/sse', '/old/'],
    ['/old/sse', '/in/messages'],
  ])('sends a relative URL for messages: from %s to %s [SSE-02]', async (path, messagesPath) => {
    const { url } = await serve({ legacySse: { path, messagesPath } });
    const client = await OldClient.open(new URL(path, url).href);
    expect(new URL(client.endpoint).pathname).toBe(messagesPath);
  });

  it('sends more than the buffer limit at once, as long as the client reads', async () => {
    const { url, server } = await serve({ legacySse: true, limits: { maxBufferedBytes: 1000 } });
    server.addTool({ name: 'large', description: 'Says a lot' }, () => 'x'.repeat(5_000_000));
    const client = await OldClient.open(new URL('/sse', url).href);
    await Promise.all([client.send(call(1, 'large')), client.send(call(2, 'add', ADD))]);
    const ids = [await client.reader.message(), await client.reader.message()].map(({ message }) => message?.id);
    expect(ids.sort()).toEqual([1, 2]);
  });

  it('rejects stateless messages, because this transport lacks their headers', async () => {
    const { url } = await serve({ legacySse: true });
    const client = await OldClient.open(new URL('/sse', url).href);
    expect(await client.send(modernCall(1, 'add', ADD))).toBe(400);
  });

  it('works under a prefix and behind a proxy that rewrites paths', async () => {
    const { server } = createServer(new Probe());
    const app = fastify();
    afterwards(() => server.close());
    // like a proxy that maps /outside/… to /inside/…
    const proxy = fastify({ rewriteUrl: ({ url = '' }) => url.replace('/outside/', '/inside/api/') });
    await proxy.register((scope) => scope.register(mcp, { server, legacySse: true }), { prefix: '/inside/api' });
    await app.register(mcp, { server, prefix: '/api', legacySse: { path: '/old/stream', messagesPath: '/in' } });
    afterwards(() => Promise.all([app.close(), proxy.close()]));
    const inside = await OldClient.open(`${await app.listen({ port: 0 })}/api/old/stream`);
    expect(new URL(inside.endpoint).pathname).toBe('/api/in');
    const outside = await OldClient.open(`${await proxy.listen({ port: 0 })}/outside/sse`);
    expect(new URL(outside.endpoint).pathname).toBe('/outside/messages');
    for (const client of [inside, outside]) expect(await client.ask(call(1, 'add', ADD))).toMatchObject({ id: 1 });
  });

  it('answers invalid messages with 400, and accepts only JSON', async () => {
    const { sse } = await serveOld();
    const client = await OldClient.open(sse);
    for (const [bad, code] of [
      ['{', -32700],
      [{ jsonrpc: '2.0' }, -32600],
      [[], -32600],
      [[request(1, 'ping')], -32600],
      ['', -32700],
    ] as const) {
      const response = await post(client.endpoint, bad);
      expect([bad, response.status, (await json(response)).error?.code]).toEqual([bad, 400, code]);
    }
    expect((await post(client.endpoint, '{}', { 'content-type': 'text/plain' })).status).toBe(415);
    expect((await fetch(sse, { headers: { accept: 'application/json' } })).status).toBe(406);
    expect(await client.ask(request(1, 'ping'))).toEqual({ jsonrpc: '2.0', id: 1, result: {} });
  });

  it('rejects invalid options', async () => {
    const { server } = createServer(new Probe());
    await expect(listen(server, { port: 0, legacySse: true, sessions: false })).rejects.toMatchObject({
      code: 'DECORUM_INVALID_OPTION',
    });
  });
});

describe('a session of HTTP+SSE', () => {
  it('ends with its stream: requests are cancelled and the key is unknown', async () => {
    const { sse, probe, errors } = await serveOld();
    const client = await OldClient.open(sse);
    const began = once(probe, 'began');
    await client.send(call(1, 'wait'));
    await began;
    const aborted = once(probe, 'aborted');
    await client.reader.cancel();
    await aborted;
    expect(await client.send(request(2, 'ping'))).toBe(404);
    probe.emit('go');
    expect(errors).toEqual([]);
  });

  it('cancels a request on notifications/cancelled', async () => {
    const { sse, probe } = await serveOld();
    const client = await OldClient.open(sse);
    const began = once(probe, 'began');
    await client.send(call(1, 'wait'));
    await began;
    const aborted = once(probe, 'aborted');
    await client.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } });
    await aborted;
    probe.emit('go');
    // the first response is to the second request
    expect(await client.ask(request(2, 'ping'))).toMatchObject({ id: 2 });
  });

  it('belongs to the principal that started it', async () => {
    const principal: ListenOptions['principal'] = ({ headers }) => ({ subject: String(headers['x-user']) });
    const { sse, probe } = await serveOld({ principal });
    const client = await OldClient.open(sse, { 'x-user': 'ann' });
    expect((await post(client.endpoint, request(1, 'ping'), { 'x-user': 'bob' })).status).toBe(404);
    const began = once(probe, 'began');
    await client.send(call(2, 'wait'));
    await began;
    expect(probe.contexts[0]?.principal).toEqual({ subject: 'ann' });
  });

  it('counts towards the cap on sessions: an idle one is evicted, or else it gets 503', async () => {
    const { sse, url } = await serveOld({ limits: { maxSessions: 2 } });
    const streamable = await openSession(url);
    const first = await OldClient.open(sse);
    const second = await OldClient.open(sse);
    expect((await post(url, request(1, 'ping'), streamable)).status).toBe(404);
    const third = await fetch(sse);
    expect([third.status, (await json(third)).error?.code]).toEqual([503, -32600]);
    await first.reader.cancel();
    for (let status = 404; status !== 202;) {
      const next = await OldClient.open(sse).catch(() => undefined);
      if (next) status = await next.send(request(1, 'ping'));
    }
    expect(await second.ask(request(1, 'ping'))).toMatchObject({ id: 1 });
  });

  it('is evicted first if it was never initialized', async () => {
    const { sse } = await serveOld({ limits: { maxSessions: 2 } });
    const silent = await OldClient.connect(sse);
    const used = await OldClient.open(sse);
    const next = await OldClient.open(sse);
    expect(await silent.reader.rest()).toEqual([]);
    expect(await silent.send(INITIALIZE)).toBe(404);
    for (const client of [used, next]) expect(await client.ask(request(1, 'ping'))).toMatchObject({ id: 1 });
  });

  it('sends keep-alive comments', async () => {
    const { sse } = await serveOld({ keepAliveMs: 10 });
    const client = await OldClient.open(sse);
    expect((await client.reader.next())?.comment).toBe('keep-alive');
  });

  it('misses notifications while its reader is slow, but never a response', async () => {
    const { sse, probe } = await serveOld({ limits: { maxBufferedBytes: 100_000 } });
    const client = await OldClient.connect(sse);
    // the revision of this transport has no messages in progress, so the flood would be too small
    await client.ask({ ...INITIALIZE, params: { ...INITIALIZE.params, protocolVersion: '2025-03-26' } });
    const flooded = once(probe, 'flooded');
    await client.send(call(1, 'flood', { count: 3000 }, TOKEN));
    // while nobody reads, the rest is buffered at the server once sockets and client buffers are full
    await flooded;
    const ids = [];
    let count = 0;
    for (; ids.length === 0; count++) {
      const { message } = await client.reader.message();
      if (message?.id !== undefined) ids.push(message.id);
    }
    expect([ids, count < 3000]).toEqual([[1], true]);
  });

  it.each(['transport', 'server'])('ends with the %s, after its requests in flight', async (which) => {
    const { sse, probe, server, close } = await serveOld();
    const client = await OldClient.open(sse);
    const began = once(probe, 'began');
    await client.send(call(1, 'wait'));
    await began;
    const closing = which === 'server' ? server.close() : close();
    probe.emit('go');
    const messages = (await client.reader.rest()).map(({ message }) => message);
    expect(messages).toMatchObject([{ id: 1, result: { content: [{ text: 'let go' }] } }]);
    await closing;
  });

  it('gets errors for requests that do not end in time', async () => {
    const { sse, probe, close } = await serveOld({ closeDeadlineMs: 20 });
    const client = await OldClient.open(sse);
    const began = once(probe, 'began');
    await client.send(call(1, 'wait'));
    await began;
    await close();
    const messages = (await client.reader.rest()).map(({ message }) => message);
    expect(messages).toMatchObject([{ id: 1, error: { code: -32603, message: 'The server is closing.' } }]);
    expect(probe.aborted).toBe(1);
  });
});
