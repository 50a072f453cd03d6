import { dirname, join, resolve } from 'node:path';

import { CommandFailure, EXIT } from 'create-decorum';

import { closest, ENTRIES, shown } from '../entry.js';
import { parseFile } from '../loader/json.js';
import { isFile } from '../loader/resolve.js';
import { programEnv } from '../program-env.js';

/** The part of a package.json that is read. */
export interface Manifest {
  readonly name?: string;
  readonly version?: string;
  readonly type?: string;
  readonly scripts?: Readonly<Record<string, string>>;
  readonly workspaces?: unknown;
  readonly engines?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}

/** Where the doctor looks. */
export interface Place {
  /** The folder of the package.json, or else the working directory. */
  readonly root: string;
  /** Undefined if there is no package.json, or none that can be read. */
  readonly manifest: Manifest | undefined;
  /** Absolute path of the program; undefined if there is none. */
  readonly entry: string | undefined;
  /** The variables of the process, and those of `.env`. */
  readonly env: Readonly<NodeJS.ProcessEnv>;
}

/** A package.json; undefined if it is missing or isn't an object of JSON. */
export function manifestIn(folder: string): Manifest | undefined {
  try {
    const parsed = parseFile(join(folder, 'package.json'));
    return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}

/** The folder of an installed package, as Node.js finds it from a folder; undefined if it isn't installed. */
export function installedFrom(folder: string, name: string): string | undefined {
  const found = join(folder, 'node_modules', name);
  if (isFile(join(found, 'package.json'))) return found;
  return dirname(folder) === folder ? undefined : installedFrom(dirname(folder), name);
}

/** Whether yarn has installed the packages without a folder for each. */
export const isPlugAndPlay = ({ root }: Pick<Place, 'root'>): boolean => closest(root, '.pnp.cjs') !== undefined;

/** All direct dependencies with their ranges. */
export const dependenciesOf = (manifest: Manifest = {}): Readonly<Record<string, string>> => ({
  ...manifest.peerDependencies,
  ...manifest.devDependencies,
  ...manifest.dependencies,
});

/**
 * @param entry file of the program, as the user named it
 * @throws {CommandFailure} with `EXIT.usage` if the user names a file that doesn't exist
 */
export function placeOf(entry: string | undefined): Place {
  if (entry !== undefined && !isFile(resolve(entry))) {
    throw new CommandFailure(`There is no file ${entry} in ${process.cwd()}.`, EXIT.usage);
  }
  const folder = entry === undefined ? process.cwd() : dirname(resolve(entry));
  const root = closest(folder, 'package.json') ?? process.cwd();
  const candidates = entry === undefined ? ENTRIES.map((each) => join(root, each)) : [resolve(entry)];
  return { root, manifest: manifestIn(root), entry: candidates.find(isFile), env: programEnv(root, '') };
}

/** A folder as the user would write it. */
export const shownFolder = (folder: string): string => shown(folder) || '.';
