import { describe, expect, it } from '@jest/globals';
import type { EndpointLimits } from '@decorum/http';
import { fetchHandler } from '@decorum/http/fetch';

import { afterwards, createServer, modern, modernCall, modernHeaders, Probe } from './fixture.js';

const LISTEN = modern(1, 'subscriptions/listen', { notifications: { toolsListChanged: true } });
/** A handler for web requests from any address. */
async function startFetch(limits: EndpointLimits) {
  const { server, hits } = createServer(new Probe());
  const handler = fetchHandler(server, { limits });
  afterwards(() => server.close());
  const listen = async (remoteAddress?: string, message: object = LISTEN): Promise<Response> => {
    const { method } = message as { method: string };
    const headers = {
      host: 'localhost',
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...modernHeaders(method, method === 'tools/call' ? 'add' : undefined),
    };
    const request = new Request('http://localhost/mcp', { method: 'POST', headers, body: JSON.stringify(message) });
    const response = await handler(request, { remoteAddress });
    afterwards(() => response.body?.cancel().catch(() => {}));
    return response;
  };
  return { listen, hits };
}

const statuses = async (answers: readonly Promise<Response>[]) =>
  (await Promise.all(answers)).map(({ status }) => status);

describe('subscriptions/listen over HTTP', () => {
  it('is served up to `maxListenStreamsPerAddress`; beyond it, the address gets 429', async () => {
    const { listen, hits } = await startFetch({ maxListenStreamsPerAddress: 2 });
    expect(await statuses([listen('10.0.0.1'), listen('10.0.0.1')])).toEqual([200, 200]);
    const refused = await listen('10.0.0.1');
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '10']);
    expect(await refused.json()).toMatchObject({
      id: 1,
      error: { code: -32600, message: 'This address has too many subscriptions.' },
    });
    expect(hits).toEqual([{ limit: 'maxListenStreamsPerAddress', remoteAddress: '10.0.0.1' }]);
    expect(await statuses([listen('10.0.0.2'), listen('10.0.0.2')])).toEqual([200, 200]);
  });

  it('is served up to `maxListenStreams`; beyond it, everyone gets 503', async () => {
    const { listen, hits } = await startFetch({ maxListenStreams: 3 });
    expect(await statuses([listen('10.0.0.1'), listen('10.0.0.2'), listen()])).toEqual([200, 200, 200]);
    const refused = await listen('10.0.0.4');
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '10']);
    expect(await refused.json()).toMatchObject({
      id: 1,
      error: { message: 'There are too many subscriptions. Try again later.' },
    });
    expect(hits).toEqual([{ limit: 'maxListenStreams', remoteAddress: '10.0.0.4' }]);
    const other = await listen('10.0.0.4', modernCall(1, 'add', { a: 1, b: 2 }));
    expect(other.status).toBe(200);
  });

  it.each(['10.0.0.1', undefined])(
    '[SUB-07] frees its place when the reader of %s is gone, or at once if the request is invalid',
    async (address) => {
      const { listen } = await startFetch({ maxListenStreams: 1 });
      const invalid = modern(1, 'subscriptions/listen', {});
      for (let n = 0; n < 3; n += 1) {
        await listen(address, invalid);
        const stream = await listen(address);
        expect([stream.status, (await listen(address)).status]).toEqual([200, 503]);
        await stream.body?.cancel();
      }
    },
  );

  it('has no quota per address where addresses are unknown', async () => {
    const { listen } = await startFetch({ maxListenStreamsPerAddress: 1 });
    expect(await statuses([listen(), listen(), listen()])).toEqual([200, 200, 200]);
  });
});
