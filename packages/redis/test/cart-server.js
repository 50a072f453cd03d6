// A process of a server that remembers in Redis, over stdio.
import { McpServer, serveStdio } from '@decorum/core';
import { redis } from '@decorum/redis';

const server = new McpServer({ name: 'shop', version: '1.0.0', cluster: redis(process.env.REDIS_URL) });

server.addTool({ name: 'add', input: { type: 'object' } }, async ({ item }, ctx) => {
  const items = await ctx.memory('cart').update((now = []) => [...now, item]);
  return String(items.length);
});

server.addTool({ name: 'read', input: { type: 'object' } }, async (_input, ctx) =>
  JSON.stringify((await ctx.memory('cart').get()) ?? []),
);

await serveStdio(server);
