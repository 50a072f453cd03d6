import { PassThrough } from 'node:stream';

import { type Principal, serveStdio } from '@decorum/core';
import type { ClosableHost } from '@decorum/core/transport';

import type { Carrier, OpenCarrier } from '@decorum/client/internal';
import { readLines } from '@decorum/client/internal';

/** Serves a server in this process over two streams, which replace stdin and stdout. */
export function overStdio(server: ClosableHost, principal: Principal | undefined): OpenCarrier {
  return async ({ receive, lose }): Promise<Carrier> => {
    const [input, output] = [new PassThrough(), new PassThrough()];
    readLines(output, { take: receive, maxLength: Infinity, tooLong: () => {} });
    // as over memory, closing the client doesn't wait for its calls
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
