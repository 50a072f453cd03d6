import {
  type Document,
  isMap,
  isScalar,
  isSeq,
  type Pair,
  parseDocument,
  type Range,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml';

import {
  escaped,
  type Format,
  lineBreakOf,
  lineEnd,
  type Parsed,
  type Place,
  sectionOf,
  splice,
  TextProblem,
  type Value,
} from './format.js';

function documentOf(text: string): Document.Parsed {
  const document = parseDocument(text);
  const [error] = document.errors;
  if (error?.code === 'MULTIPLE_DOCS') throw new TextProblem('it has several documents', error.pos[0]);
  if (error === undefined) return document;
  throw new TextProblem(`it is not valid YAML: ${error.message.split(/ at line |:?\n/)[0]}`, error.pos[0]);
}

const rangeOf = (node: unknown): Range => (node as { readonly range: Range }).range;

const keyOf = ({ key }: Pair): unknown => (isScalar(key) ? key.value : key);

function pairOf(map: unknown, key: string): Pair | undefined {
  return isMap(map) ? map.items.find((each) => keyOf(each) === key) : undefined;
}

/** Whether a collection is written in braces or brackets. */
const isFlow = ({ flow }: YAMLMap | YAMLSeq): boolean => flow === true;

/** The column of a key, from 0. */
const columnOf = (text: string, offset: number): number => offset - (text.lastIndexOf('\n', offset - 1) + 1);

const WORDS = /^(?:true|false|null|yes|no|on|off|y|n)$/i;

const keyText = (key: string): string => (/^[A-Za-z][\w-]*$/.test(key) && !WORDS.test(key) ? key : escaped(key));

/** The lines of a key with its value. */
function keyLines(key: string, value: Value, unit: string): readonly string[] {
  if (typeof value !== 'object' || value === null) return [`${keyText(key)}: ${escaped(value)}`];
  if (Array.isArray(value)) {
    if (value.length === 0) return [`${keyText(key)}: []`];
    return [`${keyText(key)}:`, ...(value as readonly Value[]).map((each) => `${unit}- ${escaped(each)}`)];
  }
  const below = Object.entries(value).flatMap(([inner, each]) => keyLines(inner, each as Value, unit));
  return below.length === 0 ? [`${keyText(key)}: {}`] : [`${keyText(key)}:`, ...below.map((line) => unit + line)];
}

/** Adds lines after the line of an offset. */
function addLines(text: string, offset: number, lines: readonly string[]): string {
  const lineBreak = lineBreakOf(text);
  // block scalars end after their line break
  const isAtStart = offset > 0 && text[offset - 1] === '\n';
  const at = isAtStart ? offset : lineEnd(text, offset);
  const added = lines.join(lineBreak);
  return splice(text, [at, at], isAtStart ? added + lineBreak : lineBreak + added);
}

/** Where a value ends, without the line breaks and comments after it. */
function endOf(node: unknown): number {
  if (isMap(node) && !isFlow(node)) {
    const last = node.items.at(-1);
    if (last !== undefined) return endOf(last.value ?? last.key);
  }
  if (isSeq(node) && !isFlow(node) && node.items.length > 0) return endOf(node.items.at(-1));
  return rangeOf(node)[1];
}

function addToFlow(text: string, map: YAMLMap, pair: string): string {
  const last = map.items.at(-1);
  if (last === undefined) return splice(text, [rangeOf(map)[0], rangeOf(map)[1]], `{ ${pair} }`);
  const end = rangeOf(last.value ?? last.key)[1];
  return splice(text, [end, end], `, ${pair}`);
}

const flowPair = (key: string, value: Value) => `${escaped(key)}: ${escaped(value)}`;

/** Adds an entry to a section. */
function addToSection(
  text: string,
  { key, value: map }: Pair,
  { name, value }: { name: string; value: Value },
): string {
  const lines = (column: number) => keyLines(name, value, '  ').map((line) => ' '.repeat(column) + line);
  if (isMap(map) && map.items.length > 0) {
    if (isFlow(map)) return addToFlow(text, map, flowPair(name, value));
    return addLines(text, endOf(map), lines(columnOf(text, rangeOf(map.items[0]?.key)[0])));
  }
  const column = columnOf(text, rangeOf(key)[0]) + 2;
  if (map === null) return addLines(text, rangeOf(key)[1], lines(column));
  // `{}` and `null` are replaced, with the space before them
  const [start, end] = rangeOf(map);
  if (start === end) return addLines(text, start, lines(column));
  const from = text.slice(0, start).trimEnd().length;
  return addLines(splice(text, [from, end]), from, lines(column));
}

function removeLines(text: string, start: number, end: number): string {
  const from = text.lastIndexOf('\n', start - 1) + 1;
  const isAtStart = end > from && text[end - 1] === '\n';
  const to = isAtStart ? end : lineEnd(text, end);
  const after = isAtStart ? 0 : (/^\r?\n/.exec(text.slice(to))?.[0].length ?? 0);
  const removed = splice(text, [from, to + after]);
  // a file without a final line break keeps none
  return to + after === text.length && !text.endsWith('\n') ? removed.replace(/\r?\n$/, '') : removed;
}

function removeFrom(text: string, map: YAMLMap, pair: Pair): string {
  const [start] = rangeOf(pair.key);
  const end = endOf(pair.value ?? pair.key);
  const index = map.items.indexOf(pair);
  if (!isFlow(map)) return map.items.length === 1 ? splice(text, [start, end], '{}') : removeLines(text, start, end);
  const [before, after] = [map.items[index - 1], map.items[index + 1]];
  if (before !== undefined) return splice(text, [endOf(before.value ?? before.key), end]);
  if (after !== undefined) return splice(text, [start, rangeOf(after.key)[0]]);
  return splice(text, [rangeOf(map)[0], rangeOf(map)[1]], '{}');
}

/** The values of a document; objects are maps. */
function plain(document: Document.Parsed): unknown {
  try {
    return document.toJS({ mapAsMap: true });
  } catch (error) {
    // aliases without an anchor, or too many of them
    throw new TextProblem(`it is not valid YAML: ${(error as Error).message}`, 0);
  }
}

/** YAML, as goose reads it. */
export const yaml: Format = {
  parse(text: string, place: Place): Parsed {
    const document = documentOf(text);
    const parsed = plain(document);
    if (parsed === null || parsed === undefined) return new Map();
    if (!(parsed instanceof Map)) throw new TextProblem('it is not a map', 0);
    sectionOf(parsed as Parsed, place);
    return parsed as Parsed;
  },

  add(text: string, { section, name }: Place, value: Value): string {
    const { contents } = documentOf(text);
    const pair = pairOf(contents, section);
    if (pair !== undefined) return addToSection(text, pair, { name, value });
    if (isMap(contents) && isFlow(contents)) return addToFlow(text, contents, flowPair(section, { [name]: value }));
    const lineBreak = lineBreakOf(text);
    const isOpen = text !== '' && !text.endsWith('\n');
    const lines = keyLines(section, { [name]: value }, '  ').join(lineBreak);
    return `${text}${isOpen ? lineBreak : ''}${lines}${isOpen ? '' : lineBreak}`;
  },

  remove(text: string, { section, name }: Place, dropsSection: boolean): string {
    const { contents } = documentOf(text);
    const outer = pairOf(contents, section);
    const inner = pairOf(outer?.value, name);
    if (outer === undefined || inner === undefined) return text;
    const map = outer.value as YAMLMap;
    if (dropsSection && map.items.length === 1) return removeFrom(text, contents as YAMLMap, outer);
    return removeFrom(text, map, inner);
  },
};
