import { McpServer, Resource, Tool } from '@decorum/core';

import { type Mistake, serverOf, start, untyped } from './table.js';

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

/** Options of `McpServer`. */
export const SERVERS: readonly Mistake[] = [
  [
    '`new McpServer()`',
    () => new (McpServer as unknown as new () => McpServer)(),
    'DECORUM_INVALID_OPTION',
    'McpServer: `options`',
    "Write `new McpServer({ name: 'shop', version: '1.0.0', providers: [Shop] })`",
  ],
  [
    'a server without a version',
    options({ version: undefined }),
    'DECORUM_INVALID_OPTION',
    'McpServer: `version`',
    "Write `new McpServer({ name: 'shop', version: '1.0.0', providers: [Shop] })`",
  ],
  ['`provider`', options({ provider: [] }), 'DECORUM_INVALID_OPTION', 'McpServer: `provider`', 'Write `providers`'],
  ['`instructions: 5`', options({ instructions: 5 }), 'DECORUM_INVALID_OPTION', 'McpServer', 'must be a string'],
  ['`pageSize: "10"`', options({ pageSize: '10' }), 'DECORUM_INVALID_OPTION', 'McpServer', 'from 1 to 1000000'],
  ['`cache: null`', options({ cache: null }), 'DECORUM_INVALID_OPTION', 'McpServer', 'must be an object'],
  ['`extensions: {}`', options({ extensions: {} }), 'DECORUM_INVALID_OPTION', 'McpServer', 'must be an array'],
  ['`logLevel: "warn"`', options({ logLevel: 'warn' }), 'DECORUM_INVALID_OPTION', 'McpServer', 'alert, emergency'],
  ['a short secret', options({ secret: 'short' }), 'DECORUM_INVALID_OPTION', 'McpServer', 'at least 32 characters'],
  [
    'instructions that are a promise',
    options({ instructions: Promise.resolve('') }),
    'DECORUM_INVALID_OPTION',
    'McpServer: `instructions` is a promise',
    'Await it',
  ],
  [
    'options that are a promise',
    () => new McpServer(Promise.resolve({}) as never),
    'DECORUM_INVALID_OPTION',
    'McpServer: `options` are a promise',
    'Await it',
  ],
  [
    '`cache: { ttl: 5 }`',
    options({ cache: { ttl: 5, scope: 'private' } }),
    'DECORUM_INVALID_OPTION',
    'McpServer (cache): `ttl`',
    'Remove it, or use one of ttlMs, scope',
  ],
  [
    '`logger: console.log`',
    options({ logger: () => {} }),
    'DECORUM_INVALID_OPTION',
    'McpServer: `logger`',
    'an object with the methods `warn` and `error`',
  ],
  [
    'a change bus without methods',
    options({ changeBus: {} }),
    'DECORUM_INVALID_OPTION',
    'McpServer: `changeBus`',
    'an object with the methods `publish` and `subscribe`',
  ],
  [
    'errors that are no pairs',
    options({ errors: [TypeError] }),
    'DECORUM_INVALID_OPTION',
    'McpServer: `errors`',
    'Write `[NotFoundError, (error) => error.message]`',
  ],
  [
    'an extension without an id',
    options({ extensions: [{ methods: {} }] }),
    'DECORUM_INVALID_EXTENSION',
    'extension',
    'Use a reverse domain name and a name, as in "com.example/feature"',
  ],
  [
    'a tool of a subclass that hides a method of the server',
    () => {
      class Shop extends McpServer {
        @Tool() override async close() {}
      }
      return new Shop({ name: 'shop', version: '1.0.0' });
    },
    'DECORUM_RESERVED_MEMBER',
    'Shop.close',
    'Rename the method, and set the option `name` to keep the name that clients see',
  ],
];

