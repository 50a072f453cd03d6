import { shown } from '../entry.js';
import { LIST_NAMES } from './contract.js';
import { writeLock } from './lock-file.js';
import { contractOfProgram } from './program.js';
import { resolve } from 'node:path';

/** What `decorum lock` has written. */
export interface Locked {
  /** Path of the file, as the user would write it. */
  readonly file: string;
  readonly hasChanged: boolean;
  /** Entries of each list in the newest revision. */
  readonly counts: Readonly<Record<string, number>>;
}

/**
 * Writes the contract of a program to a lock file.
 * @param entry file of the program, as the user named it
 * @throws {CommandFailure}
 */
export async function lock(entry: string | undefined, out: string): Promise<Locked> {
  const contract = await contractOfProgram(entry);
  const newest = Object.values(contract.revisions).at(-1);
  const counts = Object.fromEntries(LIST_NAMES.map((list) => [list, newest?.[list]?.length ?? 0]));
  return { file: shown(resolve(out)), hasChanged: writeLock(out, contract), counts };
}

/** One line for the user. */
export function describe({ file, hasChanged, counts }: Locked): string {
  const parts = LIST_NAMES.filter((list) => counts[list] !== 0).map(
    (list) => `${counts[list]} ${TITLES[list](counts[list] ?? 0)}`,
  );
  return `${file}   ${parts.join(', ') || 'no members'}${hasChanged ? '' : ', unchanged'}`;
}

const plural = (word: string) => (count: number) => (count === 1 ? word : `${word}s`);

const TITLES = {
  tools: plural('tool'),
  prompts: plural('prompt'),
  resources: plural('resource'),
  resourceTemplates: plural('template'),
};
