// Two servers over one Redis, each request to the other one.
import { EventEmitter, once } from 'node:events';

import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { type Context, health, McpServer, NoInput, rateLimit, Resource, Tool } from '@decorum/core';
import { listen } from '@decorum/http';
import { redis, type RedisEngine } from '@decorum/redis';

import { HttpClient, initialize } from '../../../test/support/http-client.js';
import { RedisServer } from '../../../test/support/redis-server.js';
import type { EventReader } from '../../http/test/events.js';
import { reaches, until } from './nodes.js';

const REVISION = '2025-11-25';
const OPEN: (() => Promise<void>)[] = [];

let server: RedisServer;

beforeAll(async () => {
  server = await RedisServer.start();
});
afterEach(async () => {
  await Promise.all(OPEN.splice(0).map(async (close) => await close()));
});
afterAll(async () => await server.end());

/** A tool that asks, one that waits, and one that logs when it is told to. */
class Shop extends EventEmitter {
  @Tool() async order(_input: NoInput, ctx: Context) {
    return (await ctx.confirm('Order?')) ? 'ordered' : 'not ordered';
  }

  @Tool() async wait(_input: NoInput, { signal }: Context) {
    this.emit('waiting');
    await once(signal, 'abort');
    this.emit('aborted');
    return 'aborted';
  }

  @Tool() async log(_input: NoInput, ctx: Context) {
    this.on('log', () => ctx.log.debug('a detail'));
    this.emit('logging');
    await once(this, 'enough');
    return 'logged';
  }

  @Tool() nothing() {
    return 'nothing';
  }

  @Resource('orders://open') orders() {
    return 'none';
  }

  @Resource('orders://done') done() {
    return 'none';
  }
}

/** Starts a server of its own, which shares everything with the others. */
async function start(options: (cluster: RedisEngine) => object = () => ({})) {
  const shop = new Shop();
  const cluster = redis(server.url);
  const mcp = new McpServer({
    name: 'shop',
    version: '1.0.0',
    secret: 's'.repeat(32),
    providers: [shop],
    cluster,
    plugins: [health()],
    ...options(cluster),
  });
  const { url, close } = await listen(mcp, { port: 0 });
  OPEN.push(close);
  await reaches(cluster);
  return { shop, mcp, url };
}

/** A session that begins at one server, and goes on at another. */
async function session() {
  const [near, far] = [await start(), await start()];
  const client = await HttpClient.open(near.url, REVISION);
  return { near, far, client, elsewhere: client.at(far.url) };
}

/** Resolves once a stream has a message whose parameters have this text. */
async function hears(stream: EventReader, text: string): Promise<void> {
  for (;;) {
    const { message } = await stream.message();
    if (JSON.stringify(message?.params)?.includes(text)) return;
  }
}

/** Does something again and again until what it should cause has happened: another server is told of a change later. */
async function repeat(act: () => void, effect: Promise<unknown>): Promise<void> {
  let hasHappened = false;
  const happened = effect.finally(() => (hasHappened = true));
  await until(() => {
    act();
    return hasHappened;
  });
  await happened;
}

it('takes the answer to a question at another server', async () => {
  const { client, elsewhere } = await session();
  const stream = await client.stream(1, 'order');
  const { message: question } = await stream.message();
  const answer = { jsonrpc: '2.0', id: question?.id, result: { action: 'accept', content: { answer: true } } };
  expect((await elsewhere.post(answer)).status).toBe(202);
  expect((await stream.message()).message?.result).toMatchObject({ content: [{ text: 'ordered' }] });
});

it('cancels a call at another server', async () => {
  const { near, client, elsewhere } = await session();
  const [waiting, aborted] = [once(near.shop, 'waiting'), once(near.shop, 'aborted')];
  const call = client.call(1, 'wait');
  await waiting;
  await elsewhere.post({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } });
  await aborted;
  await (await call).text();
});

it('ends a session at another server', async () => {
  const { near, client, elsewhere } = await session();
  const stream = await client.listen();
  const [waiting, aborted] = [once(near.shop, 'waiting'), once(near.shop, 'aborted')];
  const call = client.call(1, 'wait');
  await waiting;
  expect(await elsewhere.end()).toBeLessThan(300);
  await aborted;
  await (await call).text();
  await stream.rest();
  expect([await client.status(), await elsewhere.status()]).toEqual([404, 404]);
});

it('changes the log level of a call that runs at another server', async () => {
  const { near, client, elsewhere } = await session();
  await (await client.post(client.buildMessage('level', 'logging/setLevel', { level: 'error' }))).text();
  const logging = once(near.shop, 'logging');
  const told = client.stream(1, 'log').then(async (stream) => await hears(stream, 'a detail'));
  await logging;
  await (await elsewhere.post(client.buildMessage('debug', 'logging/setLevel', { level: 'debug' }))).text();
  await repeat(() => near.shop.emit('log'), told);
  near.shop.emit('enough');
});

it('tells a stream of updates of a resource that was subscribed to at another server', async () => {
  const { near, far, client, elsewhere } = await session();
  const stream = await client.listen();
  for (const uri of ['orders://open', 'orders://done'])
    await (await elsewhere.post(client.buildMessage(uri, 'resources/subscribe', { uri }))).text();
  await repeat(() => near.mcp.notify.resourceUpdated('orders://done'), hears(stream, 'orders://done'));
  far.mcp.notify.resourceUpdated('orders://open');
  await hears(stream, 'orders://open');
  await stream.cancel();
});

it('counts the calls of a caller at all servers together', async () => {
  const limited = (cluster: RedisEngine) => ({
    interceptors: [rateLimit(cluster.limits({ points: 2, duration: 60, name: 'test' }))],
  });
  const [near, far] = [await start(limited), await start(limited)];
  const client = await HttpClient.open(near.url, REVISION);
  const texts = [];
  for (const url of [near.url, far.url, near.url, far.url]) {
    const stream = client.at(url).call(url, 'nothing');
    texts.push(await (await stream).text());
  }
  expect(texts.map((text) => text.includes('Too many calls'))).toEqual([false, false, true, true]);
});

it('is not ready while Redis is away, and goes on when it is back', async () => {
  const own = await RedisServer.start();
  const cluster = redis(own.url, { timeoutMs: 300 });
  const mcp = new McpServer({
    name: 'shop',
    version: '1.0.0',
    secret: 's'.repeat(32),
    providers: [Shop],
    cluster,
    plugins: [health()],
    logger: { debug() {}, warn() {}, error() {} },
  });
  const { url, close } = await listen(mcp, { port: 0 });
  OPEN.push(close);
  await reaches(cluster);
  const client = await HttpClient.open(url, REVISION);
  const readiness = async () => (await fetch(new URL('/readyz', url))).status;
  expect(await readiness()).toBe(200);
  await own.stop();
  await until(async () => (await readiness()) === 503);
  const refused = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify(initialize(REVISION)),
  });
  expect(refused.status).toBe(503);
  expect(refused.headers.get('retry-after')).not.toBeNull();
  await refused.text();
  await own.start();
  await until(async () => (await readiness()) === 200);
  expect((await HttpClient.open(url, REVISION)).headers['mcp-session-id']).toBeDefined();
  expect(client.headers['mcp-session-id']).toBeDefined();
  await own.end();
});