/** The option `providers`. */
export const PROVIDERS: readonly Mistake[] = [
  [
    'one provider instead of a list',
    () => serverOf(Books as never),
    'DECORUM_INVALID_OPTION',
    'McpServer: `providers`',
    'Write `providers: [Shop]`',
  ],
  ['a list in the list', start([Books]), 'DECORUM_BAD_PROVIDER', 'an array', 'Spread it: `providers: [...shops]`'],
  [
    'a promise of a provider',
    start(Promise.resolve(new Books())),
    'DECORUM_BAD_PROVIDER',
    'a promise',
    'Await it: `providers: [await Files.create()]`',
  ],
  [
    'a class that does not exist yet, as two modules import each other',
    start(undefined),
    'DECORUM_BAD_PROVIDER',
    'undefined',
    'List classes, ready instances, or { provider, prefix }',
  ],
  [
    'a function where a class is due',
    start(() => new Books()),
    'DECORUM_BAD_PROVIDER',
    'the function',
    'List classes, ready instances, or { provider, prefix }',
  ],
  [
    'a class without decorated methods',
    start(class Plain {}),
    'DECORUM_NO_MEMBERS',
    'Plain',
    'or remove the class from `providers`',
  ],
  [
    'an entry with a misspelt prefix',
    start({ provider: Books, prefx: 'a_' }),
    'DECORUM_INVALID_OPTION',
    'Books: `prefx`',
    'Write `prefix`',
  ],
  [
    'a class whose constructor takes arguments',
    start(Injected),
    'DECORUM_CONSTRUCTOR_ARGUMENTS',
    'Injected takes an argument',
    'If the arguments are optional, give them default values',
  ],
  [
    'a container that gives no instance',
    () => serverOf([Injected], { resolve: () => undefined }),
    'DECORUM_INVALID_OPTION',
    'Injected: `resolve`',
    'Return an instance, or a promise of one',
  ],
  [
    'a server as provider',
    start(serverOf([Books])),
    'DECORUM_BAD_PROVIDER',
    'the server McpServer',
    '`providers: [Calendar, Mail]`, or `{ provider: Calendar, prefix }`',
  ],
  [
    'two providers with tools of the same name',
    start(Books, Films),
    'DECORUM_DUPLICATE_NAME',
    'Books.search and Films.search',
    'Give one of them another `name`, or its provider a `prefix`',
  ],
  [
    'a provider that is listed twice',
    start(Books, new Books()),
    'DECORUM_DUPLICATE_NAME',
    'Books.search and again Books.search. List the provider once',
    'or its provider a `prefix`',
  ],
  [
    'two functions with one name',
    () => {
      const server = serverOf([Books]);
      server.addTool({ name: 'now' }, () => 'noon');
      server.addTool({ name: 'now' }, () => 'midnight');
    },
    'DECORUM_DUPLICATE_NAME',
    'addTool.now and again addTool.now. Give one of them another `name`',
    '`remove()` the registration that `addTool` returned',
  ],
  [
    'a class and its base class',
    start(Books, class Novels extends Books {}),
    'DECORUM_DUPLICATE_NAME',
    'Books.search and Novels.search',
    'or its provider a `prefix`',
  ],
  [
    'a class with resources, listed twice with prefixes for names only',
    start(Clock, { provider: Clock, prefix: 'eu_' }),
    'DECORUM_DUPLICATE_NAME',
    'Clock.now',
    "`{ provider, prefix: 'eu_', uriPrefix: 'eu+' }`",
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
    'DECORUM_DUPLICATE_NAME',
    'Shop.book and Shop.edition',
    "`{ provider, prefix: 'eu_', uriPrefix: 'eu+' }`",
  ],
  [
    'an override that is no method',
    () => {
      class Odd extends Books {}
      Object.defineProperty(Odd.prototype, 'search', { value: 5 });
      start(Odd)();
    },
    'DECORUM_NOT_A_METHOD',
    'Odd.search',
    'remove what hides it, such as a field of the same name',
  ],
  [
    'a hook that is no method',
    start(
      class Shop extends Books {
        onStart = 5;
      },
    ),
    'DECORUM_INVALID_OPTION',
    'Shop: `onStart`',
    'Make it a method, or rename it',
  ],
  [
    'a tool with the name of a hook',
    () => {
      class Shop {
        @Tool() onStart() {}
      }
      start(Shop)();
    },
    'DECORUM_RESERVED_MEMBER',
    'Shop.onStart',
    'Rename the method, and set the option `name` to keep the name that clients see',
  ],
  [
    'a request-scoped instance instead of a class',
    start({ provider: new Books(), scope: 'request' }),
    'DECORUM_INVALID_OPTION',
    'Books: `scope`',
    'Pass the class, not an instance',
  ],
  [
    '`addProvider()`',
    () => untyped(McpServer.prototype.addProvider.bind(serverOf([])))(),
    'DECORUM_BAD_PROVIDER',
    'undefined',
    'List classes, ready instances, or { provider, prefix }',
  ],
];
