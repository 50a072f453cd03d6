import 'reflect-metadata';

import { describe, expect, it } from '@jest/globals';
import { ArrayOf, Choices, DateOnly, Describe, RecordOf, Schema } from '../src/index.js';
import { Transform, Type } from 'class-transformer';
import * as cv from 'class-validator';

import type { SchemaSource } from '../src/shape.js';
import { check, compile, field, fieldsOf, mistakeIn, Point, point, problemsOf, resultOf, valueOf } from './fixtures.js';

@cv.ValidatorConstraint()
class EvenSum implements cv.ValidatorConstraintInterface {
  validate(_: unknown, { object }: cv.ValidationArguments): boolean {
    return (object as Pair).a % 2 === 0;
  }
  defaultMessage(): string {
    return 'must be in an even pair';
  }
}

/** A class with a rule that needs the instance. */
class Pair {
  @cv.IsInt() @cv.Validate(EvenSum) a!: number;
}

describe('@ArrayOf', () => {
  class Post {
    @ArrayOf(String) @cv.MaxLength(3, { each: true }) @cv.ArrayMaxSize(2) tags!: string[];
    @cv.IsOptional() @ArrayOf(Number) @cv.IsInt({ each: true }) counts?: number[];
    @cv.IsOptional() @ArrayOf(Boolean) flags?: boolean[];
    @cv.IsOptional() @ArrayOf(Date) times?: Date[];
    @cv.IsOptional() @ArrayOf(Point) points?: Point[];
    @Describe('Has a default') @ArrayOf(String) more: string[] = ['a'];
  }

  it('publishes the list and its items, with the rules for them', () => {
    const pointSchema = {
      type: 'object',
      properties: { lat: { type: 'number' }, lon: { type: 'number' } },
      required: ['lat', 'lon'],
      additionalProperties: false,
    };
    expect(fieldsOf(Post)).toEqual({
      tags: { type: 'array', maxItems: 2, items: { type: 'string', maxLength: 3 } },
      counts: { type: 'array', items: { type: 'integer' } },
      flags: { type: 'array', items: { type: 'boolean' } },
      times: { type: 'array', items: { type: 'string', format: 'date-time' } },
      points: { type: 'array', items: pointSchema },
      more: { description: 'Has a default', type: 'array', items: { type: 'string' }, default: ['a'] },
    });
    expect(compile(Post).published['required']).toEqual(['tags']);
  });

  it('checks the items, and converts them to dates and instances', () => {
    expect(problemsOf(Post, { tags: ['abcd'], counts: [1.5] })).toEqual([
      'tags[0] must have at most 3 characters',
      'counts[0] must be an integer',
    ]);
    const post = valueOf<Post>(Post, { tags: ['a'], times: ['2026-01-31T12:00:00Z'], points: [point] });
    expect(post.times).toEqual([new Date('2026-01-31T12:00:00Z')]);
    expect(post.points?.[0]).toBeInstanceOf(Point);
    expect(post.more).toEqual(['a']);
    expect(problemsOf(Post, {})).toEqual(['tags is required']);
  });

  it('accepts bytes and bigints, like a record', () => {
    class Blobs {
      @ArrayOf(Uint8Array) parts!: Uint8Array[];
      @RecordOf(BigInt) sums!: Record<string, bigint>;
    }
    const blobs = valueOf<Blobs>(Blobs, { parts: ['aGk='], sums: { a: '5' } });
    expect([...(blobs.parts[0] ?? [])]).toEqual([104, 105]);
    expect(blobs.sums).toEqual({ a: 5n });
    expect(problemsOf(Blobs, { parts: ['!'], sums: { a: 'x' } })).toEqual([
      expect.stringMatching(/^parts\[0\] must be base64/),
      expect.stringMatching(/^sums\.a must /),
    ]);
  });

  it('runs rules that need the instance on items, and reports their path', () => {
    class Pairs {
      @ArrayOf(Pair) pairs!: Pair[];
    }
    expect(check(Pairs, { pairs: [{ a: 2 }] }).ok).toBe(true);
    expect(problemsOf(Pairs, { pairs: [{ a: 2 }, { a: 1 }] })).toEqual(['pairs[1].a must be in an even pair']);
  });

  it('is enough as the only decorator of a nested class', () => {
    class Line {
      @ArrayOf(Number) x!: number[];
    }
    class Drawing {
      @cv.ValidateNested() line!: Line;
      @cv.IsInt() @cv.Validate(EvenSum) a!: number;
    }
    expect(valueOf<Drawing>(Drawing, { line: { x: [1] }, a: 2 }).line).toBeInstanceOf(Line);
  });
});

