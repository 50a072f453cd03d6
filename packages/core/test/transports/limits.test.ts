// The limits of messages and of `serveStdio`, at the limit and one beyond.
import { PassThrough, Writable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';

import {
  McpServer,
  type McpServerOptions,
  type ReachedLimit,
  Resource,
  serveStdio,
  type StdioLimits,
  type StdioOptions,
} from '@decorum/core';
import { DEFAULT_LIMITS } from '@decorum/core/internal';
import { afterEach, describe, expect, it } from '@jest/globals';

import { cpuMs } from '../../../../test/support/cpu.js';
import { openSession } from '../kernel/open-session.js';
import { SILENT } from '../kernel/serving.js';
import { ENVELOPE, openPipe, PipeClient } from './pipe-client.js';

class Pages {
  @Resource('x://a') page() {}
}

const servers: McpServer[] = [];

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close({ deadlineMs: 1 })));
});

function createServer() {
  const hits: ReachedLimit[] = [];
  const onLimit = (hit: ReachedLimit) => void hits.push(hit);
  const server = new McpServer({ name: 'limits', version: '1.0.0', providers: [Pages], onLimit });
  const input = { type: 'object', properties: { size: { type: 'number' }, steps: { type: 'number' } } };
  server.addTool({ name: 'say', input }, ({ size = 0, steps = 0 }: { size?: number; steps?: number }, ctx) => {
    for (let step = 1; step <= steps; step += 1) ctx.progress(1000 + step);
    return 'x'.repeat(size);
  });
  servers.push(server);
  return { server, hits };
}

/** A ping that takes this many bytes, without the newline. */
const pingOf = (id: number, bytes: number) => {
  const ping = JSON.stringify({ jsonrpc: '2.0', id, method: 'ping', params: { pad: '' } });
  return ping.replace('""', `"${'x'.repeat(bytes - ping.length)}"`);
};

it.each([
  ['1000 bytes, in one chunk', 1000, [[0]]],
  ['1000 bytes, in two chunks', 1000, [[0, 600], [600]]],
  ['4 MiB by default', 4 * 1024 * 1024, [[0]]],
])('a message over stdio has at most `maxMessageBytes`: %s', async (_name, max, parts) => {
  const { server, hits } = createServer();
  const { client } = await openPipe(server, max === 1000 ? { limits: { maxMessageBytes: max } } : {});
  const send = async (message: string) => {
    for (const [start, end] of parts) {
      client.write(`${message}\n`.slice(start, end));
      await turn();
    }
  };
  await send(pingOf(1, max));
  expect((await client.response(1)).result).toEqual({});
  expect(hits).toEqual([]);
  await send(pingOf(2, max + 1));
  const { id, error } = await client.find((message) => message.error !== undefined);
  expect([id, error]).toEqual([undefined, { code: -32600, message: `The message is longer than ${max} bytes.` }]);
  expect(hits).toEqual([{ limit: 'maxMessageBytes' }]);
  // the next message is served
  await send(pingOf(3, max));
  expect((await client.response(3)).result).toEqual({});
  expect(client.received).toHaveLength(3);
});

/** Serves a client that takes nothing until the test says so. */
async function startUnread(limits?: StdioLimits) {
  const { server, hits } = createServer();
  const input = new PassThrough();
  const held: { readonly text: string; readonly take: () => void }[] = [];
  const write = (text: string, _encoding: string, take: () => void) => void held.push({ text, take });
  const output = new Writable({ decodeStrings: false, write });
  await serveStdio(server, { input, output, drainMs: 1, ...(limits && { limits }) });
  const send = async (message: object) => {
    input.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
    for (let n = 0; n < 5; n += 1) await turn();
  };
  let id = 0;
  /** Calls the tool, and lets the server begin to write its answer. */
  const call = async (args: object) => {
    id += 1;
    const params = { name: 'say', arguments: args, _meta: { ...ENVELOPE, progressToken: 'p' } };
    await send({ id, method: 'tools/call', params });
  };
  /** Takes what was written. */
  const take = async () => {
    const texts: string[] = [];
    for (let next = held.shift(); next !== undefined; next = held.shift()) {
      texts.push(next.text);
      next.take();
      await turn();
    }
    return texts.join('');
  };
  return { server, input, hits, send, call, take };
}

