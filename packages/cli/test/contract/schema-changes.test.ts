import { describe, expect, it } from '@jest/globals';

import { inputLines, object, outputLines } from './contracts.js';

const STRING = { type: 'string' };
const TREE = {
  $defs: { tree: object({ name: STRING, children: { type: 'array', items: { $ref: '#/$defs/tree' } } }) },
};
const tree = (changes: object = {}) => ({
  ...object({ root: { $ref: '#/$defs/tree' } }),
  $defs: { tree: { ...TREE.$defs.tree, ...changes } },
});

// oxlint-disable-next-line unicorn/no-thenable
const condition = (name: string) => ({ if: { required: ['a'] }, then: { required: [name] } });

describe('the input of a tool', () => {
  it.each([
    [
      'a required argument',
      object({ id: STRING }),
      object({ id: STRING, currency: STRING }, 'currency'),
      'breaking pay: argument "currency" is now required',
    ],
    [
      'an optional argument',
      object({ id: STRING }),
      object({ id: STRING, note: STRING }),
      'widening pay: argument "note" is new',
    ],
    ['the first argument', { type: 'object' }, object({ note: STRING }), 'widening pay: argument "note" is new'],
    ['no argument any more', object({ id: STRING }), object({}), 'breaking pay: argument "id" is gone'],
    [
      'an argument that may be left out now',
      object({ id: STRING }, 'id'),
      object({ id: STRING }),
      'widening pay: argument "id" is no longer required',
    ],
    [
      'text that may no longer be empty',
      object({ id: STRING }),
      object({ id: { ...STRING, minLength: 1 } }),
      'breaking pay: argument "id" must now be at least 1 character long',
    ],
    [
      'another type',
      object({ id: STRING }),
      object({ id: { type: 'integer' } }),
      'breaking pay: argument "id" no longer accepts strings',
    ],
    [
      'null',
      object({ id: STRING }),
      object({ id: { type: ['string', 'null'] } }),
      'widening pay: argument "id" also accepts null',
    ],
    [
      'fewer values',
      object({ c: { enum: ['EUR', 'USD'] } }),
      object({ c: { enum: ['USD'] } }),
      'breaking pay: argument "c" no longer accepts "EUR"',
    ],
    [
      'more values',
      object({ c: { const: 'EUR' } }),
      object({ c: { enum: ['EUR', 'USD'] } }),
      'widening pay: argument "c" also accepts "USD"',
    ],
    [
      'a tighter bound',
      object({ n: { type: 'integer', maximum: 9 } }),
      object({ n: { type: 'integer', maximum: 8 } }),
      'breaking pay: argument "n" must now be at most 8',
    ],
    [
      'a field of items',
      object({ items: { type: 'array', items: object({ price: { type: 'number' } }) } }),
      object({ items: { type: 'array', items: object({ price: { type: 'integer' } }) } }),
      'breaking pay: argument "items[].price" must now be a whole number',
    ],
    [
      'a pattern',
      object({ id: STRING }),
      object({ id: { ...STRING, pattern: '^a' } }),
      'breaking pay: argument "id" may no longer accept what it did: whether all values match "^a" is not known',
    ],
    [
      'no format',
      object({ id: { ...STRING, format: 'uuid' } }),
      object({ id: STRING }),
      'widening pay: argument "id" may accept more',
    ],
    [
      'another field of a schema in a circle',
      tree(),
      tree({ required: ['name'] }),
      'breaking pay: argument "root.name" is now required',
    ],
    [
      'a reference to nowhere',
      object({ id: STRING }),
      object({ id: { $ref: '#/$defs/id' } }),
      'breaking pay: argument "id" may no longer accept what it did: it refers to "#/$defs/id", which is not in the schema',
    ],
    [
      'a description',
      object({ id: STRING }),
      object({ id: { ...STRING, description: 'The id' } }),
      'wording pay: argument "id" has a description now',
    ],
  ])('with %s', (_title, before, after, line) => {
    expect(inputLines(before, after)).toEqual([line]);
  });

  it.each([
    [
      'the same bound in other words',
      object({ n: { type: 'integer', minimum: 0 } }),
      object({ n: { type: 'integer', exclusiveMinimum: -1 } }),
    ],
    [
      'a list of constants',
      object({ c: { enum: ['a', 'b'] } }),
      object({ c: { oneOf: [{ const: 'b', title: 'B' }, { const: 'a' }] } }),
    ],
    [
      'a definition in place of its copy',
      object({ a: object({ b: STRING }) }),
      { ...object({ a: { $ref: '#/definitions/a' } }), definitions: { a: object({ b: STRING }) } },
    ],
    [
      'a circle that is unrolled once',
      tree(),
      {
        ...object({ root: object({ name: STRING, children: { type: 'array', items: { $ref: '#/$defs/tree' } } }) }),
        ...TREE,
      },
    ],
    [
      'a tuple of draft 7',
      {
        $schema: 'http://json-schema.org/draft-07/schema#',
        ...object({ at: { type: 'array', items: [STRING, { type: 'number' }], additionalItems: false } }),
      },
      object({ at: { type: 'array', prefixItems: [STRING, { type: 'number' }], items: false } }),
    ],
    [
      'alternatives by a field',
      object({
        by: {
          oneOf: [object({ kind: { const: 'card' }, no: STRING }, 'kind'), object({ kind: { const: 'cash' } }, 'kind')],
        },
      }),
      object({
        by: {
          oneOf: [object({ kind: { const: 'cash' } }, 'kind'), object({ kind: { const: 'card' }, no: STRING }, 'kind')],
        },
      }),
    ],
    [
      'parts in place of a whole',
      object({ a: STRING, b: STRING }, 'a'),
      { type: 'object', allOf: [object({ a: STRING }, 'a'), object({ b: STRING })] },
    ],
    [
      'a condition that stays',
      { ...object({ a: STRING, b: STRING }), ...condition('b') },
      { ...object({ b: STRING, a: STRING }), ...condition('b') },
    ],
  ])('means the same with %s', (_title, before, after) => {
    expect(inputLines(before, after)).toEqual([]);
    expect(inputLines(after, before)).toEqual([]);
  });

  it('accepts one more alternative, told apart by a field', () => {
    const card = object({ kind: { const: 'card' }, no: STRING }, 'kind');
    const either = { oneOf: [card, object({ kind: { const: 'cash' } }, 'kind')] };
    const [breaking, ...more] = inputLines(object({ by: either }), object({ by: { oneOf: [card] } }));
    expect([breaking, more]).toEqual(['breaking pay: argument "by.kind" no longer accepts "cash"', []]);
    expect(inputLines(object({ by: { oneOf: [card] } }), object({ by: either }))).toEqual([
      'widening pay: argument "by.kind" also accepts "cash"',
    ]);
  });
});

