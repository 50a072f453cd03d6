import { describe, expect, it } from '@jest/globals';
import fastify from 'fastify';
import { listen, mcp } from '@decorum/http';
import { nodeHandler } from '@decorum/http/node';

import { afterwards, createServer, post, Probe, request } from './fixture.js';

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
  it.each(TURNS)('(%i) stops listening or never starts', async (turns) => {
    const { server, errors } = createServer(new Probe());
    const opening = listen(server, { port: 0 }).catch(refused);
    for (let turn = 0; turn < turns; turn += 1) await pass();
    await expect(server.close()).resolves.toBeUndefined();
    const listening = await opening;
    afterwards(() => listening?.close());
    if (listening) await expect(post(listening.url, request(1, 'ping'))).rejects.toThrow('fetch failed');
    expect(errors).toEqual([]);
  });

  it.each(TURNS)('(%i) closes the endpoint of an application too', async (turns) => {
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
    expect(errors.filter((error) => (error as { code?: string }).code !== 'DECORUM_SERVER_CLOSED')).toEqual([]);
  });
});
