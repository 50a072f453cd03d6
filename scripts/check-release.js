/**
 * `npm run check:release`: a release that nobody sees. It takes a copy of the work tree, gives all packages their next
 * version, publishes them to a registry on this machine, and looks at what they contain. Then it creates a project from
 * this registry with each package manager, in an empty folder, and talks to it through the configuration of a client.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { checkContents } from './release/contents.js';
import { tryOut } from './release/try-out.js';
import { Registry } from './release/registry.js';
import { copyWorkTree, ROOT } from './workspace.js';

/**
 * Runs a program, and prints what it says only if it fails.
 * @param {string[]} command
 * @param {{ cwd: string, env?: NodeJS.ProcessEnv }} options
 */
function need([program = '', ...args], options) {
  try {
    return execFileSync(program, args, { ...options, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  } catch (error) {
    const { stdout = '', stderr = '' } = /** @type {{ stdout?: string, stderr?: string }} */ (error);
    throw new Error(`${program} ${args.join(' ')} failed:\n${stdout}\n${stderr}`, { cause: error });
  }
}

/**
 * A copy of the work tree with what has been installed and built here, as a repository: changesets asks git when each
 * change came.
 */
function copyBuilt() {
  const copy = copyWorkTree();
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
  for (const name of readdirSync(join(ROOT, 'packages'))) {
    for (const part of ['dist', 'node_modules']) {
      const paths = /** @type {const} */ ([join(ROOT, 'packages', name, part), join(copy, 'packages', name, part)]);
      cpSync(...paths, { recursive: true, verbatimSymlinks: true });
    }
  }
  const user = ['-c', 'user.name=release', '-c', 'user.email=release@localhost'];
  need(['git', 'init', '--quiet'], { cwd: copy });
  need(['git', 'add', '--all'], { cwd: copy });
  need(['git', ...user, 'commit', '--quiet', '--message', 'the work tree'], { cwd: copy });
  return copy;
}

/**
 * Publishes all packages as the release workflow does.
 * @param {string} copy
 * @param {Registry} registry
 * @returns {string} the version of the packages
 */
function publish(copy, registry) {
  const { packageManager } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  need(['npm', 'run', '--silent', 'release:version'], { cwd: copy });
  if (readdirSync(join(copy, '.changeset')).some((file) => /^(?!README).*\.md$/.test(file)))
    throw new Error('release:version left some changesets.');
  writeFileSync(join(copy, '.npmrc'), registry.npmrc());
  // changesets publishes with the package manager that runs it
  const env = { ...registry.env(), GITHUB_REPOSITORY: 'decorum/decorum' };
  need(['npx', '-y', packageManager, 'run', '--silent', 'release'], { cwd: copy, env });
  return versionIn(copy);
}

/**
 * A feature of one package is a minor version of all, not a major one: packages that name another as a peer must accept
 * its next minor version.
 * @param {string} copy
 * @param {string} version the version before
 */
function expectMinor(copy, version) {
  writeFileSync(join(copy, '.changeset/feature.md'), "---\n'@decorum/http': minor\n---\n\nA feature.\n");
  need(['npm', 'run', '--silent', 'release:version'], { cwd: copy });
  const [major, minor] = version.split('.');
  const next = versionIn(copy);
  if (next !== `${major}.${Number(minor) + 1}.0`)
    throw new Error(`A feature takes the packages from ${version} to ${next}.`);
}

/** @param {string} copy */
const versionIn = (copy) => JSON.parse(readFileSync(join(copy, 'packages/core/package.json'), 'utf8')).version;

const copy = copyBuilt();
const registry = await Registry.start();
try {
  const version = publish(copy, registry);
  const names = await checkContents(registry, { copy, version });
  console.log(`release: ${names.length} packages of version ${version} in the registry`);
  expectMinor(copy, version);
  for (const installer of /** @type {const} */ (['npm', 'pnpm', 'yarn'])) {
    await tryOut(registry, installer);
    console.log(`release: ${installer} creates a project that answers a client`);
  }
} finally {
  await registry.stop();
  rmSync(copy, { recursive: true, force: true });
}
