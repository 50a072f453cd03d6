// Users of Redis that may do only what is needed, and how a client may be given.
import { readFileSync } from 'node:fs';

import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';

import { RedisServer } from '../../../test/support/redis-server.js';
import { closeAll, node, reaches, record } from './nodes.js';

let server: RedisServer;
let admin: Redis;

beforeAll(async () => {
  server = await RedisServer.start();
  admin = new Redis({ port: server.port });
  await admin.call('ACL', 'SETUSER', ...RULES);
});
afterEach(closeAll);
afterAll(async () => {
  admin.disconnect();
  await server.end();
});

const README = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
/** The user that the README shows. */
const RULES = (/^ACL SETUSER ((?:.*\\\n)*.*)/m.exec(README)?.[1] ?? '').replaceAll('\\\n', ' ').trim().split(/\s+/);
const USER = { username: 'decorum', password: 'secret' };

it('needs no more than the rights that the README lists', async () => {
  const target = { port: server.port, ...USER };
  const [near, far] = [await node(target), await node(target)];
  for (const { engine } of [near, far]) await reaches(engine);
  const { sessions, events, singleUse, bus, courier, leases, limits, tasks } = near.engine;
  await sessions.set(record('a'), 60_000);
  expect(await sessions.set(record('a', 2), 60_000, 1)).toBe(true);
  await sessions.set(record('a', 3), 60_000, 2);
  expect(await far.engine.sessions.get('a')).toEqual(record('a', 3));
  await sessions.touch('a', 60_000);
  await sessions.delete('a');
  expect(await events.append('a/b', { sequence: 1, frame: '1' })).toBe(true);
  expect(await events.append('a/b', { sequence: 2, frame: '2' })).toBe(true);
  expect(await events.read('a/b', 2)).toEqual([]);
  expect(await singleUse.claim('a', 60_000)).toBe(true);
  await far.engine.courier.receive(() => true);
  const heard = new Promise((resolve) => void far.engine.bus.subscribe(resolve));
  expect(await courier.send({ kind: 'ended', session: 'a' }, far.engine.courier.node)).toBe(true);
  await bus.publish({ kind: 'elicitation', id: '1' });
  await heard;
  const lease = await leases.acquire('a', 60_000);
  expect(await lease?.write('k', 'v', 60_000)).toBe(true);
  expect(await leases.read('a', 'k')).toBe('v');
  expect(await lease?.renew()).toBe(true);
  expect(await lease?.release()).toBe(true);
  const task = { id: 'a', version: 1, owner: '', isOpen: true, createdAt: 1, holder: 'p', text: 't' };
  const expiresAt = Date.now() + 60_000;
  expect(await tasks.set({ ...task, expiresAt })).toBe(true);
  expect(await tasks.set({ ...task, version: 2, expiresAt: undefined })).toBe(true);
  expect(await tasks.list('', { limit: 9 })).toEqual([{ ...task, version: 2 }]);
  expect(await tasks.openTasks()).toEqual([{ id: 'a', holder: 'p' }]);
  expect(await tasks.count('')).toEqual({ all: 1, own: 1 });
  expect(await tasks.set({ ...task, version: 3, expiresAt, isOpen: false })).toBe(true);
  await tasks.delete('a');
  for (let n = 0; n < 2; n++) await tasks.beat('p', 60_000);
  expect(await tasks.lives('p')).toBe(true);
  await tasks.end?.('p');
  await limits.call(near.engine, { points: 5, duration: 1 }).consume('a');
  // a node that is gone, and one more connection
  await far.engine.close?.();
  expect(await courier.send({ kind: 'ended', session: 'a' })).toBe(false);
  expect([...near.reports, ...far.reports]).toEqual([]);
});

it('reports a password that is wrong once, and goes on trying', async () => {
  const target = { port: server.port, username: 'decorum', password: 'wrong' };
  const { engine, reports } = await node(target, { timeoutMs: 300 });
  await expect(engine.sessions.get('a')).rejects.toThrow('Redis is not there');
  await admin.call('ACL', 'SETUSER', 'decorum', '>wrong');
  await reaches(engine);
  expect(reports).toMatchObject([{ error: { message: expect.stringContaining('WRONGPASS') } }]);
});

describe('Redis is found by', () => {
  const found = async (target: Parameters<typeof node>[0]) => {
    const { engine, reports } = await node(target);
    await reaches(engine);
    await engine.sessions.set(record('a'), 60_000);
    expect(await engine.sessions.get('a')).toEqual(record('a'));
    expect(reports).toEqual([]);
    return engine;
  };

  it('a URL with a user and a database', async () => {
    await found(`redis://decorum:secret@127.0.0.1:${server.port}/0`);
  });

  it('options of ioredis', async () => {
    await found({ host: '127.0.0.1', port: server.port, ...USER, protocol: 2 });
  });

  it('a client of ioredis, which stays as it is', async () => {
    const client = new Redis({ port: server.port, ...USER, lazyConnect: true });
    const engine = await found(client);
    await engine.close?.();
    expect(client.status).toBe('wait');
    const other = new Redis({ port: server.port });
    await (await found(other)).close?.();
    expect(await other.ping()).toBe('PONG');
    other.disconnect();
  });
});
