// Two servers over one Redis, each of which mounts a server of its own under a prefix. Each request may reach either.
import { randomUUID } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';

import { type Context, type JsonObject, McpServer, mount, NoInput, Resource, Tool } from '@decorum/core';
import { listen } from '@decorum/http';
import { redis } from '@decorum/redis';
import { search } from '@decorum/search';
import { tasks } from '@decorum/tasks';
import { connect } from '@decorum/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';

import { EventReader } from '../../packages/http/test/events.js';
import { reaches, until } from '../../packages/redis/test/nodes.js';
import { HttpClient } from '../support/http-client.js';
import { RedisServer } from '../support/redis-server.js';
import type { Revision } from '../support/requirements.js';
import { declares } from '../support/stateless-post.js';

const TASKS = 'io.modelcontextprotocol/tasks';
const KEY = 'dev.decorum/idempotency-key';
const DECLARED = declares({ elicitation: { form: {} }, extensions: { [TASKS]: {} } });

let store: RedisServer;
const open: (() => Promise<void>)[] = [];
/** The name of the server, with which Redis keeps the tests apart. */
let name: string;
/** What ran at which node. */
let ran: string[];

beforeAll(async () => {
  store = await RedisServer.start();
});
beforeEach(() => {
  name = `front ${randomUUID()}`;
  ran = [];
});
afterEach(async () => {
  await Promise.all(open.splice(0).map(async (close) => await close()));
});
afterAll(async () => await store.end());

/** The members of the mounted server. */
class Desk extends EventEmitter {
  constructor(private readonly node: string) {
    super();
  }

  @Tool({ task: 'optional' }) async report(_input: NoInput, ctx: Context) {
    const rows = await ctx.once('collect', async () => await this.collect());
    const isWanted = await ctx.confirm('Publish?');
    return `${isWanted ? 'published' : 'kept'} ${rows} at ${this.node}`;
  }

  @Tool({ idempotent: '1h' }) pay() {
    return `paid by ${this.run(this.node)}`;
  }

  @Tool() async visit(_input: NoInput, ctx: Context) {
    return `${await ctx.memory<number>('visits').update((count = 0) => count + 1)}`;
  }

  @Tool() async follow(_input: NoInput, ctx: Context) {
    ctx.progress(1, 2);
    this.emit('following');
    await once(this, 'enough');
    ctx.progress(2, 2);
    return 'followed';
  }

  @Resource('reports://latest') latest() {
    return 'text';
  }

  /** Takes its time: what is asked before a handler has waited is asked within the call. */
  private async collect(): Promise<number> {
    await wait(1);
    return this.run(7);
  }

  private run<T>(value: T): T {
    ran.push(this.node);
    return value;
  }
}

/**
 * Starts a node.
 * @param own options of the mounted server
 */
async function start(node: string, own: object = {}) {
  const cluster = redis(store.url);
  const desk = new Desk(node);
  const inner = new McpServer({ name: 'desk', version: '1.0.0', providers: [desk], plugins: [tasks()], ...own });
  const front = new McpServer({
    name,
    version: '1.0.0',
    secret: 's'.repeat(32),
    cluster,
    providers: [mount(inner, { prefix: 'desk' })],
    plugins: [tasks({ store: cluster.tasks, leaseMs: 5000 }), search({ above: 0 })],
  });
  const { url, close } = await listen(front, { port: 0 });
  open.push(async () => {
    await front.close();
    await close();
  });
  await reaches(cluster);
  return { desk, inner, front, url };
}

/** A client whose requests reach one node or the other. */
async function clients(revision: Revision = '2025-11-25') {
  const [near, far] = [await start('near'), await start('far')];
  const client = await HttpClient.open(near.url, revision);
  return { near, far, client, elsewhere: client.at(far.url) };
}

let id = 0;

