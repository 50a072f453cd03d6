import type { Envelope } from './messages.js';

/** Carries batches to the other process: from a worker to the primary, or back. */
export interface Channel {
  /** @param done runs once the batch was written, or with an error if it can't be */
  send(envelope: Envelope, done: (error?: Error | null) => void): void;
}
