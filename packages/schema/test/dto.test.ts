import 'reflect-metadata';

import { describe, expect, it } from '@jest/globals';
import { Type } from 'class-transformer';
import * as cv from 'class-validator';

import { compileShape } from '../src/compile.js';
import { check, compile, Point, point, problemsOf, Query, Tree, Trip, valueOf } from './fixtures.js';

describe('the JSON Schema of a DTO', () => {
  it('reflects the rules, descriptions and initializers', () => {
    expect(compile(Query).published).toEqual({
      type: 'object',
      properties: {
        city: {
          title: 'City',
          description: 'City, for example "Oslo"',
          type: 'string',
          maxLength: 80,
          examples: ['Oslo'],
        },
        units: { type: 'string', enum: ['metric', 'imperial'], default: 'metric' },
      },
      required: ['city'],
      additionalProperties: false,
    });
  });

  it('has the fields at the root', () => {
    expect([...compile(Query).fields]).toEqual([
      ['city', { required: true }],
      ['units', { required: false }],
    ]);
  });

  it('has nested classes inline', () => {
    const { published: json } = compile(Trip);
    const nested = {
      properties: { lat: { type: 'number' }, lon: { type: 'number' } },
      required: ['lat', 'lon'],
      additionalProperties: false,
    };
    expect(json).toMatchObject({
      properties: {
        stops: { type: 'array', items: { type: 'object', ...nested } },
        start: { type: 'object', ...nested },
        end: { type: 'object', ...nested },
        when: { type: 'string', format: 'date-time' },
      },
      required: ['stops', 'start'],
    });
    expect(JSON.stringify(json)).not.toContain('$ref');
  });

  it('refers to classes that contain themselves', () => {
    expect(compile(Tree).published).toMatchObject({
      type: 'object',
      properties: { children: { items: { $ref: '#/$defs/Tree' } } },
      $defs: { Tree: { type: 'object', required: ['name'] } },
    });
    expect(valueOf<Tree>(Tree, { name: 'a', children: [{ name: 'b', children: [] }] }).children?.[0]).toBeInstanceOf(
      Tree,
    );
    expect(problemsOf(Tree, { name: 'a', children: [{ name: 'b', children: [{}] }] })).toEqual([
      'children[0].children[0].name is required',
    ]);
  });

  it('distinguishes classes with the same name', () => {
    const make = (): new () => object => {
      class Node {
        @cv.IsOptional() @cv.ValidateNested() @Type(() => Node) next?: Node;
      }
      return Node;
    };
    const [A, B] = [make(), make()];
    class Both {
      @cv.ValidateNested() @Type(() => A) a!: object;
      @cv.ValidateNested() @Type(() => B) b!: object;
    }
    expect(Object.keys(compile(Both).published['$defs'] as object)).toEqual(['Node', 'Node2']);
  });

  it('uses the type that TypeScript emitted if no rule determines one', () => {
    class Emitted {
      @cv.IsOptional() text?: string;
      @cv.IsNotEmpty() count!: number;
      @cv.Allow() flag!: boolean;
      @cv.IsOptional() at?: Date;
      @cv.Allow() whatever: unknown;
    }
    expect(compile(Emitted).published['properties']).toEqual({
      text: { type: 'string' },
      count: { type: 'number' },
      flag: { type: 'boolean' },
      at: { type: 'string', format: 'date-time' },
      whatever: {},
    });
  });

  it('publishes only defaults with a JSON form', () => {
    class Defaults {
      @cv.IsInt() n = 5;
      @cv.IsDate() when = new Date(0);
      @cv.IsArray() @Type(() => Object) list: unknown[] = [1, { a: null }];
      @cv.IsOptional() odd: number = Number.NaN;
      @cv.IsOptional() @cv.IsString() none: string | null = null;
    }
    const { published: json } = compile(Defaults);
    const defaults = Object.entries(json['properties'] as object).map(([key, schema]) => [
      key,
      (schema as { default?: unknown }).default,
    ]);
    expect(defaults).toEqual([
      ['n', 5],
      ['when', undefined],
      ['list', [1, { a: null }]],
      ['odd', undefined],
      ['none', undefined],
    ]);
    expect(json['required']).toBeUndefined();
  });

  it('follows class-validator in what a subclass inherits', () => {
    class Parent {
      @cv.IsString() @cv.MaxLength(3) a!: string;
      @cv.IsString() b!: string;
      @cv.IsOptional() @cv.IsInt() c?: number;
    }
    class Child extends Parent {
      @cv.MinLength(1) declare a: string;
      @cv.Max(3) declare c?: number;
    }
    expect(compile(Child).published).toMatchObject({
      properties: {
        a: { type: 'string', minLength: 1 },
        b: { type: 'string' },
        c: { type: 'number', maximum: 3 },
      },
      required: ['b', 'a'],
    });
  });

  it('publishes numeric enums by their values', () => {
    enum Level {
      Low,
      High = 7,
    }
    class Alarm {
      @cv.IsEnum(Level) level!: Level;
    }
    expect(compile(Alarm).published['properties']).toEqual({
      level: { type: 'number', enum: [0, 7] },
    });
  });

  it('hints at formats for input only', () => {
    class Contact {
      @cv.IsEmail() email!: string;
    }
    expect(compile(Contact).published['properties']).toEqual({
      email: { type: 'string', format: 'email' },
    });
    expect(compile(Contact, 'output').published['properties']).toEqual({
      email: { type: 'string' },
    });
  });

  it('is compiled once, however many members share it', () => {
    expect(compileShape(Query, 'A.a')).toBe(compileShape(Query, 'B.b'));
  });
});

