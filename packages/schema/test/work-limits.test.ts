// The work that checking and explaining a value may cost: at each limit, one beyond, and far beyond.
import { describe, expect, it, jest } from '@jest/globals';
import { Transform, Type } from 'class-transformer';
import * as cv from 'class-validator';
import fc from 'fast-check';

import { cpuMs } from '../../../test/support/cpu.js';
import { longestText } from '../src/patterns/longest-text.js';
import type { SchemaSource } from '../src/shape.js';
import { repairing } from '../src/validation/repair.js';
import { compile } from './fixtures.js';

const TOO_COMPLEX = { ok: false, problems: [{ path: '', expected: 'is too complex to be checked' }] };

describe('References of arguments', () => {
  const times = (count: number) => ({ allOf: Array.from({ length: count }, () => ({ $ref: '#/$defs/number' })) });
  const shapeOf = (each: number, more: number) =>
    compile({
      type: 'object',
      properties: { items: { type: 'array', items: times(each) }, more: times(more) },
      $defs: { number: { type: 'integer' } },
    });
  const args = (count: number) => ({ items: Array.from({ length: count }, () => 1), more: 1 });

  it.each([
    // 400 values, and three around them: 20 for each of them are less than 10,000
    ['10,000', 400, [24, 400]],
    // 1,000 values, and three around them
    ['20 for each value', 1000, [20, 60]],
  ] as const)('are followed up to %s', async (_name, count, [each, more]) => {
    for (const wrap of [(shape: ReturnType<typeof shapeOf>) => shape, repairing]) {
      expect(await wrap(shapeOf(each, more)).check(args(count))).toMatchObject({ ok: true });
      expect(await wrap(shapeOf(each, more + 1)).check(args(count))).toEqual(TOO_COMPLEX);
    }
  });
});

class Custom {
  @cv.IsOptional() @cv.ValidateBy({ name: 'fine', validator: { validate: () => true } }) @cv.IsString() a?: string;
}

class Trimmed {
  @cv.IsOptional() @Transform(({ value }) => String(value).trim()) @cv.IsString() a?: string;
}

class Customs {
  @cv.IsArray() @cv.ValidateNested({ each: true }) @Type(() => Custom) items!: Custom[];
}

class Transforms {
  @cv.IsArray() @cv.ValidateNested({ each: true }) @Type(() => Trimmed) items!: Trimmed[];
}

describe.each([
  ['class-validator', Customs],
  ['class-transformer', Transforms],
])('Objects of arguments for %s', (_library, source: SchemaSource) => {
  it.each([
    ['empty', {}],
    ['short', { a: 'x' }],
  ])('may be 2,000, and one for each 20 characters: %s', async (_name, item) => {
    const { check } = compile(source);
    const args = (count: number) => ({ items: Array.from({ length: count }, () => item) });
    const characters = (count: number) =>
      JSON.stringify(args(0)).length + count * (JSON.stringify(item).length + 1) - 1;
    // the arguments are an object too
    const fits = (count: number) => 1 + count <= 2000 + characters(count) / 20;
    let most = 2000;
    while (fits(most + 1)) most += 1;
    expect(await check(args(most))).toMatchObject({ ok: true });
    expect(await check(args(most + 1))).toEqual(TOO_COMPLEX);
  });
});

describe('Problems of arguments', () => {
  const found = async (schema: object, args: object) => {
    const checked = await compile(schema as SchemaSource).check(args);
    return checked.ok ? 0 : checked.problems.length;
  };

  it('are all listed for up to 2,500 values, and beyond only the first', async () => {
    const schema = { type: 'object', properties: { items: { type: 'array', items: { type: 'string' } } } };
    // the arguments and the list are values too
    const args = (values: number) => ({
      items: Array.from({ length: values - 2 }, (_, index) => (index % 100 === 0 ? 1 : 'x')),
    });
    expect(await found(schema, args(2500))).toBe(25);
    expect(await found(schema, args(2501))).toBe(1);
  });

  it('are all listed for up to 2,500 errors, and beyond only the first', async () => {
    const items = { type: 'array', items: { anyOf: [{ type: 'string' }, { type: 'null' }] } };
    const number = { type: 'number' };
    const schema = { type: 'object', properties: { first: number, second: number, items } };
    // three errors each
    const list = Array.from({ length: 834 }, () => 1);
    expect(await found(schema, { first: 'x', second: 1, items: list })).toBe(50);
    expect(await found(schema, { first: 'x', second: 'x', items: list })).toBe(1);
  });
});

