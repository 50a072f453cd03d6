import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { describe, expect, it } from '@jest/globals';
import fastify from 'fastify';
import { listen, mcp } from '@decorum/http';
import { fetchHandler } from '@decorum/http/fetch';
import { nodeHandler } from '@decorum/http/node';

import { afterwards, createServer, json, post, Probe, request } from './fixture.js';

/** Number of event loop turns between starting a transport and closing its server. */
const TURNS = Array.from({ length: 13 }, (_, count) => count);

const WAYS: Readonly<Record<string, () => Promise<unknown>>> = {
  microtask: async () => await undefined,
  'turn of the event loop': () => new Promise(setImmediate),
};

/** The expected error. */
const refused = (error: { code?: string }) => {
  if (error.code !== 'DECORUM_SERVER_CLOSED') throw error;
  return undefined;
};

describe.each(Object.entries(WAYS))('a server that is closed while an endpoint opens, after each %s', (_name, pass) => {
  it('stops listening or never starts', async () => {
    for (const turns of TURNS) await stops(turns);
  });

  async function stops(turns: number) {
    const { server, errors } = createServer(new Probe());
    const opening = listen(server, { port: 0 }).catch(refused);
    for (let turn = 0; turn < turns; turn += 1) await pass();
    await expect(server.close()).resolves.toBeUndefined();
    const listening = await opening;
    afterwards(() => listening?.close());
    if (listening) await expect(post(listening.url, request(1, 'ping'))).rejects.toThrow('fetch failed');
    expect([turns, errors]).toEqual([turns, []]);
  }

  it('closes the endpoint of an application too', async () => {
    for (const turns of TURNS) await closes(turns);
  });

  async function closes(turns: number) {
    const { server, errors } = createServer(new Probe());
    const app = fastify();
    afterwards(() => app.close());
    const opening = app.register(mcp, { server }).then(
      () => app.ready(),
      (error: { code?: string }) => refused(error),
    );
    const handler = nodeHandler(server);
    for (let turn = 0; turn < turns; turn += 1) await pass();
    await expect(server.close()).resolves.toBeUndefined();
    await Promise.all([opening, handler.ready.catch(refused)]);
    await handler.close();
    const others = errors.filter((error) => (error as { code?: string }).code !== 'DECORUM_SERVER_CLOSED');
    expect([turns, others]).toEqual([turns, []]);
  }
});

describe('a handler that is closed while an `onStart` hangs', () => {
  /** A request that waits, and how to end the hook. */
  function waiting() {
    let go = () => {};
    const onStart = () => new Promise<void>((resolve) => (go = resolve));
    const { server } = createServer(Object.assign(new Probe(), { onStart }));
    const handler = fetchHandler(server, { closeDeadlineMs: 20 });
    const send = () => {
      const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
      const body = JSON.stringify(request(1, 'ping'));
      return handler(new Request('http://localhost/', { method: 'POST', headers, body }));
    };
    return { server, handler, send, go: () => go() };
  }

  const rejectsClosed = (ready: Promise<void>) =>
    expect(ready).rejects.toMatchObject({ code: 'DECORUM_SERVER_CLOSED' });
  const refusal = async (answer: Promise<Response>) => {
    const response = await answer;
    return [response.status, (await json(response)).error?.message];
  };
  const REFUSED = [503, 'The server is closing.'];

  it('gives up after `closeDeadlineMs`, and refuses what waits', async () => {
    const { handler, send, go, server } = waiting();
    const answer = send();
    await handler.close();
    await rejectsClosed(handler.ready);
    expect(await refusal(answer)).toEqual(REFUSED);
    go();
    await new Promise(setImmediate);
    expect(await refusal(send())).toEqual(REFUSED);
    await server.close();
  });

  it('refuses what waits when its server closes', async () => {
    const { handler, send, server } = waiting();
    const answer = send();
    await new Promise(setImmediate);
    await server.close();
    await rejectsClosed(handler.ready);
    expect(await refusal(answer)).toEqual(REFUSED);
    await handler.close();
  });
});

it('a failed start does not end the process if the application has answered meanwhile', async () => {
  const onStart = async () => {
    await new Promise(setImmediate);
    throw new Error('no disk');
  };
  const handler = nodeHandler(createServer(Object.assign(new Probe(), { onStart })).server);
  const unhandled: unknown[] = [];
  const note = (error: unknown) => unhandled.push(error);
  process.on('unhandledRejection', note);
  afterwards(() => process.off('unhandledRejection', note));
  const http = createHttpServer((message, response) => {
    handler(message, response);
    response.writeHead(504).end();
  });
  afterwards(() => {
    http.close();
    http.closeAllConnections();
  });
  await once(http.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  await post(url, request(1, 'ping')).catch(() => {});
  await handler.ready.catch(() => {});
  await new Promise(setImmediate);
  expect(unhandled).toEqual([]);
});
