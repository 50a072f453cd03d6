import { type AST, parseTOML } from 'toml-eslint-parser';

import {
  escaped,
  type Format,
  lineBreakOf,
  lineEnd,
  type Parsed,
  type Place,
  splice,
  TextProblem,
  type Value,
} from './format.js';

function topOf(text: string): AST.TOMLTopLevelTable {
  try {
    return parseTOML(text).body[0];
  } catch (error) {
    const { message, index } = error as Error & { index?: number };
    throw new TextProblem(`it is not valid TOML: ${message}`, index ?? 0);
  }
}

const keysOf = ({ keys }: AST.TOMLKey): readonly string[] =>
  keys.map((key) => (key.type === 'TOMLBare' ? key.name : key.value));

/** The map at a path of tables. A number is the index of a table in an array. */
function tableAt(root: Map<unknown, unknown>, path: readonly (string | number)[]): Map<unknown, unknown> {
  let table = root;
  for (const key of path) {
    const next = (table.get(key) as Map<unknown, unknown> | undefined) ?? new Map<unknown, unknown>();
    table.set(key, next);
    table = next;
  }
  return table;
}

function plain(node: AST.TOMLContentNode): unknown {
  if (node.type === 'TOMLArray') return node.elements.map(plain);
  if (node.type === 'TOMLInlineTable') return filled(new Map(), node.body);
  return node.value;
}

function filled(table: Map<unknown, unknown>, pairs: readonly AST.TOMLKeyValue[]): Map<unknown, unknown> {
  for (const { key, value } of pairs) {
    const keys = keysOf(key);
    tableAt(table, keys.slice(0, -1)).set(keys.at(-1), plain(value));
  }
  return table;
}

const keyText = (key: string): string => (/^[\w-]+$/.test(key) ? key : escaped(key));

function inline(value: Value): string {
  if (Array.isArray(value)) return `[${(value as readonly Value[]).map(inline).join(', ')}]`;
  if (typeof value === 'object' && value !== null) {
    const pairs = Object.entries(value).map(([key, each]) => `${keyText(key)} = ${inline(each as Value)}`);
    return pairs.length === 0 ? '{}' : `{ ${pairs.join(', ')} }`;
  }
  return typeof value === 'string' ? escaped(value) : String(value);
}

/** The lines of a table. */
function tableLines({ section, name }: Place, value: Value): readonly string[] {
  const pairs = Object.entries(value as Readonly<Record<string, Value>>);
  const header = `[${keyText(section)}.${keyText(name)}]`;
  return [header, ...pairs.map(([key, each]) => `${keyText(key)} = ${inline(each)}`)];
}

/** A part of a file that defines an entry. */
interface Piece {
  readonly node: AST.TOMLTable | AST.TOMLKeyValue;
  readonly inline?: AST.TOMLInlineTable;
}

const startsWith = (path: readonly unknown[], start: readonly string[]) =>
  start.every((each, index) => path[index] === each);

/** The inline table that a section is; undefined if it consists of tables, or of dotted keys. */
function inlineSection(top: AST.TOMLTopLevelTable, section: string): AST.TOMLInlineTable | undefined {
  for (const node of top.body) {
    if (node.type !== 'TOMLKeyValue' || keysOf(node.key).length > 1 || keysOf(node.key)[0] !== section) continue;
    if (node.value.type === 'TOMLInlineTable') return node.value;
    throw new TextProblem(`\`${section}\` is not a table`, node.value.range[0]);
  }
  return undefined;
}

/** @throws {TextProblem} if the section is a value, or an array of tables */
function requireTable(top: AST.TOMLTopLevelTable, section: string): void {
  inlineSection(top, section);
  for (const node of top.body) {
    if (node.type !== 'TOMLTable' || node.resolvedKey[0] !== section || typeof node.resolvedKey[1] !== 'number')
      continue;
    throw new TextProblem(`\`${section}\` is an array of tables`, node.range[0]);
  }
}

