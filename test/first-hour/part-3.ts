import { PassThrough } from 'node:stream';

import { McpServer, Resource, sanitize, serveStdio, Tool } from '@decorum/core';
import { listen } from '@decorum/http';
import { fetchHandler } from '@decorum/http/fetch';
import { connect } from '@decorum/testing';
import { expect } from '@jest/globals';

import { type Behaviour, codeOf, serverOf, untyped } from './table.js';

class Clock {
  @Tool() now() {
    return 'noon';
  }

  @Resource('clock://now') face() {
    return 'noon';
  }
}

/** The warnings that a server logs while something happens. */
async function warnings(happen: (server: McpServer) => Promise<unknown>): Promise<string[]> {
  const logged: string[] = [];
  const logger = { warn: (_details: object, message: string) => void logged.push(message), error() {} };
  await happen(serverOf([Clock], { logger }));
  return logged;
}

/** The errors that a server with these options logs while something happens. */
async function errors(options: object, happen: (server: McpServer) => Promise<unknown>): Promise<string[]> {
  const logged: string[] = [];
  const error = (details: { readonly err?: Error }) => void logged.push(details.err?.message ?? '');
  await happen(serverOf([Clock], { ...options, logger: { warn() {}, error } }));
  return logged;
}

const ask = (host: string) => new Request(`http://${host}/mcp`, { method: 'POST', headers: { host } });

/** Part 3: messages at startup say what to do. Startup errors are in the tables of mistakes. */
export const PART_3: readonly Behaviour[] = [
  [
    'A refused Host is logged once, with the value to allow.',
    () =>
      warnings(async (server) => {
        const handle = fetchHandler(server);
        await handle.ready;
        await handle(ask('mcp.example.com:8080'), { localPort: 3000 });
        await handle(ask('mcp.example.com:8080'), { localPort: 3000 });
      }),
    [expect.stringContaining("add it: `allowedHosts: ['mcp.example.com']`")],
  ],
  [
    'The port that a container maps is named too.',
    () =>
      warnings(async (server) => {
        const handle = fetchHandler(server);
        await handle.ready;
        await handle(ask('localhost:8080'), { localPort: 3000 });
      }),
    [expect.stringContaining("add it: `allowedHosts: ['localhost:8080']`")],
  ],
  [
    'A class with resources is served twice with prefixes for names and URIs.',
    async () => {
      const client = await connect(serverOf([Clock, { provider: Clock, prefix: 'eu_', uriPrefix: 'eu+' }]));
      return (await client.listResources()).map(({ uri }) => uri);
    },
    ['clock://now', 'eu+clock://now'],
  ],
  [
    'A class of another realm is served.',
    async () => {
      const { runInNewContext } = await import('node:vm');
      const Foreign = runInNewContext('(class Foreign { now() { return "noon"; } })') as typeof Clock;
      const { prototype } = Foreign;
      untyped<(...place: unknown[]) => void>(Tool)()(
        prototype,
        'now',
        Object.getOwnPropertyDescriptor(prototype, 'now'),
      );
      return (await (await connect(serverOf([Foreign]))).callTool('now')).content;
    },
    [{ type: 'text', text: 'noon' }],
  ],
  [
    'A port that is taken is named, with what to pass instead.',
    async () => {
      const { port, close } = await listen(serverOf([]), { port: 0 });
      try {
        await listen(serverOf([]), { port });
        return 'nothing failed';
      } catch (error) {
        const { code, message } = error as Error & { code: string };
        return [code, message.endsWith(`port ${port}. Pass another \`port\` to listen, or 0 for any that is free`)];
      } finally {
        await close();
      }
    },
    ['EADDRINUSE', true],
  ],
  [
    'A port may be the digits of an environment variable.',
    async () => {
      const { port, close } = await listen(serverOf([]), { port: '0' as unknown as number });
      await close();
      return port > 0;
    },
    true,
  ],
  [
    'A request that is not one of the web is refused, with what to pass in Hono.',
    () =>
      untyped<Promise<unknown>>(fetchHandler(serverOf([])))({ req: { raw: {} } }).catch(
        (error: Error) => error.message,
      ),
    expect.stringContaining('In Hono, pass `c.req.raw`.'),
  ],
  [
    'An `access` that returns a reason admits nobody, and the log says what to return.',
    () =>
      errors({}, async (server) => {
        server.addTool({ name: 'buy', access: (() => 'members only') as never }, () => '');
        await (await connect(server)).listTools();
      }),
    [expect.stringContaining('`access` must return true or false')],
  ],
  [
    'A `principal` that is a promise fails the request, and the log says what to write.',
    () =>
      errors({}, async (server) => {
        const handle = fetchHandler(server, { principal: (() => Promise.resolve({ subject: 'ada' })) as never });
        await handle.ready;
        const message = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' });
        const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
        await handle(new Request('http://localhost:3000/mcp', { method: 'POST', headers, body: message }));
      }),
    [expect.stringContaining('Use `auth` for promises.')],
  ],
  [
    'A change of a resource without a URI is an error.',
    () => codeOf(() => untyped(serverOf([Clock]).notify.resourceUpdated)()),
    undefined,
  ],
  [
    'One server may be served on two pipes at a time, and again on one that is over.',
    async () => {
      const server = serverOf([Clock]);
      const streams = () => ({ input: new PassThrough(), output: new PassThrough() });
      const again = streams();
      for (const each of [await serveStdio(server, again), await serveStdio(server, streams())]) await each.close();
      const { close } = await serveStdio(server, again);
      await close();
      return 'served';
    },
    'served',
  ],
  [
    'An interceptor that was not made is named in the log of the first call.',
    () => errors({ interceptors: [sanitize] }, async (server) => await (await connect(server)).callTool('now')),
    [expect.stringContaining('Write `interceptors: [sanitize()]`')],
  ],
];
