/** JSON with comments and trailing commas. */
import { createScanner, type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser';

import {
  beginsLine,
  type Format,
  indentAt,
  lineBreakOf,
  lineEnd,
  type Parsed,
  type Place,
  previousLineEnd,
  splice,
  TextProblem,
  type Value,
} from './format.js';

const OPTIONS = { allowTrailingComma: true, allowEmptyContent: true };

/** The root object; undefined if the text has only white space and comments. */
function rootOf(text: string): Node | undefined {
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, OPTIONS);
  const [error] = errors;
  if (error !== undefined) {
    const words = printParseErrorCode(error.error)
      .replaceAll(/(?!^)[A-Z]/g, ' $&')
      .toLowerCase();
    throw new TextProblem(`it is not valid JSON: ${words}`, error.offset);
  }
  if (root !== undefined && root.type !== 'object') throw new TextProblem('it is not an object', root.offset);
  return root;
}

const keyOf = (property: Node): string => property.children?.[0]?.value as string;
const valueOf = (property: Node): Node => property.children?.[1] as Node;
const endOf = (node: Node): number => node.offset + node.length;

function propertyOf(object: Node | undefined, key: string): Node | undefined {
  const [found, again] = object?.children?.filter((each) => keyOf(each) === key) ?? [];
  // clients take the last one, people read the first one
  if (again !== undefined) throw new TextProblem(`it has \`${key}\` twice. Remove one of them`, again.offset);
  return found;
}

function objectAt(root: Node | undefined, key: string): Node | undefined {
  const property = propertyOf(root, key);
  const value = property && valueOf(property);
  if (value === undefined || value.type === 'object') return value;
  throw new TextProblem(`\`${key}\` is not an object`, value.offset);
}

function plain(node: Node): unknown {
  if (node.type === 'object') return new Map(node.children?.map((each) => [keyOf(each), plain(valueOf(each))]));
  return node.type === 'array' ? node.children?.map(plain) : node.value;
}

/** How a file is formatted. */
interface Style {
  readonly lineBreak: string;
  readonly unit: string;
  /** Whether there is no white space between tokens. */
  readonly isMinified: boolean;
}

function styleOf(text: string, root: Node | undefined): Style {
  const [first] = root?.children ?? [];
  const indent = first && beginsLine(text, first.offset) ? indentAt(text, first.offset) : '';
  const isMinified = first !== undefined && !/\s/.test(text.trim().slice(0, valueOf(first).offset + 1));
  return { lineBreak: lineBreakOf(text), unit: indent || '  ', isMinified };
}

/** A property on lines of its own. */
function propertyLines(key: string, value: Value, { style, indent }: { style: Style; indent: string }): string {
  const lines = JSON.stringify(value, undefined, style.unit).split('\n');
  return `${JSON.stringify(key)}: ${lines.join(style.lineBreak + indent)}`;
}

/** A property in the line of others. */
function propertyInline(key: string, value: Value, { isMinified }: Style): string {
  if (isMinified) return `${JSON.stringify(key)}:${JSON.stringify(value)}`;
  return `${JSON.stringify(key)}: ${inline(value)}`;
}

