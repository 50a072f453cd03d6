import { connectMemory, type Principal } from '@decorum/core';
import type { Host } from '@decorum/core/transport';

import type { Carrier, OpenCarrier } from './carrier.js';

/** Connects to a server in this process. */
export function overMemory(server: Host, principal: Principal | undefined): OpenCarrier {
  return async ({ receive }): Promise<Carrier> => {
    const memory = await connectMemory(server, {
      receive,
      ...(principal && { principal }),
    });
    return {
      async send(text) {
        await memory.send(text);
        return 'finished';
      },
      hold() {},
      async close() {
        memory.close();
      },
    };
  };
}
