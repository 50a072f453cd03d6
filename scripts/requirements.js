/**
 * `npm run requirements [-- --check] [-- --json results.json]`: counts the rows of the requirement table
 * (`test/requirements.csv`) that are covered by a passing test, per group and revision. A test is registered for its
 * row with `eachRevision` or a similar function from `test/support/requirements.ts`.
 *
 * `--check` fails if a binding row (MUST, MUST NOT) is open in a revision without a reason in
 * `test/requirements-exempt.json`, if a reason is for a covered row or for no row at all, and if a test with a tag
 * asserts nothing. `--json` reads the results that `npm test` keeps, instead of building and running the tests. It
 * fails if the results are from another commit, or if files have changed since.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

import { runJest, treeOf } from './jest.js';
import { cellsOf, coverage, inconsistencies, parseTable, reasonFor, REVISIONS } from './requirements-report.js';
import { build, ROOT } from './workspace.js';

/** SHA-256 of the table. If you change a row, update the digest, and say why in the commit. */
const TABLE_DIGEST = '1e92542a7a26ddf1168fdb80ca773ea1a298f9fe719505f6a4f8d65766b3b138';

const { values: options } = parseArgs({ options: { check: { type: 'boolean' }, json: { type: 'string' } } });

/** @param {string} problem */
function fail(problem) {
  console.error(problem);
  process.exit(1);
}

/** @param {string} file */
const read = (file) => readFileSync(join(ROOT, file), 'utf8');

/** Builds the packages, and runs the tests that refer to the table. */
async function run() {
  await build();
  const { results, lingered } = await runJest(['--findRelatedTests', join(ROOT, 'test/support/requirements.ts')]);
  if (results === undefined) return fail('Jest wrote no results.');
  if (lingered !== undefined) fail(`All tests are done, but jest did not exit. It holds:\n${lingered}`);
  return results;
}

/**
 * Reads the results of `npm test`.
 * @param {string} file
 * @returns {import('./jest.js').Results}
 */
function stored(file) {
  const results = JSON.parse(readFileSync(file, 'utf8'));
  const now = treeOf();
  if (results.tree?.commit !== now.commit)
    fail(`${file} is from commit ${results.tree?.commit}, not from ${now.commit}. Run the tests again.`);
  if (results.tree.changes !== now.changes) fail(`Files have changed since ${file} was written. Run the tests again.`);
  return results;
}

const csv = read('test/requirements.csv');
const digest = createHash('sha256').update(csv).digest('hex');
if (digest !== TABLE_DIGEST)
  fail(
    `test/requirements.csv has changed. If this is intended, set TABLE_DIGEST in scripts/requirements.js to ${digest}.`,
  );

/** @type {import('./requirements-report.js').Exemption[]} */
const exemptions = JSON.parse(read('test/requirements-exempt.json'));
const results = options.json === undefined ? await run() : stored(options.json);
const { shown, flaws } = coverage(results?.testResults ?? []);
const table = parseTable(csv);
const cells = cellsOf(table, shown);

console.log(
  `rows covered / rows that apply\n${['group'.padEnd(8), ...REVISIONS.map((date) => date.padStart(12))].join('')}`,
);
for (const group of [...new Set(table.map((row) => row.group)), 'all']) {
  const of = cells.filter((cell) => group === 'all' || cell.group === group);
  const counts = REVISIONS.map((revision) => {
    const held = of.filter((cell) => cell.revision === revision);
    return held.length === 0 ? '–' : `${held.filter((cell) => cell.shown).length} / ${held.length}`;
  });
  if (of.length > 0) console.log([group.padEnd(8), ...counts.map((count) => count.padStart(12))].join(''));
}

/**
 * Prints the open rows of some strengths with their revisions and reasons.
 * @param {string[]} strengths
 * @returns the open rows without a reason
 */
function listOpen(strengths) {
  const open = cells.filter((cell) => strengths.includes(cell.strength) && !cell.shown);
  /** @type {Map<string, typeof open>} */
  const lines = new Map();
  for (const cell of open) {
    const reason = reasonFor(exemptions, cell);
    const key = `${cell.id}\n${reason ?? 'NO REASON GIVEN'}`;
    lines.set(key, [...(lines.get(key) ?? []), cell]);
  }
  console.log(`\nopen: ${strengths.join(', ')} (${open.length})`);
  for (const [key, of] of lines) {
    const [id = '', reason] = key.split('\n');
    console.log(
      `  ${id.padEnd(10)} ${of.map(({ revision }) => revision).join(' ')}: ${of[0]?.statement}\n    → ${reason}`,
    );
  }
  return open.filter((cell) => reasonFor(exemptions, cell) === undefined);
}

const unexcused = listOpen(['MUST', 'MUST NOT']);
listOpen(['SHOULD', 'SHOULD NOT']);
const problems = [...flaws, ...inconsistencies(cells, exemptions, shown)];
for (const problem of problems) console.log(`\n${problem}`);
console.log(`\n${unexcused.length} open MUST and MUST NOT without a reason`);
if (options.check && unexcused.length + problems.length > 0) process.exitCode = 1;
