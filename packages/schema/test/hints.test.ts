import 'reflect-metadata';

import { describe, expect, it } from '@jest/globals';
import { Transform, Type } from 'class-transformer';
import * as cv from 'class-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { check, compile, Point, point, problemsOf } from './fixtures.js';

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

const { published: json } = compile(Order);
const good = { by: 'card', card: 1, coupon: 'a', place: point, amount: 1, tags: ['a'] };

describe('a field whose rules may be skipped, or see a transformed value', () => {
  it('is published with its rules, and with the empty alternative if they may be skipped (#23)', () => {
    const pointSchema = expect.objectContaining({ type: 'object', required: ['lat', 'lon'] });
    expect(json['properties']).toEqual({
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
    expect(check(Order, good).ok).toBe(true);
    expect(problemsOf(Order, { ...good, card: 0 })).toEqual([expect.stringMatching(/^card /)]);
    expect(problemsOf(Order, { ...good, tags: 'a,b,c' })).toEqual([expect.stringMatching(/^tags /)]);
  });

  it('has a published schema that accepts every accepted value if its rules may be skipped', () => {
    const fits = new Ajv2020({ strict: false, validateFormats: false }).compile(json);
    const values = [undefined, null, '', '5', 'a,b', 5, 1.5, true, [], ['a', 'b', 'c'], {}, point, 'c'];
    const fields = ['card', 'coupon', 'place'];
    let accepted = 0;
    for (const field of fields) {
      for (const value of values) {
        for (const by of ['card', 'cash']) {
          const args = JSON.parse(JSON.stringify({ ...good, by, [field]: value })) as object;
          if (!check(Order, args).ok) continue;
          accepted += 1;
          expect([args, fits(args)]).toEqual([args, true]);
        }
      }
    }
    expect(accepted).toBeGreaterThan(20);
  });

  it('has the empty alternative in results, which clients validate', () => {
    const { properties } = compile(Order, 'output').published;
    expect(properties).toMatchObject({
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
