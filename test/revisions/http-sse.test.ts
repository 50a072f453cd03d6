import { describe, expect } from '@jest/globals';
import { McpError, NoInput } from '@decorum/core';
import { mcp } from '@decorum/http';
import fastify from 'fastify';

import {
  afterwards,
  call,
  createServer,
  type Fields,
  json,
  post,
  Probe,
  request,
  serve,
} from '../../packages/http/test/fixture.js';
import { eachRevision, eachSessionRevision, inStateless } from '../support/requirements.js';
import { ADD, doorsOf, enter, HttpClient, initialize, SseClient, TOKEN } from './http-client.js';

const ORIGIN = 'http://evil.example';

/** Serves HTTP+SSE. Returns the URL of the stream too. */
async function serveSse() {
  const served = await serve({ legacySse: true });
  return { ...served, sse: new URL('/sse', served.url).href };
}

/** Paths of HTTP+SSE: beside the MCP endpoint, and below it. */
const PATHS = [
  { path: '/sse', messagesPath: '/messages' },
  { path: '/mcp/sse', messagesPath: '/mcp/messages' },
];

describe('HTTP+SSE', () => {
  eachSessionRevision('SSE-01', 'has one endpoint for the stream and one for messages', async (revision) => {
    const { sse } = await serveSse();
    const client = await SseClient.connect(sse);
    const { reader, target } = client;
    expect(reader.response.headers.get('content-type')).toBe('text/event-stream');
    expect([new URL(sse).pathname, new URL(target).pathname]).toEqual(['/sse', '/messages']);
    expect((await client.send(initialize(revision))).status).toBe(202);
    expect((await reader.message()).message).toMatchObject({ result: { protocolVersion: revision } });
    // those of one client work after those of another have ended
    const other = await SseClient.open(sse);
    await other.reader.cancel();
    let { status } = await other.send(request(1, 'ping'));
    for (let turn = 0; turn < 1000 && status !== 404; turn += 1) ({ status } = await other.send(request(1, 'ping')));
    expect(status).toBe(404);
    for (const id of ['a', 'b']) expect(await client.ask(request(id, 'ping'))).toMatchObject({ id, result: {} });
    expect(await (await SseClient.open(sse)).ask(request(1, 'ping'))).toMatchObject({ id: 1 });
  });

  eachSessionRevision('SSE-02', 'sends the URL for messages first and once', async () => {
    const { sse } = await serveSse();
    for (const headers of [{}, { accept: '*/*' }, { 'last-event-id': 'p00000000-1' }, { 'last-event-id': '' }]) {
      const client = await SseClient.connect(sse, headers as Fields);
      expect(client.first).toEqual({ event: 'endpoint', data: expect.stringMatching(/^[\w/]+\?sessionId=[\w-]{32}$/) });
      expect((await client.send(initialize('2024-11-05'))).status).toBe(202);
      expect((await client.reader.next())?.event).toBe('message');
    }
  });

  eachSessionRevision('SSE-03', 'sends all messages of the server as events with JSON', async () => {
    const { sse, server } = await serveSse();
    server.addTool({ name: 'reach', input: { type: 'object' } }, async (_input: object, context) => {
      await context.ping();
      return 'there';
    });
    const client = await SseClient.open(sse);
    const posted = await client.send(call(1, 'steps', {}, TOKEN));
    expect([posted.status, await posted.text()]).toEqual([202, '']);
    const next = async () => {
      const event = await client.reader.next();
      expect(event?.event).toBe('message');
      expect(event).not.toHaveProperty('id');
      return JSON.parse(event?.data ?? '') as Record<string, unknown>;
    };
    for (const progress of [1, 2, 3]) expect(await next()).toMatchObject({ params: { progress } });
    expect(await next()).toMatchObject({ id: 1, result: { content: [{ text: 'done' }] } });
    await client.send(request(2, 'no/method'));
    expect(await next()).toMatchObject({ id: 2, error: { code: -32601 } });
    await client.send(call(3, 'reach'));
    const question = await next();
    expect(question).toMatchObject({ jsonrpc: '2.0', method: 'ping' });
    expect((await client.send({ jsonrpc: '2.0', id: question['id'], result: {} })).status).toBe(202);
    expect(await next()).toMatchObject({ id: 3, result: { content: [{ text: 'there' }] } });
    server.notify.toolsChanged();
    expect(await next()).toMatchObject({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' });
  });

  eachSessionRevision('SSE-03', 'sends the errors of handlers as events too', async () => {
    const { sse, server } = await serveSse();
    const kinds = ['parse-error', 'invalid-request', 'invalid-params', 'internal-error', 'missing-capability'] as const;
    for (const kind of kinds) {
      const fail = () => {
        throw new McpError(kind, kind);
      };
      server.addTool({ name: kind, input: NoInput }, fail);
      server.addTool({ name: `later-${kind}`, input: NoInput }, async () => await Promise.resolve().then(fail));
    }
    const client = await SseClient.open(sse);
    for (const name of kinds.flatMap((kind) => [kind, `later-${kind}`])) {
      const posted = await client.send(call(name, name));
      expect([name, posted.status, await posted.text()]).toEqual([name, 202, '']);
      expect((await client.reader.message()).message).toMatchObject({ id: name });
    }
  });

  eachSessionRevision('SSE-04', 'rejects pages of another origin at both endpoints', async (revision) => {
    const { url, sse, port } = await serveSse();
    const doors = (await doorsOf(url, revision)).filter(({ name }) => name.includes('/'));
    expect(doors.map(({ name }) => name)).toEqual(['GET /sse', 'POST /messages']);
    for (const door of doors) {
      for (const origin of [ORIGIN, 'null', `http://localhost.evil.example:${port}`]) {
        expect([door.name, (await enter(door, { origin })).status]).toEqual([door.name, 403]);
      }
      expect((await enter(door, { origin: `http://localhost:${port}` })).status).toBe(door.served);
    }
    await expect(SseClient.connect(sse, { origin: ORIGIN })).rejects.toThrow('403');
  });

  eachRevision('SSE-05', 'can be served beside Streamable HTTP in one application', async (revision) => {
    for (const legacySse of PATHS) {
      const { url } = await serve({ legacySse });
      const client = await HttpClient.open(url, revision);
      const old = await SseClient.open(new URL(legacySse.path, url).href);
      const target = new URL(old.target);
      expect(target.pathname).toBe(legacySse.messagesPath);
      expect(await old.ask(call(1, 'add', ADD))).toMatchObject({ id: 1, result: { content: [{ text: '3' }] } });
      expect(await json(await client.call(2, 'add', { args: ADD }))).toMatchObject({
        result: { content: [{ text: '3' }] },
      });
      // neither id works for the other transport
      const key = target.searchParams.get('sessionId') as string;
      target.searchParams.set('sessionId', client.headers['mcp-session-id'] ?? 'none');
      expect((await post(target.href, call(3, 'add', ADD))).status).toBe(404);
      expect((await post(url, call(3, 'add', ADD), { 'mcp-session-id': key })).status).toBe(404);
    }
  });

  inStateless('SSE-06', 'is disabled by default', async () => {
    const { url } = await serve();
    expect((await fetch(new URL('/sse', url), { headers: { accept: 'text/event-stream' } })).status).toBe(404);
    expect((await post(new URL('/messages', url).href, initialize('2024-11-05'))).status).toBe(404);
    const client = await HttpClient.open(url, '2026-07-28');
    expect(await client.status()).toBe(200);
  });

  eachSessionRevision('SSE-07', 'has a key that cannot be guessed, and answers any other with 404', async () => {
    const { sse } = await serveSse();
    const clients = await Promise.all(Array.from({ length: 20 }, () => SseClient.open(sse)));
    expect(new Set(clients.map(({ target }) => target)).size).toBe(20);
    const [client] = clients as [SseClient];
    const { search } = new URL(client.target);
    for (const query of ['', '?sessionId=', `${search}x`, search.slice(0, -1), '?sessionId=__proto__']) {
      const response = await post(new URL(`/messages${query}`, sse).href, request(1, 'ping'));
      expect([query, response.status]).toEqual([query, 404]);
    }
    expect(await client.ask(request(1, 'ping'))).toMatchObject({ id: 1, result: {} });
    // nor is it the key of another user, or that of a stream that has ended
    const { url } = await serve({
      legacySse: true,
      principal: ({ headers }) => (headers['x-user'] ? { subject: String(headers['x-user']) } : undefined),
    });
    for (const [owner, others] of [
      [{ 'x-user': 'ann' }, ['bob', 'Ann', '']],
      [{}, ['ann']],
    ] as const) {
      const own = await SseClient.open(new URL('/sse', url).href, owner);
      for (const other of others) {
        for (const message of [request(2, 'ping'), { jsonrpc: '2.0', method: 'notifications/initialized' }]) {
          const { status } = await own.send(message, { 'x-user': other });
          expect([owner, other, status]).toEqual([owner, other, other === '' ? 401 : 404]);
        }
      }
      // a caller who signs in ends an anonymous session: responses would go to a stream that was opened anonymously
      if ('x-user' in owner) expect(await own.ask(request(3, 'ping'))).toMatchObject({ id: 3 });
      else expect((await own.send(request(3, 'ping'))).status).toBe(404);
      await own.reader.cancel();
      let { status } = await own.send(request(4, 'ping'));
      for (let turn = 0; turn < 1000 && status !== 404; turn += 1) ({ status } = await own.send(request(4, 'ping')));
      expect(status).toBe(404);
    }
  });

  eachSessionRevision('SSE-08', 'works under a prefix and behind a proxy that rewrites paths', async () => {
    const { server } = createServer(new Probe());
    // like a proxy that maps /outside/… to /inside/…
    const app = fastify({
      forceCloseConnections: true,
      rewriteUrl: ({ url = '' }) => url.replace('/outside/', '/inside/'),
    });
    await app.register(mcp, { server, prefix: '/inside', legacySse: true });
    afterwards(async () => {
      await app.close();
      await server.close();
    });
    const base = await app.listen({ port: 0, host: '127.0.0.1' });
    for (const path of ['inside', 'outside']) {
      const client = await SseClient.open(`${base}/${path}/sse`);
      expect(client.first.data).not.toMatch(/^(\w+:|\/\/)/);
      expect(new URL(client.target).pathname).toBe(`/${path}/messages`);
      expect(await client.ask(call(1, 'add', ADD))).toMatchObject({ id: 1 });
    }
  });
});
