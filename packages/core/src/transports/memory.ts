import { errorFrame, type JsonRpcMessage, parseMessage } from '../protocol/jsonrpc.js';
import { McpError } from '../protocol/errors.js';
import type { Principal, Wire } from '../protocol/wire.js';
import type { Host } from './transport.js';

/** Options of `connectMemory`. */
export interface MemoryOptions {
  /** Takes every message of the server. */
  readonly receive: (message: JsonRpcMessage) => void;
  /** Who the client is. */
  readonly principal?: Principal;
}

/** The client's end of an in-memory connection. */
export interface MemoryConnection {
  /**
   * Sends a message, as an object or as text. Resolves when the server is done with it.
   * @throws {Error} when either side has closed the connection
   */
  send(message: object | string): Promise<void>;
  /** Ends the session. */
  close(): void;
}

/** Connects to a server in the same process. Messages are written and parsed as on any wire. */
export async function connectMemory(server: Host, { receive, principal }: MemoryOptions): Promise<MemoryConnection> {
  const deliver = (frame: string) => receive(JSON.parse(frame) as JsonRpcMessage);
  let closed = false;
  const close = () => {
    closed = true;
    server.detach(close);
    kernel.closeSession(session);
  };
  const kernel = await server.open(close);
  const session = kernel.openSession({ push: deliver, principal });
  const wire: Wire = { transport: { kind: 'memory' }, principal, send: deliver };
  return {
    async send(message) {
      if (closed) throw new Error('The connection is closed.');
      try {
        const parsed = parseMessage(typeof message === 'string' ? message : JSON.stringify(message));
        const frame = await kernel.handle(parsed, wire, session);
        if (frame !== undefined) deliver(frame);
      } catch (error) {
        if (!(error instanceof McpError)) throw error;
        deliver(errorFrame(session.revision.unreadableId, error));
      }
    },
    close,
  };
}
