// The options of endpoints, and the tables of the documentation that state them.
import { readFileSync } from 'node:fs';

import { describe, expect, it } from '@jest/globals';
import { DEFAULT_LIMITS } from '@decorum/core/internal';
import { type HttpOptions, listen, type ListenOptions, mcp } from '@decorum/http';
import { fetchHandler } from '@decorum/http/fetch';
import { nodeHandler } from '@decorum/http/node';
import fastify from 'fastify';

import { credentialHeaders } from '../src/auth/credentials.js';
import { LISTEN_LIMITS, resolveLimits } from '../src/endpoint/limits.js';
import { afterwards, createServer, Probe } from './fixture.js';

const authenticate = () => undefined;
/** A store with all required methods, and one that is no function. */
const storeWith = (method: string) => ({
  get() {},
  set() {},
  touch() {},
  delete() {},
  append() {},
  read() {},
  [method]: 'yes',
});
const courierAt = (node: string) => ({ node, send() {}, receive() {} });
const BAD = [
  [{ path: 5 }, '`path` is 5, but must be a path that starts with "/"'],
  [{ path: 'mcp' }, "`path` is 'mcp', but must be a path"],
  [{ allowedHosts: 'mcp.example.com' }, "`allowedHosts` is 'mcp.example.com', but must be an array of strings"],
  [{ allowedHosts: [5] }, '`allowedHosts` is [ 5 ], but must be an array of strings'],
  [{ allowedOrigins: 'https://a.example' }, "`allowedOrigins` is 'https://a.example', but must be an array"],
  [{ legacySse: 'yes' }, '`legacySse` must be true, false or an object with `path` and `messagesPath`'],
  [{ legacySse: { path: 5 } }, '`legacySse.path` is 5, but must be a path'],
  [{ legacySse: { messagesPath: '/mcp' } }, '`legacySse.messagesPath` is "/mcp", which is the path of Streamable HTTP'],
  [{ legacySse: { messagesPath: 'messages' } }, "`legacySse.messagesPath` is 'messages', but must be a path"],
  [{ principal: 5 }, '`principal` must be a function that returns'],
  [{ events: 5 }, '`events` must be false or a store with the methods `append` and `read`'],
  [{ events: true }, '`events` must be false or a store with the methods `append` and `read`'],
  [{ events: storeWith('appendBatch') }, "`events.appendBatch` is 'yes', but must be a function"],
  [{ credentialHeaders: 'x-my-token' }, "`credentialHeaders` is 'x-my-token', but must be an array of strings"],
  ...['x my token', 'x-my-token:', '', 'x-*'].map(
    (name) =>
      [{ credentialHeaders: [name] }, `\`credentialHeaders\` contains '${name}', but must list header names`] as const,
  ),
  [{ sessions: 'no' }, "`sessions` is 'no', but must be true or false"],
  [{ legacySse: true, sessions: false }, '`legacySse` needs sessions'],
  [{ auth: { authenticate }, principal: () => undefined }, "`auth` can't be combined with `principal`"],
  [{ auth: 5 }, '`auth` must be an object with the method `authenticate`'],
  [{ auth: authenticate }, '`auth` must be an object with the method `authenticate`'],
  [{ auth: { authenticate, scopes: 'mcp' } }, '`auth` has `scopes` that are not a list'],
  [{ auth: { authenticate, scopes: ['a b'] } }, '`auth` has `scopes` that are not a list'],
  [{ auth: { authenticate, challenge: {} } }, '`auth` has a `challenge` that is not a function'],
  [{ auth: { authenticate, opened: {} } }, '`auth` has an `opened` that is not a function'],
  [{ auth: { authenticate, closed: {} } }, '`auth` has a `closed` that is not a function'],
  [{ auth: { authenticate, credentialHeaders: ['a b'] } }, '`auth` has `credentialHeaders` that are not'],
  [{ auth: { authenticate, documents: [{ path: 'a' }] } }, '`auth` has `documents` that are not'],
  ...[
    {},
    { paths: ['/token'] },
    ...['token', '/a?b', '/a/../b', '/:id', '/x/*'].map((path) => ({ paths: [path], handle() {} })),
  ].map(
    (mount) => [{ auth: { authenticate, mount } }, '`auth` has a `mount` without the method `handle`, or'] as const,
  ),
  [
    { auth: { authenticate, documents: [{ path: '/a', answer() {} }], mount: { paths: ['/a'], handle() {} } } },
    '`auth` serves "/a" as a document and in its `mount`. Remove one of them',
  ],
  [{ auth: { authenticate, allowedHosts: ['https://a'] } }, '`auth` has `allowedHosts` that are not a list of hosts'],
  [{ sessionStore: {} }, '`sessionStore` must be a store with the methods `get`, `set`, `touch` and `delete`'],
  [{ courier: {} }, '`courier` must be an object with the methods `send` and `receive`'],
  [{ courier: courierAt('a b') }, "`courier.node` is 'a b', but must be 1 to 16 letters and digits"],
  [{ courier: courierAt('a'.repeat(17)) }, '`courier.node` is'],
  [{ courier: courierAt('a') }, '`courier` needs `sessionStore`'],
] as const;

const failure = (problem: string) => ({
  code: 'DECORUM_INVALID_OPTION',
  message: expect.stringContaining(`@decorum/http: ${problem}`),
});

/** An application that is closed at the end of the test. */
function createApp() {
  const app = fastify();
  afterwards(() => app.close());
  return app;
}

