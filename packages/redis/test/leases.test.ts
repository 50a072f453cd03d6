import { setTimeout as wait } from 'node:timers/promises';

import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Leases, RedisEngine } from '@decorum/redis';
import { Redis } from 'ioredis';

import { RedisServer } from '../../../test/support/redis-server.js';
import { closeAll, node, reaches, until } from './nodes.js';

let server: RedisServer;
let admin: Redis;
let near: Leases;
let far: Leases;
let engine: RedisEngine;

beforeAll(async () => {
  server = await RedisServer.start();
  admin = new Redis({ port: server.port });
});
afterEach(async () => {
  await closeAll();
  await flush();
});
afterAll(async () => {
  admin.disconnect();
  await server.end();
});

const flush = async () => void (await admin.flushall());

/** Redis keeps the holder of a lease for as many milliseconds from now on. Returns its key. */
async function holderFor(name: string, ms: number): Promise<string> {
  const [key = ''] = await admin.keys(`*{${name}}:holder`);
  expect(await admin.pexpire(key, ms)).toBe(1);
  return key;
}

/** The time of a lease is over. */
async function expire(name: string): Promise<void> {
  const key = await holderFor(name, 1);
  await until(async () => (await admin.exists(key)) === 0);
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
    const [quiet, renewed] = [await near.acquire('quiet', MINUTE), await near.acquire('renewed', MINUTE)];
    const key = await holderFor('renewed', MINUTE / 2);
    expect(await renewed?.renew()).toBe(true);
    const left = await admin.pttl(key);
    expect(left).toBeGreaterThan(MINUTE / 2);
    expect(left).toBeLessThanOrEqual(MINUTE);
    await expire('quiet');
    expect(await far.acquire('renewed', MINUTE)).toBeUndefined();
    expect(await far.acquire('quiet', MINUTE)).toBeDefined();
    expect(await quiet?.renew()).toBe(false);
  });

  it('lets its holder write, and refuses what a holder writes whose time is over', async () => {
    await open();
    const first = await near.acquire('cleaning', MINUTE);
    expect(await first?.write('last', 'by the first', MINUTE)).toBe(true);
    await expire('cleaning');
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
    // its own count is full
    const isTaken = async () =>
      await limiter.consume('ann').then(
        () => true,
        () => false,
      );
    await until(isTaken);
    await away.end();
  });

  it('of leases fails before the server has started', async () => {
    const { redis } = await import('@decorum/redis');
    await expect(redis(server.url).leases.acquire('cleaning', MINUTE)).rejects.toThrow('The server has not started.');
  });
});
