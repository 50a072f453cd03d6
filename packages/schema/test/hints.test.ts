import { describe, expect, it } from '@jest/globals';
import { ApiProperty, ApiPropertyOptional, PartialType } from '@nestjs/swagger';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { Transform, Type } from 'class-transformer';
import * as cv from 'class-validator';
import 'reflect-metadata';

import { Describe } from '../src/index.js';
import { check, compile, field, fieldsOf, mistakeIn, Point, point, problemsOf, schemaOf } from './fixtures.js';

class Order {
  @cv.IsIn(['card', 'cash']) by!: 'card' | 'cash';
  @cv.ValidateIf(({ by }: Order) => by === 'card') @cv.IsInt() @cv.Min(1) card!: number;
  @cv.ValidateIf((_, value) => value !== null) @cv.IsIn(['a', 'b']) coupon!: string | null;
  @cv.ValidateIf(({ by }: Order) => by === 'card') @cv.ValidateNested() @Type(() => Point) place!: Point;
  @Transform(({ value }) => (typeof value === 'string' ? Number(value) : value)) @cv.IsNumber() amount!: number;
  @Transform(({ value }) => (typeof value === 'string' ? value.split(',') : value))
  @cv.IsString({ each: true })
  @cv.ArrayMaxSize(2)
  tags!: string[];
  @cv.IsOptional() @Transform(({ value }) => value as unknown) @cv.IsEmail() mail?: string;
  @cv.Allow() flag!: boolean;
  @cv.Allow() anything: unknown;
}

const paid = { by: 'card', card: 1, coupon: 'a', place: point, amount: 1, tags: ['a'] };

describe('a field whose rules may be skipped, or see a transformed value', () => {
  it('is published with its rules, and with the empty alternative if they may be skipped (#23)', () => {
    const pointSchema = expect.objectContaining({ type: 'object', required: ['lat', 'lon'] });
    expect(fieldsOf(Order)).toEqual({
      by: { type: 'string', enum: ['card', 'cash'] },
      card: { anyOf: [{ type: 'integer', minimum: 1 }, {}] },
      coupon: { anyOf: [{ type: 'string', enum: ['a', 'b'] }, {}] },
      place: { anyOf: [pointSchema, {}] },
      amount: { type: 'number' },
      tags: { type: 'array', maxItems: 2, items: { type: 'string' } },
      mail: { type: 'string', format: 'email' },
      flag: { type: 'boolean' },
      anything: {},
    });
  });

  it('is still checked by its rules if they apply', () => {
    expect(check(Order, paid).ok).toBe(true);
    expect(problemsOf(Order, { ...paid, card: 0 })).toEqual([expect.stringMatching(/^card /)]);
    expect(problemsOf(Order, { ...paid, tags: 'a,b,c' })).toEqual([expect.stringMatching(/^tags /)]);
  });

  it('has a published schema that accepts every accepted value if its rules may be skipped', () => {
    const fits = new Ajv2020({ strict: false, validateFormats: false }).compile(schemaOf(Order));
    const values = [undefined, null, '', '5', 'a,b', 5, 1.5, true, [], ['a', 'b', 'c'], {}, point, 'c'];
    const fields = ['card', 'coupon', 'place'];
    let accepted = 0;
    for (const key of fields) {
      for (const value of values) {
        for (const by of ['card', 'cash']) {
          const args = JSON.parse(JSON.stringify({ ...paid, by, [key]: value })) as object;
          if (!check(Order, args).ok) continue;
          accepted += 1;
          expect([args, fits(args)]).toEqual([args, true]);
        }
      }
    }
    expect(accepted).toBeGreaterThan(20);
  });

  it('has the empty alternative in results, which clients validate', () => {
    expect(fieldsOf(Order, 'output')).toMatchObject({
      card: { anyOf: [{ type: 'integer', minimum: 1 }, {}] },
      amount: { anyOf: [{ type: 'number' }, {}] },
    });
  });

  it('gets unchanged text from a prompt or a URI', () => {
    class Page {
      @Transform(({ value }) => (value as string).split(',')) @cv.IsString({ each: true }) tags!: string[];
      @Transform(({ value }) => `${(value as string).length}`) @cv.IsNumberString() length!: string;
    }
    expect(compile(Page).checkStrings({ tags: 'a,b', length: '123' })).toMatchObject({
      ok: true,
      value: { tags: ['a', 'b'], length: '3' },
    });
  });
});

enum Unit {
  Metric = 'metric',
  Imperial = 'imperial',
}

enum Level {
  Low,
  High,
}

