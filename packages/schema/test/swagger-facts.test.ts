// What the decorators of @nestjs/swagger say about the fields of a DTO.
import 'reflect-metadata';

import { Describe } from '../src/index.js';
import { describe, expect, it } from '@jest/globals';
import { ApiProperty, ApiPropertyOptional, PartialType } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import * as cv from 'class-validator';

import { fieldsOf, problemsOf } from './fixtures.js';

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
  it('gives fields their descriptions, examples and values (#23)', () => {
    expect(fieldsOf(Query)).toEqual({
      city: { title: 'City', description: 'Name of a city', type: 'string', examples: ['Berlin'] },
      unit: { type: 'string', enum: ['metric', 'imperial'] },
      level: { type: 'integer', enum: [0, 1], examples: [0] },
      units: { type: 'array', items: { type: 'string', enum: ['metric', 'imperial'] } },
      days: { description: 'Number of days', type: 'integer', examples: [7] },
    });
  });

  it('describes the fields of results too (#23)', () => {
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
    class Wrong {
      @ApiProperty({ enum: Unit }) @cv.IsInt() unit!: number;
    }
    expect(() => fieldsOf(Wrong)).toThrow(
      expect.objectContaining({
        code: 'DECORUM_INVALID_FIELD',
        message: expect.stringContaining('accept the type integer, but the enum of @ApiProperty has another type'),
      }),
    );
  });
});
