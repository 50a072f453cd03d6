import { expect, it } from '@jest/globals';
import { MinLength } from 'class-validator';
import { McpServer, Tool } from '@decorum/core';
import { connect } from '@decorum/testing';
import { z } from 'zod';

/** The shape of the classes that `createZodDto` of nestjs-zod returns. */
class CityDto {
  static readonly isZodDto = true;
  static readonly schema = z.object({ city: z.string().trim().min(2) });
  city!: string;
}

class NamedDto {
  static readonly schema = 'public';
  @MinLength(2) name!: string;
}

class Cities {
  @Tool() find(input: CityDto): string {
    return `<${input.city}>`;
  }
  @Tool() named(input: NamedDto): string {
    return input.name;
  }
}

const open = () => connect(new McpServer({ name: 'cities', version: '1.0.0', providers: [Cities] }));

it('a class with a Standard Schema as its static `schema` is checked and parsed by it (#23)', async () => {
  await using client = await open();
  const result = await client.callTool('find', { city: ' Oslo ' });
  expect(result.content).toEqual([{ type: 'text', text: '<Oslo>' }]);
});

it('a DTO class whose static `schema` is something else keeps its own rules (#23)', async () => {
  await using client = await open();
  const tools = await client.listTools();
  expect(tools.find(({ name }) => name === 'named')?.inputSchema).toMatchObject({
    properties: { name: { type: 'string', minLength: 2 } },
  });
});
