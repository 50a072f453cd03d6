import { readFileSync } from 'node:fs';
import type { LoadFnOutput } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';

import { bridge } from './bridge.js';
import { compile } from './compile.js';
import { type Format, formatOf } from './format.js';
import { projectOf } from './project.js';
import { isOwn, resolveSource, TYPESCRIPT } from './resolve.js';

/** Called for every loaded file of the project, including tsconfig files and files that don't compile. */
export type OnFile = (path: string) => void;

/** Keeps the query, which lets a program load a file again. */
function withQuery(file: string, specifier: string): string {
  const query = /^(?:\.|\/|file:)/.test(specifier) ? (/[?#].*$/.exec(specifier)?.[0] ?? '') : '';
  return pathToFileURL(file).href + query;
}

let mainUrl: string | undefined;

/**
 * The URL of the file that TypeScript resolves a specifier to.
 * @returns undefined to leave the specifier to Node.js
 */
export function sourceUrl(specifier: string, parentUrl: string | undefined): string | undefined {
  if (parentUrl === undefined) mainUrl ??= specifier;
  if (parentUrl === undefined || !parentUrl.startsWith('file:')) return undefined;
  const file = resolveSource(specifier.replace(/[?#].*$/, '') || specifier, fileURLToPath(parentUrl));
  return file === undefined ? undefined : withQuery(file, specifier);
}

/** A compiled file. */
export interface Compiled {
  readonly format: Format;
  readonly code: string;
}

/** Reads and compiles a file. */
export function compileFile(file: string, onFile: OnFile): Compiled {
  onFile(file);
  const project = projectOf(file);
  if (project.file !== undefined) onFile(project.file);
  const source = readFileSync(file, 'utf8');
  const format = formatOf(file, source);
  return { format, code: compile(file, source, format) };
}

/**
 * Loads a module if the loader has to compile it.
 * @returns undefined to leave it to Node.js
 */
export function loadSource(url: string, onFile: OnFile): LoadFnOutput | undefined {
  if (!url.startsWith('file:')) return undefined;
  const file = fileURLToPath(url);
  if (!isOwn(file)) return undefined;
  if (!TYPESCRIPT.test(file)) {
    onFile(file);
    return undefined;
  }
  const { format, code } = compileFile(file, onFile);
  if (format === 'module') return { format, source: code, shortCircuit: true };
  // Node.js loads the main module itself, and sets `require.main`
  if (url === mainUrl) return { format, shortCircuit: true };
  return { format: 'module', source: bridge(file, code), shortCircuit: true };
}
