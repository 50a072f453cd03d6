import { PassThrough } from 'node:stream';

import { connectMemory, McpServer, rateLimit, serveStdio } from '@decorum/core';
import { listen, mcp } from '@decorum/http';
import { fetchHandler } from '@decorum/http/fetch';
import { nodeHandler } from '@decorum/http/node';
import { connect } from '@decorum/testing';
import { fastify, type FastifyInstance } from 'fastify';

import { type Mistake, serverOf, untyped } from './table.js';

const server = serverOf([]);

const listening = (options: unknown) => async () => {
  const { close } = await listen(server, (typeof options === 'object' ? { port: 0, ...options } : options) as object);
  await close();
};

const piped = (options: object) => async () => {
  const { close } = await serveStdio(server, { input: new PassThrough(), output: new PassThrough(), ...options });
  await close();
};

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
export const TRANSPORTS: readonly Mistake[] = [
  ['`listen(Shop)`', () => listen(McpServer as never), 'DECORUM_INVALID_OPTION', 'listen: `server`', NO_SERVER],
  [
    '`listen` with a promise of a server',
    () => listen(Promise.resolve(server) as never),
    'DECORUM_INVALID_OPTION',
    'listen: `server`',
    NO_SERVER,
  ],
  ['`listen(server, 3000)`', listening(3000), 'DECORUM_INVALID_OPTION', 'listen: `options`', 'Pass { … }'],
  [
    '`port: Number(undefined)`',
    listening({ port: Number.NaN }),
    'DECORUM_INVALID_OPTION',
    'listen: `port` is NaN',
    'Pass a whole number from 1 to 65535, or 0 for any free port',
  ],
  [
    '`cors: true`, which is not an option of ours',
    listening({ cors: true }),
    'DECORUM_INVALID_OPTION',
    'listen: `cors`',
    'credentialHeaders, port, host, signals',
  ],
  [
    '`host: "http://localhost"`',
    listening({ host: 'http://localhost' }),
    'DECORUM_INVALID_OPTION',
    'listen: `host`',
    "Write '127.0.0.1', and pass the port as `port`",
  ],
  [
    '`host: "localhost:3000"`',
    listening({ host: 'localhost:3000' }),
    'DECORUM_INVALID_OPTION',
    'listen: `host`',
    "Write '127.0.0.1', and pass the port as `port`",
  ],
  [
    '`host: "0.0.0.0"` without allowedHosts',
    listening({ host: '0.0.0.0' }),
    'DECORUM_UNSAFE_HOST',
    '0.0.0.0',
    'or listen on 127.0.0.1',
  ],
  [
    'an allowed host with a scheme',
    listening({ allowedHosts: ['https://mcp.example.com'] }),
    'DECORUM_INVALID_OPTION',
    '`allowedHosts` contains "https://mcp.example.com"',
    'Write "mcp.example.com"',
  ],
  [
    'all hosts',
    listening({ allowedHosts: ['*'] }),
    'DECORUM_INVALID_OPTION',
    '`allowedHosts` contains "*"',
    'List each one, such as "mcp.example.com"',
  ],
  ['`path: "mcp"`', listening({ path: 'mcp' }), 'DECORUM_INVALID_OPTION', '`path`', 'Write "/mcp"'],
  ['`path: "/mcp?a"`', listening({ path: '/mcp?a' }), 'DECORUM_INVALID_OPTION', '`path`', 'Write "/mcp"'],
  ...(['/café', '/a"b', '/mc%70', '/a%2fb', '/100%', '/./mcp', '/a\\b'] as const).flatMap((path): Mistake[] => {
    const sent = new URL(path.replace('%70', 'p').replace('2f', '2F').replace(/%$/, '%25'), 'http://a').pathname;
    const remedy = `Write "${sent}"`;
    const mistake = (name: string, start: () => unknown): Mistake => [
      `\`${name}: "${path}"\``,
      start,
      'DECORUM_INVALID_OPTION',
      `\`${name}\` is "${path}", but clients send`,
      remedy,
    ];
    return [
      mistake('path', listening({ path })),
      mistake('legacySse.path', listening({ legacySse: { path } })),
      mistake('legacySse.messagesPath', () => nodeHandler(server, { legacySse: { messagesPath: path } })),
      mistake('path', () => fetchHandler(server, { path })),
    ];
  }),
  ['an empty path for `listen`', listening({ path: '' }), 'DECORUM_INVALID_OPTION', '`path`', 'out for the default'],
  [
    'HTTP+SSE at the path of Streamable HTTP',
    listening({ legacySse: { path: '/mcp' } }),
    'DECORUM_INVALID_OPTION',
    '`legacySse.path`',
    'Choose another path',
  ],
  [
    '`allowedHost`',
    listening({ allowedHost: [] }),
    'DECORUM_INVALID_OPTION',
    'listen: `allowedHost`',
    'Write `allowedHosts`',
  ],
  [
    'a server that is closed',
    async () => {
      const closed = serverOf([]);
      await closed.close();
      await listen(closed, { port: 0 });
    },
    'DECORUM_SERVER_CLOSED',
    'The server is closed',
    'Create a new one to serve again',
  ],
  [
    '`app.register(mcp, server)`',
    registered((app) => app.register(mcp, server as never)),
    'DECORUM_INVALID_OPTION',
    'mcp: `options`',
    'Write `app.register(mcp, { server })`',
  ],
  [
    '`app.register(mcp)`',
    registered((app) => app.register(mcp as never)),
    'DECORUM_INVALID_OPTION',
    'mcp: `server`',
    NO_SERVER,
  ],
  [
    '`app.use(nodeHandler)`, which Express calls with a request',
    () => nodeHandler({ method: 'POST', headers: {} } as never),
    'DECORUM_INVALID_OPTION',
    'nodeHandler: `server` is a request',
    'pass on its result: `nodeHandler(server)`',
  ],
  [
    '`fetchHandler` itself as a route handler',
    () => fetchHandler(new Request('http://localhost/mcp') as never),
    'DECORUM_INVALID_OPTION',
    'fetchHandler: `server` is a request',
    'pass on its result: `fetchHandler(server)`',
  ],
  ['`serveStdio(Shop)`', () => serveStdio(McpServer as never), 'DECORUM_INVALID_OPTION', 'serveStdio', NO_SERVER],
  [
    '`drainMs: "5"`',
    piped({ drainMs: '5' }),
    'DECORUM_INVALID_OPTION',
    'serveStdio: `drainMs`',
    'from 0 to 2147483647',
  ],
  [
    'a file name as input of `serveStdio`',
    piped({ input: 'in.txt' }),
    'DECORUM_INVALID_OPTION',
    'serveStdio: `input`',
    'must be an object',
  ],
  [
    'a readable stream as output of `serveStdio`',
    piped({ output: {} }),
    'DECORUM_INVALID_OPTION',
    'serveStdio: `output`',
    'Pass `process.stdout`, for example',
  ],
  [
    'two servers on the same pipe',
    async () => {
      const streams = { input: new PassThrough(), output: new PassThrough() };
      const { close } = await serveStdio(server, streams);
      await serveStdio(serverOf([]), streams).finally(close);
    },
    'DECORUM_INVALID_OPTION',
    'serveStdio: `input`',
    'Call `serveStdio` once, with a server that lists all providers',
  ],
  [
    '`connectMemory` without a receiver',
    () => connectMemory(server, {} as never),
    'DECORUM_INVALID_OPTION',
    'connectMemory: `receive`',
    'Pass `{ receive: (message) => … }`',
  ],
  [
    'a misspelt handler of the client for tests',
    () => connect(server, { onRoot: () => [] } as never),
    'DECORUM_INVALID_OPTION',
    'connect: `onRoot`',
    'Write `onRoots`',
  ],
  [
    'a rate limit without a limiter',
    () => untyped(rateLimit)({}),
    'DECORUM_INVALID_OPTION',
    'rateLimit: `limiter`',
    'for example',
  ],
];
