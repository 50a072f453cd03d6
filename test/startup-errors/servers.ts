import { health, McpError, McpServer, Resource, Tool, ToolError } from '@decorum/core';
import { definePlugin } from '@decorum/core/plugin';

import { type Mistakes, serverOf, start, untyped } from './table.js';

class Books {
  @Tool() search() {
    return 'books';
  }
}

class Films {
  @Tool() search() {
    return 'films';
  }
}

class Office extends McpServer {
  constructor() {
    super({ name: 'office', version: '1', providers: [Books] });
  }

  @Tool() open() {}
}

class Clock {
  @Resource('clock://now') now() {
    return 'noon';
  }
}

class Injected {
  constructor(readonly books: Books) {}

  @Tool() search() {
    return this.books.search();
  }
}

const options = (given: object) => () => serverOf([Books], given);

const LONG = 'a'.repeat(32);
const TOO_SHORT = 'A secret needs at least 32 characters';

/** Starts a server with this secret in its environment. */
const inEnvironment = (secret: string) => () => {
  process.env['DECORUM_SECRET'] = secret;
  try {
    serverOf([Books], { secret: LONG }); // the option wins
    serverOf([Books]);
  } finally {
    delete process.env['DECORUM_SECRET'];
  }
};

const extensions = (...given: readonly unknown[]) => options({ extensions: given });
const A = 'com.example/a';
const answer = () => ({});

/** Starts a server with these plugins. */
const plugins = (...given: readonly unknown[]) => options({ plugins: given });
const route = { method: 'GET', path: '/status', handle: () => ({ status: 200 }) };
const routes = (...given: readonly object[]) => plugins({ name: 'a', routes: given });

class RowNotFound extends RangeError {}

