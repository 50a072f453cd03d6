// The package on its own: what the README promises.
import { describe, expect, it } from '@jest/globals';
import { Transform, Type } from 'class-transformer';
import * as cv from 'class-validator';
import 'reflect-metadata';
import { z } from 'zod';

import {
  ArrayOf,
  DateOnly,
  DecorumError,
  Describe,
  explain,
  InvalidValue,
  parse,
  RecordOf,
  Schema,
  schemaOf,
  serialize,
} from '../src/index.js';
import type { SchemaSource } from '../src/shape.js';
import { repairing } from '../src/validation/repair.js';
import { compile } from './fixtures.js';

class Order {
  @Describe('Article number') @cv.IsString() article!: string;
  @cv.IsInt() @cv.Min(1) count = 1;
  @cv.IsOptional() @cv.IsDate() due?: Date;
  @ArrayOf(String) notes: string[] = [];

  label() {
    return `${this.count} × ${this.article}`;
  }
}

const RAW = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] };

describe('schemaOf', () => {
  it('is the JSON Schema of a class, with what is optional and what is the default', () => {
    expect(schemaOf(Order)).toMatchObject({
      properties: { article: { type: 'string', description: 'Article number' }, count: { minimum: 1, default: 1 } },
      required: ['article'],
      additionalProperties: false,
    });
  });

  it('differs between input and output', () => {
    const source = z.object({ n: z.string().default('a') });
    expect(schemaOf(source)['required']).toBeUndefined();
    expect(schemaOf(source, 'output')['required']).toEqual(['n']);
  });

  it('names the class of a mistake', () => {
    class Untold {
      secret = 1;
    }
    expect(() => schemaOf(Untold)).toThrow(DecorumError);
    expect(() => schemaOf(Untold)).toThrow(/^Untold: the class Untold has no class-validator rules/);
    expect(() => schemaOf('text' as never)).toThrow(/^schema: the schema cannot be used/);
  });
});

describe('parse', () => {
  it('returns an instance with its initializers and converted values', async () => {
    const order = await parse(Order, { article: 'A-7', due: '2026-05-01T12:00:00Z' });
    expect(order).toBeInstanceOf(Order);
    expect(order.label()).toBe('1 × A-7');
    expect(order.due).toEqual(new Date('2026-05-01T12:00:00Z'));
  });

  it('returns what a Standard Schema returns, and the value itself for a JSON Schema', async () => {
    const { n } = await parse(z.object({ n: z.string().transform(Number) }), { n: '5' });
    expect(n satisfies number).toBe(5);
    const value: unknown = await parse(RAW, { n: 5 });
    expect(value).toEqual({ n: 5 });
  });

  it('rejects with all problems, and lists them in the message', async () => {
    const parsed = parse(Order, { count: 0, extra: true });
    await expect(parsed).rejects.toBeInstanceOf(InvalidValue);
    await expect(parsed).rejects.toThrow('article is required; extra is not a known field; count must be at least 1');
    await expect(parse(Order, [])).rejects.toThrow('the value must be an object');
  });

  it('repairs values with one possible meaning if it is told to', async () => {
    const value = { article: 'A-7', count: '5', notes: 'fragile' };
    await expect(parse(Order, value)).rejects.toThrow('count must be an integer; notes must be an array');
    expect(await parse(Order, value, { repair: true })).toMatchObject({ count: 5, notes: ['fragile'] });
    expect(value.count).toBe('5');
  });

  it('reads objects of strings', async () => {
    expect(await parse(Order, { article: '7', count: '5' }, { strings: true })).toMatchObject({
      article: '7',
      count: 5,
    });
  });
});

describe('explain', () => {
  it('lists the problems with their paths, and none for a valid value', async () => {
    expect(await explain(Order, { article: 'A-7', notes: ['a', 2] })).toEqual([
      { path: 'notes[1]', expected: 'must be a string' },
    ]);
    expect(await explain(Order, { article: 'A-7' })).toEqual([]);
    expect(await explain(Order, { article: '7', count: '5' }, { strings: true })).toEqual([]);
    expect(await explain(RAW, { n: '5' }, { repair: true })).toEqual([]);
  });

  it('awaits asynchronous rules', async () => {
    const source = z.object({ n: z.number().refine((n) => Promise.resolve(n > 4), 'too few') });
    expect(await explain(source, { n: 3 })).toEqual([{ path: 'n', expected: 'too few' }]);
  });
});

describe('serialize', () => {
  class Stay {
    @DateOnly() from = new Date('2026-05-01');
    @cv.IsDate() booked = new Date(0);
  }

  it('returns the JSON form of instances', async () => {
    expect(await serialize(Stay, new Stay())).toEqual({ from: '2026-05-01', booked: '1970-01-01T00:00:00.000Z' });
  });

  it('rejects a value that its own schema does not allow', async () => {
    await expect(serialize(Stay, { from: 5, booked: new Date(0) } as never)).rejects.toThrow('from must be');
  });
});

class Point {
  @cv.IsInt() x!: number;
}