describe('@RecordOf', () => {
  class Stock {
    @RecordOf(Number) @cv.Min(0, { each: true }) prices!: Record<string, number>;
    @cv.IsOptional() @RecordOf(Point) @cv.IsNotEmptyObject() shops?: Record<string, Point>;
    @cv.IsOptional() @RecordOf(Date) at?: Record<string, Date>;
  }

  it('publishes the schema of the values', () => {
    expect(fieldsOf(Stock)).toMatchObject({
      prices: { type: 'object', additionalProperties: { type: 'number', minimum: 0 } },
      shops: { type: 'object', minProperties: 1, additionalProperties: { required: ['lat', 'lon'] } },
    });
    expect(JSON.stringify(fieldsOf(Stock))).not.toContain('propertyNames');
  });

  it('checks each value, and converts it to instances and dates', () => {
    expect(problemsOf(Stock, { prices: { EUR: -1, USD: 'x' } })).toEqual([
      'prices.EUR must be at least 0',
      'prices.USD must be a number',
    ]);
    expect(problemsOf(Stock, { prices: [1] })).toEqual(['prices must be an object']);
    const stock = valueOf<Stock>(Stock, { prices: {}, shops: { a: point }, at: { x: '2026-01-31T12:00:00Z' } });
    expect(stock.shops?.['a']).toBeInstanceOf(Point);
    expect(stock.at).toEqual({ x: new Date('2026-01-31T12:00:00Z') });
  });

  it.each(['__proto__', 'constructor', 'prototype'])('refuses the key %s', (key) => {
    const prices = JSON.parse(`{ "${key}": 1 }`) as object;
    expect(check(Stock, { prices }).ok).toBe(false);
    const deep = JSON.parse(`{ "${key}": { "lat": 1, "lon": 2 } }`) as object;
    expect(check(Stock, { prices: {}, shops: deep }).ok).toBe(false);
    expect(({} as Record<string, unknown>)['lat']).toBeUndefined();
  });

  it('runs rules that need the instance: on the record, beside it, and in its values', () => {
    class Book {
      @RecordOf(Pair) pairs!: Record<string, Pair>;
      @RecordOf(Number) @cv.Max(5, { each: true }) small!: Record<string, number>;
      @cv.IsInt() @cv.Validate(EvenSum) a!: number;
    }
    expect(check(Book, { pairs: { x: { a: 2 } }, small: { y: 5 }, a: 2 }).ok).toBe(true);
    const problems = ['a must be in an even pair', 'pairs.x.a must be in an even pair'];
    expect(problemsOf(Book, { pairs: { x: { a: 1 } }, small: {}, a: 1 })).toEqual(problems);
  });

  it('works beside @Transform on another field', () => {
    class Trimmed {
      @Transform(({ value }) => String(value).trim()) @cv.IsString() name!: string;
      @RecordOf(Number) @cv.Min(0, { each: true }) prices!: Record<string, number>;
      @ArrayOf(Date) times!: Date[];
      @cv.IsOptional() @ArrayOf(Point) points?: Point[];
    }
    const times = ['2026-01-31T12:00:00Z'];
    const value = valueOf<Trimmed>(Trimmed, { name: ' a ', prices: { EUR: 1 }, times });
    expect(value).toMatchObject({ name: 'a', prices: { EUR: 1 }, times: [new Date('2026-01-31T12:00:00Z')] });
    expect(valueOf<Trimmed>(Trimmed, { ...value, times, points: [point] }).points?.[0]).toBeInstanceOf(Point);
    expect(problemsOf(Trimmed, { name: 'a', prices: { EUR: -1 }, times })).toEqual(['prices.EUR must be at least 0']);
    expect(check(Trimmed, { name: 'a', prices: { constructor: 1 }, times }).ok).toBe(false);
    const result = { name: 'a', prices: { EUR: 1 }, times: ['2026-01-31T12:00:00.000Z'] };
    expect(resultOf(Trimmed, value)).toEqual(result);
  });

  it('is checked in results', () => {
    expect(resultOf(Stock, { prices: { a: 1 } })).toEqual({ prices: { a: 1 } });
    expect(resultOf(Stock, { prices: { a: 'x' } })).toEqual(['prices.a must be a number']);
  });
});

