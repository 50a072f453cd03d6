import { invalidOption, type OptionTypes, requireOptions } from '@decorum/schema/internal';

import { errorFrame, type JsonRpcMessage, parseMessage } from '../protocol/jsonrpc.js';
import { McpError } from '../protocol/errors.js';
import type { Frame } from '../protocol/frame.js';
import type { Principal, Wire } from '../protocol/wire.js';
import { Expiry } from './expiry.js';
import { type Host, hostOf, requirePrincipal, type Transport } from './transport.js';

/** Options of `connectMemory`. */
export interface MemoryOptions {
  /** Receives every message from the server. */
  readonly receive: (message: JsonRpcMessage) => void;
  /** The authenticated caller. From its `expiresAt` on, requests are refused. */
  readonly principal?: Principal;
}

/** The client's end of an in-memory connection. */
export interface MemoryConnection {
  /**
   * Sends a message, as an object or as text. Resolves once the server has handled it.
   * @throws {Error} if either side has closed the connection
   */
  send(message: object | string): Promise<void>;
  /** Ends the session. */
  close(): void;
}

const OPTIONS: OptionTypes<MemoryOptions> = { receive: 'function', principal: 'object' };

/**
 * Connects to a server in the same process. Messages are serialized and parsed as on any other transport.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`, `DECORUM_SERVER_CLOSED`
 * @example
 * ```ts
 * const connection = await connectMemory(server, { receive: (message) => console.log(message) });
 * await connection.send({ jsonrpc: '2.0', id: 1, method: 'ping' });
 * connection.close();
 * ```
 */
export async function connectMemory(server: Host, options: MemoryOptions): Promise<MemoryConnection> {
  const host = hostOf(server, 'connectMemory');
  requireOptions('connectMemory', options, OPTIONS);
  const { receive, principal } = options;
  requirePrincipal(principal, 'connectMemory');
  if (receive === undefined) {
    throw invalidOption('connectMemory', 'receive', 'is missing. Pass `{ receive: (message) => … }`');
  }
  const deliver = (text: string) => receive(JSON.parse(text) as JsonRpcMessage);
  const transport = { kind: 'memory' } as const;
  const send = (frame: Frame) => deliver(frame.text);
  return await host.open((kernel) => {
    const push = (frame: Frame) => void (expiry?.hasPassed() || send(frame));
    const session = kernel.openSession({ principal }, { push, transport });
    let closed = false;
    const connection: MemoryConnection & Transport = {
      async send(message) {
        if (closed) throw new Error('The connection is closed.');
        try {
          const parsed = parseMessage(typeof message === 'string' ? message : JSON.stringify(message));
          expiry?.hasPassed();
          const { text } = await kernel.handle(parsed, wire, session);
          if (text !== undefined && !closed) deliver(text);
        } catch (error) {
          if (!(error instanceof McpError)) throw error;
          deliver(errorFrame(session.revision.unreadableId, error));
        }
      },
      stop: () => kernel.inFlight.stop(connection),
      close() {
        closed = true;
        expiry?.stop();
        host.detach(connection);
        kernel.closeSession(session);
      },
    };
    const wire: Wire = { transport, principal, owner: connection, send };
    const expiry = Expiry.of(principal, () => kernel.inFlight.expire(connection));
    return connection;
  });
}
