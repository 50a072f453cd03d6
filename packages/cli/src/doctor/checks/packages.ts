import { realpathSync } from 'node:fs';

import semver from 'semver';

import {
  dependenciesOf,
  installedFrom,
  isPlugAndPlay,
  type Manifest,
  manifestIn,
  type Place,
  shownFolder,
} from '../place.js';
import { type Result, resultsOf } from '../result.js';

const results = resultsOf('packages');
const copies = resultsOf('copies');

/** Packages that keep what decorators declare, or classes that are compared: two copies don't know each other's. */
const SHARED = [
  '@decorum/core',
  '@decorum/schema',
  'class-validator',
  'class-transformer',
  '@nestjs/common',
  '@nestjs/core',
];

const isDecorum = (name: string): boolean => name.startsWith('@decorum/');

interface Installed {
  readonly name: string;
  readonly folder: string;
  readonly manifest: Manifest;
}

/** The packages of Decorum that the project has, and those that they need. */
function decorumIn({ root, manifest }: Place): Installed[] {
  const found = new Map<string, Installed>();
  const add = (from: string, { dependencies, devDependencies, peerDependencies }: Manifest): void => {
    for (const name of Object.keys({ ...peerDependencies, ...devDependencies, ...dependencies }).filter(isDecorum)) {
      const link = installedFrom(from, name);
      const folder = link && realpathSync(link);
      const its = folder && manifestIn(folder);
      if (!folder || !its || found.has(folder)) continue;
      found.set(folder, { name, folder, manifest: its });
      add(folder, { ...its, devDependencies: {} });
    }
  };
  add(root, manifest ?? {});
  return [...found.values()];
}

function missing({ root, manifest }: Place): Result[] {
  const names = Object.keys(dependenciesOf(manifest)).filter(isDecorum);
  const absent = names.filter((name) => installedFrom(root, name) === undefined);
  if (absent.length === 0) return [];
  return [results.problem(`${absent.join(', ')} in package.json, but not installed`, 'run `npm install`')];
}

function mixed(installed: readonly Installed[]): Result[] {
  const versions = new Map(
    installed.map(({ name, manifest }) => [`${name} ${manifest.version ?? '?'}`, manifest.version]),
  );
  if (new Set(versions.values()).size <= 1) return [];
  const fix = 'install the same version of all packages of Decorum';
  return [results.problem(`versions are mixed: ${[...versions.keys()].sort().join(', ')}`, fix)];
}

function peers({ root }: Place, installed: readonly Installed[]): Result[] {
  const found = installed.flatMap(({ name, folder, manifest }) =>
    Object.entries(manifest.peerDependencies ?? {}).flatMap(([peer, range]) => {
      const home = installedFrom(folder, peer) ?? installedFrom(root, peer);
      const version = home === undefined ? undefined : manifestIn(home)?.version;
      const isOptional = manifest.peerDependenciesMeta?.[peer]?.optional === true;
      if (version === undefined) {
        return isOptional ? [] : [`${name} needs ${peer}, which is not installed`];
      }
      const isKnown = semver.validRange(range) !== null && semver.valid(version) !== null;
      return isKnown && !semver.satisfies(version, range) ? [`${name} needs ${peer} ${range}, not ${version}`] : [];
    }),
  );
  return [...new Set(found)].map((text) => results.problem(text, 'install a version that fits'));
}

const PLUG_AND_PLAY =
  "Yarn's Plug'n'Play leaves no node_modules, where `decorum build` looks for the compiler and for packages";

/** Checks which packages are installed, in which versions. */
export function checkPackages(place: Place): Result[] {
  if (place.manifest === undefined) return [];
  if (isPlugAndPlay(place)) return [results.problem(PLUG_AND_PLAY, 'set `nodeLinker: node-modules` in .yarnrc.yml')];
  const installed = decorumIn(place);
  const found = [...missing(place), ...mixed(installed), ...peers(place, installed)];
  if (found.length > 0) return found;
  const [first] = installed;
  return first === undefined
    ? []
    : [results.ok(`${installed.length} packages of Decorum, all ${first.manifest.version ?? ''}`)];
}

/** Who loads a package, from where, and which packages it needs. */
interface User {
  readonly name: string;
  readonly folder: string;
  /** Undefined for all. */
  readonly needs: object | undefined;
}

const needsOf = ({ peerDependencies, dependencies }: Manifest): object => ({ ...peerDependencies, ...dependencies });

/** Who finds a copy of a package: the project, Decorum, and direct dependencies with classes that use it. */
function usersOf(place: Place): readonly User[] {
  const { root, manifest } = place;
  const direct = Object.keys(dependenciesOf(manifest)).flatMap((name): readonly User[] => {
    const link = installedFrom(root, name);
    const folder = link && realpathSync(link);
    const its = folder && manifestIn(folder);
    return folder && its ? [{ name, folder, needs: needsOf(its) }] : [];
  });
  const own = decorumIn(place).map(({ name, folder, manifest: its }) => ({ name, folder, needs: needsOf(its) }));
  return [{ name: 'the project', folder: root, needs: undefined }, ...own, ...direct];
}

/** Checks that there is one copy of the packages that decorators write to. */
export function checkCopies(place: Place): Result[] {
  if (place.manifest === undefined) return [];
  const users = usersOf(place);
  const found = SHARED.flatMap((shared) => {
    const folders = new Map<string, string>();
    for (const { name, folder, needs } of users) {
      // pnpm puts packages of others where Node.js would find them
      if (needs !== undefined && !(shared in needs)) continue;
      const link = installedFrom(folder, shared);
      const home = link && realpathSync(link);
      if (home && !folders.has(home)) folders.set(home, `${shownFolder(home)} (found from ${name})`);
    }
    if (folders.size < 2) return [];
    const fix =
      'run `npm dedupe` or `pnpm dedupe`. In a workspace, use one version, and make it a peer dependency of libraries';
    const text = `${folders.size} copies of ${shared}, and what one knows is invisible to the other`;
    return [copies.problem(`${text}: ${[...folders.values()].join(', ')}`, fix)];
  });
  return found.length > 0 ? found : [copies.ok('one of each package that decorators write to')];
}