describe('@Choices', () => {
  class Query {
    @Describe('Unit') @Choices({ c: 'Celsius', f: 'Fahrenheit' }) unit!: 'c' | 'f';
    @cv.IsOptional() @Choices(new Map([[1, 'Low'], [2, 'High']])) priority?: number; // prettier-ignore
    @cv.IsOptional() @Choices({ a: 'A', b: 'B' }, { each: true }) several?: string[];
  }

  it('publishes values with their titles', () => {
    const titled = (...all: [unknown, string][]) => all.map(([value, title]) => ({ const: value, title }));
    expect(fieldsOf(Query)).toEqual({
      unit: { description: 'Unit', type: 'string', oneOf: titled(['c', 'Celsius'], ['f', 'Fahrenheit']) },
      priority: { type: 'number', oneOf: titled([1, 'Low'], [2, 'High']) },
      several: { type: 'array', items: { type: 'string', anyOf: titled(['a', 'A'], ['b', 'B']) } },
    });
  });

  it('accepts null for an absent value, also in the schema of results', () => {
    expect(check(Query, { unit: 'c', priority: null }).ok).toBe(true);
    const priority = { anyOf: [{ oneOf: [{ const: 1 }, { const: 2 }] }, { type: 'null' }] };
    expect(fieldsOf(Query, 'output')).toMatchObject({ priority });
  });

  it('names the valid values for an invalid one', () => {
    expect(problemsOf(Query, { unit: 'k', priority: 3, several: ['c'] })).toEqual([
      'unit must be one of "c", "f"',
      expect.stringContaining('priority must be one of 1, 2'),
      'several[0] must be one of "a", "b"',
    ]);
  });
});

describe('@DateOnly', () => {
  class Booking {
    @DateOnly() from!: string;
    @DateOnly() until!: Date;
    @cv.IsOptional() @DateOnly() made = new Date('2026-01-01');
    @cv.IsOptional() @DateOnly({ each: true }) @Type(() => Date) days?: Date[];
    @cv.IsOptional() @DateOnly() @cv.MinDate(new Date('2026-01-01')) late?: Date;
  }
  const days = { from: '2026-01-31', until: '2026-02-28' };

  it('is published with its format', () => {
    const day = { type: 'string', format: 'date' };
    expect(fieldsOf(Booking)).toMatchObject({ from: day, until: day, days: { type: 'array', items: day }, late: day });
  });

  it('is text or a Date at midnight UTC, depending on the declared type, the initializer or @Type', () => {
    const booking = valueOf<Booking>(Booking, { ...days, made: '2026-02-03', days: ['2026-02-01'] });
    const [until, made] = [new Date('2026-02-28T00:00:00Z'), new Date('2026-02-03T00:00:00Z')];
    expect({ ...booking }).toEqual({ from: '2026-01-31', until, made, days: [new Date('2026-02-01T00:00:00Z')] });
  });

  it.each(['2026-02-30', '2026-1-31', '2026-01-31T00:00:00Z', '31.01.2026', '', 20260131, '2026-13-01'])(
    'refuses %p',
    (from) =>
      expect(problemsOf(Booking, { ...days, from })[0]).toMatch(
        /^from must be (?:a string|a date such as "2026-01-31")$/,
      ),
  );

  it('runs rules about dates', () => {
    expect(problemsOf(Booking, { ...days, late: '2025-12-31' })[0]).toContain('late minimal allowed date');
  });

  it('is encoded as a date in results, and a Date with a time is rejected', () => {
    const [until, later] = [new Date('2026-02-28T00:00:00Z'), new Date('2026-02-28T01:00:00Z')];
    const result = { from: '2026-01-31', until: '2026-02-28', made: '2026-02-28', days: ['2026-02-28'] };
    expect(resultOf(Booking, { from: '2026-01-31', until, made: until, days: [until] })).toEqual(result);
    const problem = 'until must be a date such as "2026-01-31"';
    expect(resultOf(Booking, { from: '2026-01-31', until: later })).toEqual([problem]);
  });
});

