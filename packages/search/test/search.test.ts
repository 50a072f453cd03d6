import { afterEach, describe, expect, it } from '@jest/globals';

import type { McpServer } from '@decorum/core';
import { connect, type ConnectOptions, revisions, type TestClient } from '@decorum/testing';

import { addTools, shop } from './shop.js';

const open: TestClient[] = [];

afterEach(async () => {
  for (const client of open.splice(0)) await client.close();
});

async function clientOf(server: McpServer, options: ConnectOptions = {}): Promise<TestClient> {
  const client = await connect(server, options);
  open.push(client);
  return client;
}

const namesOf = async (client: TestClient): Promise<readonly string[]> =>
  (await client.listTools()).map(({ name }) => name);

const found = async (client: TestClient, query: string): Promise<readonly string[]> => {
  const { content } = await client.callTool('search_tools', { query });
  const [{ text }] = content as unknown as [{ text: string }];
  return text
    .split('\n\n')
    .slice(1)
    .map((block) => block.split('\n')[0] as string);
};

describe.each(revisions)('a server with many tools, in %s', (revision) => {
  it.each(['memory', 'http'] as const)('lists a few, which find and call the others, over %s', async (via) => {
    const client = await clientOf(shop({ always: ['add_article'], alwaysTags: ['orders'] }), { revision, via });
    expect(await namesOf(client)).toEqual(['search_tools', 'call_tool', 'orders.list', 'add_article']);
    expect(await found(client, 'cancel an order')).toContain('cancelOrder');
    const called = await client.callTool('call_tool', { name: 'cancelOrder', arguments: { order: '7' } });
    expect(called.content).toEqual([{ type: 'text', text: 'cancelOrder {"order":"7"}' }]);
    expect((await client.callTool('track_parcel', { parcel: '9' })).content).toMatchObject([
      { text: 'track_parcel {"parcel":"9"}' },
    ]);
  });
});

describe('the list', () => {
  it('has all tools, and not the two, up to the threshold, and calls of them still work', async () => {
    const client = await clientOf(shop({ above: 6 }));
    expect(await namesOf(client)).toHaveLength(6);
    expect(await namesOf(client)).not.toContain('call_tool');
    expect(await found(client, 'parcel')).toEqual(['track_parcel']);
  });

  it('follows tools that come and go, and clients are told when that crosses the threshold', async () => {
    const server = shop({ above: 6 });
    const client = await clientOf(server);
    const changed = client.nextNotification('notifications/tools/list_changed');
    const [voucher] = addTools(server, { add_voucher: ['Adds a voucher'] });
    await changed;
    expect(await namesOf(client)).toEqual(['search_tools', 'call_tool']);
    expect(await found(client, 'vouchers')).toEqual(['add_voucher']);
    const again = client.nextNotification('notifications/tools/list_changed');
    voucher?.remove();
    await again;
    expect(await namesOf(client)).toHaveLength(6);
    expect(await found(client, 'vouchers')).toEqual([]);
  });
});
