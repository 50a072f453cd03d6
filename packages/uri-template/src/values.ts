import type { Variable } from './grammar.js';
import type { Capture } from './machine.js';

/** Values of a template's variables in one URI. It has no prototype, which makes any name safe. */
export type TemplateMatch = Record<string, string | string[]>;

/**
 * Decodes the captured values, each exactly once.
 * @returns undefined if a value is unsafe, or if two values of a variable contradict each other
 */
export function readValues(captures: readonly Capture[]): TemplateMatch | undefined {
  const values = Object.create(null) as TemplateMatch;
  const strings = new Map<Variable, string>();
  for (const { variable, encoded } of captures) {
    const text = decodeURIComponent(encoded);
    // a repeated parameter may mean one thing to a filter and another to a handler
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

/** The part of a value that `{name:3}` expands to: RFC 6570, section 2.4.1. */
export function firstCharacters(text: string, count: number | undefined): string {
  if (count === undefined || text.length <= count) return text;
  // slice first: a character has at most two code units, so there is no need to split a long value
  return Array.from(text.slice(0, 2 * count))
    .slice(0, count)
    .join('');
}

/**
 * Whether a value, used as a path, would leave its directory: "." or ".." as a segment, a backslash or a NUL, either
 * plain or percent-encoded any number of times.
 */
export function isUnsafe(value: string): boolean {
  const decoded = decodeRepeatedly(value);
  if (decoded.includes('\\') || decoded.includes('\0')) return true;
  // Windows ignores spaces around a segment
  return decoded.split('/').some((segment) => ['.', '..'].includes(segment.trim()));
}

/** Decodes octets until none is left, in a single pass: an octet completed by decoding is at the end of the output. */
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
