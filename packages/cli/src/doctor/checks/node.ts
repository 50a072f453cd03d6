import { fileURLToPath } from 'node:url';

import semver from 'semver';

import { manifestIn, type Place } from '../place.js';
import { type Result, resultsOf } from '../result.js';

const results = resultsOf('Node.js');
const FIX = 'install Node.js 24, or another version that fits';

/** The versions of Node.js that the command line and all other packages need. */
const OURS = manifestIn(fileURLToPath(new URL('../../../', import.meta.url)))?.engines?.['node'] ?? '*';

/** Nightly builds of a version count as this version. */
const satisfies = (version: string, range: string) => semver.satisfies(version, range, { includePrerelease: true });

/**
 * Checks the version of Node.js.
 * @param version the one that runs
 */
export function checkNode({ manifest }: Place, version = process.versions.node): Result[] {
  if (!satisfies(version, OURS)) return [results.problem(`${version} is too old: Decorum needs ${OURS}`, FIX)];
  const wanted = manifest?.engines?.['node'];
  if (wanted !== undefined && semver.validRange(wanted) !== null && !satisfies(version, wanted)) {
    return [results.problem(`${version} runs, but \`engines\` of package.json asks for ${wanted}`, FIX)];
  }
  if (semver.major(version) % 2 === 1)
    return [results.warning(`${version} has an odd number: such versions aren't tested with Decorum`, FIX)];
  return [results.ok(version)];
}
