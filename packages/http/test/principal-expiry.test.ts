import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { listen, mcp } from '@decorum/http';
import { fetchHandler } from '@decorum/http/fetch';
import { nodeHandler } from '@decorum/http/node';
import { fastify } from 'fastify';

import { afterwards, createServer, INITIALIZE, modernCall, modernHeaders, Probe } from './fixture.js';

const HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
const ADD = modernCall(1, 'add', { a: 1, b: 2 });
const NOW = Date.now();

afterEach(() => {
  jest.restoreAllMocks();
});

/** The principal that an earlier part of the application has found, and that expires after a minute. */
const ann = () => ({ subject: 'ann', expiresAt: NOW + 60_000 });

type Post = (message: object, headers?: object) => Promise<Response>;

const postTo =
  (url: string): Post =>
  async (message, headers) =>
    await fetch(url, { method: 'POST', headers: { ...HEADERS, ...headers }, body: JSON.stringify(message) });

const HOSTS: Readonly<Record<string, () => Promise<Post>>> = {
  async listen() {
    const { server } = createServer(new Probe());
    const { url } = await listen(server, { port: 0, principal: ann });
    afterwards(() => server.close());
    return postTo(url);
  },
  async mcp() {
    const { server } = createServer(new Probe());
    const app = fastify();
    await app.register(mcp, { server, principal: ann });
    await app.listen({ port: 0, host: '127.0.0.1' });
    afterwards(() => app.close());
    return postTo(`http://127.0.0.1:${(app.server.address() as AddressInfo).port}/mcp`);
  },
  async nodeHandler() {
    const { server } = createServer(new Probe());
    const http = createHttpServer(nodeHandler(server, { principal: ann }));
    http.listen(0, '127.0.0.1');
    await once(http, 'listening');
    afterwards(async () => {
      http.close();
      http.closeAllConnections();
      await server.close();
    });
    return postTo(`http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`);
  },
  async fetchHandler() {
    const { server } = createServer(new Probe());
    const handler = fetchHandler(server, { principal: ann });
    afterwards(() => server.close());
    return async (message, headers) =>
      await handler(
        new Request('http://localhost/mcp', {
          method: 'POST',
          headers: { ...HEADERS, ...headers },
          body: JSON.stringify(message),
        }),
      );
  },
  async 'the `principal` of a request of fetchHandler'() {
    const { server } = createServer(new Probe());
    const handler = fetchHandler(server);
    afterwards(() => server.close());
    return async (message, headers) =>
      await handler(
        new Request('http://localhost/mcp', {
          method: 'POST',
          headers: { ...HEADERS, ...headers },
          body: JSON.stringify(message),
        }),
        { principal: ann() },
      );
  },
};

describe.each(Object.entries(HOSTS))('%s, with a principal of the application that expires', (_name, open) => {
  it('answers 401 from that millisecond on, in a session and without (#22)', async () => {
    const post = await open();
    const initialized = await post(INITIALIZE);
    const session = { 'mcp-session-id': initialized.headers.get('mcp-session-id') };
    const add = async () => await post(ADD, modernHeaders('tools/call', 'add'));
    const ping = async () => await post({ jsonrpc: '2.0', id: 2, method: 'ping' }, session);
    const clock = jest.spyOn(Date, 'now');
    clock.mockReturnValue(NOW + 59_999);
    expect([(await add()).status, (await ping()).status]).toEqual([200, 200]);
    clock.mockReturnValue(NOW + 60_000);
    expect((await ping()).status).toBe(401);
    const refused = await add();
    expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([401, 'Bearer error="invalid_token"']);
    expect(await refused.json()).toMatchObject({ error: { code: -32600, message: 'The credentials have expired.' } });
  });
});
