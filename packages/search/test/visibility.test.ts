// What a search tells its caller: only of what lists show to this caller.
import { afterEach, describe, expect, it } from '@jest/globals';

import { type Context, McpServer, NoInput } from '@decorum/core';
import { definePlugin } from '@decorum/core/plugin';
import { search } from '@decorum/search';
import { revisions } from '@decorum/testing';

import { callOf, clientOf, closeAll, found, namesOf, textOf } from './clients.js';
import { AUTH, senderTo } from './sender.js';
import { isStaff, shop } from './shop.js';

afterEach(closeAll);

const STAFF = { principal: { subject: 'staff' } };

describe.each(revisions)('a tool that a caller may not see, in %s', (revision) => {
  it('is not found, and unknown when it is called', async () => {
    const server = shop({}, { tools: { audit_books: ['Audits the books', [], { access: isStaff }] } });
    const client = await clientOf(server, { revision });
    const staff = await clientOf(server, { revision, ...STAFF });
    expect(await found(client, 'audit the books')).not.toContain('audit_books');
    expect(await found(client, 'audit_books')).not.toContain('audit_books');
    expect((await found(staff, 'audit the books'))[0]).toBe('audit_books');
    await expect(callOf(client, 'audit_books', {})).rejects.toThrow('Unknown tool: audit_books');
    expect(textOf(await callOf(staff, 'audit_books', {}))).toBe('audit_books {}');
  });
});

describe('a search', () => {
  it('says the same to a caller whatever tools are hidden from the caller', async () => {
    const hidden = Array.from({ length: 40 }, (_, index) => [
      `cancel_${index}`,
      ['Cancels an order of a parcel', ['order', 'parcel'], { access: isStaff }] as const,
    ]);
    const plain = await clientOf(shop());
    const other = await clientOf(shop({}, { tools: Object.fromEntries(hidden) as never }));
    for (const query of ['cancel', 'parcel', 'order of a customer', 'article', 'cancl', 'cancel_7', 'zzz']) {
      const asked = { query, limit: 20 };
      const result = await plain.callTool('search_tools', asked);
      expect(await other.callTool('search_tools', asked)).toEqual(result);
    }
  });

  it('leaves out what the caller lacks scopes for, if lists do', async () => {
    const tools = { refund: ['Refunds an order', [], { scopes: ['refunds'] }] } as const;
    const query = { name: 'search_tools', arguments: { query: 'refund' } };
    const usable = await senderTo(shop({}, { tools, listing: 'usable' }), { auth: AUTH });
    const all = await senderTo(shop({}, { tools }), { auth: AUTH });
    const has = expect.objectContaining({ name: 'refund' }) as unknown;
    const answered = (tokens: unknown) => ({ result: { structuredContent: { tools: tokens } } });
    expect(await usable('tools/call', query, { token: 'ann' })).not.toMatchObject(
      answered(expect.arrayContaining([has])),
    );
    expect(await usable('tools/call', query, { token: 'ann refunds' })).toMatchObject(
      answered(expect.arrayContaining([has])),
    );
    // clients can ask for more scopes only if they see what needs them
    expect(await all('tools/call', query, { token: 'ann' })).toMatchObject(answered(expect.arrayContaining([has])));
  });

  it('follows the tags that a session hides and shows', async () => {
    const server = shop({}, { hiddenTags: ['orders'] });
    server.addTool({ name: 'open_orders', input: NoInput }, async (_input, ctx: Context) => {
      await ctx.visibility.show('orders');
    });
    const client = await clientOf(server, { revision: '2025-11-25' });
    expect(await found(client, 'list orders')).not.toContain('orders.list');
    await expect(callOf(client, 'orders.list', { customer: 'Ann' })).rejects.toThrow('Unknown tool');
    await callOf(client, 'open_orders', {});
    expect(await found(client, 'list orders')).toContain('orders.list');
    expect(textOf(await callOf(client, 'orders.list', { customer: 'Ann' }))).toContain('Ann');
  });

  it('leaves out what an extension keeps from the client, and has the entries that the list would have', async () => {
    const variants = definePlugin(() => ({
      name: 'variants',
      extensions: [
        {
          id: 'com.example/variants',
          toolOptions: { variant: 'boolean' as const },
          tool: (entry: object, _options: object, { declared }: { readonly declared: boolean }) =>
            declared ? { ...entry, title: 'A variant' } : undefined,
        },
      ],
    }));
    const server = new McpServer({
      name: 'shop',
      version: '1.0.0',
      plugins: [search({ above: 0 }), variants()],
      logger: { warn() {}, error() {} },
    });
    server.addTool({ name: 'special', input: NoInput, variant: true } as never, () => 'special');
    const plain = await clientOf(server);
    expect(await found(plain, 'special')).toEqual([]);
    const extensions = { 'com.example/variants': {} };
    const declared = await clientOf(server, { capabilities: { extensions } as never });
    const { structuredContent } = await declared.callTool('search_tools', { query: 'special' });
    expect(structuredContent).toMatchObject({ tools: [{ name: 'special', title: 'A variant' }] });
  });

  it('returns what the list would say of a tool, and nothing that models do not need', async () => {
    const client = await clientOf(shop({ above: 100 }));
    const listed = (await client.listTools()).find(({ name }) => name === 'track_parcel');
    const { structuredContent } = await client.callTool('search_tools', { query: 'track parcel', limit: 1 });
    expect(structuredContent).toEqual({ tools: [listed] });
    expect(await namesOf(client)).toHaveLength(6);
  });
});

describe('the two tools', () => {
  it('replace no list for those from whom a plugin hides one of them', async () => {
    const open = definePlugin((hidden: string) => ({
      name: 'open',
      access: ({ name }: { readonly name: string }) => name !== hidden && name !== 'track_parcel',
    }));
    for (const hidden of ['search_tools', 'call_tool']) {
      const client = await clientOf(shop({}, { plugins: [search({ above: 3 }), open(hidden)] }));
      const names = await namesOf(client);
      expect(names).toEqual(['create_order', 'cancelOrder', 'orders.list', 'add_article', 'remove_article']);
    }
  });

  it('are there for callers without credentials who find public tools, if lists have only what callers may use', async () => {
    const tools = Object.fromEntries(
      Array.from({ length: 5 }, (_, at) => [`help_${at}`, ['Helps', [], { public: true }] as const]),
    );
    const send = await senderTo(shop({}, { tools, listing: 'usable' }), { auth: AUTH });
    const { result } = await send('tools/list');
    expect(result).toMatchObject({ tools: [{ name: 'search_tools' }, { name: 'call_tool' }] });
    const query = { name: 'search_tools', arguments: { query: 'help order', limit: 20 } };
    const { result: searched = {} } = await send('tools/call', query);
    const { tools: names } = searched['structuredContent'] as { tools: readonly { readonly name: string }[] };
    expect(names.map(({ name }) => name)).toEqual(Object.keys(tools));
  });
});
