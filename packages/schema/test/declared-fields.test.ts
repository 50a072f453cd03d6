import 'reflect-metadata';

import { describe, expect, it } from '@jest/globals';
import { Exclude, Expose, Transform, Type } from 'class-transformer';
import * as cv from 'class-validator';

import { RecordOf } from '../src/decorators/record-of.js';
import { compileShape } from '../src/compile.js';
import type { SchemaSource } from '../src/shape.js';
import { check, mistakeIn, Point, point, problemsOf, valueOf } from './fixtures.js';

const propertiesOf = (source: SchemaSource, direction: 'input' | 'output' = 'input') =>
  compileShape(source, 'Test.member', direction).published['properties'];

enum Level {
  Low,
  High,
}
enum Colour {
  Red = 'red',
}

describe('a type that contradicts the rules is an error at startup:', () => {
  it('rules about a string on a list', () => {
    class Post {
      @cv.IsString() tags!: string[];
    }
    expect(mistakeIn(Post)).toMatch(
      /^Post\.tags: .*array, but its rules say string\..*@IsString\(\{ each: true \}\).*INVALID_FIELD/,
    );
  });

  it('rules about a list on a string', () => {
    class Each {
      @cv.IsString({ each: true }) tag!: string;
    }
    class Whole {
      @cv.ArrayMaxSize(3) @Type(() => Object) tag!: string;
    }
    expect(mistakeIn(Each)).toMatch(
      /Each\.tag: .*declared as string.*array\. Declare an array, or remove `each: true`/,
    );
    expect(mistakeIn(Whole)).toMatch(/Whole\.tag: .*Declare an array/);
  });

  it('rules about the whole list that only its items can satisfy', () => {
    class Mixed {
      @cv.IsString() @cv.MaxLength(3, { each: true }) tags!: unknown;
    }
    expect(mistakeIn(Mixed)).toMatch(/Mixed\.tags: .*each: true/);
  });

  it('rules about another scalar', () => {
    class NumberRules {
      @cv.Min(1) name!: string;
    }
    class StringRules {
      @cv.IsOptional() @cv.IsNotEmpty() @cv.MaxLength(5) age?: number;
    }
    class BooleanType {
      @cv.IsNumberString() flag!: boolean;
    }
    class WiderRules {
      @cv.IsIn(['a', 1]) choice!: string;
    }
    class WrongEnum {
      @cv.IsEnum(Colour) level!: Level;
    }
    class ObjectRules {
      @cv.IsObject() name!: string;
    }
    expect(mistakeIn(NumberRules)).toMatch(
      /NumberRules\.name: .*declared as string.*say number\. Declare the field as number, or use rules for a string/,
    );
    for (const cls of [StringRules, BooleanType, WiderRules, WrongEnum, ObjectRules]) {
      expect(mistakeIn(cls)).toMatch(/declared as .*DECORUM_INVALID_FIELD/);
    }
  });

  it('rules about text on a date, and vice versa', () => {
    class Text {
      @cv.IsDateString() when!: Date;
    }
    class NamedText {
      @cv.IsISO8601() @Type(() => Date) when!: Date;
    }
    class DateRules {
      @cv.IsDate() when!: string;
    }
    class Named {
      @cv.IsDefined() @Type(() => Date) when!: string;
    }
    expect(mistakeIn(Text)).toMatch(/Text\.when: .*Use @IsDate\(\), or declare the field as string/);
    expect(mistakeIn(NamedText)).toMatch(/NamedText\.when: /);
    expect(mistakeIn(DateRules)).toMatch(/DateRules\.when: .*Declare a Date/);
    expect(mistakeIn(Named)).toMatch(/Named\.when: .*Declare a Date/);
  });

  it('a class named by @Type', () => {
    class Named {
      @cv.IsString() @Type(() => Number) count!: string;
    }
    class Items {
      @cv.IsString({ each: true }) @Type(() => Number) counts!: unknown[];
    }
    expect(mistakeIn(Named)).toMatch(/Named\.count: .*declared as number.*say string/);
    expect(mistakeIn(Items)).toMatch(/Items\.counts: .*declared as number.*say string/);
  });

  it('a nested object on a scalar', () => {
    class Odd {
      @cv.ValidateNested() @Type(() => Point) start!: string;
    }
    expect(mistakeIn(Odd)).toMatch(/Odd\.start: .*declared as string/);
  });
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
    expect(compileShape(Page, 'Test.member', 'output').checkOutput(page)).toEqual({
      ok: true,
      value: { link: 'http://a.de/x', at: '1970-01-01T00:00:00.000Z' },
    });
    expect(mistakeIn(Page)).toMatch(/Page\.link: nothing checks that it is a URL\..*`string`/);
  });
});