function inline(value: Value): string {
  if (Array.isArray(value)) return `[${(value as readonly Value[]).map(inline).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const properties = Object.entries(value).map(([key, each]) => `${JSON.stringify(key)}: ${inline(each as Value)}`);
  return properties.length === 0 ? '{}' : `{ ${properties.join(', ')} }`;
}

/** The offset of the next comma; undefined if something else comes before it. */
function commaAfter(text: string, offset: number): number | undefined {
  const scanner = createScanner(text, true);
  scanner.setPosition(offset);
  scanner.scan();
  return text[scanner.getTokenOffset()] === ',' ? scanner.getTokenOffset() : undefined;
}

/** The offset after the comments that follow in the same line. */
function afterComments(text: string, offset: number): number {
  const scanner = createScanner(text, false);
  scanner.setPosition(offset);
  for (let end = offset; ;) {
    scanner.scan();
    const token = scanner.getTokenValue();
    if (/^\/[/*]/.test(token) && !token.includes('\n')) end = scanner.getTokenOffset() + token.length;
    else if (!/^[ \t]+$/.test(token)) return end;
  }
}

interface Property {
  readonly key: string;
  readonly value: Value;
}

function addToEmpty(text: string, object: Node, { key, value, style }: Property & { style: Style }): string {
  const [start, end] = [object.offset + 1, endOf(object) - 1];
  const inside = text.slice(start, end);
  if (style.isMinified) return splice(text, [start, end], inside + propertyInline(key, value, style));
  const outer = indentAt(text, object.offset);
  const indent = outer + style.unit;
  const property = style.lineBreak + indent + propertyLines(key, value, { style, indent });
  if (inside.trim() === '') return splice(text, [start, end], property + style.lineBreak + outer);
  const at = start + inside.trimEnd().length;
  return splice(text, [at, at], property);
}

function addTo(text: string, object: Node, { key, value, style }: Property & { style: Style }): string {
  const [first, last] = [object.children?.[0], object.children?.at(-1)];
  if (first === undefined || last === undefined) return addToEmpty(text, object, { key, value, style });
  const end = endOf(last);
  if (!beginsLine(text, first.offset)) {
    return splice(text, [end, end], `,${style.isMinified ? '' : ' '}${propertyInline(key, value, style)}`);
  }
  const indent = indentAt(text, beginsLine(text, last.offset) ? last.offset : first.offset);
  const property = style.lineBreak + indent + propertyLines(key, value, { style, indent });
  const comma = commaAfter(text, end);
  const at = afterComments(text, comma === undefined ? end : comma + 1);
  if (comma !== undefined) return splice(text, [at, at], `${property},`);
  return splice(splice(text, [at, at], property), [end, end], ',');
}

/** Removes a property that begins its line, and the line. */
function removeLine(text: string, property: Node, end: number): string {
  const rest = text.slice(end, lineEnd(text, end)).trim();
  const before = previousLineEnd(text, property.offset);
  // what follows in the line must not become a part of a comment
  const isSafe = rest === '' || !text.slice(text.lastIndexOf('\n', before - 1) + 1, before).includes('//');
  return splice(text, [isSafe ? before : property.offset, end]);
}

function removeFrom(text: string, object: Node, property: Node): string {
  const all = object.children ?? [];
  const before = all[all.indexOf(property) - 1];
  const ownComma = commaAfter(text, endOf(property));
  const end = ownComma === undefined ? endOf(property) : ownComma + 1;
  if (ownComma !== undefined && text.slice(endOf(property), ownComma).trim() !== '') {
    // the comments before its comma stay
    return splice(splice(text, [ownComma, end]), [property.offset, endOf(property)]);
  }
  if (all.length === 1) {
    const [start, close] = [object.offset + 1, endOf(object) - 1];
    const isAlone = (text.slice(start, property.offset) + text.slice(end, close)).trim() === '';
    if (isAlone) return splice(text, [start, close]);
  }
  // in a line with others, the space after the comma goes, too
  const space = ownComma === undefined ? '' : (/^[ \t]*/.exec(text.slice(end))?.[0] ?? '');
  const removed = beginsLine(text, property.offset)
    ? removeLine(text, property, end)
    : splice(text, [property.offset, end + space.length]);
  const comma = before && ownComma === undefined ? commaAfter(text, endOf(before)) : undefined;
  if (comma === undefined) return removed;
  const isBlank = text.slice(comma + 1, property.offset).trim() === '' && !beginsLine(text, property.offset);
  return splice(removed, [comma, isBlank ? property.offset : comma + 1]);
}

/** JSON with comments and trailing commas, as VS Code and Zed read it; plain JSON stays plain. */
export const json: Format = {
  parse(text: string, { section, name }: Place): Parsed {
    const root = rootOf(text);
    if (root === undefined) return new Map();
    propertyOf(objectAt(root, section), name);
    return plain(root) as Parsed;
  },

  add(text: string, { section, name }: Place, value: Value): string {
    const root = rootOf(text);
    const style = styleOf(text, root);
    if (root === undefined) {
      const { lineBreak, unit } = style;
      const property = propertyLines(section, { [name]: value }, { style, indent: unit });
      const isOpen = text !== '' && !text.endsWith('\n');
      return `${text}${isOpen ? lineBreak : ''}{${lineBreak}${unit}${property}${lineBreak}}${isOpen ? '' : lineBreak}`;
    }
    const object = objectAt(root, section);
    if (object === undefined) return addTo(text, root, { key: section, value: { [name]: value }, style });
    return addTo(text, object, { key: name, value, style });
  },

  remove(text: string, { section, name }: Place, dropsSection: boolean): string {
    const object = objectAt(rootOf(text), section);
    const property = propertyOf(object, name);
    if (object === undefined || property === undefined) return text;
    const removed = removeFrom(text, object, property);
    const root = rootOf(removed);
    const left = propertyOf(root, section);
    if (!dropsSection || root === undefined || left === undefined) return removed;
    const isEmpty = /^\{\s*\}$/.test(removed.slice(valueOf(left).offset, endOf(valueOf(left))));
    return isEmpty ? removeFrom(removed, root, left) : removed;
  },
};
