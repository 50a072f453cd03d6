import {
  ArrayOf,
  Choices,
  Completion,
  DateOnly,
  Describe,
  Hidden,
  McpHeader,
  Prompt,
  RecordOf,
  Resource,
  Schema,
  Tool,
} from '@decorum/core';
import { IsString } from 'class-validator';
import { z } from 'zod';

import { type AnyDecorator, decorated, type Mistake, type Mistakes, start, untyped } from './table.js';

type Untyped = (...args: unknown[]) => AnyDecorator;

const [tool, resource, prompt, completion, describe] = [Tool, Resource, Prompt, Completion, Describe].map((decorator) =>
  untyped<AnyDecorator>(decorator),
) as [Untyped, Untyped, Untyped, Untyped, Untyped];

const on = (decorator: AnyDecorator) => () => start(decorated(decorator))();

/** A tool whose input has a field `price` with these decorators. */
const field =
  (...make: (() => unknown)[]) =>
  () => {
    class Query {
      declare price: unknown;
    }
    for (const each of make) (each() as AnyDecorator)(Query.prototype, 'price', undefined);
    start(decorated(tool({ input: Query })))();
  };

class BookId {
  @IsString() id!: string;
}

const book = (uri: unknown, options: object = {}) => {
  class Shop {
    search(_query: unknown) {}
  }
  const descriptor = Object.getOwnPropertyDescriptor(Shop.prototype, 'search');
  resource(uri, options)(Shop.prototype, 'search', descriptor);
  return start(Shop);
};

class Plain {
  city = '';
  search() {}
  static open() {}
}
const { prototype } = Plain;
const METHOD = [prototype, 'search', Object.getOwnPropertyDescriptor(prototype, 'search')];
const FIELD = [prototype, 'city', undefined];
const CONSTRUCTOR_PARAMETER = [Plain, undefined, 0];

/** Decorators of methods, their arguments, and what messages propose. */
const OF_METHODS = [
  ['Tool', Tool, [], '@Tool()'],
  ['Resource', Resource, ['x://a'], "@Resource('docs://readme')"],
  ['Prompt', Prompt, [], '@Prompt()'],
  ['Completion', Completion, [{ for: 'a', argument: 'b' }], "@Completion({ for: 'method', argument: 'name' })"],
  ['Hidden', Hidden, [], '@Hidden()'],
] as unknown as readonly [string, Untyped, unknown[], string][];

const OF_FIELDS = [
  ['Describe', Describe, ['The city'], "@Describe('City, for example Oslo')"],
  ['McpHeader', McpHeader, ['City'], "@McpHeader('Region')"],
  ['Choices', Choices, [{ c: 'Celsius' }], "@Choices({ c: 'Celsius', f: 'Fahrenheit' })"],
  ['DateOnly', DateOnly, [], '@DateOnly()'],
  ['Schema', Schema, [{ type: 'string' }], "@Schema({ type: 'string' })"],
  ['ArrayOf', ArrayOf, [String], '@ArrayOf(String)'],
  ['RecordOf', RecordOf, [Number], '@RecordOf(Number)'],
] as unknown as typeof OF_METHODS;

/** They take a class, so a class that they decorate looks like their argument. */
const takesClass = (name: string) => name === 'ArrayOf' || name === 'RecordOf';

const misusedOnMethods = OF_METHODS.flatMap(([name, decorator, args, example]): Mistake[] => [
  [`@${name} search() {}`, () => decorator(...METHOD), `Plain.search: @${name} ... ${example}`],
  [`@${name} static open() {}`, () => decorator(Plain, 'open', METHOD[2]), `Plain.open: @${name} ... ${example}`],
  [
    `@${name} class Plain {}, with and without parentheses`,
    [() => decorator(Plain), () => decorator(...args)(Plain)],
    `Plain: @${name} ... Write ${example} on each method`,
  ],
  [
    `search(@${name}(…) query) {}, and in a constructor`,
    [() => decorator(...args)(prototype, 'search', 0), () => decorator(...args)(...CONSTRUCTOR_PARAMETER)],
    `Plain ... : @${name} ... Write ${example} on the method`,
  ],
]);

