import 'reflect-metadata';

import { describe, expect, it } from '@jest/globals';
import { Exclude, Expose, Transform, Type } from 'class-transformer';
import * as cv from 'class-validator';

import { ArrayOf, Choices, DateOnly, Describe, RecordOf, Schema } from '../src/index.js';
import type { SchemaSource } from '../src/shape.js';
import {
  check,
  compile,
  field,
  fieldsOf,
  mistakeIn,
  Point,
  point,
  problemsOf,
  resultOf,
  startingWith,
  valueOf,
  typed,
} from './fixtures.js';

enum Level {
  Low,
  High,
}
enum Colour {
  Red = 'red',
}

it.each<[string, SchemaSource, RegExp]>([
  [
    'a string on a list',
    field(Array, cv.IsString()),
    /^Dto\.x: .*array, but its rules say string\..* as in @IsString\(\{ each: true \}\)\. \[DECORUM_INVALID_FIELD\]$/,
  ],
  [
    'items on a string',
    field(String, cv.IsString({ each: true })),
    /declared as string.*array\. Declare an array, or remove `each: true`/,
  ],
  ['a size on a string', field(String, cv.ArrayMaxSize(3), typed(Object)), /Declare an array/],
  ['a list whose items only fit', field(Object, cv.IsString(), cv.MaxLength(3, { each: true })), /each: true/],
  [
    'a number on a string',
    field(String, cv.Min(1)),
    /declared as string.*say number\. Declare the field as number, or use rules for a string/,
  ],
  ['a length on a number', field(Number, cv.IsOptional(), cv.MaxLength(5)), /declared as .*INVALID_FIELD/],
  ['digits on a boolean', field(Boolean, cv.IsNumberString()), /declared as .*INVALID_FIELD/],
  ['more than a string', field(String, cv.IsIn(['a', 1])), /declared as .*INVALID_FIELD/],
  ['an enum of another type', field(Number, cv.IsEnum(Colour)), /declared as .*INVALID_FIELD/],
  ['an object on a string', field(String, cv.IsObject()), /declared as .*INVALID_FIELD/],
  ['text on a date', field(Date, cv.IsDateString()), /Use @IsDate\(\), or declare the field as string/],
  ['text on a date by @Type', field(Date, cv.IsISO8601(), typed(Date)), /INVALID_FIELD/],
  ['a date on a string', field(String, cv.IsDate()), /Declare a Date/],
  ['@Type(() => Date) on a string', field(String, cv.IsDefined(), typed(Date)), /Declare a Date/],
  ['another @Type', field(String, cv.IsString(), typed(Number)), /declared as number.*say string/],
  ['another @Type of items', field(Array, cv.IsString({ each: true }), typed(Number)), /declared as number.* string/],
  ['a nested object on a string', field(String, cv.ValidateNested(), typed(Point)), /declared as string/],
])('a type that contradicts the rules is an error at startup: %s', (_, source, message) => {
  expect(mistakeIn(source)).toMatch(message);
});

describe('a type that agrees with the rules', () => {
  it('is accepted', () => {
    class Fine {
      @cv.IsIn(['a', null]) either!: string | null;
      @cv.IsIn(['a', 1]) union!: string | number;
      @cv.IsEnum(Level) level!: Level;
      @cv.IsEnum(Colour) colour!: Colour;
      @cv.IsInt() @Type(() => Number) count!: number;
      @cv.IsNotEmpty() name!: string;
      @cv.IsISO8601() at!: string;
      @cv.IsObject() data!: Record<string, unknown>;
      @cv.IsString({ each: true }) names!: readonly string[];
      @cv.IsArray() @Type(() => Object) anything!: unknown[];
      @cv.IsLatitude() lat!: number;
      @cv.IsBoolean() flag!: boolean;
    }
    expect(mistakeIn(Fine)).toBe('none');
  });

  it('may describe the result of @Transform', () => {
    class Made {
      @Transform(({ value }) => new URL(String(value))) @cv.IsInstance(URL) link!: URL;
      @Transform(({ value }) => String(value).split(',')) @cv.IsArray() words!: string[];
      @Transform(({ value }) => new Map(Object.entries(value as object))) @cv.IsDefined() table!: Map<string, number>;
    }
    const made = valueOf<Made>(Made, { link: 'http://a.de', words: 'a,b', table: { a: 1 } });
    expect(made).toMatchObject({ words: ['a', 'b'], table: new Map([['a', 1]]) });
  });

  it('may have a JSON form in a result', () => {
    class Page {
      @cv.IsUrl() link!: URL;
      @cv.IsISO8601() at!: Date;
    }
    const page = { link: new URL('http://a.de/x'), at: new Date(0) };
    expect(resultOf(Page, page)).toEqual({ link: 'http://a.de/x', at: '1970-01-01T00:00:00.000Z' });
    expect(mistakeIn(Page)).toMatch(/Page\.link: nothing checks that it is a URL\..*`string`/);
  });
});

