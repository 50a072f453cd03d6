// Express applications around the handler.
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';

import { describe, expect, it } from '@jest/globals';
import { nodeHandler, type NodeHandlerOptions } from '@decorum/http/node';
import express, { type ErrorRequestHandler, type Express } from 'express';

import { afterwards, createServer, json, post } from '../../packages/http/test/fixture.js';
import { ADD, HttpClient } from '../support/http-client.js';
import { REVISIONS } from '../support/requirements.js';
import { Everything } from './contract.js';

/** Starts an application that the test sets up around the handler. Returns its URL. */
async function start(
  setUp: (app: Express, handler: ReturnType<typeof nodeHandler>) => unknown,
  options?: NodeHandlerOptions,
) {
  const { server, errors } = createServer(new Everything());
  const app = express();
  const handler = nodeHandler(server, options);
  setUp(app, handler);
  const listener = app.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  afterwards(async () => {
    await handler.close();
    await server.close();
    listener.close();
    listener.closeAllConnections();
  });
  return { url: `http://127.0.0.1:${(listener.address() as AddressInfo).port}`, errors, server };
}

/** Calls `add` with a client of each revision. */
async function addInEach(url: string): Promise<void> {
  for (const revision of REVISIONS) {
    const client = await HttpClient.open(url, revision);
    const { result } = await json(await client.call(1, 'add', { args: ADD }));
    expect([revision, result?.content?.[0]?.text]).toEqual([revision, '3']);
    expect((await (await client.stream(2, 'steps')).rest()).at(-1)?.message).toMatchObject({ id: 2 });
  }
}

describe('the handler in Express', () => {
  it('works behind a router, a parameter and a prefix', async () => {
    const { url } = await start((app, handler) => {
      const router = express.Router({ mergeParams: true });
      router.use('/mcp', handler);
      app.use('/tenants/:tenant', router);
    });
    await addInEach(`${url}/tenants/a/mcp`);
    expect((await post(`${url}/tenants/a/other`, '{}')).status).toBe(404);
  });

  it('leaves other paths and foreign errors to the application', async () => {
    const onError: ErrorRequestHandler = (error: Error, _request, response, _next) => {
      response.status(418).send(error.message);
    };
    const { url, errors } = await start(
      (app, handler) => {
        app.use(handler);
        app.get('/fine', (_request, response) => void response.send('fine'));
        app.get('/bad', () => {
          throw new Error('bad');
        });
        app.use(onError);
      },
      { path: '/mcp' },
    );
    await addInEach(`${url}/mcp`);
    expect(await (await fetch(`${url}/fine`)).text()).toBe('fine');
    expect((await fetch(`${url}/bad`)).status).toBe(418);
    expect(errors).toEqual([]);
  });

  it('keeps headers set by the application', async () => {
    const { url } = await start(
      (app, handler) => {
        app.use((_request, response, next) => {
          response.setHeader('x-frame-options', 'DENY').vary('Accept-Encoding');
          next();
        });
        app.use('/mcp', handler);
      },
      { allowedOrigins: ['https://app.example.com'] },
    );
    const client = await HttpClient.open(`${url}/mcp`, '2026-07-28', { origin: 'https://app.example.com' });
    const stream = await client.call(1, 'steps', { meta: { progressToken: 1 } });
    for (const { headers } of [stream, await client.call(1, 'add', { args: ADD }), await client.post('{bad')]) {
      expect([headers.get('x-frame-options'), headers.get('vary')]).toEqual(['DENY', 'Accept-Encoding, Origin']);
    }
    await stream.text();
  });
});