/** Options of `McpServer`. */
export const SERVERS: Mistakes = {
  DECORUM_INVALID_OPTION: [
    [
      '`new McpServer()`, or with what is no object',
      [undefined, null, 'shop', []].map((given) => () => new McpServer(given as never)),
      "McpServer: `options` ... Write `new McpServer({ name: 'shop', version: '1.0.0', providers: [Shop] })`",
    ],
    [
      'a server without a name or a version',
      [options({ version: undefined }), options({ version: '' }), options({ name: undefined })],
      "McpServer: ... Write `new McpServer({ name: 'shop', version: '1.0.0', providers: [Shop] })`",
    ],
    ['`provider`', options({ provider: [] }), 'McpServer: `provider` is not an option. Write `providers`'],
    ['`onerror`', options({ onerror: [] }), 'McpServer: `onerror` is not an option. Write `onError`'],
    [
      '`tools`',
      options({ tools: [] }),
      'McpServer: `tools` ... Remove it, or use one of name, version ... providers ... ',
    ],
    [
      '`listing: "none"`',
      ['none', true, null, ''].map((listing) => options({ listing })),
      "`listing` must be 'all' or 'usable'",
    ],
    [
      'a `resolve` that is no function',
      options({ resolve: new Map() }),
      'Write `resolve: (cls) => container.resolve(cls)`',
    ],
    ['`instructions: 5`', options({ instructions: 5 }), 'McpServer ... must be a string'],
    [
      '`pageSize: "10"`',
      [options({ pageSize: '10' }), options({ pageSize: 0 })],
      'McpServer: `pageSize` ... from 1 to 1000000',
    ],
    [
      '`questionTimeoutMs: NaN`',
      options({ questionTimeoutMs: Number.NaN }),
      'McpServer: `questionTimeoutMs` is NaN, but must be a whole number from 1 to 86400000',
    ],
    ['`cache: null`', options({ cache: null }), 'McpServer ... must be an object'],
    [
      '`cache: { ttlMs: -1 }`',
      options({ cache: { ttlMs: -1 } }),
      'McpServer: `cache` must be { ttlMs: 0 or more, scope: "public" or "private" }',
    ],
    [
      'settings of experimental features that are no objects',
      ['x', [], null, { 'example.com/a': true }, { 'example.com/a': [] }].map((experimental) =>
        options({ experimental }),
      ),
      'McpServer: `experimental` must be an object whose members are objects',
    ],
    ['`extensions: {}`', options({ extensions: {} }), 'McpServer ... must be an array'],
    ['`logLevel: "warn"`', options({ logLevel: 'warn' }), 'McpServer ... alert, emergency'],
    [
      'a short secret',
      [options({ secret: 'short' }), options({ secret: ['short'] })],
      `\`secret\` has only 5 characters. ${TOO_SHORT}`,
    ],
    ['an empty secret', options({ secret: '' }), `\`secret\` is empty. ${TOO_SHORT}`],
    ['secrets that are none', options({ secret: [] }), '`secret` is an empty list ... '],
    [
      'an empty secret in a list',
      options({ secret: [LONG, ''] }),
      '`secret` is a list, and number 2 of its 2 secrets is empty ... ',
    ],
    ['a secret that is no string', options({ secret: null }), '`secret` is not a string ... '],
    ['a number in a list of secrets', options({ secret: [LONG, 5] }), 'number 2 of its 2 secrets is not a string ... '],
    [
      'a short secret in the environment (#22)',
      inEnvironment('short'),
      `\`DECORUM_SECRET\` has only 5 characters. ${TOO_SHORT} ... `,
    ],
    [
      'an empty secret in the environment (#22)',
      ['', '  '].map(inEnvironment),
      `\`DECORUM_SECRET\` is empty. ${TOO_SHORT}. Set one, or unset the variable`,
    ],
    [
      'a short part of a secret in the environment (#22)',
      inEnvironment(`${LONG},short`),
      'contains commas, which separate several secrets, and number 2 of these 2 has only 5 characters ... ',
    ],
    [
      'an empty part of a secret in the environment (#22)',
      inEnvironment(`${LONG},`),
      'number 2 of these 2 is empty ... Remove the commas, or use a secret without commas',
    ],
    ['an empty part between others (#22)', inEnvironment(`${LONG}, ,${LONG}`), 'number 2 of these 3 is empty ... '],
    [
      'instructions that are a promise',
      options({ instructions: Promise.resolve('') }),
      'McpServer: `instructions` is a promise ... Await it',
    ],
    [
      'options that are a promise',
      () => new McpServer(Promise.resolve({}) as never),
      'McpServer: `options` are a promise ... Await it',
    ],
    [
      '`cache: { ttl: 5 }`',
      options({ cache: { ttl: 5, scope: 'private' } }),
      'McpServer (cache): `ttl` ... Remove it, or use one of ttlMs, scope',
    ],
    [
      '`logger: console.log`',
      options({ logger: () => {} }),
      'McpServer: `logger` ... an object with the methods `warn` and `error`',
    ],
    [
      'a change bus without methods',
      options({ changeBus: {} }),
      'McpServer: `changeBus` ... an object with the methods `publish` and `subscribe`',
    ],
    ['errors that are no list', options({ errors: { Error: 'x' } }), 'McpServer: `errors` is not an array ... '],
    [
      'errors without a class',
      [[TypeError], [['Error', 'x']], [[() => Error, 'x']], [[new Error('x'), 'x']]].map((errors) =>
        options({ errors }),
      ),
      'McpServer: `errors` ... no class in entry 0 ... Write `[NotFoundError, (error) => error.message]`',
    ],
    [
      'errors without a message',
      [options({ errors: [[TypeError]] }), options({ errors: [[TypeError, 5]] })],
      'McpServer: `errors` ... no message for TypeError ... ',
    ],
    [
      'errors of one class twice',
      options({
        errors: [
          [RangeError, 'x'],
          [RangeError, 'y'],
        ],
      }),
      'McpServer: `errors` ... RangeError after RangeError ... ',
    ],
    [
      'errors of a class after its base class',
      options({
        errors: [
          [RangeError, 'x'],
          [RowNotFound, 'y'],
        ],
      }),
      'McpServer: `errors` ... RowNotFound after RangeError ... List RowNotFound once, before ... ',
    ],
    [
      'errors that clients see anyway',
      [options({ errors: [[ToolError, 'x']] }), options({ errors: [[class Refused extends McpError {}, 'x']] })],
      'McpServer: `errors` ... which clients see anyway ... ',
    ],
    ['`interceptors: ["log"]`', options({ interceptors: ['log'] }), 'McpServer: `interceptors` ... '],
    [
      'a `text` that is none',
      [5, null, {}, []].map((text) => options({ text })),
      'McpServer: `text` is ... Use true ... ',
    ],
    ['limits that are no object', options({ limits: 5 }), 'McpServer: `limits` is 5, but must be an object'],
    [
      'a misspelt limit',
      options({ limits: { maxValue: 1000 } }),
      'McpServer.limits: `maxValue` is not an option. Write `maxValues`',
    ],
    [
      'a limit among the options',
      options({ maxValues: 1000 }),
      'McpServer: `maxValues` is not an option. Write `limits: { maxValues }`',
    ],
    [
      'a limit out of range',
      options({ limits: { maxValues: 99 } }),
      'McpServer.limits: `maxValues` is 99, but must be a whole number from 100 to 10000000',
    ],
    [
      'a limit that is a text',
      options({ limits: { maxDepth: '64' } }),
      'McpServer.limits: `maxDepth` is "64", but must be ... ',
    ],
    ['a misspelt function of a plugin', plugins({ name: 'a', observ: () => {} }), '"a": `observ` ... `observe`'],
    ['a function of a plugin that is none', plugins({ name: 'a', observe: 'yes' }), '"a" ... must be a function'],
    [
      'an interceptor of a plugin that is none',
      plugins({ name: 'a', interceptors: ['no'] }),
      '"a": `interceptors` ... ',
    ],
    ['a route with parameters', routes({ ...route, path: '/users/:id' }), 'parameters ... '],
    ['a route without a slash', routes({ ...route, path: 'status' }), 'begins with ... '],
    [
      'a route that not every framework finds',
      ['/a/../b', '//b', '/a%2fb', '/a%ff'].map((path) => routes({ ...route, path })),
      'no parameters, query, ".." or encoded "/" ... ',
    ],
    ['a route for an unknown method', routes({ ...route, method: 'get' }), 'GET, POST ... '],
    ['a route without a handler', routes({ method: 'GET', path: '/' }), 'handle ... '],
    [
      'a plugin that is defined without a function',
      () => definePlugin({ name: 'audit' } as never),
      'definePlugin: `create` is not a function. Write definePlugin(() => ({ ... ',
    ],
    [
      'an option of an extension that is misspelt (#22)',
      [
        options({ extensions: [{ id: 'com.example/tasks', method: {} }] }),
        options({ plugins: [{ name: 'tasks', extensions: [{ id: 'com.example/tasks', method: {} }] }] }),
      ],
      'The extension "com.example/tasks": `method` is not an option. Write `methods`',
    ],
    [
      'a path of `health` without a slash (#22)',
      () => health({ livePath: 'alive' }),
      'health: `livePath` is "alive". A path begins with "/" ... Write "/alive"',
    ],
    [
      'a path of `health` with a query (#22)',
      () => health({ readyPath: '/a?b' }),
      'health: `readyPath` is "/a?b". A path begins with "/" ... Write "/readyz"',
    ],
    [
      'a path of `health` with a variable (#22)',
      () => health({ livePath: '/:any' }),
      'health: `livePath` is "/:any". ... Write "/healthz"',
    ],
  ],
  DECORUM_INVALID_EXTENSION: [
    [
      'an extension without an id',
      options({ extensions: [{ methods: {} }] }),
      'extension ... Use a reverse domain name and a name, as in "com.example/feature"',
    ],
    ['an extension that is null', extensions(null), '"null" has an invalid id ... '],
    ['an extension that is listed twice', extensions({ id: A }, { id: A }), 'listed twice ... '],
    [
      'two extensions with one method',
      extensions({ id: A, methods: { 'x/y': answer } }, { id: 'com.example/b', methods: { 'x/y': answer } }),
      `the method "x/y", which belongs to "${A}" ... `,
    ],
    [
      'an extension with a method of the protocol, or of an older revision',
      [
        extensions({ id: A, methods: { 'tools/call': answer } }),
        extensions({ id: A, methods: { ping: answer } }),
        plugins({ name: 'a', extensions: [{ id: A, methods: { ping: answer } }] }),
      ],
      'which belongs to the protocol ... ',
    ],
    [
      'an extension with methods or settings that are no objects',
      [extensions({ id: A, methods: null }), extensions({ id: A, settings: 'on' })],
      'not an object ... ',
    ],
    [
      'an extension with a method that is no function',
      extensions({ id: A, methods: { 'x/y': 'y' } }),
      'not a function ... ',
    ],
  ],
  DECORUM_INVALID_PLUGIN: [
    ['a plugin that was not made', plugins(definePlugin(() => ({ name: 'a' }))), 'Call it ... '],
    ['a promise of a plugin', plugins(Promise.resolve({ name: 'a' })), 'Await it ... '],
    ['a plugin that is null', plugins(null), 'null ... '],
    ['a plugin without a name', plugins({}), 'without a name ... '],
  ],
  DECORUM_DUPLICATE_PLUGIN: [['a plugin that is listed twice', plugins({ name: 'a' }, { name: 'a' }), '"a" ... ']],
  DECORUM_MISSING_PLUGIN: [
    ['a plugin without what it needs', plugins({ name: 'a', needs: ['b'] }), '"a" needs the plugin "b" ... '],
  ],
  DECORUM_DUPLICATE_ROUTE: [
    [
      'a route of two plugins',
      plugins({ name: 'a', routes: [route] }, { name: 'b', routes: [route] }),
      '"a" and to the plugin "b" ... ',
    ],
  ],
  DECORUM_RESERVED_MEMBER: [
    [
      'a tool of a subclass that hides a method of the server',
      () => {
        class Shop extends McpServer {
          @Tool() override async close() {}
        }
        return new Shop({ name: 'shop', version: '1.0.0' });
      },
      'Shop.close ... Rename the method, and set the option `name` to keep the name that clients see',
    ],
  ],
};

