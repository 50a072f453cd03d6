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

/** The date of a revision with sessions. */
export type SessionRevision = (typeof SESSION_REVISIONS)[number];

/**
 * The name of a test that shows one row in one revision.
 * @throws {Error} when there is no such row, or it does not hold in the revision: nothing can be claimed of it
 */
export function shows(id: string, revision: string, sentence: string): string {
  const row = REQUIREMENTS.get(id);
  if (row === undefined) throw new Error(`The requirement table has no row "${id}".`);
  if (!row.revisions.includes(revision)) throw new Error(`${id} does not hold in ${revision}.`);
  return `${sentence} [${id} ${revision}]`;
}

/** The revisions with sessions that a row holds in. */
export function sessionRevisionsOf(id: string): SessionRevision[] {
  const row = REQUIREMENTS.get(id);
  if (row === undefined) throw new Error(`The requirement table has no row "${id}".`);
  return SESSION_REVISIONS.filter((revision) => row.revisions.includes(revision));
}

/** Registers a test of one row for each revision with sessions that it holds in. */
export function eachRevision(
  id: string,
  sentence: string,
  test: (revision: SessionRevision) => void | Promise<void>,
): void {
  const revisions = sessionRevisionsOf(id);
  if (revisions.length === 0) throw new Error(`${id} holds in no revision with sessions.`);
  const cases = revisions.map((revision) => [shows(id, revision, sentence), revision] as const);
  it.each(cases)('%s', (_name, revision) => test(revision));
}
