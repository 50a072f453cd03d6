import { PassThrough } from 'node:stream';

import { type ClosableHost, type Principal, serveStdio } from '@decorum/core';

import type { Carrier, OpenCarrier } from './carrier.js';
import { readLines } from './lines.js';

/** Serves a server of the same process over two streams, line by line as over stdin and stdout. */
export function overStdio(server: ClosableHost, principal: Principal | undefined): OpenCarrier {
  return async ({ receive, lose }): Promise<Carrier> => {
    const [input, output] = [new PassThrough(), new PassThrough()];
    readLines(output, receive);
    // like over memory, a client that closes doesn't wait for its calls
    const { closed } = await serveStdio(server, { input, output, drainMs: 0, principal });
    void closed.then(() => lose(new Error('The server has closed the connection.')));
    return {
      async send(text) {
        input.write(`${text}\n`);
        return 'sent';
      },
      hold() {},
      async close() {
        input.end();
        await closed;
      },
    };
  };
}
