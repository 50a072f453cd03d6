import { isObject } from '@decorum/core/internal';

/** Columns within which an object or an array stays on one line. */
const WIDTH = 110;

/**
 * JSON for people who read its changes: short objects and arrays are on one line, others have a line for each member.
 * @param before columns that are taken on the first line
 */
export function laidOut(value: unknown, indent = '', before = 0): string {
  const line = inOneLine(value);
  if (indent.length + before + line.length <= WIDTH || typeof value !== 'object' || value === null) return line;
  const inner = `${indent}  `;
  const lines = Array.isArray(value)
    ? value.map((each) => inner + laidOut(each, inner))
    : Object.entries(value).map(([key, each]) => {
        const name = `${JSON.stringify(key)}: `;
        return `${inner}${name}${laidOut(each, inner, name.length)}`;
      });
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  return `${open}\n${lines.join(',\n')}\n${indent}${close}`;
}

function inOneLine(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(inOneLine).join(', ')}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const members = Object.entries(value).map(([key, each]) => `${JSON.stringify(key)}: ${inOneLine(each)}`);
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`;
}

/** The members that identify an entry come first, so that each change shows what it is about. */
const FIRST = ['uri', 'uriTemplate', 'name'];

/** Sorts the members of objects. The order of arrays stays: it may matter. */
export function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  const keys = Object.keys(value).sort(byCodeUnits);
  return Object.fromEntries(keys.map((key) => [key, sorted(value[key])]));
}

/** A list entry, sorted, with what identifies it first. */
export function sortedEntry(entry: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const all = sorted(entry) as Readonly<Record<string, unknown>>;
  const first = FIRST.filter((key) => key in all).map((key) => [key, all[key]] as const);
  return { ...Object.fromEntries(first), ...all };
}

/** The same order on every machine, whatever its language. */
export const byCodeUnits = (a: string, b: string): number => (a < b ? -1 : Number(a > b));
