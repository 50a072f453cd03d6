import { createServer } from 'node:http';

import type { ClosableHost } from '@decorum/core';

import { coreOf, httpOf } from './warm.js';

/** Serves an exported server over HTTP, on `defaultPort` and the address in `HOST`. */
export async function serveHttp(server: ClosableHost, defaultPort: number): Promise<void> {
  const { nodeHandler } = await httpOf();
  const allowedHosts = (process.env['ALLOWED_HOSTS'] ?? '').split(',').flatMap((each) => each.trim() || []);
  const handler = nodeHandler(server, { allowedHosts });
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

/** Serves an exported server over stdio. */
export async function servePipe(server: ClosableHost): Promise<void> {
  const { serveStdio } = await coreOf();
  await serveStdio(server);
}
