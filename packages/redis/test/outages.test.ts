// What happens while Redis is away, slow or unreachable.
import { setTimeout as wait } from 'node:timers/promises';

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Change } from '@decorum/core';
import type { Letter } from '@decorum/http';
import type { RedisEngine, RedisTarget } from '@decorum/redis';
import { Redis } from 'ioredis';

import { RedisServer } from '../../../test/support/redis-server.js';
import { TcpProxy } from '../../../test/support/tcp-proxy.js';
import { closeAll, node, reaches, record, until } from './nodes.js';

const LETTER: Letter = { kind: 'ended', session: 'a' };
const CHANGE: Change = { kind: 'lists', lists: ['tools'] };
const MISSED: Change = { kind: 'missed' };

let server: RedisServer;
let admin: Redis;

beforeEach(async () => {
  server = await RedisServer.later();
  admin = new Redis({ port: server.port, lazyConnect: true, retryStrategy: () => 20 });
  admin.on('error', () => {});
});
afterEach(async () => {
  admin.disconnect();
  await closeAll();
  await server.end();
});

async function isAnswered({ sessions }: RedisEngine): Promise<boolean> {
  try {
    await sessions.get('a');
    return true;
  } catch {
    return false;
  }
}

/** Resolves once a call of an engine succeeds. */
const answers = async (engine: RedisEngine): Promise<void> => await until(async () => await isAnswered(engine));

/** An engine that reaches Redis and takes all letters, with the changes that it hears. */
async function listener(target: RedisTarget) {
  const { engine, reports } = await node(target, { timeoutMs: 500 });
  await reaches(engine);
  const heard: Change[] = [];
  await engine.bus.subscribe((change) => void heard.push(change));
  await engine.courier.receive(() => true);
  return { engine, reports, heard };
}

/** Two engines that reach Redis, the second one maybe through a proxy. */
const pair = async (target: RedisTarget = server.url) => [await listener(server.url), await listener(target)] as const;

it('opens before Redis is there, fails until then, and works from then on', async () => {
  const { engine, reports } = await node(server.url, { timeoutMs: 300 });
  await expect(engine.sessions.get('a')).rejects.toThrow('Redis is not there');
  await expect(engine.events.append('a/b', { sequence: 1, frame: '1' })).rejects.toThrow('Redis is not there');
  await expect(engine.ping?.()).rejects.toThrow('Redis is not there');
  await server.start();
  await reaches(engine);
  await engine.sessions.set(record('a'), 10_000);
  expect(await engine.sessions.get('a')).toEqual(record('a'));
  // however often it tried
  expect(reports).toHaveLength(1);
});

it('lets calls wait for Redis until their time is over, and no more than 1000', async () => {
  const { engine } = await node(server.url, { timeoutMs: 20_000 });
  const calls = Array.from({ length: 1001 }, async () => await engine.sessions.get('a'));
  await expect(Promise.all(calls)).rejects.toThrow('1000 calls wait for Redis.');
  await server.start();
  expect(await calls[0]).toBeUndefined();
});

it('lets calls wait again after the process stood still, because it could not connect meanwhile', async () => {
  const { engine } = await node(server.url, { timeoutMs: 1000 });
  const call = engine.sessions.get('a');
  const started = server.start();
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2500);
  expect(await call).toBeUndefined();
  await started;
});

describe('when Redis was restarted', () => {
  it('works without a restart of its own, and reports the outage once', async () => {
    await server.start();
    const [near, far] = await pair();
    await server.stop();
    const failed = await Promise.allSettled(
      Array.from({ length: 50 }, async () => await near.engine.sessions.get('a')),
    );
    expect(failed.every(({ status }) => status === 'rejected')).toBe(true);
    await until(() => near.reports.length > 0);
    await server.start();
    await Promise.all([reaches(near.engine), reaches(far.engine)]);
    expect(near.reports).toHaveLength(1);
    await near.engine.sessions.set(record('a'), 10_000);
    // scripts are gone, too
    expect(await far.engine.sessions.set(record('a', 2), 10_000, 1)).toBe(true);
    expect(await far.engine.events.append('a/b', { sequence: 1, frame: '1' })).toBe(true);
    expect(await near.engine.courier.send(LETTER, far.engine.courier.node)).toBe(true);
  });

  it('tells the listeners of every node that they have missed changes', async () => {
    await server.start();
    const [near, far] = await pair();
    await server.stop();
    await server.start();
    await until(() => near.heard.length > 0 && far.heard.length > 0);
    expect([near.heard[0], far.heard[0]]).toEqual([MISSED, MISSED]);
  });

  it('does not take a node for dead that is still on its way back', async () => {
    await server.start();
    const [near, far] = await pair();
    await server.stop();
    await server.start();
    await answers(near.engine);
    expect(await near.engine.courier.send(LETTER, far.engine.courier.node)).toBe(true);
  });
});

