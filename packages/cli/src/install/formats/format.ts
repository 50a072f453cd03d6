/** The contract of the file formats, and what their editors share. They change only the text of one entry. */

/** A value of an entry, as JSON has them. */
export type Value = string | number | boolean | null | readonly Value[] | { readonly [key: string]: Value };

/** Where a server is in a configuration: `mcpServers.weather`. */
export interface Place {
  readonly section: string;
  readonly name: string;
}

/** A parsed file: objects are maps, because `__proto__` may be a name. */
export type Parsed = ReadonlyMap<string, unknown>;

/** Reads and edits the files of a format. Texts have no byte order mark. */
export interface Format {
  /**
   * Parses a text; an empty one is an empty object.
   * @throws {TextProblem} if it can't be parsed, or has a key of the place twice
   */
  parse(text: string, place: Place): Parsed;
  /**
   * Adds an entry.
   * @throws {TextProblem} if the section is something else than an object
   */
  add(text: string, place: Place, value: Value): string;
  /** Removes an entry, and its section if it is then empty and `dropsSection`. */
  remove(text: string, place: Place, dropsSection: boolean): string;
}

/** What is wrong in a text, and where. */
export class TextProblem extends Error {
  /** @param offset position in the text */
  constructor(
    message: string,
    readonly offset: number,
  ) {
    super(message);
  }
}

/** Line and column of an offset, from 1. */
export function positionOf(text: string, offset: number): { readonly line: number; readonly column: number } {
  const before = text.slice(0, offset).split('\n');
  return { line: before.length, column: (before.at(-1) ?? '').length + 1 };
}

/** The line break that a text uses. */
export const lineBreakOf = (text: string): string => (/\r?\n/.exec(text)?.[0] === '\r\n' ? '\r\n' : '\n');

/** The white space that the line of an offset begins with. */
export function indentAt(text: string, offset: number): string {
  const start = text.lastIndexOf('\n', offset - 1) + 1;
  return /^[ \t]*/.exec(text.slice(start, offset))?.[0] ?? '';
}

/** Whether only white space is before an offset in its line. */
export const beginsLine = (text: string, offset: number): boolean => /(?:^|\n)[ \t]*$/.test(text.slice(0, offset));

/** The offset of the end of a line, before its line break. */
export function lineEnd(text: string, offset: number): number {
  const found = /\r?\n/.exec(text.slice(offset));
  return found === null ? text.length : offset + found.index;
}

/** The offset of the line break before the line of an offset; 0 for the first line. */
export function previousLineEnd(text: string, offset: number): number {
  const start = text.lastIndexOf('\n', offset - 1);
  if (start === -1) return 0;
  return text[start - 1] === '\r' ? start - 1 : start;
}

/** A text with another one in the place of a range. */
export const splice = (text: string, [start, end]: readonly [number, number], replacement = ''): string =>
  text.slice(0, start) + replacement + text.slice(end);

/** Control characters that JSON leaves as they are, and other formats don't. */
const CONTROLS = /[\u007F-\u009F\u2028\u2029\uFEFF\uFFFE\uFFFF]/g;

/** A value as JSON with escapes that TOML and YAML have, too. */
export const escaped = (value: Value): string =>
  JSON.stringify(value).replaceAll(CONTROLS, (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** A value as the parsers return it: objects are maps. */
export function mapped(value: Value): unknown {
  if (Array.isArray(value)) return (value as readonly Value[]).map(mapped);
  if (typeof value !== 'object' || value === null) return value;
  return new Map(Object.entries(value).map(([key, each]) => [key, mapped(each as Value)]));
}

/**
 * The section of a parsed file; undefined if there is none.
 * @throws {TextProblem} if it is something else than an object
 */
export function sectionOf(parsed: Parsed, { section }: Place): Parsed | undefined {
  const found = parsed.get(section);
  if (found === undefined || found === null || found instanceof Map) return (found as Parsed | null) ?? undefined;
  throw new TextProblem(`\`${section}\` is not an object`, 0);
}