describe('a list without a description of its items', () => {
  it.each([
    ['@IsArray()', field(Array, cv.IsArray())],
    ['a size', field(Array, cv.IsOptional(), cv.ArrayMaxSize(3))],
    ['its emitted type', field(Array, cv.IsOptional())],
    ['a rule that fits any item', field(Array, cv.IsArray(), cv.IsNotEmpty({ each: true }))],
    ['a list as its type', field(Array, cv.IsArray(), typed([Point]))],
  ])('is an error at startup: %s', (_, source) => {
    expect(mistakeIn(source)).toMatch(
      /\.x: .*@IsString\(\{ each: true \}\).*@ValidateNested\(\{ each: true \}\).* To accept anything, add @Type\(\(\) => Object\)\. \[DECORUM_UNKNOWN_FIELD_TYPE\]$/,
    );
  });

  it('is published with `items` if its author allows anything, or lists', () => {
    class Anything {
      @cv.IsArray() @Type(() => Object) data!: unknown[];
      @cv.IsArray({ each: true }) rows!: unknown[][];
    }
    expect(fieldsOf(Anything)).toEqual({
      data: { type: 'array', items: {} },
      rows: { type: 'array', items: { type: 'array', items: {} } },
    });
    expect(check(Anything, { data: [1, 'a', null], rows: [[1], []] }).ok).toBe(true);
    expect(problemsOf(Anything, { data: [JSON.parse('{ "__proto__": 1 }')], rows: [] })).toEqual([
      'data[0].__proto__ is not a known field',
    ]);
  });
});

describe('a class without any check is an error at startup:', () => {
  class Plain {
    name?: string;
  }
  it.each([
    ['a DTO without @ValidateNested', field(Point, cv.IsObject())],
    ['a DTO without any rule about it', field(Point, cv.IsDefined())],
    ['a class without rules', field(Plain, cv.IsObject())],
    ['what JSON cannot bring', field(URL, cv.IsInstance(URL))],
  ])('%s', (_, source) => {
    expect(mistakeIn(source)).toMatch(
      /Dto\.x: nothing checks .*Add @ValidateNested\(\).* Or declare the field as a JSON type, such as `object` or `string`\. \[DECORUM_INVALID_FIELD\]$/,
    );
  });

  it.each([
    [Map, /JSON has no Map\. Declare an array/],
    [Set, /JSON has no Set/],
    [Promise, /JSON has no Promise\. Declare the field as the value itself/],
    [Symbol, /JSON has no Symbol\. Declare a string/],
    [Function, /JSON has no Function/],
    [ArrayBuffer, /JSON has no ArrayBuffer\. Declare a Uint8Array/],
    [Blob, /JSON has no Blob\. Declare a Uint8Array/],
  ])('%p', (type, mistake) => {
    const source = field(type, cv.Allow(), typed(Object));
    expect([mistakeIn(source), mistakeIn(source, 'output')]).toEqual(Array(2).fill(expect.stringMatching(mistake)));
  });

  it('a class that is imported with `import type`, which compilers emit as Function, or a Map (#23)', () => {
    expect(mistakeIn(field(Map, cv.ValidateNested()))).toMatch(/^Dto\.x: JSON has no Map\. Declare an array/);
    expect(mistakeIn(field(Function, cv.ValidateNested()))).toMatch(
      /Dto\.x: .*`import type`, or with `type` in the braces, import it without/,
    );
  });
});

