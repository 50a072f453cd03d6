// Where the runtime forbids generated code, checks are interpreted. Nobody must be able to tell the difference.
import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';

import { describe, expect, it } from '@jest/globals';
import { Transform, Type } from 'class-transformer';
import * as cv from 'class-validator';
import fc from 'fast-check';

import type { Class } from '../src/metadata/store.js';
import type { SchemaSource } from '../src/shape.js';
import type { JsonObject } from '../src/values/json.js';
import { compileShape } from '../src/compile.js';
import { ArrayOf } from '../src/decorators/array-of.js';
import { Nullable } from '../src/decorators/nullable.js';
import { RecordOf } from '../src/decorators/record-of.js';
import { interpretedFunction } from '../src/interpreter/program.js';
import { refuseCode } from './refuse-code.js';

type Check = (value: unknown) => unknown;

/** What checks say of values, or how the schema is refused. The source is made anew, because checks are kept by source. */
async function verdicts(makeSource: () => SchemaSource, values: readonly unknown[]): Promise<unknown[]> {
  const said: unknown[] = [];
  const say = async (check: Check, value: unknown) => {
    try {
      said.push(await check(structuredClone(value)));
    } catch (error) {
      said.push(String(error));
    }
  };
  try {
    const source = makeSource();
    const [input, output] = (['input', 'output'] as const).map((direction) =>
      compileShape(source, 'Test.member', direction),
    );
    for (const value of values) {
      await say(input!.check, value);
      await say(output!.checkOutput, value);
    }
  } catch (error) {
    said.push(String(error));
  }
  return said;
}

async function withoutGeneration<T>(run: () => Promise<T>): Promise<T> {
  const allow = refuseCode();
  try {
    return await run();
  } finally {
    allow();
  }
}

/** Compares both ways. Returns what they say. */
async function compared(makeSource: (mode: string) => SchemaSource, values: readonly unknown[]): Promise<unknown[]> {
  const generated = await verdicts(() => makeSource('generated'), values);
  const interpreted = await withoutGeneration(() => verdicts(() => makeSource('interpreted'), values));
  expect(interpreted).toEqual(generated);
  return interpreted;
}

// every object inherits the last one
const name = fc.constantFrom('a', 'b', 'c', 'toString');
const scalar = fc.oneof(
  fc.constantFrom<unknown>(null, true, false, 0, 1, -1, 1.5, 6, 1e300),
  fc.constantFrom('', 'a', 'ab', 'aaaa', '2026-01-01', 'x@example.com', '5', '\u{1F600}', 'toString'),
);
const value = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    { weight: 3, arbitrary: scalar },
    { weight: 2, arbitrary: fc.array(tie('value'), { maxLength: 4 }) },
    { weight: 3, arbitrary: fc.dictionary(name, tie('value'), { maxKeys: 4 }) },
  ),
})).value;

const small = fc.integer({ min: 0, max: 3 });
const type = fc.constantFrom('string', 'number', 'integer', 'boolean', 'null', 'array', 'object');

