import type { CallResult } from '../interceptors.js';

/** What keeps the results of a member within its maximum. */
export interface Budget<R extends CallResult> {
  /** The maximum, in characters. */
  readonly maxChars: number;
  /**
   * Cuts what is longer. A shorter result stays the same object.
   * @throws {McpError} for a result that is longer and can't be cut
   */
  limit(result: R): R;
}

/** The maximum of a member, or else of its server; undefined if there is none. */
export function maximumOf(
  { maxResultChars: own }: { readonly maxResultChars?: number | undefined },
  { maxResultChars: shared }: { readonly maxResultChars?: number | undefined },
): number | undefined {
  const max = own ?? shared;
  return max === Number.POSITIVE_INFINITY ? undefined : max;
}
