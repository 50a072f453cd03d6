// What a client in front notices of a proxy: changes of resources, questions about roots, and tags.
import { afterEach, describe, expect, it } from '@jest/globals';
import { type ClientOptions, connectClient, proxy, type ProxyOptions } from '@decorum/client';
import { type CallToolResult, type Context, McpServer, NoInput, Resource, Tool } from '@decorum/core';
import { askClient } from '@decorum/core/plugin';
import { listen } from '@decorum/http';

import { STATEFUL, STATELESS } from './front.js';

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close();
});
const keep = <T extends { close(): unknown }>(each: T): T => {
  open.push(each);
  return each;
};

class Desk {
  @Tool({ description: 'Lists the roots of the client' })
  async roots(_input: NoInput, ctx: Context) {
    return JSON.stringify(await askClient(ctx, { method: 'roots/list', params: {} }));
  }

  @Resource('desk://open', { description: 'Anybody may read it' })
  letter() {
    return 'open';
  }
}

async function behind(options: ProxyOptions, client: ClientOptions) {
  const upstream = keep(new McpServer({ name: 'desk', version: '1.0.0', providers: [Desk] }));
  const source = proxy((await listen(upstream, { port: 0 })).url, { prefix: 'd', ...options });
  const front = keep(new McpServer({ name: 'front', version: '1.0.0', providers: [source] }));
  return { upstream, front, client: keep(await connectClient((await listen(front, { port: 0 })).url, client)) };
}

const PAIRS = [STATELESS, STATEFUL].flatMap((front) => [STATELESS, STATEFUL].map((up) => [front, up] as const));

describe.each(PAIRS)('a client of %s, and an upstream of %s', (revision, up) => {
  it('hears of changes of resources that it follows, until it stops', async () => {
    const { client, upstream } = await behind({ revision: up }, { revision });
    for (let round = 1; round <= 2; round += 1) {
      const listening = await client.listen({ uris: ['desk://d/open'] });
      upstream.notify.resourceUpdated('desk://open');
      const { value } = await listening[Symbol.asyncIterator]().next();
      expect(value).toMatchObject({ params: { uri: 'desk://d/open' } });
      await listening.close();
    }
  });

  it('is asked for its roots only if that is forwarded', async () => {
    const onRoots = () => [{ uri: 'file:///home' }];
    const told = await behind({ revision: up, forward: { roots: true } }, { revision, onRoots });
    expect(JSON.stringify(await told.client.callTool('d_roots'))).toContain('file:///home');
    const asked: unknown[] = [];
    const more = { onRoots: () => (asked.push('roots'), []) };
    const { client } = await behind({ revision: up }, { revision, ...more });
    const result: unknown = await client.callTool('d_roots').catch((error: Error) => error);
    expect(result instanceof Error || (result as CallToolResult).isError).toBe(true);
    expect(asked).toEqual([]);
  });
});

it('the tags of a proxy hide its members from a session', async () => {
  const options: ProxyOptions = { tags: ['desk'], transform: { roots: { description: 'Is changed' } } };
  const { client, front } = await behind(options, { revision: STATEFUL });
  front.addTool({ name: 'hide', description: 'Hides the desk' }, async (_input: unknown, ctx: Context) => {
    await ctx.visibility.hide('desk');
    return 'hidden';
  });
  const listed = async () => (await client.listTools()).map(({ name, description }) => `${name}: ${description}`);
  expect(await listed()).toEqual(['d_roots: Is changed', 'hide: Hides the desk']);
  await client.callTool('hide');
  expect(await listed()).toEqual(['hide: Hides the desk']);
});
