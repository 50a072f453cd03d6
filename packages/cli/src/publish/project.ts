/** What a project says of its package. */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { isObject } from '@decorum/core/internal';
import { CommandFailure, EXIT } from 'create-decorum';

import { closest, shown } from '../entry.js';
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
  const existing = isFile(join(folder, 'server.json')) ? readJson(join(folder, 'server.json')) : undefined;
  return { folder, described: readJson(join(folder, 'package.json')) ?? {}, existing };
}

/** Reads a file. One that is empty counts as missing: the shell empties it in `decorum publish --print > server.json`. */
function readJson(file: string): Readonly<Record<string, unknown>> | undefined {
  const text = readFileSync(file, 'utf8');
  if (text.trim() === '') return undefined;
  const value = parsed(file, text);
  if (isObject(value) && !Array.isArray(value)) return value as Record<string, unknown>;
  throw new CommandFailure(`${shown(file)} must be a JSON object.`, EXIT.failed);
}

function parsed(file: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new CommandFailure(`${shown(file)} is not valid JSON: ${(error as Error).message}`, EXIT.failed, error);
  }
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
