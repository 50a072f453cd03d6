// The Node.js handler and the Fastify plugin on servers for HTTP/2.
import { once } from 'node:events';
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  createServer as createHttp2Server,
  type Http2Server,
  type IncomingHttpHeaders,
} from 'node:http2';
import { type AddressInfo, connect as connectSocket } from 'node:net';

import { describe, expect, it } from '@jest/globals';
import type { Context, McpServer } from '@decorum/core';
import { type Auth, authRoutes, mcp, type McpPluginOptions } from '@decorum/http';
import { nodeHandler, type NodeHandlerOptions } from '@decorum/http/node';
import { fastify } from 'fastify';

import { afterwards, createServer, INITIALIZE, modernCall, modernHeaders, Probe } from './fixture.js';

const ADD = [modernCall(1, 'add', { a: 1, b: 2 }), modernHeaders('tools/call', 'add')] as const;
const ACCEPT = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

type Options = Pick<NodeHandlerOptions, 'sessions' | 'limits' | 'auth' | 'legacySse'>;

/** Opens a server for HTTP/2 that listens on a free port. */
const HOSTS: Readonly<Record<string, (server: McpServer, options: Options) => Promise<[Http2Server, () => unknown]>>> =
  {
    async nodeHandler(server, options) {
      const handler = nodeHandler(server, { ...options, path: '/mcp' });
      const http = createHttp2Server(handler).listen(0, '127.0.0.1');
      await once(http, 'listening');
      return [http, () => handler.close().then(() => http.close())];
    },
    async 'the plugin for Fastify'(server, options) {
      const app = fastify({ http2: true });
      if (options.auth) await app.register(authRoutes(options.auth));
      await app.register(mcp, { server, ...options } as unknown as McpPluginOptions);
      await app.listen({ port: 0, host: '127.0.0.1' });
      return [app.server, () => app.close()];
    },
  };

async function serveOn(host: string, options: Options = {}) {
  const probe = new Probe();
  const { server, errors } = createServer(probe);
  const [http, close] = await HOSTS[host]!(server, options);
  const client = connect(`http://127.0.0.1:${(http.address() as AddressInfo).port}`);
  afterwards(async () => {
    probe.emit('go');
    client.destroy();
    await close();
    await server.close();
  });
  return { probe, client, errors, server, http };
}

type Fields = Record<string, string>;

function send(client: ClientHttp2Session, method: string, headers: Fields = {}, message?: unknown): ClientHttp2Stream {
  const stream = client.request(
    { ':method': method, ':path': '/mcp', ...headers },
    { endStream: message === undefined },
  );
  if (message !== undefined) stream.end(JSON.stringify(message));
  return stream.setEncoding('utf8');
}

const LISTS = { notifications: { toolsListChanged: true } };

/** Waits until a stream has sent a text, and returns what it has sent. */
async function untilSent(stream: ClientHttp2Stream, text: string): Promise<string> {
  let sent = '';
  return await new Promise((resolve) => {
    stream.on('data', (chunk: string) => {
      sent += chunk;
      if (sent.includes(text)) resolve(sent);
    });
  });
}

async function answerTo(
  stream: ClientHttp2Stream,
): Promise<[status: number, body: string, headers: IncomingHttpHeaders]> {
  const [headers] = (await once(stream, 'response')) as [IncomingHttpHeaders];
  return [Number(headers[':status']), ((await stream.toArray()) as string[]).join(''), headers];
}

