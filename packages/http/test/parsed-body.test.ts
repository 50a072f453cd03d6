// Bodies that the application has read before the handler runs.
import { EventEmitter, once } from 'node:events';
import { createServer as createHttpServer, type IncomingMessage, type RequestListener } from 'node:http';
import { type AddressInfo, connect } from 'node:net';

import { describe, expect, it } from '@jest/globals';
import { nodeHandler, type NodeHandlerOptions } from '@decorum/http/node';
import express, { type RequestHandler } from 'express';

import { afterwards, createServer, json, modernCall, modernHeaders, post, Probe } from './fixture.js';

const ADD = [modernCall(1, 'add', { a: 1, b: 2 }), modernHeaders('tools/call', 'add')] as const;

/** Serves the handler behind a middleware. */
async function behind(middleware: RequestHandler, options: NodeHandlerOptions = {}) {
  const { server, errors } = createServer(new Probe());
  const handler = nodeHandler(server, options);
  const app = express();
  app.use(middleware);
  app.use('/mcp', handler);
  const http = createHttpServer(app as RequestListener).listen(0, '127.0.0.1');
  await once(http, 'listening');
  afterwards(async () => {
    await handler.close();
    await server.close();
    http.close();
    http.closeAllConnections();
  });
  return { url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`, errors };
}

/** Status and JSON-RPC code of an answer. */
const outcome = async (response: Response) => [response.status, (await json(response)).error?.code];

const drain: RequestHandler = async (request, _response, next) => {
  request.resume();
  await once(request, 'end');
  next();
};

describe('a body that a parser has read', () => {
  it.each([
    ['an object', express.json()],
    ['text', express.text({ type: '*/*' })],
    ['bytes', express.raw({ type: '*/*' })],
  ])('is taken as %s', async (_what, parser) => {
    const { url, errors } = await behind(parser);
    expect((await json(await post(url, ...ADD))).result?.content?.[0]?.text).toBe('3');
    expect(
      (await post(url, { jsonrpc: '2.0', method: 'notifications/a' }, modernHeaders('notifications/a'))).status,
    ).toBe(202);
    expect(errors).toEqual([]);
  });

  it.each([
    ['an object', express.json()],
    ['text', express.text({ type: '*/*' })],
    ['bytes', express.raw({ type: '*/*' })],
  ])('may be empty: it is answered at once, and not waited for as %s', async (_what, parser) => {
    const { url } = await behind(parser);
    const answer = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '' });
    expect(answer.status).toBe(400);
  });

  it('is taken from an `authenticate` that has read it', async () => {
    const authenticate = async (_head: object, incoming: IncomingMessage & { body?: unknown }) => {
      incoming.body = Buffer.concat((await incoming.toArray()) as Buffer[]);
      return { subject: 'ann' };
    };
    const { url, errors } = await behind((_request, _response, next) => next(), { auth: { authenticate } });
    expect((await json(await post(url, ...ADD))).result?.content?.[0]?.text).toBe('3');
    expect(errors).toEqual([]);
  });

  it.each([
    ['depth', JSON.parse(`${'[{"a":'.repeat(100)}1${'}]'.repeat(100)}`)],
    ['number of values', Array.from({ length: 100_001 }, () => 0)],
    ['names', JSON.parse('{"__proto__":{}}')],
  ])('is checked for its %s', async (_what, value) => {
    const { url } = await behind(express.json({ limit: '2mb' }));
    const [message, headers] = [modernCall(1, 'add', { a: 1, b: 2, more: value }), modernHeaders('tools/call', 'add')];
    expect(await outcome(await post(url, message, headers))).toEqual([400, -32600]);
    const own = await behind((_request, _response, next) => next());
    expect(await outcome(await post(own.url, message, headers))).toEqual([400, -32600]);
  });

  it('is rejected by its announced size, and as text or bytes by its own', async () => {
    const limits = { bodyLimit: 500 };
    const large = [modernCall(1, 'add', { text: 'x'.repeat(500) }), modernHeaders('tools/call', 'add')] as const;
    for (const parser of [express.json(), express.text({ type: '*/*' }), express.raw({ type: '*/*' })]) {
      const { url } = await behind(parser, { limits });
      expect(await outcome(await post(url, ...large))).toEqual([413, -32600]);
    }
    const { url } = await behind(express.raw({ type: '*/*' }), { limits });
    const body = new Blob([JSON.stringify(large[0])]).stream();
    const headers = { 'content-type': 'application/json', ...large[1] };
    const chunked = { method: 'POST', headers, body, duplex: 'half' } as RequestInit;
    expect(await outcome(await fetch(url, chunked))).toEqual([413, -32600]);
  });

  it('is checked for UTF-8 and JSON if it is bytes', async () => {
    const { url } = await behind(express.raw({ type: '*/*' }));
    const headers = { 'content-type': 'application/json' };
    for (const body of [new Uint8Array([0x22, 0xff, 0x22]), '{']) {
      expect(await outcome(await fetch(url, { method: 'POST', headers, body }))).toEqual([400, -32700]);
    }
  });

  it('gives 500 if the parser has left nothing, and the log tells why', async () => {
    const { url, errors } = await behind(drain);
    expect(await outcome(await post(url, ...ADD))).toEqual([500, -32603]);
    expect(errors.map(String)).toEqual([expect.stringContaining('Mount the handler before it')]);
  });

  it('is not needed to end a session, even if the client sends a content type', async () => {
    const { url, errors } = await behind(drain);
    const headers = { 'content-type': 'application/json', 'mcp-session-id': 'unknown' };
    expect(await outcome(await fetch(url, { method: 'DELETE', headers }))).toEqual([404, -32600]);
    expect(errors).toEqual([]);
  });

  it('is read by the handler if the parser takes other types only', async () => {
    const skips: RequestHandler = (request, _response, next) => {
      // as the body parser of Express 4 does
      request.body = {};
      next();
    };
    const { url } = await behind(skips);
    expect((await post(url, ...ADD)).status).toBe(200);
  });

  it('is given up when the client disconnects while a parser reads', async () => {
    const arrived = new EventEmitter();
    const patient: RequestHandler = (request, _response, next) => {
      arrived.emit('request', request);
      // goes on after an error, as some middleware does
      request.on('data', () => {});
      request.once('error', () => next());
    };
    const { url, errors } = await behind(patient);
    const { port, hostname } = new URL(url);
    const socket = connect(Number(port), hostname);
    socket.write(`POST /mcp HTTP/1.1\r\nhost: ${hostname}:${port}\r\ncontent-type: application/json\r\n`);
    socket.write('content-length: 9\r\n\r\n{');
    const [request] = (await once(arrived, 'request')) as [IncomingMessage];
    const closed = new Promise((resolve) => request.once('close', resolve));
    socket.destroy();
    await closed;
    expect(errors).toEqual([]);
  });
});