describe('an object that requires a property which it does not describe', () => {
  const sloppy = (a: object) => object({ o: object({ a }, 'a', 'b') });

  it('is compared like any other', () => {
    const number = { type: 'number' };
    expect(inputLines(sloppy(STRING), sloppy(number))[0]).toBe(
      'breaking pay: argument "o.a" no longer accepts strings',
    );
    expect(outputLines(sloppy(STRING), sloppy(number))[0]).toBe('breaking pay: result "o.a" may now be a number');
    expect(inputLines({ type: 'object', required: ['id'] }, object({}))[0]).toBe('breaking pay: argument "id" is gone');
    expect(outputLines(sloppy(STRING), object({ o: object({ a: STRING, b: STRING }, 'a', 'b') }))).toEqual([
      'widening pay: result "o.b" is no longer null',
      'widening pay: result "o.b" is no longer a boolean',
      'widening pay: result "o.b" is no longer a number',
      'widening pay: result "o.b" is no longer an array',
      'widening pay: result "o.b" is no longer an object',
    ]);
  });
});

it('has no other examples or defaults if only their members have another order, as in a lock file', () => {
  const noted = (...values: object[]) => object({ a: { type: 'object', default: values[0], examples: values } });
  expect(
    inputLines(noted({ b: 1, a: 2 }, { c: { e: 1, d: 2 } }), noted({ a: 2, b: 1 }, { c: { d: 2, e: 1 } })),
  ).toEqual([]);
});

describe('what can not be decided', () => {
  const broken = (before: object, after: object) =>
    inputLines(before, after).flatMap((line) =>
      line.startsWith('breaking') ? [line.slice('breaking pay: '.length)] : [],
    );
  const within = (schema: object, $defs: object = {}) => ({ ...object({ a: schema }), $defs });

  it('counts as breaking for keywords that depend on the way to a schema', () => {
    expect(broken(within(STRING), within({ $dynamicRef: '#a' }))).toEqual([
      'argument "a" may no longer accept what it did: "$dynamicRef" can\'t be compared',
    ]);
    const either = { anyOf: [object({ b: STRING }), object({ c: STRING })], unevaluatedProperties: false };
    expect(broken(within(object({ b: STRING })), within(either))).toEqual([
      'argument "a" may no longer accept what it did: "unevaluatedProperties" can\'t be compared',
    ]);
    expect(broken(within(either), within({ ...either, description: 'Either' }))).toEqual([]);
  });

  it('counts as breaking for schemas that deny themselves', () => {
    const before = within({ $ref: '#/$defs/s' }, { s: { not: { $ref: '#/$defs/s' } } });
    const after = within({ $ref: '#/$defs/s' }, { s: { not: { allOf: [{ $ref: '#/$defs/s' }] } } });
    expect(broken(before, after)).toHaveLength(1);
    const inTurn = (more: object) => ({
      s: { ...STRING, not: { $ref: '#/$defs/t' } },
      t: { ...STRING, ...more, not: { $ref: '#/$defs/s' } },
    });
    const root = { $ref: '#/$defs/s' };
    expect(broken(within(root, inTurn({})), within(root, inTurn({ allOf: [] })))).toHaveLength(1);
  });

  it('does not follow from what is only assumed', () => {
    const definitions = (v: object) => ({
      s: object({ next: { $ref: '#/$defs/n' }, v }),
      n: object({ back: { $ref: '#/$defs/s' } }),
    });
    const inner = { inner: { $ref: '#/$defs/s' } };
    const either = { anyOf: [object(inner), object({ inner: {} })] };
    const q = { $ref: '#/$defs/n' };
    const before = { ...object({ p: object(inner), q }), $defs: definitions(STRING) };
    const after = { ...object({ p: either, q }), $defs: definitions({ type: 'number' }) };
    expect(broken(before, after)).toEqual(['argument "q.back.v" no longer accepts strings']);
  });

  it('is told apart from what is decided: patterns that match the same name, and values of several branches', () => {
    const patterns = (patternProperties: object, additionalProperties: boolean) =>
      within({ type: 'object', patternProperties, additionalProperties });
    expect(broken(patterns({ '^a': STRING }, false), patterns({ b$: { type: 'number' } }, true))).toEqual([
      'argument "a.*" no longer accepts strings',
    ]);
    expect(broken(within({ const: 'x' }), within({ oneOf: [{ enum: ['x', 'y'] }, { const: 'x' }] }))).toEqual([
      'argument "a" no longer accepts "x"',
    ]);
  });
});

