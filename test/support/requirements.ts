import { appendFileSync, readFileSync } from 'node:fs';

import { expect, it } from '@jest/globals';

/** One row of the requirement table. */
export interface Requirement {
  readonly id: string;
  readonly group: string;
  /** `MUST`, `SHOULD NOT` and so on. `SCHEMA` and `ADVICE` are not terms of the specification. */
  readonly strength: string;
  /** The revisions that the row applies to. */
  readonly revisions: readonly string[];
  readonly statement: string;
  /** How to observe the requirement on the wire. */
  readonly observe: string;
}

const TABLE = new URL('../requirements.csv', import.meta.url);

/** Parses one line of CSV (RFC 4180). */
function cellsOf(line: string): string[] {
  return [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(([, quoted, plain]) =>
    quoted === undefined ? (plain as string) : quoted.replaceAll('""', '"'),
  );
}

function read(): Requirement[] {
  const [, ...lines] = readFileSync(TABLE, 'utf8').trimEnd().split('\n');
  return lines.map((line) => {
    const [id, group, strength, revisions, statement, observe] = cellsOf(line) as [
      string,
      string,
      string,
      string,
      string,
      string,
    ];
    return { id, group, strength, revisions: revisions.split(', '), statement, observe };
  });
}

/** All rows by id. */
export const REQUIREMENTS: ReadonlyMap<string, Requirement> = new Map(read().map((row) => [row.id, row]));

/** The revisions with sessions, oldest first. */
export const SESSION_REVISIONS = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'] as const;

/** The revision without sessions. */
export const STATELESS = '2026-07-28';

/** All revisions, oldest first. */
export const REVISIONS = [...SESSION_REVISIONS, STATELESS] as const;

/** The date of a revision with sessions. */
export type SessionRevision = (typeof SESSION_REVISIONS)[number];

/** The date of any revision. */
export type Revision = (typeof REVISIONS)[number];

function rowOf(id: string): Requirement {
  const row = REQUIREMENTS.get(id);
  if (row === undefined) throw new Error(`The requirement table has no row "${id}".`);
  return row;
}

type Test<R> = (revision: R) => void | Promise<void>;

/** The file that collects which test covers which rows. Only `scripts/jest.js` asks for it. */
const MARKS = process.env['DECORUM_TEST_MARKS'];

/**
 * Registers a test that covers rows, each in one revision. The title ends with them. The report counts what the test
 * says when it runs, not its title.
 * @throws {Error} if a row doesn't exist or doesn't apply to the revision
 */
export function itShows(
  cells: readonly (readonly [id: string, revision: string])[],
  sentence: string,
  test: () => void | Promise<void>,
): void {
  for (const [id, revision] of cells) {
    if (!rowOf(id).revisions.includes(revision)) throw new Error(`${id} does not apply to ${revision}.`);
  }
  const rows = cells.map((cell) => cell.join(' '));
  const tags = rows.map((row) => ` [${row}]`).join('');
  it(`${sentence}${tags}`, () => {
    const { testPath: file, currentTestName: fullName } = expect.getState();
    if (MARKS !== undefined) appendFileSync(MARKS, `${JSON.stringify({ file, fullName, rows })}\n`);
    return test();
  });
}

/** The revisions in `among` that a row applies to. */
export function revisionsOf<R extends Revision>(id: string, among: readonly R[]): R[] {
  const { revisions } = rowOf(id);
  return among.filter((revision) => revisions.includes(revision));
}

/** One row, or several that one behavior shows. A test covers those that apply to its revision. */
type Rows = string | readonly string[];

/** Registers a test for each revision in `among` that at least one of the rows applies to. */
function register<R extends Revision>(
  rows: Rows,
  sentence: string,
  { among, test }: { among: readonly R[]; test: Test<R> },
): void {
  const ids = typeof rows === 'string' ? [rows] : rows;
  for (const id of ids)
    if (revisionsOf(id, among).length === 0) throw new Error(`${id} applies to none of ${among.join(', ')}.`);
  for (const revision of among) {
    const cells = ids.filter((id) => rowOf(id).revisions.includes(revision)).map((id) => [id, revision] as const);
    if (cells.length > 0) itShows(cells, sentence, () => test(revision));
  }
}

/** Registers a test of rows for each revision that they apply to. */
export function eachRevision(rows: Rows, sentence: string, test: Test<Revision>): void {
  register(rows, sentence, { among: REVISIONS, test });
}

/** Registers a test of rows for each session revision that they apply to. */
export function eachSessionRevision(rows: Rows, sentence: string, test: Test<SessionRevision>): void {
  register(rows, sentence, { among: SESSION_REVISIONS, test });
}

/** Registers a test of rows for the stateless revision. */
export function inStateless(rows: Rows, sentence: string, test: () => void | Promise<void>): void {
  register(rows, sentence, { among: [STATELESS], test });
}
