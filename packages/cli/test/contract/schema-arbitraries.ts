import fc from 'fast-check';

// Schemas and values over few names and numbers, so that values often fit.

type Fields = Readonly<Record<string, fc.Arbitrary<unknown>>>;

const NAMES = fc.constantFrom('a', 'b', 'c');
const SCALARS = fc.constantFrom(null, true, false, 0, 1, 2, 3, 5, 0.5, -1, '', 'a', 'ab', 'abc', 'b');
const SMALL = fc.integer({ min: 0, max: 3 });

/** An object with some of the fields. */
const some = (fields: Fields, fixed: object = {}): fc.Arbitrary<object> =>
  fc
    .uniqueArray(fc.constantFrom(...Object.keys(fields)), { minLength: 1, maxLength: 3 })
    .chain((keys) => fc.record(Object.fromEntries(keys.map((key) => [key, fields[key] as fc.Arbitrary<unknown>]))))
    .map((record) => ({ ...record, ...fixed }));

const maybe = (type: string, fields: Fields): fc.Arbitrary<object> =>
  fc.constantFrom({}, { type }).chain((fixed) => some(fields, fixed));

const limits = (schema: fc.Arbitrary<unknown>): readonly fc.Arbitrary<unknown>[] => [
  fc.constantFrom('integer', 'number').chain((type) =>
    some(
      {
        minimum: fc.integer({ min: -1, max: 4 }),
        exclusiveMinimum: fc.integer({ min: -1, max: 4 }),
        maximum: fc.integer({ min: -1, max: 5 }),
        exclusiveMaximum: fc.constantFrom(0, 1, 2.5, 6),
        multipleOf: fc.constantFrom(1, 2, 3, 0.5),
      },
      { type },
    ),
  ),
  maybe('string', { minLength: SMALL, maxLength: SMALL, pattern: fc.constantFrom('^a', 'b$', '^[ab]*$') }),
  maybe('array', {
    items: schema,
    prefixItems: fc.array(schema, { minLength: 1, maxLength: 2 }),
    minItems: SMALL,
    maxItems: SMALL,
    uniqueItems: fc.boolean(),
    contains: schema,
    minContains: SMALL,
    maxContains: SMALL,
    unevaluatedItems: fc.constant(false),
  }),
];