describe('a list without a description of its items', () => {
  class Bare {
    @cv.IsArray() tags!: string[];
  }
  class Sized {
    @cv.IsOptional() @cv.ArrayMaxSize(3) tags?: string[];
  }
  class Emitted {
    @cv.IsOptional() tags?: string[];
  }
  class Untyped {
    @cv.IsArray() @cv.IsNotEmpty({ each: true }) tags!: string[];
  }
  class Nested {
    @cv.IsArray() points!: Point[];
  }
  class Listed {
    @cv.IsArray() @Type(() => [Point] as never) points!: Point[];
  }
  it.each([Bare, Sized, Emitted, Untyped, Nested, Listed])('is an error at startup: %p', (cls) => {
    expect(mistakeIn(cls)).toMatch(
      /\.(?:tags|points): .*@IsString\(\{ each: true \}\).*@ValidateNested\(\{ each: true \}\).*UNKNOWN_FIELD_TYPE/,
    );
  });

  it('is published with `items` if its author allows anything, or lists', () => {
    class Anything {
      @cv.IsArray() @Type(() => Object) data!: unknown[];
      @cv.IsArray({ each: true }) rows!: unknown[][];
    }
    expect(propertiesOf(Anything)).toEqual({
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
    ['a DTO without @ValidateNested', cv.IsObject(), Point],
    ['a DTO without any rule about it', cv.IsDefined(), Point],
    ['a class without rules', cv.IsObject(), Plain],
    ['what JSON cannot bring', cv.IsInstance(URL), URL],
  ])('%s', (_, decorate, type) => {
    class Order {
      item!: unknown;
    }
    decorate(Order.prototype, 'item');
    Reflect.defineMetadata('design:type', type, Order.prototype, 'item');
    expect(mistakeIn(Order)).toMatch(/Order\.item: nothing checks .*Add @ValidateNested\(\).*INVALID_FIELD/);
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
    class Order {
      @cv.Allow() @Type(() => Object) item: unknown;
    }
    Reflect.defineMetadata('design:type', type, Order.prototype, 'item');
    expect(mistakeIn(Order)).toMatch(mistake);
    expect(mistakeIn(Order, 'output')).toMatch(mistake);
  });

  it('a class that is imported with `import type`, which compilers emit as Function (#23)', () => {
    class Order {
      @cv.ValidateNested() item: unknown;
    }
    Reflect.defineMetadata('design:type', Function, Order.prototype, 'item');
    expect(mistakeIn(Order)).toMatch(/Order\.item: .*`import type`, or with `type` in the braces, import it without/);
  });
});

describe('rules that no value satisfies are an error at startup:', () => {
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
  ])('%s', (_, decorators) => {
    class Odd {
      x!: unknown;
    }
    for (const decorate of decorators) decorate(Odd.prototype, 'x');
    expect(mistakeIn(Odd)).toMatch(/Odd\.x: no value passes its rules \(@\w+.*\)\. Correct or remove.*INVALID_FIELD/);
  });
});

