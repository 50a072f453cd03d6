// The contracts of engines: over a cluster in memory, and over engines that break one rule each.
import { afterEach, expect, it, jest } from '@jest/globals';
import { MemoryKeyValueStore, MemorySingleUse } from '@decorum/core';
import type { Cluster } from '@decorum/http';
import {
  clusterContract,
  type ClusterNodes,
  keyValueStoreContract,
  singleUseContract,
} from '@decorum/testing/contracts';

import { MemoryCluster } from '../../../test/support/memory-cluster.js';

const pass = (ms: number): void => {
  const now = Date.now() + ms;
  jest.spyOn(Date, 'now').mockReturnValue(now);
};

afterEach(() => void jest.restoreAllMocks());

/** A cluster in memory, the nodes of which may be spoiled. */
function nodesOf(spoil: (node: Cluster, cluster: MemoryCluster) => Partial<Cluster> = () => ({})): ClusterNodes {
  const cluster = new MemoryCluster();
  return {
    node: () => {
      const node = cluster.node();
      return { ...node, ...spoil(node, cluster) };
    },
    kill: (node) => cluster.kill(node),
    pass,
  };
}

it.each(clusterContract)('a cluster in memory keeps the rule: %s', async (_rule, check) => {
  await check(nodesOf());
});

it.each(singleUseContract)('MemorySingleUse %s', async (_rule, check) => {
  await check(new MemorySingleUse(), { pass });
});

it.each(keyValueStoreContract)('MemoryKeyValueStore %s', async (_rule, check) => {
  await check(new MemoryKeyValueStore(), { pass });
});

/** Engines that break one rule each. */
const BROKEN: readonly (readonly [what: string, rule: string, spoil: Parameters<typeof nodesOf>[0]])[] = [
  [
    'ignores the expected version',
    'only if the record has the expected version',
    ({ sessions }) => ({
      sessions: { ...sessions, set: (record, ttlMs) => sessions.set(record, ttlMs) },
    }),
  ],
  [
    'compares versions, and then stores',
    '20 changes win',
    ({ sessions }) => ({
      sessions: {
        ...sessions,
        set: async (record, ttlMs, expected) => {
          if (expected !== undefined && (await sessions.get(record.id))?.version !== expected) return false;
          return await sessions.set(record, ttlMs);
        },
      },
    }),
  ],
  [
    'extends the life of a record although it refuses a change',
    'lets a record expire',
    ({ sessions }) => ({
      sessions: {
        ...sessions,
        set: async (record, ttlMs, expected) => {
          await sessions.touch(record.id, ttlMs);
          return await sessions.set(record, ttlMs, expected);
        },
      },
    }),
  ],
  ['keeps its sessions to itself', 'returns a record as it was', () => ({ sessions: new MemoryCluster().sessions })],
  [
    'appends at positions that are taken',
    'refuses an event',
    ({ events }, cluster) => ({
      events: {
        ...events,
        append: async (key, event) => (await events.append(key, event)) || cluster.events.read(key, 0) !== undefined,
      },
    }),
  ],
  [
    'sends the event at 0',
    'by its event at 0',
    ({ events }) => ({
      events: { ...events, read: (key, after, limit) => events.read(key, after === 0 ? -1 : after, limit) },
    }),
  ],
  [
    'forgets a stream that has only an event at 0',
    'by its event at 0',
    ({ events }) => ({
      events: {
        ...events,
        read: async (key, after, limit) => {
          const found = await events.read(key, after, limit);
          return found?.length === 0 && (await events.read(key, 0))?.length === 0 ? undefined : found;
        },
      },
    }),
  ],
  [
    'does not tell the publisher',
    'every subscriber of every process',
    ({ bus }) => {
      let isOurs = false;
      return {
        bus: {
          publish: async (change) => {
            isOurs = true;
            await bus.publish(change);
            isOurs = false;
          },
          subscribe: (listener) => bus.subscribe((change) => void (isOurs || listener(change))),
        },
      };
    },
  ],
  [
    'says that it brought letters to dead nodes',
    'dead or never was',
    ({ courier }) => ({
      courier: { ...courier, send: async (letter, to) => (await courier.send(letter, to)) || to !== undefined },
    }),
  ],
  [
    'brings letters to the sender too',
    'all nodes but the sender',
    ({ courier }) => {
      let own: Parameters<typeof courier.receive>[0] = () => false;
      return {
        courier: {
          ...courier,
          send: async (letter, to) => {
            if (to === undefined) await own(letter);
            return await courier.send(letter, to);
          },
          receive: (take) => courier.receive((own = take)),
        },
      };
    },
  ],
  [
    'compares values, and then stores',
    'loses none of 20 changes',
    ({ store }) => ({
      store: {
        ...store,
        set: async (key, value, options) => {
          const now = await store.get(key);
          return now === options.expected && (await store.set(key, value, { ...options, expected: now }), true);
        },
      },
    }),
  ],
  [
    'stores whatever the key has',
    'only if the key has none',
    ({ store }) => ({
      store: {
        ...store,
        set: async (key, value, { ttlMs }) =>
          await store.set(key, value, { ttlMs, expected: (await store.get(key)) ?? undefined }),
      },
    }),
  ],
  [
    'deletes whatever the key has',
    'deletes a value only if',
    ({ store }) => ({
      store: { ...store, delete: async (key) => await store.delete(key, (await store.get(key)) ?? '') },
    }),
  ],
  [
    'counts the time of a value from its creation',
    'lets a value expire',
    ({ store }) => ({
      store: { ...store, set: (key, value, options) => store.set(key, value, { ...options, ttlMs: 1000 }) },
    }),
  ],
  [
    'waits with a timer until a value expires',
    'for ten years',
    ({ store }) => ({
      store: {
        ...store,
        // as timers do with more than 2 ** 31 ms
        set: (key, value, { ttlMs, expected }) =>
          store.set(key, value, { ttlMs: ttlMs < 2 ** 31 ? ttlMs : 1, expected }),
      },
    }),
  ],
  ['keeps its values to itself', 'store: returns a value as', () => ({ store: new MemoryKeyValueStore() })],
  ['claims ids for one node only', 'two nodes claim', () => ({ singleUse: new MemorySingleUse() })],
];

it.each(BROKEN)('the contract of clusters rejects an engine that %s', async (_what, rule, spoil) => {
  const [, check] = clusterContract.find(([name]) => name.includes(rule)) as (typeof clusterContract)[number];
  // what never arrives is waited for in vain
  const inVain = new Promise<'waits'>((resolve) => setTimeout(resolve, 500, 'waits').unref());
  const checked = await Promise.race([
    inVain,
    check(nodesOf(spoil)).then(
      () => 'passes',
      () => 'fails',
    ),
  ]);
  expect(checked).not.toBe('passes');
});
