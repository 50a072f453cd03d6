// Mistakes that compilers without type checks accept. Each call is what `__decorate` does for the line beside it.
import { describe, expect, it } from '@jest/globals';
import {
  ArrayOf,
  Choices,
  Completion,
  DateOnly,
  Describe,
  Hidden,
  McpHeader,
  McpServer,
  Prompt,
  RecordOf,
  Resource,
  Schema,
  Tool,
} from '@decorum/core';

type Untyped = (...args: unknown[]) => (...place: unknown[]) => void;

const METHODS = [
  ['Tool', Tool, [], '@Tool()'],
  ['Resource', Resource, ['x://a'], "@Resource('docs://readme')"],
  ['Prompt', Prompt, [], '@Prompt()'],
  ['Completion', Completion, [{ for: 'a', argument: 'b' }], "@Completion({ for: 'method', argument: 'name' })"],
  ['Hidden', Hidden, [], '@Hidden()'],
] as unknown as readonly [string, Untyped, unknown[], string][];

const FIELDS = [
  ['Describe', Describe, ['The city'], "@Describe('City, for example Oslo')"],
  ['McpHeader', McpHeader, ['City'], "@McpHeader('Region')"],
  ['Choices', Choices, [{ c: 'Celsius' }], "@Choices({ c: 'Celsius', f: 'Fahrenheit' })"],
  ['DateOnly', DateOnly, [], '@DateOnly()'],
  ['Schema', Schema, [{ type: 'string' }], "@Schema({ type: 'string' })"],
] as unknown as readonly [string, Untyped, unknown[], string][];

/** They take classes, so that what they get on a class looks like their argument. */
const FIELDS_OF_CLASS = [
  ['ArrayOf', ArrayOf, [String], '@ArrayOf(String)'],
  ['RecordOf', RecordOf, [Number], '@RecordOf(Number)'],
] as unknown as typeof FIELDS;

class Shop {
  city = '';
  search() {}
}

const descriptor = Object.getOwnPropertyDescriptor(Shop.prototype, 'search');

/** Expects a message that names the place and the decorator, and ends with the remedy. */
function expectMisuse(run: () => void, where: string, ending: string): void {
  expect(run).toThrow(expect.objectContaining({ code: 'DECORUM_MISUSED_DECORATOR' }));
  expect(run).toThrow(new RegExp(`^${where}: @`));
  expect(run).toThrow(`${ending}. [DECORUM_MISUSED_DECORATOR]`);
}

describe('a decorator without parentheses throws an error with the remedy:', () => {
  it.each(METHODS)('@%s search() {}', (_name, decorator, _args, example) => {
    expectMisuse(() => void decorator(Shop.prototype, 'search', descriptor), 'Shop.search', example);
  });

  it.each([...FIELDS, ...FIELDS_OF_CLASS])('@%s city!: string', (_name, decorator, _args, example) => {
    expectMisuse(() => void decorator(Shop.prototype, 'city', undefined), 'Shop.city', example);
  });

  it.each(METHODS)('@%s static search() {}', (_name, decorator, _args, example) => {
    expectMisuse(() => void decorator(Shop, 'search', descriptor), 'Shop.search', example);
  });

  it.each(METHODS)('@%s class Shop {}', (_name, decorator, _args, example) => {
    expectMisuse(() => void decorator(Shop), 'Shop', `Write ${example} on each method`);
  });

  it.each(FIELDS)('@%s class Shop {}', (_name, decorator, _args, example) => {
    expectMisuse(() => void decorator(Shop), 'Shop', `Write ${example} on each field`);
  });
});

