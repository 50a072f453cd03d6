// Tasks in one Redis and in a Redis Cluster: the contract, and what is special about Redis.
import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';

import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { StoredTask, TaskStore } from '@decorum/tasks';
import { storeContract } from '@decorum/tasks/store-contract';
import fc from 'fast-check';
import { Cluster, Redis } from 'ioredis';

import { RedisServer, startRedisCluster } from '../../../test/support/redis-server.js';
import { expectLikeModel, timelessSteps } from '../../tasks/test/store-model.js';
import { closeAll, node, reaches } from './nodes.js';

let server: RedisServer;
let masters: RedisServer[];
let admin: Redis;

beforeAll(async () => {
  server = await RedisServer.start();
  masters = await startRedisCluster();
  admin = new Redis({ port: server.port });
});
afterEach(async () => {
  await closeAll();
  await admin.flushall();
});
afterAll(async () => {
  admin.disconnect();
  for (const each of [server, ...masters]) await each.end();
});

const clock = { now: () => Date.now(), pass: async (ms: number) => await wait(ms) };

/** An engine of a new server. */
async function engineOf(target: Parameters<typeof node>[0], name = `shop ${randomUUID()}`) {
  const { engine } = await node(target, { name });
  await reaches(engine);
  return engine;
}

const inOne = () => server.url;
const inCluster = () => new Cluster([{ host: '127.0.0.1', port: masters[0]?.port }], { lazyConnect: true });

describe.each([
  ['Redis', inOne],
  ['Redis Cluster', inCluster],
])('tasks in %s', (_name, target) => {
  it.each(storeContract)('follow the contract: a store %s', async (_rule, check) => {
    await check((await engineOf(target())).tasks, clock);
  });

  it('are what a model has, whatever happens in which order', async () => {
    await fc.assert(
      fc.asyncProperty(timelessSteps, async (taken) => {
        const engine = await engineOf(target());
        await expectLikeModel(engine.tasks, clock, taken);
        await engine.close?.();
      }),
      { numRuns: 15 },
    );
  });

  it('are changed by one of two processes', async () => {
    const name = `shop ${randomUUID()}`;
    const [near, far] = [await engineOf(target(), name), await engineOf(target(), name)];
    for (const version of [1, 2, 3]) {
      const tries = Array.from({ length: 50 }, (_, n) => task('a', { version, text: `${n}` }));
      const made = await Promise.all(tries.map(async (each, n) => await (n % 2 ? near : far).tasks.set(each)));
      expect(made.filter(Boolean)).toHaveLength(1);
      expect(await far.tasks.get('a')).toEqual(tries[made.indexOf(true)]);
    }
  });
});

const task = (id: string, more: Partial<StoredTask> = {}): StoredTask => ({
  id,
  version: 1,
  owner: 'ann@example.com',
  isOpen: true,
  createdAt: 1_700_000_000_000,
  expiresAt: undefined,
  holder: undefined,
  text: 'sealed',
  ...more,
});

/** All keys, and all that Redis has in them. */
async function everything(): Promise<string> {
  const keys = await admin.keys('*');
  const texts = await Promise.all(
    keys.map(async (key) => {
      const type = await admin.type(key);
      if (type === 'hash') return Object.entries(await admin.hgetall(key)).join();
      return type === 'zset' ? (await admin.zrange(key, '0', '-1')).join() : await admin.get(key);
    }),
  );
  return [...keys, ...texts].join('\n');
}

/** Expects that each call rejects before a client would have given up. */
async function expectFailures(tasks: TaskStore): Promise<void> {
  const begun = performance.now();
  const calls = [
    tasks.get('a'),
    tasks.set(task('a', { version: 9 })),
    tasks.delete('b'),
    tasks.list('ann@example.com', { limit: 1 }),
    tasks.openTasks(),
    tasks.count(''),
    tasks.beat('p1', 1000),
    tasks.lives('p1'),
    tasks.end?.('p1'),
  ];
  const settled = await Promise.allSettled(calls);
  expect(settled.map(({ status }) => status)).toEqual(calls.map(() => 'rejected'));
  expect(performance.now() - begun).toBeLessThan(5000);
}

describe('tasks in Redis', () => {
  it('are kept without a readable id or owner', async () => {
    const { tasks } = await engineOf(server.url);
    await tasks.set(task('id-of-the-task', { holder: 'p1' }));
    await tasks.set(task('id-of-the-task', { version: 2 }));
    await tasks.beat('id-of-the-process', 10_000);
    const found = await everything();
    expect(found).toContain('sealed');
    expect(found).not.toMatch(/id-of-the|ann|example/);
  });

  it('leave nothing once they have expired, without another call', async () => {
    const { tasks } = await engineOf(server.url);
    for (const [n, life] of [600, 300, 100, 500].entries()) {
      await tasks.set(task(`t${n}`, { expiresAt: Date.now() + 100_000, isOpen: n > 0, owner: `${n % 2}` }));
      await tasks.set(task(`t${n}`, { version: 2, expiresAt: Date.now() + life, isOpen: n > 1, owner: `${n % 2}` }));
    }
    await tasks.beat('p1', 300);
    await wait(700);
    // but the sign of life of the engine
    expect(await admin.keys('*:t:*')).toEqual([]);
  });

  it('leave nothing once they are deleted', async () => {
    const { tasks } = await engineOf(server.url);
    for (const id of ['a', 'b']) await tasks.set(task(id));
    for (const id of ['a', 'b']) await tasks.delete(id);
    await tasks.beat('p1', 10_000);
    await tasks.end?.('p1');
    expect(await admin.keys('*:t:*')).toEqual([]);
  });

  it('that another secret has sealed count as missing, which is reported', async () => {
    const name = `shop ${randomUUID()}`;
    await (await engineOf(server.url, name)).tasks.set(task('a'));
    const { engine, reports } = await node(server.url, { name, secret: 'two' });
    await reaches(engine);
    expect(await engine.tasks.get('a')).toBeUndefined();
    expect(await engine.tasks.openTasks()).toEqual([]);
    expect(await engine.tasks.list('ann@example.com', { limit: 5 })).toEqual([]);
    expect(reports).toHaveLength(1);
  });

  it('fail in time while Redis hangs or is away, and work again afterwards', async () => {
    const own = await RedisServer.start();
    try {
      const { engine } = await node(own.url, { timeoutMs: 200 });
      await reaches(engine);
      await engine.tasks.set(task('a'));
      own.hold();
      await expectFailures(engine.tasks);
      own.release();
      await reaches(engine);
      expect((await engine.tasks.get('a'))?.version).toBe(1);
      await own.stop();
      await expectFailures(engine.tasks);
      await own.start();
      await reaches(engine);
      expect(await engine.tasks.set(task('a'))).toBe(true);
    } finally {
      await own.end();
    }
  });

  it('belong to the server whose cluster the engine is', async () => {
    const engine = await engineOf(server.url, 'shop');
    engine.tasks.open?.({ name: 'shop', report: () => {} });
    expect(() => engine.tasks.open?.({ name: 'other', report: () => {} })).toThrow(
      'tasks: `store` belongs to a redis(…) that is not the `cluster` of the server "other". Pass the same one to both',
    );
  });
});
