import { createHash } from 'node:crypto';
import {
  closeSync,
  constants,
  type Dirent,
  fstatSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  type Stats,
} from 'node:fs';
import { basename, join, relative, sep } from 'node:path';

import { broken, readFrontmatter } from './frontmatter.js';
import { textOf, typed } from './mime-types.js';
import { type Skill, SKILL_FILE, type SkillFile, type SkillGuard, uriOf } from './skill.js';

// the limits that all hosts support (SEP-2640, "Limits")
const MAX_FILES = 512;
const MAX_BYTES = 16 * 1024 * 1024;

/** Edits within the resolution of the file system's clock leave the time of a file as it is. */
const CLOCK_MS = 1000;

/** Files and folders whose name starts with a dot are not served. */
export const isHidden = (name: string): boolean => name.startsWith('.');

/** Where a skill is. */
export interface SkillPlace {
  /** The real path of its folder. */
  readonly folder: string;
  /** The folder as users know it, for errors. */
  readonly shown: string;
  readonly path: string;
  readonly guard: SkillGuard;
}

/** What is being read. */
interface Reading {
  readonly place: SkillPlace;
  readonly known: Skill | undefined;
  readonly files: Map<string, SkillFile>;
  readonly folders: Set<string>;
  bytes: number;
}

/**
 * Reads a skill. Files that have not changed are taken from the skill as it was read before.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION` that names the file and the rule
 */
export function readSkill(place: SkillPlace, known: Skill | undefined): Skill {
  const reading: Reading = { place, known, files: new Map(), folders: new Set(), bytes: 0 };
  readFolder(reading, '');
  const { files, folders } = reading;
  const main = files.get(SKILL_FILE);
  const file = join(place.shown, SKILL_FILE);
  if (main === undefined) throw broken(place.shown, SKILL_FILE, 'is missing. Add it, or remove the folder');
  if (typeof main.content !== 'string') throw broken(file, 'text', 'is not UTF-8. Save it as UTF-8');
  const { name, description, fields } = readFrontmatter(main.content, file, basename(place.folder));
  return { path: place.path, name, description, frontmatter: fields, files, folders, guard: place.guard };
}

function readFolder(reading: Reading, path: string): void {
  const { place, folders } = reading;
  folders.add(path);
  for (const entry of visibleIn(join(place.folder, path))) {
    const inner = path === '' ? entry.name : `${path}/${entry.name}`;
    const shown = join(place.shown, inner);
    // URIs with these characters would match no template
    if (/[\\\p{Cc}\uFFFD]/u.test(entry.name)) throw broken(shown, 'name', 'has characters that URIs lack. Rename it');
    if (entry.isDirectory()) readFolder(reading, inner);
    else if (entry.isFile()) addFile(reading, inner, join(place.folder, inner));
    else if (entry.isSymbolicLink()) addFile(reading, inner, targetOf(join(place.folder, inner), shown, place.folder));
    else throw broken(shown, 'file', 'is neither a file nor a folder. Remove it');
  }
}

/** The entries of a folder without hidden ones, in an order that doesn't depend on the file system. */
export const visibleIn = (folder: string): readonly Dirent[] =>
  readdirSync(folder, { withFileTypes: true })
    .filter(({ name }) => !isHidden(name))
    .sort((a, b) => (a.name < b.name ? -1 : 1));

/** The file that a link leads to, which must be a visible one of the same skill. */
function targetOf(link: string, shown: string, folder: string): string {
  let target: string;
  try {
    target = realpathSync(link);
  } catch {
    throw broken(shown, 'link', 'leads nowhere. Remove it');
  }
  const inside = relative(folder, target).split(sep);
  if (inside.some((part) => part === '..') || inside.join(sep) === target)
    throw broken(shown, 'link', 'leads out of the skill. Copy the file into the skill');
  if (inside.some(isHidden)) throw broken(shown, 'link', 'leads to a hidden file. Copy the file');
  return target;
}

function addFile(reading: Reading, path: string, target: string): void {
  const { place, files } = reading;
  if (files.size === MAX_FILES)
    throw broken(place.shown, 'files', `are more than ${MAX_FILES}, which clients don't accept. Remove some`);
  const shown = join(place.shown, path);
  // the path may have become a link since it was looked at, and opening a pipe would block
  const handle = openSync(target, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const stats = fstatSync(handle);
    if (!stats.isFile()) throw broken(shown, 'file', 'is not a file. Links may lead to files only');
    reading.bytes += stats.size;
    if (reading.bytes > MAX_BYTES)
      throw broken(place.shown, 'files', 'have more than 16 MiB, which clients do not accept. Remove some');
    files.set(path, contentOf(reading, path, { handle, stats }));
  } finally {
    closeSync(handle);
  }
}

interface Opened {
  readonly handle: number;
  readonly stats: Stats;
}

/** The file as it was read before, if it has not changed since. */
function contentOf({ place, known }: Reading, path: string, { handle, stats }: Opened): SkillFile {
  const stamp = [stats.ino, stats.size, stats.ctimeMs, stats.mtimeMs].join(' ');
  const before = known?.files.get(path);
  if (before?.stamp === stamp) return before;
  const isSettled = Date.now() - stats.ctimeMs > CLOCK_MS;
  const bytes = readFileSync(handle);
  const digest = `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
  const main = path === SKILL_FILE && { mimeType: 'text/markdown', content: textOf(bytes) ?? bytes };
  return {
    path,
    uri: uriOf(place.path, path),
    digest,
    size: bytes.length,
    stamp: isSettled ? stamp : undefined,
    ...(main || typed(path, bytes)),
  };
}
