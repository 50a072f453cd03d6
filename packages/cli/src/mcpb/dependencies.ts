/** Finds the installed packages that a bundle needs, and their paths in the bundle. */
import { realpathSync } from 'node:fs';
import { join } from 'node:path';

import { CommandFailure, EXIT } from 'create-decorum';

import { closest } from '../entry.js';
import { readJsonObject } from '../json-file.js';

/** The part of package.json that is read. */
export interface Manifest {
  readonly name?: string;
  readonly version?: string;
  readonly description?: string;
  readonly author?: string | { readonly name?: string; readonly email?: string; readonly url?: string };
  readonly homepage?: string;
  readonly repository?: string | { readonly url?: string; readonly directory?: string };
  readonly bugs?: string | { readonly url?: string };
  readonly keywords?: readonly string[];
  readonly os?: readonly string[];
  readonly engines?: { readonly node?: string };
  readonly license?: string;
  readonly type?: string;
  readonly files?: readonly string[];
  readonly cpu?: readonly string[];
  /** `pnpm@10.34.8` */
  readonly packageManager?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}

/** Reads the package.json of a folder. */
export const readManifest = (folder: string): Manifest => readJsonObject(join(folder, 'package.json'));

/** The real folder of a package, as Node.js finds it from another folder. */
function findPackage(name: string, from: string): string | undefined {
  const home = closest(from, join('node_modules', name, 'package.json'));
  return home && realpathSync(join(home, 'node_modules', name));
}

/** Package folders by path in the bundle: `node_modules/ajv`, or inside another package for a second version. */
export type Placed = Map<string, string>;

interface Found {
  readonly name: string;
  readonly folder: string;
}

interface Package {
  readonly folder: string;
  /** Its path in the bundle. */
  readonly path: string;
}

/** The folder that a package in the bundle would load for a name. */
function visible(placed: Placed, name: string, path: string): string | undefined {
  const found = placed.get(join(path, 'node_modules', name));
  if (found !== undefined || path === '') return found;
  const parent = path.lastIndexOf('node_modules');
  return visible(placed, name, parent <= 0 ? '' : path.slice(0, parent - 1));
}

/**
 * @param used optional peers of which a package gets its copy
 * @throws {CommandFailure} for a required package that is not installed
 */
function dependenciesOf({ folder }: Package, used: ReadonlySet<string>): readonly Found[] {
  const { dependencies = {}, optionalDependencies = {}, ...more } = readManifest(folder);
  const { peerDependencies = {}, peerDependenciesMeta = {} } = more;
  const peers = Object.keys(peerDependencies).filter((name) => !peerDependenciesMeta[name]?.optional || used.has(name));
  const names = new Set([...Object.keys(dependencies), ...Object.keys(optionalDependencies), ...peers]);
  return [...names].flatMap((name) => {
    const found = findPackage(name, folder);
    if (found !== undefined) return { name, folder: found };
    if (dependencies[name] === undefined || optionalDependencies[name] !== undefined) return [];
    throw new CommandFailure(`${name} is not installed. Install the dependencies of the project.`, EXIT.environment);
  });
}

/**
 * The packages that a project needs to run, whichever package manager has installed them.
 * @param project its folder
 */
export function placeDependencies(project: string): Placed {
  // if a project uses an optional peer, it depends on that package itself
  return placeAll(new Map(), [{ folder: realpathSync(project), path: '' }], new Set());
}

/**
 * Some packages, and those that they need.
 * @param packages their folders by name
 * @param used optional peers that the project uses
 */
export function placePackages(packages: ReadonlyMap<string, string>, used: ReadonlySet<string>): Placed {
  const roots = [...packages].map(([name, folder]) => ({ folder, path: join('node_modules', name) }));
  return placeAll(new Map(roots.map(({ path, folder }) => [path, folder])), roots, used);
}

function placeAll(placed: Placed, roots: readonly Package[], used: ReadonlySet<string>): Placed {
  const pending = [...roots];
  for (const each of pending) {
    for (const { name, folder } of dependenciesOf(each, used)) {
      const known = visible(placed, name, each.path);
      if (known === folder) continue;
      const path = join(known === undefined ? '' : each.path, 'node_modules', name);
      placed.set(path, folder);
      pending.push({ folder, path });
    }
  }
  return placed;
}
