import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { CommandFailure, EXIT } from 'create-decorum';
import { parseTsconfig } from 'get-tsconfig';

import { closest, shown } from '../entry.js';

const MANIFEST = 'node_modules/typescript/package.json';

/** The compiler that a project has installed, in its folder or above; undefined if there is none. */
export function compilerFor(folder: string): string | undefined {
  const home = closest(folder, MANIFEST);
  if (home === undefined) return undefined;
  const { bin } = JSON.parse(readFileSync(join(home, MANIFEST), 'utf8')) as { bin: { tsc: string } };
  return join(home, dirname(MANIFEST), bin.tsc);
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
