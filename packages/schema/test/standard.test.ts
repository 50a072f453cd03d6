import { describe, expect, it } from '@jest/globals';
import type { StandardSchemaV1 } from '@standard-schema/spec';
import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { scope, type } from 'arktype';
import { MinLength } from 'class-validator';
import fc from 'fast-check';
import * as v from 'valibot';
import { z } from 'zod';

import type { SchemaSource } from '../src/shape.js';
import { compile, problemsOf, resultOf, valueOf } from './fixtures.js';

const optionalCount = v.optional(v.pipe(v.number(), v.integer(), v.minValue(1)));
const sources: readonly (readonly [string, SchemaSource])[] = [
  ['zod', z.object({ name: z.string(), count: z.int().min(1).optional() })],
  ['arktype', type({ name: 'string', 'count?': 'number.integer >= 1' })],
  ['valibot', toStandardJsonSchema(v.object({ name: v.string(), count: optionalCount }))],
];

describe.each(sources)('a schema of %s', (_, source) => {
  const shape = compile(source);

  it('provides its own JSON Schema', () => {
    const properties = { name: { type: 'string' }, count: { type: 'integer', minimum: 1 } };
    expect(shape.published).toMatchObject({ type: 'object', properties, required: ['name'] });
    expect(Object.fromEntries(shape.fields)).toEqual({ name: { required: true }, count: { required: false } });
  });

  it('validates values itself', () => {
    expect(shape.check({ name: 'a', count: 2 })).toEqual({ ok: true, value: { name: 'a', count: 2 } });
    expect(problemsOf(source, { name: 5 })).toEqual([expect.stringMatching(/^name ./)]);
    const polluting = JSON.parse('{ "name": "a", "__proto__": {} }') as object;
    expect(problemsOf(source, polluting)).toEqual(['__proto__ is not a known field']);
  });

  it('parses text', () => {
    expect(shape.checkStrings({ name: '1', count: '2' })).toEqual({ ok: true, value: { name: '1', count: 2 } });
    expect(shape.checkStrings({ name: '1', count: 'two' })).toMatchObject({ ok: false, problems: [{ path: 'count' }] });
  });

  it('validates results', () => {
    expect(resultOf(source, { name: 'a' })).toEqual({ name: 'a' });
    expect(resultOf(source, {})).toEqual([expect.stringMatching(/^name /)]);
  });
});

