import { McpServer, Tool } from '@decorum/core';
import { connect } from '@decorum/testing';
import { Transform, Type } from 'class-transformer';
import { IsInt, IsString, Min, ValidateNested } from 'class-validator';
import { expect, it } from 'vitest';

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

it('calls a tool with a nested DTO', async () => {
  const client = await connect(server());
  const result = await client.callTool('order', { lines: [{ sku: 'TEA', quantity: 2 }] });
  expect(result.content).toEqual([{ type: 'text', text: 'true 2 tea' }]);
  const refused = await client.callTool('order', { lines: [{ sku: 'TEA', quantity: 0 }] });
  expect(refused.isError).toBe(true);
  await client.close();
});