describe('a client over stdio that takes nothing', () => {
  it.each([
    ['5000', { maxPendingChars: 5000 }, 5000],
    ['1 Mi by default', undefined, 1_048_576],
  ])('gets everything up to `maxPendingChars`, and beyond it no progress: %s', async (_name, limits, max) => {
    const { input, hits, call, take } = await startUnread(limits);
    await call({});
    const size = max - (await take()).length;
    // in flight, or waiting for what is in flight
    await call({ size });
    expect([hits, input.isPaused()]).toEqual([[], false]);
    expect(await take()).toHaveLength(max);
    await call({ size: size + 1 });
    expect([hits, input.isPaused()]).toEqual([[{ limit: 'maxPendingChars' }], true]);
    // what comes now is not read until the client has caught up
    await call({ steps: 3 });
    const first = await take();
    expect(first).toHaveLength(max + 1);
    for (let n = 0; n < 5; n += 1) await turn();
    expect((await take()).match(/notifications\/progress/g)).toHaveLength(3);
    expect([hits.length, input.isPaused()]).toEqual([1, false]);
  });

  it('loses progress beyond `maxPendingChars`, but no response', async () => {
    const { hits, call, take } = await startUnread({ maxPendingChars: 5000 });
    await call({ steps: 1 });
    const progress = (await take()).split('\n')[0] as string;
    // the last of these makes the client slow
    const fitting = Math.floor(5000 / (progress.length + 1)) + 1;
    await call({ steps: fitting * 2 });
    const lines = (await take()).trim().split('\n');
    expect(lines).toHaveLength(fitting + 1);
    expect(lines.at(-1)).toContain('"result"');
    expect(hits).toEqual([{ limit: 'maxPendingChars' }]);
  });

  it('gets changes of `maxPendingChars` in all, and counts once if there are more', async () => {
    for (const more of [0, 1]) {
      const { server, hits, send, take } = await startUnread({ maxPendingChars: 500 });
      const notifications = { resourceSubscriptions: ['x://a'] };
      await send({ id: 's', method: 'subscriptions/listen', params: { notifications, _meta: ENVELOPE } });
      await take();
      const change = (size: number) => server.notify.resourceUpdated(`x://a/${'y'.repeat(size)}`, 'x://a');
      change(0);
      await turn();
      // one in flight, and two that wait
      const length = (await take()).trim().length;
      change(1);
      await turn();
      change(2);
      change(500 - length - length - 2 + more);
      expect((await take()).trim().split('\n')).toHaveLength(more === 0 ? 3 : 2);
      expect(hits).toEqual([{ limit: 'maxPendingChars' }]);
    }
  });
});

describe('a client over stdio that stops reading', () => {
  const PARTS = ['x://a/1', 'x://a/2', 'x://a/3'];
  const notifications = { toolsListChanged: true, resourceSubscriptions: ['x://a'] };
  const LISTEN = { id: 'sub', method: 'subscriptions/listen', params: { _meta: ENVELOPE, notifications } };

  it.each(['subscriptions/listen', 'the subscriptions of a session'])(
    'costs no memory, and gets every change of %s once, in order, when it reads again',
    async (which) => {
      const { server } = createServer();
      const [input, output] = [new PassThrough(), new PassThrough({ highWaterMark: 1024 })];
      const { closed } = await serveStdio(server, { input, output, limits: { maxPendingChars: 20_000 } });
      const client = new PipeClient(input, output);
      if (which === LISTEN.method) {
        client.send(LISTEN);
        await client.find(({ method }) => method === 'notifications/subscriptions/acknowledged');
      } else {
        await client.initialize();
        client.send({ id: 1, method: 'resources/subscribe', params: { uri: 'x://a' } });
        await client.response(1);
      }
      output.pause();
      const before = client.received.length;
      for (let n = 0; n < 10_000; n += 1) {
        server.notify.resourceUpdated(PARTS[n % PARTS.length] as string, 'x://a');
        if (n % 100 === 0) server.notify.toolsChanged();
        if (n % 1000 === 0) await turn();
      }
      const last = ['x://a/b', 'x://a/a', 'x://a/c'];
      for (const uri of [...last.slice(0, 2), ...last]) server.notify.resourceUpdated(uri, 'x://a');
      output.resume();
      await client.find(({ params }) => params?.['uri'] === last[2]);
      await client.find(({ method }) => method === 'notifications/tools/list_changed');
      input.end();
      await closed;
      const received = client.received.slice(before);
      const uris = received.flatMap(({ params }) => params?.['uri'] ?? []);
      expect(uris).toEqual(expect.arrayContaining(PARTS));
      expect(uris.slice(-3)).toEqual(last);
      if (which === LISTEN.method) expect(received.at(-1)).toMatchObject({ result: { resultType: 'complete' } });
      // the messages until the stream was full, and then each change once
      expect(JSON.stringify(received).length).toBeLessThan(40_000);
    },
  );
});

const { maxValues: MAX_VALUES } = DEFAULT_LIMITS;

async function openLimited(options: Partial<McpServerOptions> = {}, stdio: StdioOptions = {}) {
  const server = new McpServer({ name: 'limits', version: '1.0.0', ...options });
  server.addTool({ name: 'count', input: { type: 'object' } }, (input) => Object.keys(input).length);
  servers.push(server);
  const { client } = await openPipe(server, stdio);
  await client.initialize();
  return client;
}

/** A call whose message has this many names, values and items in all. */
const callOf = (values: number, id: number) => {
  const args = { list: Array.from({ length: values - 14 }, () => 0) };
  // jsonrpc, id, method, params; name, arguments; list
  return { id, method: 'tools/call', params: { name: 'count', arguments: args, _meta: undefined } };
};

