import { DEFAULT_LIMITS } from '@decorum/core/internal';
import { HOST, type Kernel } from '@decorum/core/transport';
import { type ReachedLimit, McpServer, type McpServerOptions, NoInput, type StdioOptions } from '@decorum/core';
import { afterEach, describe, expect, it } from '@jest/globals';

import { cpuMs } from '../../../../test/support/cpu.js';
import { openPipe } from '../transports/pipe-client.js';

const { maxValues: MAX_VALUES } = DEFAULT_LIMITS;

const servers: McpServer[] = [];

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

async function open(options: Partial<McpServerOptions> = {}, stdio: StdioOptions = {}) {
  const server = new McpServer({ name: 'limits', version: '1.0.0', ...options });
  server.addTool({ name: 'count', input: { type: 'object' } }, (input) => Object.keys(input).length);
  server.addTool({ name: 'progress', input: NoInput }, (_input, ctx) => ctx.progress(1));
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
    const client = await open();
    client.send(callOf(MAX_VALUES, 1));
    expect((await client.response(1)).result).toBeDefined();
    client.send(callOf(MAX_VALUES + 1, 2));
    expect((await client.response(2)).error).toMatchObject({
      code: -32600,
      message: 'The message has more than 100000 values.',
    });
  });

  it('takes ids of 256 characters, and answers longer ones without them', async () => {
    const client = await open();
    const id = 'i'.repeat(256);
    client.send({ id, method: 'ping' });
    expect((await client.response(id)).result).toEqual({});
    client.send({ id: `${id}i`, method: 'ping' });
    const refused = await client.find(({ error }) => error !== undefined);
    expect(refused.error).toMatchObject({ code: -32600 });
    expect(refused.id).toBeUndefined();
  });

  it.each(['1e999', '-1e999', '{"a":[1e999]}'])('refuses the number in %s, which no double holds', async (value) => {
    const client = await open();
    client.write(
      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"count","arguments":{"n":${value}}}}\n`,
    );
    expect((await client.response(1)).error).toMatchObject({ code: -32600 });
  });

  it('looks at no more of a message than its limit', async () => {
    const server = new McpServer({ name: 'limits', version: '1.0.0' });
    servers.push(server);
    let kernel: Kernel | undefined;
    await server[HOST].open((opened) => {
      kernel = opened;
      return { stop: () => {}, close: () => Promise.resolve() };
    });
    const message = { jsonrpc: '2.0', id: 1, method: 'ping', params: { list: [] as object[] } };
    message.params.list = Array.from({ length: 1_000_000 }, () => ({}));
    const wire = { transport: { kind: 'memory' }, principal: undefined, owner: {}, send: () => {} } as const;
    const started = cpuMs();
    for (let round = 0; round < 100; round += 1) void kernel?.handle(message, wire);
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

describe('The limits of a server', () => {
  it('can be set', async () => {
    const client = await open({ limits: { maxValues: 200, maxDepth: 10 } });
    client.send(callOf(200, 1), callOf(201, 2), deepCall(10, 3), deepCall(11, 4));
    expect((await client.response(1)).result).toBeDefined();
    expect((await client.response(2)).error?.message).toBe('The message has more than 200 values.');
    expect((await client.response(3)).result).toBeDefined();
    expect((await client.response(4)).error?.message).toBe('The message is nested more than 10 levels deep.');
  });

  it('apply to batches', async () => {
    const initialize = { protocolVersion: '2025-03-26', capabilities: {}, clientInfo: { name: 'a', version: '1' } };
    const hits: ReachedLimit[] = [];
    const onLimit = (hit: ReachedLimit) => void hits.push(hit);
    const server = new McpServer({ name: 'limits', version: '1.0.0', limits: { maxBatch: 2 }, onLimit });
    servers.push(server);
    const { client } = await openPipe(server);
    client.send({ id: 0, method: 'initialize', params: initialize });
    await client.response(0);
    const batch = (...ids: number[]) =>
      client.write(`${JSON.stringify(ids.map((id) => ({ jsonrpc: '2.0', id, method: 'ping' })))}\n`);
    batch(1, 2);
    batch(3, 4, 5);
    await client.find(({ error }) => error?.message === 'A batch can contain at most 2 messages.');
    expect(client.received.flat()).toContainEqual({ jsonrpc: '2.0', id: 2, result: {} });
    expect(hits).toEqual([{ limit: 'maxBatch' }]);
  });

  it('are reported to `onLimit` when a client reaches them', async () => {
    const hits: string[] = [];
    const options = {
      limits: { maxValues: 200, maxDepth: 10 },
      onLimit: ({ limit }: ReachedLimit) => hits.push(limit),
    };
    const client = await open(options, { limits: { maxMessageBytes: 10_000 } });
    client.send(callOf(200, 1), deepCall(10, 2));
    await client.response(2);
    expect(hits).toEqual([]);
    client.send(callOf(201, 3));
    await client.response(3);
    client.send(deepCall(11, 4));
    await client.response(4);
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
    const logger = { warn: () => {}, error: () => {} };
    const onError = (error: unknown) => void errors.push(error);
    const client = await open({ limits: { maxValues: 200 }, onLimit: onLimit as never, onError, logger });
    client.send(callOf(201, 1), deepCall(65, 2));
    expect((await client.response(1)).error?.code).toBe(-32600);
    expect((await client.response(2)).error?.code).toBe(-32600);
    expect(errors).toEqual(failures);
  });
});
