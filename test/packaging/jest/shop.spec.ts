import { McpServer, Tool } from '@decorum/core';
import { fetchHandler } from '@decorum/http/fetch';
import { listen } from '@decorum/http';
import { connect } from '@decorum/testing';
import { expect, it } from '@jest/globals';
import { Transform, Type } from 'class-transformer';
import { IsInt, IsString, Min, ValidateNested } from 'class-validator';

class Line {
  @IsString()
  @Transform(({ value }) => String(value).toLowerCase())
  sku!: string;

  @IsInt()
  @Min(1)
  quantity!: number;
}

class Order {
  @ValidateNested({ each: true })
  @Type(() => Line)
  lines!: Line[];
}

class Shop {
  @Tool()
  order({ lines }: Order) {
    return lines.map((line) => `${line instanceof Line} ${line.quantity} ${line.sku}`).join();
  }
}

const server = () => new McpServer({ name: 'shop', version: '1.0.0', providers: [Shop] });

it(`calls a tool with a nested DTO, as ${typeof require === 'function' ? 'CommonJS' : 'an ES module'}`, async () => {
  const client = await connect(server());
  const result = await client.callTool('order', { lines: [{ sku: 'TEA', quantity: 2 }] });
  expect(result.content).toEqual([{ type: 'text', text: 'true 2 tea' }]);
  const refused = await client.callTool('order', { lines: [{ sku: 'TEA', quantity: 0 }] });
  expect(refused.isError).toBe(true);
  await client.close();
});

it('has the other entries too', async () => {
  const answer = await fetchHandler(server())(new Request('http://localhost/mcp', { method: 'PUT' }));
  expect(answer.status).toBe(405);
  const { url, close } = await listen(server(), { port: 0 });
  expect(url).toContain('127.0.0.1');
  await close();
});
