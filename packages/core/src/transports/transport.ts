import type { Kernel } from '../kernel/kernel.js';

/** What a transport needs of a server. `McpServer` is one. */
export interface Host {
  /**
   * Runs the server's `onStart` hooks once, and gives access to the kernel.
   * @param close called when the server closes, after running calls have ended
   * @throws {DecorumError} `DECORUM_SERVER_CLOSED`, and whatever a hook throws
   */
  open(close: () => void | Promise<void>): Promise<Kernel>;
  /** The transport has closed by itself: `close` is not called any more. */
  detach(close: () => void | Promise<void>): void;
  /** Gives an error that no client shall see to the logger and to `onError`. */
  report(error: unknown): void;
}

/** What a transport needs of a server with which the process may end. `McpServer` is one. */
export interface ClosableHost extends Host {
  /**
   * Closes the whole server.
   * @param options.deadlineMs milliseconds after which running calls are cancelled
   */
  close(options?: { readonly deadlineMs?: number }): Promise<void>;
}