describe.each(Object.keys(HOSTS))('over HTTP/2, %s', (host) => {
  const serve = async (options?: Options) => await serveOn(host, options);

  it('answers with JSON and streams, in sessions and without', async () => {
    const { client, errors } = await serve();
    const [status, body] = await answerTo(send(client, 'POST', { ...ACCEPT, ...ADD[1] }, ADD[0]));
    expect([status, JSON.parse(body).result.content[0].text]).toEqual([200, '3']);
    const [, , { 'mcp-session-id': id }] = await answerTo(send(client, 'POST', ACCEPT, INITIALIZE));
    const session = { ...ACCEPT, 'mcp-session-id': String(id) };
    await answerTo(send(client, 'POST', session, { jsonrpc: '2.0', method: 'notifications/initialized' }));
    const params = { name: 'steps', arguments: {}, _meta: { progressToken: 1 } };
    const [, events, sent] = await answerTo(
      send(client, 'POST', session, { jsonrpc: '2.0', id: 2, method: 'tools/call', params }),
    );
    expect(events.match(/notifications\/progress/g)).toHaveLength(3);
    expect(sent).toMatchObject({ 'x-accel-buffering': 'no', 'cache-control': 'no-cache, no-transform' });
    expect((await answerTo(send(client, 'DELETE', session)))[0]).toBe(204);
    expect(errors).toEqual([]);
  });

  it.each([
    ['the short way', {}],
    ['the pipeline', { 'content-type': 'application/json; charset=utf-8' }],
  ])('handles no request that its client has cut off, by %s', async (_way, more: Fields) => {
    const { client, server, http } = await serve({ sessions: false });
    const ran: string[] = [];
    server.addTool({ name: 'note', description: 'Takes note' }, () => String(ran.push('note')));
    const message = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'note' } });
    const version = { 'mcp-protocol-version': '2025-06-18' };
    for (const length of [{}, { 'content-length': String(message.length) }]) {
      const { port } = http.address() as AddressInfo;
      const socket = connectSocket(port, '127.0.0.1');
      const begun = once(http, 'stream');
      const cut = connect(`http://127.0.0.1:${port}`, { createConnection: () => socket }).on('error', () => {});
      const headers = { ':method': 'POST', ':path': '/mcp', ...ACCEPT, ...version, ...more, ...length };
      const request = cut.request(headers, { endStream: false }).on('error', () => {});
      await new Promise((resolve) => request.write(message, resolve));
      const [stream] = (await begun) as [ClientHttp2Stream];
      // a session that is closed would end its streams properly first
      socket.destroy();
      await once(stream, 'close');
    }
    const whole = { ...ACCEPT, ...version, ...more };
    expect((await answerTo(send(client, 'POST', whole, JSON.parse(message))))[1]).toContain('"text":"1"');
  });

  it('checks the host that HTTP/2 sends as :authority', async () => {
    const { client } = await serve();
    const evil = { ...ACCEPT, ...ADD[1], ':authority': 'evil.example' };
    expect((await answerTo(send(client, 'POST', evil, ADD[0])))[0]).toBe(403);
    const disguised = { ...evil, host: '127.0.0.1' };
    expect((await answerTo(send(client, 'POST', disguised, ADD[0])))[0]).toBe(403);
  });

  it('answers HEAD without a body, and rejects large bodies', async () => {
    const { client, errors } = await serve({ limits: { bodyLimit: 300 } });
    const [status, body] = await answerTo(send(client, 'HEAD'));
    expect([status, body]).toEqual([405, '']);
    const [tooLarge] = await answerTo(send(client, 'POST', ACCEPT, 'x'.repeat(400)));
    expect(tooLarge).toBe(413);
    expect(errors).toEqual([]);
  });

  it('cancels a call whose stream the client cancels, and keeps the others of the connection [HTTP-22]', async () => {
    const { client, probe } = await serve();
    const began = once(probe, 'began');
    const headers = { ...ACCEPT, ...modernHeaders('tools/call', 'wait') };
    const stream = send(client, 'POST', headers, modernCall(1, 'wait'));
    await began;
    const aborted = once(probe, 'aborted');
    stream.close();
    await aborted;
    const [status] = await answerTo(send(client, 'POST', { ...ACCEPT, ...ADD[1] }, ADD[0]));
    expect(status).toBe(200);
  });

  it('streams a GET until its client leaves, and `subscriptions/listen` (#22)', async () => {
    const { client, server } = await serve();
    const [, , { 'mcp-session-id': id }] = await answerTo(send(client, 'POST', ACCEPT, INITIALIZE));
    const session = { ...ACCEPT, 'mcp-session-id': String(id) };
    await answerTo(send(client, 'POST', session, { jsonrpc: '2.0', method: 'notifications/initialized' }));
    const stream = send(client, 'GET', session);
    const [{ ':status': status }] = (await once(stream, 'response')) as [IncomingHttpHeaders];
    const listen = modernCall(3, 'add');
    const message = { ...listen, method: 'subscriptions/listen', params: { ...listen.params, ...LISTS } };
    const listening = send(client, 'POST', { ...ACCEPT, ...modernHeaders('subscriptions/listen') }, message);
    await untilSent(listening, 'subscriptions/acknowledged');
    server.addTool({ name: 'more', description: 'More' }, () => 'more');
    expect(status).toBe(200);
    await Promise.all([stream, listening].map((each) => untilSent(each, 'tools/list_changed')));
    stream.close();
    listening.close();
    // the connection still serves
    expect((await answerTo(send(client, 'POST', { ...ACCEPT, ...ADD[1] }, ADD[0])))[0]).toBe(200);
  });

  it('asks for credentials, serves the documents of `auth`, and takes a token (#22)', async () => {
    const auth: Auth = {
      authenticate: ({ headers, authorizations }) =>
        headers.host?.startsWith('127.0.0.1:') && authorizations[0] === 'Bearer good' ? { subject: 'ann' } : undefined,
      documents: [
        { path: '/.well-known/about', answer: ({ headers }) => ({ status: 200, body: String(headers.host) }) },
      ],
    };
    const { client } = await serve({ auth });
    const [status] = await answerTo(send(client, 'POST', { ...ACCEPT, ...ADD[1] }, ADD[0]));
    const good = { ...ACCEPT, ...ADD[1], authorization: 'Bearer good' };
    expect([status, (await answerTo(send(client, 'POST', good, ADD[0])))[0]]).toEqual([401, 200]);
    const [found, body] = await answerTo(send(client, 'GET', { ':path': '/.well-known/about' }));
    expect([found, body]).toEqual([200, expect.stringMatching(/^127\.0\.0\.1:\d+$/)]);
  });

  it('serves HTTP+SSE (#22)', async () => {
    const { client } = await serve({ legacySse: { path: '/sse', messagesPath: '/messages' } });
    const stream = send(client, 'GET', { ':path': '/sse', accept: 'text/event-stream' });
    const endpoint = /data: (\S+)/.exec(await untilSent(stream, '\n\n'))?.[1] ?? '';
    const path = new URL(endpoint, 'http://localhost/sse').href.slice('http://localhost'.length);
    const answered = untilSent(stream, '"serverInfo"');
    const [status] = await answerTo(send(client, 'POST', { ...ACCEPT, ':path': path }, INITIALIZE));
    expect(status).toBe(202);
    await answered;
    stream.close();
    // the server has noticed once it answers something else, and the session is gone
    expect((await answerTo(send(client, 'POST', { ...ACCEPT, ...ADD[1] }, ADD[0])))[0]).toBe(200);
    expect((await answerTo(send(client, 'POST', { ...ACCEPT, ':path': path }, INITIALIZE)))[0]).toBe(404);
  });

  it('refuses an Origin, and answers a preflight request (#22)', async () => {
    const { client, errors } = await serve();
    const evil = { ...ACCEPT, ...ADD[1], origin: 'https://evil.example' };
    expect((await answerTo(send(client, 'POST', evil, ADD[0])))[0]).toBe(403);
    expect((await answerTo(send(client, 'OPTIONS')))[0]).toBe(204);
    expect(errors).toEqual([]);
  });

  it('shows handlers no pseudo-headers', async () => {
    const { client, probe } = await serve();
    const began = once(probe, 'began');
    const headers = { ...ACCEPT, ...modernHeaders('tools/call', 'wait') };
    const pending = answerTo(send(client, 'POST', headers, modernCall(1, 'wait')));
    await began;
    const { transport } = probe.contexts[0] as Context;
    expect(Object.keys(transport.headers ?? {}).filter((name) => name.startsWith(':'))).toEqual([]);
    expect(transport.remoteAddress).toBe('127.0.0.1');
    probe.emit('go');
    expect((await pending)[0]).toBe(200);
  });
});
