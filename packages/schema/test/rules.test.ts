import { readFileSync } from 'node:fs';

import { describe, expect, it } from '@jest/globals';
import { plainToInstance, Type } from 'class-transformer';
import * as cv from 'class-validator';
import fc from 'fast-check';
import 'reflect-metadata';

import { compileShape } from '../src/compile.js';
import type { Class } from '../src/metadata/store.js';
import { type Rule, rulesOf } from '../src/rules/class-facts.js';
import { MAPPED, RUN, runsOn, STRUCTURAL, UNSUPPORTED } from '../src/rules/constraints.js';
import { isGenuine } from '../src/rules/value-rule.js';
import { field, mistakeIn } from './fixtures.js';

const NOT_RULES = ['ValidationError', 'Validator', 'MetadataStorage', 'ValidationTypes'];

/** class-validator exports its decorators in PascalCase, their names as constants, and functions in camelCase. */
const exported = Object.keys(cv).filter((name) => /^[A-Z][A-Za-z0-9]*[a-z]/.test(name) && !NOT_RULES.includes(name));
const short = 'Min Max IsIn IsIP IsEAN IsBIC IsHSL IsJSON IsJWT IsUUID IsISBN IsISIN'.split(' ');

const lists = {
  mapped: [...STRUCTURAL, ...[...MAPPED.values()].map(({ decorator }) => decorator)],
  run: Object.values(RUN).flat(),
  refused: Object.keys(UNSUPPORTED),
};

function ruleOf(decorate: (...args: never[]) => PropertyDecorator, ...args: unknown[]): Rule {
  class Probe {}
  (decorate as (...args: unknown[]) => PropertyDecorator)(...args)(Probe.prototype, 'x');
  const [rule] = rulesOf(Probe).get('x') ?? [];
  if (rule === undefined) throw new Error('no rule');
  return rule;
}

const DECORATORS = cv as unknown as Record<string, (...args: never[]) => PropertyDecorator>;

