// All HTTP hosts of an MCP endpoint. Add a row for a new binding; it must pass this suite.
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createHttp2Server } from 'node:http2';
import type { AddressInfo } from 'node:net';

import type { McpServer, Principal } from '@decorum/core';
import { AUTH, type AuthOption, authRoutes, type HttpOptions, listen, mcp, type McpPluginOptions } from '@decorum/http';
import { fetchHandler } from '@decorum/http/fetch';
import { nodeHandler } from '@decorum/http/node';
import { type HttpBindings, serve as serveHono } from '@hono/node-server';
import compression from 'compression';
import express from 'express';
// @ts-expect-error -- its types are those of Express 5
import express4 from 'express-4';
import fastify from 'fastify';
import helmet from 'helmet';
import { Hono } from 'hono';

import { bridge } from './bridges.js';
import { type Behind, openFront } from './bridges.js';

/** Reads one header of a request of the host. */
export type HeaderReader = (name: string) => string | undefined;

/** Endpoint options that all hosts support. */
export interface HostOptions extends Omit<HttpOptions<unknown>, 'path' | 'principal' | 'auth'> {
  /** Returns the caller. Each host passes its own kind of request to its option `principal`. */
  readonly principal?: (header: HeaderReader) => Principal | undefined;
  readonly auth?: AuthOption;
}

/** A served endpoint. */
export interface Hosted {
  /** URL of the endpoint with the path `/mcp`. HTTP+SSE uses `/sse` and `/messages`. */
  readonly url: string;
  /** Closes the endpoint and the listening server. The MCP server stays open. */
  close(): Promise<void>;
}

/** Beginnings of sentences of this suite that don't hold for a host, each with the reason. */
type Exceptions = Readonly<Record<string, string>>;

/** One way to host an endpoint. */
export interface HttpHost {
  readonly name: string;
  /**
   * Owner of the port. If it is the host itself, connections are refused after `server.close()`. An application keeps
   * listening: the endpoint answers 503, and its route `/health` still works.
   */
  readonly listener: 'host' | 'application';
  /** Sentences of this suite that don't hold for this host, each with the reason. */
  readonly exceptions?: Exceptions;
  /** Serves MCP on a free loopback port. */
  serve(server: McpServer, options: HostOptions): Promise<Hosted>;
}

const LOOPBACK = { port: 0, host: '127.0.0.1' };
const PATH = '/mcp';
const HEALTH = '/health';

/** The option `principal` for hosts whose requests have a headers object. */
function byFields(principal: HostOptions['principal']) {
  type Fields = Readonly<Record<string, string | string[] | undefined>>;
  return principal && { principal: ({ headers }: { headers: Fields }) => principal((name) => headers[name] as string) };
}

/** The option `principal` for hosts with Fetch API requests. */
function byHeaders(principal: HostOptions['principal']) {
  return principal && { principal: ({ headers }: Request) => principal((name) => headers.get(name) ?? undefined) };
}

const NOT_JSON = 'the parser rejects bodies that are not JSON, and the application words its errors';
const NO_LIMITS = 'the parser reads bodies within its own limits, and before the handler sees the request';

/** Decisions that a body parser makes before the handler sees the request. To avoid them, mount the handler first. */
const PARSED: Exceptions = {
  'rejects a body that is not a JSON-RPC message': NOT_JSON,
  'is JSON if the request is rejected': NOT_JSON,
  'rejects unknown session keys and invalid messages': NOT_JSON,
  'lets pages of an allowed origin send and read MCP headers': NOT_JSON,
  'reject a large body that does not declare its length': NO_LIMITS,
  'gets 408 after bodyTimeoutMs': NO_LIMITS,
  'does not delay the answer': NO_LIMITS,
  'needs a content type that is announced': NO_LIMITS,
  'refuses callers before the body is read': NO_LIMITS,
  'together may hold': NO_LIMITS,
};

const MANAGED = '@hono/node-server decides when to close a connection whose request has an unread body';

const ON_HONO: Exceptions = {
  'gets 408 after bodyTimeoutMs': MANAGED,
  'does not delay the answer': MANAGED,
  'needs a content type that is announced': MANAGED,
  'rejects a malformed Host': '@hono/node-server answers it itself, without a body',
};

const BODIES = 'HTTP/2 has no header that announces a body, so one without a content type is found when it is read';
const SINGLE = 'the client for HTTP/2 sends a header of this kind once';

const OVER_HTTP2: Exceptions = {
  'needs a content type that is announced like the body': BODIES,
  'answers 403 without a scope and 400 with two Authorization headers': SINGLE,
  'rejects a malformed Host': 'HTTP/2 itself rejects a malformed :authority',
  'are found, as the endpoint is, by the absolute URL': 'HTTP/2 sends paths only',
};

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
    if (options.auth) await app.register(authRoutes(options.auth));
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

