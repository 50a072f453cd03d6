// The work that a check of arguments may cost, at each limit and one beyond.
import { Transform, Type } from 'class-transformer';
import { IsArray, IsOptional, IsString, ValidateBy, ValidateNested } from 'class-validator';
import { describe, expect, it } from '@jest/globals';

import { repairing } from '../src/validation/repair.js';
import type { SchemaSource } from '../src/shape.js';
import { compile } from './fixtures.js';

const TOO_COMPLEX = { ok: false, problems: [{ path: '', expected: 'is too complex to be checked' }] };

describe('References of arguments', () => {
  const times = (count: number) => ({ allOf: Array.from({ length: count }, () => ({ $ref: '#/$defs/number' })) });
  const shapeOf = (each: number, more: number) =>
    compile({
      type: 'object',
      properties: { items: { type: 'array', items: times(each) }, more: times(more) },
      $defs: { number: { type: 'integer' } },
    });
  const args = (count: number) => ({ items: Array.from({ length: count }, () => 1), more: 1 });

  it.each([
    // 400 values, and three around them: 20 for each of them are less than 10,000
    ['10,000', 400, [24, 400]],
    // 1,000 values, and three around them
    ['20 for each value', 1000, [20, 60]],
  ] as const)('are followed up to %s', async (_name, count, [each, more]) => {
    for (const wrap of [(shape: ReturnType<typeof shapeOf>) => shape, repairing]) {
      expect(await wrap(shapeOf(each, more)).check(args(count))).toMatchObject({ ok: true });
      expect(await wrap(shapeOf(each, more + 1)).check(args(count))).toEqual(TOO_COMPLEX);
    }
  });
});

class Custom {
  @IsOptional() @ValidateBy({ name: 'fine', validator: { validate: () => true } }) @IsString() a?: string;
}

class Trimmed {
  @IsOptional() @Transform(({ value }) => String(value).trim()) @IsString() a?: string;
}

class Customs {
  @IsArray() @ValidateNested({ each: true }) @Type(() => Custom) items!: Custom[];
}

class Transforms {
  @IsArray() @ValidateNested({ each: true }) @Type(() => Trimmed) items!: Trimmed[];
}

describe.each([
  ['class-validator', Customs],
  ['class-transformer', Transforms],
])('Objects of arguments for %s', (_library, source: SchemaSource) => {
  it.each([
    ['empty', {}],
    ['short', { a: 'x' }],
  ])('may be 2,000, and one for each 20 characters: %s', async (_name, item) => {
    const { check } = compile(source);
    const args = (count: number) => ({ items: Array.from({ length: count }, () => item) });
    const characters = (count: number) =>
      JSON.stringify(args(0)).length + count * (JSON.stringify(item).length + 1) - 1;
    // the arguments are an object too
    const fits = (count: number) => 1 + count <= 2000 + characters(count) / 20;
    let most = 2000;
    while (fits(most + 1)) most += 1;
    expect(await check(args(most))).toMatchObject({ ok: true });
    expect(await check(args(most + 1))).toEqual(TOO_COMPLEX);
  });
});

describe('Problems of arguments', () => {
  const found = async (schema: object, args: object) => {
    const checked = await compile(schema as SchemaSource).check(args);
    return checked.ok ? 0 : checked.problems.length;
  };

  it('are all listed for up to 2,500 values, and beyond only the first', async () => {
    const schema = { type: 'object', properties: { items: { type: 'array', items: { type: 'string' } } } };
    // the arguments and the list are values too
    const args = (values: number) => ({
      items: Array.from({ length: values - 2 }, (_, index) => (index % 100 === 0 ? 1 : 'x')),
    });
    expect(await found(schema, args(2500))).toBe(25);
    expect(await found(schema, args(2501))).toBe(1);
  });

  it('are all listed for up to 2,500 errors, and beyond only the first', async () => {
    const items = { type: 'array', items: { anyOf: [{ type: 'string' }, { type: 'null' }] } };
    const number = { type: 'number' };
    const schema = { type: 'object', properties: { first: number, second: number, items } };
    // three errors each
    const list = Array.from({ length: 834 }, () => 1);
    expect(await found(schema, { first: 'x', second: 1, items: list })).toBe(50);
    expect(await found(schema, { first: 'x', second: 'x', items: list })).toBe(1);
  });
});