describe('Messages have limits', () => {
  it(`takes ${MAX_VALUES} values, and no more`, async () => {
    const client = await openLimited();
    client.send(callOf(MAX_VALUES, 1));
    expect((await client.response(1)).result).toBeDefined();
    client.send(callOf(MAX_VALUES + 1, 2));
    const message = 'The message has more than 100000 values.';
    expect((await client.response(2)).error).toEqual({ code: -32600, message });
  });

  it('takes ids of 256 characters, and answers longer ones without them', async () => {
    const client = await openLimited();
    const id = 'i'.repeat(256);
    client.send({ id, method: 'ping' });
    expect((await client.response(id)).result).toEqual({});
    client.send({ id: `${id}i`, method: 'ping' });
    const refused = await client.find(({ error }) => error !== undefined);
    expect(refused.error).toMatchObject({ code: -32600 });
    expect(refused.id).toBeUndefined();
  });

  it.each(['1e999', '-1e999', '{"a":[1e999]}'])('refuses the number in %s, which no double holds', async (value) => {
    const client = await openLimited();
    const params = `{"name":"count","arguments":{"n":${value}}}`;
    client.write(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}\n`);
    expect((await client.response(1)).error).toMatchObject({ code: -32600 });
  });

  it('looks at no more of a message than its limit', async () => {
    const server = new McpServer({ name: 'limits', version: '1.0.0' });
    servers.push(server);
    const { handle } = await openSession(server);
    const message = { id: 1, method: 'ping', params: { list: Array.from({ length: 1_000_000 }, () => ({})) } };
    const started = cpuMs();
    for (let round = 0; round < 100; round += 1) void handle(message);
    expect(cpuMs() - started).toBeLessThan(200);
  });
});

/** A call whose message has this many levels. */
const deepCall = (levels: number, id: number) => {
  // message, params, arguments
  let value: unknown[] = [];
  for (let level = 5; level <= levels; level += 1) value = [value];
  return { id, method: 'tools/call', params: { name: 'count', arguments: { value } } };
};

const SMALL = { maxValues: 200, maxDepth: 10 };

describe('The limits of a server', () => {
  it('apply to batches', async () => {
    const hits: ReachedLimit[] = [];
    const onLimit = (hit: ReachedLimit) => void hits.push(hit);
    const server = new McpServer({ name: 'limits', version: '1.0.0', limits: { maxBatch: 2 }, onLimit });
    servers.push(server);
    const { handle, initialize } = await openSession(server);
    await initialize('2025-03-26');
    const batch = async (...ids: number[]) =>
      JSON.parse((await handle(ids.map((id) => ({ jsonrpc: '2.0', id, method: 'ping' })))).text ?? '') as unknown;
    expect(await batch(1, 2)).toEqual([1, 2].map((id) => ({ jsonrpc: '2.0', id, result: {} })));
    expect(await batch(3, 4, 5)).toMatchObject({ error: { message: 'A batch can contain at most 2 messages.' } });
    expect(hits).toEqual([{ limit: 'maxBatch' }]);
  });

  it('can be set, and are reported to `onLimit` when a client reaches them', async () => {
    const hits: string[] = [];
    const onLimit = ({ limit }: ReachedLimit) => hits.push(limit);
    const client = await openLimited({ limits: SMALL, onLimit }, { limits: { maxMessageBytes: 10_000 } });
    client.send(callOf(200, 1), deepCall(10, 2));
    for (const id of [1, 2]) expect((await client.response(id)).result).toBeDefined();
    expect(hits).toEqual([]);
    client.send(callOf(201, 3), deepCall(11, 4));
    expect((await client.response(3)).error?.message).toBe('The message has more than 200 values.');
    expect((await client.response(4)).error?.message).toBe('The message is nested more than 10 levels deep.');
    client.write(`${' '.repeat(10_001)}\n`);
    await client.find(({ error }) => error?.message === 'The message is longer than 10000 bytes.');
    expect(hits).toEqual(['maxValues', 'maxDepth', 'maxMessageBytes']);
  });

  it('still answer if `onLimit` fails, and its error is reported', async () => {
    const errors: unknown[] = [];
    const failures = [new Error('at once'), new Error('later')];
    const onLimit = ({ limit }: ReachedLimit) => {
      if (limit === 'maxDepth') return Promise.reject(failures[1] as Error);
      throw failures[0] as Error;
    };
    const onError = (error: unknown) => void errors.push(error);
    const client = await openLimited({ limits: SMALL, onLimit: onLimit as never, onError, logger: SILENT });
    client.send(callOf(201, 1), deepCall(65, 2));
    expect((await client.response(1)).error?.code).toBe(-32600);
    expect((await client.response(2)).error?.code).toBe(-32600);
    expect(errors).toEqual(failures);
  });
});
