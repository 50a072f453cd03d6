// The same contracts over a Redis Cluster of three masters, with sharded pub/sub.
import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';

import { afterAll, afterEach, beforeAll, it } from '@jest/globals';
import { clusterContract } from '@decorum/testing/contracts';
import { Cluster } from 'ioredis';

import { type RedisServer, startRedisCluster } from '../../../test/support/redis-server.js';
import { TcpProxy } from '../../../test/support/tcp-proxy.js';
import { closeAll, node, reaches } from './nodes.js';

let servers: RedisServer[];
const proxies: TcpProxy[] = [];

beforeAll(async () => {
  servers = await startRedisCluster();
});
afterEach(async () => {
  await closeAll();
  await Promise.all(proxies.splice(0).map(async (proxy) => await proxy.close()));
});
afterAll(async () => {
  for (const server of servers) await server.end();
});

/** Nodes that reach each master through a proxy, so that they can be cut off. */
function nodesOf(name: string) {
  const proxiesOf = new Map<object, TcpProxy[]>();
  return {
    node: async () => {
      const own = await Promise.all(servers.map(async ({ port }) => await TcpProxy.start(port)));
      proxies.push(...own);
      const natMap = Object.fromEntries(
        servers.map(({ port }, n) => [`127.0.0.1:${port}`, { host: '127.0.0.1', port: own[n]?.port ?? 0 }]),
      );
      const client = new Cluster([{ host: '127.0.0.1', port: own[0]?.port }], { natMap, lazyConnect: true });
      const { engine } = await node(client, { name });
      proxiesOf.set(engine, own);
      await reaches(engine);
      return engine;
    },
    kill: (engine: object) => {
      for (const proxy of proxiesOf.get(engine) ?? []) proxy.cut();
    },
    pass: async (ms: number) => await wait(ms),
  };
}

it.each(clusterContract)('Redis Cluster keeps the rule of a cluster: %s', async (_rule, check) => {
  await check(nodesOf(`shop ${randomUUID()}`));
});
