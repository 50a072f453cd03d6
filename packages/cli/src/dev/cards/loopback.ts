import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

const FAMILIES = ['127.0.0.1', '::1'] as const;
/** How often other ports are tried. */
const TRIES = 5;

function listen(host: string, port: number, listener: RequestListener): Promise<Server> {
  const server = createServer(listener);
  return new Promise((resolve, reject) => {
    server.once('error', reject).listen({ host, port }, () => {
      server.off('error', reject);
      resolve(server);
    });
  });
}

/** Servers on one port of both loopback addresses, so that `localhost` can't mean another program. */
async function listenOn(wanted: number, listener: RequestListener): Promise<Loopback> {
  const first = await listen(FAMILIES[0], wanted, listener);
  const { port } = first.address() as AddressInfo;
  try {
    return { port, servers: [first, await listen(FAMILIES[1], port, listener)] };
  } catch (error) {
    // a machine without IPv6
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') return { port, servers: [first] };
    first.close();
    throw error;
  }
}

/** Servers that only this machine can reach, and their port. */
export interface Loopback {
  readonly port: number;
  readonly servers: readonly Server[];
}

/**
 * Listens on a port of this machine.
 * @param wanted the port; another one if it is taken
 * @throws {Error} if no port is free
 */
export async function listenLocally(wanted: number, listener: RequestListener): Promise<Loopback> {
  for (let tries = 0; ; tries += 1) {
    try {
      return await listenOn(tries === 0 ? wanted : 0, listener);
    } catch (error) {
      if (tries === TRIES) throw error;
    }
  }
}
