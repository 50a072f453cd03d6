import { describe, expect, it } from '@jest/globals';
import { McpServer, NoInput, type SchemaSource, toolResult } from '@decorum/core';
import { connect } from '@decorum/testing';
import { Type } from 'class-transformer';
import { IsDate, IsOptional, IsString, ValidateNested } from 'class-validator';
import { z } from 'zod';

class Address {
  @IsString() city!: string;
}

class Person {
  @IsString() name!: string;
  @IsDate() @Type(() => Date) born!: Date;
  @ValidateNested() @Type(() => Address) home!: Address;
  @ValidateNested({ each: true }) @Type(() => Person) @IsOptional() children?: Person[];
}

const born = '1815-12-10T00:00:00.000Z';
const ROW = {
  id: 7,
  name: 'Ada',
  born: new Date(born),
  home: { city: 'London', geo: 'secret' },
  children: [{ name: 'Byron', born: new Date(born), home: { city: 'Paris', geo: 'secret' }, password: 'secret' }],
  password: 'secret',
};
const KEPT = {
  name: 'Ada',
  born,
  home: { city: 'London' },
  children: [{ name: 'Byron', born, home: { city: 'Paris' } }],
};

/** What a tool with this output sends for a value, and what its author reads. */
async function send(output: SchemaSource, value: unknown, extraOutput?: 'drop' | 'reject') {
  const reported: string[] = [];
  const server = new McpServer({
    name: 'test',
    version: '1',
    logger: { warn: () => {}, error: () => {} },
    onError: (error) => reported.push((error as Error).message),
  });
  server.addTool({ name: 'find', input: NoInput, output, ...(extraOutput && { extraOutput }) }, () => value as never);
  const { structuredContent, isError } = await (await connect(server)).callTool('find');
  return { structuredContent, isError, reported };
}

const closed = (properties: object) => ({ type: 'object', properties, additionalProperties: false });

describe("a tool with `extraOutput: 'drop'`", () => {
  it('leaves out the fields that its DTO does not have, at every level (#23)', async () => {
    expect(await send(Person, ROW, 'drop')).toEqual({ structuredContent: KEPT, isError: undefined, reported: [] });
    const instance = Object.assign(new Person(), ROW);
    expect((await send(Person, instance, 'drop')).structuredContent).toEqual(KEPT);
    expect((await send(Person, toolResult({ structuredContent: ROW }), 'drop')).structuredContent).toEqual(KEPT);
  });

  it('does not change the value that the handler returned (#23)', async () => {
    const row = structuredClone(ROW);
    await send(Person, row, 'drop');
    expect(row).toEqual(ROW);
  });

  it('leaves them out for strict Standard Schemas, too (#23)', async () => {
    const strict = z.strictObject({ name: z.string(), tags: z.array(z.strictObject({ id: z.int() })) });
    const row = { id: 1, name: 'Ada', tags: [{ id: 1, by: 'me' }] };
    expect(await send(strict, row, 'drop')).toMatchObject({ structuredContent: { name: 'Ada', tags: [{ id: 1 }] } });
    expect(await send(strict, row)).toMatchObject({ isError: true });
  });

  it.each([
    [
      'follows references',
      { ...closed({ next: { $ref: '#' } }) },
      { next: { next: {}, b: 1 } },
      { next: { next: {} } },
    ],
    [
      'keeps what an alternative has',
      { type: 'object', anyOf: [closed({ a: {} }), closed({ b: {} }), { type: 'null' }] },
      { b: 1, c: 2 },
      { b: 1 },
    ],
    [
      'keeps what the schema leaves open',
      { type: 'object', properties: { open: { type: 'object' }, any: {} } },
      { open: { a: 1 }, any: { b: [{ c: 1 }] }, d: 1 },
      { open: { a: 1 }, any: { b: [{ c: 1 }] }, d: 1 },
    ],
    [
      'goes into records',
      { type: 'object', additionalProperties: closed({ a: {} }) },
      { x: { a: 1, b: 1 }, constructor: { b: 1 } },
      { x: { a: 1 }, constructor: {} },
    ],
    [
      'goes into tuples',
      { ...closed({ list: { type: 'array', prefixItems: [closed({ a: {} })], items: closed({ b: {} }) } }) },
      {
        list: [
          { a: 1, b: 1 },
          { a: 1, b: 1 },
        ],
      },
      { list: [{ a: 1 }, { b: 1 }] },
    ],
    [
      'keeps fields that match a pattern',
      { type: 'object', patternProperties: { '^x-': {} }, properties: { a: {} } },
      { a: 1, 'x-b': 1 },
      { a: 1, 'x-b': 1 },
    ],
  ])('%s (#23)', async (_, output, value, sent) => {
    expect(await send(output, value, 'drop')).toEqual({ structuredContent: sent, isError: undefined, reported: [] });
  });

  it('still rejects values that do not fit (#23)', async () => {
    const { isError, reported } = await send(Person, { ...ROW, name: 7 }, 'drop');
    expect([isError, reported[0]]).toEqual([true, expect.stringContaining('name must be a string')]);
  });
});

describe('a tool without `extraOutput`', () => {
  it.each([undefined, 'reject'] as const)(
    'tells its author the paths of extra fields, and the option that drops them: %s (#23)',
    async (extraOutput) => {
      const { isError, reported } = await send(Person, ROW, extraOutput);
      expect([isError, reported]).toEqual([
        true,
        [expect.stringMatching(/home\.geo is not a known field.*set `extraOutput: 'drop'`/)],
      ]);
    },
  );
});
