import { readFileSync } from 'node:fs';

import { it } from '@jest/globals';

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

/** An invisible separator before the tags that this file writes. The report ignores all other tags. */
const GENUINE = '\u2063';

/**
 * The name of a test that covers one row in one revision.
 * @throws {Error} if the row doesn't exist or doesn't apply to the revision
 */
export function shows(id: string, revision: string, sentence: string): string {
  if (!rowOf(id).revisions.includes(revision)) throw new Error(`${id} does not apply to ${revision}.`);
  return `${sentence} ${GENUINE}[${id} ${revision}]`;
}

/** The revisions in `among` that a row applies to. */
export function revisionsOf<R extends Revision>(id: string, among: readonly R[]): R[] {
  const { revisions } = rowOf(id);
  return among.filter((revision) => revisions.includes(revision));
}

/** Registers a test of one row for each revision in `among` that it applies to. */
function register<R extends Revision>(
  id: string,
  sentence: string,
  { among, test }: { among: readonly R[]; test: (revision: R) => void | Promise<void> },
): void {
  const revisions = revisionsOf(id, among);
  if (revisions.length === 0) throw new Error(`${id} applies to none of ${among.join(', ')}.`);
  const cases = revisions.map((revision) => [shows(id, revision, sentence), revision] as const);
  it.each(cases)('%s', (_name, revision) => test(revision));
}

type Test<R> = (revision: R) => void | Promise<void>;

/** Registers a test of one row for each revision that it applies to. */
export function eachRevision(id: string, sentence: string, test: Test<Revision>): void {
  register(id, sentence, { among: REVISIONS, test });
}

/** Registers a test of one row for each session revision that it applies to. */
export function eachSessionRevision(id: string, sentence: string, test: Test<SessionRevision>): void {
  register(id, sentence, { among: SESSION_REVISIONS, test });
}

/** Registers a test of one row for the stateless revision. */
export function inStateless(id: string, sentence: string, test: () => void | Promise<void>): void {
  register(id, sentence, { among: [STATELESS], test });
}

/**
 * Registers a test of several rows for each revision that at least one of them applies to. The name of each test lists
 * the rows that apply to its revision.
 */
export function eachRevisionOf(ids: readonly string[], sentence: string, test: Test<Revision>): void {
  const cases = REVISIONS.flatMap((revision) => {
    const applying = ids.filter((id) => rowOf(id).revisions.includes(revision));
    const name = applying.reduce((text, id) => shows(id, revision, text), sentence);
    return applying.length > 0 ? [[name, revision] as const] : [];
  });
  it.each(cases)('%s', (_name, revision) => test(revision));
}
