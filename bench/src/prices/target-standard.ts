import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { scope, type } from 'arktype';
import * as v from 'valibot';
import { z } from 'zod';

// Standard Schemas of three libraries. All fields are optional, so the search can combine them.

const KINDS = ['circle', 'square', 'line', 'text'] as const;

const zodNode = z.object({
  name: z.string().max(40),
  get children() {
    return z.array(zodNode).optional();
  },
});

const zodExpression: z.ZodType = z.lazy(() =>
  z.union([
    z.number(),
    ...KINDS.map((op) => z.strictObject({ op: z.literal(op), left: zodExpression, right: zodExpression.optional() })),
  ]),
);

/** Formats, unions, recursion, coercion and rules of zod. */
export const ZOD = z
  .object({
    texts: z.array(z.string().min(1).max(100)),
    emails: z.array(z.email()),
    dates: z.array(z.iso.date()),
    times: z.array(z.iso.datetime()),
    urls: z.array(z.url()),
    ids: z.array(z.uuid()),
    slow: z.string().regex(/\s+$/),
    named: z.record(z.string().regex(/^a*a*a*b$/), z.any()),
    flags: z.array(z.string().regex(/^[a-z]+(?:-[a-z]+)*$/i)),
    scalars: z.array(z.union([z.string(), z.number()])),
    unions: z.array(z.union(KINDS.map((kind) => z.object({ kind: z.literal(kind), value: z.string() })))),
    tagged: z.array(
      z.discriminatedUnion('kind', [
        z.object({ kind: z.literal('a'), value: z.string() }),
        z.object({ kind: z.literal('b'), value: z.number() }),
      ]),
    ),
    strict: z.array(z.strictObject({ sku: z.string().max(40), count: z.int().min(1).max(99) })),
    records: z.record(z.string().max(20), z.number()),
    coerced: z.array(z.coerce.number()),
    refined: z.array(z.string().refine((text) => text.length !== 3)),
    tuple: z.tuple([z.string(), z.number()], z.boolean()),
    both: z.intersection(z.object({ a: z.array(z.number()) }), z.object({ b: z.array(z.string()) })),
    tree: zodNode,
    expression: zodExpression,
  })
  .partial();

const valibotExpression: v.GenericSchema = v.lazy(() =>
  v.union([
    v.number(),
    ...KINDS.map((op) =>
      v.object({ op: v.literal(op), left: valibotExpression, right: v.optional(valibotExpression) }),
    ),
  ]),
);

/** Formats, unions and recursion of valibot. */
export const VALIBOT = toStandardJsonSchema(
  v.partial(
    v.object({
      texts: v.array(v.pipe(v.string(), v.maxLength(100))),
      emails: v.array(v.pipe(v.string(), v.email())),
      dates: v.array(v.pipe(v.string(), v.isoDate())),
      slow: v.pipe(v.string(), v.regex(/\s+$/)),
      scalars: v.array(v.union([v.string(), v.number()])),
      unions: v.array(v.union(KINDS.map((kind) => v.object({ kind: v.literal(kind), value: v.string() })))),
      strict: v.array(v.strictObject({ sku: v.string(), count: v.pipe(v.number(), v.integer(), v.minValue(1)) })),
      records: v.record(v.string(), v.number()),
      expression: valibotExpression,
    }),
  ),
);

const { fields } = scope({
  node: { name: 'string <= 40', 'children?': 'node[]' },
  circle: { kind: "'circle'", value: 'string' },
  square: { kind: "'square'", value: 'number' },
  fields: {
    'texts?': '(string <= 100)[]',
    'emails?': 'string.email[]',
    'dates?': 'string.date.iso[]',
    'scalars?': '(string | number)[]',
    'unions?': '(circle | square)[]',
    'strict?': 'circle[]',
    'records?': 'Record<string, number>',
    'tree?': 'node',
  },
}).export();

/** Formats, unions and recursion of arktype. */
export const ARKTYPE = type(fields);
