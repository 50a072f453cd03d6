/** What published packages contain: all that they promise, and nothing of the workspace. */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Files of any package, without its sources and notes. The templates of `create-decorum` are sources of users. */
const ALLOWED = /^(?:package\.json|README\.md|LICENSE|CHANGELOG\.md|bin\/[\w.-]+\.js|dist\/.+|templates\/.+)$/;
const FORBIDDEN = /\.tsbuildinfo$|(?:^|\/)node_modules\/|(?:^|\/)\.(?:env|npmrc)$|\.d\.[cm]?ts\.map$/;

/** A package is small enough to be read: the largest holds a page with its scripts. */
const MAX_BYTES = 2_000_000;

/**
 * All files that fields such as `exports` and `bin` name.
 * @param {unknown} value
 * @returns {string[]}
 */
const filesIn = (value) => {
  if (typeof value === 'string') return value.startsWith('./') ? [value.slice(2)] : [];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(filesIn) : [];
};

/**
 * @param {Record<string, any>} manifest
 * @param {readonly string[]} files
 * @param {string} version
 */
function problemsOf(manifest, files, version) {
  const { exports, bin, repository, license, dependencies = {}, peerDependencies = {} } = manifest;
  const ranges = Object.entries({ ...dependencies, ...peerDependencies });
  const named = [...filesIn(exports), ...filesIn(bin)];
  return [
    ...(manifest['version'] === version ? [] : [`has the version ${manifest['version']}`]),
    ...(repository?.directory === undefined ? ['does not say where its source is'] : []),
    ...(license === 'MIT' ? [] : ['has no license']),
    ...['README.md', 'LICENSE', 'CHANGELOG.md'].filter((file) => !files.includes(file)).map((file) => `lacks ${file}`),
    ...named.filter((file) => !files.includes(file)).map((file) => `names ${file}, which it lacks`),
    ...files.filter((file) => !ALLOWED.test(file) || FORBIDDEN.test(file)).map((file) => `contains ${file}`),
    ...ranges
      .filter(([, range]) => /^(?:workspace|file|link):/.test(String(range)))
      .map(([name]) => `needs ${name} of the workspace`),
  ];
}

/**
 * Looks into each package in the registry.
 * @param {import('./registry.js').Registry} registry
 * @param {{ copy: string, version: string }} release
 * @returns {Promise<string[]>} the names of the packages
 * @throws {Error} with all that is wrong
 */
export async function checkContents(registry, { copy, version }) {
  const names = [];
  const problems = [];
  for (const folder of readdirSync(join(copy, 'packages'))) {
    const { name } = JSON.parse(readFileSync(join(copy, 'packages', folder, 'package.json'), 'utf8'));
    const { dist } = await registry.manifest(name);
    const tarball = Buffer.from(await (await fetch(dist.tarball)).arrayBuffer());
    const tar = (/** @type {string[]} */ ...args) =>
      execFileSync('tar', args, { input: tarball, encoding: 'utf8', maxBuffer: 64_000_000 });
    const files = tar('-tzf', '-')
      .split('\n')
      .filter((file) => file !== '' && !file.endsWith('/'));
    const manifest = JSON.parse(tar('-xzOf', '-', 'package/package.json'));
    const found = problemsOf(
      manifest,
      files.map((file) => file.replace(/^package\//, '')),
      version,
    );
    if (tarball.length > MAX_BYTES) found.push(`has ${tarball.length} bytes`);
    problems.push(...found.map((each) => `${name} ${each}`));
    names.push(name);
  }
  if (problems.length > 0) throw new Error(`The packages are not fit to be published:\n${problems.join('\n')}`);
  return names;
}
