import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

import type { ClosableHost } from '@decorum/core';
import {
  closeForGood,
  endOnSignal,
  guardProcess,
  hostOf,
  type OptionTypes,
  startupError,
} from '@decorum/core/transport';
import type { FastifyInstance, FastifyRequest } from 'fastify';

import { addressOf } from '../caller.js';
import type { Endpoint } from '../endpoint.js';
import { isLoopback } from '../guard.js';
import { noEndpoint } from '../http-error.js';
import { LISTEN_LIMITS, LISTEN_RANGES, type ListenLimits } from '../limits.js';
import { openEndpoint } from '../open-endpoint.js';
import { checkOptionNames, requireFlag, resolveOptions } from '../options.js';
import { authRoutes } from './auth-routes.js';
import { addEndpoint, DirectContext, type HttpOptions, plainContext, sendError } from './fastify-plugin.js';
import { isFlooding } from './node-answers.js';
import { OneWriteResponse } from './one-write.js';
import { addPluginRoutes } from './plugin-routes.js';

/** Options of `listen`. */
export interface ListenOptions extends HttpOptions {
  /** Port to listen on. By default 3000. Pass 0 for any free port. */
  readonly port?: number;
  /** Address to listen on. By default `127.0.0.1`. Pass `allowedHosts` too to listen on a public address. */
  readonly host?: string;
  /** Limits on what clients send, open and leave unread. */
  readonly limits?: ListenLimits;
  /**
   * Whether the first SIGTERM or SIGINT closes the endpoint and the server and then exits, as with `serveStdio`. A
   * second signal exits at once. By default `true`. Pass `false` to handle signals yourself.
   */
  readonly signals?: boolean;
}

const LISTEN_OPTIONS: OptionTypes<Omit<ListenOptions, Exclude<keyof HttpOptions, 'limits'>>> = {
  port: true,
  host: true,
  limits: LISTEN_RANGES,
  signals: true,
};

/** A listening endpoint. */
export interface Listening {
  /** URL that clients connect to. */
  readonly url: string;
  readonly port: number;
  /** Waits for requests in flight and stops listening. The server itself stays open for other transports. */
  close(): Promise<void>;
}

/**
 * Serves MCP over Streamable HTTP on its own Fastify application.
 * @throws {DecorumError} `DECORUM_UNSAFE_HOST`, `DECORUM_INVALID_OPTION`, `DECORUM_MISSING_LIBRARY` or
 * `DECORUM_SERVER_CLOSED`
 * @example
 * ```ts
 * import { listen } from '@decorum/http';
 *
 * const { url, close } = await listen(server, { port: 3000 }); // http://127.0.0.1:3000/mcp
 * ```
 */
