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

/** A budget; undefined if everything fits. */
export function budgetOf<R extends CallResult>(
  maxChars: number | undefined,
  limit: (result: R, maxChars: number) => R,
): Budget<R> | undefined {
  if (maxChars === undefined || maxChars === Number.POSITIVE_INFINITY) return undefined;
  return { maxChars, limit: (result) => limit(result, maxChars) };
}
