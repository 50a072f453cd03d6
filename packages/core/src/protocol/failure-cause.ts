/**
 * Why a request failed, for logs and metrics. The set is closed, so it is safe as a label:
 *
 * - `bug`: an unexpected error, which was masked from the client
 * - `expected`: an error that the handler meant the client to see, such as a `ToolError`
 * - `invalid-arguments`: the arguments don't fit the member's schema, or the handler rejected them
 * - `invalid-request`: the request breaks the protocol
 * - `not-found`: there is no such method, member or resource
 * - `denied`: the caller lacks access or scopes
 * - `limit`: the client reached a limit
 * - `timeout`: the handler, the client that it asked, or a store that the server needs, took too long
 * - `client`: the client couldn't answer a question
 * - `closing`: the server was closing
 * - `cancelled`: the client cancelled the request, disconnected, or ended its session
 */
export type FailureCause =
  | 'bug'
  | 'expected'
  | 'invalid-arguments'
  | 'invalid-request'
  | 'not-found'
  | 'denied'
  | 'limit'
  | 'timeout'
  | 'client'
  | 'closing'
  | 'cancelled';

/** The key of a cause on an error or a result. A symbol isn't sent to clients, and survives `{ ...result }`. */
export const FAILURE_CAUSE: unique symbol = Symbol.for('decorum:failure-cause') as never;

/** Records why an error was thrown, if its class doesn't tell. */
export function withFailureCause<E extends Error>(error: E, cause: FailureCause | undefined): E {
  return cause === undefined ? error : Object.defineProperty(error, FAILURE_CAUSE, { value: cause });
}

/** The recorded cause of an error or a result; undefined if there is none. */
export const recordedCause = (value: unknown): FailureCause | undefined =>
  (value as { readonly [FAILURE_CAUSE]?: FailureCause } | null | undefined)?.[FAILURE_CAUSE];