describe('when a change could not be published', () => {
  it('notifies the listeners of its own process at once, and tells all others later that they have missed it', async () => {
    await server.start();
    const proxy = await TcpProxy.start(server.port);
    const [near, far] = await pair({ port: proxy.port });
    proxy.cut();
    await far.engine.bus.publish(CHANGE);
    expect(far.heard).toEqual([CHANGE]);
    expect(near.heard).toEqual([]);
    proxy.join();
    await until(() => near.heard.length > 0 && far.heard.length > 1);
    expect(near.heard).toEqual([MISSED]);
    expect(far.heard[1]).toEqual(MISSED);
    await closeAll();
    await proxy.close();
  });
});

describe('after CLIENT KILL', () => {
  it.each(['normal', 'pubsub'])('of %s connections works again, and letters still arrive', async (type) => {
    await server.start();
    await admin.connect();
    const [near, far] = await pair();
    await admin.call('CLIENT', 'KILL', 'TYPE', type, 'SKIPME', 'yes');
    await answers(near.engine);
    expect(await near.engine.courier.send(LETTER, far.engine.courier.node)).toBe(true);
    await near.engine.bus.publish(CHANGE);
    await until(() => far.heard.some(({ kind }) => kind === 'lists'));
    expect(far.heard.some(({ kind }) => kind === 'missed')).toBe(type === 'pubsub');
  });
});

describe('while Redis hangs', () => {
  it.each([
    // nothing ends it before its time
    ['CLIENT PAUSE', async () => await admin.client('PAUSE', 4000, 'ALL'), () => {}],
    ['SIGSTOP', () => server.hold(), () => server.release()],
  ])('after %s, calls fail in time, and work once it goes on', async (_what, hang, goOn) => {
    await server.start();
    await admin.connect();
    const [near, far] = await pair();
    await near.engine.sessions.set(record('a'), 60_000);
    await hang();
    await expect(near.engine.sessions.get('a')).rejects.toThrow('timed out');
    await expect(near.engine.sessions.get('a')).rejects.toThrow('timed out');
    goOn();
    await answers(near.engine);
    expect(await near.engine.courier.send(LETTER, far.engine.courier.node)).toBe(true);
  });
});

it('is known to live while the memory of Redis is full', async () => {
  await server.start();
  const { engine } = await node(server.url);
  await reaches(engine);
  const isThere = async () => (await admin.exists(`decorum:shop:n:${engine.courier.node}`)) === 1;
  await until(isThere);
  await admin.config('SET', 'maxmemory', '1');
  await expect(engine.sessions.set(record('a'), 60_000)).rejects.toThrow('OOM');
  // longer than a sign of life lasts
  await wait(3000);
  await until(isThere);
});

it('tells the operator once why Redis takes nothing, if it is a replica, and works once it is a master', async () => {
  await server.start();
  const { engine, reports } = await node(server.url);
  await reaches(engine);
  const refusals = () => reports.filter((each) => /READONLY/.test(String((each as { error: unknown }).error)));
  await admin.replicaof('127.0.0.1', 1);
  await until(() => refusals().length > 0);
  expect(refusals()).toEqual([
    expect.objectContaining({ message: expect.stringContaining('Pass the address of the master') }),
  ]);
  // two more signs of life
  await wait(1500);
  expect(refusals()).toHaveLength(1);
  await admin.replicaof('NO', 'ONE');
  await until(async () => {
    try {
      return await engine.sessions.set(record('a'), 60_000);
    } catch {
      return false;
    }
  });
});

describe('a node that is cut off', () => {
  it('is dead once its presence has expired: a letter to it is refused within 5 seconds', async () => {
    await server.start();
    const proxy = await TcpProxy.start(server.port);
    const [near, far] = await pair({ port: proxy.port });
    // so that what it knows of Redis is old enough
    await wait(3000);
    proxy.cut();
    const begin = performance.now();
    expect(await near.engine.courier.send(LETTER, far.engine.courier.node)).toBe(false);
    expect(performance.now() - begin).toBeLessThan(5000);
    await closeAll();
    await proxy.close();
  });

  it('is not dead while its connection stays: it may only stand still', async () => {
    await server.start();
    const proxy = await TcpProxy.start(server.port);
    const [near, far] = await pair({ port: proxy.port });
    await wait(3000);
    proxy.hold();
    await expect(near.engine.courier.send(LETTER, far.engine.courier.node)).rejects.toThrow('does not answer');
    proxy.release();
    await closeAll();
    await proxy.close();
  });

  it('by a partition finds out, comes back, and is told that it has missed changes', async () => {
    await server.start();
    const proxy = await TcpProxy.start(server.port);
    const [near, far] = await pair({ port: proxy.port });
    proxy.hold();
    await expect(far.engine.sessions.get('a')).rejects.toThrow('timed out');
    await near.engine.bus.publish(CHANGE);
    // it closes connections on which nothing arrives for 5 seconds
    await wait(5500);
    proxy.drop();
    proxy.release();
    await reaches(far.engine);
    await until(() => far.heard.some(({ kind }) => kind === 'missed'));
    expect(await near.engine.courier.send(LETTER, far.engine.courier.node)).toBe(true);
    await closeAll();
    await proxy.close();
  });
});

it('closes while Redis is away, without waiting for it', async () => {
  const { engine } = await node(server.url, { timeoutMs: 60_000 });
  const call = engine.sessions.get('a');
  await engine.close?.();
  await expect(call).rejects.toThrow('closed');
});
