import { channel } from 'node:diagnostics_channel';
import { chmod, type FileHandle, mkdir, open, readdir, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';

import type { DecorumError } from '@decorum/core';
import { startupError } from '@decorum/core/plugin';

import { loadTryLock } from './native-lock.cjs';

const LOCK_FILE = 'lock';

/** What a new volume has. */
const LOST_AND_FOUND = 'lost+found';

/** How a store uses a folder. */
export interface FolderUse {
  /** The path. */
  readonly folder: string;
  /** The function that the user has passed it to, for errors. */
  readonly caller: string;
  /** A name for a folder of its own, for errors. */
  readonly example: string;
  /** Whether the store writes a file of this name. The mode of a folder with other files isn't changed. */
  isOwn(file: string): boolean;
  /** Whether to stop waiting for the folder. */
  isCancelled(): boolean;
  /** The clock to wait with. */
  readonly clock: { now(): number; wait(ms: number): Promise<void> };
}

const OTHERS = 0o077;

/** How long a process waits for the folder. A restart may begin before the old process has ended. */
const PATIENCE_MS = 30_000;
const POLL_MS = 100;

/** The byte that is locked, far behind the text: on Windows, nobody else can read what is locked. */
const LOCKED_BYTE = 2 ** 30;

/** The error for a folder that can't be used. */
export const invalidFolder = (caller: string, problem: string, cause?: unknown): DecorumError =>
  Object.assign(startupError('DECORUM_INVALID_OPTION', caller, 'folder', problem), { cause });

function loadLock(caller: string): ReturnType<typeof loadTryLock> {
  try {
    return loadTryLock();
  } catch (cause) {
    const remedy =
      'It has no binary for some platforms, such as Alpine Linux: use another base image. If the program is bundled, keep the library out of the bundle';
    throw Object.assign(startupError('DECORUM_MISSING_LIBRARY', caller, 'fs-native-extensions', remedy), {
      cause,
    });
  }
}

/**
 * Creates the folder, which only this user can read. An empty folder, such as a new volume, is made so. The mode of a
 * folder that has other files is not changed, because other programs may need it.
 */
async function prepare({ folder, caller, example, isOwn }: FolderUse): Promise<void> {
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

/** Told when a folder is taken. `decorum dev` then ends the program that the edited one replaces. */
const busy = channel('decorum:folder-busy');

/** Who has locked a folder, as that process has written it. */
async function holderOf(file: FileHandle): Promise<string> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(300), 0, 300, 0);
  return buffer.toString('utf8', 0, bytesRead).split('\n')[0] || 'another process';
}

/**
 * Prepares a folder and locks it. The kernel frees the lock when the file is closed, or when the process ends.
 * @returns the file to close
 * @throws {DecorumError} if another store has the folder for 30 seconds, or the folder can't be used
 */
export async function lockFolder(use: FolderUse): Promise<FileHandle> {
  const { folder, caller, clock } = use;
  const tryLock = loadLock(caller);
  await prepare(use);
  const file = await open(join(folder, LOCK_FILE), 'a+', 0o600);
  try {
    const giveUpAt = clock.now() + PATIENCE_MS;
    for (let tries = 0; !tryLock(file.fd, LOCKED_BYTE, 1); tries += 1) {
      if (tries === 0) busy.publish({ folder });
      if (use.isCancelled()) throw invalidFolder(caller, 'was closed before it was free');
      if (clock.now() >= giveUpAt) {
        throw invalidFolder(
          caller,
          `is "${folder}", which ${await holderOf(file)} has used for the last ${PATIENCE_MS / 1000} seconds. Only one process can use it: stop that one, or pass another folder`,
        );
      }
      await clock.wait(POLL_MS);
    }
    await file.truncate(0);
    const advice = 'While it runs, this file keeps other processes out. Do not delete it.';
    await file.appendFile(`process ${process.pid} on ${hostname()}\n${advice}\n`);
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}