function listOnPage(heading: string): string[] {
  const page = readFileSync(new URL('../../../docs/guides/schemas.md', import.meta.url), 'utf8');
  const section = page.split(/^#{2,3} /m).find((text) => text.startsWith(heading)) ?? '';
  return [...section.matchAll(/`@(\w+)`/g)].map(([, name]) => name ?? '');
}

describe('the rule table', () => {
  it('has every rule of class-validator in exactly one list', () => {
    expect(exported).toEqual(expect.arrayContaining(short));
    expect(Object.values(lists).flat().toSorted()).toEqual(exported.toSorted());
  });

  it.each([
    ['Checked by JSON Schema', lists.mapped],
    ['Run after JSON Schema', lists.run],
    ['Rejected at startup', lists.refused],
  ])('matches the page under "%s"', (heading, names) => {
    expect([...new Set(listOnPage(heading))].toSorted()).toEqual([...names].toSorted());
  });

  it.each(lists.refused)('rejects @%s at startup, and says what to write instead', (name) => {
    const source = field(Object, DECORATORS[name]?.());
    const message = new RegExp(`Dto\\.x: the rule @${name} is not supported\\. \\w.*UNSUPPORTED_RULE`);
    expect(mistakeIn(source)).toMatch(message);
  });

  it.each([...MAPPED])('recognizes @%s by its name and message', (name, mapping) => {
    const rule = ruleOf(DECORATORS[mapping.decorator] ?? cv.Allow, mapping.decorator === 'IsEnum' ? { a: 'a' } : 1);
    expect({ name: rule.name, isGenuine: isGenuine(rule, mapping) }).toEqual({ name, isGenuine: true });
  });

  it.each(lists.run.filter((name) => !/^(?:Validat.*|IsInstance)$/.test(name)))(
    'recognizes @%s, which needs the instance, by its name',
    (name) => {
      expect(runsOn(ruleOf(DECORATORS[name] ?? cv.Allow).name)).not.toBe('instance');
    },
  );
});

/**
 * Checks the promise "a DTO class is the schema": for every value, the compiled shape and class-validator's own
 * `validateSync(plainToInstance(…))` must agree.
 */

function dtoWith(...decorators: PropertyDecorator[]): Class {
  class Dto {
    // any type, even in lists: some of these rules don't restrict it
    @Type(() => Object) x?: unknown;
  }
  for (const decorate of decorators) decorate(Dto.prototype, 'x');
  return Dto;
}

/** Some rules throw on odd input (half a surrogate pair in an e-mail address), which counts as invalid. */
function theirVerdict(cls: Class, plain: object): boolean {
  try {
    return cv.validateSync(plainToInstance(cls as new () => object, plain)).length === 0;
  } catch {
    return false;
  }
}

function ourVerdict(cls: Class, plain: object): boolean {
  const checked = compileShape(cls, 'Test.x').check(plain);
  if (checked instanceof Promise) throw new Error('a synchronous rule gave a promise');
  return checked.ok;
}

enum Colour {
  Red = 'red',
  Blue = 'blue',
}

const UUID = '11111111-1111-4111-8111-111111111111';

const TEXTS = `
  a ab abc ABC abcdef A1 0 -0 7 007 1.5 .5 1e3 true false yes 1 ❤️ ❤️❤️ 👍🏽 😀 😀😀 é ＡＢ __proto__ toString ${UUID}
  ${UUID.toUpperCase()} urn:uuid:${UUID} ${UUID.replace('4', '1')} ${UUID.replace('4', '7')} 507f1f77bcf86cd799439011
  00000000-0000-0000-0000-000000000000 ffffffff-ffff-ffff-ffff-ffffffffffff 0x1F 0h1f 1G #fff #ffff abcd #abcdeg 0o17 18
  12:30 1230 24:00 0B1 a@b.de ü@b.de a@b http://a.de a.de 127.0.0.1 ::1 2026-01-31 2026-01-31T12:00:00Z 2026-W05 red blue
  Red x.y x+y xxy {} [1] eyJ.eyJ.x 192.168.0.1 4111111111111111 MQ== 65535 50.1,8.6 EUR DE DEU de 276 #000 rgb(0,0,0) 1.2.3
`
  .trim()
  .split(/\s+/);

const ODD_TEXTS = ['', ' ', '\uFE0F', '\uD83D', 'a\u0000b', 'a\nb', 'line\n', `${UUID}\n`, ' 1', 'hsl(1, 2%, 3%)'];
const NUMBERS =
  '0 -0 1 2 3 5 6 9 10 11 12 -1 -2 -6 0.1 0.5 1.5 2.25 9.75 10.001 1e21 1e22 3e300 -1e22 9007199254740992';
const SCALARS = [...NUMBERS.split(' ').map(Number), null, true, false];
const COMPOUNDS = JSON.parse(`[
  {}, {"a":1}, {"a":null}, [], [null], [""], ["a"], ["a","a"], ["a","b"], [1,1], [1,"1"], [0,-0], [1,2,3], [1,2,3,4],
  [{"a":1},{"a":1}], [[],[]], ["a","b","c","d"], ["x",null], [true,1]
]`) as unknown[];

/** Edge cases of the rules. */
const EDGES: readonly unknown[] = [TEXTS, ODD_TEXTS, SCALARS, COMPOUNDS].flat();

/** class-transformer skips keys of `Object.prototype`, and we reject keys that could pollute a prototype. */
function isOrdinary(value: unknown): boolean {
  return Object.getOwnPropertyNames(Object.prototype).every((name) => !JSON.stringify(value).includes(`"${name}":`));
}

const unit = fc.constantFrom('a', 'F', '0', '9', '-', ' ', '.', '\uFE0F', '😀', '@', '#');
const anything = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...EDGES) },
  fc.string({ unit: 'grapheme', maxLength: 8 }),
  fc.string({ unit, maxLength: 12 }),
  fc.oneof(fc.integer({ min: -20, max: 20 }), fc.double({ noNaN: true, noDefaultInfinity: true })),
  fc.jsonValue({ maxDepth: 2 }).filter(isOrdinary),
  fc.array(fc.constantFrom(...EDGES), { maxLength: 5 }),
);

/** Finds a value on which the two disagree. */
function disagreement(...decorators: PropertyDecorator[]): unknown {
  const cls = dtoWith(...decorators);
  const agreeOn = (value: unknown): boolean => {
    // values from the wire never share objects
    const x: unknown = typeof value === 'object' ? JSON.parse(JSON.stringify(value)) : value;
    return ourVerdict(cls, { x }) === theirVerdict(cls, { x });
  };
  const edge = EDGES.find((x) => !agreeOn(x));
  if (edge !== undefined) return { x: edge, ours: ourVerdict(cls, { x: edge }) };
  const { counterexample } = fc.check(fc.property(anything, agreeOn), { numRuns: 300 });
  return counterexample ?? undefined;
}

