import { setTimeout as wait } from 'node:timers/promises';

import { afterAll, afterEach, beforeAll, it } from '@jest/globals';
import { clusterContract } from '@decorum/testing/contracts';

import { RedisServer } from '../../../test/support/redis-server.js';
import { closeAll, nodesOf } from './nodes.js';

let server: RedisServer;

beforeAll(async () => {
  server = await RedisServer.start();
});
afterEach(closeAll);
afterAll(async () => await server.end());

it.each(clusterContract)('Redis keeps the rule of a cluster: %s', async (_rule, check) => {
  await check({ ...nodesOf(server), pass: async (ms) => await wait(ms) });
});
