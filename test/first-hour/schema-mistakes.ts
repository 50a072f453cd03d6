import {
  ArrayOf,
  type Class,
  Completion,
  Context,
  McpServer,
  Prompt,
  type SchemaSource,
  Tool,
  type ToolEntry,
} from '@decorum/core';
import { IsArray, IsInt, IsObject, IsString, Matches, Min, ValidateNested } from 'class-validator';
import { Type } from 'class-transformer';
import * as v from 'valibot';
import { z } from 'zod';
import { z as zod3 } from 'zod/v3';

import { type AnyDecorator, decorated, type Mistake, start, untyped } from './table.js';

const input = (source: unknown) => () =>
  start(decorated(untyped<AnyDecorator>(Tool)({ input: source as SchemaSource })))();

const output = (source: unknown) => () =>
  start(decorated(untyped<AnyDecorator>(Tool)({ output: source as SchemaSource })))();

class Query {
  @IsString() text!: string;
}

/** A tool that takes this class. */
const taking = (cls: Class) => input(cls);

/** Parameters of handlers. */
export const INPUTS: readonly Mistake[] = [
  [
    'a DTO that is imported with `import type`',
    () => {
      class Shop {
        @Tool() search(_query: ToolEntry) {}
      }
      start(Shop)();
    },
    'DECORUM_MISSING_INPUT',
    'Shop.search',
    'declare a DTO class, or pass `input: MyDto`',
  ],
  [
    'a DTO that is imported with `type` in the braces, as compilers that know it to be a class emit it',
    () => {
      class Shop {
        @Tool() search(_query: () => void) {}
      }
      start(Shop)();
    },
    'DECORUM_MISSING_INPUT',
    'Shop.search',
    'Write `import { MyDto }` without `type`, or pass `input: MyDto`',
  ],
  [
    'a default value for the input',
    () => {
      class Shop {
        @Tool() search(_query = new Query()) {}
      }
      start(Shop)();
    },
    'DECORUM_INVALID_PARAMETER',
    'Shop.search',
    'Write `search(input: MyDto, ctx: Context)`',
  ],
  [
    'a default value for an input that is taken apart',
    () => {
      class Shop {
        @Tool() search(/* all (of them) */ { text: { length } }: Query = new Query(), _ctx?: Context) {
          return length;
        }
      }
      start(Shop)();
    },
    'DECORUM_INVALID_PARAMETER',
    'Shop.search',
    'Write `search(input: MyDto, ctx: Context)`',
  ],
  [
    'a string as parameter',
    () => {
      class Shop {
        @Tool() search(_text: string) {}
      }
      start(Shop)();
    },
    'DECORUM_MISSING_INPUT',
    'Shop.search',
    'or pass `input: MyDto`',
  ],
  [
    'the context as first parameter',
    () => {
      class Shop {
        @Tool() search(_ctx: Context) {}
      }
      start(Shop)();
    },
    'DECORUM_MISSING_INPUT',
    'Shop.search',
    'Put the input first, or `_: NoInput` if there is none',
  ],
  [
    'a class that does not exist yet, as two modules import each other',
    () => {
      class Shop {
        search(_query: unknown) {}
      }
      const { defineMetadata } = Reflect as unknown as { defineMetadata(...args: unknown[]): void };
      defineMetadata('design:paramtypes', [undefined], Shop.prototype, 'search');
      untyped<AnyDecorator>(Tool)()(Shop.prototype, 'search', {});
      start(Shop)();
    },
    'DECORUM_MISSING_INPUT',
    'Shop.search',
    'Move the DTO to a module of its own, or pass `input: MyDto`',
  ],
  [
    'no emitted types',
    () => {
      class Shop {
        search(_query: unknown) {}
      }
      untyped<AnyDecorator>(Tool)()(Shop.prototype, 'search', {});
      start(Shop)();
    },
    'DECORUM_MISSING_INPUT',
    'Shop.search',
    'or pass `input: MyDto`',
  ],
  [
    'an override with a parameter, and without a decorator',
    () => {
      class Shop {
        @Tool() search() {}
      }
      class BookShop extends Shop {
        override search(_query?: Query) {}
      }
      start(BookShop)();
    },
    'DECORUM_MISSING_INPUT',
    'BookShop.search',
    'Decorate it too',
  ],
  [
    'two arguments',
    () => {
      class Shop {
        @Tool() search(_query: Query, _page: number) {}
      }
      start(Shop)();
    },
    'DECORUM_INVALID_PARAMETER',
    'Shop.search',
    'Write `search(input: MyDto, ctx: Context)`',
  ],
  [
    'a third parameter',
    () => {
      class Shop {
        @Tool() search(_query: Query, _ctx: Context, _log: unknown) {}
      }
      start(Shop)();
    },
    'DECORUM_INVALID_PARAMETER',
    'Shop.search',
    'Write `search(input: MyDto, ctx: Context)`',
  ],
  [
    'a completion that takes a DTO',
    () => {
      class Shop {
        @Prompt() ask(_query: Query) {}
        texts(_query: Query) {
          return [];
        }
      }
      const { defineMetadata } = Reflect as unknown as { defineMetadata(...args: unknown[]): void };
      defineMetadata('design:paramtypes', [Query], Shop.prototype, 'texts');
      untyped<AnyDecorator>(Completion)({ for: 'ask', argument: 'text' })(Shop.prototype, 'texts', {});
      start(Shop)();
    },
    'DECORUM_INVALID_PARAMETER',
    'Shop.texts',
    'Write `texts(value: string, ctx: CompletionContext)`',
  ],
  [
    'a built-in class as parameter',
    () => {
      class Shop {
        @Tool() search(_url: URL) {}
      }
      start(Shop)();
    },
    'DECORUM_INVALID_SCHEMA',
    'Shop.search',
    'pass the class, or pass a JSON Schema',
  ],
  [
    'a prompt argument that is an object',
    () => {
      class Order {
        @ValidateNested() @Type(() => Query) query!: Query;
      }
      class Shop {
        @Prompt() order(_order: Order) {}
      }
      start(Shop)();
    },
    'DECORUM_OBJECT_ARGUMENT',
    'Shop.order',
    'or accept the object as JSON text: `query: string`',
  ],
];

