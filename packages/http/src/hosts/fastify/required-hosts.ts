import type { FastifyInstance } from 'fastify';

import { startupError } from '../../errors.js';
import { isLoopback } from '../../endpoint/allowed.js';

/** Servers that are about to be closed. */
const unsafe = new WeakSet<object>();

/**
 * Closes an application that listens on a public address without `allowedHosts`, and makes `app.listen` reject. The
 * address isn't known earlier.
 */
export function requireHosts({ server }: FastifyInstance, allowedHosts: readonly string[]): void {
  if (allowedHosts.length > 0) return;
  server.on('listening', () => {
    const address = server.address();
    if (unsafe.has(server) || address === null || typeof address === 'string') return;
    if (isLoopback(address.address)) return;
    unsafe.add(server);
    // after the other listeners, which may read the address; no client can connect before the next tick
    process.nextTick(() => {
      server.close();
      unsafe.delete(server);
    });
    server.emit('error', startupError('DECORUM_UNSAFE_HOST', address.address));
  });
}
