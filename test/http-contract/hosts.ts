// Everything that can host an MCP endpoint over HTTP. A new binding is a row here, and must pass the suite beside it.
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

import type { McpServer, Principal } from '@decorum/core';
import { type Authenticate, type HttpOptions, listen, mcp } from '@decorum/http';
import { fetchHandler } from '@decorum/http/fetch';
import { nodeHandler } from '@decorum/http/node';
import express from 'express';
import fastify from 'fastify';

import { bridge } from './fetch-bridge.js';

/** Reads one header of a request, in whatever form the host has it. */
export type HeaderReader = (name: string) => string | undefined;

/** The options of an endpoint that all hosts have. */
export interface HostOptions extends Omit<HttpOptions<unknown>, 'path' | 'principal' | 'authenticate'> {
  /** Who is calling. Each host hands its own kind of request to the option of this name. */
  readonly principal?: (header: HeaderReader) => Principal | undefined;
  readonly authenticate?: Authenticate<unknown>;
}

/** An endpoint that is served. */
export interface Hosted {
  /** Of the endpoint, whose path is `/mcp`. Those of HTTP+SSE are `/sse` and `/messages` beside it. */
  readonly url: string;
  /** Closes the endpoint and whatever listens; the server stays open. */
  close(): Promise<void>;
}

/** One way to host an endpoint. */
export interface HttpHost {
  readonly name: string;
  /**
   * Who listens. Where it is the host itself, connections are refused after `server.close()`. An application goes on
   * listening: the endpoint answers with 503, and the route `/health` of the application as ever.
   */
  readonly listener: 'host' | 'application';
  /** Serves MCP on a free port of the loopback interface. */
  serve(server: McpServer, options: HostOptions): Promise<Hosted>;
}

const LOOPBACK = { port: 0, host: '127.0.0.1' };
const PATH = '/mcp';
const HEALTH = '/health';

/** The option `principal` of hosts whose requests have their headers in an object. */
function byFields(principal: HostOptions['principal']) {
  type Fields = Readonly<Record<string, string | string[] | undefined>>;
  return principal && { principal: ({ headers }: { headers: Fields }) => principal((name) => headers[name] as string) };
}

/** The option `principal` of hosts whose requests are those of the Fetch API. */
function byHeaders(principal: HostOptions['principal']) {
  return principal && { principal: ({ headers }: Request) => principal((name) => headers.get(name) ?? undefined) };
}

const listening: HttpHost = {
  name: 'listen',
  listener: 'host',
  serve: async (server, { principal, ...options }) =>
    await listen(server, { ...options, ...byFields(principal), ...LOOPBACK, signals: false }),
};

const plugin: HttpHost = {
  name: 'the Fastify plugin',
  listener: 'application',
  async serve(server, { principal, ...options }) {
    const app = fastify({ forceCloseConnections: true });
    app.get(HEALTH, async () => 'healthy');
    await app.register(mcp, { ...options, ...byFields(principal), server });
    await app.listen(LOOPBACK);
    return { url: urlOf(app.server), close: async () => await app.close() };
  },
};

const plainNode: HttpHost = {
  name: 'node:http',
  listener: 'application',
  async serve(server, { principal, ...options }) {
    const handler = nodeHandler(server, { ...options, ...byFields(principal), path: PATH });
    return await listenOn(handler, (incoming, outgoing) => {
      if (incoming.url === HEALTH) outgoing.end('healthy');
      else handler(incoming, outgoing);
    });
  },
};

const inExpress: HttpHost = {
  name: 'Express',
  listener: 'application',
  async serve(server, { principal, ...options }) {
    const app = express();
    app.get(HEALTH, (_request, response) => void response.send('healthy'));
    // HTTP+SSE has paths of its own, so that the handler must see them all
    const isMounted = options.legacySse === undefined;
    const handler = nodeHandler(server, { ...options, ...byFields(principal), ...(!isMounted && { path: PATH }) });
    app.use(isMounted ? PATH : '/', handler);
    return await listenOn(handler, app);
  },
};

const fetching: HttpHost = {
  name: 'the fetch handler',
  listener: 'application',
  async serve(server, { principal, ...options }) {
    const handler = fetchHandler(server, { ...options, ...byHeaders(principal), path: PATH });
    return await listenOn(
      handler,
      bridge(async (request, info) =>
        new URL(request.url).pathname === HEALTH ? new Response('healthy') : await handler(request, info),
      ),
    );
  },
};

/** Serves requests by `node:http`, once a handler is ready. */
async function listenOn(
  handler: { readonly ready: Promise<void>; close(): Promise<void> },
  listener: RequestListener,
): Promise<Hosted> {
  await handler.ready;
  const server = createServer(listener).listen(LOOPBACK);
  await once(server, 'listening');
  return {
    url: urlOf(server),
    async close() {
      await handler.close();
      await closeServer(server);
    },
  };
}

/** Milliseconds that clients get to hang up. */
const PATIENCE_MS = 200;

/** Closes as applications do: at first in peace, and then without those that keep silent connections. */
async function closeServer(server: Server): Promise<void> {
  if (!server.listening) return;
  const closed = once(server, 'close');
  server.close();
  const timer = setTimeout(() => server.closeAllConnections(), PATIENCE_MS);
  await closed;
  clearTimeout(timer);
}

function urlOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}${PATH}`;
}

/** All hosts. */
export const HOSTS: readonly HttpHost[] = [listening, plugin, plainNode, inExpress, fetching];