const addTool = (...args: unknown[]) => {
  const server = new McpServer({ name: 'test', version: '1.0.0' });
  return untyped(server.addTool.bind(server))(...args);
};

/** Schemas of every kind. */
export const SCHEMAS: readonly Mistake[] = [
  [
    'a shape without `z.object`',
    input({ city: z.string() }),
    'DECORUM_INVALID_SCHEMA',
    'Shop.search',
    'z.object({ … })',
  ],
  ['`z.string()` as input', input(z.string()), 'DECORUM_INVALID_SCHEMA', 'Shop.search', 'or `z.object({ … })`'],
  [
    'a schema of zod 3',
    input(zod3.object({ city: zod3.string() })),
    'DECORUM_INVALID_SCHEMA',
    'Shop.search',
    "Upgrade to zod 4.2, and write `import { z } from 'zod'`",
  ],
  [
    'a schema of valibot without its adapter',
    input(v.object({ city: v.string() })),
    'DECORUM_INVALID_SCHEMA',
    'Shop.search',
    'Wrap it in `toStandardJsonSchema` from @valibot/to-json-schema',
  ],
  [
    'a date, which JSON has not',
    input(z.object({ day: z.date() })),
    'DECORUM_INVALID_SCHEMA',
    'Shop.search',
    'Use types that JSON has, or pass a JSON Schema',
  ],
  [
    '`input: () => Query`',
    input(() => Query),
    'DECORUM_INVALID_SCHEMA',
    'Shop.search',
    'Pass the class itself: `MyDto`, not `() => MyDto`',
  ],
  [
    '`input: new Query()`',
    input(new Query()),
    'DECORUM_INVALID_SCHEMA',
    'Shop.search',
    'Pass the class itself: `Query`',
  ],
  ['`input: String`', input(String), 'DECORUM_INVALID_SCHEMA', 'Shop.search', 'or pass a JSON Schema'],
  [
    'a promise of a schema',
    input(Promise.resolve(z.object({}))),
    'DECORUM_INVALID_SCHEMA',
    'Shop.search',
    'Await it before you pass it',
  ],
  [
    'a JSON Schema as text',
    input('{"type":"object"}'),
    'DECORUM_INVALID_SCHEMA',
    'Shop.search',
    'Pass `MyDto`, `z.object({ … })` or `{ type: "object", … }`',
  ],
  [
    'the properties instead of the schema',
    output({ city: { type: 'string' } }),
    'DECORUM_INVALID_SCHEMA',
    'Shop.search (output)',
    "Write `{ type: 'object', properties: { city: … } }`",
  ],
  [
    'a misspelt keyword',
    input({ type: 'object', propertes: { city: { type: 'string' } } }),
    'DECORUM_INVALID_SCHEMA',
    'Shop.search',
    'Write "properties"',
  ],
  [
    'a required property that is misspelt',
    input({ type: 'object', properties: { city: { type: 'string' } }, required: ['town'] }),
    'DECORUM_INVALID_SCHEMA',
    'Shop.search',
    'Add it to `properties`, or correct the name',
  ],
  [
    '`required: true`, as older drafts had it',
    input({ type: 'object', properties: { city: { type: 'string', required: true } } }),
    'DECORUM_INVALID_SCHEMA',
    'Shop.search',
    'Correct it, as JSON Schema 2020-12 says',
  ],
  [
    'a module instead of a schema',
    input({ ...z }),
    'DECORUM_INVALID_SCHEMA',
    'Shop.search',
    'Pass `z.object({ … })`, or plain JSON',
  ],
  [
    'a schema without a dialect that is supported',
    input({ $schema: 'http://json-schema.org/draft-04/schema#', type: 'object' }),
    'DECORUM_INVALID_SCHEMA',
    'Shop.search',
    'Use JSON Schema 2020-12 or draft-07',
  ],
  [
    'a DTO without rules',
    taking(class Bare {}),
    'DECORUM_NO_RULES',
    'Shop.search: the class Bare',
    'Decorate them, for example with @IsString()',
  ],
  [
    'a field without a rule beside others',
    taking(
      class Page extends Query {
        page = 1;
      },
    ),
    'DECORUM_NO_RULES',
    'Page.page',
    'or decorate it with @Exclude() from class-transformer',
  ],
  [
    '@IsString() on an array',
    () => {
      class Post {
        @IsString() tags!: string[];
      }
      taking(Post)();
    },
    'DECORUM_INVALID_FIELD',
    'Post.tags',
    'as in @IsString({ each: true })',
  ],
  [
    'a nested object whose type is a type parameter',
    () => {
      class Page<T> {
        @ValidateNested() item!: T;
      }
      taking(Page)();
    },
    'DECORUM_UNKNOWN_FIELD_TYPE',
    'Page.item',
    'name the class with @Type(() => TheClass) from class-transformer',
  ],
  [
    '@IsArray() alone',
    () => {
      class Post {
        @IsArray() tags!: string[];
      }
      taking(Post)();
    },
    'DECORUM_UNKNOWN_FIELD_TYPE',
    'Post.tags',
    'To accept anything, add @Type(() => Object)',
  ],
  [
    '@IsObject() on a field of a class with rules',
    () => {
      class Order {
        @IsObject() query!: Query;
      }
      taking(Order)();
    },
    'DECORUM_INVALID_FIELD',
    'Order.query',
    'Or declare the field as a JSON type, such as `object` or `string`',
  ],
  [
    'an initializer that breaks a rule',
    () => {
      class Page {
        @IsInt() @Min(1) page = 0;
      }
      taking(Page)();
    },
    'DECORUM_INVALID_FIELD',
    'Page.page',
    'remove the initializer and declare the field with `!`',
  ],
  [
    'an initializer that fails (#23)',
    () => {
      const settings: { limits?: { page: number } } = {};
      class Page {
        @IsInt() size = settings.limits!.page;
      }
      taking(Page)();
    },
    'DECORUM_INVALID_FIELD',
    'Page: `new Page()` fails at ',
    'Correct the initializer that is there',
  ],
  [
    'a rule on a static field (#23)',
    () => {
      class Page {
        @IsInt() static size: number;
        @IsInt() page!: number;
      }
      class Numbered extends Page {}
      taking(Numbered)();
    },
    'DECORUM_INVALID_FIELD',
    'Page.size: it is static',
    'Remove `static`, or its rules',
  ],
  [
    'a rule on a field named by a symbol (#23)',
    () => {
      const SIZE = Symbol('size');
      class Page {
        @IsInt() [SIZE]!: number;
      }
      taking(Page)();
    },
    'DECORUM_INVALID_FIELD',
    'Page.Symbol(size)',
    'Name it with a string',
  ],
  [
    'a pattern that backtracks',
    () => {
      class Slow {
        @Matches(/^(a+)+$/) text!: string;
      }
      taking(Slow)();
    },
    'DECORUM_UNSUPPORTED_RULE',
    'Slow.text',
    'may match the same text in several ways',
  ],
  [
    '@ArrayOf beside a rule without `each`',
    () => {
      class Post {
        @ArrayOf(String) @IsString() tags!: string[];
      }
      taking(Post)();
    },
    'DECORUM_INVALID_FIELD',
    'Post.tags',
    'To apply it to each item, pass { each: true }',
  ],
  [
    'a tool that is added without `input`, and takes one',
    () => addTool({ name: 'search' }, ({ text }: Query) => text),
    'DECORUM_MISSING_INPUT',
    'addTool.search',
    'Without arguments, write `() => …` or `(_, ctx) => …`',
  ],
  [
    'a tool that is added as a class',
    () => addTool({ name: 'search' }, class Search {}),
    'DECORUM_INVALID_OPTION',
    'addTool.search',
    'Pass a function, or list the class in `providers`',
  ],
];
