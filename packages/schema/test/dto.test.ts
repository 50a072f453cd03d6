import { describe, expect, it } from '@jest/globals';
import { Exclude, Expose, Transform, Type } from 'class-transformer';
import * as cv from 'class-validator';
import 'reflect-metadata';

import { compileShape } from '../src/compile.js';
import type { JsonObject } from '../src/values/json.js';
import {
  check,
  compile,
  fieldsOf,
  mistakeIn,
  Point,
  point,
  problemsOf,
  Query,
  resultOf,
  schemaOf,
  Tree,
  Trip,
  valueOf,
} from './fixtures.js';

describe('the JSON Schema of a DTO', () => {
  it('reflects the rules, descriptions and initializers', () => {
    const described = { title: 'City', description: 'City, for example "Oslo"', examples: ['Oslo'] };
    const properties = {
      city: { ...described, type: 'string', maxLength: 80 },
      units: { type: 'string', enum: ['metric', 'imperial'], default: 'metric' },
    };
    const { published, fields } = compile(Query);
    expect(published).toEqual({ type: 'object', properties, required: ['city'], additionalProperties: false });
    expect(Object.fromEntries(fields)).toEqual({ city: { required: true }, units: { required: false } });
  });

  it('has nested classes inline', () => {
    const nested = {
      type: 'object',
      properties: { lat: { type: 'number' }, lon: { type: 'number' } },
      required: ['lat', 'lon'],
      additionalProperties: false,
    };
    const date = { type: 'string', format: 'date-time' };
    const stops = { type: 'array', items: nested };
    expect(fieldsOf(Trip)).toMatchObject({ stops, start: nested, end: nested, when: date });
    expect(schemaOf(Trip)['required']).toEqual(['stops', 'start']);
    expect(JSON.stringify(schemaOf(Trip))).not.toContain('$ref');
  });

  it('refers to classes that contain themselves', () => {
    expect(compile(Tree).published).toMatchObject({
      type: 'object',
      properties: { children: { items: { $ref: '#/$defs/Tree' } } },
      $defs: { Tree: { type: 'object', required: ['name'] } },
    });
    const grown = valueOf<Tree>(Tree, { name: 'a', children: [{ name: 'b', children: [] }] });
    expect(grown.children?.[0]).toBeInstanceOf(Tree);
    const cut = { name: 'a', children: [{ name: 'b', children: [{}] }] };
    expect(problemsOf(Tree, cut)).toEqual(['children[0].children[0].name is required']);
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
    expect(fieldsOf(Emitted)).toEqual({
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
    const fields = Object.values(json['properties'] as Record<string, JsonObject>);
    expect(fields.map((field) => field['default'])).toEqual([5, undefined, [1, { a: null }], undefined, undefined]);
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
      properties: { a: { type: 'string', minLength: 1 }, b: { type: 'string' }, c: { type: 'number', maximum: 3 } },
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
    expect(fieldsOf(Alarm)).toEqual({ level: { type: 'number', enum: [0, 7] } });
  });

  it('hints at formats for input only', () => {
    class Contact {
      @cv.IsEmail() email!: string;
    }
    expect(fieldsOf(Contact)).toEqual({ email: { type: 'string', format: 'email' } });
    expect(fieldsOf(Contact, 'output')).toEqual({ email: { type: 'string' } });
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
    for (const cls of [Demanding, Abstract, Spread, Shape]) {
      expect(valueOf(cls as never, { name: 'a' })).toBeInstanceOf(cls);
    }
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
    const problems = ['a needs 3 letters', 'b is no address', 'c must be an ip address'];
    expect(problemsOf(Worded, { a: 'x', b: 'x', c: 'x' })).toEqual(problems);
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
      const stop = JSON.parse(`{ "lat": 1, "lon": 2, "${key}": {} }`) as object;
      expect(problemsOf(Trip, { stops: [stop], start: point })).toEqual([`stops[0].${key} is not a known field`]);
      expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
    },
  );

  it('include keys that could pollute a prototype, even in open objects', () => {
    class Open {
      @cv.IsObject() data!: object;
    }
    const open = (data: string): string[] => problemsOf(Open, JSON.parse(`{ "data": ${data} }`));
    expect(open('{ "a": [{ "__proto__": {} }] }')).toEqual(['data.a[0].__proto__ is not a known field']);
    expect(open('{ "constructor": { "prototype": {} } }')).toEqual(['data.constructor is not a known field']);
    expect(open('{ "constructor": "Ferrari" }')).toEqual([]);
    class Inherited {
      @cv.IsString() toString!: never;
    }
    expect(problemsOf(Inherited, {})).toEqual(['toString is required']);
  });
});

describe('rules that need the instance', () => {
  const isAfter = (other: string) =>
    cv.ValidateBy({
      name: 'isAfter',
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
    const validator = { validate: (value: unknown) => Promise.resolve(value !== 'taken') };
    class Account {
      @cv.IsString() @cv.ValidateBy({ name: 'isFree', validator }) name!: string;
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
    const list = [2, 3].map((to) => ({ from: 1, to }));
    expect(problemsOf(Outer, { list })).toEqual(["list All list's elements must be unique"]);
  });

  it('are distinguished from class-validator rules with the same name', () => {
    const validator = { validate: (value: unknown) => value === 'custom' };
    class Odd {
      @cv.ValidateBy({ name: 'min', constraints: [5], validator }) value!: unknown;
    }
    expect(fieldsOf(Odd)).toEqual({ value: {} });
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

describe('class-transformer in DTOs', () => {
  class Transformed {
    @Transform(({ value }) => (typeof value === 'string' ? value.split(',') : value))
    @cv.IsArray()
    @cv.IsString({ each: true })
    @cv.ArrayMaxSize(2)
    tags!: string[];
    @Expose({ name: 'user_name' }) @cv.IsString() userName!: string;
    @Exclude({ toClassOnly: true }) @cv.IsOptional() @cv.IsString() secret?: string;
    @Expose() @cv.IsInt() limit = 10;
    @cv.IsOptional() @cv.ValidateNested() start?: Point;
    @cv.IsOptional() @cv.IsDate() at?: Date;
  }

  it('runs for DTOs that use it', () => {
    const { published: json } = compile(Transformed);
    expect(Object.keys(json['properties'] as object)).toEqual(['tags', 'user_name', 'limit', 'start', 'at']);
    expect(json).toMatchObject({ properties: { tags: {} }, required: ['tags', 'user_name'] });
    const sent = { tags: 'a,b', user_name: 'x', start: point, at: '2026-01-31T12:00:00Z' };
    const dto = valueOf<Transformed>(Transformed, sent);
    expect(dto).toBeInstanceOf(Transformed);
    expect(dto).toMatchObject({ tags: ['a', 'b'], userName: 'x', limit: 10, at: new Date('2026-01-31T12:00:00Z') });
    expect(dto.start).toBeInstanceOf(Point);
    const wrong = { tags: 'a,b,c', user_name: 'x' };
    expect(problemsOf(Transformed, wrong)).toEqual(['tags must contain no more than 2 elements']);
    expect(problemsOf(Transformed, { ...wrong, secret: 's' })).toEqual(['secret is not a known field']);
  });

  it('converts results too', () => {
    class Account {
      @cv.IsString() @Expose({ name: 'user_name' }) userName = 'x';
      @cv.IsString() @Exclude({ toPlainOnly: true }) password = 'secret';
    }
    expect(Object.keys(fieldsOf(Account, 'output') as object)).toEqual(['user_name']);
    expect(resultOf(Account, new Account())).toEqual({ user_name: 'x' });
    expect(resultOf(Account, { userName: 'y', password: 'p' })).toEqual({ user_name: 'y' });
  });
});

describe('values from text', () => {
  class Page {
    @cv.IsInt() number!: number;
    @cv.IsOptional() @cv.IsBoolean() full?: boolean;
    @cv.IsOptional() @cv.IsNumber() scale?: number;
    @cv.IsOptional() @cv.IsString() note?: string;
    @cv.IsOptional() @cv.IsArray() @cv.IsInt({ each: true }) parts?: number[];
    @cv.IsOptional() @cv.IsIn([1, 2]) level?: number;
  }
  const strings = (value: Record<string, unknown>): unknown => compile(Page).checkStrings(value);

  it('are parsed as the types of their fields', () => {
    const texts = { number: '12', full: 'true', scale: '-1.5e2', note: '7', parts: ['1', '2'], level: '2' };
    const value = { number: 12, full: true, scale: -150, note: '7', parts: [1, 2], level: 2 };
    expect(strings(texts)).toEqual({ ok: true, value });
    expect(strings({ number: '1', parts: '3' })).toMatchObject({ ok: true, value: { parts: [3] } });
  });

  it('are parsed strictly', () => {
    for (const text of ['abc', '', ' 1', '1 ', '0x1', '1.5', 'Infinity', 'NaN', '1e', '+1', '1_000']) {
      expect([text, strings({ number: text })]).toMatchObject([text, { ok: false, problems: [{ path: 'number' }] }]);
    }
    const problems = [{ path: 'full', expected: 'must be a boolean' }];
    expect(strings({ number: '1', full: 'yes' })).toEqual({ ok: false, problems });
  });
});

describe('a result', () => {
  it('may contain instances and dates, and is encoded as JSON', () => {
    const stops = [Object.assign(new Point(), point)];
    const trip = Object.assign(new Trip(), { stops, start: { ...point }, when: new Date(0) });
    expect(resultOf(Trip, trip)).toEqual({ stops: [point], start: point, when: '1970-01-01T00:00:00.000Z' });
  });

  it('must match the schema, and cannot be circular', () => {
    const tree: { name: string; children: unknown[] } = { name: 'a', children: [] };
    tree.children.push(tree);
    for (const [source, value, ...problems] of [
      [Trip, { stops: [], start: { lat: 1 } }, /^start\.lon is required$/],
      [Query, { city: 'Oslo', password: 1 }, /^password /],
      [Point, { lat: Number.NaN, lon: Infinity }, /^lat /, /^lon /],
      [Query, undefined, /./],
      [Query, [], /./],
      [Tree, tree, /circular/],
    ] as const) {
      expect(resultOf(source, value)).toEqual(problems.map((problem) => expect.stringMatching(problem)));
    }
  });
});

describe('an optional field', () => {
  it('is published without `null`, which is still accepted', () => {
    class Form {
      @cv.IsOptional() @cv.IsIn(['a', 'b']) choice?: string;
      @cv.IsOptional() @cv.NotEquals('a') other?: string;
      @cv.IsOptional() @cv.IsString() none: string | null = null;
      @cv.IsIn(['a', 1]) either!: string | number;
    }
    expect(fieldsOf(Form)).toEqual({
      choice: { type: 'string', enum: ['a', 'b'] },
      other: { type: 'string', not: { enum: ['a'] } },
      none: { type: 'string' },
      either: { type: ['string', 'number'], enum: ['a', 1] },
    });
  });

  it('does not mention `null` in any message either', () => {
    class Form {
      @cv.IsOptional() @cv.IsIn(['a', 'null']) choice?: string;
      @cv.IsOptional() @cv.Equals('a') only?: string;
      @cv.IsOptional() @cv.IsBoolean() flag?: boolean;
      @cv.IsOptional() @cv.IsInt() @cv.NotEquals(5) count?: number;
      @cv.IsOptional() @cv.ValidateNested() start?: Point;
      @cv.IsIn(['a', null]) offered!: string | null;
    }
    const wrong = { choice: 1, only: 'b', flag: 'yes', count: 'x', start: 5, offered: 'b' };
    expect(problemsOf(Form, wrong).toSorted()).toEqual([
      'choice must be a string',
      'choice must be one of "a", "null"',
      'count must be an integer',
      'flag must be a boolean',
      'offered must be one of "a", null',
      'only must be one of "a"',
      'start must be an object',
    ]);
    expect(problemsOf(Form, { ...wrong, count: 5 })).toContain('count must not be one of 5');
  });
});

it('initializers become instances if they are plain data, like received values', () => {
  class Route {
    @cv.ValidateNested() @Type(() => Point) start: Point = { ...point } as Point;
    @cv.ValidateNested({ each: true }) @Type(() => Point) stops: Point[] = [{ ...point } as Point];
  }
  const { start, stops } = valueOf<Route>(Route, {});
  expect(start).toBeInstanceOf(Point);
  expect(stops[0]).toBeInstanceOf(Point);
});

class Named {
  @cv.IsString() first!: string;
  @cv.IsString() get shout(): string {
    return this.first.toUpperCase();
  }
}

class Trimmed {
  #name = '';
  @cv.IsString() get name(): string {
    return this.#name;
  }
  set name(value: string) {
    this.#name = value.trim();
  }
}

describe('an accessor with rules', () => {
  it('sets what clients send', () => {
    expect(schemaOf(Trimmed)['properties']).toEqual({ name: { type: 'string', default: '' } });
    expect(valueOf<Trimmed>(Trimmed, { name: ' Ada ' }).name).toBe('Ada');
  });

  it('that clients could not set, or results would leave out, is an error at startup', () => {
    expect(mistakeIn(Named)).toMatch(/^Named\.shout: it has a getter but no setter.*Remove its rules.*INVALID_FIELD/);
    expect(mistakeIn(Named, 'output')).toMatch(/^Named\.shout: JSON omits .*@Expose\(\).*INVALID_FIELD/);
    expect(mistakeIn(Trimmed, 'output')).toMatch(/^Trimmed\.name: JSON omits/);
  });

  it('is sent where it is exposed, and is no default', () => {
    class Person {
      @cv.IsString() first!: string;
      @Expose() @cv.IsString() get shout(): string {
        return this.first.toUpperCase();
      }
    }
    const properties = { shout: { type: 'string' } };
    expect(schemaOf(Person, 'output')).toMatchObject({ properties, required: ['first', 'shout'] });
    expect(resultOf(Person, Object.assign(new Person(), { first: 'Ada' }))).toEqual({ first: 'Ada', shout: 'ADA' });
  });

  it('may tell the classes of a union apart', () => {
    class Circle {
      @cv.Equals('circle') get kind() {
        return 'circle';
      }
      @cv.IsPositive() radius!: number;
    }
    class Drawing {
      @cv.ValidateNested()
      @Type(() => Object, { discriminator: { property: 'kind', subTypes: [{ value: Circle, name: 'circle' }] } })
      shape!: Circle;
    }
    const { shape } = valueOf<Drawing>(Drawing, { shape: { kind: 'circle', radius: 1 } });
    expect(shape).toEqual(Object.assign(new Circle(), { radius: 1 }));
    expect(shape.kind).toBe('circle');
    expect(mistakeIn(Drawing, 'output')).toMatch(/^Circle\.kind: JSON omits/);
  });

  it('may be left out of arguments', () => {
    class Person {
      @cv.IsString() first!: string;
      @Exclude({ toClassOnly: true }) @Expose() @cv.IsString() get shout(): string {
        return this.first.toUpperCase();
      }
    }
    expect(Object.keys(schemaOf(Person)['properties'] as object)).toEqual(['first']);
    expect(valueOf<Person>(Person, { first: 'Ada' }).shout).toBe('ADA');
  });
});

it('an initializer is no default where each instance has another', () => {
  let made = 0;
  class Order {
    @cv.IsInt() id = ++made;
    @cv.IsOptional() @cv.IsString({ each: true }) tags: string[] = ['new'];
  }
  const tags = { type: 'array', items: { type: 'string' }, default: ['new'] };
  expect(schemaOf(Order)).toMatchObject({ properties: { id: { type: 'integer' }, tags } });
  expect(JSON.stringify(schemaOf(Order))).not.toMatch(/"required"|"default":\d/);
  expect(valueOf<Order>(Order, {}).id).toBe(made);
});

describe('a date', () => {
  class Meeting {
    @cv.IsDate() at!: Date;
  }
  it('must be in the calendar', () => {
    const problem = 'at must be a date and time such as "2026-01-31T12:00:00Z"';
    expect(problemsOf(Meeting, { at: '2026-02-30T00:00:00Z' })).toEqual([problem]);
    expect(problemsOf(Meeting, { at: '2026-04-31T23:59:59+02:00' })).toHaveLength(1);
    expect(valueOf<Meeting>(Meeting, { at: '2028-02-29T23:00:00-05:00' }).at).toEqual(new Date('2028-03-01T04:00:00Z'));
  });

  it('is compared with a limit that the message names, and not its source', () => {
    class Future {
      @cv.MinDate(() => new Date(0)) at!: Date;
    }
    expect(problemsOf(Future, { at: '1960-01-01T00:00:00Z' })).toEqual([expect.stringMatching(/1970/)]);
  });
});

it('says that a value is not valid where a rule has no message', () => {
  class Pair {
    @cv.ValidateBy({ name: 'even', validator: { validate: (value) => Number(value) % 2 === 0 } })
    @cv.IsInt()
    a!: number;
  }
  expect(problemsOf(Pair, { a: 1 })).toEqual(['a is not valid']);
});
