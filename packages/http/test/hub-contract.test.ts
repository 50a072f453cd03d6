// The contract of engines, over nodes of a hub.
import { afterEach, it, jest } from '@jest/globals';
import { clusterContract } from '@decorum/testing/contracts';

import { Machine } from './hub-machine.js';

afterEach(() => void jest.restoreAllMocks());

it.each(clusterContract)('a hub keeps the rule of a cluster: %s', async (_rule, check) => {
  const machine = new Machine();
  const processes = new Map<object, Awaited<ReturnType<Machine['start']>>>();
  await check({
    node: async () => {
      const started = await machine.start();
      processes.set(started.cluster, started);
      return started.cluster;
    },
    kill: (node) => machine.kill(processes.get(node) as never),
    pass: (ms) => void jest.spyOn(Date, 'now').mockReturnValue(Date.now() + ms),
  });
});