describe('@Schema', () => {
  const range = { type: 'object', properties: { min: { type: 'integer' } }, required: ['min'], title: 'Range' };
  class Search {
    @Describe('By number or name')
    @Schema({ anyOf: [{ type: 'string', format: 'email' }, { type: 'integer' }] })
    id!: string | number;
    @cv.IsOptional() @Schema(range) range?: { min: number };
    @cv.IsOptional()
    @Schema({ type: 'array', items: { type: 'array', items: { type: 'number' } } })
    grid?: number[][];
  }

  it('is published unchanged', () => {
    expect(fieldsOf(Search)).toEqual({
      id: { description: 'By number or name', anyOf: [{ type: 'string', format: 'email' }, { type: 'integer' }] },
      range,
      grid: { type: 'array', items: { type: 'array', items: { type: 'number' } } },
    });
  });

  it('is validated by its keywords, and reports the path inside', () => {
    expect(valueOf<Search>(Search, { id: 'a@b.de', range: { min: 1 }, grid: [[1]] })).toMatchObject({ id: 'a@b.de' });
    expect(problemsOf(Search, { id: 'no address' })).toHaveLength(1);
    const problems = ['range.min is required', 'grid[1][0] must be a number'];
    expect(problemsOf(Search, { id: 1, range: {}, grid: [[1], ['x']] })).toEqual(problems);
    expect(check(Search, JSON.parse('{ "id": 1, "range": { "min": 1, "__proto__": {} } }')).ok).toBe(false);
  });

  it('describes the wire format before @Transform', () => {
    class Tagged {
      @Schema({ type: 'string', maxLength: 5 })
      @Transform(({ value }) => String(value).split(','))
      @cv.IsString({ each: true })
      @cv.ArrayMaxSize(2)
      tags!: string[];
    }
    expect(fieldsOf(Tagged)).toEqual({ tags: { type: 'string', maxLength: 5 } });
    expect(valueOf<Tagged>(Tagged, { tags: 'a,b' }).tags).toEqual(['a', 'b']);
    expect(problemsOf(Tagged, { tags: ['a'] })).toEqual(['tags must be a string']);
    expect(problemsOf(Tagged, { tags: 'a,b,c' })).toEqual(['tags must contain no more than 2 elements']);
  });
});

it('fields are in the order of the class, and a subclass replaces their form', () => {
  class Mixed {
    @ArrayOf(String) first!: unknown;
    @cv.IsString() second!: string;
    @DateOnly() third!: string;
  }
  class Sub extends Mixed {
    @RecordOf(Number) declare first: unknown;
  }
  expect(Object.keys(fieldsOf(Mixed) as object)).toEqual(['first', 'second', 'third']);
  expect(fieldsOf(Sub)).toMatchObject({ first: { type: 'object', additionalProperties: { type: 'number' } } });
});

