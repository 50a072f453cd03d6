import { dirname, resolve } from 'node:path';

import { CommandFailure, EXIT } from 'create-decorum';

import { sourceFiles, findProject } from '../add/project.js';
import { warningsOf } from '../check/warnings.js';
import { findEntry, isTypeScript, shown } from '../entry.js';
import { isFile } from '../loader/resolve.js';
import { projectOf } from '../loader/project.js';
import { sourcesBelow } from '../member.js';
import { builtFile } from './built.js';
import { type Constructed, construct } from './construct.js';
import { compileProject } from './tsc.js';

/** A built program. */
export interface Built {
  /** Absolute path of its JavaScript. */
  readonly file: string;
  /** Undefined if it could not be constructed on this machine. */
  readonly server: Constructed | undefined;
}

/**
 * Compiles the project and constructs its server.
 * @param entry source file or built file, as the user named it
 * @throws {CommandFailure}
 */
export async function build(entry: string | undefined): Promise<Built> {
  const source = findEntry(entry);
  const tsconfig = isFile(resolve('tsconfig.json')) ? resolve('tsconfig.json') : projectOf(source).file;
  if (tsconfig === undefined) {
    throw new CommandFailure(`There is no tsconfig.json in ${process.cwd()}. Run this in the project.`, EXIT.usage);
  }
  await compileAndCheck(source, tsconfig);
  const file = isTypeScript(source) ? builtFile(source) : source;
  if (file === undefined) {
    const remedy = `Let ${shown(tsconfig)} include it, and remove \`noEmit\``;
    throw new CommandFailure(`tsc wrote no JavaScript for ${shown(source)}. ${remedy}.`);
  }
  const server = await construct(file, sourcesBelow(dirname(tsconfig)));
  if (server) process.stdout.write(`${server.title}   ${shown(file)}\n`);
  return { file, server };
}

/** Compiles the project, and prints warnings about its source. */
async function compileAndCheck(source: string, tsconfig: string): Promise<void> {
  const files = isTypeScript(source) ? [source] : sourceFiles(findProject(dirname(tsconfig)));
  const compiled = compileProject(tsconfig);
  // the compiler runs in its own process, so this takes no extra time
  const warnings = warningsOf(files);
  await compiled.finally(() => {
    for (const { line } of warnings) process.stderr.write(`${line}\n`);
  });
}
