import { describe, expect, it } from '@jest/globals';
import {
  type CallToolResult,
  Completion,
  type CompletionContext,
  McpHeader,
  McpServer,
  Prompt,
  Resource,
  Tool,
  type Transform,
} from '@decorum/core';
import type { AddedMember } from '@decorum/core/plugin';
import { connect, revisions } from '@decorum/testing';
import { IsInt, IsOptional, IsString } from 'class-validator';

import { said } from '../kernel/serving.js';

class Payment {
  @IsString() invoice!: string;
  @IsString() @McpHeader('Currency') currency!: string;
  @IsInt() @IsOptional() amount?: number;
}

class Reminder {
  @IsString() tenant!: string;
  @IsString() tone!: string;
}

class Note {
  @IsString() tenant!: string;
  @IsString() id!: string;
}

class Billing {
  @Tool({ description: 'Pays', annotations: { readOnlyHint: false, openWorldHint: true } })
  pay({ invoice, currency }: Payment) {
    return `${invoice} in ${currency}`;
  }

  @Tool() refund() {
    return 'refunded';
  }

  @Prompt() remind({ tenant, tone }: Reminder) {
    return `${tenant}: ${tone}`;
  }

  @Resource('notes://{tenant}/{id}', { list: 'all' }) note({ tenant, id }: Note) {
    return `${tenant}/${id}`;
  }

  @Resource('notes://terms', { cache: { ttlMs: 1000, scope: 'public' } }) terms() {
    return 'No returns.';
  }

  all() {
    return ['notes://acme/1', 'notes://other/2'];
  }

  @Completion({ for: 'note', argument: 'id' }) ids(typed: string, { args }: CompletionContext) {
    return [`${String(args['tenant'])}-${typed}`];
  }

  @Completion({ for: 'note', argument: 'tenant' }) tenants() {
    return ['acme', 'other'];
  }

  @Completion({ for: 'remind', argument: 'tone' }) tones() {
    return ['kind'];
  }
}

const TRANSFORM: Transform = {
  pay: {
    name: 'pay_invoice',
    title: 'Pay',
    description: 'Pays an invoice in euros',
    annotations: { openWorldHint: false },
    fix: { currency: 'EUR' },
    result: (result: CallToolResult, ctx) => ({ ...result, _meta: { by: ctx.transport.kind } }),
  },
  refund: false,
  remind: { name: 'nudge', fix: { tenant: 'acme' } },
  'notes://{tenant}/{id}': { title: 'A note', fix: { tenant: 'acme' } },
  'notes://terms': { result: () => ({ contents: [{ uri: 'notes://terms', text: 'Returns!' }] }) },
};

const serverOf = (transform: Transform, options: object = {}) =>
  new McpServer({ name: 'shop', version: '1', providers: [{ provider: Billing, transform, ...options }] });

const VIAS = ['memory', 'stdio', 'http'] as const;
const WAYS = revisions.map((revision, index) => ({ revision, via: VIAS[index % 3] ?? 'memory' }));

describe.each(WAYS)('a transformed provider, in $revision over $via', ({ revision, via }) => {
  it('is listed and called as changed', async () => {
    const client = await connect(serverOf(TRANSFORM, { prefix: 'b_' }), { revision, via });
    const [tool, ...others] = await client.listTools();
    expect(others).toEqual([]);
    expect(tool).toMatchObject({ name: 'b_pay_invoice', description: 'Pays an invoice in euros' });
    expect(tool?.inputSchema).toMatchObject({ required: ['invoice'] });
    expect(Object.keys(tool?.inputSchema['properties'] as object)).toEqual(['invoice', 'amount']);
    const paid = await client.callTool('b_pay_invoice', { invoice: 'i-1', currency: 'USD' });
    expect(paid).toMatchObject({ content: said('i-1 in EUR'), _meta: { by: via } });
    expect(await client.callTool('b_pay_invoice', {})).toMatchObject({ isError: true });
    for (const name of ['b_pay', 'b_refund']) await expect(client.callTool(name)).rejects.toThrow('Unknown tool');
    expect(await client.listPrompts()).toMatchObject([{ name: 'b_nudge', arguments: [{ name: 'tone' }] }]);
    const { messages } = await client.getPrompt('b_nudge', { tone: 'firm', tenant: 'other' });
    expect(messages[0]?.content).toMatchObject({ text: 'acme: firm' });
    await client.close();
  });

  it('has templates without their fixed variables', async () => {
    const client = await connect(serverOf(TRANSFORM), { revision, via });
    expect(await client.listResourceTemplates()).toMatchObject([{ uriTemplate: 'notes://acme/{id}' }]);
    expect((await client.listResources()).map(({ uri }) => uri)).toEqual(['notes://terms', 'notes://acme/1']);
    expect(await client.readResource('notes://acme/7')).toMatchObject({
      contents: [{ uri: 'notes://acme/7', text: 'acme/7' }],
    });
    await expect(client.readResource('notes://other/7')).rejects.toThrow('Resource not found');
    expect(await client.readResource('notes://terms')).toMatchObject({ contents: [{ text: 'Returns!' }] });
    const complete = async (ref: object, name: string) =>
      (await client.request('completion/complete', { ref, argument: { name, value: 'x' } }))['completion'];
    const ref = { type: 'ref/resource', uri: 'notes://acme/{id}' };
    expect(await complete(ref, 'id')).toEqual({ values: ['acme-x'] });
    expect(await complete(ref, 'tenant')).toEqual({ values: [] });
    expect(await complete({ type: 'ref/prompt', name: 'nudge' }, 'tone')).toEqual({ values: ['kind'] });
    await client.close();
  });
});

