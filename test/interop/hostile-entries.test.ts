import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';

import { afterAll, expect, it } from '@jest/globals';
import { proxy } from '@decorum/client';
import { McpServer } from '@decorum/core';
import { listen } from '@decorum/http';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

const closing: (() => unknown)[] = [];
afterAll(async () => {
  for (const close of closing.reverse()) await close();
});

const inputSchema = { type: 'object' };
const WRONG = [null, 5, 'x', [], [null], { a: 1 }, true, [{}]];
const FIELDS = ['title', 'description', 'icons', 'annotations', '_meta', 'outputSchema', 'execution', 'arguments'];

/** Entries with one wrong field each. */
const withWrong = (own: object) =>
  FIELDS.flatMap((field) => WRONG.map((value, at) => ({ ...own, name: `${field}_${at}`, [field]: value })));

/** Entries with a wrong value inside a field each. */
const withWrongParts = WRONG.flatMap((value, at) => [
  { name: `type_${at}`, inputSchema, outputSchema: { type: 'object', properties: { a: { type: value } } } },
  { name: `properties_${at}`, inputSchema, outputSchema: { type: 'object', properties: value } },
  { name: `required_${at}`, inputSchema, outputSchema: { type: 'object', required: value } },
  { name: `reference_${at}`, inputSchema, outputSchema: { type: 'object', properties: { a: { $ref: value } } } },
  { name: `sizes_${at}`, inputSchema, icons: [{ src: 'https://example.com/a.png', sizes: value, theme: value }] },
  { name: `task_${at}`, inputSchema, execution: { taskSupport: value } },
]);

const LISTS: Readonly<Record<string, object>> = {
  'server/discover': { supportedVersions: ['2026-07-28'], capabilities: { tools: {}, prompts: {} } },
  'tools/list': { tools: [{ name: 'good', inputSchema }, ...withWrong({ inputSchema }), ...withWrongParts] },
  'prompts/list': { prompts: [{ name: 'good' }, ...withWrong({})] },
};

it('a proxy lists the entries of a hostile server so that the official client can read the lists', async () => {
  const upstream = createServer(async (request, response) => {
    const { id, method } = (await json(request)) as { id: number; method: string };
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result: { resultType: 'complete', ...LISTS[method] } }));
  }).listen(0, '127.0.0.1');
  await once(upstream, 'listening');
  closing.push(() => (upstream.closeAllConnections(), upstream.close()));
  const { port } = upstream.address() as AddressInfo;
  const logger = { warn() {}, error() {} };
  const providers = [proxy(`http://127.0.0.1:${port}/mcp`)];
  const { url, close } = await listen(new McpServer({ name: 'front', version: '1.0.0', providers, logger }), {
    port: 0,
  });
  closing.push(close);
  const client = new Client({ name: 'official', version: '1.0.0' });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  closing.push(async () => await client.close());
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['good', 'outputSchema_5', 'type_1', 'sizes_0']),
  );
  const { prompts } = await client.listPrompts();
  expect(prompts.map(({ name }) => name)).toEqual(expect.arrayContaining(['good', 'icons_0', 'arguments_1']));
});
