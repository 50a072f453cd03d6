import { andThen } from '@decorum/schema/internal';

import type { Access } from '../protocol/wire.js';

/** What combined functions consist of. */
const PARTS = new WeakMap<Access, readonly Access[]>();

/**
 * Combines access functions: a caller has to pass all of them. They are asked in this order, until one denies access. A
 * function that is part of several combinations is still asked only once per request.
 * @returns undefined if there are none, so everybody has access
 */
export function everyAccess(functions: readonly (Access | undefined)[]): Access | undefined {
  const parts = [...new Set(functions.flatMap((each) => (each === undefined ? [] : partsOf(each))))];
  if (parts.length <= 1) return parts[0];
  const every: Access = (...asked) =>
    parts.reduce<boolean | Promise<boolean>>((met, part) => andThen(met, (is) => is && part(...asked)), true);
  PARTS.set(every, parts);
  return every;
}

/** The functions that an access function combines: itself, if it combines none. */
export const partsOf = (access: Access): readonly Access[] => PARTS.get(access) ?? [access];
