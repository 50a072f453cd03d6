// A transport as somebody else would write one, with the public entries only: a JSON message per line over TCP.
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { createInterface } from 'node:readline';

import { McpError } from '@decorum/core';
import {
  errorFrame,
  type Host,
  hostOf,
  type HostPort,
  type Kernel,
  parseMessage,
  requireNoScopes,
  type Transport,
  type Wire,
} from '@decorum/core/transport';

/** Serves one client per connection. */
class TcpConnection implements Transport {
  readonly #wire: Wire;

  constructor(
    private readonly kernel: Kernel,
    private readonly host: HostPort,
    private readonly socket: Socket,
  ) {
    requireNoScopes(kernel, 'serveTcp', 'Pass a principal');
    const send = ({ text }: { readonly text: string }) => void socket.write(`${text}\n`);
    this.#wire = { transport: { kind: 'tcp' }, principal: undefined, owner: this, send };
    const session = kernel.openSession({}, { push: send, transport: this.#wire.transport });
    createInterface({ input: socket }).on('line', async (line) => {
      try {
        const { text } = await kernel.handle(parseMessage(line), this.#wire, session);
        if (text !== undefined) send({ text });
      } catch (error) {
        if (error instanceof McpError) send({ text: errorFrame(session.revision.unreadableId, error) });
        else host.report(error);
      }
    });
    socket.on('error', (error) => host.report(error));
    socket.on('close', () => {
      host.detach(this);
      kernel.closeSession(session);
    });
  }

  stop(): void {
    this.kernel.inFlight.stop(this);
  }

  close(): void {
    this.host.detach(this);
    this.socket.end();
  }
}

/** Serves a server over TCP on a free loopback port. */
export async function serveTcp(server: Host): Promise<Server> {
  const host = hostOf(server, 'serveTcp');
  const listener = createServer((socket) => {
    host
      .open((kernel) => new TcpConnection(kernel, host, socket))
      .catch((error: unknown) => socket.destroy(error as Error));
  });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  return listener;
}