it.each([
  ['two types', [cv.IsString(), cv.IsInt()]],
  ['a length of a number', [cv.IsIn([1, 2]), cv.MaxLength(3)]],
  ['a list that is still undefined', [cv.IsIn(undefined as never)]],
  ['objects to compare with', [cv.Equals({})]],
  ['a divisor of 0', [cv.IsDivisibleBy(0)]],
  ['a range the wrong way round', [cv.Min(10), cv.Max(1)]],
  ['a positive number of at most 0', [cv.IsPositive(), cv.Max(0)]],
  ['a negative number of at least 0', [cv.IsNegative(), cv.Min(0)]],
  ['lengths the wrong way round', [cv.Length(5, 2)]],
  ['sizes the wrong way round', [cv.ArrayMinSize(2), cv.ArrayMaxSize(1), cv.IsInt({ each: true })]],
  ['items of two types', [cv.IsString({ each: true }), cv.IsInt({ each: true })]],
  ['two lists', [cv.IsIn(['a']), cv.IsIn(['b'])]],
  ['a list beyond a limit', [cv.IsIn([1, 2]), cv.Min(5)]],
  ['a value that is denied', [cv.Equals('a'), cv.NotEquals('a')]],
  ['a day as a number', [DateOnly(), cv.Min(4)]],
  ['a choice that is too short', [Choices({ a: 'A' }), cv.MinLength(2)]],
])('rules that no value satisfies are an error at startup: %s', (_, decorators) => {
  expect(mistakeIn(field(Object, ...decorators))).toMatch(
    /Dto\.x: no value passes its rules \(@\w+.*\)\. Correct or remove.*INVALID_FIELD/,
  );
});

describe('an initializer', () => {
  const empty = startingWith('', String, cv.IsNotEmpty());
  const few = startingWith([], Array, cv.ArrayNotEmpty(), cv.IsString({ each: true }));
  const route = startingWith(Object.assign(new Point(), { lat: 1 }), Point, cv.ValidateNested());
  const nothing = startingWith(null, Object, cv.IsString());

  it.each<[string, SchemaSource, RegExp]>([
    [
      'a limit',
      startingWith(0, Number, cv.IsInt(), cv.Min(1)),
      /x: .*@Min\. Correct the initializer. .*remove the initializer and declare the field with `!`/,
    ],
    ['emptiness', empty, /x: its initializer breaks @IsNotEmpty/],
    ['a list of values', startingWith('c', String, cv.IsOptional(), cv.IsIn(['a', 'b'])), /breaks @IsIn/],
    ['a number', startingWith(Number.NaN, Number, cv.IsNumber()), /breaks @IsNumber/],
    ['an item', startingWith([1, 1.5], Array, cv.IsInt({ each: true })), /breaks @IsInt/],
    ['a size', few, /breaks @ArrayNotEmpty/],
    ['a list', startingWith('a', Array, cv.IsString({ each: true })), /breaks @IsString/],
    ['a rule that runs', startingWith('nobody', String, cv.IsEmail()), /breaks @isEmail/i],
    ['a nested rule', route, /breaks @IsNumber of Point\.lon\./],
    [
      'a nested rule of an item',
      startingWith([new Point()], Array, cv.ValidateNested({ each: true }), typed(Point)),
      /breaks @IsNumber of Point\.lat\./,
    ],
    ['null', nothing, /Add @Nullable\(\) or @IsOptional\(\)/],
    ['@Schema', startingWith('a', Object, Schema({ type: 'integer' })), /breaks @Schema\. Correct .*FIELD/],
    ['@Choices', startingWith('f', Object, Choices({ c: 'Celsius' })), /breaks @Choices\. Correct .*FIELD/],
    ['@ArrayOf', startingWith([1], Object, ArrayOf(String)), /breaks @ArrayOf\. Correct .*FIELD/],
    ['@RecordOf', startingWith({ a: 'b' }, Object, RecordOf(Number)), /breaks @RecordOf\. Correct .*FIELD/],
    ['@DateOnly', startingWith('2026-02-30', String, DateOnly()), /breaks @DateOnly\. Correct .*FIELD/],
  ])('that breaks the rules of its field is an error at startup: %s', (_, source, mistake) => {
    expect(mistakeIn(source)).toMatch(mistake);
  });

  it('may be a placeholder in a result', () => {
    const mistakes = [empty, few, route, nothing].map((source) => mistakeIn(source, 'output'));
    expect(mistakes).toEqual(Array(4).fill('none'));
  });

  it('may be an empty record of objects', () => {
    class Places {
      @RecordOf(Point) points: Record<string, Point> = {};
      @RecordOf(Number) @cv.Min(0, { each: true }) heights: Record<string, number> = { top: 1 };
    }
    class Depths {
      @RecordOf(Number) @cv.Min(0, { each: true }) heights: Record<string, number> = { top: -1 };
    }
    expect(mistakeIn(Places)).toBe('none');
    expect(mistakeIn(Depths)).toMatch(/Depths\.heights: its initializer breaks @Min\./);
  });

  it('does not determine the type of its field, because TypeScript emits none for it', () => {
    class Inferred {
      @cv.IsOptional() limit = 10;
    }
    class Wide {
      @cv.IsOptional() limit: number | string = 10;
    }
    class Anything {
      @cv.IsOptional() @Type(() => Object) limit: number | string = 10;
    }
    class Annotated {
      @cv.IsOptional() limit: number = 10;
    }
    expect(mistakeIn(Inferred)).toMatch(/Inferred\.limit: .*`limit: number = 10`.*UNKNOWN_FIELD_TYPE/);
    expect(mistakeIn(Wide)).toMatch(/Wide\.limit: .*@Type\(\(\) => Object\)/);
    expect(fieldsOf(Anything)).toEqual({ limit: { default: 10 } });
    expect(fieldsOf(Annotated)).toEqual({ limit: { type: 'number', default: 10 } });
  });

  it('may be anything if no rule always applies', () => {
    const tried: unknown[] = [];
    const custom: PropertyDecorator = (target, key) =>
      cv.registerDecorator({
        target: target.constructor,
        propertyName: key as string,
        validator: { validate: (value) => tried.push(value) === 0 },
      });
    class Fine {
      @cv.ValidateIf(() => false) @cv.IsInt() a = 'x';
      @custom @cv.IsOptional() b: string = 'x';
      @cv.IsOptional() @cv.IsString() c: string | null = null;
      @cv.IsDate() d = new Date(0);
      @cv.IsInt({ validateIf: () => false }) e: number = 1.5;
    }
    expect(mistakeIn(Fine)).toBe('none');
    expect(tried).toEqual([]);
  });
});