export async function listen(server: ClosableHost, options: ListenOptions = {}): Promise<Listening> {
  const { routes, report } = hostOf(server, 'listen');
  // Fastify's own `listen` adds `cb` to its options object, and a program may pass the same object here
  checkOptionNames('listen', options, { ...LISTEN_OPTIONS, cb: true });
  const { port: givenPort = 3000, host = '127.0.0.1', limits = {}, signals = true, ...rest } = options;
  const { requestTimeoutMs = LISTEN_LIMITS.requestTimeoutMs, bodyTimeoutMs = requestTimeoutMs, ...more } = limits;
  const { maxConnectionsPerAddress = LISTEN_LIMITS.maxConnectionsPerAddress, ...others } = more;
  requireFlag('signals', signals);
  const settings = resolveOptions({ ...rest, limits: { ...others, bodyTimeoutMs } });
  const { path, allowedHosts, closeDeadlineMs } = settings;
  const port = requirePort(givenPort);
  requireAddress(host, path);
  if (!isLoopback(host) && allowedHosts.length === 0) throw startupError('DECORUM_UNSAFE_HOST', host);
  const release = guardProcess(server, { endsWithReader: signals });
  let ignoreSignals = () => {};
  let closed: Promise<void> | undefined;
  // the server, the caller or a signal may close the endpoint; all await the same promise
  const end = () => (closed ??= closeListener?.().finally(release) ?? Promise.resolve(release()));
  let closeListener: (() => Promise<void>) | undefined;
  try {
    // created first, because the server may close the endpoint as soon as it is open
    const app = await createApp(requestTimeoutMs);
    const { endpoint, detach } = await openEndpoint(server, settings, end);
    const listener = new Listener(app, endpoint, maxConnectionsPerAddress);
    // before Fastify's listener, which destroys the socket
    app.server.prependListener('clientError', ({ code }: NodeJS.ErrnoException, socket: Socket) => {
      if (code !== 'ERR_HTTP_REQUEST_TIMEOUT') return;
      endpoint.hit({ limit: 'requestTimeoutMs', remoteAddress: socket.remoteAddress });
      // nothing to answer; thousands may be due in the same turn
      if (socket.bytesRead === 0) socket.destroy();
    });
    closeListener = async () => {
      detach();
      await listener.close();
      ignoreSignals();
    };
    // registered in its own scope, so that its hooks don't run for other paths
    await app.register(async (scope) => addEndpoint(scope, endpoint, DirectContext));
    await addPluginRoutes(app, { routes, endpoint, contextFor: plainContext });
    if (settings.auth) await app.register(authRoutes(settings.auth, report));
    app.setNotFoundHandler((_request, { raw }) => {
      if (raw.socket === null && isFlooding(raw)) return;
      throw noEndpoint();
    });
    app.setErrorHandler((error, _request, reply) => sendError(endpoint.errorResponse(error, {}), reply));
    await app.listen({ port, host });
    const close = async () => await end();
    if (signals) ignoreSignals = endOnSignal(() => endProcess(server, close, closeDeadlineMs));
    const address = app.server.address() as AddressInfo;
    return { url: `http://${reachable(host)}:${address.port}${path}`, port: address.port, close };
  } catch (error) {
    await end();
    throw withRemedy(error, port);
  }
}

/** Accepts a number or, as in environment variables, its digits. */
function requirePort(port: unknown): number {
  const number = typeof port === 'string' && /^\d+$/.test(port) ? Number(port) : port;
  if (Number.isInteger(number) && (number as number) >= 0 && (number as number) <= 65_535) return number as number;
  const found = typeof port === 'string' ? `"${port}"` : String(port);
  const remedy = 'Pass a whole number from 0 to 65535, or 0 for any free port';
  throw startupError('DECORUM_INVALID_OPTION', 'listen', 'port', `is ${found}. ${remedy}`);
}

/** Accepts an IP address or a host name, but not a URL. */
function requireAddress(host: unknown, path: string): void {
  if (typeof host !== 'string' || !/^(?:[\w.-]+|[\da-f:.]*:[\da-f:.]*(?:%\w+)?)$/i.test(host)) {
    const problem = "is not an address. Write '127.0.0.1', and pass the port as `port`";
    throw startupError('DECORUM_INVALID_OPTION', 'listen', 'host', problem);
  }
  if (path === '') {
    throw startupError('DECORUM_INVALID_OPTION', 'listen', 'path', 'is empty. Write "/", or leave it out for "/mcp"');
  }
}

/** Adds a remedy to the most common error. It stays the same object, because programs may check its `code`. */
function withRemedy(error: unknown, port: number): unknown {
  const failure = error as NodeJS.ErrnoException;
  if (failure?.code === 'EADDRINUSE') {
    failure.message += `. Another program listens on port ${port}. Pass another \`port\` to listen, or 0 for any that is free`;
  }
  return error;
}

async function endProcess(server: ClosableHost, close: () => Promise<void>, deadlineMs: number): Promise<void> {
  const deadline = performance.now() + deadlineMs;
  await close();
  await closeForGood(server, Math.max(0, deadline - performance.now()));
}

function explainMissing(error: unknown): never {
  const { code, message } = error as NodeJS.ErrnoException;
  const isMissing = code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND';
  if (!isMissing || !/'fastify'/.test(message)) throw error;
  const remedy = 'Run `npm install fastify`, or serve with `nodeHandler` of @decorum/http/node';
  throw startupError('DECORUM_MISSING_LIBRARY', 'listen', 'fastify', remedy);
}

