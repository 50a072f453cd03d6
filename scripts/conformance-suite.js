/** The official conformance suite: where it is, and what it leaves behind. */
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { ROOT } from './workspace.js';

/** The folder that pins the suite. */
export const HOLDER = join(ROOT, 'test/conformance');
/** The suite itself. */
export const SUITE = join(HOLDER, 'node_modules/@modelcontextprotocol/conformance');
/** Where results stay for inspection. */
export const RESULTS = join(ROOT, '.conformance');
/** The arguments of Node that run the suite. */
export const COMMAND = ['--import', join(HOLDER, 'node20.js'), join(SUITE, 'dist/index.js')];

const START_MS = 30_000;

/**
 * Starts a server under test. It exits with this process.
 * @param {string} file
 * @param {Readonly<Record<string, string>>} env
 * @returns {Promise<string>} its URL, which is the first URL that it prints
 */
export function startFixture(file, env) {
  const child = spawn(process.execPath, [join(ROOT, file)], {
    cwd: ROOT,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  process.on('exit', () => child.kill('SIGKILL'));
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`${file} printed no URL within ${START_MS} ms.`)), START_MS);
    let printed = '';
    child.stdout.on('data', (chunk) => {
      printed += chunk;
      const url = /http:\/\/\S+/.exec(printed)?.[0];
      if (url === undefined) return;
      clearTimeout(timer);
      resolve(url);
    });
    child.on('exit', (code) => reject(new Error(`${file} exited with code ${code}.`)));
  });
}

/**
 * Reads the checks of each scenario. The suite writes one folder for each: `<role>-<scenario>-<time>`.
 * @param {string} folder
 * @param {'server' | 'authorization-server'} role
 * @returns {Map<string, import('./conformance-report.js').Check[]>}
 */
export function readResults(folder, role) {
  const results = new Map();
  for (const name of existsSync(folder) ? readdirSync(folder) : []) {
    const file = join(folder, name, 'checks.json');
    const scenario = name.slice(role.length + 1).replace(/-\d{4}-\d\d-\d\dT.*$/, '');
    if (existsSync(file)) results.set(scenario, JSON.parse(readFileSync(file, 'utf8')));
  }
  return results;
}