/** The option `providers`. */
export const PROVIDERS: Mistakes = {
  DECORUM_INVALID_OPTION: [
    [
      'one provider instead of a list',
      [Books, new Books(), 'Books'].map((providers) => () => serverOf(providers as never)),
      'McpServer: `providers` ... Write `providers: [Shop]`',
    ],
    [
      'an entry with a misspelt prefix',
      start({ provider: Books, prefx: 'a_' }),
      'Books: `prefx` is not an option. Write `prefix`',
    ],
    [
      'an entry with a number as prefix',
      start({ provider: Books, prefix: 5 }),
      "Books: `prefix` must be a string. Write `prefix: 'eu_'`, for example",
    ],
    [
      'an entry with an invalid URI prefix',
      ['eu/', 'x://', '{a}', 5].map((uriPrefix) => start({ provider: Books, uriPrefix })),
      "Books: `uriPrefix` ... Write `uriPrefix: 'eu+'`, for example",
    ],
    [
      'an entry with an unknown scope',
      start({ provider: Books, scope: 'session' }),
      "Books: `scope` must be 'request'. Remove it to share one instance",
    ],
    [
      'a container that gives no instance',
      [undefined, null, 'Books', Books].map((given) => () => serverOf([Injected], { resolve: () => given })),
      'Injected: `resolve` ... Return an instance, or a promise of one',
    ],
    [
      'a hook that is no method',
      start(
        class Shop extends Books {
          onStart = 5;
        },
      ),
      'Shop: `onStart` ... Make it a method, or rename it',
    ],
    [
      'a request-scoped class with a hook, which would never be called',
      ['onStart', 'onClose'].map((hook) => () => {
        class Hooked extends Books {}
        Object.defineProperty(Hooked.prototype, hook, { value: () => {} });
        start({ provider: Hooked, scope: 'request' })();
      }),
      "Hooked: `on ... ` is never called with `scope: 'request'`. Move it to a provider ... ",
    ],
    [
      'a request-scoped instance instead of a class',
      start({ provider: new Books(), scope: 'request' }),
      'Books: `scope` ... Pass the class, not an instance',
    ],
  ],
  DECORUM_BAD_PROVIDER: [
    ['a list in the list', start([Books]), 'an array ... Spread it: `providers: [...shops]`'],
    [
      'a promise of a provider',
      [start(Promise.resolve(new Books())), start({ provider: Promise.resolve(new Books()), prefix: 'a_' })],
      'a promise ... Await it: `providers: [await Files.create()]`',
    ],
    [
      'a class that does not exist yet, as two modules import each other',
      [
        start(undefined),
        start({ provider: undefined, prefix: 'a_' }),
        () => untyped(McpServer.prototype.addProvider.bind(serverOf([])))(),
      ],
      'undefined ... List classes, ready instances, or { provider, prefix }',
    ],
    [
      'a function where a class is due',
      start(() => new Books()),
      'the function ... List classes, ready instances, or { provider, prefix }',
    ],
    [
      'a server as provider',
      [start(serverOf([Books])), start({ provider: serverOf([Books]), prefix: 'a_' })],
      'the server McpServer ... List what it serves ... `providers: [Calendar, Mail]`, or `{ provider: Calendar, prefix }`',
    ],
    [
      'a subclass of the server, or its instance',
      [start(Office), () => serverOf([new Office()])],
      'the server Office ... `{ provider: Calendar, prefix }`',
    ],
    ['null', start(null), 'null ... List classes, ready instances, or { provider, prefix }'],
    ['the name of a class', start('Books'), 'Books ... List classes, ready instances, or { provider, prefix }'],
    [
      'a misspelt key',
      start({ provdier: Books, prefix: 'a_' }),
      'an object with the keys "provdier", "prefix" ... List classes, ready instances, or { provider, prefix }',
    ],
    [
      'an empty object',
      [start({}), start(Object.create(null)), start({ provider: Object.create(null), prefix: 'a_' })],
      'an object with the keys (none) ... List classes, ready instances, or { provider, prefix }',
    ],
  ],
  DECORUM_NO_MEMBERS: [
    ['a class without decorated methods', start(class Plain {}), 'Plain ... or remove the class from `providers`'],
  ],
  DECORUM_CONSTRUCTOR_ARGUMENTS: [
    [
      'a class whose constructor, or that of its base, takes arguments',
      [
        start(Injected),
        start({ provider: Injected, prefix: 'a_' }),
        start({ provider: Injected, scope: 'request' }),
        start(class AlsoInjected extends Injected {}),
      ],
      'Injected takes an argument ... `providers: [new ... `resolve` ... If the arguments are optional, give them default values',
    ],
  ],
  DECORUM_DUPLICATE_NAME: [
    [
      'two providers with tools of the same name',
      start(Books, Films),
      'Books.search and Films.search ... Give one of them another `name`, or its provider a `prefix`',
    ],
    [
      'a provider that is listed twice',
      start(Books, new Books()),
      'Books.search and again Books.search. List the provider once ... or its provider a `prefix`',
    ],
    [
      'two functions with one name',
      () => {
        const server = serverOf([Books]);
        server.addTool({ name: 'now' }, () => 'noon');
        server.addTool({ name: 'now' }, () => 'midnight');
      },
      'addTool.now and again addTool.now. Give one of them another `name` ... `remove()` the registration that `addTool` returned',
    ],
    [
      'a class and its base class',
      start(Books, class Novels extends Books {}),
      'Books.search and Novels.search ... or its provider a `prefix`',
    ],
    [
      'a class with resources, listed twice with prefixes for names only',
      start(Clock, { provider: Clock, prefix: 'eu_' }),
      "clock://now ... Clock.now ... or its provider a `uriPrefix`: `{ provider, prefix: 'eu_', uriPrefix: 'eu+' }`",
    ],
    [
      'two templates that match the same URIs',
      () => {
        const one = { type: 'object', properties: { id: { type: 'string' } } };
        const two = { type: 'object', properties: { isbn: { type: 'string' } } };
        class Shop {
          @Resource('books://{id}', { input: one }) book() {}
          @Resource('books://{isbn}', { input: two }) edition() {}
        }
        start(Shop)();
      },
      "Shop.book and Shop.edition ... `{ provider, prefix: 'eu_', uriPrefix: 'eu+' }`",
    ],
  ],
  DECORUM_NOT_A_METHOD: [
    [
      'an override that is no method',
      () => {
        class Odd extends Books {}
        Object.defineProperty(Odd.prototype, 'search', { value: 5 });
        start(Odd)();
      },
      'Odd.search ... remove what hides it, such as a field of the same name',
    ],
  ],
  DECORUM_RESERVED_MEMBER: [
    [
      'a tool with the name of a hook',
      () => {
        class Shop {
          @Tool() onStart() {}
        }
        start(Shop)();
      },
      'Shop.onStart ... Rename the method, and set the option `name` to keep the name that clients see',
    ],
  ],
};