const misusedOnFields = OF_FIELDS.flatMap(([name, decorator, args, example]): Mistake[] => [
  [`@${name} city!: string`, () => decorator(...FIELD), `Plain.city: @${name} ... ${example}`],
  [
    `@${name} class Plain {}, with and without parentheses`,
    [...(takesClass(name) ? [] : [() => decorator(Plain)]), () => decorator(...args)(Plain)],
    `Plain: @${name} ... Write ${example} on each field`,
  ],
  [
    `search(@${name}(…) query) {}, and in a constructor`,
    [() => decorator(...args)(prototype, 'search', 0), () => decorator(...args)(...CONSTRUCTOR_PARAMETER)],
    `Plain ... : @${name} ... Write ${example} on the field of its class`,
  ],
  [
    `@${name}(…) search() {}`,
    () => decorator(...args)(...METHOD),
    `Plain.search ... ${name === 'Describe' ? "@Tool({ description: '…' })" : `Write ${example} on each field`}`,
  ],
]);

/** Decorators in the wrong place. */
export const PLACES: Mistakes = {
  DECORUM_MISUSED_DECORATOR: [...misusedOnMethods, ...misusedOnFields],
  DECORUM_UNSUPPORTED_MEMBER: [
    [
      '@Tool() on a static method',
      () => tool()(Plain, 'open', {}),
      'Plain.open ... static ... Decorate a public instance method or field with a plain name',
    ],
    [
      '@Tool() on a method named by a symbol',
      () => tool()(prototype, Symbol('secret'), {}),
      'Symbol(secret) ... Decorate a public instance method or field with a plain name',
    ],
  ],
  DECORUM_NOT_A_METHOD: [
    [
      '@Tool() on a getter',
      () => {
        class Shop {
          get search() {
            return 1;
          }
        }
        tool()(Shop.prototype, 'search', Object.getOwnPropertyDescriptor(Shop.prototype, 'search'));
        start(Shop)();
      },
      'Shop.search ... remove what hides it, such as a field of the same name',
    ],
    [
      '@Tool() on an abstract method whose class is listed, or on a field',
      [
        () => {
          class Shop {}
          tool()(Shop.prototype, 'search', undefined);
          start(Shop)();
        },
        () => {
          class Shop {
            search = 1;
          }
          tool()(Shop.prototype, 'search', undefined);
          start(Shop)();
        },
      ],
      'Shop.search ... Decorate a method, and remove what hides it, such as a field of the same name',
    ],
  ],
  DECORUM_MISSING_INPUT: [
    [
      '@Tool() on a field that holds an arrow function with a parameter',
      () => {
        class Shop {
          search = (_query: unknown) => {};
        }
        tool()(Shop.prototype, 'search', undefined);
        start(Shop)();
      },
      'Shop.search ... Make it a method, or pass `input: MyDto`',
    ],
  ],
  DECORUM_DECORATED_TWICE: [
    [
      '@Tool() twice on a method',
      () => {
        class Shop {
          @Tool({ name: 'a' }) @Tool({ name: 'b' }) search() {}
        }
        start(Shop)();
      },
      'Shop.search ... Merge their options into one',
    ],
    [
      '@Describe twice on a field',
      field(
        IsString,
        () => Describe('one'),
        () => Describe('two'),
      ),
      'Query.price ... Merge their options into one',
    ],
  ],
  DECORUM_NOTHING_HIDDEN: [
    [
      '@Hidden() on a misspelt method',
      () => {
        class Shop {
          @Tool() search() {}
        }
        class SmallShop extends Shop {
          @Hidden() serch() {}
        }
        start(SmallShop)();
      },
      'SmallShop.serch ... Correct the name, or remove @Hidden',
    ],
  ],
};

