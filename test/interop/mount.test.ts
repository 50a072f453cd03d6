// A server of mounted servers, as the official SDK's client sees it over HTTP.
import { type Context, McpServer, mount, NoInput, Resource, Tool } from '@decorum/core';
import { listen } from '@decorum/http';
import { expect, it } from '@jest/globals';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  ElicitRequestSchema,
  ResourceUpdatedNotificationSchema,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';

class Notes {
  @Resource('notes://all') all() {
    return 'none';
  }
  @Tool({ description: 'Counts, and asks' }) async count(_input: NoInput, ctx: Context) {
    ctx.progress(1, 2);
    return String(await ctx.confirm('Go on?'));
  }
}

it('mounted servers serve the client of the official SDK', async () => {
  const notes = new McpServer({ name: 'notes', version: '1', providers: [Notes] });
  const shop = new McpServer({ name: 'shop', version: '1', providers: [mount(notes, { prefix: 'n' })] });
  const { url, close } = await listen(shop, { port: 0 });
  const client = new Client({ name: 'reader', version: '1' }, { capabilities: { elicitation: {} } });
  client.setRequestHandler(ElicitRequestSchema, () => ({ action: 'accept', content: { confirmed: true } }));
  const told = new Promise((resolve) => client.setNotificationHandler(ResourceUpdatedNotificationSchema, resolve));
  const changed = new Promise((resolve) => client.setNotificationHandler(ToolListChangedNotificationSchema, resolve));
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  const progress: number[] = [];
  const onprogress = (each: { readonly progress: number }) => void progress.push(each.progress);
  const result = await client.callTool({ name: 'n_count', arguments: {} }, undefined, { onprogress });
  expect(result.content).toEqual([{ type: 'text', text: 'true' }]);
  expect(progress).toEqual([1]);
  await client.subscribeResource({ uri: 'notes://n/all' });
  notes.notify.resourceUpdated('notes://all');
  expect(await told).toMatchObject({ params: { uri: 'notes://n/all' } });
  notes.addTool({ name: 'later', input: NoInput }, () => '');
  await changed;
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['n_count', 'n_later']);
  const { contents } = await client.readResource({ uri: 'notes://n/all' });
  expect(contents).toEqual([expect.objectContaining({ uri: 'notes://n/all', text: 'none' })]);
  await client.close();
  await close();
  await shop.close();
});
