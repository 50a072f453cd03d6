// Tests the bridge itself, so that failures in other tests point to the handler.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { expect, it } from '@jest/globals';

import { afterwards, raw } from '../../packages/http/test/fixture.js';
import { Connection } from './connection.js';
import { bridge } from './fetch-bridge.js';

/** Serves a handler over the bridge. */
async function serve(handler: Parameters<typeof bridge>[0]): Promise<string> {
  const server = createServer(bridge(handler)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  afterwards(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp?a=1`;
}

it('passes on method, URL, headers and body, and sends status, headers and body', async () => {
  const url = await serve(async (request, info) => {
    const seen = [
      request.method,
      request.url,
      request.headers.get('x-custom'),
      await request.text(),
      info.remoteAddress,
    ];
    return Response.json(seen, { status: 201, headers: { 'x-answer': 'yes' } });
  });
  const [answer, text] = await raw(url, 'POST', { 'x-custom': 'A' }, 'é');
  expect([answer.statusCode, answer.headers['x-answer']]).toEqual([201, 'yes']);
  expect(JSON.parse(text)).toEqual(['POST', url, 'A', 'é', '127.0.0.1']);
});

it('aborts the signal and cancels the body only when the client disconnects', async () => {
  const signals: AbortSignal[] = [];
  let cancelled: (() => void) | undefined;
  const cancellation = new Promise<void>((resolve) => {
    cancelled = resolve;
  });
  const url = await serve(async ({ signal, method }) => {
    signals.push(signal);
    if (method === 'POST') return new Response('done');
    const body = new ReadableStream({
      start: (controller) => controller.enqueue(new TextEncoder().encode('first')),
      cancel: () => cancelled?.(),
    });
    return new Response(body);
  });
  expect((await raw(url, 'POST', {}, 'x'))[1]).toBe('done');
  const connection = await Connection.open(url);
  connection.head('GET', {}, 0);
  await connection.until(/first/);
  expect(signals.map(({ aborted }) => aborted)).toEqual([false, false]);
  connection.leave();
  await cancellation;
  expect(signals.map(({ aborted }) => aborted)).toEqual([false, true]);
});

it('closes the connection of an unread body, and keeps others', async () => {
  const url = await serve(async () => new Response('no', { status: 403 }));
  const endless = (await Connection.open(url)).endless('POST', {});
  expect(await endless.closed()).toMatch(/^HTTP\/1\.1 403 /);
  const connection = await Connection.open(url);
  for (let n = 0; n < 2; n++) {
    connection.text = '';
    connection.post('ignored', {});
    expect(await connection.until(/\r\n\r\n[^]*no/)).toMatch(/^HTTP\/1\.1 403 /);
  }
});

it('pulls no more than the client reads', async () => {
  let pulled = 0;
  const url = await serve(
    async () =>
      new Response(
        new ReadableStream({
          pull: (controller) => controller.enqueue(new Uint8Array(65_536).fill((pulled += 1))),
        }),
      ),
  );
  const connection = await Connection.open(url);
  connection.socket.pause();
  connection.head('GET', {}, 0);
  // until nothing more is pulled; the sockets buffer some megabytes
  for (let before = -1, quiet = 0; quiet < 50; before = pulled) {
    await new Promise(setImmediate);
    quiet = before === pulled && pulled > 0 ? quiet + 1 : 0;
  }
  expect(pulled).toBeLessThan(500);
});
