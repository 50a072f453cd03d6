import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';

import { addedSince, entryOf, type Target, withEntries, withEntry, withoutEntry } from '../../src/install/edit.js';
import type { Format, Value } from '../../src/install/formats/format.js';
import { json } from '../../src/install/formats/json.js';
import { toml } from '../../src/install/formats/toml.js';
import { yaml } from '../../src/install/formats/yaml.js';

const NAME = 'weather';
const key = fc.constantFrom('a', 'b c', '__proto__', 'd.e', 'toString', 'ü"\n');

/** Values of entries. */
const entry: fc.Arbitrary<Value> = fc.record(
  {
    command: fc.string({ unit: 'grapheme' }),
    args: fc.array(fc.string({ unit: 'binary-ascii' }), { maxLength: 3 }),
    env: fc.dictionary(fc.constantFrom('A', 'B_1', '__proto__'), fc.string(), { maxKeys: 2 }),
    enabled: fc.boolean(),
    timeout: fc.integer(),
  },
  { requiredKeys: ['command', 'args'] },
);

const trivia = fc.constantFrom(
  '',
  '',
  ' ',
  '\n',
  '\r\n',
  '\t',
  '\n  ',
  ' // a "comment" {,}\n',
  '/* b */',
  '\n\n\n',
  '/*\n*/',
);

/** JSON objects with comments and trailing commas. */
const { object } = fc.letrec<{ value: string; object: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom('1', '-1.50e3', 'null', '"a, b"', '"\\u0041"', '[]', '[ 1,\n2, ]'),
    tie('object'),
  ),
  object: objectOf(key, tie('value')),
}));

function objectOf(keys: fc.Arbitrary<string>, value: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const member = fc
    .tuple(trivia, keys, trivia, trivia, value, trivia)
    .map(([before, name, afterKey, beforeValue, text, after]) => ({
      name,
      text: `${before}${JSON.stringify(name)}${afterKey}:${beforeValue}${text}${after}`,
    }));
  const members = fc.uniqueArray(member, { selector: ({ name }) => name, maxLength: 4 });
  return fc.tuple(members, fc.boolean(), trivia).map(([all, hasTrailing, last]) => {
    const isTrailing = all.length > 0 && hasTrailing;
    return `{${all.map(({ text }) => text).join(',')}${isTrailing ? ',' : ''}${last}}`;
  });
}

const jsonText = fc.oneof(
  fc.tuple(trivia, objectOf(fc.constantFrom('servers', 'x', 'y'), object), trivia).map((parts) => parts.join('')),
  fc.constantFrom('', ' ', '// none\n', '{}', '{ }'),
);

const lineBreak = fc.constantFrom('\n', '\r\n');

/** Joins lines, with the last line break or without. */
const lines = (all: fc.Arbitrary<readonly string[]>) =>
  fc.tuple(all, lineBreak, fc.boolean()).map(([each, end, isClosed]) => each.join(end) + (isClosed ? end : ''));

const tomlLine = fc.constantFrom(
  '',
  '',
  '# a comment',
  '\t# tabs',
  'KEY = "a # b"',
  'KEY = [ 1, # c',
  'KEY = { a = 1, b.c = 2 }',
);

/** Lines in which each key is another one, and arrays are closed. */
const numbered = (all: readonly string[], start: string) =>
  all.flatMap((line, at) => {
    const text = line.replace('KEY', `${start}${at}`);
    return text.endsWith('# c') ? [text, '  2,', ']  # d'] : [text];
  });

const tomlTable = fc
  .tuple(
    fc.constantFrom('servers', 'servers.a', 'servers."b.c"', 'servers.a.env', 'x', '"servers x"', "'__proto__'"),
    fc.array(tomlLine, { maxLength: 4 }),
  )
  .map(([name, body]) => ({ name, text: [`[${name}] # table`, ...numbered(body, 'k')] }));

const tomlText = lines(
  fc
    .tuple(
      fc.array(tomlLine, { maxLength: 4 }),
      fc.uniqueArray(tomlTable, { selector: ({ name }) => name, maxLength: 5 }),
    )
    .map(([head, tables]) => [...numbered(head, 't'), ...tables.flatMap(({ text }) => text)]),
);

const yamlValue = fc.constantFrom(
  ['a # no'],
  ['"b: c" # yes'],
  ["'d'"],
  ['', '- e', '- f: 1', '  g: 2'],
  ['{ h: 1 }'],
  ['|', '  text', '', '  more'],
  ['>-', '  folded'],
  ['', '  i:', '    j: 1'],
);

