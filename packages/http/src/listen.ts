import type { AddressInfo, Socket } from 'node:net';

import type { ClosableHost } from '@decorum/core';
import { closeForGood, endOnSignal, guardProcess, startupError } from '@decorum/core/transport';
import type { FastifyInstance } from 'fastify';

import { isLoopback } from './guard.js';
import { type HttpOptions, MAX_TIMER_MS, requireCount, requireFlag, resolveOptions } from './options.js';
import { mcp } from './plugin.js';

/** Options of `listen`. */
export interface ListenOptions extends HttpOptions {
  /** By default 3000; 0 takes any that is free. */
  readonly port?: number;
  /** The address to listen on. By default `127.0.0.1`; any that others can reach needs `allowedHosts`. */
  readonly host?: string;
  /** Milliseconds within which a client must have sent a request. By default 20 seconds; up to a quarter more passes. */
  readonly requestTimeoutMs?: number;
  /**
   * Whether the first SIGTERM or SIGINT closes the endpoint and the server, and then ends the process, as `serveStdio`
   * does; a second one ends it at once. By default `true`. `false` leaves signals to the program.
   */
  readonly signals?: boolean;
}

/** A server that listens. */
export interface Listening {
  /** Where clients connect to. */
  readonly url: string;
  readonly port: number;
  /** Lets requests under way end, and stops listening. The server itself stays open for other transports. */
  close(): Promise<void>;
}

/**
 * Serves MCP over Streamable HTTP, by a Fastify application of its own.
 * @throws {DecorumError} `DECORUM_UNSAFE_HOST`, `DECORUM_INVALID_OPTION` or `DECORUM_SERVER_CLOSED`
 */
export async function listen(server: ClosableHost, options: ListenOptions = {}): Promise<Listening> {
  const { port = 3000, host = '127.0.0.1', requestTimeoutMs = 20_000, signals = true, ...rest } = options;
  requireCount('requestTimeoutMs', requestTimeoutMs, MAX_TIMER_MS);
  requireFlag('signals', signals);
  const endpoint = { bodyTimeoutMs: requestTimeoutMs, ...rest };
  const { path, allowedHosts, closeDeadlineMs } = resolveOptions(endpoint);
  if (!isLoopback(host) && allowedHosts.length === 0) throw startupError('DECORUM_UNSAFE_HOST', host);
  // here, so that a program that can also serve stdio starts without it
  const { fastify } = await import('fastify');
  const app = fastify({
    requestTimeout: requestTimeoutMs,
    http: { headersTimeout: requestTimeoutMs, connectionsCheckingInterval: Math.ceil(requestTimeoutMs / 4) },
  });
  const release = guardProcess(server);
  let ignoreSignals = () => {};
  const closeApp = closer(app, closeDeadlineMs + 1000);
  const close = async () => {
    server.detach(close);
    await closeApp();
    ignoreSignals();
    release();
  };
  try {
    await server.open(close);
    await app.register(mcp, { ...endpoint, server });
    await app.listen({ port, host });
  } catch (error) {
    await close();
    throw error;
  }
  const end = async () => {
    const deadline = performance.now() + closeDeadlineMs;
    await close();
    await closeForGood(server, Math.max(0, deadline - performance.now()));
  };
  if (signals) ignoreSignals = endOnSignal(end);
  const address = app.server.address() as AddressInfo;
  return { url: `http://${reachable(host)}:${address.port}${path}`, port: address.port, close };
}

/**
 * Closes an application without waiting for connections on which nothing will happen: Node waits for those that have
 * not sent a byte, which clients keep in reserve, and for those that take nothing.
 */
function closer(app: FastifyInstance, deadlineMs: number): () => Promise<void> {
  const sockets = new Set<Socket>();
  app.server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  return async () => {
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
    const timer = setTimeout(() => app.server.closeAllConnections(), deadlineMs);
    await app.close();
    clearTimeout(timer);
  };
}

/** An address that means all addresses cannot be connected to everywhere. */
function reachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
}
