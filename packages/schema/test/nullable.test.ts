import 'reflect-metadata';

import { describe, expect, it } from '@jest/globals';
import { ArrayOf, Choices, DateOnly, Nullable, RecordOf, Schema } from '../src/index.js';
import { Expose, Transform, Type } from 'class-transformer';
import * as cv from 'class-validator';

import type { SchemaSource } from '../src/shape.js';
import { check, compile, field, fieldsOf, mistakeIn, Point, problemsOf, schemaOf, valueOf } from './fixtures.js';

enum Colour {
  Red = 'red',
}

@cv.ValidatorConstraint()
class Even implements cv.ValidatorConstraintInterface {
  validate = (value: unknown) => (value as number) % 2 === 0;
}

class Kind {
  @Nullable() @cv.Equals('kind') readonly kind: 'kind' | null = 'kind';
}

class Part {
  @Nullable() @cv.IsString() name!: string | null;
}

describe('a field with @Nullable()', () => {
  class City {
    @Nullable() @cv.IsString() @cv.MaxLength(3) name!: string | null;
    @Nullable() @cv.IsEnum(Colour) colour!: Colour | null;
    @Nullable() @cv.Equals('a') only!: 'a' | null;
    @Nullable() @cv.ValidateNested() @Type(() => Point) centre!: Point | null;
    @Nullable() @cv.IsString({ each: true }) tags!: string[] | null;
    @Nullable() @cv.IsDate() founded!: Date | null;
    @Nullable() @cv.IsEmail() mail!: string | null;
    @Nullable() @Type(() => Number) population!: number | null;
  }
  class Forms {
    @Nullable() @ArrayOf(Point) points!: Point[] | null;
    @Nullable() @RecordOf(Number) prices!: Record<string, number> | null;
    @Nullable() @Choices({ c: 'Celsius' }) unit!: 'c' | null;
    @Nullable() @DateOnly() @Type(() => Date) day!: Date | null;
    @Nullable() @Type(() => Uint8Array) bytes!: Uint8Array | null;
    @Nullable() @Type(() => BigInt) id!: bigint | null;
  }
  const nulls = (source: SchemaSource) =>
    Object.fromEntries(Object.keys(fieldsOf(source) as object).map((key) => [key, null]));

  it('is published with null, and required (#22)', () => {
    expect(schemaOf(City)).toMatchObject({
      properties: {
        name: { type: ['string', 'null'], maxLength: 3 },
        colour: { type: ['string', 'null'], enum: ['red', null] },
        only: { enum: ['a', null] },
        centre: { type: ['object', 'null'], required: ['lat', 'lon'] },
        tags: { type: ['array', 'null'], items: { type: 'string' } },
        founded: { type: ['string', 'null'], format: 'date-time' },
        mail: { type: ['string', 'null'], format: 'email' },
        population: { type: ['number', 'null'] },
      },
      required: ['name', 'colour', 'only', 'centre', 'tags', 'founded', 'mail', 'population'],
    });
    expect(fieldsOf(Forms)).toMatchObject({
      points: { type: ['array', 'null'] },
      prices: { anyOf: [{ type: 'object', additionalProperties: { type: 'number' } }, { type: 'null' }] },
      unit: { anyOf: [{ oneOf: [{ const: 'c', title: 'Celsius' }] }, { type: 'null' }] },
      day: { type: ['string', 'null'], format: 'date' },
      bytes: { type: ['string', 'null'], contentEncoding: 'base64' },
      id: { type: ['integer', 'string', 'null'] },
    });
  });

  it.each([City, Forms])('reaches the handler as null, whatever its type: %p (#22)', (cls) => {
    const value = valueOf<object>(cls, nulls(cls));
    expect(value).toBeInstanceOf(cls);
    expect({ ...value }).toEqual(nulls(cls));
    expect(problemsOf(cls, {})).toHaveLength(Object.keys(nulls(cls)).length);
  });

  it('checks and converts every other value as before (#22)', () => {
    const good = { ...nulls(City), name: 'abc', centre: { lat: 1, lon: 2 }, founded: '2026-01-31T12:00:00Z' };
    const city = valueOf<City>(City, good);
    expect(city.centre).toBeInstanceOf(Point);
    expect(city.founded).toEqual(new Date('2026-01-31T12:00:00Z'));
    expect(problemsOf(City, { ...good, name: 5, colour: 'x', centre: 5, tags: [null], mail: 'no' })).toEqual([
      'name must be a string or null',
      'colour must be one of "red", null',
      'centre must be an object or null',
      'tags[0] must be a string',
      'mail must be an email',
    ]);
    const forms = valueOf<Forms>(Forms, { ...nulls(Forms), day: '2026-01-31', unit: 'c', id: '5' });
    expect(forms).toMatchObject({ day: new Date('2026-01-31'), unit: 'c', id: 5n });
    expect(problemsOf(Forms, { ...nulls(Forms), unit: 'k', prices: { a: 'x' } })).toEqual([
      'prices.a must be a number',
      'unit must be one of "c"',
    ]);
  });

  it('tells a patch what to clear and what to leave (#22)', () => {
    class Patch {
      @cv.IsOptional() @Nullable() @cv.IsString() mayor?: string | null;
      @cv.IsOptional() @cv.IsString() name?: string;
    }
    const properties = { mayor: { type: ['string', 'null'] }, name: { type: 'string' } };
    expect(schemaOf(Patch)).toEqual({ type: 'object', properties, additionalProperties: false });
    expect(valueOf(Patch, { mayor: null, name: null })).toEqual(Object.assign(new Patch(), { mayor: null }));
    expect(valueOf<Patch>(Patch, {}).mayor).toBeUndefined();
  });

  it('keeps null in place of its initializer, which may be null (#22)', () => {
    class Defaults {
      @Nullable() @cv.IsString() name: string | null = 'a';
      @Nullable() @cv.IsString() other: string | null = null;
      @Nullable() @cv.IsDate() at: Date | null = new Date(0);
    }
    expect(fieldsOf(Defaults)).toMatchObject({
      name: { type: ['string', 'null'], default: 'a' },
      other: { type: ['string', 'null'], default: null },
    });
    expect(schemaOf(Defaults)['required']).toBeUndefined();
    expect({ ...valueOf<object>(Defaults, { name: null, at: null }) }).toEqual({ name: null, other: null, at: null });
    expect(valueOf<Defaults>(Defaults, {})).toEqual(new Defaults());
  });

  it('may be null at every depth: in nested classes, items, records and unions (#22)', () => {
    class A {
      @cv.Equals('a') readonly kind = 'a';
      @Nullable() @cv.IsInt() n!: number | null;
    }
    class B {
      @cv.Equals('b') readonly kind = 'b';
    }
    class Tree {
      @Nullable() @cv.ValidateNested() @Type(() => Tree) next!: Tree | null;
    }
    class Deep {
      @cv.ValidateNested() part!: Part;
      @ArrayOf(Part) list!: Part[];
      @RecordOf(Part) record!: Record<string, Part>;
      @cv.ValidateNested() tree!: Tree;
      @Nullable()
      @cv.ValidateNested({ each: true })
      @Type(() => Object, {
        discriminator: { property: 'kind', subTypes: [{ value: A, name: 'a' }, { value: B, name: 'b' }] }, // prettier-ignore
        keepDiscriminatorProperty: true,
      })
      either!: (A | B)[] | null;
    }
    const part = { name: null };
    const given = { part, list: [part], record: { x: part }, tree: { next: { next: null } }, either: [{ kind: 'a', n: null }] }; // prettier-ignore
    const deep = valueOf<Deep>(Deep, given);
    expect(JSON.parse(JSON.stringify(deep))).toEqual(given);
    expect(deep.either?.[0]).toBeInstanceOf(A);
    expect(valueOf<Deep>(Deep, { ...given, either: null }).either).toBeNull();
    expect(problemsOf(Deep, { ...given, list: [null], record: { x: null } })).toEqual([
      'list[0] must be an object',
      'record.x must be an object',
    ]);
  });

  it('passes rules that need the instance, such as custom ones (#22)', () => {
    class Pair {
      @Nullable() @cv.IsInt() @cv.Validate(Even, { message: 'must be even' }) a!: number | null;
      @Nullable() @cv.ValidateNested() @Type(() => Part) part!: Part | null;
      @Nullable() @cv.ValidateIf(() => true) @cv.IsString() c!: string | null;
    }
    expect({ ...valueOf<object>(Pair, { a: null, part: null, c: null }) }).toEqual({ a: null, part: null, c: null });
    expect(problemsOf(Pair, { a: 1, part: null, c: null })).toEqual(['a must be even']);
  });

  it('works in classes that need class-transformer (#22)', () => {
    class Trimmed {
      @Nullable()
      @Transform(({ value }) => (typeof value === 'string' ? value.trim() : (value as unknown)))
      @cv.IsString()
      name!: string | null;
      @Expose({ name: 'when' }) @Nullable() @cv.IsDate() at!: Date | null;
    }
    expect({ ...valueOf<object>(Trimmed, { name: null, when: null }) }).toEqual({ name: null, at: null });
    expect(valueOf<Trimmed>(Trimmed, { name: ' a ', when: null }).name).toBe('a');
    expect(problemsOf(Trimmed, { name: 5, when: null })).toEqual(['name must be a string']);
  });

  it('is null for class-validator too, also in a class that copies the rules (#22)', () => {
    const city = Object.assign(new Part(), { name: null });
    expect(cv.validateSync(city)).toEqual([]);
    expect(cv.validateSync(Object.assign(new Part(), { name: 5 }))).toHaveLength(1);

    // as @nestjs/mapped-types does
    class Copy {}
    for (const rule of cv.getMetadataStorage().getTargetValidationMetadatas(Part, '', false, false)) {
      cv.getMetadataStorage().addValidationMetadata({ ...rule, target: Copy });
    }
    cv.IsOptional()(Copy.prototype, 'name');
    expect(schemaOf(Copy)).toMatchObject({ properties: { name: { type: ['string', 'null'] } } });
    expect({ ...valueOf<object>(Copy, { name: null }) }).toEqual({ name: null });
  });

  it('is inherited, and leaves an inherited @IsOptional() in force (#22)', () => {
    class Base {
      @cv.IsOptional() @cv.IsString() name?: string | null;
      @Nullable() @cv.IsString() other!: string | null;
    }
    class Sub extends Base {
      @Nullable() @cv.MaxLength(3) declare name?: string | null;
      @cv.MaxLength(3) declare other: string | null;
    }
    expect(schemaOf(Sub)).toMatchObject({
      properties: { name: { type: ['string', 'null'] }, other: { type: ['string', 'null'], maxLength: 3 } },
      required: ['other'],
    });
    expect(cv.validateSync(Object.assign(new Sub(), { other: null }))).toEqual([]);
    expect(cv.validateSync(Object.assign(new Sub(), { other: null, name: null }))).toEqual([]);
  });

  it('may be null in a result, with rules that need the instance too (#22)', () => {
    class Report {
      @Nullable() @cv.IsNumber() celsius: number | null = 0;
      @cv.IsOptional() @cv.IsString() note?: string | null = 'none';
      @cv.IsInt() @cv.Validate(Even) count!: number;
      @Nullable() @DateOnly() @Type(() => Date) day!: Date | null;
    }
    const shape = compile(Report, 'output');
    const report = { celsius: null, note: null, count: 2, day: null };
    expect(shape.published['properties']).toMatchObject({
      celsius: { type: ['number', 'null'] },
      note: { type: ['string', 'null'] },
    });
    expect(shape.checkOutput(report)).toEqual({ ok: true, value: report });
    const [celsius, note] = [{ expected: 'must be a number or null' }, { expected: 'must be a string or null' }];
    expect(shape.checkOutput({ ...report, celsius: 'x', note: 5 })).toMatchObject({ problems: [celsius, note] });
  });

  const discriminator = { property: 'kind', subTypes: [{ value: Kind, name: 'kind' }] };
  const union = Type(() => Object, { discriminator });
  it.each<[string, SchemaSource, RegExp]>([
    [
      '@IsDefined()',
      field(Object, Nullable(), cv.IsDefined(), cv.IsString()),
      /x: @Nullable .* @IsDefined\. Remove one/,
    ],
    ['@Schema()', field(Object, Nullable(), Schema({ type: 'string' })), /x: @Nullable .* @Schema\. Allow null in the/],
    [
      'a discriminator',
      field(Object, cv.ValidateNested(), union),
      /^Kind\.kind: @Nullable .* a union\. Remove @Nullable/,
    ],
    ['no type', field(Object, Nullable()), /x: .*`string \| null`.*UNKNOWN_FIELD_TYPE/],
    ['no class', field(Object, Nullable(), cv.ValidateNested()), /x: .*`Item \| null`.*@Type\(\(\) => TheClass\)/],
  ])('does not start with what contradicts it: %s (#22)', (_, source, message) => {
    expect(mistakeIn(source)).toMatch(message);
  });

  it('takes no arguments (#22)', () => {
    expect(() => {
      class Items {
        // @ts-expect-error -- takes no arguments
        @Nullable({ each: true }) @cv.IsString({ each: true }) tags!: string[];
      }
      return Items;
    }).toThrow(/Items\.tags: @Nullable takes no arguments \(.*@Schema\)\. Write @Nullable\(\)/);
  });
});