/** Fastify is loaded on demand, because a program may import this package and never listen. */
async function createApp(requestTimeoutMs: number): Promise<FastifyInstance> {
  const { fastify } = await import('fastify').catch(explainMissing);
  const app = fastify({
    requestTimeout: requestTimeoutMs,
    // the endpoint itself answers requests that arrive while the application closes
    return503OnClosing: false,
    http: {
      ServerResponse: OneWriteResponse,
      headersTimeout: requestTimeoutMs,
      connectionsCheckingInterval: Math.ceil(requestTimeoutMs / 4),
    },
  });
  return app as unknown as FastifyInstance;
}

/** Milliseconds without a request after which closing assumes that no client is about to send one. */
const QUIET_MS = 30;

/** Maximum milliseconds to wait for this silence. */
const LINGER_MS = 60;

/** Milliseconds after which closing destroys connections that have not sent a byte. */
const GRACE_MS = 10;

/** The listening application and its connections. */
class Listener {
  private readonly sockets = new Set<Socket>();
  /** How many of them each address has. */
  private readonly counts = new Map<string, number>();
  private lastEventAt: number | undefined;

  constructor(
    private readonly app: FastifyInstance,
    private readonly endpoint: Endpoint<FastifyRequest>,
    private readonly maxPerAddress: number,
  ) {
    app.server.on('connection', (socket: Socket) => this.accept(socket));
  }

  /** Closes the endpoint, then the port, then the connections. In this order no request is lost. */
  async close(): Promise<void> {
    const { app, endpoint } = this;
    const deadlineMs = endpoint.settings.closeDeadlineMs;
    const began = performance.now();
    await endpoint.close();
    await endpoint.delivered(Math.max(0, deadlineMs - (performance.now() - began)));
    if (this.lastEventAt !== undefined) await this.closePort();
    const timer = setTimeout(() => app.server.closeAllConnections(), 1000 + deadlineMs - (performance.now() - began));
    const closed = app.close();
    // Node waits for connections that have not sent a byte, and clients keep some of these in reserve
    const silent = setTimeout(() => this.destroySilent(), GRACE_MS);
    await closed;
    clearTimeout(timer);
    clearTimeout(silent);
  }

  private accept(socket: Socket): void {
    const { sockets } = this;
    const { remoteAddress } = socket;
    const address = addressOf({ headers: {}, remoteAddress });
    const count = this.countOf(address) + 1;
    if (count > this.maxPerAddress) {
      this.endpoint.hit({ limit: 'maxConnectionsPerAddress', remoteAddress });
      return void socket.destroy();
    }
    this.lastEventAt = performance.now();
    sockets.add(socket);
    this.count(address, count);
    socket.once('close', () => {
      sockets.delete(socket);
      this.count(address, this.countOf(address) - 1);
    });
  }

  private countOf(address: string | undefined): number {
    return address === undefined ? 0 : (this.counts.get(address) ?? 0);
  }

  private count(address: string | undefined, connections: number): void {
    if (address === undefined) return;
    if (connections > 0) this.counts.set(address, connections);
    else this.counts.delete(address);
  }

  /**
   * Waits briefly before closing the port, so that clients can finish sending. Cutting a connection would lose their
   * requests. Requests that arrive meanwhile are held until the port is closed, or else a client that gets a 503 could
   * reconnect.
   */
  private async closePort(): Promise<void> {
    const { server } = this.app;
    const [handle] = server.listeners('request') as ((...args: HeldRequest) => void)[];
    const held: HeldRequest[] = [];
    const hold = (...args: HeldRequest) => {
      this.lastEventAt = performance.now();
      held.push(args);
    };
    const began = (this.lastEventAt = performance.now());
    server.removeAllListeners('request').on('request', hold);
    while (performance.now() < Math.min(began + LINGER_MS, this.lastEventAt + QUIET_MS)) await wait(5);
    server.close();
    server.off('request', hold);
    if (handle) server.on('request', handle);
    for (const args of held) handle?.(...args);
  }

  private destroySilent(): void {
    for (const socket of this.sockets) if (socket.bytesRead === 0) socket.destroy();
  }
}

type HeldRequest = [request: IncomingMessage, response: ServerResponse];

/** Replaces the wildcard addresses, because clients can't connect to them on every system. */
function reachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
}
