import { chmod, type FileHandle, mkdir, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

import type { DecorumError } from '@decorum/core';
import { startupError } from '@decorum/core/plugin';

import { loadLocks, lockFile } from './file-lock.js';

/** The file that is locked. */
export const LOCK_FILE = 'lock';

/** What a new volume has. */
const LOST_AND_FOUND = 'lost+found';

/** The folder of a store. */
export interface FolderPlace {
  /** The path. */
  readonly folder: string;
  /** The function that the user has passed it to, for errors. */
  readonly caller: string;
  /** A name for a folder of its own, for errors. */
  readonly example: string;
  /** Whether the store writes a file of this name. The mode of a folder with other files isn't changed. */
  isOwn(file: string): boolean;
}

/** How a store waits for a folder that it wants for itself. */
export interface FolderUse extends FolderPlace {
  /** Whether to stop waiting for the folder. */
  isCancelled(): boolean;
  /** The clock to wait with. */
  readonly clock: { now(): number; wait(ms: number): Promise<void> };
}

const OTHERS = 0o077;

/** The error for a folder that can't be used. */
export const invalidFolder = (caller: string, problem: string, cause?: unknown): DecorumError =>
  Object.assign(startupError('DECORUM_INVALID_OPTION', caller, 'folder', problem), { cause });

/**
 * Creates the folder, which only this user can read. An empty folder, such as a new volume, is made so. The mode of a
 * folder that has other files is not changed, because other programs may need it.
 */
export async function prepareFolder({ folder, caller, example, isOwn }: FolderPlace): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const { mode } = await stat(folder);
  if (process.platform === 'win32' || (mode & OTHERS) === 0) return;
  const isOurs = (await readdir(folder)).every((file) => file === LOCK_FILE || file === LOST_AND_FOUND || isOwn(file));
  try {
    if (isOurs) return await chmod(folder, 0o700);
  } catch {
    // another user owns the folder
  }
  const permissions = (mode & 0o777).toString(8);
  throw invalidFolder(
    caller,
    `is "${folder}", which other users can open (mode ${permissions}). Pass a folder of its own, such as "${join(folder, example)}", which is created, or run \`chmod 700 ${folder}\``,
  );
}

/**
 * Prepares a folder and locks it. The kernel frees the lock when the file is closed, or when the process ends.
 * @returns the file to close
 * @throws {DecorumError} if another store has the folder for 30 seconds, or the folder can't be used
 */
export async function lockFolder(use: FolderUse): Promise<FileHandle> {
  const { folder, caller, clock } = use;
  // before anything is created
  loadLocks(caller);
  await prepareFolder(use);
  const taken = (used: string) =>
    invalidFolder(
      caller,
      `is "${folder}", which ${used}. Only one process can use it: stop that one, or pass another folder`,
    );
  const isCancelled = () => use.isCancelled();
  const file = await lockFile({ path: join(folder, LOCK_FILE), caller }, { isCancelled, taken, clock });
  if (file === undefined) throw invalidFolder(caller, 'was closed before it was free');
  return file;
}