class Query {
  @ApiProperty({ title: 'City', description: 'Name of a city', example: 'Berlin' }) @cv.IsString() city!: string;
  @ApiPropertyOptional({ enum: Unit }) @cv.IsOptional() unit?: Unit;
  @ApiProperty({ enum: Level, examples: [0] }) @cv.IsInt() level!: Level;
  @ApiProperty({ enum: () => Unit, isArray: true }) @cv.IsArray() units!: Unit[];
  @ApiProperty({ description: 'Days', examples: { week: { value: 7 } } as never })
  @Describe({ description: 'Number of days' })
  @cv.IsInt()
  days!: number;
}

const good = { city: 'Berlin', level: 0, units: ['metric'], days: 1 };

describe('@ApiProperty', () => {
  it('gives fields their descriptions, examples and values, in results too (#23)', () => {
    expect(fieldsOf(Query)).toEqual({
      city: { title: 'City', description: 'Name of a city', type: 'string', examples: ['Berlin'] },
      unit: { type: 'string', enum: ['metric', 'imperial'] },
      level: { type: 'integer', enum: [0, 1], examples: [0] },
      units: { type: 'array', items: { type: 'string', enum: ['metric', 'imperial'] } },
      days: { description: 'Number of days', type: 'integer', examples: [7] },
    });
    expect(fieldsOf(Query, 'output')).toMatchObject({ city: { description: 'Name of a city' } });
  });

  it('lets clients send only the values of its enum (#23)', () => {
    expect(problemsOf(Query, { ...good, unit: 'metric' })).toEqual([]);
    expect(problemsOf(Query, { ...good, unit: null })).toEqual([]);
    expect(problemsOf(Query, { ...good, unit: 'kelvin' })).toEqual([expect.stringMatching(/^unit .*metric/)]);
    expect(problemsOf(Query, { ...good, level: 2 })).toEqual([expect.stringMatching(/^level /)]);
    expect(problemsOf(Query, { ...good, units: ['kelvin'] })).toEqual([expect.stringMatching(/^units/)]);
  });

  it('leaves the values to the rules that list them (#23)', () => {
    class Own {
      @ApiProperty({ enum: Unit }) @cv.IsIn([Unit.Metric]) unit!: Unit;
      @ApiProperty({ enum: Unit }) @cv.Equals('metric') only!: Unit;
    }
    expect(fieldsOf(Own)).toMatchObject({ unit: { enum: ['metric'] }, only: { const: 'metric' } });
  });

  it('says what clients send for a field with @Transform (#23)', () => {
    class Named {
      @ApiProperty({ enum: ['low', 'high'] })
      @Transform(({ value }) => ['low', 'high'].indexOf(value as string))
      @cv.IsEnum(Level)
      level!: Level;
      @ApiProperty({ enum: ['low', 'high'], isArray: true })
      @Transform(({ value }) => (value as string[]).map((each) => ['low', 'high'].indexOf(each)))
      @cv.IsEnum(Level, { each: true })
      levels!: Level[];
    }
    const values = { type: 'string', enum: ['low', 'high'] };
    expect(fieldsOf(Named)).toEqual({ level: values, levels: { type: 'array', items: values } });
    expect(problemsOf(Named, { level: 'high', levels: ['low'] })).toEqual([]);
    expect(problemsOf(Named, { level: 'none', levels: [] })).toEqual([expect.stringMatching(/^level /)]);
  });

  it('applies to mapped types (#23)', () => {
    expect(fieldsOf(PartialType(Query))).toMatchObject({
      city: { description: 'Name of a city', examples: ['Berlin'] },
      unit: { enum: ['metric', 'imperial'] },
    });
  });

  it('may come from the compiler plugin, which subclasses and decorators refine (#23)', () => {
    class Base {
      @cv.IsString() name!: string;
      @cv.IsOptional() unit?: Unit;
      static _OPENAPI_METADATA_FACTORY() {
        return { name: { description: 'A name', example: 'a' }, unit: { enum: Unit } };
      }
    }
    class Refined extends Base {
      @ApiProperty({ description: 'Full name' }) declare name: string;
      @cv.IsInt() size!: number;
      static override _OPENAPI_METADATA_FACTORY() {
        return { size: { description: 'In bytes' } } as never;
      }
    }
    expect(fieldsOf(Refined)).toEqual({
      name: { description: 'Full name', type: 'string', examples: ['a'] },
      unit: { type: 'string', enum: ['metric', 'imperial'] },
      size: { description: 'In bytes', type: 'integer' },
    });
  });

  it('rejects an enum whose type the rules don’t accept (#23)', () => {
    const source = field(Number, ApiProperty({ enum: Unit }), cv.IsInt());
    const mistake = /accept the type integer, but the enum of @ApiProperty has another type.*DECORUM_INVALID_FIELD/;
    expect(mistakeIn(source)).toMatch(mistake);
  });
});
