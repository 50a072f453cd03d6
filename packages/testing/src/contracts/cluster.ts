import { deepEqual, equal } from 'node:assert/strict';

import type { Change, KeyValueStore } from '@decorum/core';
import type { Cluster, EventStore, Letter, SessionStore } from '@decorum/http';

import { changeBusContract } from './change-bus.js';
import { courierContract } from './courier.js';
import { eventStoreContract } from './event-store.js';
import { keyValueStoreContract } from './key-value-store.js';
import { Arrivals, type ContractClock, type ContractRule, numbersTo, plain } from './rule.js';
import { sessionStoreContract } from './session-store.js';
import { singleUseContract } from './single-use.js';

/** The nodes of a cluster. */
export interface ClusterNodes extends ContractClock {
  /** The parts of one more node. If they have an `open`, it has run. */
  node(): Cluster | Promise<Cluster>;
  /** Ends a node as if its process had been killed. */
  kill(node: Cluster): void | Promise<void>;
}

type Rule = ContractRule<[nodes: ClusterNodes]>;
type Check = Rule[1];

const HOUR = 3_600_000;

/** A store of sessions, each call of which goes to the next node. */
async function sessionsOf(nodes: ClusterNodes): Promise<SessionStore> {
  const stores = [(await nodes.node()).sessions, (await nodes.node()).sessions, (await nodes.node()).sessions];
  let calls = 0;
  const next = () => stores[(calls += 1) % stores.length] as SessionStore;
  return {
    get: (id) => next().get(id),
    set: (record, ttlMs, expected) => next().set(record, ttlMs, expected),
    touch: (id, ttlMs) => next().touch(id, ttlMs),
    delete: (id) => next().delete(id),
  };
}

/** A store of events: what one node appends, another reads. */
async function eventsOf(nodes: ClusterNodes): Promise<EventStore> {
  const [near, far] = [(await nodes.node()).events, (await nodes.node()).events];
  return {
    append: (key, event) => near.append(key, event),
    ...(near.appendBatch && { appendBatch: near.appendBatch.bind(near) }),
    read: (key, after, limit) => far.read(key, after, limit),
  };
}

/** A store of values, each call of which goes to the next node. */
async function valuesOf(nodes: ClusterNodes): Promise<KeyValueStore> {
  const stores = [(await nodes.node()).store, (await nodes.node()).store, (await nodes.node()).store];
  let calls = 0;
  const next = () => stores[(calls += 1) % stores.length] as KeyValueStore;
  return {
    isDurable: next().isDurable,
    get: (key) => next().get(key),
    set: (key, value, options) => next().set(key, value, options),
    delete: (key, expected) => next().delete(key, expected),
  };
}

/** The rules of a part, for a cluster. */
const rulesOf = <Given extends readonly unknown[]>(
  part: string,
  rules: readonly ContractRule<Given>[],
  run: (check: ContractRule<Given>[1], nodes: ClusterNodes) => Promise<void>,
): Rule[] => rules.map(([rule, check]) => [`${part}: ${rule}`, async (nodes) => await run(check, nodes)]);

const courierNodes = (nodes: ClusterNodes) => {
  const clusters = new Map<string, Cluster>();
  return {
    node: async () => {
      const cluster = await nodes.node();
      clusters.set(cluster.courier.node, cluster);
      return cluster.courier;
    },
    kill: async ({ node }: { readonly node: string }) => await nodes.kill(clusters.get(node) as Cluster),
  };
};

const letsOneNodeAppend: Check = async (nodes) => {
  const [near, far] = [await nodes.node(), await nodes.node()];
  const key = 'session/g00000000';
  await near.events.append(key, { sequence: 1, frame: '1' });
  const append = async (n: number) => {
    const { events } = n % 2 === 0 ? near : far;
    return await events.append(key, { sequence: 2, frame: `{"writer":${n}}` });
  };
  const stored = await Promise.all(numbersTo(20).map(append));
  equal(stored.filter((each) => each !== false).length, 1);
  equal((await near.events.read(key, 0))?.length, 2);
};

const letsOneNodeClaim: Check = async (nodes) => {
  const [near, far] = [await nodes.node(), await nodes.node()];
  const claims = numbersTo(20).map(async (n) => await (n % 2 === 0 ? near : far).singleUse.claim('a', HOUR));
  equal((await Promise.all(claims)).filter(Boolean).length, 1);
};

const outlivesNodes: Check = async (nodes) => {
  const [near, far] = [await nodes.node(), await nodes.node()];
  const record = { id: 'a', version: 1, revision: 'any', createdAt: 1, usedAt: 1 } as const;
  await near.sessions.set(record, HOUR);
  await near.events.append('a/g00000000', { sequence: 1, frame: '1' });
  await near.singleUse.claim('used', HOUR);
  await near.store.set('a', 'first', { ttlMs: HOUR, expected: undefined });
  await nodes.kill(near);
  deepEqual(plain(await far.sessions.get('a')), record);
  equal((await far.events.read('a/g00000000', 0))?.length, 1);
  equal(await far.singleUse.claim('used', HOUR), false);
  equal(await far.store.get('a'), 'first');
  equal(await far.store.set('a', 'second', { ttlMs: HOUR, expected: 'first' }), true);
};

const keepsOrder: Check = async (nodes) => {
  const [near, far] = [await nodes.node(), await nodes.node()];
  const arrived = new Arrivals<string>();
  await far.bus.subscribe((change: Change) => arrived.add((change as { id: string }).id));
  await far.courier.receive((letter: Letter) => {
    arrived.add(letter.session);
    return true;
  });
  for (const n of numbersTo(20)) {
    await near.bus.publish({ kind: 'elicitation', id: `change ${n}` });
    await near.courier.send({ kind: 'ended', session: `letter ${n}` }, far.courier.node);
  }
  deepEqual(
    await arrived.first(40),
    numbersTo(20).flatMap((n) => [`change ${n}`, `letter ${n}`]),
  );
};

/** The rules for a whole `Cluster`, those for its parts included, each with what checks it. Give each check new nodes. */
export const clusterContract: readonly Rule[] = [
  ...rulesOf('sessions', sessionStoreContract, async (check, nodes) => await check(await sessionsOf(nodes), nodes)),
  ...rulesOf('events', eventStoreContract, async (check, nodes) => await check(await eventsOf(nodes))),
  ...rulesOf('bus', changeBusContract, async (check, nodes) => {
    await check({ near: (await nodes.node()).bus, far: (await nodes.node()).bus });
  }),
  ...rulesOf('courier', courierContract, async (check, nodes) => await check(courierNodes(nodes))),
  ...rulesOf(
    'singleUse',
    singleUseContract,
    async (check, nodes) => await check((await nodes.node()).singleUse, nodes),
  ),
  ...rulesOf('store', keyValueStoreContract, async (check, nodes) => await check(await valuesOf(nodes), nodes)),
  ['lets exactly one of two nodes append at a position', letsOneNodeAppend],
  ['lets exactly one of two nodes claim an id', letsOneNodeClaim],
  ['keeps what a node stored after it was killed', outlivesNodes],
  ['delivers the changes and letters of one node in order', keepsOrder],
];
