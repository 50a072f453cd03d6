import { createServer } from 'node:http';

import type { ClosableHost } from '@decorum/core';

import { type Core, coreOf, httpOf } from './warm.js';

type Exports = Readonly<Record<string, unknown>>;

const HOST = Symbol.for('decorum:host');

const isServer = (value: unknown): value is ClosableHost =>
  typeof value === 'object' && value !== null && HOST in value;

/**
 * The server that an entry exports as `server` or `default`: an instance, a subclass of `McpServer`, or a function that
 * returns one.
 */
export async function exportedServer(exports: Exports, { McpServer }: Core): Promise<ClosableHost | undefined> {
  for (const name of ['server', 'default']) {
    const value = await exports[name];
    if (isServer(value)) return value;
    if (typeof value !== 'function') continue;
    const isClass = value.prototype instanceof McpServer || isServer(value.prototype);
    const made: unknown = isClass ? Reflect.construct(value, []) : await (value as () => unknown)();
    if (isServer(made)) return made;
  }
  return undefined;
}

/** Serves an exported server at `/mcp`. The program asks for no port of its own, so `PORT` and `HOST` decide. */
export async function serveHttp(server: ClosableHost, defaultPort: number): Promise<void> {
  const { nodeHandler } = await httpOf();
  const handler = nodeHandler(server);
  await handler.ready;
  const listener = createServer(handler);
  const host = process.env['HOST'] || '127.0.0.1';
  await new Promise<void>((resolve, reject) => {
    listener.once('error', reject).listen({ port: defaultPort, host }, resolve);
  });
  closeOnSignal(server, handler);
}

function closeOnSignal(server: ClosableHost, handler: { close(): Promise<void> }): void {
  const close = async () => {
    await handler.close();
    await server.close().catch(() => {});
    process.exit();
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => void close());
}

/** Serves an exported server over the pipe. */
export async function servePipe(server: ClosableHost): Promise<void> {
  const { serveStdio } = await coreOf();
  await serveStdio(server);
}
