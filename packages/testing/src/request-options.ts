import type { JsonObject } from '@decorum/core';

/** Options of every request. */
export interface RequestOptions {
  /** Cancels the request. The server is notified, and the promise rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /** Requests progress notifications and receives them. */
  readonly onProgress?: (progress: number, total: number | undefined, message: string | undefined) => void;
  /** Fields to add to the request's `_meta`. */
  readonly meta?: JsonObject;
  /** The idempotency key of a call of a tool. */
  readonly idempotencyKey?: string;
}
