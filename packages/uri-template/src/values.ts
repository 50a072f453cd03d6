import type { Variable } from './grammar.js';
import type { Capture } from './machine.js';

/** What the variables of a template stand for in one URI. It has no prototype, so that any name is harmless. */
export type TemplateMatch = Record<string, string | string[]>;

/**
 * Reads the values out of a URI, decoding each exactly once.
 * @returns nothing when one of them is unsafe, or two of one variable contradict each other
 */
export function readValues(captures: readonly Capture[]): TemplateMatch | undefined {
  const values = Object.create(null) as TemplateMatch;
  const strings = new Map<Variable, string>();
  for (const { variable, encoded } of captures) {
    const text = decodeURIComponent(encoded);
    // A parameter sent twice means one thing to a filter and another to a handler.
    if (strings.has(variable) || isUnsafe(text)) return undefined;
    const known = values[variable.name];
    if (variable.explode) {
      if (Array.isArray(known)) known.push(text);
      else values[variable.name] = [text];
      continue;
    }
    strings.set(variable, text);
    if (known === undefined || text.length > known.length) values[variable.name] = text;
  }
  for (const [{ name, prefix }, text] of strings) {
    if (firstCharacters(String(values[name]), prefix) !== text) return undefined;
  }
  return values;
}

/** The part of a value that `{name:3}` expands: RFC 6570, section 2.4.1. */
export function firstCharacters(text: string, count: number | undefined): string {
  if (count === undefined || text.length <= count) return text;
  // A character is at most two code units, and a long value need not be cut up whole.
  return Array.from(text.slice(0, 2 * count))
    .slice(0, count)
    .join('');
}

/**
 * Whether a value, taken as a path, would lead upwards: a segment "." or "..", a backslash or a NUL, written plainly
 * or percent-encoded once more, however often.
 */
export function isUnsafe(value: string): boolean {
  const decoded = decodeRepeatedly(value);
  if (decoded.includes('\\') || decoded.includes('\0')) return true;
  // Windows drops spaces around a segment.
  return decoded.split('/').some((segment) => ['.', '..'].includes(segment.trim()));
}

/** Decodes octets until none is left. One pass: what a decoded octet completes is at the end of what was read. */
function decodeRepeatedly(text: string): string {
  if (!text.includes('%')) return text;
  const read: string[] = [];
  for (const character of text) {
    read.push(character);
    for (let octet = lastOctet(read); octet !== undefined; octet = lastOctet(read)) {
      read.splice(-3, 3, String.fromCharCode(octet));
    }
  }
  return read.join('');
}

function lastOctet(read: readonly string[]): number | undefined {
  const digits = `${read.at(-2)}${read.at(-1)}`;
  return read.at(-3) === '%' && /^[\dA-Fa-f]{2}$/.test(digits) ? Number.parseInt(digits, 16) : undefined;
}
