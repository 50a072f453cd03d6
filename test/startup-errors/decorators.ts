import {
  ArrayOf,
  Choices,
  Completion,
  DateOnly,
  Defaults,
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

import { type AnyDecorator, decorated, type Mistake, type Mistakes, start, untyped, wrong } from './table.js';

type Untyped = (...args: unknown[]) => AnyDecorator;

const [tool, resource, prompt, completion, describe] = [Tool, Resource, Prompt, Completion, Describe].map((decorator) =>
  untyped<AnyDecorator>(decorator),
) as [Untyped, Untyped, Untyped, Untyped, Untyped];

const on = (decorator: AnyDecorator) => start(decorated(decorator))();

/** A tool whose input has a field `price` with these decorators. */
const field =
  (...make: (() => unknown)[]) =>
  () => {
    class Query {
      declare price: unknown;
    }
    for (const each of make) (each() as AnyDecorator)(Query.prototype, 'price', undefined);
    on(tool({ input: Query }));
  };

const CHARS = 'Shop.search: `maxResultChars` ... must be a whole number from 1 to 1000000000';

class BookId {
  @IsString() id!: string;
}

/** A member of a resource, with a parameter. */
const book = (uri: unknown, options: object = {}) => {
  class Shop {
    search(_query: unknown) {}
  }
  resource(uri, options)(Shop.prototype, 'search', Object.getOwnPropertyDescriptor(Shop.prototype, 'search'));
  start(Shop)();
};

/** A tool whose method is missing, or is this property of the class, or a field of its instances. */
const hidden = (property: PropertyDescriptor | undefined, fields: object = {}) => {
  class Shop {
    constructor() {
      Object.assign(this, fields);
    }
  }
  if (property) Object.defineProperty(Shop.prototype, 'search', property);
  tool()(Shop.prototype, 'search', property);
  start(Shop)();
};

/** A prompt with these completions by method. */
const completing = (completions: Readonly<Record<string, object>>) => () => {
  class Shop {
    @Prompt({ name: 'recommend' }) ask(_book: BookId) {}
  }
  for (const [key, options] of Object.entries(completions)) {
    Object.defineProperty(Shop.prototype, key, { value: () => [] });
    completion(options)(Shop.prototype, key, Object.getOwnPropertyDescriptor(Shop.prototype, key));
  }
  start(Shop)();
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
const TAKE_CLASS = ['ArrayOf', 'RecordOf'];

/** Decorators where they do not belong, on members that are a `kind`. */
const misused = (
  all: typeof OF_METHODS,
  kind: string,
  argumentOf: string,
  more: (...row: (typeof OF_METHODS)[number]) => Mistake[],
) =>
  all.flatMap(([name, decorator, args, example]): Mistake[] => [
    [
      `@${name} class Plain {}, with and without parentheses`,
      [...(TAKE_CLASS.includes(name) ? [] : [() => decorator(Plain)]), () => decorator(...args)(Plain)],
      `Plain: @${name} ... Write ${example} on each ${kind}`,
    ],
    [
      `search(@${name}(…) query) {}, and in a constructor`,
      [() => decorator(...args)(prototype, 'search', 0), () => decorator(...args)(...CONSTRUCTOR_PARAMETER)],
      `Plain ... : @${name} ... Write ${example} on the ${argumentOf}`,
    ],
    ...more(name, decorator, args, example),
  ]);

const misusedOnMethods = misused(OF_METHODS, 'method', 'method', (name, decorator, _args, example) => [
  [`@${name} search() {}`, () => decorator(...METHOD), `Plain.search: @${name} ... ${example}`],
  [`@${name} static open() {}`, () => decorator(Plain, 'open', METHOD[2]), `Plain.open: @${name} ... ${example}`],
]);

const misusedOnFields = misused(OF_FIELDS, 'field', 'field of its class', (name, decorator, args, example) => [
  [`@${name} city!: string`, () => decorator(...FIELD), `Plain.city: @${name} ... ${example}`],
  [
    `@${name}(…) search() {}`,
    () => decorator(...args)(...METHOD),
    `Plain.search ... ${name === 'Describe' ? "@Tool({ description: '…' })" : `Write ${example} on each field`}`,
  ],
]);

/** Decorators in the wrong place. */
export const PLACES: Mistakes = {
  DECORUM_MISUSED_DECORATOR: [
    ...misusedOnMethods,
    ...misusedOnFields,
    [
      '@Defaults({ timeoutMs: 1000 }) search() {}, and on a static method or a field',
      [METHOD, FIELD, [Plain, 'open', METHOD[2]]].map(
        (place) => () => untyped<AnyDecorator>(Defaults)({ timeoutMs: 1000 })(...(place as unknown[])),
      ),
      'Plain. ... : @Defaults is for classes. Write @Defaults({ timeoutMs: 10_000 })',
    ],
    [
      '@Defaults({ … }) search() {}, compiled without `experimentalDecorators`',
      () => untyped<AnyDecorator>(Defaults)({ timeoutMs: 1000 })(() => {}, { kind: 'method', name: 'search' }),
      'search: @Defaults is for classes. Write @Defaults({ timeoutMs: 10_000 })',
    ],
    [
      '@Defaults class Plain {}, in both kinds of decorators',
      [() => untyped(Defaults)(Plain), () => untyped(Defaults)(Plain, { kind: 'class', name: 'Plain' })],
      'Plain: @Defaults needs parentheses. Write @Defaults({ timeoutMs: 10_000 })',
    ],
  ],
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
      () => hidden({ get: () => 1 }),
      'Shop.search ... remove what hides it, such as a field of the same name',
    ],
    [
      '@Tool() on an abstract method whose class is listed, or on a field',
      [() => hidden(undefined), () => hidden(undefined, { search: 1 })],
      'Shop.search ... Decorate a method, and remove what hides it, such as a field of the same name',
    ],
  ],
  DECORUM_MISSING_INPUT: [
    [
      '@Tool() on a field that holds an arrow function with a parameter',
      () => hidden(undefined, { search: (_query: unknown) => {} }),
      'Shop.search ... Make it a method, or pass `input: MyDto`',
    ],
  ],
  DECORUM_DECORATED_TWICE: [
    [
      '@Defaults twice on a class',
      () => {
        @Defaults({ timeoutMs: 1000 })
        @Defaults({ concurrency: 2 })
        class Shop {}
        return Shop;
      },
      'Shop ... @Defaults ... Merge their options into one',
    ],
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

const CYCLE =
  'Shop.search: `input` is ... two modules import each other ... Move the class to a module of its own, or remove `input`';

/** Values of `concurrency` that a decorator can't have. */
const CONCURRENCY: readonly (readonly [given: unknown, message: string])[] = [
  [{}, 'Shop.search: `concurrency` limits nothing. Set `max` or `perCaller`, as in `concurrency: 4`'],
  [
    [0, -1, 1.5, NaN, { perCaller: 0 }].map((each) => (typeof each === 'number' ? { max: each } : each)),
    'Shop.search (concurrency) ... must be a whole number from 1 to 100000',
  ],
  [{ max: 1, queue: -1 }, 'Shop.search (concurrency): `queue` is -1, but must be a whole number from 0 to 10000'],
  [{ max: 1, perUser: 1 }, 'Shop.search (concurrency): `perUser` is not an option ... '],
  [['4', true, null], 'Shop.search: `concurrency` must be a number or an object. Write `concurrency: 4`'],
];

const RANGE = 'must be a whole number from 1 to';

/** Values of `retry`, of a tool that may be repeated, that a decorator can't have. */
const RETRY: readonly (readonly [given: unknown, message: string])[] = [
  [{}, 'Shop.search: `retry` has no `times`. Write `retry: { times: 2 }`'],
  [[{ times: 0 }, { times: 11 }], `Shop.search (retry): \`times\` is ... , but ${RANGE} 10`],
  [{ times: 2, on: 'all' }, 'Shop.search (retry): `on` is "all", but must be a function'],
  [{ times: 2, delay: 1 }, 'Shop.search (retry): `delay` is not an option ... '],
  [[2, true, null], 'Shop.search: `retry` must be an object. Write `retry: { times: 2 }`'],
];

const BREAKER: readonly (readonly [given: unknown, message: string])[] = [
  [{ errorThresholdPercentage: 100 }, `Shop.search (breaker): \`errorThresholdPercentage\` is 100, but ${RANGE} 99`],
  [{ resetTimeout: 1 }, 'Shop.search (breaker): `resetTimeout` is not an option ... '],
  [{ windowMs: 1 }, 'Shop.search (breaker): `windowMs` is 1, but must be a whole number from 10 to 600000'],
  [[2, 'on', null], 'Shop.search: `breaker` must be true, or an object. Write `breaker: true`'],
];

/** Values of `memoize`, of a tool that only reads, that a decorator can't have. */
const MEMOIZE: readonly (readonly [given: unknown, message: string])[] = [
  [
    [0, -1, 1.5, 'soon', '30', '30 s', '31d', true, null, {}, { ttl: '' }],
    "Shop.search: `memoize` must say how long results are kept, up to 30 days. Write `memoize: '30s'`, with ms, s, m, h or d, or a number of milliseconds",
  ],
  [{ ttl: '1m', vary: 'user' }, 'Shop.search (memoize): `vary` is "user", but must be a function'],
  [{ ttl: '1m', max: 1 }, 'Shop.search (memoize): `max` is not an option ... '],
  [{ ttl: '1m', maxEntries: 0 }, `Shop.search (memoize): \`maxEntries\` is 0, but ${RANGE} 100000`],
  [{ ttl: '1m', maxBytes: 0.5 }, `Shop.search (memoize): \`maxBytes\` is 0.5, but ${RANGE} 1000000000`],
];

/** Values of `idempotent` that a decorator can't have. */
const IDEMPOTENT: readonly (readonly [given: unknown, message: string])[] = [
  [
    [0, -1, 1.5, 'soon', '24', '24 h', '31d', true, false, null, {}, { key: 'arguments' }],
    "Shop.search: `idempotent` must say how long outcomes are kept, up to 30 days. Write `idempotent: '24h'`, with ms, s, m, h or d, or a number of milliseconds",
  ],
  [{ ttl: '1m', key: 'id' }, "Shop.search (idempotent): `key` can only be 'arguments' ... "],
  [{ ttl: '1m', keys: 1 }, 'Shop.search (idempotent): `keys` is not an option ... '],
  [{ ttl: '1m', maxBytes: 0 }, `Shop.search (idempotent): \`maxBytes\` is 0, but ${RANGE} 16777216`],
];

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
      () => on(tool(z.object({ text: z.string() }))),
      "Shop.search: @Tool takes a schema as the `input` option ... Write @Tool({ description: '…' })",
    ],
    ...wrong("@Resource('docs://{id}', …)", (given) => on(resource('docs://{id}', given)), [
      [
        ['text/plain', BookId],
        "Shop.search: @Resource takes an options object ... Write @Resource('docs://readme', { mimeType: 'text/markdown' })",
      ],
    ]),
    [
      "@Completion('ask', 'id') and @Completion()",
      [() => on(completion('ask', 'id')), () => on(completion())],
      "Shop.search: @Completion takes an options object ... Write @Completion({ for: 'method', argument: 'name' })",
    ],
    ...wrong('@Tool(…)', (given) => on(tool(given)), [
      [['Finds a book', null], "Shop.search: @Tool takes an options object ... Write @Tool({ description: '…' })"],
    ]),
    [
      "@Prompt('Finds a book')",
      () => on(prompt('Finds a book')),
      "Shop.search ... Write @Prompt({ description: '…' })",
    ],
    ...[Describe, McpHeader].map((decorator, at): Mistake => [
      `@${decorator.name}()`,
      () => untyped<AnyDecorator>(decorator)()(...FIELD),
      `Plain.city ... is missing its argument. Write ${OF_FIELDS[at]![3]}`,
    ]),
  ],
  DECORUM_INVALID_OPTION: [
    ...wrong('@Defaults(…)', (given) => untyped<AnyDecorator>(Defaults)(given)(class Shop {}), [
      [{ timeout: 5 }, 'Shop (@Defaults): `timeout` ... Write `timeoutMs`'],
      [undefined, 'Shop (@Defaults) ... Pass { … }'],
      [{ description: 'Sells' }, 'Shop (@Defaults): `description` is not an option. Remove it, or use one of ... '],
    ]),
    ...wrong(
      '@Defaults(…) on the class of a tool',
      (given) => {
        const Shop = decorated(tool());
        untyped<AnyDecorator>(Defaults)(given)(Shop);
        start(Shop)();
      },
      [
        [{ timeoutMs: 0 }, 'Shop (@Defaults): `timeoutMs` is 0, but must be a whole number from 1 to 86400000'],
        [{ maxResultChars: 0 }, 'Shop (@Defaults): `maxResultChars` is 0, but must be ... '],
        // the tool itself may have neither
        [{ retry: { times: 99 } }, 'Shop (@Defaults) (retry): `times` is 99, but must be ... '],
        [{ memoize: 'soon' }, 'Shop (@Defaults): `memoize` must say how long results are kept ... '],
      ],
    ),
    ...wrong('@Tool(…)', (given) => on(tool(given)), [
      [{ timeoutMs: 1.5 }, 'Shop.search: `timeoutMs` is 1.5, but must be a whole number from 1 to 86400000'],
      [
        [{ timeoutMs: -1 }, { timeoutMs: 86_400_001 }, { timeoutMs: '5s' }, { timeoutMs: null }],
        'Shop.search: `timeoutMs` ... but must be a whole number from 1 to 86400000',
      ],
      [{ descripton: '' }, 'Shop.search: `descripton` ... Write `description`'],
      [{ inputs: {} }, 'Shop.search: `inputs` ... Write `input`'],
      [
        { outputSchema: {} },
        'Shop.search: `outputSchema` is not an option. Remove it, or use one of ... input ... output ... ' +
          'If it belongs to an extension, list its plugin in `plugins`',
      ],
      [{ task: 'optional' }, 'Shop.search: `task` needs a plugin. Add `tasks()` of @decorum/tasks to `plugins`'],
      [{ annotations: { readonlyHint: true } }, 'Shop.search (annotations): `readonlyHint` ... Write `readOnlyHint`'],
      [{ annotations: { readOnlyHint: 'yes' } }, 'Shop.search (annotations) ... must be true or false'],
      [{ coerce: 'yes' }, 'Shop.search: `coerce` ... must be true or false'],
      [[{ maxResultChars: 0 }, { maxResultChars: true }, { maxResultChars: null }, { maxResultChars: '9' }], CHARS],
      [{ title: 5 }, 'Shop.search ... must be a string'],
      [{ icons: {} }, 'Shop.search ... must be an array'],
      [{ icons: [null] }, 'Shop.search (icons) ... Pass { … }'],
      // a scheme that clients reject
      [{ icons: [{ src: 'javascript:alert(1)' }] }, 'Shop.search ... javascript: ... Use an https, http or data URI'],
      [{ _meta: 'x' }, 'Shop.search ... must be an object'],
      // as two modules import each other
      [[{ input: null }, { input: undefined }], CYCLE],
      [
        [{ output: null }, { output: undefined }],
        'Shop.search: `output` is ... Move the class to a module of its own, or remove `output`',
      ],
      [[{ access: true }, { access: undefined }], 'Shop.search ... access ... '],
      [[{ tags: 'admin' }, { tags: undefined }], "Shop.search: `tags` is not an array. Write `tags: ['admin']`"],
      [
        ['', 5, 'x'.repeat(65)].map((tag) => ({ tags: [tag] })),
        'Shop.search: `tags` has ... , which is not a tag. Use strings of 1 to 64 characters',
      ],
      [
        [5, null, {}, []].map((text) => ({ output: BookId, text })),
        'Shop.search: `text` is ... Use true, false, a string ... ',
      ],
      [{ aliases: 'find' }, 'Shop.search: `aliases` ... must be an array'],
      [
        [{ aliases: [5] }, { aliases: [null] }],
        "Shop.search: `aliases` has ... , which is no name. Write ['list_bills']",
      ],
      [
        { aliases: [{ until: '2027-01-31' }] },
        "Shop.search (aliases): `name` is missing. Write { name: 'list_bills', until: '2027-01-31' }",
      ],
      [
        { aliases: [{ name: 'find', til: '' }] },
        'Shop.search (aliases): `til` is not an option. Remove it, or use one of name, until',
      ],
      [
        ['soon', '31.01.2027', '2027-02-30', '2027-01-31T00:00:00Z', ''].map((until) => ({
          aliases: [{ name: 'find', until }],
        })),
        "Shop.search (aliases): `until` is ... , which is not a day. Write the last one, such as '2027-01-31'",
      ],
      [{ aliases: ['find', { name: 'find' }] }, 'Shop.search: `aliases` has "find" twice. Remove one of them'],
      [{ aliases: ['search'] }, `Shop.search: \`aliases\` has "search", which is the member's own name. Remove it`],
      [
        ['', ' ', 5, true, null].map((deprecated) => ({ deprecated })),
        "Shop.search: `deprecated` is no text. Write what to use in its place, as in `deprecated: 'Use search_invoices.'`",
      ],
      [{ listed: 'no' }, 'Shop.search: `listed` ... must be true or false'],
      [{ text: false }, 'Shop.search: `text` ... Add `output` ... '],
      [{ extraOutput: 'drop' }, 'Shop.search ... is about the fields of `output`, which is missing. Add `output` ... '],
      [{ output: BookId, extraOutput: 'strip' }, `Shop.search ... is "strip". Use 'reject' or 'drop' ... `],
    ]),
    ...wrong('@Tool({ concurrency: … })', (concurrency) => on(tool({ concurrency })), CONCURRENCY),
    ...wrong('@Tool({ retry: … })', (retry) => on(tool({ retry, annotations: { readOnlyHint: true } })), RETRY),
    ...wrong('@Tool(…)', (given) => on(tool(given)), [
      [
        [{}, { annotations: { readOnlyHint: false } }, { annotations: { destructiveHint: false } }].map((each) => ({
          retry: { times: 2 },
          ...each,
        })),
        'Shop.search: `retry` calls the tool again, but nothing says that this does no harm. Add ... readOnlyHint ... idempotentHint ... , or remove `retry`',
      ],
    ]),
    ...wrong('@Tool({ breaker: … })', (breaker) => on(tool({ breaker })), BREAKER),
    ...wrong('@Tool({ memoize: … })', (memoize) => on(tool({ memoize, annotations: { readOnlyHint: true } })), MEMOIZE),
    ...wrong('@Tool(…)', (given) => on(tool(given)), [
      [
        [{}, { annotations: { idempotentHint: true } }].map((each) => ({ memoize: '1m', ...each })),
        'Shop.search: `memoize` answers calls without calling the tool, but nothing says that the tool only reads. Add `annotations: { readOnlyHint: true }`, or remove `memoize`',
      ],
    ]),
    ...wrong('@Tool({ idempotent: … })', (idempotent) => on(tool({ idempotent })), IDEMPOTENT),
    ...wrong('@Tool(…)', (given) => on(tool(given)), [
      [
        { idempotent: '1m', memoize: '1m', annotations: { readOnlyHint: true } },
        'Shop.search: `idempotent` keeps the outcome of a call that changes something, and `memoize` ... Remove one of them',
      ],
    ]),
    ...wrong('@Prompt(…)', (given) => on(prompt(given)), [
      [{ idempotent: '1m' }, 'Shop.search: `idempotent` is not an option ... '],
      [{ tittle: '' }, 'Shop.search: `tittle` ... Write `title`'],
      [{ description: [] }, 'Shop.search ... must be a string'],
      [[{ input: null }, { input: undefined }], CYCLE],
      [[{ access: true }, { access: undefined }], 'Shop.search ... access ... '],
    ]),
    ...wrong("@Resource('x://a', …)", (given) => on(resource('x://a', given)), [
      [{ mimetype: '' }, 'Shop.search: `mimetype` ... Write `mimeType`'],
      [{ annotations: { prority: 1 } }, 'Shop.search (annotations): `prority` ... Write `priority`'],
      [[{ access: true }, { access: undefined }], 'Shop.search ... access ... '],
      [{ access: () => true, cache: { ttlMs: 1, scope: 'public' } }, 'Shop.search ... cache ... '],
      [{ list: 'all' }, 'Shop.search ... list ... '],
      [{ cache: null }, 'Shop.search ... must be an object'],
      [{ annotations: { audience: 'user' } }, 'Shop.search ... must be an array'],
      [
        { annotations: { audience: ['everybody'] } },
        'Shop.search: `annotations.audience` must be an array of "user" and "assistant"',
      ],
      [
        { annotations: { lastModified: 'yesterday' } },
        'Shop.search: `annotations.lastModified` must be an ISO 8601 date and time, such as "2026-01-31T12:00:00Z"',
      ],
      [{ annotations: { priority: 2 } }, 'Shop.search ... priority ... to 1'],
      [{ deprecated: '' }, 'Shop.search: `deprecated` is no text. Write what to use in its place ... '],
      [{ aliases: ['x://b'] }, 'Shop.search: `aliases` is not an option ... '],
      [{ size: -1 }, 'Shop.search: `size` must be a non-negative integer (bytes)'],
    ]),
    ...wrong('@Resource(…)', (given) => on(resource(given)), [
      [[undefined, { uri: 'x://a' }], "Shop.search ... Write @Resource('docs://readme')"],
    ]),
    [
      'a parameter for a URI without variables',
      () => book('docs://id', { input: BookId }),
      'Shop.search ... Add variables in braces, as in "docs://{id}", or remove the parameter',
    ],
    ...wrong('@Completion(…)', (given) => on(completion(given)), [
      [{ for: 'a', arguments: 'b' }, 'Shop.search: `arguments` ... Write `argument`'],
      [{ fro: 'a', argument: 'b' }, 'Shop.search: `fro` ... Write `for`'],
      [[{ for: [], argument: 'id' }, {}], "Shop.search ... Write @Completion({ for: 'method', argument: 'name' })"],
    ]),
    ...wrong('@Describe(…)', (given) => field(IsString, () => describe(given))(), [
      [5, 'Query.price (@Describe) ... Pass { … }'],
      [{ descripton: '' }, 'Query.price (@Describe) ... Write `description`'],
    ]),
    [
      '@Choices with misspelt options',
      field(() => untyped(Choices)({ a: 'A' }, { eahc: true })),
      'Query.price (@Choices) ... Write `each`',
    ],
  ],
  DECORUM_INVALID_NAME: wrong('@Tool(…)', (given) => on(tool(given)), [
    [
      { name: 'find a book' },
      'Shop.search ... find a book ... Use 1 to 128 characters from A–Z, a–z, 0–9, "_", "-" and "."',
    ],
    [{ aliases: ['find a book'] }, 'Shop.search (aliases) ... find a book ... Use 1 to 128 characters from ... '],
  ]),
  DECORUM_BAD_URI: wrong('@Resource(…)', book, [
    ['readme', 'Shop.search ... Begin with a scheme, as in "docs://readme"'],
    ['docs://x/read me', 'Shop.search ... Write "docs://x/read%20me"'],
    // other ways to write a variable
    [['docs://${id}', 'docs://[id]', 'docs://<id>'], 'Shop.search ... Write "docs://{id}"'],
    ['docs://books/:id', 'Shop.search ... Write "docs://books/{id}"'],
  ]),
  DECORUM_BAD_TEMPLATE: wrong('@Resource(…)', book, [
    ['docs://{id', 'Shop.search ... docs://{id ... Write variables as in "docs://{id}" or "docs://{+path}"'],
  ]),
  DECORUM_TEMPLATE_VARIABLE: [
    [
      'a template variable that is no field',
      () => book('docs://{isbn}', { input: BookId }),
      'Shop.search ... isbn ... Add the field, or name one that the DTO has: "id"',
    ],
  ],
  DECORUM_TEMPLATE_FIELD: [
    [
      'a field that is no template variable',
      () => book('docs://{id}', { input: z.object({ id: z.string(), page: z.string() }) }),
      'Shop.search ... page ... Add it to the template or mark it @IsOptional()',
    ],
  ],
  DECORUM_DANGLING_LIST: [
    [
      'a `list` that names no method',
      () => book('docs://{id}', { input: BookId, list: 'books' }),
      "Shop.search ... books ... Name the method that lists the template's resources",
    ],
  ],
  DECORUM_DANGLING_COMPLETION: [
    [
      'a completion for the name of a prompt instead of its method',
      completing({ ids: { for: 'recommend', argument: 'id' } }),
      'Shop.ids ... recommend ... Name the method of one: "ask"',
    ],
  ],
  DECORUM_UNKNOWN_ARGUMENT: [
    [
      'a completion of an argument that is not there',
      completing({ ids: { for: 'ask', argument: 'isbn' } }),
      'Shop.ids ... isbn ... Name one that it has: "id"',
    ],
  ],
  DECORUM_DUPLICATE_COMPLETION: [
    [
      'two completions of one argument',
      completing({ one: { for: 'ask', argument: 'id' }, two: { for: 'ask', argument: 'id' } }),
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
