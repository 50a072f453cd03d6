import { afterEach, describe, expect, it } from '@jest/globals';

import { revisions } from '@decorum/testing';

import { callOf, clientOf, closeAll, found, namesOf } from './clients.js';
import { AUTH, senderTo, STATELESS } from './sender.js';
import { addTools, isStaff, shop } from './shop.js';

afterEach(closeAll);

describe.each(revisions)('a server with many tools, in %s', (revision) => {
  it.each(['memory', 'http'] as const)('lists a few, which find and call the others, over %s', async (via) => {
    const client = await clientOf(shop({ always: ['add_article'], alwaysTags: ['orders'] }), { revision, via });
    expect(await namesOf(client)).toEqual(['search_tools', 'call_tool', 'orders.list', 'add_article']);
    expect(await found(client, 'cancel an order')).toContain('cancelOrder');
    const called = await callOf(client, 'cancelOrder', { order: '7' });
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

  it.each(revisions)('is whole for requests that ask for it in `_meta`, in %s', async (revision) => {
    const client = await clientOf(shop(), { revision });
    const listed = (meta: object) =>
      client.request<{ tools: readonly object[]; cacheScope?: string }>('tools/list', { _meta: meta });
    const all = await listed({ 'dev.decorum/tools': 'all' });
    expect(all.tools).toHaveLength(6);
    expect((await listed({ 'dev.decorum/tools': 'few' })).tools).toHaveLength(2);
    expect((await listed({ 'dev.decorum/tools': ['all'] })).tools).toHaveLength(2);
    expect((await listed({})).tools).toHaveLength(2);
  });

  it.each(revisions)('is whole for requests with the header, in %s', async (revision) => {
    const send = await senderTo(shop());
    const listed = async (headers: Record<string, string>) =>
      (await send('tools/list', {}, { revision, headers })).result;
    expect((await listed({ 'Decorum-Tools': 'All ' }))?.['tools']).toHaveLength(6);
    expect((await listed({ 'Decorum-Tools': 'x' }))?.['tools']).toHaveLength(2);
  });

  it('may be kept only by the client that asked, because requests decide', async () => {
    const send = await senderTo(shop({}, { cache: { ttlMs: 60_000, scope: 'public' } }));
    const { result } = await send('tools/list', {}, { revision: STATELESS });
    expect(result).toMatchObject({ ttlMs: 60_000, cacheScope: 'private' });
  });

  it('is short for those who see many tools, and whole for those who see few', async () => {
    const server = shop({ above: 6 }, { tools: { audit: ['Audits the books', [], { access: isStaff }] } });
    const staff = await clientOf(server, { principal: { subject: 'staff' } });
    expect(await namesOf(staff)).toEqual(['search_tools', 'call_tool']);
    expect(await namesOf(await clientOf(server))).toHaveLength(6);
  });

  it('can be searched by everybody who may list tools, and by nobody else', async () => {
    const open = shop({}, { tools: { hours: ['Tells when the shop is open', [], { public: true }] } });
    const send = await senderTo(open, { auth: AUTH });
    const query = { name: 'search_tools', arguments: { query: 'open' } };
    expect((await send('tools/call', query)).status).toBe(200);
    const closed = await senderTo(shop(), { auth: AUTH });
    expect((await closed('tools/list')).status).toBe(401);
    expect((await closed('tools/call', query)).status).toBe(401);
    expect((await closed('tools/call', query, { token: 'ann' })).status).toBe(200);
  });
});
