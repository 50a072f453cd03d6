import {
  ArrayOf,
  Choices,
  Completion,
  DateOnly,
  Describe,
  Hidden,
  Prompt,
  Resource,
  Schema,
  Tool,
} from '@decorum/core';
import { IsString } from 'class-validator';
import { z } from 'zod';

import { type AnyDecorator, decorated, type Mistake, start, untyped } from './table.js';

const tool = untyped<AnyDecorator>(Tool);
const resource = untyped<AnyDecorator>(Resource);
const prompt = untyped<AnyDecorator>(Prompt);
const completion = untyped<AnyDecorator>(Completion);
const describe = untyped<AnyDecorator>(Describe);

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

/** Decorators in the wrong place, and with the wrong arguments. */
export const PLACES: readonly Mistake[] = [
  [
    '@Tool without parentheses',
    () => tool(class Shop {}.prototype, 'search', {}),
    'DECORUM_MISUSED_DECORATOR',
    'Shop.search',
    'Write @Tool()',
  ],
  [
    '@Tool() on a class',
    () => tool()(class Shop {}),
    'DECORUM_MISUSED_DECORATOR',
    'Shop: @Tool',
    'Write @Tool() on each method',
  ],
  [
    '@Tool() on a static method',
    () => {
      class Shop {
        static search() {}
      }
      tool()(Shop, 'search', {});
    },
    'DECORUM_UNSUPPORTED_MEMBER',
    'Shop.search',
    'Decorate a public instance method or field with a plain name',
  ],
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
    'DECORUM_NOT_A_METHOD',
    'Shop.search',
    'remove what hides it, such as a field of the same name',
  ],
  [
    '@Tool() on an abstract method whose class is listed',
    () => {
      class Shop {}
      tool()(Shop.prototype, 'search', undefined);
      start(Shop)();
    },
    'DECORUM_NOT_A_METHOD',
    'Shop.search',
    'Decorate a method, and remove what hides it, such as a field of the same name',
  ],
  [
    '@Tool() on a field that holds an arrow function with a parameter',
    () => {
      class Shop {
        search = (_query: unknown) => {};
      }
      tool()(Shop.prototype, 'search', undefined);
      start(Shop)();
    },
    'DECORUM_MISSING_INPUT',
    'Shop.search',
    'Make it a method, or pass `input: MyDto`',
  ],
  [
    '@Tool() on a parameter',
    () => tool()(class Shop {}.prototype, 'search', 0),
    'DECORUM_MISUSED_DECORATOR',
    'Shop.search',
    'Write @Tool() on the method',
  ],
  [
    '@Tool() on a parameter of the constructor',
    () => tool()(class Shop {}, undefined, 0),
    'DECORUM_MISUSED_DECORATOR',
    'Shop: @Tool',
    'Write @Tool() on the method',
  ],
  [
    '@Tool() twice on a method',
    () => {
      class Shop {
        @Tool() @Tool() search() {}
      }
      start(Shop)();
    },
    'DECORUM_DECORATED_TWICE',
    'Shop.search',
    'Merge their options into one',
  ],
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
    'DECORUM_NOTHING_HIDDEN',
    'SmallShop.serch',
    'Correct the name, or remove @Hidden',
  ],
  [
    '@Describe on a method',
    on(describe('Finds a book')),
    'DECORUM_MISUSED_DECORATOR',
    'Shop.search',
    "@Tool({ description: '…' })",
  ],
  [
    '@DateOnly without parentheses',
    () => decorated(untyped<never>(DateOnly), { kind: 'field' }),
    'DECORUM_MISUSED_DECORATOR',
    'Shop.price',
    'Write @DateOnly()',
  ],
  [
    '@ArrayOf(…) on a class',
    () => (ArrayOf(String) as AnyDecorator)(class Shop {}),
    'DECORUM_MISUSED_DECORATOR',
    'Shop: @ArrayOf',
    'Write @ArrayOf(String) on each field',
  ],
];