const yamlPair = (name: string, indent: string) =>
  fc
    .tuple(yamlValue, fc.constantFrom([], [''], ['# comment'], ['  # indented']))
    .map(([[first = '', ...rest], more]) => [
      `${indent}${name}:${first === '' ? '' : ` ${first}`}`,
      ...rest.map((line) => (line === '' ? '' : indent + line)),
      ...more,
    ]);

const yamlSection = fc.oneof(
  fc.constantFrom(['servers:'], ['servers: {}'], ['servers: null # none'], ['servers: { a: 1 }'], []),
  fc.tuple(yamlPair('a', '    '), yamlPair('b', '    ')).map(([a, b]) => ['servers: # all', ...a, ...b]),
);

const yamlText = lines(
  fc
    .tuple(fc.constantFrom([], ['# goose'], ['---']), yamlPair('x', ''), yamlSection, yamlPair('y', ''))
    .map((parts) => parts.flat()),
);

const target = (format: Format, name = NAME): Target => ({ format, place: { section: 'servers', name } });

/** Whether all characters of a text are in another one, in the same order. */
function isInside(part: string, whole: string): boolean {
  let at = 0;
  for (let index = 0; index < whole.length; index++) if (whole[index] === part[at]) at++;
  return at === part.length;
}

const FORMATS = [
  { title: 'JSON', format: json, text: jsonText },
  { title: 'TOML', format: toml, text: tomlText },
  { title: 'YAML', format: yaml, text: yamlText },
];

describe.each(FORMATS)('any text in $title', ({ format, text }) => {
  it('keeps all that it has when an entry is added', () => {
    fc.assert(
      fc.property(text, entry, (before, value) => {
        const after = withEntry(before, target(format), value);
        const kept = before.replaceAll(format === yaml ? /\s|\{\}|null/g : /\s/g, '');
        expect(isInside(kept, after)).toBe(true);
        expect(addedSince(before, after, target(format))).toEqual([[NAME, value]]);
      }),
    );
  });

  it('has the other entries after any of them is taken out, in any order', () => {
    const names = fc.shuffledSubarray(['weather', 'notes', 'clock', '__proto__x'], { minLength: 1 });
    fc.assert(
      fc.property(text, names, names, entry, (before, added, removed, value) => {
        let now = withEntries(
          before,
          target(format),
          added.map((name) => [name, value] as const),
        );
        // each edit checks that nothing else has changed
        for (const name of removed.filter((each) => added.includes(each)))
          now = withoutEntry(now, target(format, name), true);
        const left = added.filter((name) => entryOf(now, target(format, name)) !== undefined);
        expect(left).toEqual(added.filter((name) => !removed.includes(name)));
      }),
    );
  });

  it('has another value after an entry is replaced, and nothing else', () => {
    fc.assert(
      fc.property(text, entry, entry, (before, first, second) => {
        const after = withEntry(withEntry(before, target(format), first), target(format), second);
        expect(addedSince(before, withEntry(before, target(format), second), target(format))).toEqual([[NAME, second]]);
        expect(entryOf(after, target(format))).toEqual(entryOf(withEntry('', target(format), second), target(format)));
      }),
    );
  });
});

describe('plain JSON', () => {
  const plain = fc.tuple(
    fc.dictionary(fc.constantFrom('x', 'servers', 'y'), fc.dictionary(key, fc.json()), { maxKeys: 3 }),
    fc.constantFrom(0, 2, '\t'),
  );

  it('keeps comments between an entry and its comma, and after a section without a value', () => {
    const value = { command: 'a' };
    const zed: Target = { format: json, place: { section: 'servers', name: NAME } };
    const text = '{ "servers": { "a": {}\n // why\n , } }';
    expect(withoutEntry(withEntry(text, zed, value), zed, true)).toContain('// why\n');
    const goose: Target = { format: yaml, place: { section: 'extensions', name: NAME } };
    expect(withEntry('extensions: # none yet\nlast: 1\n', goose, value)).toBe(
      `extensions: # none yet\n  ${NAME}:\n    command: "a"\nlast: 1\n`,
    );
  });

  it('stays plain JSON, for clients that read nothing else', () => {
    fc.assert(
      fc.property(plain, fc.shuffledSubarray(['weather', 'notes', 'clock']), entry, ([value, indent], names, added) => {
        const before = JSON.stringify(value, undefined, indent);
        const all = names.map((name) => [name, added] as const);
        let now = withEntries(before, target(json), all);
        expect(JSON.parse(now)).toEqual(
          names.length === 0 ? value : { ...value, servers: { ...value['servers'], ...Object.fromEntries(all) } },
        );
        for (const name of names.toReversed()) now = withoutEntry(now, target(json, name), !('servers' in value));
        expect(now).toBe(before);
      }),
    );
  });
});