class Query {
  @cv.IsOptional() @cv.IsInt() count?: number;
  @cv.IsOptional() @cv.IsNumber() ratio?: number;
  @cv.IsOptional() @cv.IsBoolean() on?: boolean;
  @cv.IsOptional() @cv.IsString() text?: string;
  @cv.IsOptional() @ArrayOf(Number) @cv.IsInt({ each: true }) counts?: number[];
  @cv.IsOptional() @ArrayOf(String) tags?: string[];
  @cv.IsOptional() @cv.ValidateNested() @Type(() => Point) point?: Point;
  @cv.IsOptional() @cv.ValidateNested({ each: true }) @Type(() => Point) points?: Point[];
  @cv.IsOptional() @RecordOf(Number) prices?: Record<string, number>;
  @cv.IsOptional() @Schema({ anyOf: [{ type: 'string' }, { type: 'integer' }] }) id?: string | number;
  @cv.IsOptional() @Schema({ type: ['integer', 'array'] }) either?: unknown;
}

const zodPoint = z.object({ x: z.int() });
const zodQuery = z
  .object({
    count: z.int(),
    ratio: z.number(),
    on: z.boolean(),
    text: z.string(),
    counts: z.array(z.int()),
    tags: z.array(z.string()),
    point: zodPoint,
    points: z.array(zodPoint),
    prices: z.record(z.string(), z.number()),
    id: z.union([z.string(), z.int()]),
    either: z.union([z.int(), z.array(z.unknown())]),
  })
  .partial();

const rawQuery = {
  type: 'object',
  properties: {
    count: { type: 'integer' },
    ratio: { type: 'number' },
    on: { type: 'boolean' },
    text: { type: 'string' },
    counts: { type: 'array', items: { type: 'integer' } },
    tags: { type: 'array', items: { $ref: '#/$defs/text' } },
    point: { $ref: '#/$defs/point' },
    points: { type: 'array', items: { $ref: '#/$defs/point' } },
    prices: { type: 'object', additionalProperties: { type: 'number' } },
    id: { type: ['string', 'integer'] },
    either: { type: ['integer', 'array'] },
  },
  $defs: {
    text: { type: 'string' },
    point: { allOf: [{ type: 'object' }, { properties: { x: { type: 'integer' } }, required: ['x'] }] },
  },
};

const repaired = (source: SchemaSource, value: unknown) => repairing(compile(source)).check(value);

const SOURCES: readonly (readonly [string, SchemaSource])[] = [
  ['a DTO', Query],
  ['a Standard Schema', zodQuery],
  ['a JSON Schema', rawQuery],
];

describe.each(SOURCES)('the repair of arguments of %s', (_, source) => {
  it.each([
    [{ count: '5' }, { count: 5 }],
    [{ count: ' -5 ' }, { count: -5 }],
    [{ count: '5.0' }, { count: 5 }],
    [{ ratio: '0.5e1' }, { ratio: 5 }],
    [{ on: 'true' }, { on: true }],
    [{ on: 'False' }, { on: false }],
    [{ point: '{"x":1}' }, { point: { x: 1 } }],
    [{ point: '{"x":"1"}' }, { point: { x: 1 } }],
    [{ point: { x: '1' } }, { point: { x: 1 } }],
    [{ points: '[{"x":1}]' }, { points: [{ x: 1 }] }],
    [{ points: { x: 1 } }, { points: [{ x: 1 }] }],
    [{ points: '{"x":1}' }, { points: [{ x: 1 }] }],
    [{ points: [{ x: '1' }, '{"x":2}'] }, { points: [{ x: 1 }, { x: 2 }] }],
    [{ counts: 5 }, { counts: [5] }],
    [{ counts: '5' }, { counts: [5] }],
    [{ counts: '["5", 6]' }, { counts: [5, 6] }],
    [{ tags: 'a' }, { tags: ['a'] }],
    [{ tags: '["a","b"]' }, { tags: ['a', 'b'] }],
    [{ tags: '[draft] a' }, { tags: ['[draft] a'] }],
    [{ tags: '[1]' }, { tags: ['[1]'] }],
    [{ prices: { a: '1.5' } }, { prices: { a: 1.5 } }],
    [{ prices: '{"a":1}' }, { prices: { a: 1 } }],
    [
      { count: '5', text: '5', id: '5' },
      { count: 5, text: '5', id: '5' },
    ],
  ])('converts %j to %j', (value, expected) => {
    const sent = JSON.stringify(value);
    expect(repaired(source, value)).toMatchObject({ ok: true, value: expected });
    expect(JSON.stringify(value)).toBe(sent);
    // rejected without the repair
    expect(compile(source).check(value)).toMatchObject({ ok: false });
  });

  it.each([{ text: '5' }, { text: 'true' }, { id: '5' }, { id: 5 }, { tags: [] }, { either: ['5'] }, {}])(
    'keeps %j, because it is valid',
    (value) => {
      expect(repaired(source, value)).toEqual(compile(source).check(value));
      expect(repaired(source, value)).toMatchObject({ ok: true, value });
    },
  );

  const texts = ['five', '5.5', '007', '0x10', '', '9007199254740993', '1e999'];
  const polluting = ['{"__proto__":{"a":1}}', '{"constructor":{"prototype":{"a":1}}}'];
  it.each<object>([
    ...[...texts, [5], true].map((count) => ({ count })),
    ...[1, 'yes'].map((on) => ({ on })),
    ...['[1]', '{"x":', 'null'].map((point) => ({ point })),
    ...[[null], ''].map((counts) => ({ counts })),
    ...polluting.map((prices) => ({ prices })),
    { text: 5 },
    { either: '5' },
  ])('rejects %j, which is ambiguous', (value) => {
    expect(repaired(source, value)).toMatchObject({ ok: false });
    expect(({} as Record<string, unknown>)['a']).toBeUndefined();
  });

  it('validates repaired values', () => {
    expect(repaired(source, { count: '5', ratio: 'x' })).toMatchObject({ ok: false, problems: [{ path: 'ratio' }] });
  });
});

