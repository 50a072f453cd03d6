// Tools that show a plan first, and run once for each key.
import { type Context, McpServer, Tool } from '@decorum/core';
import { connect, revisions } from '@decorum/testing';
import { IsString } from 'class-validator';
import { describe, expect, it } from '@jest/globals';

import { KEY, said } from './till.js';

class Search {
  @IsString() text!: string;
}

class Shelf {
  readonly pruned: string[] = [];
  @Tool({ preview: 'plan', idempotent: '1h' }) prune(_search: Search, ctx: Context<string[]>) {
    return `pruned ${this.pruned.push(...ctx.plan)}`;
  }
  @Tool({ preview: 'plan', idempotent: { ttl: '1h', key: 'arguments' } }) clear(
    _search: Search,
    ctx: Context<string[]>,
  ) {
    return `pruned ${this.pruned.push(...ctx.plan)}`;
  }
  plan({ text }: Search) {
    return [text];
  }
}

describe('a tool with a preview and keys', () => {
  it.each(revisions)('records no plan, and repeats what came of its ticket, in %s', async (revision) => {
    const shelf = new Shelf();
    const client = await connect(new McpServer({ name: 'shelf', version: '1', providers: [shelf] }), { revision });
    for (const [name, meta] of [
      ['prune', { [KEY]: 'a' }],
      ['clear', {}],
    ] as const) {
      shelf.pruned.length = 0;
      const call = async (ticket?: string) =>
        await client.callTool(name, { text: 'old', ...(ticket !== undefined && { ticket }) }, { meta });
      const [first, second] = [await call(), await call()];
      const tickets = [first, second].map(({ content }) => /ticket: (\w+)"/.exec(JSON.stringify(content))?.[1]);
      expect(new Set(tickets).size).toBe(2);
      expect(await said(call('x'.repeat(22)))).toMatch(/^error: /);
      expect(await said(call(tickets[0]))).toBe('pruned 1');
      // its ticket is used
      expect(await said(call(tickets[0]))).toBe('pruned 1');
      expect(await said(call())).toBe('pruned 1');
      expect(shelf.pruned).toEqual(['old']);
    }
  });
});
