import type { RecordedOutcome } from '@decorum/client/internal';

import type { ThrownError } from '../build/messages.js';

/** How a call ended that was made again. */
export interface Replayed {
  readonly recorded: RecordedOutcome;
  readonly replayed: RecordedOutcome;
  readonly differences: readonly string[];
  /** Why the call fails now; undefined if it doesn't. */
  readonly failure?: string | undefined;
}

/** The message from the process that makes calls again: an entry for each recording, in their order. */
export type Reply =
  | { readonly type: 'replayed'; readonly calls: readonly (Replayed | { readonly problem: string })[] }
  /** The program creates no server. */
  | { readonly type: 'nothing' }
  | { readonly type: 'failed'; readonly error: ThrownError; readonly sources: readonly string[] };
