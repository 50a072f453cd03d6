import { statSync } from 'node:fs';
import { extname, isAbsolute, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

import { importCandidates } from './package-imports.js';
import { projectOf } from './project.js';

/** The files that the loader compiles. */
export const TYPESCRIPT = /\.(?:[cm]?ts|tsx)$/;

/** The source extensions for each compiled extension. */
const SOURCES: Readonly<Record<string, readonly string[]>> = {
  '.js': ['.ts', '.tsx'],
  '.jsx': ['.tsx'],
  '.mjs': ['.mts'],
  '.cjs': ['.cts'],
};

const LEFT_OUT = ['.ts', '.tsx', '.mts', '.cts', '.js', '.mjs', '.cjs', '.json'];

/** Whether there is a file, not a folder. */
export const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;

/** Whether the loader handles a file and its imports. It leaves out installed packages. */
export const isOwn = (file: string): boolean => !/[\\/]node_modules[\\/]/.test(file);

/** The file that TypeScript resolves a path to. The extension may be missing, or that of the compiled file. */
function fileAt(path: string): string | undefined {
  const extension = extname(path);
  const stem = path.slice(0, path.length - extension.length);
  const compiled = (SOURCES[extension] ?? []).map((each) => stem + each).find(isFile);
  if (compiled !== undefined || isFile(path)) return compiled ?? path;
  return [...LEFT_OUT.map((each) => path + each), ...LEFT_OUT.map((each) => `${path}/index${each}`)].find(isFile);
}

/**
 * The file that TypeScript resolves a specifier to, using the `paths` of the tsconfig and the
 * `imports` of the package.json.
 * @param specifier as it is imported or required
 * @param parent path of the importing file
 * @returns undefined to leave the specifier to Node.js
 */
export function resolveSource(specifier: string, parent: string): string | undefined {
  if (!isOwn(parent)) return undefined;
  if (specifier.startsWith('file:')) return fileAt(fileURLToPath(specifier));
  if (/^\.{1,2}(?:\/|$)/.test(specifier) || isAbsolute(specifier)) return fileAt(resolve(parent, '..', specifier));
  if (/^(?:node|data|https?):/.test(specifier)) return undefined;
  const candidates = specifier.startsWith('#')
    ? importCandidates(specifier, parent)
    : projectOf(parent).candidates(specifier);
  return candidates.map(fileAt).find((file) => file !== undefined);
}