describe('an invalid form of a field is an error at startup:', () => {
  const nothing = undefined as never;
  const same = Transform(({ value }) => value as unknown);
  const always = cv.ValidateIf(() => true);
  class Upper {
    @Transform(({ value }) => value as unknown) @cv.IsString() a!: string;
    @RecordOf(Point) points!: Record<string, Point>;
  }
  class Empty {}
  class Outer {
    @ArrayOf(Empty) items!: object[];
  }
  it.each<[string, SchemaSource, RegExp]>([
    ['a list in a text', field(String, ArrayOf(String)), /Dto\.x: @ArrayOf does not fit .* String\. Declare .* Array/],
    ['a record in a list', field(Array, RecordOf(String)), /@RecordOf does not fit .* Array.*Record<string, number>/],
    ['a record in a Map', field(Map, RecordOf(String)), /@RecordOf does not fit .* Map/],
    ['a date in a number', field(Number, DateOnly()), /@DateOnly does not fit .* Number\. Declare .* String or Date/],
    ['texts in a number', field(Number, Choices({ a: 'A' })), /@Choices does not fit .* Number/],
    ['numbers in a text', field(String, Choices(new Map([[1, 'A']]))), /@Choices does not fit .* String/],
    ['a schema of a number in a text', field(String, Schema({ type: 'integer' })), /@Schema does not fit .* Number/],
    ['a schema in a Date', field(Date, Schema({ type: 'string' })), /@Schema does not fit .* Date/],
    ['a list of nothing', field(Array, ArrayOf(nothing)), /@ArrayOf needs String, .*@ArrayOf\(String\).*import cycle/],
    ['a list of what returns a class', field(Array, ArrayOf((() => Point) as never)), /@ArrayOf needs .*a DTO class/],
    ['a list of lists', field(Array, ArrayOf(Array as never)), /@ArrayOf needs/],
    ['a record of a name', field(Object, RecordOf('string' as never)), /@RecordOf needs/],
    ['no choices', field(String, Choices({})), /@Choices needs values with titles/],
    ['choices without titles', field(String, Choices(['a', 'b'] as never)), /@Choices needs values with titles/],
    ['choices that are no texts', field(String, Choices({ a: 1 } as never)), /@Choices needs values with titles/],
    ['a schema that is a text', field(String, Schema('string' as never)), /@Schema needs a JSON Schema/],
    ['a schema that is not valid', field(String, Schema({ type: 'text' })), /Dto\.x: .*DECORUM_INVALID_SCHEMA/],
    ['a schema that refers', field(String, Schema({ $ref: '#/$defs/a' })), /Dto\.x: .*\$ref.*DECORUM_INVALID_SCHEMA/],
    ['a slow pattern', field(String, Schema({ pattern: '^(a+)+$' })), /exponential.*DECORUM_INVALID_SCHEMA/],
    ['a schema beside rules', field(String, Schema({}), cv.MaxLength(3)), /@Schema cannot be combined with @MaxLength/],
    [
      'rules that miss `each`',
      field(Array, ArrayOf(String), cv.MaxLength(3)),
      /@MaxLength.* pass \{ each: true \}\. \[/,
    ],
    ['rules of another type', field(Array, ArrayOf(String), cv.IsInt({ each: true })), /says string, .* integer/],
    ['texts as dates', field(Array, ArrayOf(Date), cv.IsString({ each: true })), /says Date, .* string/],
    ['@Transform', field(Array, ArrayOf(String), same), /combined with @Transform.*@Schema/],
    ['@ValidateIf', field(Array, ArrayOf(String), always), /combined with @ValidateIf/],
    ['a custom rule per value', field(Object, RecordOf(Number), cv.Validate(EvenSum, { each: true })), /on each value/],
    ['a list of choices that misses `each`', field(Array, Choices({ a: 'A' })), /@Choices does not fit .* Array/],
    ['rules for items', field(Object, Choices({ a: 'A' }), cv.MaxLength(1, { each: true })), /@MaxLength has \{ each/],
    ['two forms', field(Array, ArrayOf(String), Schema({})), /@Schema and @ArrayOf both.*Keep one/],
    ['classes that need class-transformer', Upper, /Upper\.points: @RecordOf cannot hold classes .*@Transform/],
    ['a class without rules', Outer, /Empty.*DECORUM_NO_RULES/],
  ])('%s', (_, source, message) => {
    expect(mistakeIn(source)).toMatch(message);
  });
});
