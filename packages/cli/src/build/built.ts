import { statSync } from 'node:fs';
import { dirname, extname, relative, resolve } from 'node:path';

import { ENTRIES } from '../entry.js';
import { isFile } from '../loader/resolve.js';
import { projectOf, rootsOf } from '../loader/project.js';

const COMPILED: Readonly<Record<string, string>> = { '.mts': '.mjs', '.cts': '.cjs' };

/**
 * The JavaScript that tsc wrote for a source file. If there are several candidates, the newest one.
 * @param source absolute path
 */
export function builtFile(source: string): string | undefined {
  const { file: tsconfig, options } = projectOf(source);
  const compiled = source.slice(0, -extname(source).length) + (COMPILED[extname(source)] ?? '.js');
  if (tsconfig === undefined || options.outDir === undefined) return isFile(compiled) ? compiled : undefined;
  const outDir = resolve(dirname(tsconfig), options.outDir);
  const [newest] = rootsOf(source)
    .map((root) => resolve(outDir, relative(root, compiled)))
    .filter(isFile)
    .map((file) => ({ file, writtenAt: statSync(file).mtimeMs }))
    .sort((a, b) => b.writtenAt - a.writtenAt);
  return newest?.file;
}

/** The built files that may be a program's entry. Works even without the sources and the tsconfig. */
export function builtEntries(): readonly string[] {
  const built = ENTRIES.filter((each) => isFile(resolve(each))).map((each) => builtFile(resolve(each)));
  const usual = ENTRIES.map((each) => each.replace('src/', 'dist/').replace('.ts', '.js'));
  return [...built.filter((each) => each !== undefined), ...usual];
}
