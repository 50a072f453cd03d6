import { Type } from 'class-transformer';
import { IsArray, IsIn, IsOptional, IsString, NotEquals, ValidateNested } from 'class-validator';
import { describe, expect, it } from '@jest/globals';

import { compileShape } from '../../src/schema/compile.js';
import { repairing } from '../../src/schema/repair.js';
import type { SchemaSource } from '../../src/schema/shape.js';
import { cpuMs } from '../../../../test/support/cpu.js';

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
    const { check } = compileShape(source, 'Test.member');
    // compiles
    void check({ items: [[1], 'x'] });
    const started = cpuMs();
    const checked = check(args) as { readonly ok: boolean; readonly problems: readonly unknown[] };
    const spent = cpuMs() - started;
    expect(checked.ok).toBe(false);
    expect(checked.problems.length).toBeLessThanOrEqual(50);
    expect(spent).toBeLessThan(50);
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

describe('Checking a schema that reaches the same value by several ways', () => {
  it('ends after a bounded number of steps', () => {
    const shape = compileShape(tree, 'Test.member');
    const nest = (depth: number): object => (depth === 0 ? {} : { child: nest(depth - 1) });
    expect(shape.check({ root: nest(8) })).toMatchObject({ ok: true });
    for (const { check } of [shape, repairing(shape)]) {
      const started = cpuMs();
      expect(check({ root: nest(50) })).toEqual({
        ok: false,
        problems: [{ path: '', expected: 'is too complex to be checked' }],
      });
      expect(cpuMs() - started).toBeLessThan(60);
    }
  });
});

describe('Repairing a list of texts that are not JSON', () => {
  it('gives up after some of them', () => {
    const numbers = { type: 'object', properties: { items: { type: 'array', items: { type: 'integer' } } } };
    const shape = compileShape(numbers, 'Test.member');
    const { check } = repairing(shape);
    expect(check({ items: ['7', '[7', '7'] })).toMatchObject({ ok: false });
    const started = cpuMs();
    expect(check({ items: Array.from({ length: 15_000 }, () => '[7') })).toMatchObject({ ok: false });
    expect(cpuMs() - started).toBeLessThan(130);
  });
});
