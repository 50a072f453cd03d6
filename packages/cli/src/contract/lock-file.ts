/** Writes contracts to lock files, and reads them. */
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';

import type { JsonObject } from '@decorum/core';
import { isObject } from '@decorum/core/internal';
import { CommandFailure, EXIT, plainLine } from 'create-decorum';

import { shown } from '../entry.js';
import { parseFile } from '../loader/json.js';
import { type Contract, KEYS, type Lists, LIST_NAMES } from './contract.js';
import { byCodeUnits, laidOut, sortedEntry } from './layout.js';
import { oversize } from './schema/keywords.js';

/** The file that commands use unless the user names another. */
export const LOCK_FILE = 'decorum.lock.json';

/** The version of the format. It grows when older releases can't read what this one writes. */
const VERSION = 1;

/** Cap on a lock file, in bytes. */
const MAX_BYTES = 2 ** 26;

/** The member of an entry that refers to an older revision, whose entry it repeats. */
const AS = 'as';

type Entry = Readonly<Record<string, unknown>>;

/**
 * The text of a lock file. What repeats an older revision refers to it: a list is the date of the revision with the
 * same list, and an entry has only what the older one lacks.
 */
function lockText({ server, revisions }: Contract): string {
  const dates = Object.keys(revisions).sort(byCodeUnits);
  const written = dates.map((date, at) => {
    const lists = LIST_NAMES.map((list) => {
      const entries = entriesOf(revisions[date]?.[list], KEYS[list]);
      const older = dates.slice(0, at).map((each) => [each, entriesOf(revisions[each]?.[list], KEYS[list])] as const);
      const same = older.find(([, each]) => textOf(each) === textOf(entries));
      if (same !== undefined && entries.length > 0) return [list, same[0]];
      return [list, entries.map((entry) => shortened(entry, { key: KEYS[list], older }))];
    });
    return [date, Object.fromEntries(lists)] as const;
  });
  return `${laidOut({ lockVersion: VERSION, server, revisions: Object.fromEntries(written) })}\n`;
}

const textOf = (value: unknown): string => JSON.stringify(value);

const entriesOf = (list: readonly JsonObject[] = [], key: string): readonly Entry[] =>
  list.map(sortedEntry).sort((a, b) => byCodeUnits(String(a[key]), String(b[key])));

/** An entry without what an older revision has too. */
function shortened(
  entry: Entry,
  {
    key,
    older,
  }: { readonly key: string; readonly older: readonly (readonly [date: string, Entry[] | readonly Entry[]])[] },
): Entry {
  for (const [date, entries] of [...older].reverse()) {
    const base = entries.find((each) => each[key] === entry[key]);
    if (base === undefined || Object.keys(base).some((name) => !(name in entry))) continue;
    const added = Object.entries(entry).filter(([name, value]) => textOf(base[name]) !== textOf(value));
    return { [key]: entry[key], [AS]: date, ...Object.fromEntries(added) };
  }
  return entry;
}

/**
 * Writes a lock file.
 * @returns whether it has changed
 * @throws {CommandFailure} with `EXIT.environment` if it can't be written
 */
export function writeLock(file: string, contract: Contract): boolean {
  const text = lockText(contract);
  const path = resolve(file);
  try {
    if (statSync(path, { throwIfNoEntry: false })?.isFile() && readFileSync(path, 'utf8') === text) return false;
    writeFileSync(path, text);
    return true;
  } catch (error) {
    throw new CommandFailure(`${shown(path)} can't be written: ${(error as Error).message}.`, EXIT.environment, error);
  }
}

/**
 * Reads a lock file.
 * @throws {CommandFailure} with `EXIT.environment` if there is none, or none that can be read
 */
export function readLock(file: string): Contract {
  const path = resolve(file);
  const name = shown(path);
  const wrong = (problem: string, cause?: unknown) => new CommandFailure(`${name} ${problem}`, EXIT.environment, cause);
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) throw new CommandFailure(`There is no ${name}. ${REMEDY}.`, EXIT.environment);
  if (!stats.isFile()) throw wrong('is not a file.');
  if (stats.size > MAX_BYTES) throw wrong(`has more than ${MAX_BYTES / 2 ** 20} MiB. ${REWRITE}`);
  let json: unknown;
  try {
    json = parseFile(path);
  } catch (error) {
    throw wrong(plainLine(`can't be read: ${(error as Error).message}. ${REWRITE}`), error);
  }
  const large = oversize(json);
  if (large !== undefined) throw wrong(`is not a valid lock file: ${large}. ${REWRITE}`);
  if (!isObject(json) || !Number.isInteger(json['lockVersion'])) throw wrong(`is not a lock file. ${REWRITE}`);
  if (Number(json['lockVersion']) > VERSION)
    throw wrong('was written by a newer version of `decorum`. Update `@decorum/cli`.');
  const contract = contractIn(json);
  if (typeof contract === 'string') throw wrong(`is not a valid lock file: ${contract}. ${REWRITE}`);
  return contract;
}

const REMEDY = 'Write it with `decorum lock`, and commit it';
const REWRITE = 'Get it from version control, or write it with `decorum lock`.';

/** The contract in the JSON of a lock file, or what is wrong with it. */
function contractIn({ server, revisions }: JsonObject): Contract | string {
  if (!isObject(server) || typeof server['name'] !== 'string') return '`server` has no name';
  if (!isObject(revisions)) return '`revisions` is not an object';
  const read: Record<string, Lists> = {};
  for (const date of Object.keys(revisions).sort(byCodeUnits)) {
    const lists = revisions[date];
    if (!isObject(lists)) return `the revision ${date} is not an object`;
    const pairs: [keyof Lists, readonly JsonObject[]][] = [];
    for (const list of LIST_NAMES) {
      const entries = listIn(list, lists[list] ?? [], read);
      if (entries === undefined) return `\`${list}\` of ${date} is neither a list of entries nor the date of another`;
      pairs.push([list, entries]);
    }
    read[date] = Object.fromEntries(pairs) as unknown as Lists;
  }
  return { server: { name: server['name'] }, revisions: read };
}

/** One list, with what it refers to; undefined if it is invalid. */
function listIn(list: keyof Lists, given: unknown, read: Readonly<Record<string, Lists>>) {
  const older = (date: unknown) =>
    typeof date === 'string' && Object.hasOwn(read, date) ? read[date]?.[list] : undefined;
  if (!Array.isArray(given)) return older(given);
  const key = KEYS[list];
  const entries: JsonObject[] = [];
  for (const entry of given as unknown[]) {
    if (!isObject(entry) || typeof entry[key] !== 'string') return undefined;
    const { [AS]: date, ...own } = entry;
    const base = date === undefined ? {} : older(date)?.find((each) => each[key] === entry[key]);
    if (base === undefined) return undefined;
    entries.push({ ...base, ...own });
  }
  return entries;
}
