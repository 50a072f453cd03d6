import { channel } from 'node:diagnostics_channel';
import { chmod, type FileHandle, mkdir, open, readdir, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';

import type { DecorumError } from '@decorum/core';
import { startupError } from '@decorum/core/plugin';

import type { Clock } from '../platform.js';
import { loadTryLock } from './native-lock.cjs';

const LOCK_FILE = 'lock';

/** The journal of the folder. */
export const JOURNAL_FILE = 'journal.jsonl';

/** What may be in a folder whose mode is changed: our files, and what a new volume has. */
const OWN_FILES = new Set([LOCK_FILE, JOURNAL_FILE, `${JOURNAL_FILE}.new`, 'lost+found']);

const OTHERS = 0o077;

/** How long a process waits for the folder. A restart may begin before the old process has ended. */
const PATIENCE_MS = 30_000;
const POLL_MS = 100;

/** The byte that is locked, far behind the text: on Windows, nobody else can read what is locked. */
const LOCKED_BYTE = 2 ** 30;

/** The error for a folder that can't be used. */
export const invalidFolder = (problem: string, cause?: unknown): DecorumError =>
  Object.assign(startupError('DECORUM_INVALID_OPTION', 'fileStore', 'folder', problem), { cause });

function loadLock(): ReturnType<typeof loadTryLock> {
  try {
    return loadTryLock();
  } catch (cause) {
    const remedy =
      'It has no binary for some platforms, such as Alpine Linux: use another base image. If the program is bundled, keep the library out of the bundle';
    throw Object.assign(startupError('DECORUM_MISSING_LIBRARY', 'fileStore', 'fs-native-extensions', remedy), {
      cause,
    });
  }
}

/**
 * Creates the folder, which only this user can read. An empty folder, such as a new volume, is made so. The mode of a
 * folder that has other files is not changed, because other programs may need it.
 */
async function prepare(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const { mode } = await stat(folder);
  if (process.platform === 'win32' || (mode & OTHERS) === 0) return;
  const isOurs = (await readdir(folder)).every((file) => OWN_FILES.has(file));
  try {
    if (isOurs) return await chmod(folder, 0o700);
  } catch {
    // another user owns the folder
  }
  const permissions = (mode & 0o777).toString(8);
  throw invalidFolder(
    `is "${folder}", which other users can open (mode ${permissions}). Pass a folder of its own, such as "${join(folder, 'auth')}", which is created, or run \`chmod 700 ${folder}\``,
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
 * @param isCancelled whether to stop waiting
 * @returns the file to close
 * @throws {DecorumError} if another store has the folder for 30 seconds, or the folder can't be used
 */
export async function lockFolder(folder: string, clock: Clock, isCancelled: () => boolean): Promise<FileHandle> {
  const tryLock = loadLock();
  await prepare(folder);
  const file = await open(join(folder, LOCK_FILE), 'a+', 0o600);
  try {
    const giveUpAt = clock.now() + PATIENCE_MS;
    for (let tries = 0; !tryLock(file.fd, LOCKED_BYTE, 1); tries += 1) {
      if (tries === 0) busy.publish({ folder });
      if (isCancelled()) throw invalidFolder('was closed before it was free');
      if (clock.now() >= giveUpAt) {
        throw invalidFolder(
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
