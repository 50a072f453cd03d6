import cluster from 'node:cluster';
import { PassThrough } from 'node:stream';

import { connectMemory, McpServer, rateLimit, sanitize, serveStdio } from '@decorum/core';
import { authRoutes, listen, mcp } from '@decorum/http';
import { fetchHandler } from '@decorum/http/fetch';
import { lambdaHandler, streamingLambdaHandler } from '@decorum/http/lambda';
import { nodeHandler } from '@decorum/http/node';
import { connect } from '@decorum/testing';
import { fastify, type FastifyInstance } from 'fastify';

import { MemoryCluster } from '../support/memory-cluster.js';
import { type Mistake, type Mistakes, serverOf, untyped, wrong } from './table.js';

const server = serverOf([]);
const { courier } = new MemoryCluster().node();

/** Serves Node requests. */
const auth = { authenticate: () => undefined, mount: { paths: ['/token'], handle() {} } };

const listening = (options: unknown) => async () => {
  const { close } = await listen(server, (typeof options === 'object' ? { port: 0, ...options } : options) as object);
  await close();
};

const piped = (options: object) => async () => {
  const { close } = await serveStdio(server, { input: new PassThrough(), output: new PassThrough(), ...options });
  await close();
};

/** Opens connections of a caller, over stdio and in memory. */
const withPrincipal = (...rows: readonly (readonly [principal: unknown, message: string])[]) => [
  ...wrong('the principal … over stdio', (principal) => piped({ principal })(), rows),
  ...wrong(
    'the principal … in memory',
    (principal) => connectMemory(serverOf([]), { receive: () => {}, principal } as never),
    rows,
  ),
];

const registered = (register: (app: FastifyInstance) => unknown) => async () => {
  const app = fastify();
  register(app);
  try {
    await app.ready();
  } finally {
    await app.close();
  }
};

const NO_SERVER = 'Pass what `new McpServer({ … })` returns';

