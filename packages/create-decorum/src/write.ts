import { constants, copyFileSync, mkdirSync, readdirSync, rmdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { CommandFailure, EXIT } from './failure.js';
import { TARBALLS } from './manifest.js';
import type { Target } from './project-name.js';
import type { Project } from './template.js';

/** What happened to the files of a project. */
export interface Written {
  readonly written: readonly string[];
  /** Files that already existed, and stayed unchanged. */
  readonly kept: readonly string[];
}

/** How many existing files an error message names. */
const NAMED = 3;

function listed(names: readonly string[]): string {
  const rest = names.length - NAMED;
  return rest > 0 ? `${names.slice(0, NAMED).join(', ')} and ${rest} more` : names.join(', ');
}

const codeOf = (error: unknown) => (error as NodeJS.ErrnoException).code;

const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the disk is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'your quota of the disk is used up',
  ENOTDIR: 'a file is where a folder should be',
  EEXIST: 'a file is where a folder should be',
  ENAMETOOLONG: 'the path is too long',
};

function notCreated(shown: string, error: unknown): CommandFailure {
  const reason = REASONS[codeOf(error) ?? ''] ?? (error as Error).message;
  const problem = `Could not create the project in ${shown}: ${reason}.`;
  return new CommandFailure(`${problem} Nothing was created.`, EXIT.environment);
}

/** The names in a folder, or `a file` if it isn't one. Empty if nothing exists at the path. */
function look(folder: string, shown: string): readonly string[] | 'a file' {
  try {
    const stats = statSync(folder, { throwIfNoEntry: false });
    if (!stats) return [];
    return stats.isDirectory() ? readdirSync(folder) : 'a file';
  } catch (error) {
    throw notCreated(shown, error);
  }
}

/**
 * Checks that a project can be created in a folder.
 * @throws {CommandFailure} with `EXIT.failed` if it is a file, or contains anything but `.git`
 */
export function requireEmpty({ folder, shown }: Target): void {
  const found = look(folder, shown);
  if (found === 'a file') throw new CommandFailure(`${shown} is a file. Choose another name.`);
  const present = found.filter((name) => name !== '.git');
  if (present.length === 0) return;
  throw new CommandFailure(
    `${shown === '.' ? 'This folder' : shown} is not empty: it has ${listed(present)}. ` +
      'Choose another name, or pass --force to add the files that are missing. No file is overwritten.',
  );
}

/** Creates a file. Returns false if it already exists. */
function created(create: () => void): boolean {
  try {
    create();
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
}

/** Whether only the user may read a file. Git ignores it, too. */
const isSecret = (path: string): boolean => path === '.env' || path.startsWith('data/');

/** Creates the files and folders of a project, and can remove them again. */
class Writer {
  private readonly files: string[] = [];
  private readonly folders: string[] = [];

  constructor(private readonly root: string) {}

  write(path: string, text: string): boolean {
    const file = this.place(path);
    const mode = isSecret(path) ? 0o600 : 0o666;
    return this.noted(file, () => writeFileSync(file, text, { flag: 'wx', mode }));
  }

  copy(path: string, from: string): boolean {
    const file = this.place(path);
    return this.noted(file, () => copyFileSync(from, file, constants.COPYFILE_EXCL));
  }

  /** Removes what was created, as far as that is possible. */
  undo(): void {
    for (const file of this.files) rmSync(file, { force: true });
    for (const folder of this.folders.toReversed()) {
      try {
        rmdirSync(folder);
      } catch {
        // it contains files that aren't ours
      }
    }
  }

  private place(path: string): string {
    const file = join(this.root, path);
    this.makeFolder(dirname(file));
    return file;
  }

  private makeFolder(folder: string): void {
    if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return;
    this.makeFolder(dirname(folder));
    mkdirSync(folder);
    this.folders.push(folder);
  }

  private noted(file: string, create: () => void): boolean {
    const isNew = created(create);
    if (isNew) this.files.push(file);
    return isNew;
  }
}

/**
 * Writes a project. Existing files stay unchanged.
 * @throws {CommandFailure} with `EXIT.environment` if a file can't be written; all new files are then removed
 */
export function writeProject({ folder, shown }: Target, { files, tarballs }: Project): Written {
  const writer = new Writer(folder);
  const written: string[] = [];
  const kept: string[] = [];
  try {
    for (const [path, text] of files) (writer.write(path, text) ? written : kept).push(path);
    // not reported as written: they don't come from the template
    for (const { file, path } of tarballs) {
      const place = `${TARBALLS}/${file}`;
      if (!writer.copy(place, path)) kept.push(place);
    }
  } catch (error) {
    writer.undo();
    throw notCreated(shown, error);
  }
  return { written, kept };
}