/** All parts of a file that define an entry: its table, the tables in it, and dotted keys. */
function piecesOf(top: AST.TOMLTopLevelTable, { section, name }: Place): readonly Piece[] {
  const path = [section, name];
  const object = inlineSection(top, section);
  if (object !== undefined) {
    return object.body.filter(({ key }) => keysOf(key)[0] === name).map((node) => ({ node, inline: object }));
  }
  return top.body.flatMap((node): readonly Piece[] => {
    if (node.type === 'TOMLKeyValue') return startsWith(keysOf(node.key), path) ? [{ node }] : [];
    if (startsWith(node.resolvedKey, path)) return [{ node }];
    const inside = node.body.filter(({ key }) => startsWith([...node.resolvedKey, ...keysOf(key)], path));
    return inside.map((each) => ({ node: each }));
  });
}

function addInline(text: string, object: AST.TOMLInlineTable, pair: string): string {
  const last = object.body.at(-1);
  if (last === undefined) return splice(text, object.range, `{ ${pair} }`);
  return splice(text, [last.range[1], last.range[1]], `, ${pair}`);
}

function removeInline(text: string, { node, inline: object }: Piece): string {
  const all = object?.body ?? [];
  const index = all.indexOf(node as AST.TOMLKeyValue);
  const [before, after] = [all[index - 1], all[index + 1]];
  if (before !== undefined) return splice(text, [before.range[1], node.range[1]]);
  if (after !== undefined) return splice(text, [node.range[0], after.range[0]]);
  return object === undefined ? text : splice(text, object.range, '{}');
}

/** Removes whole lines. At the end and between blank lines, also the blank line before them. */
function removeLines(text: string, [start, end]: readonly [number, number]): string {
  const to = lineEnd(text, end);
  const rest = text.slice(to);
  let from = text.lastIndexOf('\n', start - 1) + 1;
  const isLast = rest.trim() === '';
  if (isLast || /^(?:\r?\n){2}/.test(rest)) from -= /(?<=^|\n)\r?\n$/.exec(text.slice(0, from))?.[0].length ?? 0;
  const removed = splice(text, [from, to + (/^\r?\n/.exec(rest)?.[0].length ?? 0)]);
  // a file without a final line break keeps none
  return isLast && !text.endsWith('\n') ? removed.replace(/\r?\n$/, '') : removed;
}

function removeOne(text: string, piece: Piece): string {
  return piece.inline === undefined ? removeLines(text, piece.node.range) : removeInline(text, piece);
}

/** The header `[mcp_servers]` without keys, if nothing else defines the section. */
function emptySection(top: AST.TOMLTopLevelTable, section: string): readonly [number, number] | undefined {
  const defining = top.body.filter((node) => {
    const path = node.type === 'TOMLTable' ? node.resolvedKey : keysOf(node.key);
    return path[0] === section;
  });
  const [only] = defining;
  if (only === undefined || defining.length > 1) return undefined;
  const isEmpty =
    only.type === 'TOMLTable'
      ? only.body.length === 0 && only.resolvedKey.length === 1
      : only.value.type === 'TOMLInlineTable' && only.value.body.length === 0;
  return isEmpty ? only.range : undefined;
}

/** TOML, as Codex reads it. */
export const toml: Format = {
  parse(text: string, { section }: Place): Parsed {
    const top = topOf(text);
    requireTable(top, section);
    const root = new Map<unknown, unknown>();
    for (const node of top.body) {
      if (node.type === 'TOMLKeyValue') filled(root, [node]);
      else filled(tableAt(root, node.resolvedKey), node.body);
    }
    return root as Parsed;
  },

  add(text: string, place: Place, value: Value): string {
    const object = inlineSection(topOf(text), place.section);
    if (object !== undefined) return addInline(text, object, `${keyText(place.name)} = ${inline(value)}`);
    const lineBreak = lineBreakOf(text);
    const isOpen = text !== '' && !text.endsWith('\n');
    const closed = isOpen ? text + lineBreak : text;
    const isSeparate = closed === '' || /(?:^|\n)\r?\n$/.test(closed);
    const lines = tableLines(place, value).join(lineBreak);
    return `${closed}${isSeparate ? '' : lineBreak}${lines}${isOpen ? '' : lineBreak}`;
  },

  remove(text: string, place: Place, dropsSection: boolean): string {
    let left = text;
    // the positions change with each removal
    for (let piece = piecesOf(topOf(left), place)[0]; piece !== undefined; piece = piecesOf(topOf(left), place)[0]) {
      left = removeOne(left, piece);
    }
    const empty = dropsSection ? emptySection(topOf(left), place.section) : undefined;
    return empty === undefined ? left : removeLines(left, empty);
  },
};
