import { readFileSync } from 'node:fs';
import { relative, sep } from 'node:path';

import { CommandFailure, EXIT } from 'create-decorum';
import { type Comment, type EcmaScriptModule, type Node, parseSync, type Program, visitorKeys } from 'oxc-parser';

/** A parsed TypeScript file. Offsets refer to `text`. */
export interface Source {
  /** Absolute path. */
  readonly path: string;
  /** The byte order mark, or nothing. */
  readonly bom: string;
  readonly text: string;
  readonly program: Program;
  readonly comments: readonly Comment[];
  readonly module: EcmaScriptModule;
}

/** A path as the user would type it. */
export const shown = (path: string): string => relative(process.cwd(), path).split(sep).join('/') || '.';

/** `src/weather.ts:14` */
export const placeOf = ({ path, text }: Pick<Source, 'path' | 'text'>, offset: number): string =>
  `${shown(path)}:${lineOf(text, offset)}`;

/** The line of an offset, starting at 1. */
export const lineOf = (text: string, offset: number): number => text.slice(0, offset).split('\n').length;

/** Offset of the start of the line that contains `offset`. */
export const lineStart = (text: string, offset: number): number => text.lastIndexOf('\n', offset - 1) + 1;

/** Offset of the start of the next line; undefined on the last line. */
export function nextLine(text: string, offset: number): number | undefined {
  const end = text.indexOf('\n', offset);
  return end === -1 ? undefined : end + 1;
}

/** The white space at the start of the line that contains `offset`. */
export const indentAt = (text: string, offset: number): string =>
  /^[ \t]*/.exec(text.slice(lineStart(text, offset), offset))?.[0] ?? '';

/** Whether only white space precedes `offset` in its line. */
export const startsLine = (text: string, offset: number): boolean =>
  text.slice(lineStart(text, offset), offset).trim() === '';

/**
 * Reads and parses a file.
 * @throws {CommandFailure} at file:line:column, for a syntax error
 */
export function readSource(path: string): Source {
  const bytes = readFileSync(path);
  const text = bytes.toString('utf8');
  // anything else would be written back with replacement characters
  if (!Buffer.from(text, 'utf8').equals(bytes)) {
    throw new CommandFailure(`${shown(path)} is not UTF-8. Save it as UTF-8, and try again.`, EXIT.failed);
  }
  return parseSource(path, text);
}

/**
 * @param given the text of the file, with its byte order mark
 * @throws {CommandFailure} at file:line:column, for a syntax error
 */
export function parseSource(path: string, given: string): Source {
  const bom = given.startsWith('\uFEFF') ? '\uFEFF' : '';
  const text = given.slice(bom.length);
  const { program, comments, module, errors } = parseSync(path, text, { sourceType: 'module' });
  const [error] = errors;
  if (error !== undefined) {
    const offset = error.labels[0]?.start ?? 0;
    const column = offset - lineStart(text, offset) + 1;
    throw new CommandFailure(`${placeOf({ path, text }, offset)}:${column}  ${error.message}`, EXIT.failed);
  }
  return { path, bom, text, program, comments, module };
}

/** Whether a node is a function with a body. */
export const isFunction = ({ type }: Node): boolean => /^(?:Arrow)?Function(?:Declaration|Expression)$/.test(type);

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && 'type' in value;

/**
 * Visits a node and its descendants.
 * @param see gets a node and its ancestors, outermost first; returns `false` to skip the node's children
 */
export function walk(
  node: Node,
  see: (node: Node, ancestors: readonly Node[]) => unknown,
  ancestors: readonly Node[] = [],
): void {
  if (see(node, ancestors) === false) return;
  const within = [...ancestors, node];
  for (const key of visitorKeys[node.type] ?? []) {
    const child = (node as unknown as Readonly<Record<string, unknown>>)[key];
    for (const each of [child].flat()) if (isNode(each)) walk(each, see, within);
  }
}
