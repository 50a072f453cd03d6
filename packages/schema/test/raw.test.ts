import { createRequire } from 'node:module';

import { describe, expect, it } from '@jest/globals';

import type { JsonObject } from '../src/values/json.js';
import { BOUNDED_FORMATS } from '../src/validation/ajv.js';
import { longestText } from '../src/patterns/longest-text.js';
import { hasObjectRoot } from '../src/compile.js';
import { mistakenSource } from '../src/mistaken-source.js';
import { cpuMs } from '../../../test/support/cpu.js';
import { compile, problemsOf } from './fixtures.js';

/** Schemas within schemas. */
const negated = (depth: number): JsonObject => (depth === 0 ? {} : { not: negated(depth - 1) });

const [slow, slowNames] = [{ pattern: '^(a+)+$' }, { patternProperties: { '^(a|a)*$': {} } }];
const broken = { properties: { a: { pattern: '(' } } };
const BROKEN = /the pattern \( of `list\[\]\.a` is not a regular expression \(Unterminated group\)\. Correct it\./;

describe('a JSON Schema', () => {
  it('is published as it is', () => {
    const schema = {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      $anchor: 'root',
      type: 'object',
      properties: { a: { type: 'string', 'x-hint': 1 }, b: { $ref: '#/$defs/b' } },
      if: { required: ['a'] },
      // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
      then: { required: ['b'] },
      else: { maxProperties: 1 },
      $defs: { b: { $anchor: 'b', type: 'integer' } },
      'x-vendor': { anything: true },
    };
    const before = structuredClone(schema);
    expect(compile(schema).published).toBe(schema);
    expect(problemsOf(schema, { a: 'x' })).toEqual(['b is required']);
    expect(problemsOf(schema, { a: 'x', b: 1 })).toEqual([]);
    expect(problemsOf(schema, { b: 1.5, c: 1 })).toEqual(['must have at most 1 field', 'b must be an integer']);
    expect(schema).toEqual(before);
  });

  it('passes the value itself to the handler', () => {
    const value = { a: 1 };
    expect(compile({ type: 'object', properties: { b: { default: 1 } } }).check(value)).toEqual({
      ok: true,
      value: { a: 1 },
    });
    expect((compile({ type: 'object' }).check(value) as { value: unknown }).value).toBe(value);
  });

  it('may use draft-07', () => {
    const schema = {
      $schema: 'http://json-schema.org/draft-07/schema#',
      type: 'object',
      definitions: { a: { type: 'string' } },
      properties: { list: { items: [{ $ref: '#/definitions/a' }], additionalItems: false } },
      dependencies: { list: ['other'] },
    };
    expect(problemsOf(schema, { list: ['x', 1] })).toEqual(['other is required', 'list has too many items']);
  });

  it.each([
    ['http://json-schema.org/draft-04/schema#'],
    ['https://json-schema.org/draft/2019-09/schema'],
    ['https://example.com/my-dialect'],
  ])('of dialect %s is rejected by name', ($schema) => {
    const start = () => compile({ $schema, type: 'object' });
    expect(start).toThrow($schema);
    expect(start).toThrow(/ Use JSON Schema 2020-12 or draft-07\. \[DECORUM_INVALID_SCHEMA\]$/);
  });

  it.each([
    ['a keyword of the wrong kind', { type: 'object', required: 'a' }, /required/],
    ['an unknown type', { type: 'text' }, /type/],
    ['a reference to another document', { $ref: 'https://example.com/schema.json' }, /example\.com.*is not fetched/],
    ['a reference to nothing', { $ref: '#/$defs/missing' }, /missing/],
    ['a pattern that is none, in a field (#22)', { properties: { list: { items: broken } } }, BROKEN],
    [
      'a slow pattern, in a field (#22)',
      { properties: { a: { anyOf: [{}, slow] } } },
      /of `a` can take .* Rewrite it: nei/,
    ],
    ['a slow pattern for names (#22)', { properties: { a: slowNames } }, /the pattern \S+ of `a` can take exponential/],
    ['a slow pattern in a definition (#22)', { $defs: { a: slow }, $ref: '#/$defs/a' }, /of `\$defs\.a` can take/],
    ['a slow pattern, whose escapes need the flag `u`', { pattern: String.raw`^(\p{L}|a)+$` }, /can take exponential/],
    ['a reference to itself', { $ref: '#' }, /`\$ref` leads back to itself/],
    ['references in a circle', { allOf: [{ $ref: '#/$defs/a' }], $defs: { a: { $ref: '#/$defs/a' } } }, /leads back/],
    ['a reference to itself for objects', { anyOf: [{ type: 'null' }, { $ref: '#' }] }, /leads back to itself/],
    ['endless depth', negated(100), /64 levels/],
    ['endless width', { enum: Array.from({ length: 20_000 }, () => ({})) }, /parts/],
  ])('with %s is rejected at startup', (_, schema, message) => {
    expect(() => compile(schema as JsonObject)).toThrow(
      expect.objectContaining({ code: 'DECORUM_INVALID_SCHEMA', message: expect.stringMatching(message) }),
    );
  });

  it('may share its `$id` and its anchors with another schema', () => {
    const make = (type: string): JsonObject => ({
      $id: 'https://example.com/tool',
      type: 'object',
      properties: { a: { $ref: '#thing' }, b: { $ref: 'https://example.com/inner' } },
      $defs: { thing: { $anchor: 'thing', type }, inner: { $id: 'https://example.com/inner', type } },
    });
    expect(problemsOf(make('string'), { a: 'x', b: 'x' })).toEqual([]);
    expect(problemsOf(make('integer'), { a: 'x', b: 'x' })).toEqual(['a must be an integer', 'b must be an integer']);
  });

  it('is compiled once even if each call creates the same schema', () => {
    const started = cpuMs();
    for (let i = 0; i < 2000; i++) {
      const schema = { type: 'object', properties: { fresh: { type: 'string', maxLength: 3 } } };
      expect(problemsOf(schema, { fresh: i % 2 ? 'abc' : 'abcd' })).toHaveLength(i % 2 ? 0 : 1);
    }
    expect(cpuMs() - started).toBeLessThan(1000);
  });

  it.each([
    ['#', {}],
    ['https://example.com/node', { $id: 'https://example.com/node' }],
    ['#', { $schema: 'http://json-schema.org/draft-07/schema#' }],
  ])('may refer to itself by %p in %j', ($ref, more) => {
    const node = { ...more, type: 'object', properties: { value: { type: 'number' }, next: { $ref } } };
    expect(problemsOf(node, { value: 1, next: { next: { value: 2 } } })).toEqual([]);
    expect(problemsOf(node, { value: 1, next: { next: { value: 'two' } } })).toEqual([
      'next.next.value must be a number',
    ]);
  });

  it.each(['propertyOrder', 'exactProperties', 'uniqueItemProperties', 'sample', 'length', 'errorMessage', 'tsType'])(
    'may have the keyword %p of another tool',
    (keyword) =>
      expect(problemsOf({ type: 'object', properties: { a: { type: 'string', [keyword]: 'x' } } }, { a: 'x' })).toEqual(
        [],
      ),
  );

  it.each([
    { additionalProperties: true },
    { propertyNames: { pattern: '^[ab]$' } },
    { unevaluatedProperties: { type: 'string' } },
  ])('may require a field that it allows without naming it: %p', (open) => {
    const schema = { type: 'object', properties: { a: {} }, required: ['b'], ...open };
    expect(problemsOf(schema, { b: 'x' })).toEqual([]);
    expect(problemsOf(schema, {})).toEqual(['b is required']);
  });

  it('may have any type at the root', () => {
    const list = compile({ type: 'array', items: { type: 'integer' } });
    expect([hasObjectRoot(list), hasObjectRoot(compile({ type: 'object' }))]).toEqual([false, true]);
    expect(list.checkOutput([1, 2])).toEqual({ ok: true, value: [1, 2] });
    expect(list.checkOutput(new Set([1]))).toEqual({ ok: true, value: [1] });
    expect(list.checkOutput(new Map([['a', 1]]))).toMatchObject({ ok: false });
  });

  it('is rejected with `$async`, whose checks ajv would run later', () => {
    const start = () => compile({ type: 'object', properties: { a: { type: 'string' } }, $async: true });
    expect(start).toThrow(/"\$async" is not a keyword of JSON Schema\. Remove it\./);
    expect(() => compile({ type: 'object', properties: { a: { $async: true, type: 'string' } } })).toThrow(/async/);
  });

  it('counts the keywords beside a `$dynamicRef`', () => {
    const list = {
      $dynamicAnchor: 'node',
      type: 'object',
      properties: { next: { $dynamicRef: '#node', not: { required: ['last'] } } },
    };
    for (const schema of [list, { ...list, $dynamicAnchor: 'other' }]) {
      expect(problemsOf(schema, { next: { next: {} } })).toEqual([]);
      expect(problemsOf(schema, { next: { last: true } })).toEqual(['next has a form that is not allowed']);
    }
  });

  it.each([{ const: { b: 1 } }, { enum: [{ b: 1 }, 'x'] }])('compares objects by their own members: %j', (keyword) => {
    const schema = { type: 'object', properties: { a: keyword } };
    expect(problemsOf(schema, { a: { b: 1 } })).toEqual([]);
    for (const other of [{}, [], { c: 1 }, { b: 2 }, { b: 1, c: 1 }, { valueOf: 1 }, { toString: 1 }]) {
      expect(problemsOf(schema, { a: other })).toEqual([expect.stringMatching(/^a must be/)]);
    }
  });

  it('sees own properties only', () => {
    expect(problemsOf({ type: 'object', required: ['toString', 'constructor'] }, {})).toEqual([
      'toString is required',
      'constructor is required',
    ]);
    for (const [key, path] of Object.entries({ a: 'a', 'a/b': '["a/b"]' })) {
      const polluting = JSON.parse(`{ "${key}": { "__proto__": 1 } }`) as object;
      expect(problemsOf({ type: 'object' }, polluting)).toEqual([`${path}.__proto__ is not a known field`]);
    }
  });

  it('checks formats', () => {
    const schema = { type: 'object', properties: { at: { format: 'date-time' }, odd: { format: 'no-such-format' } } };
    expect(problemsOf(schema, { at: 'yesterday', odd: 'x' })).toEqual(['at must be a valid date-time']);
  });

  it('compares unique items in linear time', () => {
    const unique = { type: 'array', uniqueItems: true };
    const items = Array.from({ length: 20_000 }, (_, n) => ({ n, text: 'x' }));
    const started = cpuMs();
    expect(problemsOf(unique, items)).toEqual([]);
    expect(problemsOf(unique, [...items, { text: 'x', n: 7 }])).toEqual(['must not have the same item twice']);
    expect(cpuMs() - started).toBeLessThan(1000);
    expect(problemsOf(unique, [1, '1', true, null, [1], ['1'], { a: 1, b: 2 }])).toEqual([]);
    const same = [{ a: 1, b: { c: 1, d: 2 } }, JSON.parse('{ "b": { "d": 2, "c": 1 }, "a": 1 }')];
    expect(problemsOf(unique, same)).toHaveLength(1);
  });

  it('rejects long strings for patterns that may backtrack', () => {
    const quadratic = { type: 'string', pattern: 'a+$' };
    expect(problemsOf(quadratic, 'a'.repeat(1000))).toEqual([]);
    const started = cpuMs();
    expect(problemsOf(quadratic, `${'a'.repeat(1_000_000)}!`)).toHaveLength(1);
    expect(cpuMs() - started).toBeLessThan(200);
  });

  it('may have a pattern with a range of characters beyond U+FFFF', () => {
    const schema = { type: 'object', properties: { a: { pattern: String.raw`^[\u{1F600}-\u{1F64F}]+$` } } };
    expect(problemsOf(schema, { a: '\u{1F600}\u{1F64F}' })).toEqual([]);
    expect(problemsOf(schema, { a: 'x' })).toHaveLength(1);
  });

  it('limits the length of formats that may backtrack', () => {
    const { fullFormats } = createRequire(import.meta.url)('ajv-formats/dist/formats') as { fullFormats: object };
    const risky = Object.entries(fullFormats)
      .filter(([, format]) => format instanceof RegExp && longestText(format.source, format.flags) < Infinity)
      .map(([name]) => name);
    expect([...BOUNDED_FORMATS].toSorted()).toEqual(risky.toSorted());
    expect(problemsOf({ format: 'hostname' }, 'a.de')).toEqual([]);
    expect(problemsOf({ format: 'hostname' }, 'a.'.repeat(1000))).toHaveLength(1);
  });

  it('parses text as its types', () => {
    const schema = {
      type: 'object',
      properties: { n: { $ref: '#/$defs/n' }, either: { anyOf: [{ type: 'integer' }, { type: 'boolean' }] }, free: {} },
      $defs: { n: { type: ['integer', 'null'] } },
    };
    const read = (value: Record<string, string>): unknown => compile(schema).checkStrings(value);
    expect(read({ n: '5', either: 'false', free: '1', extra: '2' })).toEqual({
      ok: true,
      value: { n: 5, either: false, free: '1', extra: '2' },
    });
    expect(read({ n: 'x' })).toEqual({ ok: false, problems: [{ path: 'n', expected: 'must be an integer or null' }] });
  });

  it('reports the problems of each branch of a union', () => {
    const union = { oneOf: [{ type: 'string' }, { type: 'object', required: ['a'] }] };
    expect(problemsOf(union, {})).toEqual(['a is required']);
    expect(problemsOf(union, 5)).toEqual(['must have exactly one of the allowed forms']);
  });

  it('may have fields whose names look like keywords in `dependentRequired`', () => {
    const properties = { comment: {}, schema: {} };
    const schema = { type: 'object', properties, dependentRequired: { comment: ['schema'] } };
    expect(problemsOf(schema, { comment: 1, schema: 2 })).toEqual([]);
    expect(problemsOf(schema, { comment: 1 })).not.toEqual([]);
  });
});

describe('a schema source', () => {
  it.each([[class Dto {}], [class Response {}], [{ type: 'object' }], [Object.create(null)], [{ '~standard': {} }]])(
    'can be %p',
    (value) => {
      expect(mistakenSource(value)).toBeUndefined();
    },
  );

  it.each([
    [Promise, 'Declare a DTO class'],
    [globalThis.Response, 'Declare a DTO class'],
    [undefined, 'Pass `MyDto`'],
    [null, 'Pass `MyDto`'],
    [{ city: { '~standard': { vendor: 'acme' } } }, 'Wrap it: the object schema of acme'],
  ])('cannot be %p, and the error says what to pass', (value, remedy) => {
    expect(mistakenSource(value)).toContain(remedy);
  });
});
