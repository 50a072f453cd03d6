// What is in Redis: sealed, with an end, small, and in how many commands.
import { createHash, randomUUID } from 'node:crypto';

import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import type { KeptSession } from '@decorum/http';
import { Redis } from 'ioredis';

import { RedisServer } from '../../../test/support/redis-server.js';
import { closeAll, node, reaches, record, until } from './nodes.js';

/** The key of a session or stream: its id isn't readable. */
const keyOf = (kind: string, id: string) =>
  `decorum:shop:${kind}:${createHash('sha256').update(id).digest('base64url')}`;

let server: RedisServer;
let admin: Redis;

beforeAll(async () => {
  server = await RedisServer.start();
  admin = new Redis({ port: server.port });
});
afterEach(async () => {
  await closeAll();
  await admin.flushall();
});
afterAll(async () => {
  admin.disconnect();
  await server.end();
});

const MINUTE = 60_000;

/** A record as clients of the SDK make it. */
const typical = (id: string): KeptSession => ({
  ...record(id),
  createdAt: Date.now(),
  usedAt: Date.now(),
  client: {
    info: { name: 'example-client', version: '1.32.2', title: 'An example' },
    capabilities: { roots: { listChanged: true }, sampling: {}, elicitation: { form: {}, url: {} } },
  },
  principal: { subject: 'auth0|5f7c8ec7c33c6c004bbafe82', issuer: 'https://id.example.com', scopes: ['read', 'write'] },
  logLevel: 'info',
  subscriptions: ['orders://open', 'orders://2026/11/27'],
});

/** Counts the commands that an engine sends while something runs, without signs of life. */
async function commandsOf(run: () => Promise<unknown>): Promise<number> {
  const count = async () => {
    const info = await admin.info('commandstats');
    const ofCalls = [...info.matchAll(/cmdstat_(?:get|eval|evalsha|pexpire|del|publish|xrange):calls=(\d+)/g)];
    return ofCalls.reduce((sum, [, calls]) => sum + Number(calls), 0);
  };
  const before = await count();
  await run();
  return (await count()) - before;
}

/** Fills each part of an engine with text. */
async function fill(text: string): Promise<void> {
  const [near, far] = [await node(server.url), await node(server.url)];
  for (const { engine } of [near, far]) await reaches(engine);
  const { engine } = near;
  await engine.sessions.set({ ...typical('a'), subscriptions: [text] }, MINUTE);
  await engine.sessions.set({ ...typical('a'), version: 2, subscriptions: [text] }, MINUTE, 1);
  await engine.events.append('a/b', { sequence: 0, frame: JSON.stringify(text) });
  await engine.events.append('a/b', { sequence: 1, frame: JSON.stringify(text) });
  await engine.events.appendBatch?.('a/b', { first: 2, count: 2, text: `data: "${text}"\n\ndata: "${text}"\n\n` });
  await engine.singleUse.claim('used', MINUTE);
  await engine.limits({ points: 5, duration: 60 }).consume(`user:${text}`);
  const lease = await engine.leases.acquire('cleaning', MINUTE);
  await lease?.write('last', text, MINUTE);
}

it('gives every key in Redis an end', async () => {
  await fill('text');
  const keys = await admin.keys('*');
  expect(keys.length).toBeGreaterThan(7);
  const ends = await Promise.all(keys.map(async (key) => [key, await admin.pttl(key)] as const));
  expect(ends.filter(([, ttl]) => ttl < 0)).toEqual([]);
});

it('writes nothing to Redis that clients can have sent in a readable form', async () => {
  const secret = 'visible-client-text';
  await fill(secret);
  const monitor = new Redis({ port: server.port });
  const told: string[] = [];
  monitor.on('pmessage', (_pattern: string, channel: string, message: string) => told.push(`${channel} ${message}`));
  await monitor.psubscribe('*');
  const { engine } = await node(server.url);
  await reaches(engine);
  await engine.sessions.set(record(secret), MINUTE);
  await engine.events.append(`${secret}/g1`, { sequence: 1, frame: '1' });
  await engine.bus.publish({ kind: 'resource', uri: `docs://${secret}` });
  await engine.courier.send({ kind: 'push', session: 'a', frame: `"${secret}"` as never }, engine.courier.node);
  monitor.disconnect();
  expect(told.length).toBeGreaterThan(1);
  const keys = await admin.keys('*');
  const values = await Promise.all(
    keys.map(async (key) => {
      const type = await admin.type(key);
      return type === 'stream' ? JSON.stringify(await admin.xrange(key, '-', '+')) : String(await admin.get(key));
    }),
  );
  for (const seen of [...keys, ...values, ...told]) {
    expect(seen).not.toContain(secret);
    expect(seen).not.toContain('auth0');
    expect(seen).not.toContain('example-client');
  }
});

it('opens nothing that was sealed with another secret or moved to another key, and reports it once', async () => {
  const [near, far] = [await node(server.url), await node(server.url, { secret: 'another' })];
  await near.engine.sessions.set(record('a'), MINUTE);
  await near.engine.sessions.set(record('b'), MINUTE);
  expect(await far.engine.sessions.get('a')).toBeUndefined();
  expect(await far.engine.sessions.get('b')).toBeUndefined();
  expect(far.reports).toMatchObject([
    { message: expect.stringContaining('All processes need the same DECORUM_SECRET') },
  ]);
  await admin.copy(keyOf('s', 'a'), keyOf('s', 'c'));
  expect(await near.engine.sessions.get('c')).toBeUndefined();
});