describe('a transform', () => {
  const NEWEST = { era: 'stateless' } as const;

  it('keeps the other annotations, and no mirrored header of a fixed argument', async () => {
    const client = await connect(serverOf(TRANSFORM), NEWEST);
    const [tool] = await client.listTools();
    expect(tool?.annotations).toEqual({ readOnlyHint: false, openWorldHint: false });
    expect(JSON.stringify(tool)).not.toContain('x-mcp-header');
    const over = await connect(serverOf(TRANSFORM), { ...NEWEST, via: 'http' });
    expect(await over.callTool('pay_invoice', { invoice: 'i' })).toMatchObject({ content: said('i in EUR') });
  });

  it('makes a cached resource private if its result depends on the caller', async () => {
    const client = await connect(serverOf(TRANSFORM), NEWEST);
    const read = async (uri: string) => await client.request('resources/read', { uri });
    expect(await read('notes://terms')).toMatchObject({ ttlMs: 1000, cacheScope: 'private' });
    const plain = await connect(serverOf({}), NEWEST);
    expect(await plain.request('resources/read', { uri: 'notes://terms' })).toMatchObject({ cacheScope: 'public' });
  });

  it('adds access, scopes and tags to those of the member', async () => {
    const server = serverOf({
      pay: { access: (principal) => principal?.subject === 'ada' },
      refund: { scopes: ['refunds'], tags: ['money'] },
    });
    const names = async (subject: string) =>
      (await (await connect(server, { principal: { subject, scopes: [] } })).listTools()).map(({ name }) => name);
    expect([await names('ada'), await names('bob')]).toEqual([['pay', 'refund'], ['refund']]);
    const client = await connect(server, { principal: { subject: 'bob', scopes: [] } });
    await expect(client.callTool('refund')).rejects.toThrow('lacks scopes');
    await expect(client.callTool('pay', { invoice: 'i', currency: 'EUR' })).rejects.toThrow('Unknown tool');
  });

  it('may be a function that decides about each member', async () => {
    const seen: string[] = [];
    const client = await connect(
      serverOf(
        ({ kind, name, entry }) => {
          seen.push(`${kind} ${name}`);
          return kind === 'tool' ? entry.description !== undefined && { name: name.toUpperCase() } : undefined;
        },
        { uriPrefix: 'eu+' },
      ),
    );
    expect((await client.listTools()).map(({ name }) => name)).toEqual(['PAY']);
    expect(seen.toSorted()).toEqual([
      'prompt remind',
      'resource notes://terms',
      'template notes://{tenant}/{id}',
      'tool pay',
      'tool refund',
    ]);
  });

  it('makes a resource of a template without further variables', async () => {
    const server = new McpServer({ name: 'shop', version: '1' });
    server.addMembers(
      [{ kind: 'resource', key: 'note', entry: { name: 'note', uriTemplate: 'notes://{tenant}{?q,r}' } }],
      { note: (uri: string) => ({ contents: [{ uri, text: uri }] }) },
      { transform: { 'notes://{tenant}{?q,r}': { fix: { tenant: 'acme', q: 'a', r: 'b' } } }, uriPrefix: 'n' },
    );
    const client = await connect(server);
    expect(await client.listResources()).toMatchObject([{ uri: 'notes://n/acme?q=a&r=b', name: 'note' }]);
    expect(await client.readResource('notes://n/acme?q=a&r=b')).toMatchObject({
      contents: [{ text: 'notes://acme?q=a&r=b' }],
    });
  });

  it('changes members of other servers, also behind a root reference', async () => {
    const inputSchema = {
      type: 'object',
      $ref: '#/$defs/Pay',
      $defs: { Pay: { type: 'object', properties: { a: { type: 'integer' }, b: {} }, required: ['a', 'b'] } },
    };
    const server = new McpServer({ name: 'shop', version: '1' });
    const records: AddedMember[] = [
      { kind: 'tool', key: 'pay', entry: { name: 'pay', inputSchema, outputSchema: { type: 'object' } } },
    ];
    server.addMembers(
      records,
      { pay: (args: object) => ({ content: [], structuredContent: args }) },
      {
        prefix: 'p',
        transform: {
          pay: {
            name: 'x',
            fix: { a: 1 },
            outputSchema: false,
            result: (result: CallToolResult) => ({
              content: said(JSON.stringify(result.structuredContent)) as CallToolResult['content'],
            }),
          },
        },
      },
    );
    const client = await connect(server);
    const [tool] = await client.listTools();
    expect(tool).toEqual({
      name: 'p_x',
      inputSchema: { type: 'object', properties: { b: {} }, required: ['b'], $defs: inputSchema.$defs },
    });
    expect(await client.callTool('p_x', { a: 2, b: 3 })).toMatchObject({ content: said('{"a":1,"b":3}') });
  });

  it('masks what is wrong with the result of its function', async () => {
    const errors: unknown[] = [];
    const server = new McpServer({
      name: 'shop',
      version: '1',
      onError: (error) => errors.push((error as Error).message),
      logger: { warn() {}, error() {} },
      providers: [{ provider: Billing, transform: { refund: { result: (() => 'text') as never } } }],
    });
    const client = await connect(server);
    expect(await client.callTool('refund')).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('Internal error') }],
    });
    expect(errors).toEqual([
      expect.stringContaining('Billing.refund (transform): `result` did not return the result of a tool'),
    ]);
  });
});
