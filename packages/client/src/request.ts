import type { JsonObject } from '@decorum/core';
import { IDEMPOTENCY_KEY } from '@decorum/core/internal';

/** A notification from the server. */
export interface Notification {
  readonly method: string;
  readonly params: JsonObject;
}

/** Options of every request. */
export interface RequestOptions {
  /** Cancels the request. The server is told, and the promise rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Milliseconds to wait for the server. The time starts again with each progress notification, and stands still while
   * the client answers a question. 0 waits without an end. Defaults to `timeoutMs` of the client.
   */
  readonly timeoutMs?: number | undefined;
  /** Asks for progress notifications, and receives them. */
  readonly onProgress?:
    | ((progress: number, total: number | undefined, message: string | undefined) => void)
    | undefined;
  /** Receives notifications that arrive on the stream of this request, or with its progress token. */
  readonly onNotification?: ((notification: Notification) => void) | undefined;
  /** Fields to add to the request's `_meta`. */
  readonly meta?: JsonObject | undefined;
  /**
   * A key for a call of a tool, of 1 to 255 visible ASCII characters. A call that is repeated with the same key gets the
   * outcome of the first one, from servers that keep outcomes. Use a new key for each new call, such as a random UUID.
   */
  readonly idempotencyKey?: string | undefined;
}

/** What a request adds to its `_meta`. */
export const metaOf = ({ idempotencyKey, meta }: RequestOptions): JsonObject => ({
  ...(idempotencyKey !== undefined && { [IDEMPOTENCY_KEY]: idempotencyKey }),
  ...meta,
});

/** A request under way, for those who are told of questions and notifications. */
export interface AskingCall {
  readonly method: string;
  readonly params: JsonObject;
  /** The options as they were passed. */
  readonly options: RequestOptions;
}