class Leaf {
  @cv.IsOptional() @cv.IsString() @cv.NotEquals('x') a?: string;
  @cv.IsOptional() @cv.IsString() @cv.NotEquals('x') b?: string;
}

class Leaves {
  @cv.IsArray() @cv.ValidateNested({ each: true }) @Type(() => Leaf) items!: Leaf[];
}

const MANY = Array.from({ length: 250 }, (_, n) => `choice ${n}`);

class Choices {
  @cv.IsArray() @cv.IsIn(MANY, { each: true }) items!: string[];
}

const union = { anyOf: [{ type: 'string' }, { type: 'object', required: ['a'] }, { type: 'null' }] };
const nestedUnion = {
  type: 'object',
  properties: { items: { type: 'array', items: { anyOf: [union, { type: 'array', items: union }] } } },
};

const variants = (count: number, inner: object) => ({
  anyOf: Array.from({ length: count }, (_, n) => ({
    type: 'object',
    properties: { kind: { const: n }, inner },
    required: ['kind', 'value'],
  })),
});
const unionsInUnions = {
  type: 'object',
  properties: { items: { type: 'array', items: variants(8, variants(5, variants(3, {}))) } },
};
const unknownVariant = { kind: -1, inner: { kind: -1, inner: {} } };

const CASES: readonly (readonly [title: string, source: SchemaSource, args: object])[] = [
  ['a list of unions', nestedUnion, { items: Array.from({ length: 3000 }, () => [1]) }],
  ['a list of lists of unions', nestedUnion, { items: [Array.from({ length: 9000 }, () => 1)] }],
  ['a list of unions of unions', unionsInUnions, { items: Array.from({ length: 450 }, () => unknownVariant) }],
  ['optional fields with rules', Leaves, { items: Array.from({ length: 3000 }, () => ({ a: 'x', b: 1 })) }],
  ['unknown fields', Leaves, { items: Array.from({ length: 3000 }, (_, n) => ({ [`c${n}`]: 1 })) }],
  ['a long list of choices', Choices, { items: Array.from({ length: 9000 }, () => 'x') }],
];

it.each(CASES)('Explaining wrong arguments costs a bounded amount of work for %s', (_title, source, args) => {
  const { check } = compile(source);
  // compiles
  void check({ items: [[1], 'x'] });
  const started = cpuMs();
  const checked = check(args) as { readonly ok: boolean; readonly problems: readonly unknown[] };
  const spent = cpuMs() - started;
  expect(checked.ok).toBe(false);
  expect(checked.problems.length).toBeLessThanOrEqual(50);
  expect(spent).toBeLessThan(150);
});

/** A list that is too long, with a check for each item that costs more than counting. */
const capped = (more: object) => ({
  type: 'object',
  properties: { items: { type: 'array', maxItems: 10, ...more } },
  maxProperties: 1,
});

class Capped {
  @cv.IsArray() @cv.ArrayMaxSize(10) @cv.ValidateNested({ each: true }) @Type(() => Leaf) items!: Leaf[];
}

class CappedTexts {
  @cv.IsArray() @cv.ArrayMaxSize(10) @cv.IsIn(MANY, { each: true }) items!: string[];
}

const LONG: readonly (readonly [title: string, source: SchemaSource])[] = [
  ['nested objects', Capped],
  ['choices', CappedTexts],
  ['unions', capped({ items: nestedUnion })],
  ['alternatives for the whole list', capped({ anyOf: [{ items: nestedUnion }, { items: union }] })],
  ['references', { ...capped({ $ref: '#/$defs/all' }), $defs: { all: { items: union } } }],
  ['distinct items', capped({ uniqueItems: true })],
];

describe('Checking a list with a maximum', () => {
  it.each(LONG)('counts before it looks at any item: %s', (_title, source) => {
    const { check } = compile(source);
    // compiles
    void check({ items: Array.from({ length: 11 }, () => 1) });
    const item = { a: {}, b: [1] };
    const items = Array.from({ length: 1_000_000 }, () => item);
    const started = cpuMs();
    const checked = check({ items });
    const spent = cpuMs() - started;
    expect(checked).toEqual({ ok: false, problems: [{ path: 'items', expected: 'must have at most 10 items' }] });
    expect(spent).toBeLessThan(150);
  });

  it('counts the fields of an object first, too', () => {
    const { check } = compile({ type: 'object', maxProperties: 10, patternProperties: { a: union } });
    const fields = Object.fromEntries(Array.from({ length: 10 }, (_, n) => [`a${n}`, 'x']));
    expect(check(fields)).toMatchObject({ ok: true });
    expect(check({ ...fields, a10: 1 })).toMatchObject({
      problems: [{ path: '', expected: 'must have at most 10 fields' }, { path: 'a10' }],
    });
  });
});