describe('a field without a rule', () => {
  class Initialized {
    @cv.IsString() text!: string;
    note = '';
  }
  class Declared {
    @cv.IsString() text!: string;
    note?: string;
  }
  class Inherited extends Initialized {
    @cv.IsInt() count!: number;
  }
  class Described {
    @cv.IsString() text!: string;
    @Describe('no rule') note!: string;
  }
  it.each([Initialized, Declared, Inherited, Described])('is an error at startup: %p', (cls) => {
    const mistake = new RegExp(
      `${cls.name}\\.note has no .*@Allow\\(\\).* or decorate it with @Exclude\\(\\) from class-transformer\\. \\[DECORUM_NO_RULES`,
    );
    expect(mistakeIn(cls)).toMatch(mistake);
    expect(mistakeIn(cls, 'output')).toMatch(mistake);
  });

  it('is accepted if it is private, excluded, a method or an accessor', () => {
    class Fine {
      @cv.IsString() text!: string;
      #calls = 0;
      static shared = 1;
      @Exclude() cache = new Map<string, string>();
      length = (): number => this.text.length;
      get calls(): number {
        return (this.#calls += 1);
      }
    }
    const fine = valueOf<Fine>(Fine, { text: 'abc' });
    expect([fine.length(), fine.cache]).toEqual([3, new Map()]);
    expect(problemsOf(Fine, { text: 'abc', cache: {} })).toEqual(['cache is not a known field']);
    // and results leave it out
    class Page {
      @cv.IsString() text = 'abc';
      @Exclude() cache = new Map<string, string>();
    }
    expect(resultOf(Page, new Page())).toEqual({ text: 'abc' });
  });

  it('is accepted if it is static, even if another class has a rule on a static field of that name (#23)', () => {
    class Other {
      @cv.IsString() static brand: string = 'other';
    }
    class Fine {
      @cv.IsString() text!: string;
      static brand = Other.brand;
    }
    expect(mistakeIn(Fine)).toBe('none');
    class Wrong {
      @cv.IsString() text!: string;
      @cv.IsString() static brand: string = 'wrong';
    }
    expect(mistakeIn(Wrong)).toContain('Wrong.brand: it is static');
  });
});

describe('bytes', () => {
  class Upload {
    @cv.IsNotEmpty() data!: Uint8Array;
    @cv.IsOptional() thumbnail?: Buffer;
    @cv.IsOptional() @cv.IsArray() @Type(() => Uint8Array) pages?: Uint8Array[];
  }

  it('are sent as base64', () => {
    expect(fieldsOf(Upload)).toMatchObject({
      data: { type: 'string', contentEncoding: 'base64', minLength: 1 },
      thumbnail: { type: 'string', contentEncoding: 'base64' },
      pages: { type: 'array', items: { type: 'string', contentEncoding: 'base64' } },
    });
    expect(fieldsOf(Upload, 'output')).toMatchObject({ data: { type: 'string', contentEncoding: 'base64' } });
  });

  it('reach the handler decoded', () => {
    const upload = valueOf<Upload>(Upload, { data: 'aGVsbG8=', thumbnail: '+/8A', pages: ['', 'AQI='] });
    expect(upload.data).toEqual(new Uint8Array(Buffer.from('hello')));
    expect(upload.data).not.toBeInstanceOf(Buffer);
    expect(upload.data.buffer.byteLength).toBe(5);
    expect(upload.thumbnail).toEqual(Buffer.from([0xfb, 0xff, 0]));
    expect(valueOf<Upload>(Upload, { data: 'AA==', thumbnail: null }).thumbnail).toBeUndefined();
    expect(upload.pages).toEqual([new Uint8Array(), new Uint8Array([1, 2])]);
  });

  it.each([5, null, '', 'aGVsbG8', 'aGVsbG8=\n', 'a-_=', '====', 'hällo', [104, 105], { type: 'Buffer', data: [] }])(
    'are not %j',
    (data) => expect(problemsOf(Upload, { data })[0]).toMatch(/^data must/),
  );

  it('may be 24 MB', () => {
    const data = Buffer.alloc(24_000_000, 7).toString('base64');
    expect(valueOf<Upload>(Upload, { data }).data.byteLength).toBe(24_000_000);
    expect(problemsOf(Upload, { data: `${data}!` })).toEqual(['data must be base64, such as "aGVsbG8="']);
  });

  it('are encoded in results', () => {
    const result = { data: new Uint8Array(Buffer.from('hello')), thumbnail: Buffer.from([1]), pages: [] };
    expect(resultOf(Upload, result)).toEqual({ data: 'aGVsbG8=', thumbnail: 'AQ==', pages: [] });
    const raw = { type: 'object', properties: { data: { type: 'string' } } };
    expect(resultOf(raw, { data: Buffer.from('hello') })).toEqual({ data: 'aGVsbG8=' });
  });

  it('cannot have rules about text or class-transformer decorators', () => {
    class Renamed {
      @cv.IsDefined() data!: Buffer;
      @Expose({ name: 'file_name' }) @cv.IsString() fileName!: string;
    }
    const ruled = /Dto\.x: .*Keep only @IsDefined.*or declare the field as string/;
    expect(mistakeIn(field(Buffer, cv.IsBase64()))).toMatch(ruled);
    expect(mistakeIn(Renamed)).toMatch(/Renamed\.data: class-transformer.*@Transform\(\)/);
  });
});

describe('a bigint', () => {
  class Account {
    @cv.IsDefined() id!: bigint;
    @cv.IsOptional() parent?: bigint = 7n;
    @cv.IsOptional() @cv.IsArray() @Type(() => BigInt) others?: bigint[];
  }

  it('is sent as an integer or as decimal digits', () => {
    expect(fieldsOf(Account)).toMatchObject({ id: { type: ['integer', 'string'], pattern: '^-?[0-9]+$' } });
    const digits = '-123456789012345678901234567890';
    const account = valueOf<Account>(Account, { id: 5, others: [digits, '0', -1] });
    expect(account).toMatchObject({ id: 5n, parent: 7n, others: [BigInt(digits), 0n, -1n] });
    expect(compile(Account).checkStrings({ id: '5' })).toMatchObject({ value: { id: 5n } });
  });

  it.each([1.5, 2 ** 53, '1.5', '', ' 1', '0x1', '1n', '9'.repeat(2000), true, null, [1]])('rejects %j', (id) => {
    expect(problemsOf(Account, { id })[0]).toMatch(/^id must/);
  });

  it('is encoded as digits', () => {
    expect(fieldsOf(Account, 'output')).toMatchObject({ id: { type: 'string' } });
    expect(resultOf(Account, { id: 2n ** 64n, others: [1n] })).toEqual({ id: '18446744073709551616', others: ['1'] });
    expect(resultOf(Account, { id: 'abc' })).toEqual([expect.stringMatching(/^id /)]);
  });

  it('cannot have rules about numbers', () => {
    const mistake = /Dto\.x: .*Keep only @IsDefined\(\) or @IsOptional\(\), or declare the field as integer/;
    expect(mistakeIn(field(BigInt, cv.IsInt()))).toMatch(mistake);
  });

  it('can be combined with rules that need the instance', () => {
    class Pair {
      @cv.IsDefined() low!: bigint;
      @cv.ValidateBy({
        name: 'isAbove',
        validator: { validate: (high, args) => high > (args as { object: Pair }).object.low },
      })
      high!: bigint;
      @cv.ValidateNested() at: Point = Object.assign(new Point(), point);
    }
    expect(check(Pair, { low: 1, high: '2' }).ok).toBe(true);
    expect(check(Pair, { low: '2', high: 1 }).ok).toBe(false);
  });
});
