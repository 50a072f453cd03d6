import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { CommandFailure, EXIT } from 'create-decorum';
import { parseTsconfig } from 'get-tsconfig';

import { isFile, shown } from '../entry.js';

/** The compiler that a project has installed, in its folder or above; undefined if there is none. */
export function compilerFor(folder: string): string | undefined {
  const manifest = join(folder, 'node_modules/typescript/package.json');
  if (isFile(manifest)) {
    const { bin } = JSON.parse(readFileSync(manifest, 'utf8')) as { bin: { tsc: string } };
    return join(dirname(manifest), bin.tsc);
  }
  return dirname(folder) === folder ? undefined : compilerFor(dirname(folder));
}

/**
 * Runs the project's own compiler.
 * @param tsconfig absolute path
 * @throws {CommandFailure} if it reports errors, which it has then printed
 */
export async function compileProject(tsconfig: string): Promise<void> {
  const { references = [] } = parseTsconfig(tsconfig);
  const mode = references.length > 0 ? '-b' : '-p';
  const compiler = compilerFor(dirname(tsconfig));
  if (compiler === undefined) {
    throw new CommandFailure('TypeScript is not installed here. Run `npm install -D typescript`.', EXIT.environment);
  }
  const child = spawn(process.execPath, [compiler, mode, tsconfig], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const code = await new Promise<number>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (exit) => resolve(exit ?? 1));
  });
  if (code !== 0) throw new CommandFailure(`tsc found errors with ${shown(tsconfig)}: nothing else was done.`);
}
