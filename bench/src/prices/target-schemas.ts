// Raw JSON Schemas that use each keyword at least once.

const string = { type: 'string' };
const integer = { type: 'integer' };

const FORMATS =
  'date-time date time duration email hostname ipv4 ipv6 uri uri-reference uri-template url uuid json-pointer ' +
  'relative-json-pointer regex byte iso-time iso-date-time';

const PATTERNS = [
  '^(?:[a-z]+-)*[a-z]+$',
  '\\s+$',
  '^(?:\\d{1,3}\\.){3}\\d{1,3}$',
  '^.*;.*$',
  '(?:a|ab)(?:c|bcd)(?:d*)$',
];

/** Formats and patterns, alone and in lists. */
export const TEXTS = {
  type: 'object',
  properties: {
    ...Object.fromEntries(FORMATS.split(' ').map((format) => [format, { type: 'string', format }])),
    ...Object.fromEntries(PATTERNS.map((pattern, index) => [`pattern${index}`, { type: 'string', pattern }])),
    hosts: { type: 'array', items: { type: 'string', format: 'hostname' } },
    long: { type: 'string', minLength: 10, maxLength: 10_000 },
  },
};

/** The keywords for objects and arrays. */
export const OBJECTS = {
  type: 'object',
  properties: {
    unique: { type: 'array', uniqueItems: true },
    tuple: { type: 'array', prefixItems: [string, integer], items: { type: 'object', required: ['a'] } },
    contains: { type: 'array', contains: { type: 'object', required: ['x'] }, minContains: 2, maxContains: 3 },
    evaluated: {
      type: 'array',
      anyOf: [{ prefixItems: [string] }, { prefixItems: [integer, string] }],
      contains: { const: 1 },
      unevaluatedItems: { type: 'boolean' },
    },
    names: { type: 'object', propertyNames: { pattern: '^[a-z]+$', maxLength: 8 }, maxProperties: 5000 },
    patterns: {
      type: 'object',
      patternProperties: { '^x-': string, y$: integer, z: { type: 'array', items: integer } },
    },
    closed: {
      type: 'object',
      properties: { a: string },
      patternProperties: { '^b': integer },
      additionalProperties: false,
      minProperties: 1,
    },
    open: {
      type: 'object',
      anyOf: [
        { properties: { a: string }, required: ['a'] },
        { properties: { b: integer }, required: ['b'] },
      ],
      unevaluatedProperties: false,
    },
    dependent: {
      type: 'object',
      dependentRequired: { a: ['b', 'c'], b: ['d'] },
      dependentSchemas: { c: { properties: { d: integer }, required: ['e'] } },
      if: { properties: { a: { const: 1 } }, required: ['a'] },
      // oxlint-disable-next-line unicorn/no-thenable -- a keyword
      then: { required: ['f'] },
      else: { not: { required: ['f'] } },
    },
    numbers: { type: 'array', items: { type: 'number', multipleOf: 0.01, exclusiveMinimum: 0, maximum: 1e9 } },
    choices: { type: 'array', items: { enum: Array.from({ length: 250 }, (_, index) => `choice-${index}`) } },
    objects: { type: 'array', items: { enum: Array.from({ length: 50 }, (_, id) => ({ id, tags: ['a', 'b'] })) } },
  },
};

const kinds = (count: number, inner: object) =>
  Array.from({ length: count }, (_, index) => ({
    type: 'object',
    properties: { kind: { const: `k${index}` }, value: index % 2 === 0 ? string : integer, inner },
    required: ['kind', 'value'],
  }));

const any = { $ref: '#/$defs/any' };

/** Recursive schemas and unions. */
export const RECURSIVE = {
  type: 'object',
  properties: {
    tree: { $ref: '#/$defs/node' },
    twice: { $ref: '#/$defs/twice' },
    any,
    expression: { $ref: '#/$defs/expression' },
    unions: { type: 'array', items: { anyOf: kinds(12, { anyOf: kinds(6, { oneOf: kinds(4, {}) }) }) } },
    dynamic: { $ref: '#/$defs/dynamic' },
  },
  $defs: {
    node: {
      type: 'object',
      properties: { name: string, children: { type: 'array', items: { $ref: '#/$defs/node' } } },
      required: ['name'],
      additionalProperties: false,
    },
    twice: {
      type: 'object',
      properties: { a: { $ref: '#/$defs/twice' }, b: { $ref: '#/$defs/twice' } },
      allOf: [{ properties: { a: { $ref: '#/$defs/twice' } } }, { additionalProperties: { $ref: '#/$defs/twice' } }],
    },
    any: {
      anyOf: [
        { type: ['string', 'number', 'boolean', 'null'] },
        { type: 'array', items: any },
        { type: 'object', additionalProperties: any },
      ],
    },
    expression: {
      oneOf: [
        integer,
        ...['add', 'sub', 'mul', 'div', 'and', 'or'].map((op) => ({
          type: 'object',
          properties: {
            op: { const: op },
            left: { $ref: '#/$defs/expression' },
            right: { $ref: '#/$defs/expression' },
          },
          required: ['op', 'left', 'right'],
          additionalProperties: false,
        })),
      ],
    },
    dynamic: {
      $dynamicAnchor: 'dynamic',
      type: 'object',
      properties: { value: integer, next: { $dynamicRef: '#dynamic' } },
      allOf: [{ properties: { next: { $dynamicRef: '#dynamic' } } }],
      unevaluatedProperties: false,
    },
  },
};

/** Keywords of draft-07. */
export const DRAFT_07 = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  type: 'object',
  properties: {
    tuple: { type: 'array', items: [string, integer], additionalItems: { type: 'object', required: ['a'] } },
    dependencies: { type: 'object', dependencies: { a: ['b'], c: { required: ['d'], properties: { d: integer } } } },
    list: { type: 'array', items: { $ref: '#/definitions/entry' }, uniqueItems: true },
  },
  definitions: {
    entry: { type: 'object', properties: { id: integer, in: { $ref: '#/definitions/entry' } }, required: ['id'] },
  },
};
