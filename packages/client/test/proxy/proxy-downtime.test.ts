// Upstreams that come and go while their proxy stays.
import { afterEach, describe, expect, it } from '@jest/globals';
import { type Client, connectClient, proxy, type ProxyOptions } from '@decorum/client';
import { type Context, McpServer, NoInput, Tool } from '@decorum/core';
import { listen } from '@decorum/http';

import { eventually, STATEFUL, STATELESS } from './front.js';

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close();
});
const keep = <T extends { close(): unknown }>(each: T): T => {
  open.push(each);
  return each;
};

class Desk {
  @Tool({ description: 'Stays' })
  stay(_input: NoInput, ctx: Context) {
    return ctx.sessionId ?? 'here';
  }
}

/** An upstream on a port, which is free again once it is closed. */
async function upstreamAt(port = 0, tool?: string) {
  const server = keep(new McpServer({ name: 'desk', version: '1.0.0', providers: [Desk] }));
  if (tool !== undefined) server.addTool({ name: tool, description: tool }, () => tool);
  const { url } = await listen(server, { port, signals: false });
  return { url, port: Number(new URL(url).port), close: async () => await server.close() };
}

async function behind(url: string, options: ProxyOptions) {
  const warnings: string[] = [];
  const logger = { warn: (_details: object, message: string) => void warnings.push(message), error: () => {} };
  const providers = [proxy(url, { prefix: 'd', ...options })];
  const front = keep(new McpServer({ name: 'front', version: '1.0.0', providers, logger }));
  const client = keep(await connectClient((await listen(front, { port: 0 })).url));
  const lines = () => warnings.filter((line) => line.includes('available'));
  return { client, lines };
}

const names = async (client: Client) => (await client.listTools()).map(({ name }) => name);

describe.each([STATELESS, STATEFUL])('an upstream of %s', (revision) => {
  it.each([
    ['keep', ['d_stay']],
    ['empty', []],
  ] as const)(
    'that is down has its lists dealt with by `whenDown: %j`, with a line for each change',
    async (whenDown, left) => {
      const upstream = await upstreamAt();
      const { client, lines } = await behind(upstream.url, { revision, whenDown });
      expect(await names(client)).toEqual(['d_stay']);
      await upstream.close();
      const down = 'The server "d" is not available. Try again later.';
      expect(await client.callTool('d_stay')).toMatchObject({ isError: true, content: [{ text: down }] });
      await eventually(async () => expect(lines()).toHaveLength(1));
      expect(lines()[0]).toBe(`proxy(${upstream.url}) is not available any more.`);
      expect(await names(client)).toEqual(left);
      await upstreamAt(upstream.port);
      await eventually(async () => expect(lines()).toHaveLength(2));
      expect(lines()[1]).toBe(`proxy(${upstream.url}) is available again.`);
      await eventually(async () => expect(await names(client)).toEqual(['d_stay']));
      expect(await client.callTool('d_stay')).not.toHaveProperty('isError', true);
    },
  );

  it('that is started again answers calls within a second, and has its new lists shown', async () => {
    const upstream = await upstreamAt();
    const { client } = await behind(upstream.url, { revision });
    expect(await client.callTool('d_stay')).not.toHaveProperty('isError', true);
    await upstream.close();
    await upstreamAt(upstream.port, 'added');
    // a proxy that has seen it down doesn't try with each call
    await eventually(async () => expect(await client.callTool('d_stay')).not.toHaveProperty('isError', true));
    await eventually(async () => expect(await names(client)).toEqual(['d_stay', 'd_added']));
  });
});