/** Arguments and options of decorators. */
export const ARGUMENTS: readonly Mistake[] = [
  [
    '@Tool(BookId)',
    () => tool(BookId),
    'DECORUM_MISUSED_DECORATOR',
    'BookId: @Tool is on a class (to name a schema, write @Tool({ input: MyDto }))',
    'Write @Tool() on each method',
  ],
  [
    '@Tool(z.object({ … }))',
    on(tool(z.object({ text: z.string() }))),
    'DECORUM_MISUSED_DECORATOR',
    'Shop.search: @Tool takes a schema as the `input` option',
    "Write @Tool({ description: '…' })",
  ],
  [
    "@Resource('docs://readme', 'text/plain')",
    () => on(resource('docs://readme', 'text/plain'))(),
    'DECORUM_MISUSED_DECORATOR',
    'Shop.search: @Resource takes an options object',
    "Write @Resource('docs://readme', { mimeType: 'text/markdown' })",
  ],
  [
    "@Resource('docs://{id}', BookId)",
    () => on(resource('docs://{id}', BookId))(),
    'DECORUM_MISUSED_DECORATOR',
    'Shop.search: @Resource takes an options object',
    "Write @Resource('docs://readme', { mimeType: 'text/markdown' })",
  ],
  [
    "@Completion('ask', 'id')",
    () => on(completion('ask', 'id'))(),
    'DECORUM_MISUSED_DECORATOR',
    'Shop.search: @Completion takes an options object',
    "Write @Completion({ for: 'method', argument: 'name' })",
  ],
  [
    "@Tool('Finds a book')",
    on(tool('Finds a book')),
    'DECORUM_MISUSED_DECORATOR',
    'Shop.search',
    "Write @Tool({ description: '…' })",
  ],
  [
    '@Tool({ descripton })',
    on(tool({ descripton: '' })),
    'DECORUM_INVALID_OPTION',
    'Shop.search',
    'Write `description`',
  ],
  ['@Tool({ title: 5 })', on(tool({ title: 5 })), 'DECORUM_INVALID_OPTION', 'Shop.search', 'must be a string'],
  ['@Tool({ icons: {} })', on(tool({ icons: {} })), 'DECORUM_INVALID_OPTION', 'Shop.search', 'must be an array'],
  [
    '@Tool({ icons: [null] })',
    on(tool({ icons: [null] })),
    'DECORUM_INVALID_OPTION',
    'Shop.search (icons)',
    'Pass { … }',
  ],
  [
    "@Tool({ annotations: { readOnlyHint: 'yes' } })",
    on(tool({ annotations: { readOnlyHint: 'yes' } })),
    'DECORUM_INVALID_OPTION',
    'Shop.search (annotations)',
    'must be true or false',
  ],
  ["@Tool({ _meta: 'x' })", on(tool({ _meta: 'x' })), 'DECORUM_INVALID_OPTION', 'Shop.search', 'must be an object'],
  [
    "@Tool({ name: 'find a book' })",
    on(tool({ name: 'find a book' })),
    'DECORUM_INVALID_NAME',
    'Shop.search',
    'Use 1 to 128 characters from A–Z, a–z, 0–9, "_", "-" and "."',
  ],
  [
    '@Tool({ output: undefined })',
    on(tool({ output: undefined })),
    'DECORUM_INVALID_OPTION',
    'Shop.search',
    'Move the class to a module of its own, or remove `output`',
  ],
  [
    '@Prompt({ description: [] })',
    on(prompt({ description: [] })),
    'DECORUM_INVALID_OPTION',
    'Shop.search',
    'a string',
  ],
  ['@Resource()', book(undefined), 'DECORUM_INVALID_OPTION', 'Shop.search', "Write @Resource('docs://readme')"],
  [
    '@Resource with a `cache` of null',
    book('docs://readme', { cache: null }),
    'DECORUM_INVALID_OPTION',
    'Shop.search',
    'must be an object',
  ],
  [
    "@Resource with `audience: 'user'`",
    book('docs://readme', { annotations: { audience: 'user' } }),
    'DECORUM_INVALID_OPTION',
    'Shop.search',
    'must be an array',
  ],
  [
    "@Resource('readme')",
    book('readme'),
    'DECORUM_BAD_URI',
    'Shop.search',
    'Begin with a scheme, as in "docs://readme"',
  ],
  [
    "@Resource('docs://read me')",
    book('docs://x/read me'),
    'DECORUM_BAD_URI',
    'Shop.search',
    'Write "docs://x/read%20me"',
  ],
  [
    "@Resource('docs://${id}') in plain quotes",
    book('docs://${id}'),
    'DECORUM_BAD_URI',
    'Shop.search',
    'Write "docs://{id}"',
  ],
  ["@Resource('docs://[id]')", book('docs://[id]'), 'DECORUM_BAD_URI', 'Shop.search', 'Write "docs://{id}"'],
  [
    "@Resource('docs://books/:id')",
    book('docs://books/:id'),
    'DECORUM_BAD_URI',
    'Shop.search',
    'Write "docs://books/{id}"',
  ],
  ["@Resource('docs://<id>')", book('docs://<id>'), 'DECORUM_BAD_URI', 'Shop.search', 'Write "docs://{id}"'],
  [
    "@Resource('docs://{id')",
    book('docs://{id'),
    'DECORUM_BAD_TEMPLATE',
    'Shop.search',
    'Write variables as in "docs://{id}" or "docs://{+path}"',
  ],
  [
    'a parameter for a URI without variables',
    book('docs://id', { input: BookId }),
    'DECORUM_INVALID_OPTION',
    'Shop.search',
    'Add variables in braces, as in "docs://{id}", or remove the parameter',
  ],
  [
    'a template variable that is no field',
    book('docs://{isbn}', { input: BookId }),
    'DECORUM_TEMPLATE_VARIABLE',
    'Shop.search',
    'Add the field, or name one that the DTO has: "id"',
  ],
  [
    'a field that is no template variable',
    book('docs://{id}', { input: z.object({ id: z.string(), page: z.string() }) }),
    'DECORUM_TEMPLATE_FIELD',
    'Shop.search',
    'Add it to the template or mark it @IsOptional()',
  ],
  [
    'a `list` that names no method',
    book('docs://{id}', { input: BookId, list: 'books' }),
    'DECORUM_DANGLING_LIST',
    'Shop.search',
    "Name the method that lists the template's resources",
  ],
  [
    'a completion for nothing',
    on(completion({ for: [], argument: 'id' })),
    'DECORUM_INVALID_OPTION',
    'Shop.search',
    "Write @Completion({ for: 'method', argument: 'name' })",
  ],
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
    'DECORUM_DANGLING_COMPLETION',
    'Shop.ids',
    'Name the method of one: "ask"',
  ],
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
    'DECORUM_UNKNOWN_ARGUMENT',
    'Shop.ids',
    'Name one that it has: "id"',
  ],
  [
    '@Describe(5)',
    field(IsString, () => describe(5)),
    'DECORUM_INVALID_OPTION',
    'Query.price (@Describe)',
    'Pass { … }',
  ],
  [
    '@Describe({ descripton })',
    field(IsString, () => describe({ descripton: '' })),
    'DECORUM_INVALID_OPTION',
    'Query.price (@Describe)',
    'Write `description`',
  ],
  [
    '@Describe twice on a field',
    field(
      IsString,
      () => Describe('one'),
      () => Describe('two'),
    ),
    'DECORUM_DECORATED_TWICE',
    'Query.price',
    'Merge their options into one',
  ],
  [
    '@Choices with misspelt options',
    field(() => untyped(Choices)({ a: 'A' }, { eahc: true })),
    'DECORUM_INVALID_OPTION',
    'Query.price (@Choices)',
    'Write `each`',
  ],
  [
    '@Schema with a schema of zod',
    field(() => untyped(Schema)(z.string())),
    'DECORUM_INVALID_FIELD',
    'Query.price',
    "Write `@Schema({ type: 'string' })`",
  ],
  [
    '@ArrayOf(() => Item)',
    field(() => untyped(ArrayOf)(() => BookId)),
    'DECORUM_INVALID_FIELD',
    'Query.price',
    'use @Type and @ValidateNested',
  ],
];
