// `mount`: what a server serves of another one, and what the other one keeps deciding.
import {
  Completion,
  type Context,
  embedded,
  link,
  McpServer,
  mount,
  NoInput,
  Prompt,
  Resource,
  Tool,
} from '@decorum/core';
import { connect, revisions } from '@decorum/testing';
import { describe, expect, it } from '@jest/globals';
import { IsString } from 'class-validator';

import { SILENT, textOf } from './serving.js';

class Payment {
  @IsString() invoice!: string;
}

class NoteId {
  @IsString() id!: string;
}

class Invoices {
  static log: string[] = [];

  onStart() {
    Invoices.log.push('start');
  }
  onClose() {
    Invoices.log.push('close');
  }

  @Tool({ description: 'Pays an invoice' }) pay({ invoice }: Payment) {
    return `paid ${invoice}`;
  }
  @Tool({ description: 'Links to notes' }) links() {
    return [
      link('notes://7', { name: 'seven' }),
      embedded({ uri: 'notes://7', data: 'text' }),
      link('https://example.com/', { name: 'web' }),
    ];
  }
  @Tool({ description: 'Asks' }) async ask(_input: NoInput, ctx: Context) {
    return (await ctx.confirm('Pay?')) ? 'yes' : 'no';
  }
  @Resource('notes://{id}', { list: 'all' }) note({ id }: NoteId) {
    if (id === 'none') return undefined;
    return `note ${id}`;
  }
  all() {
    return ['notes://7'];
  }
  @Prompt() remind({ id }: NoteId) {
    return [`Pay ${id}`, embedded({ uri: 'notes://7', data: 'text' })];
  }
  @Completion({ for: ['remind', 'note'], argument: 'id' }) ids(typed: string) {
    return ['7', '70', '8'].filter((id) => id.startsWith(typed));
  }
}

const billingOf = (options: object = {}) =>
  new McpServer({ name: 'billing', version: '1', providers: [Invoices], logger: SILENT, ...options });
const shopOf = (...providers: object[]) => new McpServer({ name: 'shop', version: '1', providers, logger: SILENT });

describe.each(revisions)('A mounted server, in %s,', (revision) => {
  it('is served under a prefix, with its URIs in a segment', async () => {
    const shop = shopOf(mount(billingOf(), { prefix: 'billing' }));
    await using client = await connect(shop, { revision, via: 'http' });
    expect((await client.listTools()).map(({ name }) => name)).toEqual(['billing_pay', 'billing_links', 'billing_ask']);
    expect(textOf(await client.callTool('billing_pay', { invoice: '7' }))).toBe('paid 7');
    const blocks = (await client.callTool('billing_links')).content as readonly {
      uri?: string;
      resource?: { uri: string };
    }[];
    const uris = blocks.map(({ uri, resource }) => uri ?? resource?.uri).filter((uri) => uri !== undefined);
    expect(uris).toEqual(['notes://billing/7', 'notes://billing/7', 'https://example.com/'].slice(0, uris.length));
    expect((await client.listResourceTemplates()).map((each) => each.uriTemplate)).toEqual(['notes://billing/{id}']);
    expect((await client.listResources()).map(({ uri }) => uri)).toEqual(['notes://billing/7']);
    const { contents } = await client.readResource('notes://billing/8');
    expect(contents).toEqual([expect.objectContaining({ uri: 'notes://billing/8', text: 'note 8' })]);
    await expect(client.readResource('notes://billing/none')).rejects.toMatchObject({
      data: { uri: 'notes://billing/none' },
    });
    const { messages } = await client.getPrompt('billing_remind', { id: '7' });
    expect(messages[1]).toMatchObject({ content: { resource: { uri: 'notes://billing/7' } } });
    await shop.close();
  });
});