it('takes no message that is not sealed, not even an empty one', async () => {
  const { engine, reports } = await node(server.url);
  await reaches(engine);
  const heard: unknown[] = [];
  await engine.bus.subscribe((change) => void heard.push(change));
  await engine.courier.receive((letter) => Boolean(heard.push(letter)));
  const channel = 'decorum:shop:c:{decorum:shop:}';
  for (const kind of ['change', 'letter', 'answer', 'mark']) await admin.publish(channel, `${kind} intruder 1 `);
  await engine.bus.publish({ kind: 'lists', lists: ['tools'] });
  await until(() => heard.length > 0);
  expect(heard).toEqual([{ kind: 'lists', lists: ['tools'] }]);
  expect(reports).toMatchObject([{ message: expect.stringContaining('can not be opened') }]);
});

it('keeps a session in at most 2 KiB of Redis', async () => {
  const { engine } = await node(server.url);
  const id = randomUUID();
  await engine.sessions.set(typical(id), MINUTE);
  const bytes = Number(await admin.memory('USAGE', keyOf('s', id)));
  expect(bytes).toBeGreaterThan(100);
  expect(bytes).toBeLessThan(2048);
});

it('sends one command for each call of a store', async () => {
  const { engine } = await node(server.url);
  const { sessions, events } = engine;
  // the first time, the text of a script is sent
  await sessions.set(typical('a'), MINUTE);
  await sessions.set({ ...typical('a'), version: 2 }, MINUTE, 1);
  expect(await commandsOf(async () => await sessions.get('a'))).toBe(1);
  expect(await commandsOf(async () => await sessions.touch('a', MINUTE))).toBe(1);
  await events.append('a/b', { sequence: 1, frame: '1' });
  expect(await commandsOf(async () => await events.read('a/b', 0))).toBe(1);
});

it('keeps the newest events of a stream, up to their number', async () => {
  const { engine } = await node(server.url, { events: { maxEvents: 10 } });
  const { events } = engine;
  for (let n = 1; n <= 25; n++) await events.append('a/b', { sequence: n, frame: `${n}` });
  const kept = await events.read('a/b', 0);
  expect(kept?.map(({ sequence }) => sequence)).toEqual([16, 17, 18, 19, 20, 21, 22, 23, 24, 25]);
  expect(await events.append('a/b', { sequence: 3, frame: '3' })).toBe(false);
});

it('keeps the newest events of a stream, up to their bytes, and always the last', async () => {
  const { engine } = await node(server.url, { events: { maxBytes: 10_000 } });
  const { events } = engine;
  const frame = `"${'x'.repeat(2000)}"`;
  for (let n = 1; n <= 12; n++) await events.append('a/b', { sequence: n, frame });
  expect((await events.read('a/b', 0))?.map(({ sequence }) => sequence)).toEqual([10, 11, 12]);
  await events.append('a/b', { sequence: 13, frame: `"${'x'.repeat(50_000)}"` });
  expect((await events.read('a/b', 0))?.map(({ sequence }) => sequence)).toEqual([13]);
  await events.append('a/b', { sequence: 14, frame });
  expect((await events.read('a/b', 0, Infinity))?.map(({ sequence }) => sequence)).toEqual([14]);
});

it('forgets a stream some time after its last event', async () => {
  const { engine } = await node(server.url, { events: { maxAgeMs: 123_456 } });
  await engine.events.append('a/b', { sequence: 1, frame: '1' });
  const ttl = await admin.pttl(keyOf('e', 'a/b'));
  expect(ttl).toBeGreaterThan(0);
  expect(ttl).toBeLessThanOrEqual(123_456);
});

it('finds scripts again that Redis has forgotten', async () => {
  const { engine } = await node(server.url);
  await engine.sessions.set(record('a'), MINUTE);
  await engine.sessions.set(record('a', 2), MINUTE, 1);
  await admin.script('FLUSH');
  expect(await engine.sessions.set(record('a', 3), MINUTE, 2)).toBe(true);
  expect(await engine.sessions.set(record('a', 4), MINUTE, 3)).toBe(true);
});

it('begins all keys with the prefix, and keeps servers with different names apart', async () => {
  const [shop, bank, other] = [
    await node(server.url),
    await node(server.url, { name: 'bank {1}' }),
    await node(server.url, { prefix: 'mine:' }),
  ];
  for (const { engine } of [shop, bank, other]) await reaches(engine);
  await shop.engine.sessions.set(record('a'), MINUTE);
  expect(await bank.engine.sessions.get('a')).toBeUndefined();
  expect(await other.engine.sessions.get('a')).toBeUndefined();
  const prefixes = (await admin.keys('*')).map((key) => /^.*?:(?=[a-z]:)/.exec(key)?.[0]);
  expect(new Set(prefixes)).toEqual(new Set(['decorum:shop:', 'decorum:bank%20%7B1%7D:', 'mine:']));
});
