// The package on its own: what the README promises.
import { describe, expect, it } from '@jest/globals';
import * as cv from 'class-validator';
import { z } from 'zod';

import {
  ArrayOf,
  DateOnly,
  DecorumError,
  Describe,
  explain,
  InvalidValue,
  parse,
  schemaOf,
  serialize,
} from '../src/index.js';

class Order {
  @Describe('Article number') @cv.IsString() article!: string;
  @cv.IsInt() @cv.Min(1) count = 1;
  @cv.IsOptional() @cv.IsDate() due?: Date;
  @ArrayOf(String) notes: string[] = [];

  label() {
    return `${this.count} × ${this.article}`;
  }
}

const RAW = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] };

describe('schemaOf', () => {
  it('is the JSON Schema of a class, with what is optional and what is the default', () => {
    expect(schemaOf(Order)).toMatchObject({
      properties: { article: { type: 'string', description: 'Article number' }, count: { minimum: 1, default: 1 } },
      required: ['article'],
      additionalProperties: false,
    });
  });

  it('differs between input and output', () => {
    const source = z.object({ n: z.string().default('a') });
    expect(schemaOf(source)['required']).toBeUndefined();
    expect(schemaOf(source, 'output')['required']).toEqual(['n']);
  });

  it('names the class of a mistake', () => {
    class Untold {
      secret = 1;
    }
    expect(() => schemaOf(Untold)).toThrow(DecorumError);
    expect(() => schemaOf(Untold)).toThrow(/^Untold: the class Untold has no class-validator rules/);
    expect(() => schemaOf('text' as never)).toThrow(/^schema: the schema cannot be used/);
  });
});

describe('parse', () => {
  it('returns an instance with its initializers and converted values', async () => {
    const order = await parse(Order, { article: 'A-7', due: '2026-05-01T12:00:00Z' });
    expect(order).toBeInstanceOf(Order);
    expect(order.label()).toBe('1 × A-7');
    expect(order.due).toEqual(new Date('2026-05-01T12:00:00Z'));
  });

  it('returns what a Standard Schema returns, and the value itself for a JSON Schema', async () => {
    const { n } = await parse(z.object({ n: z.string().transform(Number) }), { n: '5' });
    expect(n satisfies number).toBe(5);
    const value: unknown = await parse(RAW, { n: 5 });
    expect(value).toEqual({ n: 5 });
  });

  it('rejects with all problems, and lists them in the message', async () => {
    const parsed = parse(Order, { count: 0, extra: true });
    await expect(parsed).rejects.toBeInstanceOf(InvalidValue);
    await expect(parsed).rejects.toThrow('article is required; extra is not a known field; count must be at least 1');
    await expect(parse(Order, [])).rejects.toThrow('the value must be an object');
  });

  it('repairs values with one possible meaning if it is told to', async () => {
    const value = { article: 'A-7', count: '5', notes: 'fragile' };
    await expect(parse(Order, value)).rejects.toThrow('count must be an integer; notes must be an array');
    expect(await parse(Order, value, { repair: true })).toMatchObject({ count: 5, notes: ['fragile'] });
    expect(value.count).toBe('5');
  });

  it('reads objects of strings', async () => {
    expect(await parse(Order, { article: '7', count: '5' }, { strings: true })).toMatchObject({
      article: '7',
      count: 5,
    });
  });
});

describe('explain', () => {
  it('lists the problems with their paths, and none for a valid value', async () => {
    expect(await explain(Order, { article: 'A-7', notes: ['a', 2] })).toEqual([
      { path: 'notes[1]', expected: 'must be a string' },
    ]);
    expect(await explain(Order, { article: 'A-7' })).toEqual([]);
    expect(await explain(Order, { article: '7', count: '5' }, { strings: true })).toEqual([]);
    expect(await explain(RAW, { n: '5' }, { repair: true })).toEqual([]);
  });

  it('awaits asynchronous rules', async () => {
    const source = z.object({ n: z.number().refine((n) => Promise.resolve(n > 4), 'too few') });
    expect(await explain(source, { n: 3 })).toEqual([{ path: 'n', expected: 'too few' }]);
  });
});

describe('serialize', () => {
  class Stay {
    @DateOnly() from = new Date('2026-05-01');
    @cv.IsDate() booked = new Date(0);
  }

  it('returns the JSON form of instances', async () => {
    expect(await serialize(Stay, new Stay())).toEqual({ from: '2026-05-01', booked: '1970-01-01T00:00:00.000Z' });
  });

  it('rejects a value that its own schema does not allow', async () => {
    await expect(serialize(Stay, { from: 5, booked: new Date(0) } as never)).rejects.toThrow('from must be');
  });
});