describe('the result of a tool', () => {
  it.each([
    [
      'a new field',
      object({ id: STRING }),
      object({ id: STRING, at: STRING }, 'at'),
      'widening pay: result "at" is new',
    ],
    [
      'a field that may be missing',
      object({ id: STRING }, 'id'),
      object({ id: STRING }),
      'breaking pay: result "id" may now be missing',
    ],
    [
      'no field any more that could be missing',
      object({ id: STRING }),
      object({}),
      'widening pay: result "id" is never there now',
    ],
    [
      'a field that clients refuse',
      { ...object({ id: STRING }), additionalProperties: false },
      object({ id: STRING, at: STRING }),
      'breaking pay: result "at" is new, but the schema that clients know allows no other fields',
    ],
    [
      'null',
      object({ id: STRING }),
      object({ id: { anyOf: [STRING, { type: 'null' }] } }),
      'breaking pay: result "id" may now be null',
    ],
    [
      'another value',
      object({ s: { enum: ['open'] } }),
      object({ s: { enum: ['open', 'paid'] } }),
      'breaking pay: result "s" may now be "paid"',
    ],
    [
      'fewer values',
      object({ s: { enum: ['open', 'paid'] } }),
      object({ s: { enum: ['paid'] } }),
      'widening pay: result "s" is no longer "open"',
    ],
    [
      'no bound',
      object({ n: { type: 'number', minimum: 0 } }),
      object({ n: { type: 'number' } }),
      'breaking pay: result "n" is no longer always at least 0',
    ],
  ])('with %s', (_title, before, after, line) => {
    expect(outputLines(before, after)).toEqual([line]);
  });
});

describe('a schema that is made to keep us busy', () => {
  const deep = (levels: number): object => (levels === 0 ? STRING : object({ a: deep(levels - 1) }));
  const fan = (keyword: string, last: object, levels = 40) => {
    const next = (level: number) => ({ $ref: `#/$defs/d${level + 1}` });
    const names = Array.from({ length: levels }, (_name, level) => level);
    const definitions = names.map((level) => [`d${level}`, { [keyword]: [next(level), next(level)] }]);
    return {
      ...object({ a: { $ref: '#/$defs/d0' } }),
      $defs: { ...Object.fromEntries(definitions), [`d${levels}`]: last },
    };
  };
  const cannotTell = (why: string) => [expect.stringContaining(`may no longer accept what it did: ${why}`)];

  it.each([
    ['is too deep', deep(3), deep(500), 'it is nested more than 200 levels deep'],
    ['fans out', fan('oneOf', STRING), fan('oneOf', { type: 'number' }), 'it has too many alternatives'],
    [
      'has a slow pattern',
      { type: 'object', patternProperties: { '^(a+)+$': STRING } },
      object({ [`${'a'.repeat(60)}!`]: STRING }),
      'it has the pattern "^(a+)+$", which is invalid or slow',
    ],
    [
      'leads back to itself',
      object({ a: STRING }),
      { ...object({ a: { $ref: '#/$defs/a' } }), $defs: { a: { $ref: '#/$defs/a' } } },
      'it has a "$ref" that leads back to itself',
    ],
    [
      'denies itself',
      object({ a: STRING }),
      { ...object({ a: { $ref: '#/$defs/a' } }), $defs: { a: { not: { $ref: '#/$defs/a' } } } },
      'whether `not` or `oneOf` excludes some values is not known',
    ],
  ])('can not be compared if it %s', (_title, before, after, why) => {
    expect(inputLines(before, after).filter((line) => line.startsWith('breaking'))).toEqual(cannotTell(why));
  });

  it('is compared in no time if the same thing is demanded again and again', () => {
    expect(inputLines(fan('allOf', STRING), fan('allOf', { type: 'number' }))).toEqual([
      'breaking pay: argument "a" no longer accepts strings',
    ]);
  });
});