/** Arguments and options of decorators. */
export const ARGUMENTS: Mistakes = {
  DECORUM_MISUSED_DECORATOR: [
    [
      '@Tool(BookId)',
      () => tool(BookId),
      'BookId: @Tool is on a class (to name a schema, write @Tool({ input: MyDto })) ... Write @Tool() on each method',
    ],
    [
      '@Tool(z.object({ … }))',
      on(tool(z.object({ text: z.string() }))),
      "Shop.search: @Tool takes a schema as the `input` option ... Write @Tool({ description: '…' })",
    ],
    [
      "@Resource('docs://readme', 'text/plain'), or with a class",
      [() => on(resource('docs://readme', 'text/plain'))(), () => on(resource('docs://{id}', BookId))()],
      "Shop.search: @Resource takes an options object ... Write @Resource('docs://readme', { mimeType: 'text/markdown' })",
    ],
    [
      "@Completion('ask', 'id') and @Completion()",
      [() => on(completion('ask', 'id'))(), () => on(completion())()],
      "Shop.search: @Completion takes an options object ... Write @Completion({ for: 'method', argument: 'name' })",
    ],
    [
      "@Tool('Finds a book') and @Tool(null)",
      [on(tool('Finds a book')), on(tool(null))],
      "Shop.search: @Tool takes an options object ... Write @Tool({ description: '…' })",
    ],
    ["@Prompt('Finds a book')", on(prompt('Finds a book')), "Shop.search ... Write @Prompt({ description: '…' })"],
    ['@Describe()', () => describe()(...FIELD), `Plain.city ... is missing its argument. Write ${OF_FIELDS[0]![3]}`],
    [
      '@McpHeader()',
      () => untyped<AnyDecorator>(McpHeader)()(...FIELD),
      `Plain.city ... is missing its argument. Write ${OF_FIELDS[1]![3]}`,
    ],
  ],
  DECORUM_INVALID_OPTION: [
    ['@Tool({ descripton })', on(tool({ descripton: '' })), 'Shop.search: `descripton` ... Write `description`'],
    ['@Tool({ inputs })', on(tool({ inputs: {} })), 'Shop.search: `inputs` ... Write `input`'],
    ['@Prompt({ tittle })', on(prompt({ tittle: '' })), 'Shop.search: `tittle` ... Write `title`'],
    [
      '@Tool({ outputSchema })',
      on(tool({ outputSchema: {} })),
      'Shop.search: `outputSchema` is not an option. Remove it, or use one of ... input ... output ... ',
    ],
    [
      "@Resource('x://a', { mimetype })",
      on(resource('x://a', { mimetype: '' })),
      'Shop.search: `mimetype` ... Write `mimeType`',
    ],
    [
      '@Tool({ annotations: { readonlyHint } })',
      on(tool({ annotations: { readonlyHint: true } })),
      'Shop.search (annotations): `readonlyHint` ... Write `readOnlyHint`',
    ],
    [
      '@Resource with a misspelt annotation',
      on(resource('x://a', { annotations: { prority: 1 } })),
      'Shop.search (annotations): `prority` ... Write `priority`',
    ],
    [
      '@Completion({ for, arguments })',
      on(completion({ for: 'a', arguments: 'b' })),
      'Shop.search: `arguments` ... Write `argument`',
    ],
    [
      '@Completion({ fro, argument })',
      on(completion({ fro: 'a', argument: 'b' })),
      'Shop.search: `fro` ... Write `for`',
    ],
    [
      '@Tool({ title: 5 }) and @Prompt({ description: [] })',
      [on(tool({ title: 5 })), on(prompt({ description: [] }))],
      'Shop.search ... must be a string',
    ],
    ['@Tool({ icons: {} })', on(tool({ icons: {} })), 'Shop.search ... must be an array'],
    ['@Tool({ icons: [null] })', on(tool({ icons: [null] })), 'Shop.search (icons) ... Pass { … }'],
    [
      'an icon with a scheme that clients reject',
      on(tool({ icons: [{ src: 'javascript:alert(1)' }] })),
      'Shop.search ... javascript: ... Use an https, http or data URI',
    ],
    [
      "@Tool({ annotations: { readOnlyHint: 'yes' } })",
      on(tool({ annotations: { readOnlyHint: 'yes' } })),
      'Shop.search (annotations) ... must be true or false',
    ],
    [
      "@Tool({ _meta: 'x' }) and @Resource with a `cache` of null",
      [on(tool({ _meta: 'x' })), book('docs://readme', { cache: null })],
      'Shop.search ... must be an object',
    ],
    [
      'a schema that is undefined or null, as two modules import each other',
      [null, undefined].flatMap((input) => [on(tool({ input })), on(prompt({ input }))]),
      'Shop.search: `input` is ... two modules import each other ... Move the class to a module of its own, or remove `input`',
    ],
    [
      '@Tool({ output: undefined })',
      [on(tool({ output: undefined })), on(tool({ output: null }))],
      'Shop.search: `output` is ... Move the class to a module of its own, or remove `output`',
    ],
    [
      '@Resource() and @Resource({ uri })',
      [book(undefined), book({ uri: 'x://a' })],
      "Shop.search ... Write @Resource('docs://readme')",
    ],
    [
      'an `access` that is no function, or undefined',
      [true, undefined].flatMap((access) => [
        on(tool({ access })),
        on(prompt({ access })),
        on(resource('x://a', { access })),
      ]),
      'Shop.search ... access ... ',
    ],
    [
      'a public cache beside `access`',
      on(resource('x://a', { access: () => true, cache: { ttlMs: 1, scope: 'public' } })),
      'Shop.search ... cache ... ',
    ],
    [
      'a `text` that is none',
      [5, null, {}, []].map((text) => on(tool({ output: BookId, text }))),
      'Shop.search: `text` is ... Use true, false, a string ... ',
    ],
    ['a `text` without an output', on(tool({ text: false })), 'Shop.search: `text` ... Add `output` ... '],
    [
      'an `extraOutput` without an output (#23)',
      on(tool({ extraOutput: 'drop' })),
      'Shop.search ... is about the fields of `output`, which is missing. Add `output` ... ',
    ],
    [
      'an unknown `extraOutput` (#23)',
      on(tool({ output: BookId, extraOutput: 'strip' })),
      `Shop.search ... is "strip". Use 'reject' or 'drop' ... `,
    ],
    [
      "@Resource with `audience: 'user'`",
      book('docs://readme', { annotations: { audience: 'user' } }),
      'Shop.search ... must be an array',
    ],
    [
      'an unknown audience',
      book('docs://readme', { annotations: { audience: ['everybody'] } }),
      'Shop.search: `annotations.audience` must be an array of "user" and "assistant"',
    ],
    [
      'a date that is none',
      book('docs://readme', { annotations: { lastModified: 'yesterday' } }),
      'Shop.search: `annotations.lastModified` must be an ISO 8601 date and time, such as "2026-01-31T12:00:00Z"',
    ],
    [
      'a priority out of range',
      book('docs://readme', { annotations: { priority: 2 } }),
      'Shop.search ... priority ... to 1',
    ],
    [
      'a negative size',
      book('docs://readme', { size: -1 }),
      'Shop.search: `size` must be a non-negative integer (bytes)',
    ],
    ['a `list` for a URI without variables', on(resource('docs://id', { list: 'all' })), 'Shop.search ... list ... '],
    [
      'a parameter for a URI without variables',
      book('docs://id', { input: BookId }),
      'Shop.search ... Add variables in braces, as in "docs://{id}", or remove the parameter',
    ],
    [
      'a completion for nothing',
      [on(completion({ for: [], argument: 'id' })), on(completion({}))],
      "Shop.search ... Write @Completion({ for: 'method', argument: 'name' })",
    ],
    ['@Describe(5)', field(IsString, () => describe(5)), 'Query.price (@Describe) ... Pass { … }'],
    [
      '@Describe({ descripton })',
      field(IsString, () => describe({ descripton: '' })),
      'Query.price (@Describe) ... Write `description`',
    ],
    [
      '@Choices with misspelt options',
      field(() => untyped(Choices)({ a: 'A' }, { eahc: true })),
      'Query.price (@Choices) ... Write `each`',
    ],
  ],
  DECORUM_INVALID_NAME: [
    [
      "@Tool({ name: 'find a book' })",
      on(tool({ name: 'find a book' })),
      'Shop.search ... find a book ... Use 1 to 128 characters from A–Z, a–z, 0–9, "_", "-" and "."',
    ],
  ],
  DECORUM_BAD_URI: [
    ["@Resource('readme')", book('readme'), 'Shop.search ... Begin with a scheme, as in "docs://readme"'],
    ["@Resource('docs://read me')", book('docs://x/read me'), 'Shop.search ... Write "docs://x/read%20me"'],
    [
      "@Resource('docs://${id}') in plain quotes, and other ways to write a variable",
      [book('docs://${id}'), book('docs://[id]'), book('docs://<id>')],
      'Shop.search ... Write "docs://{id}"',
    ],
    ["@Resource('docs://books/:id')", book('docs://books/:id'), 'Shop.search ... Write "docs://books/{id}"'],
  ],
  DECORUM_BAD_TEMPLATE: [
    [
      "@Resource('docs://{id')",
      book('docs://{id'),
      'Shop.search ... docs://{id ... Write variables as in "docs://{id}" or "docs://{+path}"',
    ],
  ],
  DECORUM_TEMPLATE_VARIABLE: [
    [
      'a template variable that is no field',
      book('docs://{isbn}', { input: BookId }),
      'Shop.search ... isbn ... Add the field, or name one that the DTO has: "id"',
    ],
  ],
  DECORUM_TEMPLATE_FIELD: [
    [
      'a field that is no template variable',
      book('docs://{id}', { input: z.object({ id: z.string(), page: z.string() }) }),
      'Shop.search ... page ... Add it to the template or mark it @IsOptional()',
    ],
  ],
  DECORUM_DANGLING_LIST: [
    [
      'a `list` that names no method',
      book('docs://{id}', { input: BookId, list: 'books' }),
      "Shop.search ... books ... Name the method that lists the template's resources",
    ],
  ],
  DECORUM_DANGLING_COMPLETION: [
    [
      'a completion for the name of a prompt instead of its method',
      () => {
        class Shop {
          @Prompt({ name: 'recommend' }) ask(_book: BookId) {}
          @Completion({ for: 'recommend', argument: 'id' }) ids() {
            return [];
          }
        }
        start(Shop)();
      },
      'Shop.ids ... recommend ... Name the method of one: "ask"',
    ],
  ],
  DECORUM_UNKNOWN_ARGUMENT: [
    [
      'a completion of an argument that is not there',
      () => {
        class Shop {
          @Prompt() ask(_book: BookId) {}
          @Completion({ for: 'ask', argument: 'isbn' }) ids() {
            return [];
          }
        }
        start(Shop)();
      },
      'Shop.ids ... isbn ... Name one that it has: "id"',
    ],
  ],
  DECORUM_DUPLICATE_COMPLETION: [
    [
      'two completions of one argument',
      () => {
        class Shop {
          @Prompt() ask(_book: BookId) {}
          @Completion({ for: 'ask', argument: 'id' }) one() {
            return [];
          }
          @Completion({ for: 'ask', argument: 'id' }) two() {
            return [];
          }
        }
        start(Shop)();
      },
      'Shop.two completes "id" of "Shop.ask", which already has a @Completion. Remove one',
    ],
  ],
  DECORUM_INVALID_FIELD: [
    [
      '@Schema with a schema of zod',
      field(() => untyped(Schema)(z.string())),
      "Query.price ... Write `@Schema({ type: 'string' })`",
    ],
    [
      '@ArrayOf(() => Item)',
      field(() => untyped(ArrayOf)(() => BookId)),
      'Query.price ... use @Type and @ValidateNested',
    ],
  ],
};
