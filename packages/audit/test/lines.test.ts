import { audit } from '@decorum/audit';
import { McpServer, Tool } from '@decorum/core';
import { connect, revisions } from '@decorum/testing';
import { describe, expect, it } from '@jest/globals';
import { IsString } from 'class-validator';

const KEY = 'a secret of the tests, long enough';

class Order {
  @IsString() sku!: string;
}

class Shop {
  @Tool() buy({ sku }: Order) {
    return `Bought ${sku}`;
  }
}

function shop(lines: string[]) {
  const write = (line: string) => void lines.push(line);
  return new McpServer({
    name: 'shop',
    version: '1.0.0',
    providers: [Shop],
    plugins: [audit({ write, key: KEY })],
  });
}

describe.each(revisions)('an audited call, in %s', (revision) => {
  it('is one line, which has a digest in place of the arguments', async () => {
    const lines: string[] = [];
    const client = await connect(shop(lines), { revision });
    await client.callTool('buy', { sku: 'a very private sku' });
    await client.listTools();
    await client.close();
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      {
        at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        caller: { transport: 'memory' },
        member: { kind: 'tool', name: 'buy' },
        args: expect.stringMatching(/^[\w-]{43}$/),
        outcome: 'ok',
        cause: null,
        ref: null,
        mac: expect.stringMatching(/^[\w-]{43}$/),
      },
    ]);
    expect(lines.join('')).not.toContain('private');
  });
});