/** Keywords with arbitrary values. Some of their combinations are refused, which both ways must do alike. */
const schema = fc.letrec<{ schema: JsonObject | boolean; keywords: JsonObject }>((tie) => {
  const one = tie('schema');
  const some = fc.array(one, { minLength: 1, maxLength: 3 });
  const named = fc.dictionary(name, one, { maxKeys: 3 });
  const keyword: Record<string, fc.Arbitrary<unknown>> = {
    type: fc.oneof(type, fc.uniqueArray(type, { minLength: 1, maxLength: 3 })),
    enum: fc.array(value, { minLength: 1, maxLength: 4 }),
    const: value,
    multipleOf: fc.constantFrom(1, 2, 0.5),
    minimum: small,
    exclusiveMaximum: small,
    minLength: small,
    maxLength: small,
    pattern: fc.constantFrom('^a+$', '^(a|b)*$', '(a+)+$', '[', '\\d'),
    format: fc.constantFrom('date', 'email', 'uri', 'hostname', 'unknown'),
    items: one,
    prefixItems: some,
    contains: one,
    minContains: small,
    maxContains: small,
    uniqueItems: fc.boolean(),
    maxItems: small,
    properties: named,
    patternProperties: fc.dictionary(fc.constantFrom('^a', 'c', '.'), one, { maxKeys: 2 }),
    additionalProperties: one,
    propertyNames: one,
    required: fc.uniqueArray(name, { maxLength: 3 }),
    dependentRequired: fc.dictionary(name, fc.uniqueArray(name, { maxLength: 2 }), { maxKeys: 2 }),
    dependentSchemas: named,
    minProperties: small,
    maxProperties: small,
    unevaluatedProperties: one,
    unevaluatedItems: one,
    allOf: some,
    anyOf: some,
    oneOf: some,
    not: one,
    if: one,
    // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
    then: one,
    else: one,
    $ref: fc.constantFrom('#', '#/$defs/a', '#/$defs/b', '#/$defs/missing'),
    $dynamicRef: fc.constantFrom('#a', '#/$defs/b'),
    default: value,
  };
  const keywords = fc
    .uniqueArray(fc.constantFrom(...Object.keys(keyword)), { minLength: 1, maxLength: 4 })
    .chain((names) => fc.record(Object.fromEntries(names.map((each) => [each, keyword[each]!]))));
  return {
    keywords: keywords as fc.Arbitrary<JsonObject>,
    schema: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      { weight: 1, arbitrary: fc.boolean() },
      { weight: 1, arbitrary: type.map((only) => ({ type: only })) },
      { weight: 4, arbitrary: tie('keywords') },
    ),
  };
});

/** What a field may be decorated with. */
const FIELDS: readonly (() => PropertyDecorator[])[] = [
  () => [cv.IsString(), cv.MinLength(2), cv.MaxLength(3)],
  () => [cv.IsString(), cv.Matches(/^a/)],
  () => [cv.IsInt(), cv.Min(1), cv.Max(5, { message: 'is far too much' })],
  () => [cv.IsOptional(), cv.IsNumber()],
  () => [cv.IsEmail()],
  () => [cv.IsBoolean(), Nullable()],
  () => [cv.IsIn(['a', 'b', null])],
  () => [cv.IsOptional(), cv.IsDate(), Type(() => Date)],
  () => [ArrayOf(String), cv.ArrayMaxSize(2), cv.ArrayUnique()],
  () => [RecordOf(Number)],
  () => [cv.ValidateIf(({ a }: { a?: unknown }) => a !== undefined), cv.IsString()],
  () => [cv.IsString(), Transform(({ value: given }) => (typeof given === 'string' ? given.trim() : given))],
  () => [cv.IsOptional(), cv.ValidateNested(), Type(() => Inner)],
  () => [cv.ValidateNested({ each: true }), Type(() => Inner), cv.IsArray()],
];

class Inner {
  @cv.IsString() a!: string;
  @cv.IsOptional() @cv.IsInt() b?: number = 7;
  @cv.IsOptional() @cv.ValidateNested() @Type(() => Inner) c?: Inner;
}

/** A class with fields, and with initial values of some of them. */
function dto(fields: Readonly<Record<string, number>>, initial: JsonObject): Class {
  class Dto {
    constructor() {
      Object.assign(this, initial);
    }
  }
  for (const [key, at] of Object.entries(fields)) for (const decorate of FIELDS[at]!()) decorate(Dto.prototype, key);
  return Dto;
}

const fields = fc.dictionary(name, fc.nat({ max: FIELDS.length - 1 }), { minKeys: 1, maxKeys: 4 });
/** Values that many of the fields accept. */
const apt = fc.constantFrom<unknown>('ab', 'aab', 'a@example.com', 1, true, null, ['ab'], { a: 'x' }, { b: 2 });
const initial = fc.dictionary(name, fc.constantFrom<unknown>('a', 'ab', 1, true, null), { maxKeys: 1 });

