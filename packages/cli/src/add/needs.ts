import type { ImportDeclaration, ImportSpecifier } from 'oxc-parser';

import { importsOf, topLevelNames } from './bindings.js';
import { lineStart, nextLine, type Source, startsLine } from './source.js';
import type { Style } from './style.js';

/** An export that the new code uses. */
export interface Need {
  readonly module: '@decorum/core' | '@decorum/openapi' | 'class-validator' | 'zod';
  readonly name: string;
}

/** Text to insert. */
export interface Insertion {
  readonly offset: number;
  readonly text: string;
}

/** How the new code refers to the exports that it uses. */
export interface Spelled {
  /** The code for an export: `Tool`, `T` or `decorum.Tool`. */
  readonly as: (name: string) => string;
  /** The exports that the file doesn't import yet. */
  readonly missing: readonly (Need & { readonly local: string })[];
}

/** Whether a file already imports a value. */
export function hasImported(source: Source, need: Need): boolean {
  return existing(source, need) !== undefined;
}

function existing(source: Source, { module, name }: Need): string | undefined {
  const imports = [...importsOf(source)].filter(([, each]) => each.module === module && !each.isType);
  const named = imports.find(([, each]) => each.name === name)?.[0];
  const space = imports.find(([, each]) => each.name === '*')?.[0];
  return named ?? (space && `${space}.${name}`);
}

/** Decides how to refer to each export: with an existing import or with a new one. */
export function spell(source: Source, needs: readonly Need[]): Spelled {
  const taken = topLevelNames(source);
  const spelled = new Map<string, string>();
  const missing: (Need & { local: string })[] = [];
  for (const need of needs) {
    const known = existing(source, need);
    let local = need.name;
    while (taken.has(local)) local = `${need.module.startsWith('@decorum/') ? 'Mcp' : 'Valid'}${local}`;
    if (known === undefined) missing.push({ ...need, local });
    spelled.set(need.name, known ?? local);
  }
  return { as: (name) => spelled.get(name) ?? name, missing };
}

/** Inserts the missing imports. Existing lines stay unchanged: an import on one line gets a second one below it. */
export function importInsertions(source: Source, missing: Spelled['missing'], style: Style): Insertion[] {
  const modules = [...new Set(missing.map(({ module }) => module))];
  const added = modules.map((module) => {
    const specifiers = missing
      .filter((each) => each.module === module)
      .map(({ name, local }) => (name === local ? name : `${name} as ${local}`))
      .sort();
    const host = source.program.body.find((each) => each.type === 'ImportDeclaration' && isHost(each, module));
    const merged = host?.type === 'ImportDeclaration' ? mergeInto(host, specifiers, { source, style }) : undefined;
    return merged ?? [newImport(source, { module, specifiers }, style)];
  });
  const insertions = added.flat();
  const hasImports = source.program.body.some(({ type }) => type === 'ImportDeclaration');
  const last = insertions.at(-1);
  return hasImports || !last ? insertions : [...insertions, { offset: last.offset, text: style.eol }];
}

const isHost = (node: ImportDeclaration, module: string): boolean =>
  node.source.value === module && node.importKind !== 'type';

/** Adds names to an import with one name per line; undefined for an import in another style. */
function mergeInto(
  node: ImportDeclaration,
  specifiers: readonly string[],
  { source: { text }, style }: { source: Source; style: Style },
): Insertion[] | undefined {
  const named = node.specifiers.filter((each): each is ImportSpecifier => each.type === 'ImportSpecifier');
  const lines = named.filter(({ start }) => startsLine(text, start));
  const [first] = lines;
  const last = named.at(-1);
  if (first === undefined || last === undefined || lines.length !== named.length) return undefined;
  const indent = text.slice(lineStart(text, first.start), first.start);
  const close = text.indexOf('}', last.end);
  const canAppend = startsLine(text, close) && /^\s*,/.test(text.slice(last.end, close));
  return specifiers.map((specifier) => {
    const next = lines.find(({ start, end }) => text.slice(start, end) > specifier) ?? (canAppend ? undefined : first);
    const offset = lineStart(text, next?.start ?? close);
    return { offset, text: `${indent}${specifier},${style.eol}` };
  });
}

interface NewImport {
  readonly module: string;
  readonly specifiers: readonly string[];
}

function newImport(source: Source, { module, specifiers }: NewImport, style: Style): Insertion {
  const { eol, quote, semi } = style;
  const line = `import { ${specifiers.join(', ')} } from ${quote}${module}${quote}${semi}`;
  const imports = source.program.body.filter((each) => each.type === 'ImportDeclaration');
  const isPackage = (each: ImportDeclaration) => !each.source.value.startsWith('.');
  const after = imports.findLast(({ source: from }) => from.value === module) ?? imports.findLast(isPackage);
  const offset = after && lineAfter(source, after.end);
  if (offset !== undefined) return { offset, text: `${line}${eol}` };
  const top = imports[0]?.start;
  if (top !== undefined && startsLine(source.text, top)) return { offset: top, text: `${line}${eol}` };
  return { offset: topOf(source), text: `${line}${eol}` };
}

/** The start of the line after `offset`, unless a statement or a comment spans it. */
export function lineAfter({ program, comments, text }: Source, offset: number): number | undefined {
  const line = nextLine(text, offset);
  const isSpanned = [...program.body, ...comments].some(
    ({ start, end }) => line !== undefined && start < line && line < end,
  );
  return isSpanned ? undefined : line;
}

/** Where the first import belongs in a file without one: below `#!`, a license and directives. */
function topOf(source: Source): number {
  const { program, comments, text } = source;
  let offset = 0;
  const skip = (end: number): void => {
    offset = nextLine(text, end) ?? offset;
  };
  if (program.hashbang) skip(program.hashbang.end);
  const [header] = comments;
  const isHeader =
    header && text.slice(offset, header.start).trim() === '' && /^[ \t]*\r?\n[ \t]*\r?\n/.test(text.slice(header.end));
  if (isHeader && !program.body.some(({ start }) => start < header.start))
    skip(nextLine(text, header.end) ?? header.end);
  for (const each of program.body) {
    if (each.type !== 'ExpressionStatement' || typeof each.directive !== 'string') break;
    skip(each.end);
  }
  // the line with the byte order mark stays unchanged
  return source.bom !== '' && offset === 0 ? (lineAfter(source, 0) ?? 0) : offset;
}
