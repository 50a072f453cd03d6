/**
 * Shared by the scripts: runs programs, installs with the pinned pnpm, and builds with the pinned TypeScript. Plain
 * JavaScript without dependencies, because it runs before anything is installed.
 */
import { execFileSync, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { bundle } from './bundle.js';
import { bundlePage } from './bundle-page.js';

/** The root of the repository. */
export const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));

/** @type {NodeJS.Signals[]} */
const FORWARDED = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/**
 * Runs a program in the root directory. It inherits the terminal, and signals are forwarded to it.
 * @param {string} command
 * @param {readonly string[]} args
 * @param {import('node:child_process').SpawnOptions} [options]
 * @returns {Promise<number>} its exit code; 128 or more if a signal killed it, as in a shell
 */
export function run(command, args, options = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: ROOT, stdio: ['ignore', 'inherit', 'inherit'], ...options });
    const forward = (/** @type {NodeJS.Signals} */ signal) => child.kill(signal);
    for (const signal of FORWARDED) process.on(signal, forward);
    const settle = (/** @type {() => void} */ finish) => {
      for (const signal of FORWARDED) process.off(signal, forward);
      finish();
    };
    child.on('error', (error) => settle(() => reject(error)));
    child.on('close', (code) => settle(() => resolve(code ?? 130)));
  });
}

/**
 * Like `run`, but exits if the program fails.
 * @param {string} command
 * @param {readonly string[]} args
 */
async function need(command, args) {
  const code = await run(command, args);
  if (code === 0) return;
  process.stderr.write(`\n${command} ${args.join(' ')}\nfailed with exit code ${code}\n`);
  process.exit(code);
}

/**
 * Installs the locked dependencies, for the whole workspace or for one package and its dependencies.
 * @param {string} [only] the package's name
 */
export async function install(only) {
  const { packageManager } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const filter = only === undefined ? [] : ['--filter', `${only}...`];
  // --prod=false: the compiler is a devDependency, and NODE_ENV=production would skip it
  await need('npx', ['-y', packageManager, ...filter, 'install', '--frozen-lockfile', '--prod=false']);
}

/**
 * The folders of all direct and indirect references of a TypeScript project.
 * @param {string} folder relative to the root
 * @returns {string[]}
 */
function referencesOf(folder) {
  const { references = [] } = JSON.parse(readFileSync(join(ROOT, folder, 'tsconfig.json'), 'utf8'));
  return references.flatMap((/** @type {{ path: string }} */ { path }) => {
    const project = join(folder, path);
    return [...referencesOf(project), project];
  });
}

/**
 * Whether a package is imported rather than run. Only such packages are bundled: tsc writes the JavaScript of programs.
 * @param {string} folder relative to the root
 */
function isLibrary(folder) {
  return JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8')).bin === undefined;
}

/**
 * Builds the whole workspace, or one package and its dependencies. Compiles only changed code.
 * @param {string} [only] the package's folder
 */
export async function build(only = '.') {
  const compiler = join(only, 'node_modules/ts7/bin/tsc');
  const packages = [...new Set(referencesOf(only))].filter((folder) => dirname(folder) === 'packages');
  const libraries = packages.filter(isLibrary);
  // CommonJS programs read types that only the bundler writes
  await need(process.execPath, [compiler, '-b', ...libraries]);
  await Promise.all(libraries.map((folder) => bundle(join(ROOT, folder))));
  await need(process.execPath, [compiler, '-b', only]);
  if (only === 'packages/cli' || packages.includes('packages/cli')) await bundlePage(join(ROOT, 'packages/cli'));
  if (only === '.') copyPackages(join(ROOT, 'examples/nest11'));
}

/**
 * Copies the packages to a program whose version of Nest isn't the one that the packages are built with. A linked
 * package would load its own version.
 * @param {string} program the program's folder
 */
function copyPackages(program) {
  const modules = join(program, 'dist/node_modules/@decorum');
  for (const name of ['core', 'http', 'nestjs', 'schema', 'uri-template']) {
    rmSync(join(modules, name), { recursive: true, force: true });
    for (const part of ['package.json', 'dist']) {
      cpSync(join(ROOT, 'packages', name, part), join(modules, name, part), { recursive: true });
    }
  }
}

/**
 * Copies all files that git doesn't ignore, which leaves out dependencies and builds.
 * @returns {string} the folder of the copy
 */
export function copyWorkTree() {
  const folder = mkdtempSync(join(tmpdir(), 'decorum-copy-'));
  const listed = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '-z'], { cwd: ROOT, encoding: 'utf8' });
  for (const file of listed.split('\0').filter((name) => name !== '' && existsSync(join(ROOT, name)))) {
    cpSync(join(ROOT, file), join(folder, file));
  }
  return folder;
}

/**
 * Finds a free port.
 * @returns {Promise<number>}
 */
export function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
      server.close(() => resolve(port));
    });
  });
}
