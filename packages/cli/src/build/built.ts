import { statSync } from 'node:fs';
import { dirname, extname, join, relative, resolve } from 'node:path';

import { ENTRIES, isFile } from '../entry.js';
import { projectOf } from '../loader/project.js';

const COMPILED: Readonly<Record<string, string>> = { '.mts': '.mjs', '.cts': '.cjs' };

/** The folders that may be the root of the sources: from the tsconfig's folder down to the file's. */
function rootsOf(source: string, folder: string): readonly string[] {
  const roots = [folder];
  for (const name of relative(folder, dirname(source)).split(/[\\/]/)) {
    if (name !== '' && name !== '..') roots.push(join(roots.at(-1) ?? folder, name));
  }
  return roots;
}

/**
 * The JavaScript that tsc wrote for a source file. If there are several candidates, the newest one.
 * @param source absolute path
 */
export function builtFile(source: string): string | undefined {
  const { file: tsconfig, options } = projectOf(source);
  const compiled = source.slice(0, -extname(source).length) + (COMPILED[extname(source)] ?? '.js');
  if (tsconfig === undefined || options.outDir === undefined) return isFile(compiled) ? compiled : undefined;
  const folder = dirname(tsconfig);
  // the default of `rootDir` depends on the compiler's version and on all other files
  const roots = options.rootDir === undefined ? rootsOf(source, folder) : [resolve(folder, options.rootDir)];
  const outDir = resolve(folder, options.outDir);
  const [newest] = roots
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