describe('the repair of arguments', () => {
  const node = { type: 'object', properties: { next: { $ref: '#/$defs/node' }, n: { type: 'integer' } } };
  const recursive = { ...node, $defs: { node } };

  it('rejects texts nested deeper than the limit of messages', () => {
    const nested = (levels: number) => `${'{"next":'.repeat(levels)}{"n":1}${'}'.repeat(levels)}`;
    expect(repaired(recursive, { next: nested(20) })).toMatchObject({ ok: true });
    expect(repaired(recursive, { next: nested(70) })).toMatchObject({ ok: false });
    expect(repaired(recursive, { next: nested(100_000) })).toMatchObject({ ok: false });
  });

  it('rejects texts inside texts that exceed the depth together', () => {
    let text = '{"n":1}';
    for (let level = 0; level < 8; level++) text = JSON.stringify({ next: text });
    expect(repaired(recursive, { next: text })).toMatchObject({ ok: true });
    const half = (inner: string) => `${'{"next":'.repeat(40)}${inner}${'}'.repeat(40)}`;
    expect(repaired(recursive, { next: half(JSON.stringify(half('{"n":1}'))) })).toMatchObject({ ok: false });
  });

  it('terminates for mutually recursive schemas', () => {
    const circular = {
      type: 'object',
      properties: { a: { $ref: '#/$defs/a' } },
      $defs: { a: { anyOf: [{ $ref: '#/$defs/b' }, { type: 'integer' }] }, b: { anyOf: [{ type: 'integer' }] } },
    };
    expect(repaired(circular, { a: '5' })).toMatchObject({ ok: true, value: { a: 5 } });
  });

  it('runs in linear time', () => {
    const counts = Array.from({ length: 50_000 }, (_, index) => String(index));
    expect(repaired(rawQuery, { counts })).toMatchObject({ ok: true, value: { counts: counts.map(Number) } });
    const text = JSON.stringify(counts);
    expect(repaired(rawQuery, { counts: text })).toMatchObject({ ok: true });
  });

  it('follows a recursive schema', () => {
    const Node = z.object({
      n: z.int(),
      get next() {
        return Node.optional();
      },
    });
    expect(repaired(Node, { n: 1, next: '{"n":"2"}' })).toMatchObject({ ok: true, value: { n: 1, next: { n: 2 } } });
  });

  it('chooses the class of a union by its discriminator', () => {
    class Circle {
      @cv.Equals('circle') kind = 'circle';
      @cv.IsNumber() size!: number;
    }
    class Label {
      @cv.Equals('label') kind = 'label';
      @cv.IsString() size!: string;
    }
    const subTypes = [
      { value: Circle, name: 'circle' },
      { value: Label, name: 'label' },
    ];
    class Drawing {
      @cv.ValidateNested({ each: true })
      @Type(() => Object, { discriminator: { property: 'kind', subTypes }, keepDiscriminatorProperty: true })
      parts!: (Circle | Label)[];
    }
    const parts = ['circle', 'label'].map((kind) => ({ kind, size: '5' }));
    expect(repaired(Drawing, { parts })).toMatchObject({ ok: true, value: { parts: [{ size: 5 }, { size: '5' }] } });
  });

  it('skips fields that accept more than their rules say', () => {
    class Widened {
      @Transform(({ value }) => (typeof value === 'string' ? value.length : value)) @cv.IsInt() length!: number;
      @cv.IsInt() count!: number;
    }
    expect(repaired(Widened, { length: '12345', count: '1' })).toMatchObject({
      ok: true,
      value: { length: 5, count: 1 },
    });
  });

  it('works with asynchronous rules', async () => {
    const source = z.object({ count: z.int().refine((count) => Promise.resolve(count > 4)) });
    expect(await repaired(source, { count: '5' })).toMatchObject({ ok: true, value: { count: 5 } });
    expect(await repaired(source, { count: '4' })).toMatchObject({ ok: false });
  });
});
