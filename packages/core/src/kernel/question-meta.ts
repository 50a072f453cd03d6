import { MAX_KEPT_CHARS } from '../protocol/limits.js';
import type { JsonObject } from '../protocol/model.js';

/** `prefix/name` or `name` (MCP, "_meta"). */
const KEY = /^(?:((?:[a-z](?:[a-z0-9-]*[a-z0-9])?\.)*[a-z](?:[a-z0-9-]*[a-z0-9])?)\/)?[a-z0-9](?:[\w.-]*[a-z0-9])?$/i;

/** A prefix whose second label is one of these belongs to the protocol. */
const RESERVED = new Set(['modelcontextprotocol', 'mcp']);

function isFree(key: string): boolean {
  const [match, prefix = ''] = KEY.exec(key) ?? [];
  // the client would send progress for a token, and nobody waits for it
  return match !== undefined && key !== 'progressToken' && !RESERVED.has(prefix.split('.')[1] ?? '');
}

/**
 * The `_meta` of a question, as far as plugins may set it; undefined if nothing is left.
 * @param report gets what is wrong with it
 */
export function questionMeta(meta: JsonObject, report: (problem: Error) => void): JsonObject | undefined {
  const keys = Object.keys(meta);
  if (keys.length === 0) return undefined;
  const free = keys.filter(isFree);
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