type Rows = Readonly<Record<string, () => PropertyDecorator[]>>;

const PLAIN = `
  IsEmpty IsNotEmpty IsBoolean IsString IsInt IsNumber IsPositive IsNegative IsAlpha IsAlphanumeric IsAscii
  IsHexadecimal IsMongoId IsHexColor IsOctal IsMilitaryTime IsBooleanString IsObject IsNotEmptyObject IsArray
  ArrayNotEmpty ArrayUnique IsDefined Allow
`;

const plain = (name: string) => (cv as unknown as Record<string, () => PropertyDecorator>)[name]!();

const ONE_RULE: Rows = {
  ...Object.fromEntries(
    PLAIN.trim()
      .split(/\s+/)
      .map((name) => [name, () => [plain(name)]]),
  ),
  'Equals a string': () => [cv.Equals('abc')],
  'Equals null': () => [cv.Equals(null)],
  'NotEquals a number': () => [cv.NotEquals(1)],
  'NotEquals an object': () => [cv.NotEquals({})],
  'IsIn mixed values': () => [cv.IsIn(['a', 1, null, true])],
  'IsIn objects': () => [cv.IsIn([{}, 'a'])],
  IsNotIn: () => [cv.IsNotIn(['a', 1, null])],
  'IsEnum of strings': () => [cv.IsEnum(Colour)],
  'IsEnum of an object': () => [cv.IsEnum({ A: 'a', One: 1, Yes: true })],
  'IsNumber with options': () => [cv.IsNumber({ allowNaN: true, maxDecimalPlaces: 1 })],
  Min: () => [cv.Min(2)],
  Max: () => [cv.Max(-1.5)],
  'IsDivisibleBy 3': () => [cv.IsDivisibleBy(3)],
  'IsDivisibleBy -2': () => [cv.IsDivisibleBy(-2)],
  'IsDivisibleBy 2.5': () => [cv.IsDivisibleBy(2.5)],
  MinLength: () => [cv.MinLength(2)],
  MaxLength: () => [cv.MaxLength(2)],
  Length: () => [cv.Length(1, 3)],
  'Length without an end': () => [cv.Length(2)],
  'Matches anchored': () => [cv.Matches(/^[A-Z]{2}\d{4}$/)],
  'Matches unanchored': () => [cv.Matches(/b|é/)],
  'Matches any two units': () => [cv.Matches(/^..$/)],
  'Matches a negated class': () => [cv.Matches(/^[^a]$/)],
  'Matches case-insensitively': () => [cv.Matches(/^ABC$/i)],
  'Matches globally': () => [cv.Matches(/a/g)],
  'Matches across lines': () => [cv.Matches(/^line$/m)],
  'Matches Unicode': () => [cv.Matches(/^.$/u)],
  'Matches a string': () => [cv.Matches('^a', 'i')],
  'Matches what `u` forbids': () => [cv.Matches(String.raw`^[a\-\_]+$`)],
  Contains: () => [cv.Contains('x.y')],
  'Contains nothing': () => [cv.Contains('')],
  NotContains: () => [cv.NotContains('a')],
  'NotContains nothing': () => [cv.NotContains('')],
  ...Object.fromEntries(
    [undefined, '1', '4', 4, '7', 'nil', 'max', 'loose', 'all', 'nonsense'].map((v) => [
      `IsUUID ${v}`,
      () => [cv.IsUUID(v as '4')],
    ]),
  ),
  'IsAlpha in German': () => [cv.IsAlpha('de-DE')],
  'IsNotEmptyObject without nulls': () => [cv.IsNotEmptyObject({ nullable: false })],
  ArrayContains: () => [cv.ArrayContains(['a'])],
  'ArrayContains objects': () => [cv.ArrayContains([{}])],
  'ArrayContains nothing': () => [cv.ArrayContains([])],
  ArrayNotContains: () => [cv.ArrayNotContains(['a', 1])],
  'ArrayNotContains objects': () => [cv.ArrayNotContains([{}])],
  ArrayMinSize: () => [cv.ArrayMinSize(2)],
  ArrayMaxSize: () => [cv.ArrayMaxSize(1)],
  'ArrayUnique by': () => [cv.ArrayUnique((item: unknown) => typeof item)],
};

