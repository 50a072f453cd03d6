import { readFileSync } from 'node:fs';

import { CommandFailure, EXIT } from './failure.js';
import { isModernYarn, type Installer } from './installers.js';
import { isOurs, type Tarball } from './tarballs.js';

type Dependencies = Readonly<Record<string, string>>;

/** A part of a package.json in `templates`. The versions of our own packages are left empty there. */
export interface ManifestPart {
  readonly scripts?: Readonly<Record<string, string>>;
  readonly dependencies?: Dependencies;
  readonly devDependencies?: Dependencies;
}

/** The options of a project's package.json, besides its template. */
export interface ManifestOptions {
  readonly packageName: string;
  readonly installer: Installer;
  /** Our packages as tarballs in the project, if they don't come from the registry. */
  readonly tarballs: readonly Tarball[];
}

/** The folder in a project that holds tarballs of `--packages`. */
export const TARBALLS = '.packages';

const { version: OWN_VERSION } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

/** Our packages are released together, so they have the version of this one. */
const specOf = (tarball: Tarball | undefined) =>
  tarball === undefined ? `^${OWN_VERSION}` : `file:${TARBALLS}/${tarball.file}`;

const sorted = (dependencies: Dependencies): Dependencies =>
  Object.fromEntries(Object.entries(dependencies).sort(([a], [b]) => (a < b ? -1 : 1)));

/**
 * Fields that make our packages use each other's tarballs, and vitest the project's Vite: yarn would install the newest
 * one for it, beside the project's.
 */
function overrides({ installer, tarballs }: ManifestOptions, { vite }: Dependencies): object {
  const specs = overridesOf(tarballs);
  if (installer.name === 'yarn') {
    const resolutions = vite === undefined ? specs : { ...specs, vite };
    return Object.keys(resolutions).length > 0 ? { resolutions } : {};
  }
  return installer.name === 'npm' && tarballs.length > 0 ? { overrides: specs } : {};
}

/** The dependency spec of each tarball, by package name. */
export const overridesOf = (tarballs: readonly Tarball[]): Dependencies =>
  Object.fromEntries(tarballs.map((tarball) => [tarball.name, specOf(tarball)]));

/** The names of our packages in the parts of a template. */
export function ourPackages(parts: readonly ManifestPart[]): string[] {
  return parts
    .flatMap(({ dependencies, devDependencies }) => Object.keys({ ...dependencies, ...devDependencies }))
    .filter(isOurs);
}

/**
 * Composes a package.json.
 * @param parts the parts of the templates; later ones add to earlier ones
 * @throws {CommandFailure} if the project has the name of one of its dependencies
 */
export function composeManifest(parts: readonly ManifestPart[], options: ManifestOptions): string {
  const { packageName, installer, tarballs } = options;
  const filled = (dependencies: Dependencies) =>
    sorted(
      Object.fromEntries(
        Object.entries(dependencies).map(([name, range]) => [
          name,
          range === '' ? specOf(tarballs.find((tarball) => tarball.name === name)) : range,
        ]),
      ),
    );
  const merge = (key: keyof ManifestPart) => Object.assign({}, ...parts.map((part) => part[key])) as Dependencies;
  const { version, engines, ...rest } = Object.assign({}, ...parts) as Record<string, unknown>;
  const devDependencies = filled(merge('devDependencies'));
  const manifest = {
    name: packageName,
    version,
    ...rest,
    scripts: merge('scripts'),
    dependencies: filled(merge('dependencies')),
    devDependencies,
    ...overrides(options, devDependencies),
    engines,
    // npm ignores this field; the others then run in this version everywhere
    ...(installer.name !== 'npm' &&
      installer.version !== undefined && {
        packageManager: `${installer.name}@${installer.version}`,
      }),
  };
  if (packageName in { ...manifest.dependencies, ...manifest.devDependencies }) {
    const problem = `${packageName} is the name of a package that the project needs.`;
    throw new CommandFailure(`${problem} Choose another name.`, EXIT.usage);
  }
  return `${JSON.stringify(manifest, undefined, 2)}\n`;
}

/** The settings files that the package manager reads besides package.json, by file name. */
export function settingsOf({ installer, tarballs }: ManifestOptions): Readonly<Record<string, string>> {
  // `node_modules` is the layout that all programs understand; the lockfile marks the root of the project
  if (isModernYarn(installer)) return { '.yarnrc.yml': 'nodeLinker: node-modules\n', 'yarn.lock': '' };
  // yarn refuses packages whose `engines` name a newer Node.js, even if they work in this one
  if (installer.name === 'yarn') return { '.yarnrc': 'ignore-engines true\n' };
  if (installer.name !== 'pnpm') return {};
  const specs = Object.entries(overridesOf(tarballs)).map(([name, spec]) => `  '${name}': ${spec}\n`);
  const lines = [
    '# install scripts are not run; nothing here needs them, so their absence is no error\n',
    'strictDepBuilds: false\n',
    ...(specs.length > 0 ? ['\noverrides:\n', ...specs] : []),
  ];
  return { 'pnpm-workspace.yaml': lines.join('') };
}
