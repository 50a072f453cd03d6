/** Runs jest for the scripts, and ends it if it doesn't exit after its last test. */
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { ROOT } from './workspace.js';

const JEST = join(ROOT, 'node_modules/jest/bin/jest.js');

/**
 * @typedef {{ commit: string, changes: string }} Tree `changes` is a digest of everything that is not committed
 * @typedef {import('./requirements-report.js').TestFile} TestFile
 * @typedef {object} Results the JSON output of jest, and the tree that was tested
 * @property {Tree} tree
 * @property {TestFile[]} testResults
 * @property {number} numPassedTests
 * @property {number} numFailedTests
 * @property {number} numPendingTests
 * @property {number} numRuntimeErrorTestSuites
 */

/**
 * Identifies the files in a working tree by the commit and the changes since then.
 * @param {string} [root]
 * @returns {Tree}
 */
export function treeOf(root = ROOT) {
  const git = (/** @type {string[]} */ ...args) =>
    spawnSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 28 }).stdout ?? '';
  const added = git('ls-files', '--others', '--exclude-standard', '-z').split('\0').filter(Boolean);
  const hash = createHash('sha256').update(git('diff', 'HEAD', '--binary'));
  for (const file of added) hash.update(file).update(readFileSync(join(root, file)));
  return { commit: git('rev-parse', 'HEAD').trim(), changes: hash.digest('hex') };
}

/**
 * The open handles that keep a Node process from exiting, from its diagnostic report.
 * @param {number} pid a process that writes its report on SIGUSR2
 * @param {string} file the file for the report
 * @returns {Promise<string>}
 */
async function causeOf(pid, file) {
  process.kill(pid, 'SIGUSR2');
  for (let tries = 0; tries < 100; tries += 1) {
    await sleep(100);
    try {
      const { libuv } = JSON.parse(readFileSync(file, 'utf8'));
      const held = libuv.filter((/** @type {Record<string, unknown>} */ handle) => {
        return handle['is_active'] === true && handle['is_referenced'] === true;
      });
      return held.map((/** @type {object} */ handle) => JSON.stringify(handle)).join('\n') || 'no open handles';
    } catch {
      // not written yet, or not completely
    }
  }
  return 'It is too busy to say.';
}

/**
 * Adds to each test the rows of the requirement table that it said it covers (see `test/support/requirements.ts`).
 * @param {TestFile[]} files
 * @param {string} marks a file with a line of JSON for each test that covers rows
 */
function addRows(files, marks) {
  if (!existsSync(marks)) return;
  const lines = readFileSync(marks, 'utf8').trimEnd().split('\n');
  const rows = new Map();
  for (const { file, fullName, rows: of } of lines.map((line) => JSON.parse(line))) rows.set(`${file} ${fullName}`, of);
  for (const { name, assertionResults } of files)
    for (const test of assertionResults) {
      const of = rows.get(`${name} ${test.fullName}`);
      if (of !== undefined) test.rows = of;
    }
}

/**
 * Runs jest. Its readable report goes to stderr.
 * @param {readonly string[]} args
 * @param {object} [options]
 * @param {number} [options.lingerMs] how long jest may take to exit after its last test
 * @param {string} [options.program] path of jest
 * @returns {Promise<{ code: number, results: Results | undefined, lingered: string | undefined }>} `lingered` is set
 *   if jest had to be killed, and says what kept it from exiting
 */
export async function runJest(args, { lingerMs = 60_000, program = JEST } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'decorum-jest-'));
  const file = join(folder, 'results.json');
  const marks = join(folder, 'marks.jsonl');
  const tree = treeOf();
  const report = ['--report-on-signal', `--report-directory=${folder}`, '--report-filename=open.json'];
  const child = spawn(process.execPath, [...report, program, ...args, '--json', `--outputFile=${file}`], {
    cwd: ROOT,
    // with --json, jest writes the JSON to stdout and the readable report to stderr
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      ...process.env,
      NODE_OPTIONS: `${process.env['NODE_OPTIONS'] ?? ''} --experimental-vm-modules`.trim(),
      DECORUM_TEST_MARKS: marks,
    },
  });
  /** @type {NodeJS.Signals[]} */
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
  const forward = (/** @type {NodeJS.Signals} */ signal) => child.kill(signal);
  for (const signal of signals) process.on(signal, forward);
  /** @type {string | undefined} */
  let lingered;
  let doneAt = 0;
  // jest writes its results after the last test, before it exits
  const watch = setInterval(async () => {
    if (!existsSync(file)) return;
    doneAt ||= performance.now();
    if (performance.now() - doneAt < lingerMs) return;
    clearInterval(watch);
    lingered = await causeOf(/** @type {number} */ (child.pid), join(folder, 'open.json'));
    child.kill('SIGKILL');
  }, 250);
  const code = await new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (status) => resolve(status ?? 130));
  });
  clearInterval(watch);
  for (const signal of signals) process.off(signal, forward);
  const results = existsSync(file) ? { ...JSON.parse(readFileSync(file, 'utf8')), tree } : undefined;
  if (results !== undefined) addRows(results.testResults, marks);
  rmSync(folder, { recursive: true });
  return { code, results, lingered };
}

/** Where `npm test` keeps its results, for `npm run requirements -- --json .test-results.json`. */
export const RESULTS = join(ROOT, '.test-results.json');

/** @param {Results | undefined} results */
export function keep(results) {
  rmSync(RESULTS, { force: true });
  if (results !== undefined) writeFileSync(RESULTS, JSON.stringify(results));
}
