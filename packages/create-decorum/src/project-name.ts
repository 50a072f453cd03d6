import { basename, isAbsolute, relative, resolve } from 'node:path';

import { CommandFailure, EXIT } from './failure.js';

/** The folder and the names of a project. */
export interface Target {
  /** Absolute path of the folder. */
  readonly folder: string;
  /** The folder as messages show it: relative if it is inside the working directory. */
  readonly shown: string;
  /** The `name` of its package.json. */
  readonly packageName: string;
  /** The name of the server: the package name without its scope. */
  readonly serverName: string;
}

/** The longest name that npm accepts. */
const MAX_NAME = 214;

const RESERVED = new Set(['node_modules', 'favicon.ico']);

const usage = (message: string) => new CommandFailure(message, EXIT.usage);

/** Turns a folder's name into a name that npm accepts: `My Server` becomes `my-server`. */
function normalized(name: string): string {
  return name
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, '-')
    .replaceAll(/^[._-]+|[._-]+$/g, '');
}

function named(part: string, given: string): string {
  const name = normalized(part);
  if (name === '') throw usage(`"${given}" gives no package name. Use letters from a to z, digits, "-", "." or "_".`);
  if (name.length > MAX_NAME) throw usage(`The name is ${name.length} characters long. npm accepts ${MAX_NAME}.`);
  if (RESERVED.has(name)) throw usage(`"${name}" is no name for a package. Choose another one.`);
  return name;
}

/** Whether a relative path leads out of the folder that it is relative to. */
const leavesFolder = (path: string) => /^\.\.(?:[\\/]|$)/.test(path) || isAbsolute(path);

/** Whether the working directory is somewhere below a folder. */
function isAbove(folder: string): boolean {
  const path = relative(folder, process.cwd());
  return path !== '' && !leavesFolder(path);
}

function shownAs(folder: string): string {
  const path = relative(process.cwd(), folder);
  if (path === '') return '.';
  return leavesFolder(path) ? folder : path;
}

/**
 * Determines the folder and the names of a project. `@acme/weather` goes into the folder `weather`.
 * @param given a name or a path
 * @throws {CommandFailure} with `EXIT.usage` if a project can't be there, or if no name can be derived
 */
export function targetOf(given: string): Target {
  if (given.trim() === '') throw usage('The name of the project is empty.');
  const [, scope, bare = given] = /^@([^/\\]+)[/\\]([^/\\]+)$/.exec(given) ?? [];
  const folder = resolve(bare);
  if (isAbove(folder)) throw usage(`${given} contains the folder you are in. Give the project a folder of its own.`);
  const serverName = named(basename(folder), given);
  const packageName = scope === undefined ? serverName : `@${named(scope, given)}/${serverName}`;
  return { folder, shown: shownAs(folder), packageName, serverName };
}
