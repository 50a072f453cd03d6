import { describe, expect, it } from '@jest/globals';
import { type ErrorOrigin, type McpError, McpServer, Tool } from '@decorum/core';
import { connect } from '@decorum/testing';
import { Type } from 'class-transformer';
import { IsInt, IsString, Max, MaxLength, Min, ValidateNested } from 'class-validator';

class Line {
  @IsString() @MaxLength(5) sku!: string;

  @IsInt() @Min(1) @Max(9) qty: number = 1;
}

class Order {
  @IsString() id!: string;

  @ValidateNested({ each: true }) @Type(() => Line) lines!: Line[];
}

class Shop {
  received: unknown;

  @Tool() order(order: Order) {
    this.received = order;
    return order.lines.length;
  }

  @Tool() empty() {
    return 'fine';
  }
}

const serve = (provider: object) => connect(new McpServer({ name: 'test', version: '1', providers: [provider] }));

describe('arguments', () => {
  it('reach the method as instances of the DTOs, with defaults', async () => {
    const shop = new Shop();
    const client = await serve(shop);
    await client.callTool('order', { id: '1', lines: [{ sku: 'a' }] });
    expect(shop.received).toBeInstanceOf(Order);
    expect((shop.received as Order).lines[0]).toBeInstanceOf(Line);
    expect(shop.received).toEqual({ id: '1', lines: [{ sku: 'a', qty: 1 }] });
  });

  it('may be absent for a tool without input, which rejects others', async () => {
    const client = await serve(new Shop());
    expect(await client.request('tools/call', { name: 'empty' })).toMatchObject({ content: [{ text: 'fine' }] });
    expect((await client.callTool('empty', { a: 1 })).isError).toBe(true);
  });
});

describe('an error of a tool', () => {
  it.each<[string, () => unknown]>([
    [
      'is thrown',
      () => {
        throw new Error('secret path /etc/passwd');
      },
    ],
    ['is the reason of a promise', () => Promise.reject(new TypeError('secret'))],
    [
      'is only a text',
      () => {
        throw 'a secret';
      },
    ],
    [
      'is a bigint',
      () => {
        throw 10n;
      },
    ],
    [
      'is circular',
      () => {
        const error: { self?: unknown } = {};
        error.self = error;
        throw error;
      },
    ],
  ])('is masked, with a reference that is logged too, if it %s', async (_how, fail) => {
    const seen: ErrorOrigin[] = [];
    const onError = (_error: unknown, origin: ErrorOrigin) => void seen.push(origin);
    const server = new McpServer({ name: 'test', version: '1', logger: { warn() {}, error() {} }, onError });
    server.addTool({ name: 'fail' }, fail);
    const result = await (await connect(server)).callTool('fail');
    const content = [
      { type: 'text', text: expect.stringMatching(`^Internal error \\(reference ${seen[0]?.reference}\\)$`) },
    ];
    expect(result).toEqual({ isError: true, content });
    expect(seen).toMatchObject([{ method: 'tools/call', reference: expect.stringMatching(/./) }]);
  });

  it('is a protocol error for an unknown tool, with at most 200 characters of its name', async () => {
    const client = await serve(new Shop());
    const error = await client.callTool('x'.repeat(90_000)).catch((e: unknown) => e as McpError);
    expect(error).toMatchObject({ code: -32602 });
    expect((error as McpError).message.length).toBeLessThan(300);
  });
});

describe('tools that are functions', () => {
  it('are added and removed at run time', async () => {
    const server = new McpServer({ name: 'test', version: '1', providers: [Shop] });
    const registration = server.addTool({ name: 'double', input: Line }, ({ qty }: Line) => qty * 2);
    const client = await connect(server);
    expect((await client.callTool('double', { sku: 'a', qty: 4 })).content).toEqual([{ type: 'text', text: '8' }]);
    registration.remove();
    await expect(client.callTool('double', { sku: 'a' })).rejects.toMatchObject({ code: -32602 });
  });

  it('get the context, and no arguments if they have no input', async () => {
    const server = new McpServer({ name: 'test', version: '1' });
    server.addTool({ name: 'who' }, (_input, ctx) => ctx.principal?.subject ?? 'nobody');
    server.addTool({ name: 'typed', output: Line }, (_input, ctx) => ({
      sku: ctx.principal?.subject ?? '',
      qty: 1,
    }));
    const client = await connect(server, { principal: { subject: 'ada' } });
    const inputSchema = { type: 'object', properties: {}, additionalProperties: false };
    expect(await client.listTools()).toMatchObject([{ inputSchema }, { inputSchema }]);
    expect((await client.callTool('who')).content).toEqual([{ type: 'text', text: 'ada' }]);
    expect((await client.callTool('typed')).structuredContent).toEqual({ sku: 'ada', qty: 1 });
    expect((await client.callTool('who', { a: 1 })).isError).toBe(true);
  });
});
