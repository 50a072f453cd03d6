import type { Exported } from '../entry.js';

/** The message from the process that constructs a server. */
export type Construction =
  | {
      readonly type: 'constructed';
      readonly title: string;
      /** Undefined if the program starts its own server. */
      readonly exported: Exported | undefined;
    }
  /** The program created no server: it has ended, or it is waiting for something. */
  | { readonly type: 'nothing' }
  /** The program has ended, and neither exports nor serves the server that it created. */
  | { readonly type: 'unserved' }
  | { readonly type: 'failed'; readonly error: ThrownError };

/** An error that is sent to another process. */
export interface ThrownError {
  readonly name: string;
  readonly message: string;
  readonly stack: string | undefined;
  readonly code: string | undefined;
}
