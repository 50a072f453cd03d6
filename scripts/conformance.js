/**
 * `npm run conformance`: runs the official conformance suite against `examples/everything`, or against `--url URL`: each
 * requirement set, and all its scenarios. Runs its authorization-server scenarios against `examples/secured`.
 * `--revision DATE` runs only one requirement set, `--revision skills` only the scenarios about skills, `--revision suite`
 * only all scenarios, and `--revision authorization` only those about authorization servers. `--mounted` runs them against a
 * server that mounts `examples/everything`, and `--proxied` against a proxy of it, which has gaps of its own in
 * `proxied-gaps.json`. `--verbose` also prints the known gaps.
 *
 * Fails on issues that are not in `test/conformance/known-gaps.json`, and on known gaps that no longer exist.
 */
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

import { AUTHORIZATION, examineAuthorization } from './conformance-authorization.js';
import { compare, exitIssue, report } from './conformance-report.js';
import { examineSkills, SKILLS } from './conformance-skills.js';
import { COMMAND, HOLDER, readResults, RESULTS, startFixture, SUITE } from './conformance-suite.js';
import { examineAll, WHOLE } from './conformance-whole.js';
import { run } from './workspace.js';

const { parse } = createRequire(join(HOLDER, 'package.json'))('yaml');

/**
 * Runs one requirement set. The results stay in `.conformance/` for inspection.
 * @param {string} url
 * @param {string} revision
 */
async function examine(url, revision) {
  const folder = join(RESULTS, revision);
  rmSync(folder, { recursive: true, force: true });
  const options = ['--url', url, '--requirements', revision, '-o', folder];
  const code = await run(process.execPath, [...COMMAND, 'server', ...options], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const requirements = parse(readFileSync(join(SUITE, 'requirements', `${revision}.yaml`), 'utf8'));
  const { issues, summary } = report(revision, requirements, readResults(folder, 'server'));
  console.log(summary);
  return [...issues, ...exitIssue(revision, issues, code)];
}

/** @type {(label: string, at: { revision: string, scenario: string, check?: string }, text: string) => void} */
const print = (label, { revision, scenario, check = '' }, text) =>
  console.log(`  ${label} ${revision} ${scenario} ${check}: ${text.slice(0, 240)}`);

const { values: options } = parseArgs({
  options: {
    url: { type: 'string' },
    revision: { type: 'string' },
    mounted: { type: 'boolean', default: false },
    proxied: { type: 'boolean', default: false },
    verbose: { type: 'boolean', default: false },
  },
});
const sets = readdirSync(join(SUITE, 'requirements')).map((name) => name.replace(/\.yaml$/, ''));
sets.push(SKILLS, WHOLE);
// a server that somebody else has started has no issuer that this script could sign in at
if (options.url === undefined && !options.mounted && !options.proxied) sets.push(AUTHORIZATION);
const revisions = sets.filter((set) => options.revision === undefined || options.revision === set).sort();
if (revisions.length === 0) throw new Error(`The suite has no requirements for ${options.revision}.`);

let { url } = options;
let isProxied = false;
const issues = [];
for (const revision of revisions) {
  if (revision === AUTHORIZATION) {
    issues.push(...(await examineAuthorization()));
    continue;
  }
  url ??= await startFixture('examples/everything/dist/main.js', {
    PORT: '0',
    ...(options.mounted && { MOUNTED: '1' }),
  });
  if (options.proxied && !isProxied) url = await startFixture('test/conformance/proxied.js', { UPSTREAM: url });
  isProxied = true;
  const examineSet = { [SKILLS]: examineSkills, [WHOLE]: examineAll }[revision];
  issues.push(...(await (examineSet?.(url) ?? examine(url, revision))));
}

// a proxy has gaps of its own
const GAPS = options.proxied ? 'proxied-gaps.json' : 'known-gaps.json';
/** @type {import('./conformance-report.js').Gap[]} */
const listed = JSON.parse(readFileSync(join(HOLDER, GAPS), 'utf8'));
const { unexpected, known, stale } = compare(
  issues,
  listed.filter(({ revision }) => revisions.includes(revision)),
);
for (const issue of unexpected) print(issue.status, issue, issue.message);
for (const gap of stale) print('STALE', gap, `is in ${GAPS}, but passes now. Delete the entry.`);
if (options.verbose) for (const { issue, gap } of known) print('known', issue, gap.reason);
console.log(
  `Conformance: ${unexpected.length} unexpected, ${known.length} known (test/conformance/${GAPS}), ${stale.length} stale`,
);
// explicitly, because the running fixture keeps this process alive
process.exit(unexpected.length + stale.length === 0 ? 0 : 1);
