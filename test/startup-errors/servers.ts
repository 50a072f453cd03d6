import { health, McpError, McpServer, MemoryKeyValueStore, mount, Resource, Tool, ToolError } from '@decorum/core';
import { definePlugin } from '@decorum/core/plugin';

import { MemoryCluster } from '../support/memory-cluster.js';
import { type Mistakes, serverOf, start, untyped, wrong } from './table.js';

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

const LONG = 'a'.repeat(32);
/** What the processes of a cluster share. */
const PARTS = new MemoryCluster().node();

const TOO_SHORT = 'A secret needs at least 32 characters';

/** Starts a server with this secret in its environment. */
const inEnvironment = (secret: string) => {
  process.env['DECORUM_SECRET'] = secret;
  try {
    serverOf([Books], { secret: LONG }); // the option wins
    serverOf([Books]);
  } finally {
    delete process.env['DECORUM_SECRET'];
  }
};

const A = 'com.example/a';
const answer = () => ({});
const FOLD = { id: 'com.example/fold', toolOptions: { fold: 'boolean' } } as const;

const named = (name: string, providers: readonly unknown[], options: object = {}) =>
  serverOf(providers, { name, ...options });

/** A server with a tool that has the option of an extension. */
function folding() {
  const server = named('b', [], { extensions: [FOLD] });
  untyped(server.addTool.bind(server))({ name: 'fold', fold: true }, answer);
  return server;
}

const server = (given: object) => serverOf([Books], given);
const extended = (...extensions: readonly unknown[]) => ({ extensions });
/** Starts a server with these plugins. */
const plugged = (plugins: object) => serverOf([Books], { plugins: [plugins].flat() });
const route = { method: 'GET', path: '/status', handle: () => ({ status: 200 }) };
const routed = (...routes: readonly object[]) => ({ name: 'a', routes });

class RowNotFound extends RangeError {}
/** Rules for errors of these classes. */
const ruled = (...classes: readonly unknown[]) => ({ errors: classes.map((cls) => [cls, 'x']) });