describe('a value for a handler', () => {
  it('is an instance with its defaults', () => {
    const query = valueOf<Query>(Query, { city: 'Oslo' });
    expect(query).toBeInstanceOf(Query);
    expect(query).toEqual({ city: 'Oslo', units: 'metric' });
    expect(valueOf<Query>(Query, { city: 'Oslo', units: undefined }).units).toBe('metric');
    expect(valueOf<Query>(Query, { city: 'Oslo', units: null }).units).toBe('metric');
  });

  it('contains instances and dates', () => {
    const trip = valueOf<Trip>(Trip, {
      stops: [point, point],
      start: point,
      end: null,
      when: '2026-01-31T12:00:00Z',
      reminders: ['2026-01-31T12:00:00+01:00'],
    });
    expect(trip.stops.map((stop) => stop.sum())).toEqual([3, 3]);
    expect([trip.start.sum(), trip.end]).toEqual([3, undefined]);
    expect([trip.when, trip.reminders]).toEqual([new Date('2026-01-31T12:00:00Z'), [new Date('2026-01-31T11:00:00Z')]]);
  });

  it('does not change the received value', () => {
    const value = { stops: [{ ...point }], start: { ...point }, when: '2026-01-31T12:00:00Z' };
    const before = structuredClone(value);
    valueOf(Trip, value);
    expect(value).toEqual(before);
    expect(Object.getPrototypeOf(value.start)).toBe(Object.prototype);
  });

  it('has fresh defaults every time', () => {
    class Bag {
      @cv.IsArray() @Type(() => Object) items: unknown[] = [];
    }
    valueOf<Bag>(Bag, {}).items.push(1);
    expect(valueOf<Bag>(Bag, {}).items).toEqual([]);
  });

  it('is an instance even if the constructor needs arguments or throws', () => {
    class Demanding {
      @cv.IsString() name!: string;
      constructor(from: { name: string }) {
        this.name = from.name;
      }
    }
    class Abstract {
      @cv.IsString() declare name: string;
      constructor() {
        throw new Error('never');
      }
    }
    class Spread {
      @cv.IsString() declare name: string;
      constructor(...all: { name: string }[]) {
        this.name = (all[0] as { name: string }).name;
      }
    }
    class Shape {
      @cv.IsString() declare name: string;
      constructor() {
        if (new.target === Shape) throw new TypeError('Shape is abstract.');
      }
    }
    for (const cls of [Spread, Shape]) expect(valueOf(cls as never, { name: 'a' })).toBeInstanceOf(cls);
    expect(valueOf(Demanding as never, { name: 'a' })).toBeInstanceOf(Demanding);
    expect(valueOf(Abstract, { name: 'a' })).toBeInstanceOf(Abstract);
  });
});

describe('the problems of a value', () => {
  it('are listed by field', () => {
    expect(problemsOf(Trip, { stops: [point, { lat: '1', extra: 1 }], start: [], when: 'yesterday' })).toEqual([
      'stops[1].lon is required',
      'stops[1].extra is not a known field',
      'stops[1].lat must be a number',
      'start must be an object',
      'when must be a date and time such as "2026-01-31T12:00:00Z"',
    ]);
    expect(problemsOf(Query, { city: 5, units: 'other' })).toEqual([
      'city must be a string',
      'units must be one of "metric", "imperial"',
    ]);
    expect(problemsOf(Query, 5)).toEqual(['must be an object']);
    expect(problemsOf(Query, undefined)).toEqual(['must be an object']);
  });

  it('use custom messages of the author', () => {
    class Worded {
      @cv.MinLength(3, { message: '$property needs $constraint1 letters' }) a!: string;
      @cv.IsEmail({}, { message: ({ property }) => `${property} is no address` }) b!: string;
      @cv.IsIP() c!: string;
    }
    expect(problemsOf(Worded, { a: 'x', b: 'x', c: 'x' })).toEqual([
      'a needs 3 letters',
      'b is no address',
      'c must be an ip address',
    ]);
  });

  it('are capped in number and length', () => {
    class Many {
      @cv.IsArray() @cv.IsInt({ each: true }) list!: number[];
    }
    expect(problemsOf(Many, { list: Array.from({ length: 2000 }, () => 'x') })).toHaveLength(50);
    expect(problemsOf(Many, { list: Array.from({ length: 5000 }, () => 'x') })).toHaveLength(1);
    expect(problemsOf(Many, { list: [], ['k'.repeat(90_000)]: 1 })[0]?.length).toBeLessThan(250);
  });

  it.each(['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty'])(
    'include a key %s at any level',
    (key) => {
      const evil = JSON.parse(`{ "city": "Oslo", "${key}": { "polluted": true } }`) as object;
      expect(problemsOf(Query, evil)).toEqual([`${key} is not a known field`]);
      const nested = JSON.parse(
        `{ "stops": [{ "lat": 1, "lon": 2, "${key}": {} }], "start": { "lat": 1, "lon": 2 } }`,
      ) as object;
      expect(problemsOf(Trip, nested)).toEqual([`stops[0].${key} is not a known field`]);
      expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
    },
  );

  it('include keys that could pollute a prototype, even in open objects', () => {
    class Open {
      @cv.IsObject() data!: object;
    }
    const open = (text: string): string[] => problemsOf(Open, JSON.parse(text));
    expect(open('{ "data": { "a": [{ "__proto__": {} }] } }')).toEqual(['data.a[0].__proto__ is not a known field']);
    expect(open('{ "data": { "constructor": { "prototype": {} } } }')).toEqual([
      'data.constructor is not a known field',
    ]);
    expect(open('{ "data": { "constructor": "Ferrari" } }')).toEqual([]);
  });

  it('ignore inherited properties', () => {
    class Named {
      @cv.IsString() toString!: never;
    }
    expect(problemsOf(Named, {})).toEqual(['toString is required']);
  });
});

