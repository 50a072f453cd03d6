/** Finds where a module asks for its own path: a bundle has another one. */
import { dirname, relative } from 'node:path';

import { MagicString } from 'magic-string';
import { type Node, parseSync } from 'oxc-parser';

import { walk } from '../add/source.js';
import { type Format, formatOf } from '../loader/format.js';

/** A module as rolldown gives it to plugins. */
export interface Module {
  /** Absolute path. */
  readonly file: string;
  readonly code: string;
}

/** An expression with the module's path. */
interface Place {
  readonly kind: 'url' | 'dirname' | 'filename';
  readonly start: number;
  readonly end: number;
  /** The text of `new URL(text, import.meta.url)`. */
  readonly beside?: string;
}

const MENTIONED = /\bimport\s*\.\s*meta\b|\b__(?:dirname|filename)\b/;

/** The places of a module. A `createRequire` of a package's name is none, because the package is in the bundle. */
export function placesOf({ file, code }: Module): readonly Place[] {
  if (!MENTIONED.test(code)) return [];
  const format = formatOf(file, code);
  const { program } = parseSync(file, code, { sourceType: format === 'module' ? 'module' : 'script' });
  const places: Place[] = [];
  const seen = new Set<Node>();
  walk(program, (node) => {
    const beside = besideOf(node);
    if (beside !== undefined) {
      seen.add(beside.meta);
      places.push(beside.place);
    } else if (!seen.has(node)) places.push(...placeOf(node, format));
  });
  return places;
}

/** `new URL('../skills', import.meta.url)` */
function besideOf(node: Node): { readonly meta: Node; readonly place: Place } | undefined {
  if (node.type !== 'NewExpression' || node.callee.type !== 'Identifier' || node.callee.name !== 'URL')
    return undefined;
  const [path, meta] = node.arguments;
  if (path?.type !== 'Literal' || typeof path.value !== 'string' || meta === undefined) return undefined;
  if (!/^\.{0,2}\//.test(path.value) && /^\w+:/.test(path.value)) return undefined;
  const [place] = placeOf(meta, 'module');
  return place?.kind === 'url' ? { meta, place: { ...place, beside: path.value } } : undefined;
}

// maps, because modules also have names such as `toString`
const META = new Map<string, Place['kind']>([
  ['url', 'url'],
  ['dirname', 'dirname'],
  ['filename', 'filename'],
]);
const GLOBALS = new Map<string, Place['kind']>([
  ['__dirname', 'dirname'],
  ['__filename', 'filename'],
]);

function placeOf(node: Node, format: Format): readonly Place[] {
  const { start, end } = node;
  if (node.type === 'MemberExpression' && node.object.type === 'MetaProperty' && node.property.type === 'Identifier') {
    const kind = META.get(node.property.name);
    return kind === undefined ? [] : [{ kind, start, end }];
  }
  // ES modules may declare these names themselves
  const kind = node.type === 'Identifier' && format === 'commonjs' ? GLOBALS.get(node.name) : undefined;
  return kind === undefined ? [] : [{ kind, start, end }];
}

/** The module that gives CommonJS modules the path of the bundle. */
export const BUNDLE_PATH = 'decorum:bundle-path';

/** The code of `BUNDLE_PATH`. */
export const BUNDLE_PATH_CODE = `
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
export const folder = dirname(fileURLToPath(import.meta.url));
`;

/** A program that compares its path with that of the command, to see whether it was started itself. */
const ASKS_WHETHER_MAIN = /\bargv\b|\brequire\.main\b/;

/**
 * Rewrites the places of a module so that they still mean the module's file, as long as the bundle is where it was
 * written.
 * @param folder of the bundle
 * @param isEntry whether the program starts with this module
 * @returns undefined if nothing has to be changed
 */
export function rewritePlaces(
  module: Module,
  { folder, isEntry }: { readonly folder: string; readonly isEntry: boolean },
): string | undefined {
  const path = relative(folder, module.file).replaceAll('\\', '/');
  const parent = dirname(path);
  const isModule = formatOf(module.file, module.code) === 'module';
  const isAsked = isEntry && ASKS_WHETHER_MAIN.test(module.code);
  const changed = new MagicString(module.code);
  for (const { kind, start, end, beside } of placesOf(module)) {
    // the bundle is what was started
    if (isAsked && beside === undefined && kind !== 'dirname') continue;
    changed.overwrite(start, end, isModule ? ofModule(kind, path, parent) : ofCommonjs(kind, path, parent));
  }
  return changed.hasChanged() ? changed.toString() : undefined;
}

function ofModule(kind: Place['kind'], path: string, parent: string): string {
  const url = (to: string) => `new URL(${JSON.stringify(to)}, import.meta.url)`;
  if (kind === 'url') return `${url(path)}.href`;
  return `process.getBuiltinModule('node:url').fileURLToPath(${url(kind === 'dirname' ? parent : path)})`;
}

function ofCommonjs(kind: Place['kind'], path: string, parent: string): string {
  const to = JSON.stringify(kind === 'dirname' ? parent : path);
  return `require('node:path').join(require('${BUNDLE_PATH}').folder, ${to})`;
}