describe('an invalid option of an endpoint', () => {
  it.each(BAD)('fails at startup: %j', async (options, problem) => {
    const { server } = createServer(new Probe());
    const app = createApp();
    app.register(mcp, { server, ...(options as unknown as HttpOptions) });
    await expect(app.ready()).rejects.toMatchObject(failure(problem));
    const started = listen(server, { port: 0, ...(options as unknown as ListenOptions) });
    await expect(started).rejects.toMatchObject(failure(problem));
  });

  it('fails at startup of listen: signals', async () => {
    const started = listen(createServer(new Probe()).server, { signals: 'x' as never });
    await expect(started).rejects.toMatchObject(failure("`signals` is 'x', but must be true or false"));
  });
});

describe('an unknown option', () => {
  const { server } = createServer(new Probe());
  const untyped = (options: object) => options as never;
  const misspelt = (where: string) => ({
    code: 'DECORUM_INVALID_OPTION',
    message: expect.stringContaining(`${where}: \`allowedHost\` is not an option. Write \`allowedHosts\`.`),
  });

  it('makes listen and the plugin fail with a suggestion', async () => {
    const options = untyped({ port: 0, allowedHost: ['mcp.example.com'] });
    await expect(listen(server, options)).rejects.toMatchObject(misspelt('listen'));
    await expect(listen(server, untyped({ prot: 1 }))).rejects.toThrow('`prot` is not an option. Write `port`.');
    await expect(listen(server, null as never)).rejects.toThrow('listen: `options` must be an object');
    const app = createApp();
    app.register(mcp, untyped({ server, allowedHost: [] }));
    await expect(app.ready()).rejects.toMatchObject(misspelt('mcp'));
  });

  it('makes the handlers throw with a suggestion', () => {
    const options = untyped({ allowedHost: [] });
    expect(() => nodeHandler(server, options)).toThrow(expect.objectContaining(misspelt('nodeHandler')));
    expect(() => fetchHandler(server, options)).toThrow(expect.objectContaining(misspelt('fetchHandler')));
    expect(() => nodeHandler(server, untyped({ port: 1 }))).toThrow('nodeHandler: `port` is not an option.');
  });

  it('is detected in legacySse too', () => {
    const options = untyped({ legacySse: { messagePath: '/in' } });
    const problem = 'legacySse: `messagePath` is not an option. Write `messagesPath`.';
    expect(() => nodeHandler(server, options)).toThrow(problem);
  });

  it('does not include those that Fastify adds to its listen options', async () => {
    const options = { port: 0, host: '127.0.0.1' };
    const app = createApp();
    await app.listen(options);
    await (await listen(server, options)).close();
  });

  it('does not include those that Fastify passes to plugins', async () => {
    const app = createApp();
    app.register(mcp, { server, prefix: '/v1', logLevel: 'warn', logSerializers: {} } as never);
    await expect(app.ready()).resolves.toBeDefined();
  });
});

describe('anything but a server', () => {
  const remedy = 'Pass what `new McpServer({ … })` returns.';

  it('cannot be served', async () => {
    const app = createApp();
    app.register(mcp, {} as never);
    await expect(app.ready()).rejects.toThrow(remedy);
    for (const server of [undefined, {}, Probe]) {
      await expect(listen(server as never, { port: 0 })).rejects.toThrow(remedy);
      expect(() => nodeHandler(server as never)).toThrow(remedy);
      expect(() => fetchHandler(server as never)).toThrow(remedy);
    }
  });
});

const pageOf = (name: string) => readFileSync(new URL(`../../../docs/${name}.md`, import.meta.url), 'utf8');

const text = pageOf('operate/limits');
const table = text.slice(text.indexOf('## All limits'), text.indexOf('## What the server keeps'));

/** The rows of the options: where each is set, and its default. */
const rows = new Map(
  Array.from(table.matchAll(/^\| `(\w+)` \| ([^|]+) \| ([^|]+) \|/gm), ([, name, place, value]) => [
    name as string,
    { place: place as string, value: value as string },
  ]),
);

const numberIn = (name: string) => Number(/^[\d,]+/.exec(rows.get(name)?.value ?? '')?.[0].replaceAll(',', ''));

describe('The table of limits', () => {
  it.each([
    ['a server', '`McpServer`', DEFAULT_LIMITS],
    ['an endpoint', 'endpoint', resolveLimits()],
    ['`listen`', '`listen`', LISTEN_LIMITS],
  ])('has all limits of %s, with their defaults', (_what, place, limits) => {
    const names = [...rows].filter(([, row]) => row.place === place).map(([name]) => name);
    expect(Object.fromEntries(names.map((name) => [name, numberIn(name)]))).toEqual(limits);
  });

  it('says how the caps on unfinished bodies follow from `bodyLimit`', () => {
    const caps = { maxUnfinishedBytes: 16, maxUnfinishedBytesPerAddress: 4 };
    for (const [name, factor] of Object.entries(caps)) {
      expect(rows.get(name)?.value).toContain(`, or ${factor} times \`bodyLimit\` if that is more`);
      const least = numberIn(name) / factor;
      for (const bodyLimit of [1, least, least + 1]) {
        expect(resolveLimits({ bodyLimit })).toMatchObject({ [name]: Math.max(numberIn(name), factor * bodyLimit) });
      }
    }
  });
});

describe('the headers that handlers do not see', () => {
  it('are those that docs/reference/http.md lists', () => {
    const section = pageOf('reference/http').split('### Headers that handlers').at(1)?.split('\n#').at(0) ?? '';
    const lines = section.split('\n').filter((line) => line.startsWith('| ') && !line.startsWith('| what'));
    const listed = lines.flatMap((row) => [...row.matchAll(/`([^`]+)`/g)].map(([, name]) => name));
    expect([...credentialHeaders([])].sort()).toEqual(listed.sort());
  });

  it('are compared in lower case', () => {
    expect(credentialHeaders(['X-My-Token']).has('x-my-token')).toBe(true);
  });
});