/** Whether `auth` serves anything at the root. */
function servesRoot(auth: AuthOption | undefined): boolean {
  const { documents, mount } = (auth && AUTH in auth ? auth[AUTH] : auth) ?? {};
  return documents !== undefined || mount !== undefined;
}

/** An Express application. With the usual middleware, its parser reads bodies before the handler does. */
function inExpress(name: string, createApp: typeof express, hasMiddleware: boolean): HttpHost {
  return {
    name,
    listener: 'application',
    ...(hasMiddleware && { exceptions: PARSED }),
    async serve(server, { principal, ...options }) {
      const app = createApp();
      if (hasMiddleware) app.use(helmet(), compression({ threshold: 0 }), createApp.json({ limit: '4mb' }));
      app.get(HEALTH, (_request, response) => void response.send('healthy'));
      // HTTP+SSE and what `auth` serves have their own paths, so the handler must see all paths
      const isMounted = options.legacySse === undefined && !servesRoot(options.auth);
      const handler = nodeHandler(server, { ...options, ...byFields(principal), ...(!isMounted && { path: PATH }) });
      app.use(isMounted ? PATH : '/', handler);
      return await listenOn(handler, app);
    },
  };
}

const inHono: HttpHost = {
  name: 'Hono',
  listener: 'application',
  exceptions: ON_HONO,
  async serve(server, { principal, ...options }) {
    const handler = fetchHandler(server, { ...options, ...byHeaders(principal), path: PATH });
    await handler.ready;
    const app = new Hono<{ Bindings: HttpBindings }>();
    app.get(HEALTH, (c) => c.text('healthy'));
    app.all('*', (c) => {
      const { remoteAddress, localPort } = c.env.incoming.socket;
      return handler(c.req.raw, { remoteAddress, localPort });
    });
    const listener = serveHono({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }) as Server;
    await once(listener, 'listening');
    return {
      url: urlOf(listener),
      async close() {
        await handler.close();
        await closeServer(listener);
      },
    };
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

const nodeOverHttp2: HttpHost = {
  name: 'node:http2',
  listener: 'application',
  exceptions: OVER_HTTP2,
  serve: async (server, { principal, ...options }) =>
    await behindFront(async ({ port, host }) => {
      const handler = nodeHandler(server, { ...options, ...byFields(principal), path: PATH });
      await handler.ready;
      const http = createHttp2Server((incoming, outgoing) => {
        if (incoming.url === HEALTH) outgoing.end('healthy');
        else handler(incoming, outgoing);
      });
      await once(http.listen(port, host), 'listening');
      return async () => {
        await handler.close();
        http.close();
      };
    }),
};

const pluginOverHttp2: HttpHost = {
  name: 'the Fastify plugin over HTTP/2',
  listener: 'application',
  exceptions: OVER_HTTP2,
  serve: async (server, { principal, ...options }) =>
    await behindFront(async (behind) => {
      const app = fastify({ http2: true });
      app.get(HEALTH, async () => 'healthy');
      if (options.auth) await app.register(authRoutes(options.auth));
      await app.register(mcp, { ...options, ...byFields(principal), server } as unknown as McpPluginOptions);
      await app.listen(behind);
      return () => app.close();
    }),
};

/** Serves a server for HTTP/2 to clients of HTTP/1.1. */
async function behindFront(open: (behind: Behind) => Promise<() => Promise<unknown>>): Promise<Hosted> {
  const front = await openFront();
  const close = await open(front.behind).catch(async (error: unknown) => {
    await closeServer(front.server);
    throw error;
  });
  return {
    url: urlOf(front.server),
    async close() {
      const closing = close();
      front.leave();
      await closing;
      await closeServer(front.server);
    },
  };
}

/** Serves requests over `node:http` once a handler is ready. */
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

/** Milliseconds that responses get to reach their clients: middleware that compresses sends them a while after they ended. */
const PATIENCE_MS = 300;

/** Closes like an application: first gracefully, then by dropping what is left. */
async function closeServer(server: Server): Promise<void> {
  if (!server.listening) return;
  const closed = once(server, 'close');
  server.close();
  const idle = setInterval(() => server.closeIdleConnections(), 20);
  const all = setTimeout(() => server.closeAllConnections(), PATIENCE_MS);
  await closed;
  clearInterval(idle);
  clearTimeout(all);
}

function urlOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}${PATH}`;
}

/** The hosts that are ours. The others are servers and frameworks around one of them. */
export const BINDINGS: readonly HttpHost[] = [listening, plugin, plainNode, fetching];

/** All hosts. */
export const HOSTS: readonly HttpHost[] = [
  listening,
  plugin,
  plainNode,
  inExpress('Express', express, false),
  inExpress('Express 5 behind middleware', express, true),
  inExpress('Express 4 behind middleware', express4 as unknown as typeof express, true),
  fetching,
  inHono,
  nodeOverHttp2,
  pluginOverHttp2,
];
