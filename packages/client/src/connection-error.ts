/** What went wrong between the client and its server. */
export type ConnectionErrorCode =
  /** The connection has ended, by `close` or by the server. */
  | 'closed'
  /** Nothing answers at the target, or the program can't be started. */
  | 'unreachable'
  /** The server has not answered in time. */
  | 'timeout'
  /** The server sent something that is not MCP, or refused the request by HTTP. */
  | 'protocol'
  /** The server has forgotten the session, so what became of the call is unknown. */
  | 'session-lost'
  /** The server denies access: HTTP 401 or 403. */
  | 'unauthorized'
  /** The server sent a message or a list that is longer than the client takes. */
  | 'too-large'
  /** The server speaks no revision that the client may speak. */
  | 'unsupported-revision';

/** Facts about a `ConnectionError`. */
export interface ConnectionErrorFacts extends ErrorOptions {
  /** The HTTP status, if that is what went wrong. */
  readonly status?: number | undefined;
}

/**
 * A request failed without an answer of the server. Errors that the server answers are `McpError`s instead.
 * @example
 * ```ts
 * import { type Client, ConnectionError } from '@decorum/client';
 *
 * async function isAlive(client: Client) {
 *   try {
 *     await client.ping({ timeoutMs: 1000 });
 *     return true;
 *   } catch (error) {
 *     if (error instanceof ConnectionError) return false;
 *     throw error;
 *   }
 * }
 * ```
 */
export class ConnectionError extends Error {
  readonly code: ConnectionErrorCode;
  /** The HTTP status, if that is what went wrong. */
  readonly status: number | undefined;

  /** @param message says what went wrong, and what to do */
  constructor(code: ConnectionErrorCode, message: string, { status, ...options }: ConnectionErrorFacts = {}) {
    super(message, options);
    this.name = 'ConnectionError';
    this.code = code;
    this.status = status;
  }
}

/** A new error for each call that one reason ends. */
export const alike = (reason: Error): ConnectionError =>
  reason instanceof ConnectionError
    ? new ConnectionError(reason.code, reason.message, { cause: reason.cause, status: reason.status })
    : new ConnectionError('closed', reason.message, { cause: reason.cause });
