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
import type { McpServer } from '@decorum/core';
import { authRoutes, mcp, type McpPluginOptions } from '@decorum/http';
import { nodeHandler, type NodeHandlerOptions } from '@decorum/http/node';
import { fastify } from 'fastify';

import { afterwards, createServer, Probe } from './fixture.js';
import { modernCall, modernHeaders } from './messages.js';

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
  const stream = client.request({ ':method': method, ':path': '/mcp', ...headers }, { endStream: !message });
  if (message !== undefined) stream.end(JSON.stringify(message));
  return stream.setEncoding('utf8');
}

async function answerTo(stream: ClientHttp2Stream): Promise<[status: number, text: string, all: IncomingHttpHeaders]> {
  const [headers] = (await once(stream, 'response')) as [IncomingHttpHeaders];
  return [Number(headers[':status']), ((await stream.toArray()) as string[]).join(''), headers];
}

describe.each(Object.keys(HOSTS))('over HTTP/2, %s', (host) => {
  const serve = async (options?: Options) => await serveOn(host, options);

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
    for (const more of [{}, { host: '127.0.0.1' }]) {
      const evil = { ...ACCEPT, ...ADD[1], ':authority': 'evil.example', ...more };
      expect((await answerTo(send(client, 'POST', evil, ADD[0])))[0]).toBe(403);
    }
  });

  it('announces the length of what a HEAD request for a document would get', async () => {
    const documents = [{ path: '/about', answer: () => ({ status: 200, body: 'text' }) }];
    const { client } = await serve({ auth: { authenticate: () => undefined, documents } });
    const [status, body, headers] = await answerTo(send(client, 'HEAD', { ':path': '/about' }));
    expect([status, body, headers['content-length']]).toEqual([200, '', host === 'nodeHandler' ? undefined : '4']);
  });
});
