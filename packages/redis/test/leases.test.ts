import { setTimeout as wait } from 'node:timers/promises';

import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Leases, RedisEngine } from '@decorum/redis';
import { Redis } from 'ioredis';

import { RedisServer } from '../../../test/support/redis-server.js';
import { closeAll, node, reaches } from './nodes.js';

let server: RedisServer;
let near: Leases;
let far: Leases;
let engine: RedisEngine;

beforeAll(async () => {
  server = await RedisServer.start();
});
afterEach(async () => {
  await closeAll();
  await flush();
});
afterAll(async () => await server.end());

async function flush(): Promise<void> {
  const admin = new Redis({ port: server.port });
  await admin.flushall();
  admin.disconnect();
}

async function open(): Promise<void> {
  ({ engine } = await node(server.url));
  near = engine.leases;
  far = (await node(server.url)).engine.leases;
}

const MINUTE = 60_000;

describe('a lease', () => {
  it('has one holder at a time, and is free once it was released', async () => {
    await open();
    const lease = await near.acquire('cleaning', MINUTE);
    expect(await far.acquire('cleaning', MINUTE)).toBeUndefined();
    expect(await far.acquire('baking', MINUTE)).toBeDefined();
    expect(await lease?.release()).toBe(true);
    expect(await lease?.release()).toBe(false);
    expect(await far.acquire('cleaning', MINUTE)).toBeDefined();
  });

  it('goes to one of 20 that want it at once', async () => {
    await open();
    const wanted = Array.from({ length: 20 }, async (_, n) => await (n % 2 ? near : far).acquire('cleaning', MINUTE));
    expect((await Promise.all(wanted)).filter((lease) => lease !== undefined)).toHaveLength(1);
  });

  it('has a higher token than each one before, even if Redis has lost everything', async () => {
    await open();
    const tokens: number[] = [];
    for (let n = 0; n < 5; n++) {
      const lease = await (n % 2 ? near : far).acquire('cleaning', MINUTE);
      tokens.push(lease?.token ?? 0);
      if (n < 3) await lease?.release();
      else await flush();
      await wait(2);
    }
    expect(tokens).toEqual([...new Set(tokens)].toSorted((a, b) => a - b));
  });

  it('expires unless it is renewed', async () => {
    await open();
    const [quiet, renewed] = [await near.acquire('quiet', 300), await near.acquire('renewed', 300)];
    await wait(200);
    expect(await renewed?.renew()).toBe(true);
    await wait(200);
    expect(await far.acquire('renewed', 300)).toBeUndefined();
    expect(await far.acquire('quiet', 300)).toBeDefined();
    expect(await quiet?.renew()).toBe(false);
  });

  it('lets its holder write, and refuses what a holder writes whose time is over', async () => {
    await open();
    const first = await near.acquire('cleaning', 100);
    expect(await first?.write('last', 'by the first', MINUTE)).toBe(true);
    await wait(150);
    expect(await first?.write('last', 'too late', MINUTE)).toBe(false);
    const second = await far.acquire('cleaning', MINUTE);
    expect(await far.read('cleaning', 'last')).toBe('by the first');
    expect(await second?.write('last', 'by the second', MINUTE)).toBe(true);
    expect(await first?.write('last', 'too late again', MINUTE)).toBe(false);
    expect(await first?.release()).toBe(false);
    expect(await near.read('cleaning', 'last')).toBe('by the second');
    expect(await near.read('cleaning', 'first')).toBeUndefined();
  });
});

describe('a limiter', () => {
  it('counts for all processes together, by name and key', async () => {
    await open();
    const other = (await node(server.url)).engine;
    const [one, two] = [engine.limits({ points: 2, duration: 60 }), other.limits({ points: 2, duration: 60 })];
    await one.consume('ann');
    await two.consume('ann');
    await expect(one.consume('ann')).rejects.toMatchObject({ msBeforeNext: expect.any(Number) });
    await two.consume('bob');
    await other.limits({ points: 2, duration: 60, name: 'uploads' }).consume('ann');
  });

  it('counts for its own process while Redis is away', async () => {
    const away = await RedisServer.later();
    const { engine: alone } = await node(away.url, { timeoutMs: 100 });
    const limiter = alone.limits({ points: 2, duration: 60 });
    await limiter.consume('ann');
    await limiter.consume('ann');
    await expect(limiter.consume('ann')).rejects.toMatchObject({ msBeforeNext: expect.any(Number) });
    await away.start();
    await reaches(alone);
    await limiter.consume('ann');
    await away.end();
  });

  it('of leases fails before the server has started', async () => {
    const { redis } = await import('@decorum/redis');
    await expect(redis(server.url).leases.acquire('cleaning', MINUTE)).rejects.toThrow('The server has not started.');
  });
});
