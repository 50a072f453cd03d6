// What handlers remember, over two processes on one Redis.
import { join } from 'node:path';

import { connect } from '@decorum/testing';
import { afterAll, beforeAll, expect, it } from '@jest/globals';

import { RedisServer } from '../../../test/support/redis-server.js';

let server: RedisServer;

beforeAll(async () => {
  server = await RedisServer.start();
});
afterAll(async () => await server.end());

const start = async () =>
  await connect({
    command: process.execPath,
    args: [join(import.meta.dirname, 'cart-server.js')],
    env: { REDIS_URL: server.url, DECORUM_SECRET: 's'.repeat(32) },
  });

const textOf = ({ content }: { readonly content: readonly object[] }) => (content[0] as { text: string }).text;

it('loses none of 100 concurrent updates of one name by two processes, and keeps it when they end', async () => {
  const processes = await Promise.all([start(), start()]);
  const items = Array.from({ length: 100 }, (_each, index) => index);
  const counts = await Promise.all(
    items.map(async (item) => textOf(await processes[item % 2]!.callTool('add', { item }))),
  );
  expect(counts).toHaveLength(100);
  await Promise.all(processes.map(async (client) => await client.close()));
  const later = await start();
  const kept = JSON.parse(textOf(await later.callTool('read'))) as number[];
  expect(kept.toSorted((a, b) => a - b)).toEqual(items);
  await later.close();
}, 180_000);
