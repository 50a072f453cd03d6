import type { RunScope } from '../registry/caller.js';

/** The whole request. */
export const WHOLE: RunScope = Object.freeze({});

/** A part of a part of a request. */
export function narrowed(outer: RunScope, inner: RunScope): RunScope {
  if (inner.isLimited) outer.replaced?.();
  if (outer === WHOLE) return inner;
  const { maxResultChars = outer.maxResultChars } = inner;
  return {
    maxResultChars,
    planned: inner.planned ?? outer.planned,
    get signal() {
      return inner.signal ?? outer.signal;
    },
    asking(answer) {
      outer.asking?.(answer);
      inner.asking?.(answer);
    },
    get hasFailed() {
      return inner.hasFailed === true || outer.hasFailed === true;
    },
    replaced: () => (inner.isLimited ? inner : outer).replaced?.(),
  };
}