/** The result of a request. */
async function ask(client: HttpClient, method: string, params: JsonObject): Promise<JsonObject> {
  const response = await client.post(client.buildMessage(`q${(id += 1)}`, method, params));
  const text = await response.text();
  const json = text.startsWith('{') ? text : (/^data: (\{.*"result".*)$/m.exec(text)?.[1] ?? text);
  const { result, error } = JSON.parse(json) as { result?: JsonObject; error?: object };
  expect(error).toBeUndefined();
  return result as JsonObject;
}

const saidBy = (result: JsonObject): string | undefined => (result['content'] as { text: string }[])[0]?.text;

describe('a mounted tool that is a task', () => {
  it.each([
    ['by its name', 'desk_report', {}],
    ['through a search', 'call_tool', { name: 'desk_report', arguments: {} }],
  ])('and was called %s, is read and answered at another node', async (_how, tool, args) => {
    const { client, elsewhere } = await clients('2026-07-28');
    const meta = { _meta: DECLARED };
    const { taskId } = await ask(client, 'tools/call', { name: tool, arguments: args, ...meta });
    let seen: JsonObject = {};
    const reachesStatus = async (status: string) =>
      await until(async () => (seen = await ask(elsewhere, 'tasks/get', { taskId, ...meta }))['status'] === status);
    await reachesStatus('input_required');
    const [question] = Object.keys(seen['inputRequests'] as object);
    const inputResponses = { [question as string]: { action: 'accept', content: { confirmed: true } } };
    await ask(elsewhere, 'tasks/update', { taskId, inputResponses, ...meta });
    await reachesStatus('completed');
    expect(saidBy(seen['result'] as JsonObject)).toBe('published 7 at near');
  });

  it('needs a shared store only at the server that mounts, although its own server is part of the cluster, too', async () => {
    const reported: unknown[] = [];
    const onError = (error: unknown) => void reported.push(error);
    const own = { cluster: redis(store.url), secret: 's'.repeat(32), onError, logger: { warn() {}, error() {} } };
    const { inner, url } = await start('near', own);
    const outside = await HttpClient.open(url, '2026-07-28');
    const params = { arguments: {}, _meta: DECLARED };
    const { taskId } = await ask(outside, 'tools/call', { name: 'desk_report', ...params });
    expect(taskId).toEqual(expect.any(String));
    const inside = await connect(inner, { era: 'stateless', capabilities: { extensions: { [TASKS]: {} } } });
    expect(await inside.request('tools/call', { name: 'report', arguments: {} })).toMatchObject({ isError: true });
    expect(reported).toEqual([expect.objectContaining({ message: expect.stringContaining('for this process only') })]);
    await inside.close();
  });

  it('goes on at another node after its own has closed, with what it has recorded', async () => {
    const { near, elsewhere, client } = await clients('2026-07-28');
    const meta = { _meta: DECLARED };
    const { taskId } = await ask(client, 'tools/call', { name: 'desk_report', arguments: {}, ...meta });
    await near.front.close();
    let seen: JsonObject = {};
    await until(
      async () => (seen = await ask(elsewhere, 'tasks/get', { taskId, ...meta }))['status'] === 'input_required',
    );
    const [question] = Object.keys(seen['inputRequests'] as object);
    const inputResponses = { [question as string]: { action: 'accept', content: { confirmed: true } } };
    await ask(elsewhere, 'tasks/update', { taskId, inputResponses, ...meta });
    await until(async () => (seen = await ask(elsewhere, 'tasks/get', { taskId, ...meta }))['status'] === 'completed');
    expect(saidBy(seen['result'] as JsonObject)).toBe('published 7 at far');
    expect(ran).toEqual(['near']);
  });
});

describe('a mounted member', () => {
  it('runs once for an idempotency key, whichever node gets the call', async () => {
    const { client, elsewhere } = await clients();
    const params = { name: 'desk_pay', arguments: {}, _meta: { [KEY]: 'order-7' } };
    const results = [await ask(client, 'tools/call', params), await ask(elsewhere, 'tools/call', params)];
    expect(results.map(saidBy)).toEqual(['paid by near', 'paid by near']);
    expect(ran).toEqual(['near']);
  });

  it('remembers at another node what it has noted', async () => {
    const { client, elsewhere } = await clients();
    const params = { name: 'desk_visit', arguments: {} };
    const results = [await ask(client, 'tools/call', params), await ask(elsewhere, 'tools/call', params)];
    expect(results.map(saidBy)).toEqual(['1', '2']);
  });

  it('ends a stream that is resumed at another node', async () => {
    const { near, far, client } = await clients();
    const following = once(near.desk, 'following');
    const stream = await client.stream(1, 'desk_follow');
    const { id: event } = await stream.message();
    await following;
    await stream.cancel();
    const headers = { accept: 'text/event-stream', ...client.headers, 'last-event-id': event as string };
    const resumed = new EventReader(await fetch(far.url, { headers }));
    near.desk.emit('enough');
    const [progress, answer] = [await resumed.message(), await resumed.message()];
    expect(progress.message?.params).toMatchObject({ progress: 2 });
    expect(answer.message?.result).toMatchObject({ content: [{ text: 'followed' }] });
  });
});

describe('a change of a mounted server', () => {
  it('reaches a client of another node, with the URI that it knows', async () => {
    const { near, client, elsewhere } = await clients();
    const stream = await elsewhere.listen();
    const uri = 'reports://desk/latest';
    await ask(client, 'resources/subscribe', { uri });
    let isHeard = false;
    const heard = (async () => {
      for (;;) {
        const { message } = await stream.message();
        if (message?.method === 'notifications/resources/updated') return message.params;
      }
    })().finally(() => (isHeard = true));
    await until(() => {
      near.inner.notify.resourceUpdated('reports://latest');
      return isHeard;
    });
    expect(await heard).toMatchObject({ uri });
  });

  it('of its lists is told to a client of another node', async () => {
    const { near, elsewhere } = await clients();
    const stream = await elsewhere.listen();
    let isHeard = false;
    const heard = (async () => {
      for (;;) {
        const { message } = await stream.message();
        if (message?.method === 'notifications/tools/list_changed') return true;
      }
    })().finally(() => (isHeard = true));
    await until(() => {
      near.inner.addTool({ name: 'more', input: NoInput }, () => 'more').remove();
      return isHeard;
    });
    expect(await heard).toBe(true);
  });
});
