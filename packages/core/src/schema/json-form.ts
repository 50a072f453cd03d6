/** Deeper values are taken for endless ones. */
const MAX_DEPTH = 400;

type Fields = Record<string, unknown>;

/** A value cannot be written as JSON. */
export class NotJson extends Error {}

/**
 * What `JSON.stringify` would write, as a value: dates as text, instances as plain objects, `undefined` and functions
 * left out. Numbers that JSON does not have are kept, so that the schema refuses them.
 * @throws {NotJson} for circular values and bigints
 */
export function toJsonForm(value: unknown, depth = 0): unknown {
  if (typeof value === 'bigint') throw new NotJson('must not hold a bigint');
  if (typeof value !== 'object' || value === null) return value;
  if (depth > MAX_DEPTH) throw new NotJson('must not be circular or nested deeper than 400 levels');
  const { toJSON } = value as { toJSON?: unknown };
  if (typeof toJSON === 'function') return toJsonForm((value as { toJSON(): unknown }).toJSON(), depth + 1);
  if (Array.isArray(value)) return value.map((item) => listed(toJsonForm(item, depth + 1)));
  const form: Fields = {};
  for (const key of Object.keys(value)) {
    const item = toJsonForm((value as Fields)[key], depth + 1);
    if (isWritten(item) && key !== '__proto__') form[key] = item;
  }
  return form;
}

function isWritten(value: unknown): boolean {
  return value !== undefined && typeof value !== 'function' && typeof value !== 'symbol';
}

function listed(item: unknown): unknown {
  return isWritten(item) ? item : null;
}

/** Nothing a merge of this object could reach a prototype by (compare `secure-json-parse`). */
function isHarmful(key: string, value: unknown): boolean {
  if (key === '__proto__') return true;
  return key === 'constructor' && typeof value === 'object' && value !== null && Object.hasOwn(value, 'prototype');
}

/** The way to the first key that could reach a prototype, if there is one. */
export function harmfulPath(value: unknown): string[] | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  for (const key of Object.keys(value)) {
    const item = (value as Fields)[key];
    const rest = isHarmful(key, item) ? [] : harmfulPath(item);
    if (rest !== undefined) return [key, ...rest];
  }
  return undefined;
}
