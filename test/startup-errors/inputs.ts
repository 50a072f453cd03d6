import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import {
  type Class,
  Completion,
  Context,
  McpServer,
  Prompt,
  Resource,
  type SchemaSource,
  Tool,
  type ToolEntry,
} from '@decorum/core';
import { jest } from '@jest/globals';
import { Type } from 'class-transformer';
import { IsObject, IsOptional, IsString, ValidateNested } from 'class-validator';

import { type AnyDecorator, type Mistake, type Mistakes, start, untyped, wrong } from './table.js';

class Query {
  @IsString() text!: string;
}

/** A class with a member of this class as the compiler emits it: with types for its parameters, or without. */
function compiled<C extends Class>(cls: C, decorator: AnyDecorator, types?: readonly unknown[]): C {
  const [key] = Object.getOwnPropertyNames(cls.prototype).slice(1);
  decorator(cls.prototype, key, Object.getOwnPropertyDescriptor(cls.prototype, key as string));
  const { defineMetadata } = Reflect as unknown as { defineMetadata(...args: unknown[]): void };
  if (types) defineMetadata('design:paramtypes', types, cls.prototype, key);
  return cls;
}

/** Starts a class with a tool that has a parameter of this type. */
const emitting =
  (...types: readonly unknown[]) =>
  () => {
    class Shop {
      search(_query: unknown) {}
    }
    start(compiled(Shop, untyped<AnyDecorator>(Tool)(), types))();
  };

/** Starts a class without emitted types, in a project with these files. */
const inProject = (files: Readonly<Record<string, string>>) => () => {
  class Shop {
    search(_query: unknown) {}
  }
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'decorum-')));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const cwd = jest.spyOn(process, 'cwd').mockReturnValue(folder);
  try {
    start(compiled(Shop, untyped<AnyDecorator>(Tool)()))();
  } finally {
    cwd.mockRestore();
    rmSync(folder, { recursive: true });
  }
};

const FLAG = '{ "compilerOptions": { "emitDecoratorMetadata": true } }';

const addTool = (...args: unknown[]) => {
  const server = new McpServer({ name: 'test', version: '1.0.0' });
  return untyped(server.addTool.bind(server))(...args);
};

/** Starts a class with a prompt that has this input. */
const asking = (input: SchemaSource) => () => {
  class Shop {
    order() {}
  }
  start(compiled(Shop, untyped<AnyDecorator>(Prompt)({ input })))();
};