const objects = (schema: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  maybe('object', {
    properties: fc.dictionary(NAMES, schema, { maxKeys: 3, noNullPrototype: true }),
    required: fc.uniqueArray(NAMES, { maxLength: 2 }),
    additionalProperties: fc.oneof(fc.boolean(), schema),
    patternProperties: fc.dictionary(fc.constantFrom('^a', 'b', '^[cd]'), schema, {
      maxKeys: 2,
      noNullPrototype: true,
    }),
    propertyNames: fc.constantFrom({ maxLength: 1 }, { enum: ['a', 'b'] }, { pattern: '^[abc]' }),
    minProperties: SMALL,
    maxProperties: SMALL,
    dependentRequired: fc.dictionary(NAMES, fc.uniqueArray(NAMES, { maxLength: 2 }), {
      maxKeys: 1,
      noNullPrototype: true,
    }),
    dependentSchemas: fc.dictionary(NAMES, schema, { maxKeys: 1, noNullPrototype: true }),
    unevaluatedProperties: fc.oneof(fc.constant(false), schema),
  });

const combined = (schema: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> => {
  const several = fc.array(schema, { minLength: 1, maxLength: 3 });
  return some({
    anyOf: several,
    oneOf: several,
    allOf: several,
    not: schema,
    if: schema,
    // oxlint-disable-next-line unicorn/no-thenable
    then: schema,
    else: schema,
    unevaluatedProperties: fc.constant(false),
    properties: fc.dictionary(NAMES, schema, { maxKeys: 2, noNullPrototype: true }),
  });
};

const TYPES = [
  'string',
  'integer',
  'number',
  'null',
  'boolean',
  'array',
  'object',
  ['string', 'null'],
  ['integer', 'string'],
];

const { schema } = fc.letrec((tie) => ({
  schema: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    fc.constantFrom<unknown[]>(true, false, {}),
    fc.record({ type: fc.constantFrom(...TYPES) }),
    fc.oneof(
      fc.record({ const: SCALARS }),
      fc.record({ enum: fc.uniqueArray(SCALARS, { minLength: 1, maxLength: 3 }) }),
    ),
    ...limits(tie('schema')),
    { arbitrary: objects(tie('schema')), weight: 4 },
    { arbitrary: combined(tie('schema')), weight: 3 },
    fc.record({ $ref: fc.constantFrom('#/$defs/x', '#/$defs/y', '#') }),
  ),
}));

const documents = fc
  .tuple(schema, schema, schema)
  .map(([root, x, y]): unknown => (typeof root === 'object' ? { ...root, $defs: { x, y } } : root));

/** A schema with another value, or nothing, at one place. */
function changed(document: unknown, place: number, value: unknown): unknown {
  const copy = JSON.parse(JSON.stringify(document)) as unknown;
  const places: (readonly [owner: Record<string, unknown>, key: string])[] = [];
  const collect = (owner: unknown): void => {
    if (typeof owner !== 'object' || owner === null) return;
    for (const [key, inner] of Object.entries(owner)) {
      places.push([owner as Record<string, unknown>, key]);
      collect(inner);
    }
  };
  collect(copy);
  const [owner, key = ''] = places[place % Math.max(1, places.length)] ?? [];
  if (owner === undefined) return value ?? true;
  if (value === undefined && !Array.isArray(owner)) delete owner[key];
  else owner[key] = value ?? true;
  return copy;
}

// ajv doesn't miss a property whose name is empty
const PLACED = SCALARS.filter((value) => value !== '');

const CHANGES = fc.tuple(documents, fc.nat(), fc.option(fc.oneof(schema, SMALL, PLACED), { nil: undefined }));

const defined = ($defs: unknown) => $defs ?? { x: true, y: true };
const definitions = (document: unknown) => defined(Object(document)['$defs' as never]);

/** Pairs of schemas, many of which are compatible. */
export const PAIRS: fc.Arbitrary<readonly [unknown, unknown]> = fc.oneof(
  fc.tuple(documents, documents),
  CHANGES.map(([document, ...change]) => [document, changed(document, ...change)] as const),
  CHANGES.map(([document, ...change]) => [changed(document, ...change), document] as const),
  fc.tuple(documents, schema).map(([a, b]) => [a, { anyOf: [a, b], $defs: definitions(a) }] as const),
  fc.tuple(documents, schema).map(([a, b]) => [{ allOf: [a, b], $defs: definitions(a) }, a] as const),
);

const { input } = fc.letrec((tie) => {
  const properties = fc.dictionary(NAMES, tie('input'), { maxKeys: 3, noNullPrototype: true });
  return {
    input: fc.oneof(
      { maxDepth: 3, depthSize: 'small' },
      fc.record({ type: fc.constantFrom(...TYPES) }),
      fc.record({ enum: fc.uniqueArray(SCALARS, { minLength: 1, maxLength: 3 }) }),
      fc.record({ type: fc.constant('array'), items: tie('input') }),
      {
        arbitrary: some({ properties, required: fc.uniqueArray(NAMES, { maxLength: 2 }) }, { type: 'object' }),
        weight: 4,
      },
    ),
  };
});

const TOOLS = fc.dictionary(NAMES, input, { maxKeys: 3, noNullPrototype: true }).chain((properties) =>
  fc.record({
    type: fc.constant('object'),
    properties: fc.constant(properties),
    required: fc.uniqueArray(NAMES, { maxLength: 1 }),
  }),
);

/** Pairs of inputs that say nothing of properties without a name. */
export const INPUTS: fc.Arbitrary<readonly [unknown, unknown]> = fc.oneof(
  fc.tuple(TOOLS, TOOLS),
  fc.tuple(TOOLS, fc.nat(), fc.oneof(input, PLACED)).map(([a, ...change]) => [a, changed(a, ...change)] as const),
  fc.tuple(TOOLS, fc.nat(), fc.oneof(input, PLACED)).map(([a, ...change]) => [changed(a, ...change), a] as const),
);

/** The same schema, which says that there are no others than those that it describes or requires. */
export function closed(given: unknown): unknown {
  if (Array.isArray(given)) return given.map(closed);
  if (typeof given !== 'object' || given === null) return given;
  const { properties, ...rest } = given as Record<string, unknown>;
  const members = Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, closed(value)]));
  if (typeof properties !== 'object' || properties === null) return 'properties' in given ? given : members;
  const names = Array.isArray(rest['required']) ? rest['required'].filter((name) => typeof name === 'string') : [];
  const required = names.map((name) => [name, true] as const);
  const described = Object.entries(properties).map(([name, inner]) => [name, closed(inner)] as const);
  return { ...members, properties: Object.fromEntries([...required, ...described]), additionalProperties: false };
}

/** Values that fit many of the schemas. */
export const VALUES: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    { arbitrary: SCALARS, weight: 3 },
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd', 'ab'), tie('value'), { maxKeys: 4, noNullPrototype: true }),
  ),
})).value;

/** Values that fit many inputs. */
export const ARGUMENTS: fc.Arbitrary<unknown> = fc.dictionary(NAMES, VALUES, { maxKeys: 3, noNullPrototype: true });
