import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { afterEach, expect, it } from '@jest/globals';
import { type Client, connectClient, proxy } from '@decorum/client';
import { type JsonObject, McpServer } from '@decorum/core';

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close();
});

type Answers = Readonly<Record<string, (params: JsonObject) => object>>;

const CAPABILITIES = { tools: {}, prompts: {}, resources: {} };

/** An upstream that answers anything. */
async function hostile(answers: Answers): Promise<string> {
  const all: Answers = {
    'server/discover': () => ({ supportedVersions: ['2026-07-28'], capabilities: CAPABILITIES }),
    ...answers,
  };
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => (body += String(chunk)));
    request.on('end', () => {
      const { id, method, params } = JSON.parse(body) as { id: number; method: string; params: JsonObject };
      const answer = all[method];
      const error = { code: -32601, message: 'No such method' };
      const result = answer && { resultType: 'complete', ...answer(params) };
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ jsonrpc: '2.0', id, ...(result ? { result } : { error }) }));
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  open.push({
    close() {
      server.closeAllConnections();
      server.close();
    },
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
}

async function behind(answers: Answers): Promise<{ readonly client: Client; readonly warnings: string[] }> {
  const warnings: string[] = [];
  const logger = { warn: (_details: object, message: string) => void warnings.push(message), error: () => {} };
  const providers = [proxy(await hostile(answers))];
  const server = new McpServer({ name: 'front', version: '1.0.0', providers, logger });
  server.addTool({ name: 'ours' }, () => 'ours');
  open.push(server);
  const client = await connectClient(server);
  open.push(client);
  return { client, warnings };
}

const inputSchema = { type: 'object' };
const nested = (levels: number): object => (levels === 0 ? {} : { not: nested(levels - 1) });

it('lists what clients can read, whatever else an upstream sends', async () => {
  const tools = [
    { name: '__proto__', inputSchema },
    { name: 'ours', inputSchema },
    { name: 'twice', inputSchema },
    { name: 'twice', inputSchema },
    { name: 'a b', inputSchema },
    { name: 7, inputSchema },
    { name: 'no_schema' },
    { name: 'deep', inputSchema: { ...inputSchema, ...nested(40) } },
    { name: 'icons', inputSchema, icons: [{ src: 'javascript:alert(1)' }, { src: 'https://a.example/i.png' }] },
    { name: 'hints', inputSchema, annotations: { readOnlyHint: 'yes', title: 'Hints' }, _meta: 'none' },
    'none',
  ];
  const { client, warnings } = await behind({ 'tools/list': () => ({ tools }) });
  const listed = await client.listTools();
  expect(listed.map(({ name }) => name)).toEqual(['ours', '__proto__', 'twice', 'icons', 'hints']);
  expect(listed.find(({ name }) => name === 'icons')?.icons).toEqual([{ src: 'https://a.example/i.png' }]);
  expect(listed.find(({ name }) => name === 'hints')?.annotations).toEqual({ title: 'Hints' });
  expect(warnings.filter((text) => text.startsWith('proxy('))).toHaveLength(6);
});

it('survives lists without an end', async () => {
  let page = 0;
  const { client } = await behind({
    'tools/list': () => ({ tools: [{ name: `t${(page += 1)}`, inputSchema }], nextCursor: String(page % 50) }),
  });
  expect((await client.listTools()).length).toBeLessThanOrEqual(52);
});

it('tells callers of results that are none', async () => {
  const { client } = await behind({
    'tools/list': () => ({ tools: [{ name: 'bad', inputSchema }] }),
    'tools/call': () => ({ content: 'text' }),
    'resources/list': () => ({ resources: [{ uri: 'a://b', name: 'b' }] }),
    'resources/read': () => ({ contents: [7] }),
  });
  expect(await client.callTool('bad')).toMatchObject({
    isError: true,
    content: [{ text: 'The server "upstream" sent an answer that is not valid.' }],
  });
  await expect(client.readResource('a://b')).rejects.toMatchObject({ code: -32603 });
});
