import { PassThrough } from 'node:stream';

import { connectMemory, McpServer, rateLimit, sanitize, serveStdio } from '@decorum/core';
import { listen, mcp } from '@decorum/http';
import { fetchHandler } from '@decorum/http/fetch';
import { nodeHandler } from '@decorum/http/node';
import { connect } from '@decorum/testing';
import { fastify, type FastifyInstance } from 'fastify';

import { type Mistake, type Mistakes, serverOf, untyped } from './table.js';

const server = serverOf([]);

const listening = (options: unknown) => async () => {
  const { close } = await listen(server, (typeof options === 'object' ? { port: 0, ...options } : options) as object);
  await close();
};

const piped = (options: object) => async () => {
  const { close } = await serveStdio(server, { input: new PassThrough(), output: new PassThrough(), ...options });
  await close();
};

/** Opens connections of a caller like this. */
const withPrincipal = (principal: unknown) => [
  piped({ principal }),
  () => connectMemory(serverOf([]), { receive: () => {}, principal } as never),
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
    [
      '`port: Number(undefined)`',
      listening({ port: Number.NaN }),
      'listen: `port` is NaN ... Pass a whole number from 1 to 65535, or 0 for any free port',
    ],
    [
      '`cors: true`, which is not an option of ours',
      listening({ cors: true }),
      'listen: `cors` ... credentialHeaders, port, host, signals',
    ],
    [
      '`host: "http://localhost"` or "localhost:3000"',
      [listening({ host: 'http://localhost' }), listening({ host: 'localhost:3000' })],
      "listen: `host` ... Write '127.0.0.1', and pass the port as `port`",
    ],
    [
      'an allowed host with a scheme',
      listening({ allowedHosts: ['https://mcp.example.com'] }),
      '`allowedHosts` contains "https://mcp.example.com" ... Write "mcp.example.com"',
    ],
    [
      'all hosts',
      listening({ allowedHosts: ['*'] }),
      '`allowedHosts` contains "*" ... List each one, such as "mcp.example.com"',
    ],
    [
      '`path: "mcp"` or "/mcp?a"',
      [listening({ path: 'mcp' }), listening({ path: '/mcp?a' })],
      '`path` ... Write "/mcp"',
    ],
    ['an empty path for `listen`', listening({ path: '' }), '`path` ... out for the default'],
    [
      'HTTP+SSE at the path of Streamable HTTP',
      listening({ legacySse: { path: '/mcp' } }),
      '`legacySse.path` ... Choose another path',
    ],
    ['`allowedHost`', listening({ allowedHost: [] }), 'listen: `allowedHost` ... Write `allowedHosts`'],
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
      '`serveStdio(Shop)` or `connectMemory(Shop)`',
      [undefined, null, {}, McpServer].flatMap((given) => [
        () => serveStdio(given as never, { input: new PassThrough(), output: new PassThrough() }),
        () => connectMemory(given as never, { receive: () => {} }),
      ]),
      NO_SERVER,
    ],
    [
      'a misspelt option of `serveStdio`',
      piped({ drainMS: 5 }),
      'serveStdio: `drainMS` is not an option. Write `drainMs`',
    ],
    ['`drainMs: "5"`', piped({ drainMs: '5' }), 'serveStdio: `drainMs` ... from 0 to 2147483647'],
    ['a file name as input of `serveStdio`', piped({ input: 'in.txt' }), 'serveStdio: `input` ... must be an object'],
    [
      'a readable stream as output of `serveStdio`',
      piped({ output: {} }),
      'serveStdio: `output` ... Pass `process.stdout`, for example',
    ],
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
      'a misspelt handler of the client for tests',
      () => connect(server, { onRoot: () => [] } as never),
      'connect: `onRoot` ... Write `onRoots`',
    ],
    [
      'a limit out of range',
      piped({ limits: { maxMessageBytes: 0 } }),
      'serveStdio.limits: `maxMessageBytes` is 0, but must be a whole number from 1 to ... ',
    ],
    [
      'a limit among the options',
      piped({ maxPendingChars: 5 }),
      'serveStdio: `maxPendingChars` is not an option. Write `limits: { maxPendingChars }`',
    ],
    [
      'a watchdog over streams other than those of the process (#22)',
      piped({ watchdog: true }),
      "serveStdio: `watchdog` ends the process with its client, which needs the process's own stdin ... ",
    ],
    [
      'a principal whose `expiresAt` is not milliseconds (#22)',
      [1_795_000_000, Number.NaN, '2026-11-23'].flatMap((expiresAt) =>
        withPrincipal({ subject: 'ada', scopes: [], expiresAt }),
      ),
      'must be in milliseconds since 1970 ... ',
    ],
    [
      'a principal without the id of a user',
      [{}, { subject: '' }, { subject: undefined }, { subject: 7 }].flatMap(withPrincipal),
      '`principal.subject` is not the id of a user or client ... ',
    ],
    [
      'a principal whose scopes are no list of scopes',
      [
        { subject: 'ada', scopes: 'pay' },
        { subject: 'ada', scopes: ['pay refund'] },
      ].flatMap(withPrincipal),
      '`principal.scopes` is not an array of scopes ... ',
    ],
    ['a text as principal', withPrincipal('ada'), '`principal` is "ada", but must be an object ... '],
    ['null as principal', withPrincipal(null), '`principal` is null, but must be an object ... '],
    [
      'a promise as principal',
      withPrincipal(Promise.resolve({ subject: 'ada' })),
      '`principal` is a promise. Await it ... ',
    ],
    ['a `text` of `sanitize` that is no function', () => sanitize({ text: 5 as never }), '`text` ... '],
    [
      'a key of `rateLimit` that is no function',
      () => rateLimit({ consume: async () => {} }, { of: 5 as never }),
      '`of` ... ',
    ],
    [
      'a misspelt option of `rateLimit`',
      () => rateLimit({ consume: async () => {} }, { off: () => '' } as object),
      'rateLimit: `off` is not an option. Write `of`',
    ],
    [
      'a misspelt option of `sanitize`',
      () => sanitize({ txt: String } as object),
      'sanitize: `txt` is not an option. Write `text`',
    ],
    ['a rate limit without a limiter', () => untyped(rateLimit)({}), 'rateLimit: `limiter` ... for example'],
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