describe('rules that need the instance', () => {
  const isAfter =
    (other: string): PropertyDecorator =>
    (target, key) =>
      cv.registerDecorator({
        name: 'isAfter',
        target: target.constructor,
        propertyName: key as string,
        validator: {
          validate: (value, args) => Number(value) > Number(Reflect.get(args?.object ?? {}, other)),
          defaultMessage: () => `$property must be after ${other}`,
        },
      });

  it('run, and stay synchronous', () => {
    class Range {
      @cv.IsInt() from!: number;
      @cv.IsInt() @isAfter('from') to!: number;
    }
    expect(valueOf<Range>(Range, { from: 1, to: 2 })).toBeInstanceOf(Range);
    expect(problemsOf(Range, { from: 2, to: 1 })).toEqual(['to must be after from']);
  });

  it('return a promise if they are asynchronous, declared or not', async () => {
    const isFree: PropertyDecorator = (target, key) =>
      cv.registerDecorator({
        target: target.constructor,
        propertyName: key as string,
        validator: { validate: (value) => Promise.resolve(value !== 'taken') },
      });
    class Account {
      @cv.IsString() @isFree name!: string;
    }
    const shape = compile(Account);
    await expect(shape.check({ name: 'free' })).resolves.toEqual({ ok: true, value: { name: 'free' } });
    await expect(shape.check({ name: 'taken' })).resolves.toMatchObject({ ok: false, problems: [{ path: 'name' }] });
    expect(shape.check({ name: 5 })).toMatchObject({ ok: false });
  });

  it('run in nested objects', () => {
    class Inner {
      @cv.IsInt() from!: number;
      @isAfter('from') to!: number;
    }
    class Outer {
      @cv.ValidateNested({ each: true })
      @Type(() => Inner)
      @cv.ArrayUnique((inner: Inner) => inner.from)
      list!: Inner[];
    }
    expect(problemsOf(Outer, { list: [{ from: 2, to: 1 }] })).toEqual(['list[0].to must be after from']);
    expect(
      problemsOf(Outer, {
        list: [
          { from: 1, to: 2 },
          { from: 1, to: 3 },
        ],
      }),
    ).toEqual(["list All list's elements must be unique"]);
  });

  it('are distinguished from class-validator rules with the same name', () => {
    const Min = (target: object, key: string): void =>
      cv.registerDecorator({
        name: 'min',
        target: target.constructor,
        propertyName: key,
        constraints: [5],
        validator: { validate: (value) => value === 'custom' },
      });
    class Odd {
      @Min value!: unknown;
    }
    expect(compile(Odd).published['properties']).toEqual({ value: {} });
    expect([check(Odd, { value: 'custom' }).ok, check(Odd, { value: 9 }).ok]).toEqual([true, false]);
  });

  it('include nested objects under a condition', () => {
    class Conditional {
      @cv.IsBoolean() on!: boolean;
      @cv.ValidateIf((dto: Conditional) => dto.on) @cv.ValidateNested() start!: Point;
    }
    expect(valueOf<Conditional>(Conditional, { on: true, start: { ...point, extra: 1 } }).start).toEqual(point);
    expect(valueOf<Conditional>(Conditional, { on: true, start: point }).start).toBeInstanceOf(Point);
    expect(problemsOf(Conditional, { on: true, start: { lat: 'x', lon: 1 } })).toHaveLength(1);
    expect(valueOf<Conditional>(Conditional, { on: false, start: 5 }).start).toBe(5);
    expect(valueOf<Conditional>(Conditional, { on: false }).start).toBeUndefined();
  });
});
