import { existsSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

import { type PathConditionsMap, resolveImports } from 'resolve-pkg-maps';

import { parseFile } from './json.js';
import { projectOf, rootsOf } from './project.js';

/** The folder of a package, and `imports` of its package.json. */
interface Package {
  readonly folder: string;
  readonly imports: PathConditionsMap;
}

const packages = new Map<string, Package | undefined>();

/** The nearest package with a package.json. */
function packageAt(folder: string): Package | undefined {
  if (packages.has(folder)) return packages.get(folder);
  const found = readPackage(folder);
  packages.set(folder, found);
  return found;
}

function readPackage(folder: string): Package | undefined {
  try {
    const { imports = {} } = parseFile(join(folder, 'package.json')) as Partial<Package>;
    return { folder, imports };
  } catch {
    // no readable package.json here; Node.js itself reports an unreadable one
    const parent = dirname(folder);
    return parent === folder ? undefined : packageAt(parent);
  }
}

/** The paths that a package's `imports` names for a specifier. */
function targetsOf(specifier: string, parent: string): readonly string[] {
  const found = packageAt(dirname(parent));
  if (found === undefined) return [];
  try {
    const targets = resolveImports(found.imports, specifier, ['node', 'import', 'require']);
    return targets.filter((each) => each.startsWith('./')).map((each) => join(found.folder, each));
  } catch {
    // Node.js reports what is not defined
    return [];
  }
}

/**
 * The paths of sources that `imports` of the package.json may mean, whether or not the files exist. As in TypeScript, a
 * path below `outDir` stands for the source that is compiled to it.
 * @param specifier that begins with `#`
 * @param parent path of the importing file
 */
export function importCandidates(specifier: string, parent: string): readonly string[] {
  const { file: tsconfig, options } = projectOf(parent);
  const outDir = tsconfig !== undefined && options.outDir !== undefined && resolve(dirname(tsconfig), options.outDir);
  return targetsOf(specifier, parent).flatMap((target) => {
    const path = outDir ? relative(outDir, target) : '..';
    if (!path.startsWith('..')) return rootsOf(parent).map((root) => join(root, path));
    // Node.js finds files that exist, by the conditions of the import
    return existsSync(target) ? [] : [target];
  });
}
