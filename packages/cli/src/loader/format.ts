import { dirname, extname, join } from 'node:path';

import { parseFile } from './json.js';
import { projectOf } from './project.js';

/** How Node.js runs a file. */
export type Format = 'module' | 'commonjs';

/** Values of `module` for which the compiler writes CommonJS if package.json has no `type`. */
const COMMONJS_MODULES = /^(?:commonjs|node\d*|nodenext)$/i;

const MODULE_SYNTAX = /^[ \t]*(?:import\s*["'{*\w]|export\s*[{*\w])/m;
const COMMONJS_SYNTAX = /^[ \t]*(?:import\s+\w+\s*=\s*require\b|export\s*=)/m;

const types = new Map<string, Format | undefined>();

/** The `type` of the nearest package.json. */
function typeOf(folder: string): Format | undefined {
  if (types.has(folder)) return types.get(folder);
  const type = readType(folder);
  types.set(folder, type);
  return type;
}

function readType(folder: string): Format | undefined {
  try {
    const { type } = parseFile(join(folder, 'package.json')) as { type?: unknown };
    return type === 'module' || type === 'commonjs' ? type : undefined;
  } catch {
    // no readable package.json here; Node.js itself reports an unreadable one
    const parent = dirname(folder);
    return parent === folder ? undefined : typeOf(parent);
  }
}

/** Decides as the compiler does or, if it leaves that open, as Node.js does: by the syntax of the file. */
export function formatOf(file: string, source: string): Format {
  const extension = extname(file);
  if (extension === '.mts' || extension === '.mjs') return 'module';
  if (extension === '.cts' || extension === '.cjs') return 'commonjs';
  const type = typeOf(dirname(file));
  if (type !== undefined) return type;
  if (COMMONJS_MODULES.test(projectOf(file).options.module ?? '')) return 'commonjs';
  return MODULE_SYNTAX.test(source) && !COMMONJS_SYNTAX.test(source) ? 'module' : 'commonjs';
}