const SEVERAL: Rows = {
  'a string and a length': () => [cv.IsString(), cv.MinLength(2), cv.MaxLength(3), cv.Length(1, 2)],
  'two patterns': () => [cv.Matches(/a/), cv.Matches(/b/), cv.MaxLength(500)],
  'two enums': () => [cv.IsIn(['a', 'b']), cv.IsIn(['b', 'c', 1])],
  'an integer and a number': () => [cv.IsInt(), cv.IsNumber(), cv.Min(1), cv.IsPositive(), cv.Max(10)],
  'two types': () => [cv.IsIn(['a', 1]), cv.IsString()],
  'a non-empty string': () => [cv.IsNotEmpty(), cv.IsString()],
  'a non-empty enum': () => [cv.IsNotEmpty(), cv.IsIn(['', 'a', null, 1])],
  'not empty and not a': () => [cv.IsNotEmpty(), cv.NotEquals('a'), cv.IsNotIn(['b'])],
  'an optional string': () => [cv.IsOptional(), cv.IsString(), cv.MinLength(2)],
  'an optional enum': () => [cv.IsOptional(), cv.IsIn(['a', 1])],
  'an optional constant': () => [cv.IsOptional(), cv.Equals('a')],
  'an optional anything but a': () => [cv.IsOptional(), cv.NotEquals('a')],
  'an optional non-empty value': () => [cv.IsOptional(), cv.IsNotEmpty()],
  'an optional e-mail address': () => [cv.IsOptional(), cv.IsEmail()],
  'an optional, defined string': () => [cv.IsOptional(), cv.IsDefined(), cv.IsString()],
  'an optional pair of patterns': () => [cv.IsOptional(), cv.Matches(/a/), cv.Matches(/b/)],
  'an optional array': () => [cv.IsOptional(), cv.IsArray(), cv.ArrayMaxSize(2), cv.ArrayUnique()],
  'an array of strings': () => [cv.IsArray(), cv.IsString({ each: true }), cv.MaxLength(1, { each: true })],
  'an array of non-empty values': () => [cv.IsArray(), cv.IsNotEmpty({ each: true })],
  'an array of defined values': () => [cv.IsArray(), cv.IsDefined({ each: true })],
  'an array of unique strings': () => [cv.IsArray(), cv.ArrayUnique(), cv.IsString({ each: true })],
  'an array of addresses': () => [cv.IsArray(), cv.IsEmail({}, { each: true })],
  'an array without a': () => [cv.IsArray(), cv.NotEquals('a', { each: true }), cv.ArrayNotEmpty()],
  'an object in an object': () => [cv.IsObject(), cv.IsNotEmptyObject()],
  'a rule of a group': () => [cv.IsString({ groups: ['create'] }), cv.MaxLength(2, { groups: ['update'] })],
  'a rule that is always on': () => [cv.IsString({ always: true })],
  'a condition on the value': () => [cv.ValidateIf((_, x) => x !== 'a'), cv.IsInt()],
  'a condition on one rule': () => [
    cv.IsString(),
    cv.MinLength(3, { validateIf: (_: object, x: unknown) => x !== 'a' }),
  ],
};

const RUN_WITH_ARGUMENTS: Rows = {
  IsByteLength: () => [cv.IsByteLength(1, 3)],
  IsHash: () => [cv.IsHash('crc32')],
  IsIdentityCard: () => [cv.IsIdentityCard('any' as 'ES')],
  IsPassportNumber: () => [cv.IsPassportNumber('DE')],
  IsPostalCode: () => [cv.IsPostalCode('any')],
  IsTaxId: () => [cv.IsTaxId('en-US')],
  'IsPhoneNumber in a region': () => [cv.IsPhoneNumber('DE')],
  IsInstance: () => [cv.IsInstance(Date)],
};

const WITHOUT_ARGUMENTS = Object.values(RUN)
  .flat()
  .filter((name) => !(name in RUN_WITH_ARGUMENTS) && !/^Valida|Date$/.test(name));

describe('a DTO agrees with class-validator on', () => {
  it.each(Object.entries({ ...ONE_RULE, ...RUN_WITH_ARGUMENTS, ...SEVERAL }))('%s', (_, decorators) => {
    expect(disagreement(...decorators())).toBeUndefined();
  });

  it.each(WITHOUT_ARGUMENTS)('@%s', (name) => {
    expect(disagreement(plain(name))).toBeUndefined();
  });
});
