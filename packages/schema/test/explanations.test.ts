import { Type } from 'class-transformer';
import { ArrayMaxSize, IsArray, IsIn, IsOptional, IsString, NotEquals, ValidateNested } from 'class-validator';
import { describe, expect, it, jest } from '@jest/globals';

import { repairing } from '../src/validation/repair.js';
import type { SchemaSource } from '../src/shape.js';
import { cpuMs } from '../../../test/support/cpu.js';
import { compile } from './fixtures.js';

class Leaf {
  @IsOptional() @IsString() @NotEquals('x') a?: string;
  @IsOptional() @IsString() @NotEquals('x') b?: string;
}

class Leaves {
  @IsArray() @ValidateNested({ each: true }) @Type(() => Leaf) items!: Leaf[];
}

const MANY = Array.from({ length: 250 }, (_, n) => `choice ${n}`);

class Choices {
  @IsArray() @IsIn(MANY, { each: true }) items!: string[];
}

const union = { anyOf: [{ type: 'string' }, { type: 'object', required: ['a'] }, { type: 'null' }] };
const nestedUnion = {
  type: 'object',
  properties: { items: { type: 'array', items: { anyOf: [union, { type: 'array', items: union }] } } },
};

const variants = (count: number, inner: object) => ({
  anyOf: Array.from({ length: count }, (_, n) => ({
    type: 'object',
    properties: { kind: { const: n }, inner },
    required: ['kind', 'value'],
  })),
});
const unionsInUnions = {
  type: 'object',
  properties: { items: { type: 'array', items: variants(8, variants(5, variants(3, {}))) } },
};
const unknownVariant = { kind: -1, inner: { kind: -1, inner: {} } };

const CASES: readonly (readonly [title: string, source: SchemaSource, args: object])[] = [
  ['a list of unions', nestedUnion, { items: Array.from({ length: 3000 }, () => [1]) }],
  ['a list of lists of unions', nestedUnion, { items: [Array.from({ length: 9000 }, () => 1)] }],
  ['a list of unions of unions', unionsInUnions, { items: Array.from({ length: 450 }, () => unknownVariant) }],
  ['optional fields with rules', Leaves, { items: Array.from({ length: 3000 }, () => ({ a: 'x', b: 1 })) }],
  ['unknown fields', Leaves, { items: Array.from({ length: 3000 }, (_, n) => ({ [`c${n}`]: 1 })) }],
  ['a long list of choices', Choices, { items: Array.from({ length: 9000 }, () => 'x') }],
];

describe('Explaining wrong arguments', () => {
  it.each(CASES)('costs a bounded amount of work for %s', (_title, source, args) => {
    const { check } = compile(source);
    // compiles
    void check({ items: [[1], 'x'] });
    const started = cpuMs();
    const checked = check(args) as { readonly ok: boolean; readonly problems: readonly unknown[] };
    const spent = cpuMs() - started;
    expect(checked.ok).toBe(false);
    expect(checked.problems.length).toBeLessThanOrEqual(50);
    expect(spent).toBeLessThan(150);
  });
});

/** A list that is too long, with a check for each item that costs more than counting. */
const capped = (more: object) => ({
  type: 'object',
  properties: { items: { type: 'array', maxItems: 10, ...more } },
  maxProperties: 1,
});

class Capped {
  @IsArray() @ArrayMaxSize(10) @ValidateNested({ each: true }) @Type(() => Leaf) items!: Leaf[];
}

class CappedTexts {
  @IsArray() @ArrayMaxSize(10) @IsIn(MANY, { each: true }) items!: string[];
}

const LONG: readonly (readonly [title: string, source: SchemaSource])[] = [
  ['nested objects', Capped],
  ['choices', CappedTexts],
  ['unions', capped({ items: nestedUnion })],
  ['alternatives for the whole list', capped({ anyOf: [{ items: nestedUnion }, { items: union }] })],
  ['references', { ...capped({ $ref: '#/$defs/all' }), $defs: { all: { items: union } } }],
  ['distinct items', capped({ uniqueItems: true })],
];

describe('Checking a list with a maximum', () => {
  it.each(LONG)('counts before it looks at any item: %s', (_title, source) => {
    const { check } = compile(source);
    // compiles
    void check({ items: Array.from({ length: 11 }, () => 1) });
    const item = { a: {}, b: [1] };
    const items = Array.from({ length: 1_000_000 }, () => item);
    const started = cpuMs();
    const checked = check({ items });
    const spent = cpuMs() - started;
    expect(checked).toEqual({ ok: false, problems: [{ path: 'items', expected: 'must have at most 10 items' }] });
    expect(spent).toBeLessThan(150);
  });

  it('counts the fields of an object first, too', () => {
    const { check } = compile({ type: 'object', maxProperties: 10, patternProperties: { a: union } });
    const fields = Object.fromEntries(Array.from({ length: 10 }, (_, n) => [`a${n}`, 'x']));
    expect(check(fields)).toMatchObject({ ok: true });
    expect(check({ ...fields, a10: 1 })).toMatchObject({
      problems: [{ path: '', expected: 'must have at most 10 fields' }, { path: 'a10' }],
    });
  });
});

const tree = {
  type: 'object',
  properties: { root: { $ref: '#/$defs/node' } },
  $defs: {
    named: { type: 'object', properties: { child: { $ref: '#/$defs/node' } } },
    node: { type: 'object', properties: { child: { $ref: '#/$defs/node' } }, allOf: [{ $ref: '#/$defs/named' }] },
  },
};

const dynamicTree = {
  type: 'object',
  $dynamicAnchor: 'node',
  properties: { root: { $dynamicRef: '#node' }, child: { $dynamicRef: '#node' } },
  allOf: [{ properties: { child: { $dynamicRef: '#node' } } }],
};

describe('Checking a schema that reaches the same value by several ways', () => {
  it.each([
    ['$ref', tree],
    ['$dynamicRef', dynamicTree],
  ])('ends after a bounded number of steps: %s', (_keyword, source) => {
    const shape = compile(source);
    const nest = (depth: number): object => (depth === 0 ? {} : { child: nest(depth - 1) });
    expect(shape.check({ root: nest(8) })).toMatchObject({ ok: true });
    for (const { check } of [shape, repairing(shape)]) {
      const started = cpuMs();
      expect(check({ root: nest(50) })).toEqual({
        ok: false,
        problems: [{ path: '', expected: 'is too complex to be checked' }],
      });
      expect(cpuMs() - started).toBeLessThan(300);
    }
  });
});

describe('Repairing a list of texts that are not JSON', () => {
  it('gives up after some of them', () => {
    const numbers = { type: 'object', properties: { items: { type: 'array', items: { type: 'integer' } } } };
    const shape = compile(numbers);
    const { check } = repairing(shape);
    expect(check({ items: ['7', '[7', '7'] })).toMatchObject({ ok: false });
    const parse = jest.spyOn(JSON, 'parse');
    try {
      expect(check({ items: Array.from({ length: 15_000 }, () => '[7') })).toMatchObject({ ok: false });
      // a failed attempt costs 100 times a step
      expect(parse.mock.calls.length).toBeGreaterThan(0);
      expect(parse.mock.calls.length).toBeLessThan(1500);
    } finally {
      parse.mockRestore();
    }
  });
});
