import { describe, expect, it } from '@jest/globals';
import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { type } from 'arktype';
import { MinLength } from 'class-validator';
import * as v from 'valibot';
import { z } from 'zod';

import type { SchemaSource } from '../src/shape.js';
import { compileShape } from '../src/compile.js';
import { compile, valueOf } from './fixtures.js';

const sources: readonly (readonly [string, SchemaSource])[] = [
  ['zod', z.object({ name: z.string(), count: z.int().min(1).optional() })],
  ['arktype', type({ name: 'string', 'count?': 'number.integer >= 1' })],
  [
    'valibot',
    toStandardJsonSchema(
      v.object({ name: v.string(), count: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1))) }),
    ),
  ],
];

describe.each(sources)('a schema of %s', (_, source) => {
  const shape = compile(source);

  it('provides its own JSON Schema', () => {
    expect(shape.published).toMatchObject({
      type: 'object',
      properties: { name: { type: 'string' }, count: { type: 'integer', minimum: 1 } },
      required: ['name'],
    });
    expect(Object.fromEntries(shape.fields)).toEqual({ name: { required: true }, count: { required: false } });
  });

  it('validates values itself', () => {
    expect(shape.check({ name: 'a', count: 2 })).toEqual({ ok: true, value: { name: 'a', count: 2 } });
    expect(shape.check({ name: 5 })).toMatchObject({
      ok: false,
      problems: [{ path: 'name', expected: expect.any(String) }],
    });
    expect(shape.check(JSON.parse('{ "name": "a", "__proto__": {} }'))).toEqual({
      ok: false,
      problems: [{ path: '__proto__', expected: 'is not a known field' }],
    });
  });

  it('parses text', () => {
    expect(shape.checkStrings({ name: '1', count: '2' })).toEqual({ ok: true, value: { name: '1', count: 2 } });
    expect(shape.checkStrings({ name: '1', count: 'two' })).toMatchObject({ ok: false, problems: [{ path: 'count' }] });
  });

  it('validates results', () => {
    expect(shape.checkOutput({ name: 'a' })).toEqual({ ok: true, value: { name: 'a' } });
    expect(shape.checkOutput({})).toMatchObject({ ok: false });
  });
});

describe('a Standard Schema', () => {
  it('may transform, and differ between input and output', () => {
    const source = z.object({
      n: z.number().default(1),
      list: z
        .string()
        .transform((text) => text.split(','))
        .optional(),
    });
    const input = compile(source);
    expect(input.published['required']).toBeUndefined();
    expect(input.check({ list: 'a,b' })).toEqual({ ok: true, value: { n: 1, list: ['a', 'b'] } });
    const output = compile(z.object({ n: z.number().default(1) }), 'output');
    expect(output.published['required']).toEqual(['n']);
    expect(output.checkOutput({ secret: 1 })).toEqual({ ok: true, value: { n: 1 } });
  });

  it.each([
    ['refine', (rule) => z.string().refine(rule)],
    ['superRefine', (rule) => z.string().superRefine(async (value) => void (await rule(value)))],
    ['check', (rule) => z.string().check(async ({ value }) => void (await rule(value)))],
    ['transform', (rule) => z.string().transform(rule)],
    ['preprocess', (rule) => z.preprocess(rule, z.unknown())],
    ['codec', (rule) => z.codec(z.string(), z.unknown(), { decode: rule, encode: () => '' })],
    ['lazy', (rule) => z.lazy(() => z.string().refine(rule))],
  ] satisfies [string, (rule: (value: unknown) => Promise<boolean>) => z.ZodType][])(
    'calls an asynchronous rule once, wherever it is, and hands on its error: %s',
    async (_name, schemaOf) => {
      const values: unknown[] = [];
      const schema = schemaOf(async (value) => {
        values.push(value);
        await Promise.resolve();
        throw new Error(`${values.length}`);
      });
      for (const [source, value] of [
        [z.object({ a: schema }), { a: 'x' }],
        [z.object({ list: z.array(z.union([z.number(), schema.optional()])) }), { list: ['x'] }],
        [
          z.object({ pair: z.tuple([schema]).readonly(), by: z.record(z.string(), z.number()) }),
          { pair: ['x'], by: {} },
        ],
      ] as const) {
        const { published: json, check } = compile(source);
        expect(json).toBeDefined();
        await expect(check(value)).rejects.toThrow('1');
        expect(values.splice(0)).toEqual(['x']);
      }
    },
  );

  it('stays synchronous if its rules do, and becomes asynchronous with the first that waits', async () => {
    const calls: unknown[] = [];
    const rule = (name: string) => {
      calls.push(name);
      return name.length > 3 ? Promise.resolve(name !== 'taken') : name !== 'no';
    };
    const { check, checkOutput } = compile(z.object({ name: z.string().refine(rule, 'is wrong') }));
    const wrong = { ok: false, problems: [{ path: 'name', expected: 'is wrong' }] };
    expect(check({ name: 'yes' })).toEqual({ ok: true, value: { name: 'yes' } });
    expect(check({ name: 'no' })).toEqual(wrong);
    calls.length = 0;
    await expect(check({ name: 'free' })).resolves.toEqual({ ok: true, value: { name: 'free' } });
    await expect(check({ name: 'taken' })).resolves.toEqual(wrong);
    await expect(check({ name: 'no' })).resolves.toEqual(wrong);
    expect(calls).toEqual(['free', 'taken', 'no']);
    await expect(checkOutput({ name: 'free' })).resolves.toEqual({ ok: true, value: { name: 'free' } });
  });

  it('names items by their index', () => {
    const shape = compileShape(z.object({ items: z.array(z.object({ price: z.number() })) }), 'Test.member');
    expect(shape.check({ items: [{ price: 1 }, { price: 'x' }] })).toMatchObject({
      problems: [{ path: 'items[1].price' }],
    });
  });
});

it('a class with a Standard Schema as its static `schema` is checked and parsed by it (#23)', () => {
  class CityDto {
    static readonly schema = z.object({ city: z.string().trim().min(2) });
    city!: string;
  }
  expect(valueOf(CityDto, { city: ' Oslo ' })).toEqual({ city: 'Oslo' });
});

it('a DTO class whose static `schema` is something else keeps its own rules (#23)', () => {
  class NamedDto {
    static readonly schema = 'public';
    @MinLength(2) name!: string;
  }
  expect(compile(NamedDto).published).toMatchObject({
    properties: { name: { type: 'string', minLength: 2 } },
  });
});
