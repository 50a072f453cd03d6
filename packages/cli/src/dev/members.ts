import { readFileSync } from 'node:fs';

import { parseSync } from 'oxc-parser';

interface Node {
  readonly type: string;
  readonly start: number;
}

interface Named extends Node {
  readonly key?: Node & { readonly name?: string; readonly value?: unknown };
}

interface ClassNode extends Node {
  readonly id?: (Node & { readonly name: string }) | null;
  readonly body: { readonly body: readonly Named[] };
}

/** Where a member of a class is declared, or else the class. */
export interface Found {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

function classesIn(node: unknown, found: ClassNode[] = []): ClassNode[] {
  if (Array.isArray(node)) for (const each of node) classesIn(each, found);
  else if (typeof node === 'object' && node !== null) {
    const { type } = node as Node;
    if (type === 'ClassDeclaration' || type === 'ClassExpression') found.push(node as ClassNode);
    for (const each of Object.values(node)) if (typeof each === 'object') classesIn(each, found);
  }
  return found;
}

/** The line of an offset, and where its text begins: a decorator may stand before the name. */
function placeOf(file: string, text: string, offset: number): Found {
  const before = text.slice(0, offset).split('\n');
  const start = offset - (before.at(-1)?.length ?? 0);
  const line = text.slice(start, text.indexOf('\n', start) >>> 0);
  return { file, line: before.length, column: line.search(/\S|$/) + 1 };
}

/** Finds `Class.member` in the sources of a program. */
export function findMember(files: Iterable<string>, className: string, member: string | undefined): Found | undefined {
  for (const file of files) {
    if (!/\.[cm]?[jt]sx?$/.test(file)) continue;
    const text = readText(file);
    if (!new RegExp(`\\b${className.replaceAll('$', '\\$')}\\b`).test(text)) continue;
    for (const node of classesIn(parseSync(file, text).program)) {
      if (node.id?.name !== className) continue;
      const { key } = node.body.body.find(({ key }) => key?.name === member || key?.value === member) ?? {};
      return placeOf(file, text, key?.start ?? node.id.start);
    }
  }
  return undefined;
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