const tree = {
  type: 'object',
  properties: { root: { $ref: '#/$defs/node' } },
  $defs: {
    named: { type: 'object', properties: { child: { $ref: '#/$defs/node' } } },
    node: { type: 'object', properties: { child: { $ref: '#/$defs/node' } }, allOf: [{ $ref: '#/$defs/named' }] },
  },
};

const dynamicTree = {
  type: 'object',
  $dynamicAnchor: 'node',
  properties: { root: { $dynamicRef: '#node' }, child: { $dynamicRef: '#node' } },
  allOf: [{ properties: { child: { $dynamicRef: '#node' } } }],
};

it.each([
  ['$ref', tree],
  ['$dynamicRef', dynamicTree],
])(
  'Checking a schema that reaches the same value by several ways ends after a bounded number of steps: %s',
  (_keyword, source) => {
    const shape = compile(source);
    const nest = (depth: number): object => (depth === 0 ? {} : { child: nest(depth - 1) });
    expect(shape.check({ root: nest(8) })).toMatchObject({ ok: true });
    for (const { check } of [shape, repairing(shape)]) {
      const started = cpuMs();
      expect(check({ root: nest(50) })).toEqual(TOO_COMPLEX);
      expect(cpuMs() - started).toBeLessThan(300);
    }
  },
);

it('Repairing a list of texts that are not JSON gives up after some of them', () => {
  const numbers = { type: 'object', properties: { items: { type: 'array', items: { type: 'integer' } } } };
  const shape = compile(numbers);
  const { check } = repairing(shape);
  expect(check({ items: ['7', '[7', '7'] })).toMatchObject({ ok: false });
  const parse = jest.spyOn(JSON, 'parse');
  try {
    expect(check({ items: Array.from({ length: 15_000 }, () => '[7') })).toMatchObject({ ok: false });
    // a failed attempt costs 100 times a step
    expect(parse.mock.calls.length).toBeGreaterThan(0);
    expect(parse.mock.calls.length).toBeLessThan(1500);
  } finally {
    parse.mockRestore();
  }
});

const lines = (text: string): string[] => text.trim().split(/\s+/);

const EXPONENTIAL = lines(String.raw`
  ^(a+)+$  ^(a*)*$  ^(a|a)*$  ^(a|ab|b)*c$  ^(\w+\s?)+$  ^([a-zA-Z]+)*$  ^(a|aa)+$  ^(.*a){12}$  ^(\d+|\w+)+!$  ^(a?a?)*b
  ^((ab)*)*$  (x+x+)+y  ^(\s*a\s*)*$  ^(a{1,30}){1,30}$  ^(?=(a+)+$)  ^([a-z]{1,10})+$  ^((a|b)*c*)*$  ^(a{1,3}){1,20}$
  ^(?:[^"\\]|\\.|"|[^\n])*$  ^([\u0061-f]+|[c-z])+$  ^((a{1,4}){1,4}){1,4}$  ^(((a|a){4}){4}){4}$
  ^a{1,64}a{1,64}a{1,64}a{1,64}a{1,64}a{1,64}$  ^a*a*a*a*$  ^.*a.*b.*c.*$  ^(?:a?){27}$  ^(?:\d?){24}$
  ^a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?b$  ^(.*)(.*)(.*)\1\2$  ^arn:.*:.*:.*:.*:.*$
  ^.*aaaaaaaaaa.*aaaaaaaaaa.*aaaaaaaaaa.*$  ^(\u0437d|\u0437d)+$
`);

const POLYNOMIAL = lines(String.raw`
  ^a*a*$  ^\s*\s*x$  a+$  \s+$  ^.*foo.*bar$  ^[^@\s]+@[^@\s]+\.[^@\s]+$  foo.*bar  (.+)\1  ^(?=.*[a-z])(?=.*\d).{8,}$
  ^[a-z]*[a-z0-9]*$  ^.*a.*b.*c$  ^\s*.{1,100}$
  ^\w*\w{0,99}@  \w{1,90}@  \S{1,100}\s  [\w.+-]{1,64}@  x{0,9}x{0,9}y  ^.*foo.*bar.*baz.*$
  ^projects/.+/locations/.+/keyRings/.+/cryptoKeys/.+$  ^/subscriptions/.+/resourceGroups/.+/providers/.+/.+$
  ^(?=.*[A-Z].*[A-Z])(?=.*[!@#$&*])(?=.*[0-9].*[0-9])(?=.*[a-z].*[a-z].*[a-z]).{8}$  ^(?=(?:.*\d){3}).*$
  ^(?!.*foo.*bar.*baz).*$   ^(?<year>\d+)-?\d+$  ^\d*[٠-٩\d]*$
`);

