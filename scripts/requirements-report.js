/** Evaluates test results against the requirement table. Does no I/O. */

/**
 * @typedef {{ id: string, group: string, strength: string, revisions: string[], statement: string }} Row
 * @typedef {{ rows: string[], revision?: string, reason: string }} Exemption without `revision`, it holds for all
 * @typedef {{ fullName: string, status: string, failing?: boolean, numPassingAsserts?: number, rows?: string[] }} Assertion
 *   `rows` are those that the test says it covers, as `id revision`
 * @typedef {{ name: string, status: string, assertionResults: Assertion[] }} TestFile
 * @typedef {Row & { revision: string, shown: boolean }} Cell a row in one revision
 */

/** All revisions, oldest first. */
export const REVISIONS = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28'];

/** A row in a title, for readers. It counts only if the test says that it covers the row. */
const TAG = /\[([A-Z0-9]+-\d+ \d{4}-\d{2}-\d{2})\]/gu;

/** @param {string} title */
const tagsIn = (title) => [...title.matchAll(TAG)].map(([, row]) => /** @type {string} */ (row));

/**
 * Parses the table. Cells with commas are quoted, and quotes in them are doubled.
 * @param {string} csv
 * @returns {Row[]}
 */
export function parseTable(csv) {
  const [, ...lines] = csv.trimEnd().split('\n');
  return lines.map((line) => {
    const cells = [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)];
    const text = (/** @type {number} */ at) => cells[at]?.[1] ?? cells[at]?.[2] ?? '';
    const [id, group, strength] = [text(0), text(1), text(2)];
    return { id, group, strength, revisions: text(3).split(', '), statement: text(4).replaceAll('""', '"') };
  });
}

/**
 * Why a test doesn't count; undefined if it does. `failing` tests pass because their assertions fail.
 * @param {Assertion} test
 */
function flawOf({ fullName, status, failing, numPassingAsserts, rows = [] }) {
  if (status !== 'passed') return `is ${status}`;
  if (failing === true) return 'is marked as failing';
  if (tagsIn(fullName).some((tag) => !rows.includes(tag)))
    return 'spells its tag itself: register it with eachRevision or one of its kin';
  return numPassingAsserts ? undefined : 'asserts nothing';
}

/**
 * The rows that tests cover, as `id revision`. A row is not covered if any of its tests fails, is skipped or asserts
 * nothing. The tests of a file count only if all of them ran and passed.
 * @param {readonly TestFile[]} files
 * @returns {{ shown: Set<string>, flaws: string[] }} `flaws` are tests and files with tags that don't count,
 *   and names that several tests of a file share
 */
export function coverage(files) {
  const shown = new Set();
  const broken = new Set();
  const flaws = [];
  for (const { name, status, assertionResults } of files) {
    if (assertionResults.length === 0) flaws.push(`${name} has no results, so it covers no rows.`);
    const whole = status === 'passed' && assertionResults.every((test) => test.status === 'passed');
    const names = assertionResults.map(({ fullName }) => fullName);
    for (const twice of new Set(names.filter((each, at) => names.indexOf(each) !== at)))
      flaws.push(`${name} has several tests named "${twice}".`);
    const rows = assertionResults.flatMap((test) => {
      const flaw = flawOf(test);
      if (flaw === undefined) return test.rows ?? [];
      const tags = tagsIn(test.fullName);
      for (const tag of tags) broken.add(tag);
      if (tags.length > 0) flaws.push(`"${test.fullName}" ${flaw}.`);
      return [];
    });
    if (whole) for (const row of rows) shown.add(row);
    else if (rows.length > 0) flaws.push(`${name} did not run and pass as a whole, so it covers no rows.`);
  }
  for (const row of broken) shown.delete(row);
  return { shown, flaws };
}

/**
 * The rows in each of their revisions.
 * @param {readonly Row[]} table
 * @param {ReadonlySet<string>} shown
 * @returns {Cell[]}
 */
export function cellsOf(table, shown) {
  return table.flatMap((row) =>
    row.revisions
      .filter((revision) => REVISIONS.includes(revision))
      .map((revision) => ({ ...row, revision, shown: shown.has(`${row.id} ${revision}`) })),
  );
}

/**
 * The reason why a row may be open in a revision.
 * @param {readonly Exemption[]} exemptions
 * @param {{ id: string, revision: string }} cell
 */
export function reasonFor(exemptions, { id, revision }) {
  return exemptions.find((exempt) => exempt.rows.includes(id) && (exempt.revision ?? revision) === revision)?.reason;
}

/**
 * Messages about exemptions and tags that name no row of the table, and about exemptions for covered rows.
 * @param {readonly Cell[]} cells
 * @param {readonly Exemption[]} exemptions
 * @param {ReadonlySet<string>} shown
 * @returns {string[]}
 */
export function inconsistencies(cells, exemptions, shown) {
  const known = new Set(cells.map(({ id, revision }) => `${id} ${revision}`));
  const ids = new Set(cells.map(({ id }) => id));
  const dangling = exemptions.flatMap(({ rows, revision }) =>
    rows
      .filter((id) => (revision === undefined ? !ids.has(id) : !known.has(`${id} ${revision}`)))
      .map((id) => `test/requirements-exempt.json names ${[id, revision].join(' ').trim()}, which is not a row.`),
  );
  const claimed = [...shown].filter((row) => !known.has(row)).map((row) => `A test covers ${row}, which is not a row.`);
  const needless = cells
    .filter((cell) => cell.shown && reasonFor(exemptions, cell) !== undefined)
    .map(({ id, revision }) => `${id} ${revision} is covered. Remove its reason from test/requirements-exempt.json.`);
  return [...dangling, ...claimed, ...needless];
}
