import type { IncomingMessage, RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

import type { ClosableHost } from '@decorum/core/transport';
import { isObject } from '@decorum/core/internal';
import type { OptionTypes } from '@decorum/core/plugin';
import { closeForGood, endOnSignal, guardProcess } from '@decorum/core/internal';
import { hostOf } from '@decorum/core/transport';
import { generatesCode } from '@decorum/schema/internal';
import type { FastifyInstance } from 'fastify';

import { startupError } from '../../errors.js';
import { cardOf } from '../../card/card.js';
import { isLoopback } from '../../endpoint/allowed.js';
import { noEndpoint } from '../../endpoint/http-error.js';
import { checkingInterval, LISTEN_LIMITS, LISTEN_RANGES, type ListenLimits } from '../../endpoint/limits.js';
import { openEndpoint } from '../../endpoint/open-endpoint.js';
import {
  checkOptionNames,
  type EndpointOptions,
  requireFlag,
  type ResolvedOptions,
  requireSentPaths,
  resolveOptions,
} from '../../endpoint/options.js';
import type { Pipeline } from '../../endpoint/pipeline.js';
import { addCardRoutes } from '../fastify/card-routes.js';
import { addDocuments } from '../fastify/auth-routes.js';
import { FastifyContext } from '../fastify/context.js';
import { isFlooding } from '../node/answers.js';
import { addPluginRoutes } from '../fastify/plugin-routes.js';
import { routeOf } from '../fastify/required-routes.js';
import { requestListener } from '../node/request-listener.js';

/** Options of `listen`. */
export interface ListenOptions extends EndpointOptions<IncomingMessage> {
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

const LISTEN_OPTIONS: OptionTypes<Omit<ListenOptions, Exclude<keyof EndpointOptions<IncomingMessage>, 'limits'>>> = {
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
 * Serves MCP over Streamable HTTP on a port of its own. Needs Fastify.
 * @throws {DecorumError} `DECORUM_UNSAFE_HOST`, `DECORUM_INVALID_OPTION`, `DECORUM_MISSING_LIBRARY`,
 * `DECORUM_NO_CODE_GENERATION` or `DECORUM_SERVER_CLOSED`
 * @example
 * ```ts
 * import { listen } from '@decorum/http';
 *
 * const { url, close } = await listen(server, { port: 3000 }); // http://127.0.0.1:3000/mcp
 * ```
 */
export async function listen(server: ClosableHost, options: ListenOptions = {}): Promise<Listening> {
  const own = hostOf(server, 'listen');
  checkOptionNames('listen', withoutCallback(options), LISTEN_OPTIONS);
  const { port: givenPort = 3000, host = '127.0.0.1', limits = {}, signals = true, ...rest } = options;
  const { requestTimeoutMs = LISTEN_LIMITS.requestTimeoutMs, bodyTimeoutMs = requestTimeoutMs, ...more } = limits;
  const { maxConnectionsPerAddress = LISTEN_LIMITS.maxConnectionsPerAddress, ...others } = more;
  requireFlag('signals', signals);
  const settings = resolveOptions({ ...rest, limits: { ...others, bodyTimeoutMs } });
  const { path, allowedHosts, closeDeadlineMs } = settings;
  const port = requirePort(givenPort);
  requireAddress(host);
  requirePaths(settings);
  const card = cardOf({ ...settings, servedPath: path }, own);
  if (!isLoopback(host) && allowedHosts.length === 0) throw startupError('DECORUM_UNSAFE_HOST', host);
  const release = guardProcess(server, { endsWithReader: signals });
  let ignoreSignals = () => {};
  let closed: Promise<void> | undefined;
  // the server, the caller or a signal may close the endpoint; all await the same promise
  const end = () => (closed ??= closeListener?.().finally(release) ?? Promise.resolve(release()));
  let closeListener: (() => Promise<void>) | undefined;
  try {
    // loaded first, because the server may close the endpoint as soon as it is open
    const [createApp, { ListeningApp }] = [await loadFastify(), await import('./listening-app.js')];
    const { pipeline, detach, tellClosed } = await openEndpoint(server, { ...settings, servedPath: path }, end);
    const app = createApp(requestTimeoutMs);
    const listener = new ListeningApp(app, pipeline.endpoint, maxConnectionsPerAddress);
    closeListener = async () => {
      detach();
      await listener.close();
      await tellClosed();
      ignoreSignals();
    };
    addEndpoint(app, pipeline);
    await addPluginRoutes(app, pipeline, own.routes);
    if (settings.auth) addDocuments(app, settings.auth, own.report);
    if (card) await addCardRoutes(app, { card, path: routeOf(path), host: own });
    app.setNotFoundHandler((_request, { raw }) => {
      if (raw.socket === null && isFlooding(raw)) return;
      throw noEndpoint();
    });
    app.setErrorHandler((error, request, reply) => pipeline.fail(new FastifyContext(request, reply, path), error));
    await listener.listen(port, host);
    const close = async () => await end();
    if (signals) ignoreSignals = endOnSignal(() => endProcess(server, close, closeDeadlineMs));
    const address = app.server.address() as AddressInfo;
    return { url: `http://${reachable(host)}:${address.port}${path}`, port: address.port, close };
  } catch (error) {
    await end();
    throw withRemedy(error, port);
  }
}

/** Fastify's own `listen` adds `cb` to its options object, and a program may pass the same object here. */
function withoutCallback(options: ListenOptions): object {
  if (!isObject(options) || !('cb' in options)) return options;
  const { cb: _callback, ...rest } = options;
  return rest;
}

/** Accepts a number or, as in environment variables, its digits. */
function requirePort(port: unknown): number {
  const number = typeof port === 'string' && /^\d+$/.test(port) ? Number(port) : port;
  if (Number.isInteger(number) && (number as number) >= 0 && (number as number) <= 65_535) return number as number;
  const found = typeof port === 'string' ? `"${port}"` : String(port);
  const remedy = 'Pass a whole number from 1 to 65535, or 0 for any free port';
  throw startupError('DECORUM_INVALID_OPTION', 'listen', 'port', `is ${found}. ${remedy}`);
}

/** Accepts an IP address or a host name, but not a URL. */
function requireAddress(host: unknown): void {
  if (typeof host !== 'string' || !/^(?:[\w.-]+|[\da-f:.]*:[\da-f:.]*(?:%\w+)?)$/i.test(host)) {
    const problem = "is not an address. Write '127.0.0.1', and pass the port as `port`";
    throw startupError('DECORUM_INVALID_OPTION', 'listen', 'host', problem);
  }
}

/** Rejects paths that no request has. */
function requirePaths(settings: Pick<ResolvedOptions<never>, 'path' | 'legacySse'>): void {
  const { path, legacySse } = settings;
  requireLiteral('path', path);
  requireLiteral('legacySse.path', legacySse?.path);
  requireLiteral('legacySse.messagesPath', legacySse?.messagesPath);
  requireSentPaths(settings);
}

/** Rejects an empty path, and one with parameters of routes, which belong to a framework. */
function requireLiteral(option: string, path = '/'): void {
  const invalid = (problem: string) => startupError('DECORUM_INVALID_OPTION', 'listen', option, problem);
  if (path === '') throw invalid('is empty. Write "/", or leave it out for the default');
  if (/[:*]/.test(path))
    throw invalid(`is "${path}". ":" and "*" have a meaning only in your own application: register \`mcp\` there`);
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
async function loadFastify(): Promise<(requestTimeoutMs: number) => FastifyInstance> {
  if (!generatesCode()) {
    const remedy = 'Serve with `nodeHandler` of @decorum/http/node';
    throw startupError('DECORUM_NO_CODE_GENERATION', 'listen', 'fastify', remedy);
  }
  const { fastify } = await import('fastify').catch(explainMissing);
  return (requestTimeoutMs) =>
    fastify({
      requestTimeout: requestTimeoutMs,
      // the endpoint itself answers requests that arrive while the application closes
      return503OnClosing: false,
      http: {
        // or else Node compares the other timeout with its own default
        requestTimeout: requestTimeoutMs,
        headersTimeout: requestTimeoutMs,
        connectionsCheckingInterval: checkingInterval(requestTimeoutMs),
      },
    });
}

/** Puts an endpoint before the routes of its application. */
function addEndpoint({ server }: FastifyInstance, pipeline: Pipeline<IncomingMessage>): void {
  const [otherwise] = server.listeners('request') as RequestListener[];
  server.removeAllListeners('request').on('request', requestListener(pipeline, otherwise as RequestListener));
}

/** Replaces the wildcard addresses, because clients can't connect to them on every system. */
function reachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
}
