// A server with a search, as the official SDK's client sees it over HTTP.
import { type Context, McpServer, NoInput } from '@decorum/core';
import { listen } from '@decorum/http';
import { search } from '@decorum/search';
import { expect, it } from '@jest/globals';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema, ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';

it('a search serves the client of the official SDK', async () => {
  const shop = new McpServer({ name: 'shop', version: '1', plugins: [search({ above: 1 })] });
  const output = { type: 'object', properties: { refunded: { type: 'boolean' } }, required: ['refunded'] } as const;
  shop.addTool(
    { name: 'refund', description: 'Refunds an order', input: NoInput, output },
    async (_input, ctx: Context) => {
      ctx.progress(1, 2);
      return { refunded: await ctx.confirm('Refund it?') };
    },
  );
  const { url, close } = await listen(shop, { port: 0 });
  const client = new Client({ name: 'reader', version: '1' }, { capabilities: { elicitation: {} } });
  client.setRequestHandler(ElicitRequestSchema, () => ({ action: 'accept', content: { confirmed: true } }));
  const changed = new Promise((resolve) => client.setNotificationHandler(ToolListChangedNotificationSchema, resolve));
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['refund']);
  shop.addTool({ name: 'ship', description: 'Ships an order', input: NoInput }, () => 'Shipped.');
  await changed;
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['search_tools', 'call_tool']);
  const all = await client.listTools({ _meta: { 'dev.decorum/tools': 'all' } });
  expect(all.tools.map(({ name }) => name)).toEqual(['refund', 'ship']);
  const found = await client.callTool({
    name: 'search_tools',
    arguments: { query: 'give the money for an order back' },
  });
  expect(found.structuredContent).toMatchObject({ tools: [{ name: 'refund' }, { name: 'ship' }] });
  const progress: number[] = [];
  const onprogress = (each: { readonly progress: number }) => void progress.push(each.progress);
  const called = { name: 'call_tool', arguments: { name: 'refund', arguments: {} } };
  const result = await client.callTool(called, undefined, { onprogress });
  expect(result.structuredContent).toEqual({ refunded: true });
  expect(progress).toEqual([1]);
  await client.close();
  await close();
  await shop.close();
});
