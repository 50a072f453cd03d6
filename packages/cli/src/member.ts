/** Finds the class member that a startup error is about: Decorum names it, but only the source knows its line. */
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

import type { Class, ClassElement, Node, Program } from 'oxc-parser';

import { isOwn, TYPESCRIPT } from './loader/resolve.js';
import { type Place, placeAt } from './loader/source-error.js';

/** The TypeScript files below a folder. */
export function sourcesBelow(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory())
      return entry.name === 'node_modules' || entry.name.startsWith('.') ? [] : sourcesBelow(path);
    return TYPESCRIPT.test(path) && !path.endsWith('.d.ts') ? [path] : [];
  });
}

/**
 * The position of the class or member that a startup error begins with: `Weather.alerts: no schema can be …`.
 * @param files the files to search
 */
export function memberPlace({ message }: Error, files: Iterable<string>): Place | undefined {
  const [, cls = '', member] = /^"?([\p{L}\p{N}_$]+)(?:\.([\p{L}\p{N}_$]+))?/u.exec(message) ?? [];
  const declared = new RegExp(`\\bclass\\s+${cls.replaceAll('$', '\\$')}(?![\\w$])`);
  for (const file of files) {
    if (!isOwn(file) || !TYPESCRIPT.test(file)) continue;
    const source = readFileSync(file, 'utf8');
    if (cls === '' || !declared.test(source)) continue;
    const offset = offsetOf(parse(file, source).program, cls, member);
    if (offset !== undefined) return placeAt(file, source, offset);
  }
  return undefined;
}

/** A parsed source file. */
export type Parsed = ReturnType<typeof parse>;

/** Parses a source file. */
export function parse(file: string, source: string) {
  // imported here, because only errors need it
  const { parseSync } = createRequire(import.meta.url)('oxc-parser') as typeof import('oxc-parser');
  return parseSync(file, source);
}

function offsetOf(program: Program, name: string, member: string | undefined): number | undefined {
  const cls = classesIn(program).find(({ id }) => id?.name === name);
  if (cls === undefined || member === undefined) return cls?.start;
  return cls.body.body.map((each) => startOf(each, member)).find((start) => start !== undefined);
}

/** The offset of a member with this name, without its decorators. */
function startOf(element: ClassElement, name: string): number | undefined {
  if (!('key' in element) || element.key === null) return undefined;
  const { key } = element;
  const found = 'name' in key ? key.name : 'value' in key ? key.value : undefined;
  if (found !== name) return undefined;
  const decorators = 'decorators' in element ? (element.decorators ?? []) : [];
  return decorators.length === 0 ? element.start : key.start;
}

/** All classes below a node. */
export function classesIn(node: unknown): readonly Class[] {
  if (typeof node !== 'object' || node === null) return [];
  const { type } = node as { type?: Node['type'] };
  const below = Object.values(node).flatMap(classesIn);
  return type === 'ClassDeclaration' || type === 'ClassExpression' ? [node as Class, ...below] : below;
}
