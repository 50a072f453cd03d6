/** The command that a client runs. Clients start it in another folder, and desktop clients with another PATH. */
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { CommandFailure, EXIT } from 'create-decorum';

import { builtEntries, builtFile } from '../build/built.js';
import { closest, ENTRIES, findEntry, isTypeScript, shown } from '../entry.js';
import { isFile } from '../loader/resolve.js';
import { lastingNode } from './node-path.js';

/** What to run. */
export interface CommandOptions {
  /** The entry as the user named it. */
  readonly entry: string | undefined;
  /** Whether to run the source with `decorum dev`. */
  readonly dev: boolean;
  /** Arguments of the program. */
  readonly args: readonly string[];
}

/** A command that can be started in any folder. */
export interface Command {
  readonly command: string;
  readonly args: readonly string[];
  /** Absolute path of the entry. */
  readonly entry: string;
  /** Arguments that start the program itself. `decorum dev` would answer for a program that doesn't. */
  readonly trial: readonly string[];
}

const OWN = fileURLToPath(new URL('../../bin/decorum.js', import.meta.url));

/** Caches of `npx`, `pnpm dlx`, `yarn dlx` and `bunx`, which are emptied now and then. */
const CACHE = /[\\/](?:_npx|dlx|(?:dlx|bunx)-[^\\/]*)[\\/]/;

/** The program that runs now. */
export function ownProgram(path = OWN): string {
  if (!CACHE.test(path)) return path;
  const remedy = 'Install it in the project first: `npm install --save-dev @decorum/cli`.';
  throw new CommandFailure(`The client would start \`decorum\` from a cache: ${path}. ${remedy}`, EXIT.failed);
}

/** The program `decorum` of the project, so that an update of the project updates it; otherwise this one. */
function decorumOf(entry: string): string {
  const path = join('node_modules', '@decorum', 'cli', 'bin', 'decorum.js');
  const home = closest(dirname(entry), path);
  return home === undefined ? ownProgram() : join(home, path);
}

/** The built entry. */
function builtEntry(given: string | undefined): string {
  const found = given === undefined ? undefined : findEntry(given);
  const source = found ?? ENTRIES.find((each) => isFile(each));
  if (found !== undefined && !isTypeScript(found)) return found;
  const built = found === undefined ? builtEntries().find((each) => isFile(each)) : builtFile(found);
  if (built !== undefined) return findEntry(built);
  // says which files it has looked for
  if (source === undefined) return findEntry(given, builtEntries());
  const remedy = 'Run `decorum build` first, or pass --dev to run the source.';
  throw new CommandFailure(`${shown(source)} is not built yet. ${remedy}`, EXIT.failed);
}

/**
 * The command that starts a program over stdio.
 * @throws {CommandFailure} if there is no entry, or if it isn't built
 */
export function commandOf({ entry: given, dev, args }: CommandOptions): Command {
  const entry = dev ? findEntry(given) : builtEntry(given);
  const own = args.length === 0 ? [] : ['--', ...args];
  const argsOf = (...start: readonly string[]) => [decorumOf(entry), ...start, '--stdio', entry, ...own];
  const trial = argsOf('start');
  // only `dev` looks at the project: `start` leaves the program in the folder of the client
  return {
    command: lastingNode(process.execPath),
    args: dev ? argsOf('dev', '--cwd', process.cwd()) : trial,
    entry,
    trial,
  };
}
