import type { McpError } from './errors.js';

/**
 * Why a request was given up before it had a result: its client cancelled it, its sender has gone, its session has
 * ended, or the server or its transport is closing.
 */
export type Cancellation = 'client' | 'gone' | 'session' | 'closing';

/** What becomes of one message. */
export interface Reply {
  /** The JSON-RPC response; undefined where none is due: for notifications, responses, and what the client gave up. */
  readonly text: string | undefined;
  /** Why the request failed, where the response is an error. */
  readonly failure?: McpError;
  /** Whether a handler had begun before the request failed. */
  readonly ran?: boolean;
  /** Why the request has no response of its handler. */
  readonly cancelled?: Cancellation;
  /** Of a batch: the reply to each of its messages. */
  readonly parts?: readonly Reply[];
}
