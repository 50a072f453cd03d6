// Three nodes in processes of their own, one Redis, and a proxy without sticky sessions: each request of a client
// reaches another node. `CLUSTER_ROUNDS=100` repeats everything a hundred times.
import { setTimeout as wait } from 'node:timers/promises';

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import { Nodes } from '../../bench/dist/cluster/nodes.js';
import { RedisProcess } from '../../bench/dist/cluster/redis-process.js';
import { RoundRobin } from '../../bench/dist/cluster/round-robin.js';
import { RAW_KINDS } from './raw-actors.js';
import { type Actor, CHANGED, type Door } from './actor.js';
import { DEEDS, perform } from './deeds.js';
import { Load } from './load.js';
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

describe('a node of three that is killed under load', () => {
  const URI = 'soak://watched';
  /** Milliseconds within which a call fails whose node is dead. */
  const FAILS_MS = 5000;
  const kinds = [...SDK_KINDS, ...RAW_KINDS].filter(({ revision }) => revision === '2025-11-25');
  let actors: Actor[];

  /** Requires that a change reaches everybody. */
  async function change(): Promise<void> {
    const before = actors.map(({ notes }) => notes.count(CHANGED));
    const tell = () => (actors[0] as Actor).call('changed');
    expect(await tell().catch(tell)).toBe('done');
    await Promise.all(actors.map(({ notes }, index) => notes.reach(CHANGED, (before[index] ?? 0) + 1)));
  }

  /** Requires that the calls fail that run on a node, once it is killed, and no others. */
  async function killDuringCalls(index: number): Promise<void> {
    // requests take turns with those of the load, so a few could miss the node by chance
    const calls = await Promise.all(
      [...actors, ...actors, ...actors, ...actors].map(async (actor, each) => {
        const name = `${index} ${each}`;
        return { name, ...(await actor.begin('hold', { name })) };
      }),
    );
    const killed = new Set(nodes.begunIn(index));
    const [there, elsewhere] = [true, false].map((isThere) => calls.filter(({ name }) => killed.has(name) === isThere));
    await nodes.kill(index);
    const late = wait(FAILS_MS, 'late', { ref: false });
    const outcomes = there?.map(({ result }) => Promise.race([late, result.catch(() => 'failed')])) ?? [];
    expect(await Promise.all([...outcomes, change()])).toEqual([...outcomes.map(() => 'failed'), undefined]);
    expect(outcomes).not.toEqual([]);
    await Promise.all(elsewhere?.map((each) => each.cancel()) ?? []);
    await Promise.all(elsewhere?.map(({ name }) => nodes.heard('stopped', name)) ?? []);
  }

  it('loses the calls that ran there, and nothing else', async () => {
    const load = new Load(proxy.url);
    actors = await Promise.all([...kinds, ...kinds].map((kind) => kind.connect(doorOf(proxy))));
    await Promise.all(actors.map((actor) => actor.follow(URI)));
    load.start();
    for (const index of ROUNDS < 100 ? [0] : [0, 1, 2]) {
      await load.more(50);
      await killDuringCalls(index);
      await load.more(50);
      await nodes.restart(index);
      proxy.restore(index);
      await change();
    }
    await load.stop();
    await Promise.all(actors.map((actor) => actor.close()));
    expect(load.problems).toEqual([]);
    expect(load.repeated).toBeGreaterThan(0);
    // an effect whose round was killed may run again, because nothing was sealed yet
    for (const { name, repeated } of load.flows) expect(nodes.count('effect', name)).toBeLessThanOrEqual(1 + repeated);
  });
});