describe('a Standard Schema', () => {
  it('may transform, and differ between input and output', () => {
    const list = z.string().transform((text) => text.split(','));
    const input = compile(z.object({ n: z.number().default(1), list: list.optional() }));
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
      const by = z.record(z.string(), z.number());
      const values: unknown[] = [];
      const schema = schemaOf(async (value) => {
        values.push(value);
        await Promise.resolve();
        throw new Error(`${values.length}`);
      });
      for (const [source, value] of [
        [z.object({ a: schema }), { a: 'x' }],
        [z.object({ list: z.array(z.union([z.number(), schema.optional()])) }), { list: ['x'] }],
        [z.object({ pair: z.tuple([schema]).readonly(), by }), { pair: ['x'], by: {} }],
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
    const shape = compile(z.object({ items: z.array(z.object({ price: z.number() })) }));
    expect(shape.check({ items: [{ price: 1 }, { price: 'x' }] })).toMatchObject({
      problems: [{ path: 'items[1].price' }],
    });
  });
});

it('a class is checked and parsed by a Standard Schema as its static `schema`, and else by its rules (#23)', () => {
  class CityDto {
    static readonly schema = z.object({ city: z.string().trim().min(2) });
    city!: string;
  }
  expect(valueOf(CityDto, { city: ' Oslo ' })).toEqual({ city: 'Oslo' });
  class NamedDto {
    static readonly schema = 'public';
    @MinLength(2) name!: string;
  }
  expect(compile(NamedDto).published).toMatchObject({ properties: { name: { type: 'string', minLength: 2 } } });
});

const VULNERABLE = /^(\w+\s?)*$/;
const POLYNOMIAL = /\s+$/;

/** The same schemas in three libraries, for lists, so that anything about an item is said many times. */
const zodList = (item: z.ZodType) => z.object({ items: z.array(item) });
const valibotList = (item: v.GenericSchema) => toStandardJsonSchema(v.object({ items: v.array(item) }));
const arktypeList = (item: string) => type({ items: `(${item})[]` } as never) as SchemaSource;

const copies = (item: unknown, count = 1000) => ({ items: Array.from({ length: count }, () => item) });

describe('a pattern of a Standard Schema that can take exponential time', () => {
  it.each<readonly [string, SchemaSource]>([
    ['zod', z.object({ a: z.string().regex(VULNERABLE) })],
    ['zod, with flags', z.object({ a: z.string().regex(/^([a-z]+\s?)*$/i) })],
    ['zod, after a transformation', z.object({ a: z.string().transform(String).pipe(z.string().regex(VULNERABLE)) })],
    ['zod, in a lazy schema', z.object({ a: z.lazy(() => z.record(z.string(), z.string().regex(VULNERABLE))) })],
    ['zod, for an e-mail address', z.object({ a: z.email({ pattern: VULNERABLE }) })],
    ['valibot', toStandardJsonSchema(v.object({ a: v.pipe(v.string(), v.regex(VULNERABLE)) }))],
    [
      'valibot, between transformations',
      toStandardJsonSchema(
        v.object({
          a: v.pipe(v.string(), v.transform(String), v.string(), v.regex(VULNERABLE), v.transform(String), v.string()),
        }),
      ),
    ],
    ['arktype', type({ a: VULNERABLE })],
    ['arktype, after a morph', type({ a: type('string').pipe((morphed) => morphed, type(VULNERABLE)) })],
    ['arktype, for names of fields', type({ a: { [`[/${VULNERABLE.source}/]`]: 'string' } } as never) as SchemaSource],
  ])('is an error at startup: %s (#22)', (_, source) => {
    expect(() => compile(source)).toThrow(/the pattern .* can take exponential time/);
    expect(() => compile(source, 'output')).toThrow(/DECORUM_INVALID_SCHEMA/);
  });

  it.each<readonly [string, SchemaSource]>([
    ['zod', zodList(z.object({ a: z.string().regex(VULNERABLE) }))],
    ['valibot', valibotList(v.object({ a: v.pipe(v.string(), v.regex(VULNERABLE)) }))],
    ['arktype', type({ items: type({ a: VULNERABLE }).array() }) as SchemaSource],
  ])('is reported with its field and the remedy: %s (#22)', (_, source) => {
    expect(() => compile(source)).toThrow(/of `items\[\]\.a` can take exponential time.* Rewrite it: neither/);
  });

  it.each([
    ['', VULNERABLE.source],
    [', with the flag that its escapes need', String.raw`^(\p{L}|a)+$`],
  ])('is an error for any library%s (#22)', (_, pattern) => {
    const jsonSchema = { input: () => ({ type: 'string', pattern }), output: () => ({}) };
    const standard = { version: 1, vendor: 'other', validate: (value: unknown) => ({ value }), jsonSchema };
    expect(() => compile({ '~standard': standard } as StandardSchemaV1)).toThrow(/exponential time/);
  });
});

it.each<readonly [string, SchemaSource]>([
  ['zod', z.object({ a: z.string().regex(POLYNOMIAL) })],
  ['zod, with flags', z.object({ a: z.string().regex(/\s+$/i) })],
  ['zod, with coercion', z.object({ a: z.coerce.string().regex(POLYNOMIAL) })],
  ['zod, in an alternative', z.object({ a: z.union([z.number(), z.string().regex(POLYNOMIAL).optional()]) })],
  ['valibot', toStandardJsonSchema(v.object({ a: v.pipe(v.string(), v.regex(POLYNOMIAL)) }))],
  [
    'valibot, before a transformation',
    toStandardJsonSchema(v.object({ a: v.pipe(v.string(), v.regex(POLYNOMIAL), v.transform(String)) })),
  ],
  ['arktype', type({ a: POLYNOMIAL })],
])(
  'a pattern of a Standard Schema that can take polynomial time sees no text of more than 1,000 characters: %s (#22)',
  (_, source) => {
    const { check } = compile(source);
    expect(check({ a: ' '.repeat(1000) })).toMatchObject({ ok: true });
    expect(check({ a: ' '.repeat(1001) })).toEqual({
      ok: false,
      problems: [{ path: 'a', expected: 'must have at most 1000 characters' }],
    });
  },
);

it.each<readonly [string, SchemaSource]>([
  ['zod', z.object({ a: z.record(z.string().regex(/^a*a*b$/), z.any()) })],
  ['zod, loose', z.object({ a: z.looseRecord(z.string().regex(/^a*a*b$/), z.any()) })],
  ['zod, in an alternative', z.object({ a: z.record(z.union([z.email(), z.string().regex(/^a*a*b$/)]), z.any()) })],
  ['valibot', toStandardJsonSchema(v.object({ a: v.record(v.pipe(v.string(), v.regex(/^a*a*b$/)), v.any()) }))],
  ['arktype', type({ a: { '[/^a*a*b$/]': 'number' } })],
])(
  'a pattern of a Standard Schema for names of fields sees no name of more than 1,000 characters: %s (#22)',
  (_, source) => {
    const { check } = compile(source);
    expect(check({ a: { [`${'a'.repeat(999)}b`]: 1 } })).toMatchObject({ ok: true });
    expect(check({ a: { [`${'a'.repeat(1000)}b`]: 1 } })).toMatchObject({
      ok: false,
      problems: [{ expected: 'must have at most 1000 characters' }],
    });
  },
);

it.each<readonly [string, SchemaSource, unknown, string]>([
  ['zod', zodList(z.union([z.string(), z.number()])), {}, 'items[0]: must be a string or a number'],
  ['zod, objects', zodList(z.object({ a: z.string() })), {}, 'items[0].a: is required'],
  ['zod, email', zodList(z.email()), 'x', 'items[0]: must match the pattern'],
  ['zod, flags', zodList(z.string().regex(/^[a-c]+$/i)), 'x', 'items[0]: must match the pattern'],
  ['zod, date', zodList(z.iso.date()), 'x', 'items[0]: must match the pattern'],
  ['zod, unknown fields', zodList(z.strictObject({})), { a: 1 }, 'items[0].a: is not a known field'],
  [
    'zod, alternatives',
    zodList(z.union([z.object({ a: z.string() }), z.object({ b: z.string() })])),
    {},
    'items[0]: must have one of the allowed forms',
  ],
  ['valibot', valibotList(v.union([v.string(), v.number()])), {}, 'items[0]: must have one of the allowed forms'],
  ['arktype, email', arktypeList('string.email'), 'x', 'items[0]: must match the pattern'],
  ['arktype', arktypeList('string | number'), {}, 'items[0]: must have one of the allowed forms'],
])('more problems than a library can report in time are not asked of it: %s (#22)', (_, source, item, first) => {
  let calls = 0;
  const { validate, ...rest } = source['~standard' as never] as StandardSchemaV1.Props;
  const counting = { ...rest, validate: (value: unknown) => ((calls += 1), validate(value)) };
  const { check } = compile(Object.create(source, { '~standard': { value: counting } }) as SchemaSource);
  const { problems } = check(copies(item)) as { readonly problems: readonly { path: string; expected: string }[] };
  expect(calls).toBe(0);
  expect(problems.map(({ path, expected }) => `${path}: ${expected}`.slice(0, first.length))).toEqual([first]);
  // a few problems are for the library to report, in its own words
  expect(check(copies(item, 3))).toMatchObject({ ok: false, problems: { length: expect.any(Number) } });
  expect(calls).toBe(1);
});

/** A schema of another version of zod. */
function ofZod(major: number, minor: number, schema: z.ZodType): z.ZodType {
  const { _zod: zod } = schema;
  const core: unknown = Object.create(zod, { version: { value: { major, minor } } });
  return Object.create(schema, { _zod: { value: core } });
}

describe('a recursive Standard Schema', () => {
  const OPS = ['add', 'sub', 'mul', 'div'] as const;
  const zodExpression: z.ZodType = z.lazy(() =>
    z.union([z.number(), ...OPS.map((op) => z.object({ left: zodExpression, op: z.literal(op) }))]),
  );
  const valibotExpression: v.GenericSchema = v.lazy(() =>
    v.union([v.number(), ...OPS.map((op) => v.object({ left: valibotExpression, op: v.literal(op) }))]),
  );
  const deep = (depth: number, wrap: (inner: unknown) => unknown): unknown =>
    depth === 0 ? 1 : wrap(deep(depth - 1, wrap));
  const divided = deep(50, (left) => ({ left, op: 'div' }));

  it.each<readonly [string, SchemaSource]>([
    ['a union of zod before 4.6', ofZod(4, 5, z.object({ x: zodExpression }))],
    ['a union of valibot', toStandardJsonSchema(v.object({ x: valibotExpression }))],
  ])('gives up if it reaches values by too many paths: %s (#22)', (_, source) => {
    const problems = [{ path: '', expected: 'is too complex to be checked' }];
    expect(compile(source).check({ x: divided })).toEqual({ ok: false, problems });
  });

  it('is read to the end by zod 4.6, which remembers what it has seen (#22)', () => {
    expect(compile(z.object({ x: zodExpression })).check({ x: divided })).toMatchObject({ ok: true });
  });

  it('follows the discriminators of its library, however deep (#22)', () => {
    const zod: z.ZodType = z.lazy(() =>
      z.discriminatedUnion('op', [
        z.object({ op: z.literal('end') }),
        ...OPS.map((op) => z.object({ left: zod, op: z.literal(op) })),
      ]),
    );
    const ark = scope({
      node: 'end | add | div',
      end: { op: "'end'" },
      add: { op: "'add'", left: 'node' },
      div: { op: "'div'", left: 'node' },
    } as never).export() as unknown as { readonly node: SchemaSource };
    const x = deep(50, (left) => ({ left: left === 1 ? { op: 'end' } : left, op: 'div' }));
    for (const source of [zod as SchemaSource, ark.node]) expect(compile(source).check(x)).toMatchObject({ ok: true });
  });
});

const [text, number] = [z.string(), z.number()];
const lower = text.toLowerCase();
const [onlyA, onlyB] = [z.strictObject({ a: number.optional() }), z.strictObject({ b: number.optional() })];
const lazyA = z.lazy(() => onlyA);
const firstOf = (list: unknown[]) => list.slice(0, 1);
const isLong = (given: string) => given.length > 1;

/** Schemas that accept more than they publish, or whose JSON Schema means something else than they do. */
const LENIENT: readonly (readonly [string, SchemaSource])[] = [
  ...Object.entries({
    'z.coerce': z.coerce.number(),
    'z.coerce, in a field': z.object({ a: z.coerce.string(), b: z.coerce.boolean().optional() }),
    'z.preprocess': z.preprocess((value) => Number(value), z.number()),
    'z.preprocess, in a field': z.object({ a: z.preprocess((value) => value ?? 1, z.number()) }),
    'z.catch': z.string().catch('x'),
    'z.catch, in a field': z.object({ a: z.number().catch(1), b: z.array(z.number()).catch([]) }),
    'z.default': z.object({ a: z.string().default('x'), b: z.number().prefault(1) }),
    'z.trim': z.string().trim().max(2),
    'z.trim, before': z.string().max(20).trim(),
    'z.overwrite': number.overwrite((value) => -value).max(0),
    'z.toLowerCase before a pattern': lower.regex(/^[a-z]+$/),
    'z.trim before an email': z.string().trim().email(),
    'z.toUpperCase before startsWith': z.string().toUpperCase().startsWith('A'),
    'z.union of lists': z.union([z.array(z.number()), z.array(z.string())]),
    'z.union of records': z.union([z.record(z.string(), z.number()), z.record(z.string(), z.string())]),
    'z.record of patterns': z.record(lower.regex(/^[a-z]/), z.any()),
    'z.array.overwrite': z.array(z.any()).overwrite(firstOf).max(1),
    'z.regex with flags': z.string().regex(/^a/i),
    'z.regex with flags and without': z.string().regex(/^a/i).regex(/b/),
    'z.min of an emoji': z.string().min(2),
    'z.length': z.string().length(2),
    'z.meta': z.string().meta({ type: 'integer', maxLength: 1, pattern: '^z', id: 'Meta' }),
    'z.describe': z.any().describe('x').meta({ type: 'string' }),
    'z.record of numbers': z.record(z.number(), z.any()),
    'z.record of choices': z.record(z.enum(['a', 'b']), z.any().optional()),
    'z.partialRecord': z.partialRecord(z.enum(['a', 'b']), z.any()),
    'z.looseRecord': z.looseRecord(z.string().regex(/^a/), z.number()),
    'z.intersection of strict objects': z.intersection(onlyA, onlyB),
    'z.intersection with a lazy one': z.intersection(lazyA, onlyB),
    'z.tuple': z.tuple([z.string(), z.number().optional()]),
    'z.tuple with a rest': z.tuple([z.string()], z.number()),
    'z.xor': z.xor([z.string(), z.number()]),
    'z.stringbool': z.stringbool(),
    'z.codec': z.codec(z.string(), z.number(), { decode: Number, encode: String }),
    'z.transform': z.string().transform(Number).pipe(z.number().min(5)),
    'z.email': z.email(),
    'z.iso.datetime': z.iso.datetime({ local: true }),
    'z.iso.time': z.iso.time(),
    'z.url': z.url(),
    'z.multipleOf': z.number().multipleOf(0.1),
    'z.nullish': z.string().nullish(),
    'z.readonly': z.object({ a: z.string().readonly().optional() }).readonly(),
    'z.refine': text.refine(isLong).max(20),
    'z.superRefine that changes': text.check((ctx) => void (ctx.value = ctx.value.slice(0, 1))).max(1),
    'z.json': z.json(),
    'z.literal': z.literal(['a', 1, null]),
    'z.int': z.int(),
    'z.never': z.object({ a: z.never().optional() }),
    'z.any': z.object({ a: z.any(), b: z.unknown() }),
    'z.loose': z.looseObject({ a: z.string().optional() }),
    'z.catchall': z.object({ a: z.string().optional() }).catchall(z.number()),
    'z.templateLiteral': z.templateLiteral(['a', z.number()]),
  }).map(([name, schema]) => [name, zodList(schema)] as const),
  ...Object.entries({
    'v.transform': v.pipe(v.unknown(), v.transform(Number), v.number()),
    'v.fallback': v.fallback(v.number(), 1),
    'v.fallback of a pipe': v.fallback(v.pipe(v.number(), v.minValue(5)), 5),
    'v.fallback in a field': v.object({ a: v.fallback(v.pipe(v.number(), v.minValue(5)), 5) }),
    'v.optional': v.object({ a: v.optional(v.string(), 'x'), b: v.nullish(v.number()), c: v.optional(v.boolean()) }),
    'v.tuple': v.tuple([v.string()]),
    'v.looseTuple': v.looseTuple([v.string()]),
    'v.strictTuple': v.strictTuple([v.string()]),
    'v.variant': v.variant('a', [v.object({ a: v.literal('b') }), v.object({ a: v.literal('c'), b: v.number() })]),
    'v.intersect': v.intersect([v.object({ a: v.number() }), v.object({ b: v.optional(v.number()) })]),
    'v.record': v.record(v.pipe(v.string(), v.minLength(2)), v.number()),
    'v.emoji': v.pipe(v.string(), v.emoji()),
    'v.email': v.pipe(v.string(), v.email()),
    'v.isoDateTime': v.pipe(v.string(), v.isoDateTime()),
    'v.hexColor': v.pipe(v.string(), v.hexColor()),
    'v.picklist': v.picklist(['a', 'b', '😀']),
    'v.metadata': v.pipe(v.string(), v.metadata({ type: 'integer', maxLength: 0 })),
  }).map(([name, schema]) => [name, valibotList(schema as v.GenericSchema)] as const),
  ...[
    'string <= 2',
    'string > 1',
    'string | number',
    'string.trim',
    'string.numeric.parse',
    'string.email',
    'number.integer >= 1',
    'number % 2',
    'string.date.iso',
    "'a' | 'b' | 1 | null",
    'unknown',
    'string[]',
    'string.lower',
  ].map((item) => [`arktype ${item}`, arktypeList(item)] as const),
  ['arktype, an object', type({ items: type({ a: 'string = "x"', 'b?': 'number', '+': 'reject' }).array() })],
  ['arktype, fields deleted', type({ items: type({ 'a?': 'string', '+': 'delete' }).array() })],
  ['arktype, flags', type({ items: type(/^a$/i).array() })],
  ['arktype, an index', type({ items: type({ '[string]': 'number' }).array() })],
  ['arktype, a tuple', type({ items: type(['string', 'number?']).array() })],
];

const TEXTS = ['', ...'a A b ab AB 5 😀 😀😀 a5 true x@example.com #ffffff'.split(' '), '  a  ', ' a@b.co '];
const MORE = ['2020-01-01T00:00', '2020-01-01T00:00:00', '10:00', '2020-01-01', 'https://example.com/'];
const SHAPED = [{}, ['a'], ['a', 1], { a: 'b' }, { a: 1 }, { a: 1, b: 2 }, { a: 'c', b: 1 }, { b: 1 }];
const leaf = fc.oneof(
  fc.constantFrom(...TEXTS, ...MORE),
  fc.constantFrom<unknown>(null, true, false, 0, 1, -1, 2, 5, 0.3, 1e21, -1e300),
  fc.string({ maxLength: 4 }),
);
const anyValue = fc.letrec((tie) => ({
  value: fc.oneof(
    { weight: 4, arbitrary: leaf },
    { weight: 2, arbitrary: fc.array(tie('value'), { maxLength: 3 }) },
    {
      weight: 4,
      arbitrary: fc.dictionary(fc.constantFrom('a', 'b', 'c', '1', '2', ' a '), tie('value'), {
        maxKeys: 3,
        noNullPrototype: true,
      }),
    },
  ),
})).value;

describe('what a library accepts', () => {
  const zodLists = z.union([z.array(z.number()), z.array(z.string())]);
  const zodRecords = z.union([z.record(z.string(), z.number()), z.record(z.string(), z.string())]);
  const valibotLists = v.union([v.array(v.number()), v.array(v.string())]);

  it.each<readonly [string, SchemaSource, boolean]>([
    ['lists of zod', z.object({ a: zodLists }), false],
    ['nested lists of zod', z.object({ a: z.union([z.array(z.boolean()), z.union([z.null(), zodLists])]) }), false],
    ['records of zod', z.object({ a: zodRecords }), true],
    ['lists of valibot', toStandardJsonSchema(v.object({ a: valibotLists })), false],
    ['lists of arktype', type({ a: 'number[] | string[]' }), false],
    ['records of arktype', type({ a: 'Record<string, number> | Record<string, string>' }), true],
  ])('is accepted if a later alternative fits all of it: %s (#22)', (_, source, isRecord) => {
    const { check } = compile(source);
    const large = fc.array(fc.string({ maxLength: 3 }), { minLength: 600, maxLength: 900, size: 'max' });
    const property = fc.property(large, (texts) => {
      const a = isRecord ? Object.fromEntries(texts.map((each, index) => [`k${index}`, each])) : texts;
      expect(check({ a })).toMatchObject({ ok: true });
      const neither = isRecord ? { ...a, last: null } : [...texts, null];
      expect(check({ a: neither })).toMatchObject({ ok: false });
    });
    fc.assert(property, { seed: 22, numRuns: 10 });
  });

  it.each(LENIENT)('is accepted, however much of it there is: %s (#22)', (_, source) => {
    const { check } = compile(source);
    const { validate } = source['~standard' as never] as StandardSchemaV1.Props;
    let accepted = 0;
    const property = fc.property(anyValue, (item) => {
      const outcome = validate({ items: [item] });
      if ('issues' in outcome && outcome.issues !== undefined) return;
      accepted += 1;
      // so many problems of an item would refuse the whole list
      expect(check(copies(item, 600))).toMatchObject({ ok: true });
    });
    fc.assert(property, { seed: 22, numRuns: 60, examples: [...TEXTS, ...MORE, ...SHAPED].map((item) => [item]) });
    expect(accepted).toBeGreaterThan(0);
  });
});