describe('an initializer', () => {
  class Small {
    @cv.IsInt() @cv.Min(1) limit = 0;
  }
  class Empty {
    @cv.IsNotEmpty() name: string = '';
  }
  class Unknown {
    @cv.IsOptional() @cv.IsIn(['a', 'b']) unit = 'c';
  }
  class NotANumber {
    @cv.IsNumber() odd = Number.NaN;
  }
  class Items {
    @cv.IsInt({ each: true }) counts = [1, 1.5];
  }
  class Few {
    @cv.ArrayNotEmpty() @cv.IsString({ each: true }) names: string[] = [];
  }
  class Single {
    @cv.IsString({ each: true }) names: string[] = 'a' as never;
  }
  class Run {
    @cv.IsEmail() mail = 'nobody';
  }
  class Route {
    @cv.ValidateNested() start: Point = Object.assign(new Point(), { lat: 1 });
  }
  class Stops {
    @cv.ValidateNested({ each: true }) @Type(() => Point) stops = [new Point()];
  }
  class Nothing {
    @cv.IsString() text: string | null = null;
  }
  it.each([
    [Small, /Small\.limit: .*@Min\. Correct the initializer. .*remove the initializer and declare the field with `!`/],
    [Empty, /Empty\.name: its initializer breaks @IsNotEmpty/],
    [Unknown, /Unknown\.unit: its initializer breaks @IsIn/],
    [NotANumber, /NotANumber\.odd: its initializer breaks @IsNumber/],
    [Items, /Items\.counts: its initializer breaks @IsInt/],
    [Few, /Few\.names: its initializer breaks @ArrayNotEmpty/],
    [Single, /Single\.names: its initializer breaks @IsString/],
    [Run, /Run\.mail: its initializer breaks @isEmail/i],
    [Route, /Route\.start: its initializer breaks @IsNumber of Point\.lon\./],
    [Stops, /Stops\.stops: its initializer breaks @IsNumber of Point\.lat\./],
    [Nothing, /Nothing\.text: .*Add @Nullable\(\) or @IsOptional\(\)/],
  ])('that breaks the rules of its field is an error at startup: %p', (cls, mistake) => {
    expect(mistakeIn(cls)).toMatch(mistake);
  });

  it('may be a placeholder in a result', () => {
    expect([Empty, Few, Route, Nothing].map((cls) => mistakeIn(cls, 'output'))).toEqual([
      'none',
      'none',
      'none',
      'none',
    ]);
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
    expect(propertiesOf(Anything)).toEqual({ limit: { default: 10 } });
    expect(propertiesOf(Annotated)).toEqual({ limit: { type: 'number', default: 10 } });
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
  it.each([Initialized, Declared, Inherited])('is an error at startup: %p', (cls) => {
    const mistake = new RegExp(`${cls.name}\\.note has no .*@Allow\\(\\).*@Exclude\\(\\).*DECORUM_NO_RULES`);
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
    expect(valueOf<Fine>(Fine, { text: 'abc' }).length()).toBe(3);
    expect(valueOf<Fine>(Fine, { text: 'abc' }).cache).toEqual(new Map());
    expect(problemsOf(Fine, { text: 'abc', cache: {} })).toEqual(['cache is not a known field']);
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

  it('is left out of results if it is excluded', () => {
    class Page {
      @cv.IsString() text = 'abc';
      @Exclude() cache = new Map<string, string>();
    }
    const shape = compileShape(Page, 'Test.member', 'output');
    expect(shape.checkOutput(new Page())).toEqual({ ok: true, value: { text: 'abc' } });
  });
});

describe('bytes', () => {
  class Upload {
    @cv.IsNotEmpty() data!: Uint8Array;
    @cv.IsOptional() thumbnail?: Buffer;
    @cv.IsOptional() @cv.IsArray() @Type(() => Uint8Array) pages?: Uint8Array[];
  }
  const shape = (direction: 'input' | 'output') => compileShape(Upload, 'Test.member', direction);

  it('are sent as base64', () => {
    expect(propertiesOf(Upload)).toMatchObject({
      data: { type: 'string', contentEncoding: 'base64', minLength: 1 },
      thumbnail: { type: 'string', contentEncoding: 'base64' },
      pages: { type: 'array', items: { type: 'string', contentEncoding: 'base64' } },
    });
    expect(propertiesOf(Upload, 'output')).toMatchObject({ data: { type: 'string', contentEncoding: 'base64' } });
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
    (data) => {
      const problems = problemsOf(Upload, { data });
      expect(problems[0]).toMatch(/^data must/);
    },
  );

  it('may be in lists', () => {
    const data = Buffer.alloc(24_000_000, 7).toString('base64');
    expect(valueOf<Upload>(Upload, { data }).data.byteLength).toBe(24_000_000);
    expect(problemsOf(Upload, { data: `${data}!` })).toEqual(['data must be base64, such as "aGVsbG8="']);
  });

  it('are encoded in results', () => {
    const result = { data: new Uint8Array(Buffer.from('hello')), thumbnail: Buffer.from([1]), pages: [] };
    expect(shape('output').checkOutput(result)).toEqual({
      ok: true,
      value: { data: 'aGVsbG8=', thumbnail: 'AQ==', pages: [] },
    });
    const raw = compileShape({ type: 'object', properties: { data: { type: 'string' } } }, 'Test.member', 'output');
    expect(raw.checkOutput({ data: Buffer.from('hello') })).toEqual({ ok: true, value: { data: 'aGVsbG8=' } });
  });

  it('cannot have rules about text or class-transformer decorators', () => {
    class Ruled {
      @cv.IsBase64() data!: Buffer;
    }
    class Renamed {
      @cv.IsDefined() data!: Buffer;
      @Expose({ name: 'file_name' }) @cv.IsString() fileName!: string;
    }
    expect(mistakeIn(Ruled)).toMatch(/Ruled\.data: .*Keep only @IsDefined.*or declare the field as string/);
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
    expect(propertiesOf(Account)).toMatchObject({ id: { type: ['integer', 'string'], pattern: '^-?[0-9]+$' } });
    const digits = '-123456789012345678901234567890';
    const account = valueOf<Account>(Account, { id: 5, others: [digits, '0', -1] });
    expect(account).toMatchObject({ id: 5n, parent: 7n, others: [BigInt(digits), 0n, -1n] });
    expect(compileShape(Account, 'Test.member').checkStrings({ id: '5' })).toMatchObject({ value: { id: 5n } });
  });

  it.each([1.5, 2 ** 53, '1.5', '', ' 1', '0x1', '1n', '9'.repeat(2000), true, null, [1]])('rejects %j', (id) => {
    expect(problemsOf(Account, { id })[0]).toMatch(/^id must/);
  });

  it('is encoded as digits', () => {
    const shape = compileShape(Account, 'Test.member', 'output');
    expect(shape.published['properties']).toMatchObject({ id: { type: 'string' } });
    expect(shape.checkOutput({ id: 2n ** 64n, others: [1n] })).toEqual({
      ok: true,
      value: { id: '18446744073709551616', others: ['1'] },
    });
    expect(shape.checkOutput({ id: 'abc' })).toMatchObject({ ok: false, problems: [{ path: 'id' }] });
  });

  it('cannot have rules about numbers', () => {
    class Ruled {
      @cv.IsInt() id!: bigint;
    }
    expect(mistakeIn(Ruled)).toMatch(
      /Ruled\.id: .*Keep only @IsDefined\(\) or @IsOptional\(\), or declare the field as integer/,
    );
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