const LINEAR = lines(String.raw`
  ^[A-Z]{2}\d{4}$  ^[a-z0-9]+(?:-[a-z0-9]+)*$  ^\d+\.\d+\.\d+$  ^(?:[0-9a-f]{4}:){7}[0-9a-f]{4}$  ^([a-z]+,)*[a-z]+$  ^.*$
  abc  [a-z]+  ^(a|b|c)+$  ^[\w.-]{1,64}$  ^#  ^[^/]+/[^/]+$  ^(\d{1,3}\.){3}\d{1,3}$  ^(foo|bar)*$  ^$  ^[\x00-\x7F]+$
  ^(?:red|green|blue)$  ^\+?[1-9]\d{1,14}$  ^[a-z][a-z0-9_]*$  ^(0|[1-9][0-9]*)$  ^\d{4}-\d{2}-\d{2}$  ^https://  x*
  ^\d{1,3}\d{1,3}$  ^[\w.+-]{1,64}@[\w-]{1,63}\.[\w.-]{2,63}$  ^(?:\d{1,3}){3}$  ^(?:[a-z]{2}(?:-[a-z]{2}){0,2}-?){1,4}$
  ^((\d{1,3})(,\d{3})*(\.\d+)?\s){1,3}$  \d{3,4}-\d{4}
  ^([0-9a-fA-F]{2}:){5}[0-9a-fA-F]{2}$  ^"(?:[^"\\]|\\.)*"$  ^[\]\[]+$  ^a{2,}$  ^{a}$  ^\cA\0$  ^(?!x)y$
`);

/** The growth of the match time with the length of the text. */
const backtracking = (source: string, flags?: string): string => {
  const longest = longestText(source, flags);
  if (longest === Number.POSITIVE_INFINITY) return 'linear';
  return longest === 0 ? 'exponential' : 'polynomial';
};

describe('the time of a pattern', () => {
  it.each(EXPONENTIAL)('is exponential for %s', (source) => expect(backtracking(source)).toBe('exponential'));
  it.each(POLYNOMIAL)('is polynomial for %s', (source) => expect(backtracking(source)).toBe('polynomial'));
  it.each(LINEAR)('is linear for %s', (source) => expect(backtracking(source)).toBe('linear'));

  it('depends on the flags', () => {
    expect(backtracking('^(a|A)*$')).toBe('linear');
    expect(backtracking('^(a|A)*$', 'i')).toBe('exponential');
    expect(backtracking(String.raw`^(\p{L}|a)*$`, 'u')).toBe('exponential');
    expect(backtracking(String.raw`^\p{Lu}\p{Ll}*$`, 'u')).toBe('linear');
    // a wig is both
    expect(backtracking(String.raw`^(\p{Extended_Pictographic}|\p{Emoji_Component})+$`, 'u')).toBe('exponential');
  });

  it('counts as exponential if the pattern is too complex', () => {
    const words = Array.from({ length: 5000 }, (_, n) => `w${n}`).join('|');
    expect(backtracking(`^(${words})*$`)).toBe('exponential');
    expect(backtracking(`^(${words.slice(0, 500)})$`)).toBe('linear');
  });

  it('is confirmed by a real matcher on the longest text of a pattern', () => {
    const character = fc.constantFrom('a', 'b', '[ab]', '.', String.raw`\w`, '[^a]');
    const { regex } = fc.letrec<{ regex: string }>((tie) => ({
      regex: fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        character,
        fc.tuple(tie('regex'), tie('regex')).map(([a, b]) => `${a}${b}`),
        fc.tuple(tie('regex'), tie('regex')).map(([a, b]) => `(?:${a}|${b})`),
        fc.tuple(tie('regex'), fc.constantFrom('*', '+', '?', '{2}', '{1,3}', '{2,}')).map(([a, q]) => `(?:${a})${q}`),
      ),
    }));
    const isFast = (source: string): boolean => {
      const pattern = new RegExp(source);
      const longest = Math.min(longestText(source), 20_000);
      return ['a', 'b', 'ab', 'aab', 'ba'].every((part) => {
        const started = cpuMs();
        pattern.test(`${part.repeat(longest / part.length)}!\n`);
        return cpuMs() - started < 3000;
      });
    };
    const anchored = regex.map((source) => `^${source}$`);
    expect(fc.check(fc.property(anchored, isFast), { numRuns: 300, seed: 1 }).counterexample).toBeNull();
  });
});