describe('a check without generated code says the same as one with generated code', () => {
  it.each(['2020-12', 'draft-07'])('of JSON Schemas (%s)', async (dialect) => {
    const $schema = dialect === 'draft-07' ? 'http://json-schema.org/draft-07/schema#' : undefined;
    const said = { fits: 0, fails: 0 };
    const root = fc.record({ keywords: schema.keywords, $defs: fc.record({ a: schema.schema, b: schema.schema }) });
    const property = fc.asyncProperty(root, fc.array(value, { minLength: 6, maxLength: 6 }), async (given, values) => {
      const { keywords, $defs } = given;
      // equal texts would share a check
      const make = ($comment: string) =>
        ({ ...($schema && { $schema }), $comment, ...keywords, $defs }) as SchemaSource;
      for (const one of await compared(make, values))
        said[(one as { ok?: boolean }).ok === true ? 'fits' : 'fails'] += 1;
    });
    await fc.assert(property, { numRuns: 250, seed: 31 });
    expect(Math.min(said.fits, said.fails)).toBeGreaterThan(100);
  });

  it('of DTO classes', async () => {
    const said = { fits: 0, fails: 0 };
    const objects = fc.array(fc.tuple(apt, apt, apt, apt), { minLength: 12, maxLength: 12 });
    const property = fc.asyncProperty(fields, initial, value, objects, async (keys, start, other, rows) => {
      const shaped = rows.map((row) => Object.fromEntries(Object.keys(keys).map((key, at) => [key, row[at]])));
      const results = await compared(() => dto(keys, start), [...shaped, other, {}]);
      for (const one of results) said[(one as { ok?: boolean }).ok === true ? 'fits' : 'fails'] += 1;
    });
    await fc.assert(property, { numRuns: 200, seed: 31 });
    expect(Math.min(said.fits, said.fails)).toBeGreaterThan(150);
  });

  it('within the same limits on work, size and the number of problems', async () => {
    const tree: JsonObject = {
      $defs: {
        tree: {
          anyOf: [
            { type: 'string' },
            { type: 'array', items: { allOf: [1, 2].map(() => ({ $ref: '#/$defs/tree' })) } },
          ],
        },
      },
      $ref: '#/$defs/tree',
    };
    const nested = (depth: number): unknown => (depth === 0 ? 1 : [nested(depth - 1)]);
    const texts = { type: 'array', items: { type: 'string', pattern: '^(a|b)*c?(a|b)*$' } };
    const values = [
      nested(3),
      nested(20),
      nested(120),
      Array.from({ length: 400 }, (_, at) => at),
      ['b'.repeat(9000)],
      ['b'.repeat(200_000)],
    ];
    for (const source of [tree, texts]) {
      const said = await compared(($comment) => ({ ...source, $comment }) as SchemaSource, values);
      expect(said).toHaveLength(2 * values.length);
    }
  });

  it('of a value that the deepest accepted message can hold', async () => {
    const deep = (levels: number): unknown => (levels === 0 ? { a: 'x' } : { a: 'x', c: deep(levels - 1) });
    const said = await withoutGeneration(() => verdicts(() => dto({ a: 12 }, {}), [{ a: deep(256) }]));
    expect(said).toMatchObject([{ ok: true }, { ok: true }]);
  });
});

it('the tests of values pass without generated code', async () => {
  const files = ['dto', 'field-forms', 'nullable', 'parse', 'raw', 'unions'];
  const folder = import.meta.dirname;
  const root = resolve(folder, '../../..');
  const setup = ['--setupFiles', resolve(folder, 'refuse-code.setup.ts')];
  const args = ['--experimental-vm-modules', resolve(root, 'node_modules/jest/bin/jest.js'), '-i', '--json', ...setup];
  const paths = files.map((file) => resolve(folder, `${file}.test.ts`));
  const { stdout } = await promisify(execFile)(process.execPath, [...args, '--runTestsByPath', ...paths], {
    cwd: root,
    maxBuffer: 1e8,
  });
  expect(JSON.parse(stdout)).toMatchObject({ success: true, numFailedTests: 0, numPassedTestSuites: files.length });
}, 180_000);

it('the interpreter refuses code that checks have not needed so far, rather than run it wrongly', () => {
  for (const code of [
    'return function f(a){ while(a){} }',
    'return function f(a){ return process; }',
    'return function f(a){ return a?.b; }',
  ])
    expect(() => interpretedFunction('self', code)({})).toThrow("which the interpreter doesn't know");
});
