/** What a project says of its package. */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { CommandFailure, EXIT } from 'create-decorum';

import { closest } from '../entry.js';
import { readJsonObject } from '../json-file.js';
import { isFile } from '../loader/resolve.js';

/** The part of package.json that describes the server. */
export interface Package {
  readonly name?: string;
  readonly version?: string;
  readonly description?: string;
  readonly private?: boolean;
  readonly bin?: string | object;
  readonly homepage?: string;
  readonly repository?: string | { readonly url?: string; readonly directory?: string };
  /** The name in the MCP registry. */
  readonly mcpName?: string;
}

/** The name of a package without its scope, which its bundle for desktop clients has. */
export const plainName = ({ name = 'server' }: Pick<Package, 'name'>): string => name.replace(/^@[^/]+\//, '');

/** A project, and its `server.json` if there is one. */
export interface Project {
  readonly folder: string;
  readonly described: Package;
  readonly existing: Readonly<Record<string, unknown>> | undefined;
}

/**
 * Reads the project of a program.
 * @param entry absolute path of the program
 * @throws {CommandFailure}
 */
export function readProject(entry: string): Project {
  const folder = closest(dirname(entry), 'package.json');
  if (folder === undefined) {
    throw new CommandFailure('server.json is made from package.json, and there is none.', EXIT.failed);
  }
  const file = join(folder, 'server.json');
  // the shell empties it in `decorum publish --print > server.json`
  const isThere = isFile(file) && readFileSync(file, 'utf8').trim() !== '';
  return {
    folder,
    described: readJsonObject(join(folder, 'package.json')),
    existing: isThere ? readJsonObject(file) : undefined,
  };
}

/** A repository on the web. */
export interface Repository {
  readonly url: string;
  readonly source: string;
  readonly subfolder?: string;
}

const SERVICES: Readonly<Record<string, string>> = { 'github.com': 'github', 'gitlab.com': 'gitlab' };

/** The repository, in the notation of the web. Undefined if it isn't at a service that the registry knows. */
export function repositoryOf({ repository }: Package): Repository | undefined {
  const { url: given = '', directory = '' } = typeof repository === 'string' ? { url: repository } : (repository ?? {});
  if (typeof given !== 'string') return undefined;
  const short = /^(?:(github|gitlab):)?([\w.-]+\/[\w.-]+)(?:#.*)?$/.exec(given);
  const expanded = short ? `https://${short[1] ?? 'github'}.com/${short[2]}` : given;
  const url = expanded.replace(/^git\+/, '').replace(/^(?:ssh:\/\/)?git(?:@|:\/\/)([^/:]+)[/:]/, 'https://$1/');
  if (!URL.canParse(url)) return undefined;
  // without the rest, such as a password or the path of a branch
  const { hostname, pathname } = new URL(url);
  const source = SERVICES[hostname.replace(/^www\./, '')];
  const path = /^(?:\/[\w.-]+){2,}/.exec(
    pathname.replace(source === 'github' ? /^((?:\/[^/]+){2}).*/ : /\/-\/.*/, '$1'),
  );
  if (source === undefined || path === null) return undefined;
  const subfolder = subfolderOf(directory);
  return {
    url: `https://${source}.com${path[0].replace(/\.git$/, '')}`,
    source,
    ...(subfolder !== undefined && { subfolder }),
  };
}

/** The folder of a package, if it is one that the registry takes. */
function subfolderOf(directory: unknown): string | undefined {
  const names = typeof directory === 'string' ? directory.split('/').filter((name) => name !== '' && name !== '.') : [];
  const isClean = names.length > 0 && names.every((name) => name !== '..' && /^[\w.-]+$/.test(name));
  return isClean ? names.join('/') : undefined;
}
