import { readFileSync } from 'node:fs';

import { it } from '@jest/globals';

/** One row of the requirement table. */
export interface Requirement {
  readonly id: string;
  readonly group: string;
  /** `MUST`, `SHOULD NOT` …; `SCHEMA` and `ADVICE` are no words of the specification. */
  readonly strength: string;
  /** The revisions it holds in. */
  readonly revisions: readonly string[];
  readonly statement: string;
  /** How it shows on the wire. */
  readonly observe: string;
}

const TABLE = new URL('../requirements.csv', import.meta.url);

/** The cells of one line: quoted where they hold a comma, with quotes doubled (RFC 4180). */
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

/** The whole table, by id. */
export const REQUIREMENTS: ReadonlyMap<string, Requirement> = new Map(read().map((row) => [row.id, row]));

/** The revisions with sessions, oldest first. */
export const SESSION_REVISIONS = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'] as const;

/** The revision without. */
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

/**
 * The name of a test that shows one row in one revision.
 * @throws {Error} when there is no such row, or it does not hold in the revision: nothing can be claimed of it
 */
export function shows(id: string, revision: string, sentence: string): string {
  if (!rowOf(id).revisions.includes(revision)) throw new Error(`${id} does not hold in ${revision}.`);
  return `${sentence} [${id} ${revision}]`;
}

/** The revisions that a row holds in, among those given. */
export function revisionsOf<R extends Revision>(id: string, among: readonly R[]): R[] {
  const { revisions } = rowOf(id);
  return among.filter((revision) => revisions.includes(revision));
}

/** Registers a test of one row for each revision that it holds in, among those given. */
function register<R extends Revision>(
  id: string,
  sentence: string,
  { among, test }: { among: readonly R[]; test: (revision: R) => void | Promise<void> },
): void {
  const revisions = revisionsOf(id, among);
  if (revisions.length === 0) throw new Error(`${id} holds in none of ${among.join(', ')}.`);
  const cases = revisions.map((revision) => [shows(id, revision, sentence), revision] as const);
  it.each(cases)('%s', (_name, revision) => test(revision));
}

type Test<R> = (revision: R) => void | Promise<void>;

/** Registers a test of one row for each revision that it holds in. */
export function eachRevision(id: string, sentence: string, test: Test<Revision>): void {
  register(id, sentence, { among: REVISIONS, test });
}

/** Registers a test of one row for each revision with sessions that it holds in. */
export function eachSessionRevision(id: string, sentence: string, test: Test<SessionRevision>): void {
  register(id, sentence, { among: SESSION_REVISIONS, test });
}

/** Registers a test of one row for the revision without sessions. */
export function inStateless(id: string, sentence: string, test: () => void | Promise<void>): void {
  register(id, sentence, { among: [STATELESS], test });
}
