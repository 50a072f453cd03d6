import { once } from 'node:events';

import { describe, expect, it } from '@jest/globals';
import fastify from 'fastify';
import { mcp } from '@decorum/http';

import { EventReader } from './events.js';
import {
  afterwards,
  createServer,
  json,
  kernelOf,
  modern,
  modernCall,
  modernHeaders,
  pipelined,
  post,
  Probe,
  serve,
} from './fixture.js';

/** Open subscriptions. */
interface Insides {
  readonly parts: { readonly events: { readonly listeners: { readonly size: number } } };
}

const SUBSCRIPTION = { 'io.modelcontextprotocol/subscriptionId': 'sub' };
const NOTIFICATIONS = { toolsListChanged: true, resourceSubscriptions: ['docs://guide'] };
const HEADERS = modernHeaders('subscriptions/listen');

const asked = (notifications: object = NOTIFICATIONS) =>
  modern('sub', 'subscriptions/listen', { notifications: notifications as never });

/** Subscribes. Resolves when the subscription is acknowledged. */
async function subscribe(url: string, signal?: AbortSignal): Promise<EventReader> {
  const reader = new EventReader(await post(url, asked(), HEADERS, signal));
  const { message } = await reader.message();
  expect(message).toEqual({
    jsonrpc: '2.0',
    method: 'notifications/subscriptions/acknowledged',
    params: { notifications: NOTIFICATIONS, _meta: SUBSCRIPTION },
  });
  return reader;
}

const FINAL = { id: 'sub', result: { _meta: SUBSCRIPTION, resultType: 'complete' } };

describe('listen, for other paths', () => {
  it.each(['GET', 'PUT', 'PROPFIND'])('answers %s with 404, without authentication', async (method) => {
    const { url } = await serve({ auth: { authenticate: () => ({ status: 401 }) } });
    const answer = await fetch(new URL('/elsewhere', url), { method });
    expect([answer.status, await answer.json()]).toMatchObject([
      404,
      { error: { message: 'There is no endpoint at this path.' } },
    ]);
  });

  it('answers at most 17 requests in a packet', async () => {
    const { url } = await serve();
    expect(await pipelined('GET /elsewhere', url, 17)).toHaveLength(17);
    expect((await pipelined('GET /elsewhere', url, 18)).length).toBeLessThan(2);
  });
});

describe('subscriptions/listen over HTTP', () => {
  it('[SUB-01][SUB-02][SUB-04] is a stream that starts with the acknowledgement and sends only the requested notifications', async () => {
    const { url, server } = await serve();
    const reader = await subscribe(url);
    expect(reader.response.headers.get('content-type')).toBe('text/event-stream');
    server.notify.promptsChanged();
    server.notify.resourceUpdated('docs://other');
    server.notify.resourceUpdated('docs://guide');
    const params = { uri: 'docs://guide', _meta: SUBSCRIPTION };
    expect((await reader.message()).message).toMatchObject({ method: 'notifications/resources/updated', params });
    server.notify.toolsChanged();
    const changed = { method: 'notifications/tools/list_changed', params: { _meta: SUBSCRIPTION } };
    expect((await reader.message()).message).toMatchObject(changed);
  });

  it('is kept alive by comments', async () => {
    const { url } = await serve({ keepAliveMs: 10 });
    const reader = await subscribe(url);
    for (let n = 0; n < 2; n++) expect((await reader.next())?.comment).toBe('keep-alive');
  });

  it('[SUB-07] ends when its client disconnects, and others go on', async () => {
    const { url, server } = await serve();
    const stays = await subscribe(url);
    const controller = new AbortController();
    await subscribe(url, controller.signal);
    const kernel = (await kernelOf(server)) as unknown as Insides;
    const listeners = () => kernel.parts.events.listeners.size;
    expect(listeners()).toBe(2);
    controller.abort();
    while (listeners() > 1) await new Promise(setImmediate);
    server.notify.resourceUpdated('docs://guide');
    expect((await stays.message()).message).toMatchObject({ method: 'notifications/resources/updated' });
  });

  it.each(['close() of the transport', 'close() of the server'])(
    '[SUB-06] ends with its result at %s',
    async (which) => {
      const { url, server, probe, close } = await serve();
      const reader = await subscribe(url);
      const began = once(probe, 'began');
      const pending = post(url, modernCall(1, 'wait'), modernHeaders('tools/call', 'wait'));
      await began;
      const closing = which.endsWith('server') ? server.close() : close();
      const events = await reader.rest();
      expect(events.map(({ message }) => message)).toMatchObject([FINAL]);
      // the subscription has ended; the close waits for the call, which ends by itself
      probe.emit('go');
      expect(await json(await pending)).toMatchObject({ id: 1, result: { content: [{ text: 'let go' }] } });
      await closing;
    },
  );

  it('[SUB-06] ends with its result on app.close()', async () => {
    const { server } = createServer(new Probe());
    const app = fastify();
    afterwards(() => server.close());
    await app.register(mcp, { server });
    const reader = await subscribe(`${await app.listen({ port: 0 })}/mcp`);
    const closing = app.close();
    expect((await reader.rest()).map(({ message }) => message)).toMatchObject([FINAL]);
    await closing;
  });
});
