import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { CommandFailure, EXIT } from 'create-decorum';
import semver from 'semver';

/** The exports of rolldown. */
export type Rolldown = typeof import('rolldown');

/** The versions that `peerDependencies` of this package has, too. */
const RANGE = '^1.2.0';

const INSTALL = `Run \`npm install -D rolldown@${RANGE}\` (pnpm add -D, yarn add -D).`;

/**
 * Loads the rolldown of a project or, if it has none, that of this package.
 * @param project its folder
 * @throws {CommandFailure} if none is installed, or one that this package doesn't know
 */
export async function loadRolldown(project: string): Promise<Rolldown> {
  const require = [join(project, 'package.json'), import.meta.url].map(createRequire).find(hasRolldown);
  if (require === undefined) {
    throw new CommandFailure(`--bundle needs rolldown, which is not installed here. ${INSTALL}`, EXIT.environment);
  }
  const { version } = require('rolldown/package.json') as { readonly version: string };
  if (!semver.satisfies(version, RANGE)) {
    const problem = `--bundle needs rolldown ${RANGE}, but ${version} is installed.`;
    throw new CommandFailure(`${problem} ${INSTALL}`, EXIT.environment);
  }
  return (await import(pathToFileURL(require.resolve('rolldown')).href)) as Rolldown;
}

function hasRolldown(require: NodeJS.Require): boolean {
  try {
    return require.resolve('rolldown/package.json') !== '';
  } catch {
    return false;
  }
}
