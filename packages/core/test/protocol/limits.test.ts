import { HOST, type Kernel, MAX_VALUES } from '@decorum/core/transport';
import { McpServer, NoInput } from '@decorum/core';
import { afterEach, describe, expect, it } from '@jest/globals';

import { cpuMs } from '../../../../test/support/cpu.js';
import { openPipe } from '../transports/pipe-client.js';

const servers: McpServer[] = [];

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

async function open() {
  const server = new McpServer({ name: 'limits', version: '1.0.0' });
  server.addTool({ name: 'count', input: { type: 'object' } }, (input) => Object.keys(input).length);
  server.addTool({ name: 'progress', input: NoInput }, (_input, ctx) => ctx.progress(1));
  servers.push(server);
  const { client } = await openPipe(server);
  await client.initialize();
  return client;
}

/** A call whose message has this many members and items in all. */
const callOf = (values: number, id: number) => {
  const args = { list: Array.from({ length: values - 8 }, () => 0) };
  // jsonrpc, id, method, params; name, arguments; list
  return { id, method: 'tools/call', params: { name: 'count', arguments: args, _meta: undefined } };
};

describe('Messages have limits', () => {
  it(`takes ${MAX_VALUES} values, and no more`, async () => {
    const client = await open();
    client.send(callOf(MAX_VALUES + 1, 1));
    expect((await client.response(1)).result).toBeDefined();
    client.send(callOf(MAX_VALUES + 2, 2));
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

  it('takes progress tokens of 256 characters, and no longer ones', async () => {
    const client = await open();
    const call = (id: number, progressToken: string) => ({
      id,
      method: 'tools/call',
      params: { name: 'progress', arguments: {}, _meta: { progressToken } },
    });
    client.send(call(1, 't'.repeat(256)), call(2, 't'.repeat(257)));
    expect((await client.response(1)).result).toBeDefined();
    expect((await client.response(2)).error).toMatchObject({ code: -32602 });
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