/** Options of `McpServer`. */
export const SERVERS: Mistakes = {
  DECORUM_INVALID_OPTION: [
    [
      '`new McpServer()`, or with what is no object',
      [undefined, null, 'shop', []].map((given) => () => new McpServer(given as never)),
      "McpServer: `options` ... Write `new McpServer({ name: 'shop', version: '1.0.0', providers: [Shop] })`",
    ],
    [
      'options that are a promise',
      () => new McpServer(Promise.resolve({}) as never),
      'McpServer: `options` are a promise ... Await it',
    ],
    ...wrong('new McpServer(…)', server, [
      [
        [{ version: undefined }, { version: '' }, { name: undefined }],
        "McpServer: ... Write `new McpServer({ name: 'shop', version: '1.0.0', providers: [Shop] })`",
      ],
      [{ provider: [] }, 'McpServer: `provider` is not an option. Write `providers`'],
      [{ onerror: [] }, 'McpServer: `onerror` is not an option. Write `onError`'],
      [{ tools: [] }, 'McpServer: `tools` ... Remove it, or use one of name, version ... providers ... '],
      [
        ['admin', null, undefined].map((hiddenTags) => ({ hiddenTags })),
        "McpServer: `hiddenTags` is not an array. Write `hiddenTags: ['admin']`",
      ],
      [
        ['', 1].map((tag) => ({ hiddenTags: ['admin', tag] })),
        'McpServer: `hiddenTags` has ... , which is not a tag. ... ',
      ],
      [['none', true, null, ''].map((listing) => ({ listing })), "`listing` must be 'all' or 'usable'"],
      [{ coerce: 'yes' }, 'McpServer: `coerce` ... must be true or false'],
      [{ resolve: new Map() }, 'Write `resolve: (cls) => container.resolve(cls)`'],
      [{ instructions: 5 }, 'McpServer ... must be a string'],
      [{ instructions: Promise.resolve('') }, 'McpServer: `instructions` is a promise ... Await it'],
      [[{ pageSize: '10' }, { pageSize: 0 }], 'McpServer: `pageSize` ... from 1 to 1000000'],
      [
        { questionTimeoutMs: Number.NaN },
        'McpServer: `questionTimeoutMs` is NaN, but must be a whole number from 1 to 86400000',
      ],
      [{ cache: null }, 'McpServer ... must be an object'],
      [{ cache: { ttlMs: -1 } }, 'McpServer: `cache` must be { ttlMs: 0 or more, scope: "public" or "private" }'],
      [{ cache: { ttl: 5, scope: 'private' } }, 'McpServer (cache): `ttl` ... Remove it, or use one of ttlMs, scope'],
      [
        ['x', [], null, { [A]: true }, { [A]: [] }].map((experimental) => ({ experimental })),
        'McpServer: `experimental` must be an object whose members are objects',
      ],
      [{ extensions: {} }, 'McpServer ... must be an array'],
      [{ maxResultChars: 0 }, 'McpServer: `maxResultChars` is 0, but must be a whole number from 1 to 1000000000'],
      [{ logLevel: 'warn' }, 'McpServer ... alert, emergency'],
      [{ logger: () => {} }, 'McpServer: `logger` ... an object with the methods `warn` and `error`'],
      [{ changeBus: {} }, 'McpServer: `changeBus` ... an object with the methods `publish` and `subscribe`'],
      [{ cluster: { ...PARTS, bus: {} } }, 'McpServer: `cluster.bus` ... the methods `publish` and `subscribe`'],
      [{ cluster: { ...PARTS, courier: undefined } }, 'McpServer: `cluster.courier` ... `send` and `receive`'],
      [{ cluster: PARTS }, '`secret` is missing ... set DECORUM_SECRET to at least 32 random characters'],
      [
        { cluster: { ...PARTS, store: undefined } },
        'McpServer: `cluster.store` must be an object with the methods `get` and `set` and `delete`',
      ],
      [
        [{ store: {} }, { store: 'data' }, { store: null }],
        'McpServer: `store` must be an object with the methods `get` and `set` and `delete`',
      ],
      [
        { store: { get() {}, set() {}, delete() {} } },
        'McpServer: `store` must have `isDurable`: true if ... or false',
      ],
      [
        { cluster: { ...PARTS, store: { get() {}, set() {}, delete() {} } }, secret: LONG },
        'McpServer: `cluster.store` must have `isDurable`: true if ... or false',
      ],
      [
        { store: { isDurable: true, get() {}, set() {}, delete() {} } },
        'McpServer: `secret` is missing. `store` keeps data beyond the end of the process ... set DECORUM_SECRET to at least 32 random characters',
      ],
      [
        { cluster: PARTS, store: new MemoryKeyValueStore(), secret: LONG },
        'McpServer: `store` keeps data for this process only ... Remove it, to keep the data in the `cluster`',
      ],
      [
        [
          { interceptors: ['log'] },
          { interceptors: () => {} },
          { interceptors: () => {}, plugins: [{ name: 'audit' }] },
          { interceptors: [{ repeats: true }] },
          { interceptors: [{ intercept() {} }] },
          { interceptors: [{ repeats: 'yes', intercept() {} }] },
        ],
        'McpServer: `interceptors` must be an array of functions, or of objects `{ repeats: true, intercept(call, next) { … } }`',
      ],
      [[5, null, {}, []].map((text) => ({ text })), 'McpServer: `text` is ... Use true ... '],
      [[{ secret: 'short' }, { secret: ['short'] }], `\`secret\` has only 5 characters. ${TOO_SHORT}`],
      [{ secret: '' }, `\`secret\` is empty. ${TOO_SHORT}`],
      [{ secret: [] }, '`secret` is an empty list ... '],
      [{ secret: [LONG, ''] }, '`secret` is a list, and number 2 of its 2 secrets is empty ... '],
      [{ secret: null }, '`secret` is not a string ... '],
      [{ secret: [LONG, 5] }, 'number 2 of its 2 secrets is not a string ... '],
      [{ errors: { Error: 'x' } }, 'McpServer: `errors` is not an array ... '],
      [
        [{ errors: [[TypeError]] }, { errors: [[TypeError, 5]] }],
        'McpServer: `errors` ... no message for TypeError ... ',
      ],
      [ruled(RangeError, RangeError), 'McpServer: `errors` ... RangeError after RangeError ... '],
      [
        ruled(RangeError, RowNotFound),
        'McpServer: `errors` ... RowNotFound after RangeError ... List RowNotFound once, before ... ',
      ],
      // clients see these anyway
      [
        [ruled(ToolError), ruled(class Refused extends McpError {})],
        'McpServer: `errors` ... which clients see anyway ... ',
      ],
      [{ limits: 5 }, 'McpServer: `limits` is 5, but must be an object'],
      [{ limits: { maxValue: 1000 } }, 'McpServer.limits: `maxValue` is not an option. Write `maxValues`'],
      [{ maxValues: 1000 }, 'McpServer: `maxValues` is not an option. Write `limits: { maxValues }`'],
      [
        { limits: { maxValues: 99 } },
        'McpServer.limits: `maxValues` is 99, but must be a whole number from 100 to 10000000',
      ],
      [{ limits: { maxDepth: '64' } }, 'McpServer.limits: `maxDepth` is "64", but must be ... '],
      [
        [extended({ id: A, method: {} }), { plugins: [{ name: 'a', extensions: [{ id: A, method: {} }] }] }],
        'The extension "com.example/a": `method` is not an option. Write `methods`',
      ],
    ]),
    [
      '`errors` without a class',
      [[TypeError], [['Error', 'x']], [[() => Error, 'x']], [[new Error('x'), 'x']]].map(
        (errors) => () => server({ errors }),
      ),
      'McpServer: `errors` ... no class in entry 0 ... Write `[NotFoundError, (error) => error.message]`',
    ],
    ...wrong('DECORUM_SECRET=…', inEnvironment, [
      ['short', `\`DECORUM_SECRET\` has only 5 characters. ${TOO_SHORT} ... `],
      [['', '  '], `\`DECORUM_SECRET\` is empty. ${TOO_SHORT}. Set one, or unset the variable`],
      [
        `${LONG},short`,
        'contains commas, which separate several secrets, and number 2 of these 2 has only 5 characters ... ',
      ],
      [`${LONG},`, 'number 2 of these 2 is empty ... Remove the commas, or use a secret without commas'],
      [`${LONG}, ,${LONG}`, 'number 2 of these 3 is empty ... '],
    ]),
    ...wrong('the plugin …', plugged, [
      [{ name: 'a', observ: () => {} }, '"a": `observ` ... `observe`'],
      [{ name: 'a', observe: 'yes' }, '"a" ... must be a function'],
      [{ name: 'a', interceptors: ['no'] }, '"a": `interceptors` ... '],
      [routed({ ...route, path: '/users/:id' }), 'parameters ... '],
      [routed({ ...route, path: 'status' }), 'begins with ... '],
      // not every framework finds these
      [
        ['/a/../b', '//b', '/a%2fb', '/a%ff'].map((path) => routed({ ...route, path })),
        'no parameters, query, ".." or encoded "/" ... ',
      ],
      [routed({ ...route, method: 'get' }), 'GET, POST ... '],
      [routed({ method: 'GET', path: '/' }), 'handle ... '],
    ]),
    [
      'a plugin that is defined without a function',
      () => definePlugin({ name: 'audit' } as never),
      'definePlugin: `create` is not a function. Write definePlugin(() => ({ ... ',
    ],
    ...wrong('health(…)', health, [
      [{ livePath: 'alive' }, 'health: `livePath` is "alive". A path begins with "/" ... Write "/alive"'],
      [{ readyPath: '/a?b' }, 'health: `readyPath` is "/a?b". A path begins with "/" ... Write "/readyz"'],
      [{ livePath: '/:any' }, 'health: `livePath` is "/:any". ... Write "/healthz"'],
    ]),
  ],
  DECORUM_INVALID_EXTENSION: wrong('new McpServer(…)', server, [
    [extended({ methods: {} }), 'extension ... Use a reverse domain name and a name, as in "com.example/feature"'],
    [extended(null), '"null" has an invalid id ... '],
    [extended({ id: A }, { id: A }), 'listed twice ... '],
    [
      extended({ id: A, methods: { 'x/y': answer } }, { id: 'com.example/b', methods: { 'x/y': answer } }),
      `the method "x/y", which belongs to "${A}" ... `,
    ],
    // methods of the protocol, or of an older revision
    [
      [
        extended({ id: A, methods: { 'tools/call': answer } }),
        extended({ id: A, methods: { ping: answer } }),
        { plugins: [{ name: 'a', extensions: [{ id: A, methods: { ping: answer } }] }] },
      ],
      'which belongs to the protocol ... ',
    ],
    [[extended({ id: A, methods: null }), extended({ id: A, settings: 'on' })], 'not an object ... '],
    [extended({ id: A, methods: { 'x/y': 'y' } }), 'not a function ... '],
    [
      [extended({ id: A, toolOptions: { output: true } }), extended({ id: A, resourceOptions: { uri: true } })],
      'option ... which belongs to the protocol ... ',
    ],
  ]),
  DECORUM_INVALID_PLUGIN: wrong('the plugin …', plugged, [
    [definePlugin(() => ({ name: 'a' })), 'Call it ... '],
    [Promise.resolve({ name: 'a' }), 'Await it ... '],
    [null, 'null ... '],
    [{}, 'without a name ... '],
  ]),
  DECORUM_DUPLICATE_PLUGIN: [
    ['a plugin that is listed twice', () => plugged([{ name: 'a' }, { name: 'a' }]), '"a" ... '],
  ],
  DECORUM_MISSING_PLUGIN: [
    ['a plugin without what it needs', () => plugged({ name: 'a', needs: ['b'] }), '"a" needs the plugin "b" ... '],
  ],
  DECORUM_DUPLICATE_ROUTE: [
    [
      'a route of two plugins',
      () => plugged(['a', 'b'].map((name) => ({ name, routes: [route] }))),
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

const LIST = 'List classes, ready instances, or { provider, prefix }';

/** The option `providers`. */
export const PROVIDERS: Mistakes = {
  DECORUM_INVALID_OPTION: [
    [
      'one provider instead of a list',
      [Books, new Books(), 'Books'].map((providers) => () => serverOf(providers as never)),
      'McpServer: `providers` ... Write `providers: [Shop]`',
    ],
    ...wrong('the entry …', (given: object) => start({ provider: Books, ...given })(), [
      [{ prefx: 'a_' }, 'Books: `prefx` is not an option. Write `prefix`'],
      [{ prefix: 5 }, "Books: `prefix` must be a string. Write `prefix: 'eu_'`, for example"],
      [
        ['eu/', 'x://', '{a}', 5].map((uriPrefix) => ({ uriPrefix })),
        "Books: `uriPrefix` ... Write `uriPrefix: 'eu+'`, for example",
      ],
      [[{ tags: 'admin' }, { tags: undefined }], 'Books: `tags` is not an array. ... '],
      [{ tags: [''] }, 'Books: `tags` has "", which is not a tag. ... '],
      [{ scope: 'session' }, "Books: `scope` must be 'request'. Remove it to share one instance"],
    ]),
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
  DECORUM_MOUNT_CIRCLE: [
    [
      'a server that mounts itself',
      () => {
        const a = named('a', []);
        a.addProvider(mount(a));
      },
      'a → a. Remove one of these mounts',
    ],
    [
      'servers that mount each other',
      () => {
        const a = named('a', []);
        a.addProvider(mount(named('b', [mount(named('c', [mount(a)]))])));
      },
      'a → b → c → a. Remove one of these mounts',
    ],
  ],
  DECORUM_BAD_MOUNT: [
    [
      'a server with a tool whose extension the other server lacks',
      () => named('a', [mount(folding())]),
      'The server "b" has the tool "fold" with options of the extension "com.example/fold", which "a" lacks. Add the extension there',
    ],
  ],
  DECORUM_BAD_PROVIDER: [
    ['a list in the list', start([Books]), 'an array ... Spread it: `providers: [...shops]`'],
    [
      'a class that does not exist yet, when it is added',
      () => untyped(McpServer.prototype.addProvider.bind(serverOf([])))(),
      `undefined ... ${LIST}`,
    ],
    ['a function where a class is due', start(() => new Books()), `the function ... ${LIST}`],
    [
      'a server as provider',
      [start(serverOf([Books])), start({ provider: serverOf([Books]), prefix: 'a_' })],
      "the server McpServer ... Mount it: `providers: [mount(billing, { prefix: 'billing' })]`",
    ],
    [
      'a subclass of the server, or its instance',
      [start(Office), () => serverOf([new Office()])],
      'the server Office ... Mount it: ... })]`',
    ],
    ...wrong('the provider …', (given) => start(given)(), [
      [
        [Promise.resolve(new Books()), { provider: Promise.resolve(new Books()), prefix: 'a_' }],
        'a promise ... Await it: `providers: [await Files.create()]`',
      ],
      // as two modules import each other
      [[undefined, { provider: undefined, prefix: 'a_' }], `undefined ... ${LIST}`],
      [null, `null ... ${LIST}`],
      ['Books', `Books ... ${LIST}`],
      [{ provdier: Books, prefix: 'a_' }, `an object with the keys "provdier", "prefix" ... ${LIST}`],
      [
        [{}, Object.create(null), { provider: Object.create(null), prefix: 'a_' }],
        `an object with the keys (none) ... ${LIST}`,
      ],
    ]),
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
      'an alias that is the name of another tool',
      () => {
        const books = serverOf([Books]);
        books.addTool({ name: 'find', aliases: ['search'] }, () => '');
      },
      'Books.search and addTool.find (aliases). Remove the alias, or give one of them another `name` or a `prefix`',
    ],
    [
      'two functions with one name',
      () => {
        const books = serverOf([Books]);
        books.addTool({ name: 'now' }, () => 'noon');
        books.addTool({ name: 'now' }, () => 'midnight');
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
