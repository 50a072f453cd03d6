// Three nodes in processes of their own, one Redis, and a proxy without sticky sessions: each request of a client
// reaches another node. `CLUSTER_ROUNDS=100` repeats everything a hundred times.
import { afterAll, beforeAll, describe, it } from '@jest/globals';

import { Nodes } from '../../bench/src/cluster/nodes.js';
import { RedisProcess } from '../../bench/src/cluster/redis-process.js';
import { RoundRobin } from '../../bench/src/cluster/round-robin.js';
import { RAW_KINDS } from './raw-actors.js';
import type { Door } from './actor.js';
import { DEEDS, perform } from './deeds.js';
import { Nginx } from './nginx.js';
import { SDK_KINDS } from './sdk-actors.js';

const ROUNDS = Number(process.env['CLUSTER_ROUNDS'] ?? 6);

let redis: RedisProcess;
let nodes: Nodes;
let proxy: RoundRobin;

beforeAll(async () => {
  redis = await RedisProcess.start();
  nodes = await Nodes.start(3, { redis: redis.url });
  proxy = await RoundRobin.start(nodes.ports);
});

afterAll(async () => {
  await proxy.close();
  await nodes.stop();
  await redis.stop();
});

const doorOf = (way: RoundRobin): Door => ({
  url: way.url,
  cut: (session, method) =>
    way.cut((request) => request.headers['mcp-session-id'] === session && request.method === method),
});

const CASES = [...SDK_KINDS, ...RAW_KINDS].flatMap((kind) =>
  DEEDS.filter(({ fits }) => fits(kind)).map((deed) => ({ kind, deed, ...kind, what: deed.name })),
);

describe('clients whose requests take turns among three nodes', () => {
  it.each(CASES)('$name of $revision: $what', async ({ kind, deed }) => {
    await perform(deed, kind, { door: doorOf(proxy), nodes, rounds: ROUNDS });
  });
});

describe('clients behind nginx, which lets three nodes take turns', () => {
  let nginx: Nginx;
  let way: RoundRobin;

  beforeAll(async () => {
    nginx = await Nginx.start(nodes.ports);
    // it cuts connections
    way = await RoundRobin.start([nginx.port]);
  });

  afterAll(async () => {
    await way.close();
    await nginx.stop();
  });

  it.each(SDK_KINDS)('$name of $revision does everything', async (kind) => {
    for (const deed of DEEDS.filter(({ fits }) => fits(kind)))
      await perform(deed, kind, { door: doorOf(way), nodes, rounds: Math.ceil(ROUNDS / 6) });
  });
});
