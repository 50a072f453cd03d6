import type { Exported } from '../entry.js';

/** What the process that constructs a server tells. */
export type Construction =
  | {
      readonly type: 'constructed';
      readonly title: string;
      /** Undefined if the program serves by itself. */
      readonly exported: Exported | undefined;
    }
  /** The program has ended, or waits for something, and created no server. */
  | { readonly type: 'nothing' }
  | { readonly type: 'failed'; readonly error: ThrownError };

/** An error on its way between processes. */
export interface ThrownError {
  readonly name: string;
  readonly message: string;
  readonly stack: string | undefined;
  readonly code: string | undefined;
}
