import { type Class, Prompt, Resource, Tool } from '@decorum/core';
import { type } from 'arktype';
import { IsInt, IsString, Matches, ValidateNested } from 'class-validator';
import * as v from 'valibot';
import { z } from 'zod';
import { z as zod3 } from 'zod/v3';

import { type AnyDecorator, decorated, type Mistakes, start, untyped, wrong } from './table.js';

const declare = (decorator: unknown, ...args: unknown[]) => start(decorated(untyped<AnyDecorator>(decorator)(...args)));
const input = (source: unknown) => () => declare(Tool, { input: source })();
const output = (source: unknown) => () => declare(Tool, { output: source })();

/** Starts a server with this as schema of each kind of member, and as output. */
const everywhere = (source: unknown) => [
  input(source),
  output(source),
  declare(Prompt, { input: source }),
  declare(Resource, 'x://{city}', { input: source }),
];

class Query {
  @IsString() text!: string;
}

/** A tool that takes this class. */
const taking = (cls: Class) => input(cls);

/** Schemas of every kind. */
export const SCHEMAS: Mistakes = {
  DECORUM_INVALID_SCHEMA: [
    ['a shape of zod', everywhere({ city: z.string() }), 'Shop.search ... Wrap it: z.object({ … })'],
    ['a shape of valibot', input({ city: v.string() }), 'Shop.search ... Wrap it: v.object({ … })'],
    ['a shape of arktype', input({ city: type('string') }), 'Shop.search ... Wrap it: type({ … })'],
    ['a text as input', [input(z.string()), input({ type: 'string' })], 'Shop.search ... or `z.object({ … })`'],
    [
      'a schema of zod 3',
      input(zod3.object({ city: zod3.string() })),
      "Shop.search ... Upgrade to zod 4.2, and write `import { z } from 'zod'`",
    ],
    [
      'a schema of valibot without its adapter',
      input(v.object({ city: v.string() })),
      'Shop.search ... Wrap it in `toStandardJsonSchema` from @valibot/to-json-schema',
    ],
    [
      'a date, which JSON has not',
      input(z.object({ day: z.date() })),
      'Shop.search ... Use types that JSON has, or pass a JSON Schema',
    ],
    [
      '`input: () => Query`',
      everywhere(() => Query),
      'Shop.search ... Pass the class itself: `MyDto`, not `() => MyDto`',
    ],
    [
      '`input: new Query()`',
      everywhere(new Query()),
      'Shop.search ... it is an instance of Query. Pass the class itself: `Query`',
    ],
    ['`input: String`', everywhere(String), 'Shop.search ... String is not a schema ... or pass a JSON Schema'],
    ['a promise of a schema', input(Promise.resolve(z.object({}))), 'Shop.search ... Await it before you pass it'],
    [
      'a JSON Schema as text, or a list',
      [...everywhere('{"type":"object"}'), ...everywhere([Query])],
      'Shop.search ... Pass `MyDto`, `z.object({ … })` or `{ type: "object", … }`',
    ],
    ...wrong('@Tool({ output: … })', (given) => output(given)(), [
      [{ city: { type: 'string' } }, "Shop.search (output) ... Write `{ type: 'object', properties: { city: … } }`"],
    ]),
    ...wrong('@Tool({ input: … })', (given) => input(given)(), [
      [{ type: 'object', propertes: { city: { type: 'string' } } }, 'Shop.search ... Write "properties"'],
      [
        { type: 'object', properties: { city: { type: 'string' } }, required: ['town'] },
        'Shop.search ... Add it to `properties`, or correct the name',
      ],
      // as older drafts had it
      [
        { type: 'object', properties: { city: { type: 'string', required: true } } },
        'Shop.search ... Correct it, as JSON Schema 2020-12 says',
      ],
    ]),
    ['a module instead of a schema', input({ ...z }), 'Shop.search ... Pass `z.object({ … })`, or plain JSON'],
  ],
  DECORUM_NO_RULES: [
    [
      'a DTO without rules',
      taking(class Bare {}),
      'Shop.search: the class Bare ... Decorate them, for example with @IsString()',
    ],
  ],
  DECORUM_INVALID_FIELD: [
    [
      'an initializer that fails (#23)',
      () => {
        const settings: { limits?: { page: number } } = {};
        class Page {
          @IsInt() size = settings.limits!.page;
        }
        taking(Page)();
      },
      'Page: `new Page()` fails at ... Correct the initializer that is there',
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
      'Page.size: it is static ... Remove `static`, or its rules',
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
      'Page.Symbol(size) ... Name it with a string',
    ],
  ],
  DECORUM_UNKNOWN_FIELD_TYPE: [
    [
      'a nested object whose type is a type parameter',
      () => {
        class Page<T> {
          @ValidateNested() item!: T;
        }
        taking(Page)();
      },
      'Page.item ... name the class with @Type(() => TheClass) from class-transformer',
    ],
  ],
  DECORUM_UNSUPPORTED_RULE: [
    [
      'a pattern that backtracks',
      () => {
        class Slow {
          @Matches(/^(a+)+$/) text!: string;
        }
        taking(Slow)();
      },
      'Slow.text ... may match the same text in several ways',
    ],
  ],
};
