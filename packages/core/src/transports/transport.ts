import type { Kernel } from '../kernel/kernel.js';
import { startupError } from '../protocol/errors.js';

/**
 * Where a server keeps what transports need of it: behind a symbol, so that its members may have any name. Registered, so
 * that two copies of the package agree.
 */
export const HOST: unique symbol = Symbol.for('decorum:host') as never;

/** What a server needs of a transport that is open on it. */
export interface Transport {
  /** Takes no new requests. What is in flight goes on. Must not throw. */
  stop(): void;
  /** Ends it. What was in flight has ended before. */
  close(): void | Promise<void>;
}

/** What a transport needs of a server. */
export interface HostPort {
  /**
   * Runs the server's `onStart` hooks once, and opens a transport, which the server then stops and closes with itself.
   * @param create makes the transport, ready to be stopped and closed: the server may close before this resolves
   * @returns what `create` returns
   * @throws {DecorumError} `DECORUM_SERVER_CLOSED`, and whatever a hook or `create` throws
   */
  open<T extends Transport>(create: (kernel: Kernel) => T): Promise<T>;
  /** The transport has closed by itself: the server does not close it any more. */
  detach(transport: Transport): void;
  /** Gives an error that no client may see to the logger and to `onError`. */
  report(error: unknown): void;
  /** Gives the logger something that its operator should know. */
  warn(message: string): void;
}

/** A server that transports can be opened on. `McpServer` is one. */
export interface Host {
  readonly [HOST]: HostPort;
}

/**
 * What a transport needs of a server.
 * @param where what was called with it, such as `listen`
 * @throws {DecorumError} `DECORUM_INVALID_OPTION` for anything but a server
 */
export function hostOf(server: Host, where = 'transport'): HostPort {
  const host = (server as Partial<Host> | undefined)?.[HOST];
  if (host !== undefined) return host;
  const problem = 'is not an McpServer. Pass what `new McpServer({ … })` returns';
  throw startupError('DECORUM_INVALID_OPTION', where, 'server', problem);
}

/** A server with which the process may end. `McpServer` is one. */
export interface ClosableHost extends Host {
  /**
   * Closes the whole server.
   * @param options.deadlineMs milliseconds after which running calls are cancelled
   */
  close(options?: { readonly deadlineMs?: number }): Promise<void>;
}
