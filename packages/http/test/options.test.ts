import { describe, expect, it } from '@jest/globals';
import { type HttpOptions, listen, type ListenOptions, mcp, MemoryEventStore, MemorySessionStore } from '@decorum/http';
import { fetchHandler } from '@decorum/http/fetch';
import { nodeHandler } from '@decorum/http/node';
import fastify from 'fastify';

import { afterwards, createServer, Probe } from './fixture.js';

const authenticate = () => undefined;
const BAD = [
  [{ path: 5 }, '`path` is 5, but must be a path that starts with "/"'],
  [{ path: 'mcp' }, "`path` is 'mcp', but must be a path"],
  [{ allowedHosts: 'mcp.example.com' }, "`allowedHosts` is 'mcp.example.com', but must be an array of strings"],
  [{ allowedHosts: [5] }, '`allowedHosts` is [ 5 ], but must be an array of strings'],
  [
    { allowedOrigins: 'https://app.example.com' },
    "`allowedOrigins` is 'https://app.example.com', but must be an array",
  ],
  [{ legacySse: 'yes' }, '`legacySse` must be true, false or an object with `path` and `messagesPath`'],
  [{ legacySse: { path: 5 } }, '`legacySse.path` is 5, but must be a path'],
  [{ legacySse: { messagesPath: '/mcp' } }, '`legacySse.messagesPath` is "/mcp", which is the path of Streamable HTTP'],
  [{ legacySse: { messagesPath: 'messages' } }, "`legacySse.messagesPath` is 'messages', but must be a path"],
  [{ principal: 5 }, '`principal` must be a function that returns'],
  [{ events: 5 }, '`events` must be false or a store with the methods `append` and `read`'],
  [{ events: true }, '`events` must be false or a store with the methods `append` and `read`'],
  [
    { sessionStore: Object.assign(new MemorySessionStore(), { setIfAnonymous: true }) },
    '`sessionStore.setIfAnonymous` is true, but must be a function',
  ],
  [
    { events: Object.assign(new MemoryEventStore(), { appendBatch: 'yes' }) },
    "`events.appendBatch` is 'yes', but must be a function",
  ],
  [{ credentialHeaders: 'x-my-token' }, "`credentialHeaders` is 'x-my-token', but must be an array of strings"],
  [{ credentialHeaders: ['x my token'] }, "`credentialHeaders` contains 'x my token', but must list header names"],
  [{ credentialHeaders: ['x-my-token:'] }, "`credentialHeaders` contains 'x-my-token:', but must list header names"],
  [{ credentialHeaders: [''] }, "`credentialHeaders` contains '', but must list header names"],
  [{ credentialHeaders: ['x-*'] }, "`credentialHeaders` contains 'x-*', but must list header names"],
  [{ sessions: 'no' }, "`sessions` is 'no', but must be true or false"],
  [{ legacySse: true, sessions: false }, '`legacySse` needs sessions'],
  [{ auth: { authenticate }, principal: () => undefined }, "`auth` can't be combined with `principal`"],
  [{ auth: 5 }, '`auth` must be an object with the method `authenticate`'],
  [{ auth: authenticate }, '`auth` must be an object with the method `authenticate`'],
  [{ auth: { authenticate, scopes: 'mcp' } }, '`auth` has `scopes` that are not a list'],
  [{ auth: { authenticate, scopes: ['a b'] } }, '`auth` has `scopes` that are not a list'],
  [{ auth: { authenticate, challenge: {} } }, '`auth` has a `challenge` that is not a function'],
  [{ auth: { authenticate, opened: {} } }, '`auth` has an `opened` that is not a function'],
  [{ auth: { authenticate, credentialHeaders: ['a b'] } }, '`auth` has `credentialHeaders` that are not'],
  [{ auth: { authenticate, documents: [{ path: 'a' }] } }, '`auth` has `documents` that are not'],
  [{ sessionStore: {} }, '`sessionStore` must be a store with the methods `get`, `set`, `touch` and `delete`'],
] as const;

const failure = (problem: string) => ({
  code: 'DECORUM_INVALID_OPTION',
  message: expect.stringContaining(`@decorum/http: ${problem}`),
});

describe('an invalid option of an endpoint', () => {
  it.each(BAD)('fails at startup: %j', async (options, problem) => {
    const { server } = createServer(new Probe());
    const app = fastify();
    afterwards(() => app.close());
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
    const app = fastify();
    afterwards(() => app.close());
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
    expect(() => nodeHandler(server, options)).toThrow(
      'legacySse: `messagePath` is not an option. Write `messagesPath`.',
    );
  });

  it('does not include those that Fastify adds to its listen options', async () => {
    const options = { port: 0, host: '127.0.0.1' };
    const app = fastify();
    afterwards(() => app.close());
    await app.listen(options);
    const listening = await listen(server, options);
    await listening.close();
  });

  it('does not include those that Fastify passes to plugins', async () => {
    const app = fastify();
    afterwards(() => app.close());
    app.register(mcp, { server, prefix: '/v1', logLevel: 'warn', logSerializers: {} } as never);
    await expect(app.ready()).resolves.toBeDefined();
  });
});

describe('anything but a server', () => {
  const remedy = 'Pass what `new McpServer({ … })` returns.';

  it('cannot be served', async () => {
    const app = fastify();
    afterwards(() => app.close());
    app.register(mcp, {} as never);
    await expect(app.ready()).rejects.toThrow(remedy);
    for (const server of [undefined, {}, Probe]) {
      await expect(listen(server as never, { port: 0 })).rejects.toThrow(remedy);
      expect(() => nodeHandler(server as never)).toThrow(remedy);
      expect(() => fetchHandler(server as never)).toThrow(remedy);
    }
  });
});
