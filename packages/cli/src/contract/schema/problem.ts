import type { Node } from './form.js';

/** Why some value of one schema doesn't fit another. */
export type Reason =
  /** The other requires a property that may be missing. */
  | { readonly code: 'required' }
  /** The other doesn't have the property. */
  | { readonly code: 'unexpected' }
  /** The other doesn't have the field, which clients may ignore. */
  | { readonly code: 'new' }
  /** The other doesn't have the type. */
  | { readonly code: 'type'; readonly type: string }
  /** The other doesn't have the value. */
  | { readonly code: 'value'; readonly value: string }
  /** The other has only some values. */
  | { readonly code: 'values'; readonly values: string }
  /** The other demands something, as in "at least 3". */
  | { readonly code: 'limit'; readonly limit: string }
  /** Whether all values fit is not known. */
  | { readonly code: 'unknown'; readonly why: string };

/** Where a value may not fit, and why. */
export interface Problem {
  /** Names of properties; `[]` for items, and `*` for properties without a name. */
  readonly path: readonly string[];
  readonly reason: Reason;
}

/** Compares properties and items. */
export interface Comparing {
  /** Why some values of `a` don't fit `b`: empty if all fit. */
  readonly fits: (a: Node, b: Node, path: readonly string[]) => readonly Problem[];
}

/** A problem at a path. */
export const problem = (path: readonly string[], reason: Reason): Problem => ({ path, reason });
/** The other schema demands something that not all values are. */
export const limit = (path: readonly string[], text: string): Problem => problem(path, { code: 'limit', limit: text });
/** Whether all values fit is not known. */
export const unknown = (path: readonly string[], why: string): Problem => problem(path, { code: 'unknown', why });

/** A number with its noun: `1 item`, `2 items`. */
export const counted = (count: number, one: string, more: string): string => `${count} ${count === 1 ? one : more}`;
