// Members from outside: mounted servers, proxies, documents, and members that depend on the caller.
import { afterEach, describe, expect, it, jest } from '@jest/globals';

import { proxy } from '@decorum/client';
import { McpServer, mount } from '@decorum/core';
import { contractOf } from '@decorum/core/internal';
import { listen } from '@decorum/http';
import { openapi } from '@decorum/openapi';
import { search } from '@decorum/search';
import { revisions } from '@decorum/testing';

import { callOf, clientOf, closeAll, found, namesOf, textOf } from './clients.js';
import { shop } from './shop.js';

afterEach(closeAll);

const SILENT = { warn() {}, error() {} };

const frontOf = (providers: readonly unknown[]) =>
  new McpServer({
    name: 'front',
    version: '1.0.0',
    providers: providers as never,
    plugins: [search({ above: 0 })],
    logger: SILENT,
  });

describe.each(revisions)('a search over members from outside, in %s', (revision) => {
  it('finds and calls those of a mounted server, without the two tools of that', async () => {
    const client = await clientOf(frontOf([mount(shop(), { prefix: 'shop' })]), { revision });
    expect(await namesOf(client)).toEqual(['search_tools', 'call_tool']);
    expect((await found(client, 'track a parcel'))[0]).toBe('shop_track_parcel');
    expect(await found(client, 'call_tool', { limit: 20 })).not.toContain('shop_call_tool');
    expect(textOf(await callOf(client, 'shop_track_parcel', { parcel: '9' }))).toBe('track_parcel {"parcel":"9"}');
    await expect(callOf(client, 'shop_call_tool', { name: 'track_parcel' })).rejects.toThrow('Unknown tool');
  });

  it('finds and calls those of a proxied server, which lists them all for the proxy', async () => {
    const upstream = shop();
    const { url, close } = await listen(upstream, { port: 0 });
    const client = await clientOf(frontOf([proxy(url, { prefix: 'shop' })]), { revision });
    expect((await found(client, 'track a parcel'))[0]).toBe('shop_track_parcel');
    expect(textOf(await callOf(client, 'shop_track_parcel', { parcel: '9' }))).toBe('track_parcel {"parcel":"9"}');
    await closeAll();
    await close();
  });

  it('finds those that depend on the caller, and calls them', async () => {
    const server = frontOf([]);
    let lists = 0;
    const inputSchema = { type: 'object' } as const;
    const now = { entry: { name: 'tell_time', description: 'Tells the time', inputSchema }, run: () => NOON };
    const NOON = { content: [{ type: 'text' as const, text: 'Noon.' }] };
    server.addLive({
      kinds: ['tool'],
      list: () => ((lists += 1), [now]),
      find: (_kind, key) => (key === 'tell_time' ? now : undefined),
    });
    const client = await clientOf(server, { revision });
    expect(await namesOf(client)).toEqual(['search_tools', 'call_tool']);
    expect(await found(client, 'what time is it')).toEqual(['tell_time']);
    expect(lists).toBe(2);
    expect(textOf(await callOf(client, 'tell_time'))).toBe('Noon.');
  });
});

it('a search finds operations of a document by their paths, and returns their schemas', async () => {
  const document = {
    openapi: '3.1.0',
    info: { title: 'Shop', version: '1.0.0' },
    paths: {
      '/orders/{order}/refunds': {
        post: {
          operationId: 'refunds/create',
          summary: 'Refund an order',
          parameters: [{ name: 'order', in: 'path', required: true, schema: { type: 'string' } }],
          responses: { 200: { description: 'Done' } },
        },
      },
      '/parcels': { get: { responses: { 200: { description: 'All' } } } },
    },
  };
  const client = await clientOf(frontOf([await openapi(document, { baseUrl: 'http://127.0.0.1:1' })]));
  const { structuredContent } = await client.callTool('search_tools', { query: 'refund' });
  expect(structuredContent).toMatchObject({
    tools: [{ name: 'refunds_create', inputSchema: { required: ['order'] } }],
  });
  expect(await found(client, 'parcel')).toEqual(['get_parcels']);
});

it('a contract has all tools but not the two, as lists of all tools have', async () => {
  const server = shop();
  const names = Object.values(contractOf(server).revisions).map(({ tools }) => tools.map(({ name }) => name));
  const client = await clientOf(server);
  const { tools } = await client.request('tools/list', { _meta: { 'dev.decorum/tools': 'all' } });
  for (const each of names)
    expect(each).toEqual((tools as readonly { readonly name: string }[]).map(({ name }) => name));
});

it('an index serves all requests with equal lists, also if a source makes its entries anew for each', async () => {
  const server = frontOf([]);
  const inputSchema = { type: 'object' } as const;
  const entriesOf = (word: string) =>
    Array.from({ length: 1000 }, (_, at) => ({ name: `tool_${at}`, description: `${word} ${at}`, inputSchema }));
  let word = 'First';
  const run = () => ({ content: [] });
  server.addLive({
    kinds: ['tool'],
    list: () => entriesOf(word).map((entry) => ({ entry, run })),
    find: () => undefined,
  });
  const client = await clientOf(server);
  // an index is built in chunks, between which other requests get their turn
  const turns = jest.spyOn(globalThis, 'setImmediate');
  const turnsOf = async (query: string) => {
    const before = turns.mock.calls.length;
    expect(await found(client, query, { limit: 20 })).toHaveLength(20);
    return turns.mock.calls.length - before;
  };
  try {
    const built = await turnsOf('first');
    expect(built).toBeGreaterThanOrEqual(20);
    expect(await turnsOf('first')).toBe(built - 20);
    word = 'Second';
    expect(await turnsOf('second')).toBe(built);
  } finally {
    turns.mockRestore();
  }
});
