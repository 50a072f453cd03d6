/**
 * `npm run requirements [-- --check] [-- --json results.json]`: counts the rows of the requirement table
 * (`test/requirements.csv`) that are covered by a passing test, per group and revision. A test names the row that it
 * covers: `… [TOOL-07 2025-11-25]`.
 *
 * `--check` fails if a binding row (MUST, MUST NOT) is open in a revision without a reason in
 * `test/requirements-exempt.json`. It also fails if there is a reason for a covered row.
 * `--json` reads the results of a jest run (`jest --json`) instead of running the tests.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

import { ROOT } from './workspace.js';

const REVISIONS = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28'];
const { values: options } = parseArgs({ options: { check: { type: 'boolean' }, json: { type: 'string' } } });

/** @param {string} file */
const read = (file) => readFileSync(join(ROOT, file), 'utf8');

/** Parses the table. Cells with commas are quoted, and quotes in them are doubled. */
function readTable() {
  const [, ...lines] = read('test/requirements.csv').trimEnd().split('\n');
  return lines.map((line) => {
    const cells = [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)];
    const text = (/** @type {number} */ at) => cells[at]?.[1] ?? cells[at]?.[2] ?? '';
    const [id, group, strength] = [text(0), text(1), text(2)];
    return { id, group, strength, revisions: text(3).split(', '), statement: text(4).replaceAll('""', '"') };
  });
}

/** Runs the tests that refer to the table. */
function runJest() {
  const folder = mkdtempSync(join(tmpdir(), 'decorum-requirements-'));
  const file = join(folder, 'results.json');
  const jest = [join(ROOT, 'node_modules/jest/bin/jest.js'), '--json', `--outputFile=${file}`];
  spawnSync(process.execPath, [...jest, '--findRelatedTests', join(ROOT, 'test/support/requirements.ts')], {
    cwd: ROOT,
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, NODE_OPTIONS: `${process.env['NODE_OPTIONS'] ?? ''} --experimental-vm-modules`.trim() },
  });
  const results = readFileSync(file, 'utf8');
  rmSync(folder, { recursive: true });
  return results;
}

/** Test files that could not be loaded. Their rows are open because no test ran, not because the behaviour is missing.
 * @type {string[]} */
const unloaded = [];

const TAG = /\[([A-Z0-9]+-\d+) (\d{4}-\d{2}-\d{2})\]/g;

/**
 * The rows that passing tests cover, as `id revision`. A row is not covered if any of its tests fails.
 * @param {string} json
 */
function shownBy(json) {
  const shown = new Set();
  const broken = new Set();
  for (const { name, assertionResults } of JSON.parse(json).testResults) {
    if (assertionResults.length === 0) unloaded.push(name);
    for (const { fullName, status } of assertionResults) {
      for (const [, id, revision] of fullName.matchAll(TAG))
        (status === 'passed' ? shown : broken).add(`${id} ${revision}`);
    }
  }
  for (const row of broken) shown.delete(row);
  return shown;
}

/** @typedef {{ id: string, revision?: string, reason: string }} Exemption `id` may end with `*` */
const exemptions = /** @type {Exemption[]} */ (JSON.parse(read('test/requirements-exempt.json')));

/**
 * @param {string} id
 * @param {string} revision
 */
const exemptionOf = (id, revision) =>
  exemptions.find(
    (exempt) =>
      (exempt.id.endsWith('*') ? id.startsWith(exempt.id.slice(0, -1)) : exempt.id === id) &&
      (exempt.revision ?? revision) === revision,
  );

const table = readTable();
const shown = shownBy(options.json === undefined ? runJest() : readFileSync(options.json, 'utf8'));
const cells = table.flatMap((row) =>
  row.revisions
    .filter((revision) => REVISIONS.includes(revision))
    .map((revision) => ({ ...row, revision, shown: shown.has(`${row.id} ${revision}`) })),
);

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
    const reason = exemptionOf(cell.id, cell.revision)?.reason;
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
  return open.filter(({ id, revision }) => exemptionOf(id, revision) === undefined);
}

const unexcused = listOpen(['MUST', 'MUST NOT']);
listOpen(['SHOULD', 'SHOULD NOT']);
const needless = cells.filter((cell) => cell.shown && exemptionOf(cell.id, cell.revision) !== undefined);
for (const { id, revision } of needless)
  console.log(`\n${id} ${revision} is covered. Remove its reason from test/requirements-exempt.json.`);
for (const name of unloaded) console.log(`\n${name} could not be loaded, so it covers no rows.`);
console.log(`\n${unexcused.length} open MUST and MUST NOT without a reason`);
if (options.check && unexcused.length + needless.length + unloaded.length > 0) process.exitCode = 1;