/** Arguments and options of transports. */
export const TRANSPORTS: Mistakes = {
  DECORUM_INVALID_OPTION: [
    ...['/café', '/a"b', '/mc%70', '/a%2fb', '/100%', '/./mcp', '/a\\b'].map((path): Mistake => {
      const sent = new URL(path.replace('%70', 'p').replace('2f', '2F').replace(/%$/, '%25'), 'http://a').pathname;
      return [
        `the path "${path}"`,
        [
          listening({ path }),
          listening({ legacySse: { path } }),
          () => nodeHandler(server, { legacySse: { messagesPath: path } }),
          () => fetchHandler(server, { path }),
        ],
        `ath\` is "${path}", but clients send ... Write "${sent}"`,
      ];
    }),
    [
      '`listen(Shop)`, or with a promise',
      [() => listen(McpServer as never), () => listen(Promise.resolve(server) as never)],
      `listen: \`server\` ... ${NO_SERVER}`,
    ],
    ['`listen(server, 3000)`', listening(3000), 'listen: `options` ... Pass { … }'],
    ...wrong('listen(server, …)', (given) => listening(given)(), [
      [{ port: Number.NaN }, 'listen: `port` is NaN ... Pass a whole number from 1 to 65535, or 0 for any free port'],
      // not an option of ours
      [{ cors: true }, 'listen: `cors` ... credentialHeaders, port, host, signals'],
      [
        [{ host: 'http://localhost' }, { host: 'localhost:3000' }],
        "listen: `host` ... Write '127.0.0.1', and pass the port as `port`",
      ],
      [
        { allowedHosts: ['https://mcp.example.com'] },
        '`allowedHosts` contains "https://mcp.example.com" ... Write "mcp.example.com"',
      ],
      [{ allowedHosts: ['*'] }, '`allowedHosts` contains "*" ... List each one, such as "mcp.example.com"'],
      [[{ path: 'mcp' }, { path: '/mcp?a' }], '`path` ... Write "/mcp"'],
      [{ path: '' }, '`path` ... out for the default'],
      // the path of Streamable HTTP
      [{ legacySse: { path: '/mcp' } }, '`legacySse.path` ... Choose another path'],
      [{ allowedHost: [] }, 'listen: `allowedHost` ... Write `allowedHosts`'],
      [{ card: 'yes' }, '`card` must be true, false or an object'],
      [{ card: true }, '`card` needs a description. Set `description` of the server, or pass `card: { description }`'],
      [{ card: { nme: 'a/b' } }, 'card: `nme` ... Write `name`'],
      [{ card: { name: 'weather' } }, '`card.name` is \'weather\', but must be ... Write "com.example/weather"'],
      [
        ['/mcp', 'stdio:mcp', 'https:example.com', 'https://example.com/{tenant}'].map((url) => ({ card: { url } })),
        '`card.url` is ... Write "https://mcp.example.com/mcp"',
      ],
      [
        ['https://ada:secret@example.com/mcp', 'https://example.com/?', 'https://example.com/#'].map((url) => ({
          card: { url },
        })),
        '`card.url` must have no credentials ... every client can read it',
      ],
      [{ card: { description: 'x'.repeat(101) } }, '`card.description` has 101 characters ... allows 100. Shorten it'],
      [{ card: { description: ' ' } }, '`card.description` is empty ... Write what the server does'],
      [
        [
          { card: { repository: { url: 'example/weather' } } },
          { card: { repository: { url: 'https://a:b@example.com' } } },
        ],
        '`card.repository.url` must be a URL for browsing, without credentials',
      ],
      [
        { card: { repository: { url: 'https://github.com/example/weather' } } },
        '`card.repository.source` must name the hosting service. Write "github"',
      ],
      [{ card: { headers: [{ name: 'X Key' }] } }, "`card.headers[0].name` is 'X Key' ... the name of a header"],
      [
        { card: { headers: [{ name: 'X-Key', value: 'k1' }] } },
        'card.headers[0]: `value` is not an option ... use one of name, description, isRequired, isSecret',
      ],
      [{ courier: {} }, '`courier` must be an object with the methods `send` and `receive`'],
      [{ courier: { ...courier, node: 'a-b' } }, "`courier.node` is 'a-b' ... another one in each process"],
      [{ courier }, '`courier` needs `sessionStore`'],
    ]),
    ...wrong(
      'a Server Card of new McpServer(…)',
      (given) => listen(serverOf([], { description: 'Forecasts', ...(given as object) }), { port: 0, card: true }),
      [
        [{ description: 'x'.repeat(101) }, '`description` has 101 characters ... `card: { description: "…" }`'],
        [{ title: 'x'.repeat(101) }, '`title` has 101 characters ... Shorten it'],
        [{ websiteUrl: '/about' }, '`websiteUrl` is "/about" ... Write "https://example.com"'],
        [{ websiteUrl: 'ftp://a:b@c' }, '`websiteUrl` is "ftp://a:b@c" ... Write "https://example.com"'],
        [
          [{ version: '^1.2.0' }, { version: '1.x' }, { version: '1'.repeat(256) }],
          '`card` needs an exact version ... Write "1.2.3"',
        ],
        [
          [{ name: '天気' }, { name: 'x'.repeat(101) }],
          '`card` needs a name of up to 100 letters and digits ... `card: { name: "com.example/weather" }`',
        ],
      ],
    ),
    [
      'a Server Card below a wildcard',
      registered((app) =>
        app.register(mcp, { server: serverOf([], { description: 'Forecasts' }), path: '/t/*', card: true }),
      ),
      '`card` can\'t be served below the path "/t/*", which has a wildcard',
    ],
    [
      'a `cluster` whose node has a name of more than 16 characters',
      () => {
        const parts = new MemoryCluster().node();
        const named = { ...parts, courier: { ...parts.courier, node: 'a'.repeat(17) } };
        return listen(serverOf([], { cluster: named, secret: 'x'.repeat(32) }), { port: 0 });
      },
      "`cluster.courier.node` is 'aaaaaaaaaaaaaaaaa' ... another one in each process",
    ],
    [
      '`listen(server)` in a worker of node:cluster, without anything that the workers share',
      async () => {
        const isWorker = Object.getOwnPropertyDescriptor(cluster, 'isWorker') as PropertyDescriptor;
        Object.defineProperty(cluster, 'isWorker', { ...isWorker, value: true });
        try {
          await listen(server, { port: 0 });
        } finally {
          Object.defineProperty(cluster, 'isWorker', isWorker);
        }
      },
      '`secret`, `changeBus`, `sessionStore`, `courier`, `events` are not set ... `decorum start --workers` ... serve each request on its own: `sessions: false`',
    ],
    [
      '`app.register(mcp, server)`',
      registered((app) => app.register(mcp, server as never)),
      'mcp: `options` ... Write `app.register(mcp, { server })`',
    ],
    ['`app.register(mcp)`', registered((app) => app.register(mcp as never)), `mcp: \`server\` ... ${NO_SERVER}`],
    [
      '`app.use(nodeHandler)`, which Express calls with a request',
      () => nodeHandler({ method: 'POST', headers: {} } as never),
      'nodeHandler: `server` is a request ... pass on its result: `nodeHandler(server)`',
    ],
    [
      '`fetchHandler` itself as a route handler',
      () => fetchHandler(new Request('http://localhost/mcp') as never),
      'fetchHandler: `server` is a request ... pass on its result: `fetchHandler(server)`',
    ],
    [
      '`lambdaHandler` itself as the function',
      () => lambdaHandler({ headers: {}, requestContext: {} } as never, { functionName: 'mcp' } as never),
      'lambdaHandler: `server` is a request ... pass on its result: `lambdaHandler(server)`',
    ],
    ...wrong('lambdaHandler(server, …)', (given: object) => lambdaHandler(server, given), [
      [{ deadlineMarginMS: 5 }, 'lambdaHandler: `deadlineMarginMS` is not an option. Write `deadlineMarginMs`'],
      [{ deadlineMarginMs: -1 }, 'lambdaHandler: `deadlineMarginMs` ... from 0 to 600000'],
      [{ sessions: true }, 'lambdaHandler: `sessions` ... serve with `streamingLambdaHandler`'],
      [{ sessionStore: {} }, 'lambdaHandler: `sessionStore` ... serve with `streamingLambdaHandler`'],
      [{ legacySse: true }, 'lambdaHandler: `legacySse` needs a stream that stays open ... '],
      [{ path: 'mcp' }, '@decorum/http: `path` ... Write "/mcp"'],
    ]),
    ...wrong('streamingLambdaHandler(server, …)', (given: object) => streamingLambdaHandler(server, given), [
      [
        { sessions: true },
        'streamingLambdaHandler: `sessions` needs `sessionStore` and `courier` ... or remove `sessions`',
      ],
      [{ sessions: true, sessionStore: {} }, 'streamingLambdaHandler: `sessions` needs `courier` ... '],
      [{ sessionStore: {} }, 'streamingLambdaHandler: `sessionStore` needs sessions. Add `sessions: true`'],
      [{ events: {} }, 'streamingLambdaHandler: `events` has no use ... Remove it'],
    ]),
    [
      '`serveStdio(Shop)` or `connectMemory(Shop)`',
      [undefined, null, {}, McpServer].flatMap((given) => [
        () => serveStdio(given as never, { input: new PassThrough(), output: new PassThrough() }),
        () => connectMemory(given as never, { receive: () => {} }),
      ]),
      NO_SERVER,
    ],
    ...wrong('serveStdio(server, …)', (given: object) => piped(given)(), [
      [{ drainMS: 5 }, 'serveStdio: `drainMS` is not an option. Write `drainMs`'],
      [{ drainMs: '5' }, 'serveStdio: `drainMs` ... from 0 to 2147483647'],
      [{ input: 'in.txt' }, 'serveStdio: `input` ... must be an object'],
      [{ output: {} }, 'serveStdio: `output` ... Pass `process.stdout`, for example'],
      [
        { limits: { maxMessageBytes: 0 } },
        'serveStdio.limits: `maxMessageBytes` is 0, but must be a whole number from 1 to ... ',
      ],
      [{ maxPendingChars: 5 }, 'serveStdio: `maxPendingChars` is not an option. Write `limits: { maxPendingChars }`'],
      // over streams other than those of the process
      [
        { watchdog: true },
        "serveStdio: `watchdog` ends the process with its client, which needs the process's own stdin ... ",
      ],
    ]),
    [
      'two servers on the same pipe',
      async () => {
        const streams = { input: new PassThrough(), output: new PassThrough() };
        const { close } = await serveStdio(server, streams);
        await serveStdio(serverOf([]), streams).finally(close);
      },
      'serveStdio: `input` ... Call `serveStdio` once, with a server that lists all providers',
    ],
    [
      '`connectMemory` without a receiver',
      () => connectMemory(server, {} as never),
      'connectMemory: `receive` ... Pass `{ receive: (message) => … }`',
    ],
    [
      'Node handlers of `auth` without Node requests',
      [() => fetchHandler(server, { auth }), () => lambdaHandler(server, { auth })],
      'andler: `auth` ... Serve with `listen`, `mcp` in Fastify, or `nodeHandler`',
    ],
    [
      'Node handlers of `auth` that no route of Fastify serves',
      registered((app) => app.register(mcp, { server, auth })),
      'such as /token. ... `await app.register(authRoutes(auth))`',
    ],
    [
      'a misspelt handler of the client for tests',
      () => connect(server, { onRoot: () => [] } as never),
      'connect: `onRoot` ... Write `onRoots`',
    ],
    ...withPrincipal(
      [
        [1_795_000_000, Number.NaN, '2026-11-23'].map((expiresAt) => ({ subject: 'ada', scopes: [], expiresAt })),
        'must be in milliseconds since 1970 ... ',
      ],
      [
        [{}, { subject: '' }, { subject: undefined }, { subject: 7 }],
        '`principal.subject` is not the id of a user or client ... ',
      ],
      [
        ['pay', ['pay refund']].map((scopes) => ({ subject: 'ada', scopes })),
        '`principal.scopes` is not an array of scopes ... ',
      ],
      ['ada', '`principal` is "ada", but must be an object ... '],
      [null, '`principal` is null, but must be an object ... '],
      [Promise.resolve({ subject: 'ada' }), '`principal` is a promise. Await it ... '],
    ),
    ...wrong('sanitize(…)', sanitize, [
      [{ text: 5 }, '`text` ... '],
      [{ txt: String }, 'sanitize: `txt` is not an option. Write `text`'],
    ]),
    ...wrong('rateLimit(limiter, …)', (given: object) => rateLimit({ consume: async () => {} }, given), [
      [{ of: 5 }, '`of` ... '],
      [{ off: () => '' }, 'rateLimit: `off` is not an option. Write `of`'],
    ]),
    ['a rate limit without a limiter', () => untyped(rateLimit)({}), 'rateLimit: `limiter` ... for example'],
  ],
  DECORUM_DUPLICATE_ROUTE: [
    [
      'an endpoint or a route at a path of `auth`',
      [
        listening({ auth, path: '/token' }),
        () => nodeHandler(server, { auth, path: '/token' }),
        registered((app) => app.put('/token', async () => 'own').register(authRoutes(auth))),
      ],
      '/token belongs to ... Give one of them another path',
    ],
  ],
  DECORUM_UNSAFE_HOST: [
    ['`host: "0.0.0.0"` without allowedHosts', listening({ host: '0.0.0.0' }), '0.0.0.0 ... or listen on 127.0.0.1'],
  ],
  DECORUM_SERVER_CLOSED: [
    [
      'a server that is closed',
      async () => {
        const closed = serverOf([]);
        await closed.close();
        await listen(closed, { port: 0 });
      },
      'The server is closed ... Create a new one to serve again',
    ],
  ],
};
