import { resolve } from 'node:path';
import { loadEnvFile } from 'node:process';

import { CommandFailure, EXIT } from 'create-decorum';

import { isFile } from '../loader/resolve.js';

/**
 * Reads the variables of `--env-file`. Those that are set already win.
 * @throws {CommandFailure} with `EXIT.usage` if there is no such file
 */
export function readEnv(file: string | undefined): void {
  if (file === undefined) return;
  if (!isFile(resolve(file))) throw new CommandFailure(`There is no file ${file} for --env-file.`, EXIT.usage);
  loadEnvFile(file);
}
