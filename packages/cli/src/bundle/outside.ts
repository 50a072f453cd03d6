/** Decides which packages can't be in a bundle. */
import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { closest } from '../entry.js';
import { readManifest } from '../mcpb/dependencies.js';
import { type Module, placesOf } from './places.js';

/** An installed package. */
export interface Package {
  readonly name: string;
  readonly folder: string;
}

/** The package that has a file. Files in folders with only a `type` in their package.json belong to the one above. */
export function packageOf(file: string): Package | undefined {
  const folder = closest(dirname(file), 'package.json');
  if (folder === undefined) return undefined;
  const { name } = readManifest(folder);
  return name === undefined ? packageOf(folder) : { name, folder };
}

/** Packages that load the binary of another package. */
const LOADERS =
  /^(?:bindings|(?:@mapbox\/)?node-pre-gyp|node-gyp-build(?:-optional-packages)?|prebuild-install|require-addon)$/;

/** Whether a package has, or loads, files for one kind of machine. */
export function isNative({ folder }: Package): boolean {
  const { dependencies = {}, optionalDependencies = {} } = readManifest(folder);
  if (Object.keys(dependencies).some((name) => LOADERS.test(name))) return true;
  return hasBinary(folder, 3) || Object.keys(optionalDependencies).some((name) => isForOneMachine(name, folder));
}

function hasBinary(folder: string, depth: number): boolean {
  return readdirSync(folder, { withFileTypes: true }).some((entry) => {
    if (entry.isFile()) return entry.name.endsWith('.node') || entry.name === 'binding.gyp';
    if (!entry.isDirectory() || depth === 0 || entry.name === 'node_modules') return false;
    return hasBinary(join(folder, entry.name), depth - 1);
  });
}

/** Packages with binaries say for which processor they are. */
function isForOneMachine(name: string, from: string): boolean {
  const home = closest(from, join('node_modules', name, 'package.json'));
  return home !== undefined && readManifest(join(home, 'node_modules', name)).cpu !== undefined;
}

/** Decorum's own package that asks for its path: without it, recordings don't say the version. */
const AUDIT = '@decorum/audit';

/** They need their files only for transports, which no program has that doesn't depend on pino itself. */
const LOGGERS = new Set(['pino', 'thread-stream']);
const TRANSPORTS = /^(?:nestjs-)?pino(?:$|-)/;

/**
 * Whether a module of a package reads files beside it.
 * @param names packages that the project depends on
 */
export function readsFiles(module: Module, { name }: Package, names: Iterable<string>): boolean {
  const places = placesOf(module);
  if (places.length === 0) return false;
  if (name === AUDIT || (LOGGERS.has(name) && ![...names].some((each) => TRANSPORTS.test(each)))) return false;
  // a `require` of packages that have a name needs no path
  const isRequire = /\bcreateRequire\(\s*import\.meta\.(?:url|filename)\s*\)/g;
  const rest = module.code.replace(isRequire, '');
  if (rest === module.code) return true;
  return placesOf({ ...module, code: rest }).length > 0 || /\(\s*['"`]\.{1,2}\//.test(rest);
}
