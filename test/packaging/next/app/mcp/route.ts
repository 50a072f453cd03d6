import { McpServer, Tool } from '@decorum/core';
import { fetchHandler } from '@decorum/http/fetch';
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

const handler = fetchHandler(new McpServer({ name: 'shop', version: '1.0.0', providers: [Shop] }), {
  limits: { bodyLimit: 1_500_000 },
});

export { handler as DELETE, handler as GET, handler as POST };
