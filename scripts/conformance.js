/**
 * `npm run conformance`: runs the official conformance suite against `examples/everything`, or against `--url URL`.
 * `--revision DATE` runs only one requirement set. `--verbose` also prints the known gaps.
 *
 * Fails on issues that are not in `test/conformance/known-gaps.json`, and on known gaps that no longer exist.
 */
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

import { compare, report } from './conformance-report.js';
import { ROOT, run } from './workspace.js';

const FIXTURE = join(ROOT, 'examples/everything/dist/main.js');
const HOLDER = join(ROOT, 'test/conformance');
const SUITE = join(HOLDER, 'node_modules/@modelcontextprotocol/conformance');
const RESULTS = join(ROOT, '.conformance');
const START_MS = 30_000;

const { parse } = createRequire(join(HOLDER, 'package.json'))('yaml');

/**
 * Starts the fixture on a free port. It exits with this process.
 * @returns {Promise<string>} its URL, which is the first URL that it prints
 */
function startFixture() {
  const child = spawn(process.execPath, [FIXTURE], {
    cwd: ROOT,
    env: { ...process.env, PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  process.on('exit', () => child.kill('SIGKILL'));
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`The fixture printed no URL within ${START_MS} ms.`)), START_MS);
    let printed = '';
    child.stdout.on('data', (chunk) => {
      printed += chunk;
      const url = /http:\/\/\S+/.exec(printed)?.[0];
      if (url === undefined) return;
      clearTimeout(timer);
      resolve(url);
    });
    child.on('exit', (code) => reject(new Error(`The fixture exited with code ${code}.`)));
  });
}

/**
 * Reads the checks of each scenario. The suite writes one folder for each: `server-<scenario>-<time>`.
 * @param {string} folder
 */
function readResults(folder) {
  const results = new Map();
  for (const name of existsSync(folder) ? readdirSync(folder) : []) {
    const file = join(folder, name, 'checks.json');
    const scenario = name.replace(/^server-/, '').replace(/-\d{4}-\d\d-\d\dT.*$/, '');
    if (existsSync(file)) results.set(scenario, JSON.parse(readFileSync(file, 'utf8')));
  }
  return results;
}

/**
 * Runs one requirement set. The results stay in `.conformance/` for inspection.
 * @param {string} url
 * @param {string} revision
 */
async function examine(url, revision) {
  const folder = join(RESULTS, revision);
  rmSync(folder, { recursive: true, force: true });
  const suite = ['--import', join(HOLDER, 'node20.js'), join(SUITE, 'dist/index.js')];
  const code = await run(
    process.execPath,
    [...suite, 'server', '--url', url, '--requirements', revision, '-o', folder],
    { stdio: ['ignore', 'ignore', 'inherit'] },
  );
  const requirements = parse(readFileSync(join(SUITE, 'requirements', `${revision}.yaml`), 'utf8'));
  const { issues, summary } = report(revision, requirements, readResults(folder));
  if (code !== 0 && issues.length === 0) {
    const message = `The suite exited with code ${code} although nothing failed.`;
    issues.push({ revision, scenario: 'suite', check: 'exit-code', status: 'FAILURE', message });
  }
  console.log(summary);
  return issues;
}

/** @type {(label: string, at: { revision: string, scenario: string, check?: string }, text: string) => void} */
const print = (label, { revision, scenario, check = '' }, text) =>
  console.log(`  ${label} ${revision} ${scenario} ${check}: ${text.slice(0, 240)}`);

const { values: options } = parseArgs({
  options: { url: { type: 'string' }, revision: { type: 'string' }, verbose: { type: 'boolean', default: false } },
});
const revisions = readdirSync(join(SUITE, 'requirements'))
  .map((name) => name.replace(/\.yaml$/, ''))
  .filter((revision) => options.revision === undefined || options.revision === revision)
  .sort();
if (revisions.length === 0) throw new Error(`The suite has no requirements for ${options.revision}.`);

const url = options.url ?? (await startFixture());
const issues = [];
for (const revision of revisions) issues.push(...(await examine(url, revision)));

/** @type {import('./conformance-report.js').Gap[]} */
const listed = JSON.parse(readFileSync(join(HOLDER, 'known-gaps.json'), 'utf8'));
const { unexpected, known, stale } = compare(
  issues,
  listed.filter(({ revision }) => revisions.includes(revision)),
);
for (const issue of unexpected) print(issue.status, issue, issue.message);
for (const gap of stale) print('STALE', gap, 'is in known-gaps.json, but passes now. Delete the entry.');
if (options.verbose) for (const { issue, gap } of known) print('known', issue, gap.reason);
console.log(
  `Conformance: ${unexpected.length} unexpected, ${known.length} known (test/conformance/known-gaps.json), ${stale.length} stale`,
);
// explicitly, because the running fixture keeps this process alive
process.exit(unexpected.length + stale.length === 0 ? 0 : 1);