/** Parameters of handlers. */
export const INPUTS: Mistakes = {
  DECORUM_MISSING_INPUT: [
    [
      'a DTO that is imported with `import type`',
      [
        () => {
          class Shop {
            @Tool() search(_query: ToolEntry) {}
          }
          start(Shop)();
        },
        emitting(Object),
      ],
      'Shop.search: ... write `import { MyDto }` ... declare a DTO class, or pass `input: MyDto`',
    ],
    [
      'a DTO that is imported with `type` in the braces, as compilers that know it to be a class emit it',
      emitting(Function),
      'Shop.search: ... Write `import { MyDto }` without `type`, or pass `input: MyDto`',
    ],
    ...[String, Number, Boolean, Array].map((type): Mistake => {
      const kind = type === Array ? 'an array' : `a ${type.name.toLowerCase()}`;
      return [`${kind} as parameter`, emitting(type), `Shop.search: ... it is ${kind} ... or pass \`input: MyDto\``];
    }),
    [
      'the context as first parameter',
      emitting(Context),
      'Shop.search: ... Put the input first, or `_: NoInput` if there is none',
    ],
    [
      'a class that does not exist yet, as two modules import each other',
      emitting(undefined),
      'Shop.search: ... two modules import each other. Move the DTO to a module of its own, or pass `input: MyDto`',
    ],
    [
      'no emitted types, and a tsconfig without the flag',
      [
        inProject({ 'tsconfig.json': '{ "compilerOptions": { // "emitDecoratorMetadata": true\n} }' }),
        inProject({ 'tsconfig.json': '{ "extends": "./tsconfig" }' }),
        inProject({}),
      ],
      'Shop.search: ... Set "experimentalDecorators": true and "emitDecoratorMetadata": true in ... tsconfig.json, or pass `input: MyDto`',
    ],
    [
      'no emitted types, although the tsconfig, or its base, has the flag',
      [
        inProject({ 'tsconfig.json': FLAG }),
        inProject({ 'tsconfig.json': '{ "extends": "./base" }', 'base.json': FLAG }),
      ],
      'Shop.search: ... although ... tsconfig.json sets "emitDecoratorMetadata" ... esbuild ... Compile with tsc, swc or oxc, or pass `input: MyDto`',
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
      'BookShop.search ... Decorate it too',
    ],
    [
      'a rest parameter',
      () => {
        class Shop {
          search(..._queries: Query[]) {}
        }
        start(compiled(Shop, untyped<AnyDecorator>(Tool)()))();
      },
      'Shop.search ... or pass `input: MyDto`',
    ],
    [
      'a tool that is added without `input`, and takes one',
      () => addTool({ name: 'search' }, ({ text }: Query) => text),
      'addTool.search ... Without arguments, write `() => …` or `(_, ctx) => …`',
    ],
  ],
  DECORUM_INVALID_PARAMETER: [
    [
      'a default value for the input, also for one that is taken apart',
      [
        () => {
          class Shop {
            @Tool() search(_query = new Query()) {}
          }
          start(Shop)();
        },
        () => {
          class Shop {
            @Tool() search(/* all (of them) */ { text: { length } }: Query = new Query(), _ctx?: Context) {
              return length;
            }
          }
          start(Shop)();
        },
      ],
      'Shop.search ... Write `search(input: MyDto, ctx: Context)`',
    ],
    [
      'two arguments, or a third parameter',
      [
        () => {
          class Shop {
            @Tool() search(_query: Query, _page: number) {}
          }
          start(Shop)();
        },
        () => {
          class Shop {
            @Tool() search(_query: Query, _ctx: Context, _log: unknown) {}
          }
          start(Shop)();
        },
      ],
      'Shop.search ... Write `search(input: MyDto, ctx: Context)`',
    ],
    [
      'a completion that takes a DTO',
      () => {
        class Shop {
          texts(_query: Query) {
            return [];
          }
          @Prompt() ask(_query: Query) {}
        }
        start(compiled(Shop, untyped<AnyDecorator>(Completion)({ for: 'ask', argument: 'text' }), [Query]))();
      },
      'Shop.texts ... Write `texts(value: string, ctx: CompletionContext)`',
    ],
  ],
  DECORUM_INVALID_SCHEMA: [
    ['a built-in class as parameter', emitting(URL), 'Shop.search ... pass the class, or pass a JSON Schema'],
  ],
  DECORUM_OBJECT_ARGUMENT: [
    [
      'a prompt argument that is an object',
      asking({ type: 'object', properties: { query: { type: 'object', properties: { text: { type: 'string' } } } } }),
      'Shop.order ... or accept the object as JSON text: `query: string`',
    ],
    [
      'a prompt argument that is a list of objects',
      () => {
        class Order {
          @ValidateNested({ each: true }) @Type(() => Query) queries!: Query[];
        }
        asking(Order)();
      },
      'Shop.order: the argument "queries" takes objects ... ',
    ],
    [
      'a prompt argument that may be an object, behind a reference',
      asking({
        type: 'object',
        properties: { all: { $ref: '#/$defs/all' } },
        $defs: { all: { type: ['object', 'null'] } },
      }),
      'Shop.order: the argument "all" takes objects ... ',
    ],
    [
      'a template variable that is an object',
      () => {
        class Note {
          @IsString() id!: string;
          @IsOptional() @IsObject() filter?: object;
        }
        class Shop {
          @Resource('notes://{id}{?filter}') note(_note: Note) {}
        }
        start(Shop)();
      },
      'Shop.note: the argument "filter" takes objects ... ',
    ],
  ],
  DECORUM_INVALID_OPTION: [
    [
      'a tool that is added without a name or a handler',
      [[], ['search', () => ''], [{}, () => ''], [{ name: 'search' }], [{ name: 'search' }, 'text']].map(
        (args) => () => addTool(...args),
      ),
      "addTool ... Write `addTool({ name: 'lookup' }, (input, ctx) => …)`",
    ],
    [
      'a tool that is added as a class',
      () => addTool({ name: 'search' }, class Search {}),
      'addTool.search ... Pass a function, or list the class in `providers`',
    ],
    ...wrong('addTool(…)', (given: object) => addTool({ name: 'search', ...given }, () => ''), [
      [{ descripton: 'Searches' }, 'addTool.search: `descripton` is not an option. Write `description`'],
      [{ input: undefined }, 'addTool.search: ... or remove `input`'],
      [{ output: undefined }, 'addTool.search: ... or remove `output`'],
    ]),
  ],
};
