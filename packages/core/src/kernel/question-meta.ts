import type { JsonObject } from '@decorum/schema/internal';

import { MAX_KEPT_CHARS } from '../protocol/limits.js';
import { isReservedKey } from '../protocol/meta-keys.js';
import { isTraceKey, isTraceValue } from '../registry/trace-meta.js';

/** `prefix/name` or `name` (MCP, "_meta"). */
const KEY = /^(?:(?:[a-z](?:[a-z0-9-]*[a-z0-9])?\.)*[a-z](?:[a-z0-9-]*[a-z0-9])?\/)?[a-z0-9](?:[\w.-]*[a-z0-9])?$/i;

function isFree(key: string, value: unknown): boolean {
  // a token would make the client send progress that nothing handles
  if (!KEY.test(key) || key === 'progressToken' || isReservedKey(key)) return false;
  return !isTraceKey(key) || isTraceValue(key, value);
}

/**
 * The part of a question's `_meta` that plugins may set; undefined if it is empty.
 * @param report called with each problem
 */
export function questionMeta(meta: JsonObject, report: (problem: Error) => void): JsonObject | undefined {
  const keys = Object.keys(meta);
  if (keys.length === 0) return undefined;
  const free = keys.filter((key) => isFree(key, meta[key]));
  const reserved = keys.find((key) => !free.includes(key));
  if (reserved !== undefined) report(new Error(`The key "${reserved.slice(0, 100)}" is reserved or invalid.`));
  try {
    const text = JSON.stringify(Object.fromEntries(free.map((key) => [key, meta[key]])));
    if (text.length > MAX_KEPT_CHARS) throw new Error(`It has more than ${MAX_KEPT_CHARS} characters as JSON.`);
    const sent = JSON.parse(text) as JsonObject;
    return Object.keys(sent).length > 0 ? sent : undefined;
  } catch (error) {
    report(error as Error);
    return undefined;
  }
}
