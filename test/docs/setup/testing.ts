import { type Context, McpServer, NoInput, Tool } from '@decorum/core';
import type { ClusterNodes } from '@decorum/testing/contracts';
import { IsString } from 'class-validator';

import { MemoryCluster } from '../../support/memory-cluster.js';
import { Weather } from './weather.js';

export { describe, expect, it } from '@jest/globals';

export const server = new McpServer({ name: 'weather', version: '1.0.0', providers: [Weather] });

export class Item {
  @IsString() sku!: string;
}

class Seat {
  @IsString() seat!: string;
}

export class Shop {
  constructor(private readonly record: (effect: string) => void) {}

  @Tool()
  async buy({ sku }: Item, ctx: Context) {
    const answer = await ctx.elicit(Seat, { message: 'Which seat?' });
    if (answer.action !== 'accept') return 'Not bought.';
    await ctx.once('pay', () => this.record(`pay ${sku}`));
    return `Bought ${answer.content.seat}.`;
  }
}

class Accounts {
  constructor(private readonly linked: ReadonlySet<string>) {}

  @Tool()
  async balance(_input: NoInput, ctx: Context) {
    const { subject = '' } = ctx.principal ?? {};
    if (!this.linked.has(subject)) {
      await ctx.requireUrl({ message: 'Link it.', url: ({ ticket }) => `https://example.com/?ticket=${ticket}` });
    }
    return 12;
  }
}

export const serverOf = ({ secret, linked }: { secret: string; linked: ReadonlySet<string> }) =>
  new McpServer({ name: 'bank', version: '1.0.0', secret, providers: [new Accounts(linked)] });

export const openNodes = (): ClusterNodes => {
  const cluster = new MemoryCluster();
  return { node: () => cluster.node(), kill: (node) => cluster.kill(node), pass: () => {} };
};