describe('null reaches the handler where the published schema admits it:', () => {
  it('with @Schema, beside @IsOptional() and an initializer (#22)', () => {
    class Patch {
      @cv.IsOptional() @Schema({ type: ['string', 'null'] }) a?: string | null;
      @cv.IsOptional() @Schema({ anyOf: [{ type: 'string' }, { type: 'null' }] }) b: string | null = 'b';
      @Schema({ enum: ['x', null] }) c: string | null = 'x';
      @cv.IsOptional() @Schema({ type: 'array', items: { type: ['string', 'null'] } }) d?: (string | null)[];
      @cv.IsOptional() @Schema({ type: 'string' }) e?: string = 'e';
    }
    const given = { a: null, b: null, c: null, d: [null], e: null };
    expect({ ...valueOf<object>(Patch, given) }).toEqual({ ...given, e: 'e' });
    expect(fieldsOf(Patch)).toMatchObject({ a: { type: ['string', 'null'] }, e: { type: 'string' } });
  });

  it('with rules that name null, and where the schema accepts anything (#22)', () => {
    class Patch {
      @cv.IsOptional() @cv.IsIn(['a', null]) choice: string | null = 'a';
      @cv.IsOptional() @Type(() => Object) any: unknown = 5;
      @cv.IsOptional() @cv.ValidateIf((_, value) => value !== null) @cv.IsString() city: string | null = 'Oslo';
      @cv.IsOptional() @cv.IsNotEmpty() @Type(() => Object) filled: unknown = 5;
    }
    expect(fieldsOf(Patch)).toMatchObject({
      choice: { enum: ['a', null], default: 'a' },
      city: { anyOf: [{ type: 'string' }, {}] },
    });
    const given = { choice: null, any: null, city: null, filled: null };
    expect({ ...valueOf<object>(Patch, given) }).toEqual({ ...given, filled: 5 });
  });

  it('and counts as absent where it does not (#22)', () => {
    class Patch {
      @cv.IsOptional() @cv.IsString() a: string = 'a';
      @cv.IsOptional() @cv.ValidateNested() b?: Point;
      @cv.IsOptional() @cv.IsDate() c?: Date;
      @cv.Allow() d: string = 'd';
    }
    expect(JSON.stringify(schemaOf(Patch))).not.toContain('null');
    expect(check(Patch, { a: null, b: null, c: null, d: null })).toEqual({ ok: true, value: new Patch() });
  });
});
