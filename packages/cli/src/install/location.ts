/** Where a server is: in which file, and under which name. */
import { homedir } from 'node:os';
import { basename, isAbsolute, join, relative, resolve } from 'node:path';

import { CommandFailure, EXIT } from 'create-decorum';

import { closest } from '../entry.js';
import { parseFile } from '../loader/json.js';
import { type Client, CLIENTS } from './clients.js';
import type { Target } from './edit.js';

/** Which file of a client. */
export interface Location {
  readonly scope: 'user' | 'project';
  /** Path of another file. */
  readonly config: string | undefined;
}

/** Whether a client has this name. */
export const isClientId = (id: string): boolean => CLIENTS.some((client) => client.id === id);

/**
 * The client with a name.
 * @throws {CommandFailure} with `EXIT.usage` if there is none
 */
export function clientOf(id: string | undefined): Client {
  const found = CLIENTS.find((client) => client.id === id);
  if (found !== undefined) return found;
  const names = CLIENTS.map((client) => client.id).join(', ');
  const problem = id === undefined ? 'Name a client' : `There is no client ${id}. Name one`;
  throw new CommandFailure(`${problem}: ${names}. For others, \`decorum install --print\` prints JSON.`, EXIT.usage);
}

/** The folder of the project that the working directory is in. */
export const projectFolder = (): string => closest(process.cwd(), 'package.json') ?? process.cwd();

const isBelow = (folder: string, path: string) => !/^\.\.(?:[\\/]|$)/.test(relative(folder, path));

/** @throws {CommandFailure} with `EXIT.environment` if there is no home folder */
function userPath(client: Client): string {
  const { platform, env } = process;
  const path = client.user({ platform, env, home: homedir() });
  if (isAbsolute(path)) return path;
  const remedy = 'Set HOME to the whole path of your home folder, or pass --config.';
  throw new CommandFailure(`The path of the configuration would be ${path}. ${remedy}`, EXIT.environment);
}

/** The path of a project's configuration; undefined if the client has none. */
export const projectPath = ({ project }: Client): string | undefined =>
  project === undefined ? undefined : join(projectFolder(), project);

/**
 * The path of a configuration, and whether others may read it.
 * @throws {CommandFailure} with `EXIT.usage` if the client has no configuration for projects
 */
export function locate(
  client: Client,
  { scope, config }: Location,
): { readonly path: string; readonly isShared: boolean } {
  if (config !== undefined) {
    const path = resolve(config);
    return { path, isShared: scope === 'project' || isBelow(projectFolder(), path) };
  }
  if (scope === 'user') return { path: userPath(client), isShared: false };
  const path = projectPath(client);
  if (path !== undefined) return { path, isShared: true };
  throw new CommandFailure(`${client.title} has no configuration for a project. Leave out --scope.`, EXIT.usage);
}

/** What a project says of itself. */
interface Manifest {
  readonly name?: unknown;
  readonly description?: unknown;
}

function manifestOf(folder: string): Manifest {
  const home = closest(folder, 'package.json');
  if (home === undefined) return {};
  try {
    return Object(parseFile(join(home, 'package.json'))) as Manifest;
  } catch {
    return {};
  }
}

/** What all clients accept. */
const NAME = /^[A-Za-z0-9_-]{1,64}$/;

/** Claude Code has its own servers with these names, and ignores others. */
const RESERVED: ReadonlySet<string> = new Set(['workspace', 'claude-in-chrome', 'computer-use']);

/** Names that clients mistake for something else: because of `constructor`, Claude Code reads none of the servers. */
const isTaken = (name: string): boolean => name in {} || RESERVED.has(name);

/**
 * The name of a server, and what it is.
 * @param given name from the user; by default that of the package, without its scope
 * @param folder folder of the entry
 * @throws {CommandFailure} with `EXIT.usage` if a client wouldn't accept the name
 */
export function nameOf(
  given: string | undefined,
  folder: string,
): { readonly name: string; readonly description: string } {
  const { name: packageName, description } = manifestOf(folder);
  const called = typeof packageName === 'string' ? packageName.replace(/^@[^/]*\//, '') : basename(folder);
  const name = given ?? called.replaceAll(/[^\w-]+/g, '-').slice(0, 64);
  if (NAME.test(name) && !isTaken(name)) {
    const known = typeof description === 'string' ? description.trim() : '';
    return { name, description: known || `The MCP server ${name}` };
  }
  const rule = isTaken(name) ? 'Choose another one.' : 'Use up to 64 letters from a to z, digits, "-" and "_".';
  throw new CommandFailure(`--name is ${JSON.stringify(name)}, which not all clients accept. ${rule}`, EXIT.usage);
}

/** Where an entry is in a client's configuration. */
export const targetOf = ({ format, section, key }: Client, name: string): Target => ({
  format,
  place: { section, name: key?.(name) ?? name },
});
