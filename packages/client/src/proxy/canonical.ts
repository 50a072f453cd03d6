import { createHash } from 'node:crypto';

/** A copy of a JSON value whose objects have their members in order, so that equal values have equal texts. */
function ordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(ordered);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(entries.map(([key, inner]) => [key, ordered(inner)]));
}

/** The digest of a JSON value, whatever the order of its members: `sha256-…` in base64url. */
export const digestOfJson = (value: unknown): string =>
  `sha256-${createHash('sha256')
    .update(JSON.stringify(ordered(value)))
    .digest('base64url')}`;

/** Whether a value is nested deeper than a limit. Without recursion, because the value is the upstream's. */
export function isDeeper(value: unknown, limit: number): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > limit) return true;
    level = level.flatMap((each) => (typeof each === 'object' && each !== null ? Object.values(each) : []));
  }
  return false;
}
