import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

import { describe, expect, it } from '@jest/globals';
import { mcp } from '@decorum/http';
import fastify from 'fastify';

import { afterwards, createServer, openSession, Probe, raw } from './fixture.js';

/** An application without limits of its own. */
async function start() {
  const app = fastify();
  app.addHook('onRequest', async ({ headers }) => {
    if (headers['x-case'] === 'stranger') throw Object.assign(new Error('Who are you?'), { statusCode: 401 });
  });
  const { server, errors } = createServer(new Probe());
  await app.register(mcp, { server });
  afterwards(() => server.close());
  const url = `${await app.listen({ port: 0, host: '127.0.0.1' })}/mcp`;
  return { app, url, port: Number(new URL(url).port), errors };
}

const JSON_BODY = 'content-type: application/json\r\n';

/** Sends a request with a slow, endless body. Resolves with the response when the connection has closed. */
function dribble(port: number, method: string, headers: string): { socket: Socket; answer: Promise<string> } {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  socket.write(
    `${method} /mcp HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n${headers}transfer-encoding: chunked\r\n\r\n1\r\nx\r\n`,
  );
  const timer = setInterval(() => socket.writable && socket.write('1\r\nx\r\n'), 10);
  afterwards(() => socket.destroy());
  afterwards(() => clearInterval(timer));
  let text = '';
  socket.on('data', (chunk: Buffer) => {
    text += String(chunk);
  });
  return { socket, answer: once(socket, 'close').then(() => text) };
}

describe('an unread body', () => {
  it.each([
    ['PUT', JSON_BODY, 405],
    ['HEAD', '', 405],
    ['PATCH', JSON_BODY, 405],
    ['POST', 'content-type: text/plain\r\n', 415],
    ['POST', '', 415],
    ['DELETE', '', 415],
    ['OPTIONS', 'content-type: text/plain\r\n', 415],
    ['GET', 'accept: text/html\r\n', 400],
    ['POST', `${JSON_BODY}x-case: stranger\r\n`, 401],
  ])('delays neither the end of its connection nor app.close(): %s %j', async (method, headers, status) => {
    const { app, port } = await start();
    const text = await dribble(port, method, headers).answer;
    expect(text).toMatch(new RegExp(`^HTTP/1.1 ${status} [^]*\r\nconnection: close\r\n`));
    await app.close();
  });

  it('does not delay app.close(), even if the response is a stream or the body is still arriving', async () => {
    const { app, url, port } = await start();
    const session = Object.entries(await openSession(url)).map(([name, value]) => `${name}: ${value}\r\n`);
    const stream = dribble(port, 'GET', `accept: text/event-stream\r\n${session.join('')}`);
    await once(stream.socket, 'data');
    const arrived = once(app.server, 'request');
    const coming = dribble(port, 'POST', JSON_BODY);
    await arrived;
    await app.close();
    expect(await stream.answer).toMatch(/^HTTP\/1\.1 200 /);
    expect(await coming.answer).toMatch(/^HTTP\/1\.1 503 [^]*"code":-32600/);
  });

  it('is the exception: most rejected requests keep their connections', async () => {
    const { app, url } = await start();
    afterwards(() => app.close());
    expect((await raw(url, 'PUT', { connection: 'keep-alive' }))[0].headers.connection).toBe('keep-alive');
  });
});

describe('a client that disconnects while sending', () => {
  it('is not reported as an error', async () => {
    const { app, port, errors } = await start();
    afterwards(() => app.close());
    const arrived = once(app.server, 'request') as Promise<[{ readonly socket: Socket }]>;
    const socket = connect(port, '127.0.0.1');
    socket.write(`POST /mcp HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n${JSON_BODY}content-length: 100\r\n\r\n{`);
    const [request] = await arrived;
    const closed = new Promise((resolve) => request.socket.once('close', resolve));
    socket.destroy();
    await closed;
    await app.close();
    expect(errors).toEqual([]);
  });
});
