/** What a project says of its package. */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

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
  try {
    return JSON.parse(text) as Record<string, unknown>;
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
  const { url: given = '', directory = undefined } =
    typeof repository === 'string' ? { url: repository } : (repository ?? {});
  const short = /^(?:(github|gitlab):)?([\w.-]+\/[\w.-]+)$/.exec(given);
  const expanded = short ? `https://${short[1] ?? 'github'}.com/${short[2]}` : given;
  const url = expanded
    .replace(/^git\+/, '')
    .replace(/^(?:ssh:\/\/)?git(?:@|:\/\/)([^/:]+)[/:]/, 'https://$1/')
    .replace(/\.git$/, '');
  const source = URL.canParse(url) ? SERVICES[new URL(url).hostname] : undefined;
  return source === undefined
    ? undefined
    : { url, source, ...(directory !== undefined && { subfolder: directory.replace(/^\.\//, '') }) };
}
