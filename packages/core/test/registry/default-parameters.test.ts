// Default values of the first parameter, which handlers never get, however the method is written.
import { describe, expect, it } from '@jest/globals';
import { type Class, DecorumError, McpServer, Tool } from '@decorum/core';
import { IsOptional, IsString } from 'class-validator';
import fc from 'fast-check';

class Query {
  @IsOptional() @IsString() text?: string;
}

/** The code of the startup error for a class with this member; undefined if it starts. */
function codeOf(member: string, name = 'search'): string | undefined {
  // oxlint-disable-next-line no-new-func -- the source of the method is what the test is about
  const Shop = new Function(`const NAME = (of) => of; return class Shop { ${member} };`)() as Class;
  const decorate = Tool({ input: Query, name: 'search' }) as (...place: unknown[]) => void;
  const prototype = Shop.prototype as object;
  decorate(prototype, name, Object.getOwnPropertyDescriptor(prototype, name));
  try {
    new McpServer({ name: 'shop', version: '1.0.0', providers: [Shop] });
    return undefined;
  } catch (error) {
    return (error as DecorumError).code;
  }
}

/** What hid brackets and commas from a reader of the source. */
const noise = fc.constantFrom('', ' ', '/* ) */', '/* = ( */ ', '// ({[\n', '/* "*/', "/* it's */");
const value = fc.constantFrom(
  `'('`,
  `"]"`,
  '`}`',
  `'//'`,
  `'/*'`,
  `'\\')'`,
  '(1, 2)',
  '[{}]',
  '/[)]/',
  '() => ({})',
  '{ a: ")" }',
);
const pattern = fc
  .array(
    fc.tuple(fc.constantFrom('text', `'a)b': text`, '["x(" + 1]: text', 'text: { length }', 'text: [first]'), value),
  )
  .map((fields) =>
    fields.map(([field, initial], at) => `${field.replace(/text$|length|first/g, `$&${at}`)} = ${initial}`),
  )
  .map((fields) => `{ ${fields.join(', ')} }`);
const parameter = fc.oneof(fc.constantFrom('input', '_', '$in'), pattern);
const head = fc.constantFrom(
  'search',
  'async search',
  '*search',
  'async *search',
  `'search'`,
  `["search"]`,
  `[NAME('search')]`,
);
const rest = fc.constantFrom('', ', ctx', ', ctx = {}', ', ...more');

describe('the first parameter of a method', () => {
  it('is rejected with a default value, and accepted without one, in all ways to write them (#23)', () => {
    fc.assert(
      fc.property(head, noise, parameter, value, rest, (start, gap, name, initial, more) => {
        const method = (input: string) => `${start}${gap}(${gap}${input}${gap}${more}) {}`;
        expect([method(name), codeOf(method(name))]).toEqual([method(name), undefined]);
        const wrong = method(`${name} ${gap}= ${initial}`);
        expect([wrong, codeOf(wrong)]).toEqual([wrong, 'DECORUM_INVALID_PARAMETER']);
      }),
    );
  });

  it.each([
    ['is missing', 'search() {}'],
    ['is missing, with a comment in its place', 'search(/* no = input */) {}'],
    ['is a rest parameter', 'search(...all) {}'],
    ['belongs to a method that wraps another one', 'search() { return Reflect.apply((a = 1) => a, this, arguments); }'],
  ])('may be left out: %s (#23)', (_, member) => {
    expect(codeOf(member)).toBeUndefined();
  });

  it('is found behind a name with a bracket (#23)', () => {
    expect(codeOf(`'a(b'(input = {}) {}`, 'a(b')).toBe('DECORUM_INVALID_PARAMETER');
    expect(codeOf(`'a(b'(input) {}`, 'a(b')).toBeUndefined();
  });
});
