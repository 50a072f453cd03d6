import 'reflect-metadata';

import { describe, expect, it } from '@jest/globals';
import { Exclude, Expose, Transform, Type } from 'class-transformer';
import * as cv from 'class-validator';

import type { JsonObject } from '../src/values/json.js';
import type { SchemaSource } from '../src/shape.js';
import { compile, Point, point, problemsOf, Query, Tree, Trip, valueOf } from './fixtures.js';

describe('class-transformer', () => {
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
    const dto = valueOf<Transformed>(Transformed, {
      tags: 'a,b',
      user_name: 'x',
      start: point,
      at: '2026-01-31T12:00:00Z',
    });
    expect(dto).toBeInstanceOf(Transformed);
    expect(dto).toMatchObject({ tags: ['a', 'b'], userName: 'x', limit: 10, at: new Date('2026-01-31T12:00:00Z') });
    expect(dto.start).toBeInstanceOf(Point);
    expect(problemsOf(Transformed, { tags: 'a,b,c', user_name: 'x' })).toEqual([
      'tags must contain no more than 2 elements',
    ]);
    expect(problemsOf(Transformed, { tags: 'a', user_name: 'x', secret: 's' })).toEqual([
      'secret is not a known field',
    ]);
  });

  it('converts results too', () => {
    class Account {
      @cv.IsString() @Expose({ name: 'user_name' }) userName = 'x';
      @cv.IsString() @Exclude({ toPlainOnly: true }) password = 'secret';
    }
    const shape = compile(Account, 'output');
    expect(Object.keys(shape.published['properties'] as object)).toEqual(['user_name']);
    expect(shape.checkOutput(new Account())).toEqual({ ok: true, value: { user_name: 'x' } });
    expect(shape.checkOutput({ userName: 'y', password: 'p' })).toEqual({ ok: true, value: { user_name: 'y' } });
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
    expect(strings({ number: '12', full: 'true', scale: '-1.5e2', note: '7', parts: ['1', '2'], level: '2' })).toEqual({
      ok: true,
      value: { number: 12, full: true, scale: -150, note: '7', parts: [1, 2], level: 2 },
    });
    expect(strings({ number: '1', parts: '3' })).toMatchObject({ ok: true, value: { parts: [3] } });
  });

  it('are parsed strictly', () => {
    for (const text of ['abc', '', ' 1', '1 ', '0x1', '1.5', 'Infinity', 'NaN', '1e', '+1', '1_000']) {
      expect({ text, checked: strings({ number: text }) }).toMatchObject({
        text,
        checked: { ok: false, problems: [{ path: 'number' }] },
      });
    }
    expect(strings({ number: '1', full: 'yes' })).toMatchObject({
      ok: false,
      problems: [{ expected: 'must be a boolean' }],
    });
  });
});

describe('a result', () => {
  const output = (source: SchemaSource, value: unknown): unknown => compile(source, 'output').checkOutput(value);

  it('may contain instances and dates, and is encoded as JSON', () => {
    const trip = Object.assign(new Trip(), {
      stops: [Object.assign(new Point(), point)],
      start: { ...point },
      when: new Date(0),
    });
    expect(output(Trip, trip)).toEqual({
      ok: true,
      value: { stops: [point], start: point, when: '1970-01-01T00:00:00.000Z' },
    });
  });

  it('must match the schema', () => {
    expect(output(Trip, { stops: [], start: { lat: 1 } })).toEqual({
      ok: false,
      problems: [{ path: 'start.lon', expected: 'is required' }],
    });
    expect(output(Query, { city: 'Oslo', password: 1 })).toMatchObject({ ok: false, problems: [{ path: 'password' }] });
    expect(output(Point, { lat: Number.NaN, lon: Number.POSITIVE_INFINITY })).toMatchObject({
      ok: false,
      problems: [{ path: 'lat' }, { path: 'lon' }],
    });
    expect(output(Query, undefined)).toMatchObject({ ok: false });
    expect(output(Query, [])).toMatchObject({ ok: false });
  });

  it('cannot be circular', () => {
    const tree: { name: string; children: unknown[] } = { name: 'a', children: [] };
    tree.children.push(tree);
    expect(output(Tree, tree)).toMatchObject({ ok: false, problems: [{ expected: /circular/ }] });
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
    const { properties } = compile(Form).published;
    expect(Object.values(properties as Record<string, JsonObject>)).toEqual([
      { type: 'string', enum: ['a', 'b'] },
      { type: 'string', not: { enum: ['a'] } },
      { type: 'string' },
      { type: ['string', 'number'], enum: ['a', 1] },
    ]);
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

describe('initializers', () => {
  class Route {
    @cv.ValidateNested() @Type(() => Point) start: Point = { ...point } as Point;
    @cv.ValidateNested({ each: true }) @Type(() => Point) stops: Point[] = [{ ...point } as Point];
  }

  it('become instances if they are plain data, like received values', () => {
    const { start, stops } = valueOf<Route>(Route, {});
    expect(start).toBeInstanceOf(Point);
    expect(stops[0]).toBeInstanceOf(Point);
  });
});
