import { createServer } from 'node:http';

import type { ClosableHost } from '@decorum/core/transport';
import { endOnSignal } from '@decorum/core/internal';

import { allowedHostsIn } from '../../entry.js';
import { coreOf, httpOf } from './warm.js';

/** Serves an exported server over HTTP, on `defaultPort` and the address in `HOST`. */
export async function serveHttp(server: ClosableHost, defaultPort: number): Promise<void> {
  const { nodeHandler } = await httpOf();
  const handler = nodeHandler(server, { allowedHosts: allowedHostsIn(process.env) });
  await handler.ready;
  const listener = createServer(handler);
  const host = process.env['HOST'] || '127.0.0.1';
  await new Promise<void>((resolve, reject) => {
    listener.once('error', reject).listen({ port: defaultPort, host }, resolve);
  });
  endOnSignal(async () => {
    await handler.close();
    await server.close().catch(() => {});
  });
}

/** Serves an exported server over stdio. */
export async function servePipe(server: ClosableHost): Promise<void> {
  const { serveStdio } = await coreOf();
  await serveStdio(server);
}
