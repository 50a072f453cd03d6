/**
 * `npm run release`: publishes each package whose version the registry doesn't have. The release workflow runs it after
 * the pull request with the next versions has been merged. Provenance needs the repository in each package.json, so it is
 * taken from the workflow.
 *
 * Reads `GITHUB_SERVER_URL` and `GITHUB_REPOSITORY` (owner/name), and `npm_config_registry` for another registry.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { ROOT, run } from './workspace.js';

const { GITHUB_SERVER_URL: host = 'https://github.com', GITHUB_REPOSITORY: repository } = process.env;
const registry = process.env['npm_config_registry'] ?? 'https://registry.npmjs.org/';

/**
 * Stops before anything is published: half a release is worse than none.
 * @param {string} problem
 * @returns {never}
 */
function stop(problem) {
  process.stderr.write(`${problem} Nothing was published.\n`);
  process.exit(1);
}

/**
 * Says in a package.json where its source is.
 * @param {string} folder
 * @returns {string} the name of the package
 */
function stamp(folder) {
  const file = join(ROOT, 'packages', folder, 'package.json');
  const manifest = JSON.parse(readFileSync(file, 'utf8'));
  const source = { type: 'git', url: `git+${host}/${repository}.git`, directory: `packages/${folder}` };
  const stamped = { ...manifest, repository: source, bugs: `${host}/${repository}/issues` };
  writeFileSync(file, `${JSON.stringify(stamped, null, 2)}\n`);
  return manifest.name;
}

/**
 * Whether somebody else has a name. A name that nobody has is free.
 * @param {string} name
 */
async function isForeign(name) {
  const response = await fetch(new URL(encodeURIComponent(name), registry));
  if (response.status === 404) return false;
  if (!response.ok) stop(`The registry answered ${response.status} when asked for ${name}.`);
  const published = /** @type {{ repository?: { url?: string } }} */ (await response.json());
  return published.repository?.url?.includes(`/${repository}`) !== true;
}

if (repository === undefined) stop('GITHUB_REPOSITORY is not set, so packages would not say where they come from.');
const names = readdirSync(join(ROOT, 'packages')).map(stamp);
const foreign = await Promise.all(names.map(isForeign));
const taken = names.filter((_name, index) => foreign[index]);
if (taken.length > 0) stop(`These names belong to somebody else: ${taken.join(', ')}.`);

process.exitCode = await run(join(ROOT, 'node_modules/.bin/changeset'), ['publish']);
