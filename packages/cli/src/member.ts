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
    const offset = offsetOf(parse(file, source), cls, member);
    if (offset !== undefined) return placeAt(file, source, offset);
  }
  return undefined;
}

function parse(file: string, source: string): Program {
  // imported here, because only errors need it
  const { parseSync } = createRequire(import.meta.url)('oxc-parser') as typeof import('oxc-parser');
  return parseSync(file, source).program;
}

function offsetOf(program: Program, name: string, member: string | undefined): number | undefined {
  const cls = findClass(program, name);
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

function findClass(node: unknown, name: string): Class | undefined {
  if (typeof node !== 'object' || node === null) return undefined;
  const { type, id } = node as Partial<Class> & { type?: Node['type'] };
  if ((type === 'ClassDeclaration' || type === 'ClassExpression') && id?.name === name) return node as Class;
  for (const child of Object.values(node)) {
    const found = findClass(child, name);
    if (found !== undefined) return found;
  }
  return undefined;
}
