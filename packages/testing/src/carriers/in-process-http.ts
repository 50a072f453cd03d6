import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import type { Principal } from '@decorum/core';
import type { Host } from '@decorum/core/transport';
import { startupError } from '@decorum/core/plugin';

import type { Carrier, OpenCarrier } from '@decorum/client/internal';
import { fixedHeaders, overHttp } from '@decorum/client/internal';

const REMEDY = "Run `npm install -D @decorum/http`, or connect with `via: 'memory'` or `via: 'stdio'`";

async function loadHttp() {
  try {
    return await import('@decorum/http/node');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const isMissing = code?.endsWith('MODULE_NOT_FOUND') && message.includes('@decorum/http');
    throw isMissing === true
      ? startupError('DECORUM_MISSING_LIBRARY', "`via: 'http'`", '@decorum/http', REMEDY)
      : error;
  }
}

/** Serves a server in this process on a free loopback port, for this client only. */
export function overOwnHttp(server: Host, principal: Principal | undefined): OpenCarrier {
  return async (receiver): Promise<Carrier> => {
    const { nodeHandler } = await loadHttp();
    // as over memory, every request has this principal, or none
    const handler = nodeHandler(server, { path: '/mcp', principal: () => principal, closeDeadlineMs: 50 });
    await handler.ready;
    const listener = createServer(handler).on('connection', (socket) => socket.unref());
    await new Promise<void>((resolve, reject) => {
      listener.once('error', reject).listen(0, '127.0.0.1', resolve);
    });
    listener.unref();
    const { port } = listener.address() as AddressInfo;
    const afterClose = async () => {
      await handler.close();
      listener.closeAllConnections();
      await new Promise((resolve) => listener.close(resolve));
    };
    const url = new URL(`http://127.0.0.1:${port}/mcp`);
    const target = { url, credentials: fixedHeaders({}), maxMessageBytes: Infinity, afterClose };
    return await overHttp(target)(receiver);
  };
}