describe('a decorator in the wrong place throws an error with the right one:', () => {
  it.each(METHODS)('@%s(…) class Shop {}', (_name, decorator, args, example) => {
    expectMisuse(() => decorator(...args)(Shop), 'Shop', `Write ${example} on each method`);
  });

  it.each([...FIELDS, ...FIELDS_OF_CLASS])('@%s(…) class Shop {}', (_name, decorator, args, example) => {
    expectMisuse(() => decorator(...args)(Shop), 'Shop', `Write ${example} on each field`);
  });

  it.each(METHODS)('search(@%s(…) query: Query) {}', (_name, decorator, args, example) => {
    expectMisuse(
      () => decorator(...args)(Shop.prototype, 'search', 0),
      'Shop.search',
      `Write ${example} on the method`,
    );
  });

  it.each([...FIELDS, ...FIELDS_OF_CLASS])('search(@%s(…) query: Query) {}', (_name, decorator, args, example) => {
    const ending = `Write ${example} on the field of its class`;
    expectMisuse(() => decorator(...args)(Shop.prototype, 'search', 0), 'Shop.search', ending);
    // a constructor parameter
    expectMisuse(() => decorator(...args)(Shop, undefined, 0), 'Shop', ending);
  });

  it.each([...FIELDS, ...FIELDS_OF_CLASS])('@%s(…) search() {}', (name, decorator, args, example) => {
    const place = [Shop.prototype, 'search', descriptor];
    const remedy = name === 'Describe' ? "@Tool({ description: '…' })" : `Write ${example} on each field`;
    expectMisuse(() => decorator(...args)(...place), 'Shop.search', remedy);
  });

  it.each(FIELDS.slice(0, 2))('@%s() city!: string', (_name, decorator, _args, example) => {
    expectMisuse(
      () => decorator()(Shop.prototype, 'city', undefined),
      'Shop.city',
      `is missing its argument. Write ${example}`,
    );
  });
});

describe('an invalid argument of a decorator fails at startup:', () => {
  const mistakeOf =
    (decorator: Untyped, ...args: unknown[]) =>
    () => {
      class Wrong {
        search() {}
      }
      decorator(...args)(Wrong.prototype, 'search', Object.getOwnPropertyDescriptor(Wrong.prototype, 'search'));
      return new McpServer({ name: 'test', version: '1', providers: [Wrong] });
    };

  it.each([
    ["@Tool('Searches')", Tool, ['Searches'], "@Tool({ description: '…' })"],
    ["@Prompt('Searches')", Prompt, ['Searches'], "@Prompt({ description: '…' })"],
    ['@Tool(null)', Tool, [null], "@Tool({ description: '…' })"],
    ['@Completion()', Completion, [], "@Completion({ for: 'method', argument: 'name' })"],
  ] as unknown as [string, Untyped, unknown[], string][])('%s', (_line, decorator, args, remedy) => {
    expectMisuse(mistakeOf(decorator, ...args), 'Wrong.search', `takes an options object. Write ${remedy}`);
  });

  it.each([
    ['@Resource()', Resource, [], "Write @Resource('docs://readme')"],
    ["@Resource({ uri: 'x://a' })", Resource, [{ uri: 'x://a' }], "Write @Resource('docs://readme')"],
    ['@Completion({})', Completion, [{}], "Write @Completion({ for: 'method', argument: 'name' })"],
  ] as unknown as [string, Untyped, unknown[], string][])('%s', (_line, decorator, args, remedy) => {
    const start = mistakeOf(decorator, ...args);
    expect(start).toThrow(expect.objectContaining({ code: 'DECORUM_INVALID_OPTION' }));
    expect(start).toThrow(`${remedy}. [DECORUM_INVALID_OPTION]`);
    expect(start).toThrow('Wrong.search');
  });

  it.each([
    [Tool, [{ descripton: '' }], 'descripton', 'description'],
    [Tool, [{ inputs: {} }], 'inputs', 'input'],
    [Tool, [{ outputSchema: {} }], 'outputSchema', undefined],
    [Resource, ['x://a', { mimetype: 'text/plain' }], 'mimetype', 'mimeType'],
    [Tool, [{ annotations: { readonlyHint: true } }], 'readonlyHint', 'readOnlyHint'],
    [Resource, ['x://a', { annotations: { prority: 1 } }], 'prority', 'priority'],
    [Prompt, [{ tittle: '' }], 'tittle', 'title'],
    [Completion, [{ for: 'a', arguments: 'b' }], 'arguments', 'argument'],
    [Completion, [{ fro: 'a', argument: 'b' }], 'fro', 'for'],
  ] as unknown as [Untyped, unknown[], string, string | undefined][])(
    'a misspelt option of %p: %j',
    (decorator, args, wrong, meant) => {
      const remedy =
        meant === undefined ? 'is not an option. Remove it, or use one of ' : `is not an option. Write \`${meant}\``;
      expect(mistakeOf(decorator, ...args)).toThrow(`\`${wrong}\` ${remedy}`);
      expect(mistakeOf(decorator, ...args)).toThrow(/^Wrong\.search(?: \(annotations\))?: /);
    },
  );
});
