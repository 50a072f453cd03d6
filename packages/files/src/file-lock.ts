import { channel } from 'node:diagnostics_channel';
import { type FileHandle, open } from 'node:fs/promises';
import { hostname } from 'node:os';

import { startupError } from '@decorum/core/plugin';

import { type FileLocks, loadFileLocks } from './native-lock.cjs';

/** How long a process waits for a lock. A restart may begin before the old process has ended. */
const PATIENCE_MS = 30_000;
const POLL_MS = 100;

/** The byte that is locked, far behind the text: on Windows, nobody else can read what is locked. */
export const LOCKED_BYTE = 2 ** 30;

/** Told when a lock is taken. `decorum dev` then ends the program that the edited one replaces. */
const busy = channel('decorum:folder-busy');

/** A file that keeps other processes out. */
export interface LockFile {
  /** The path of the file with the lock. */
  readonly path: string;
  /** The function that the user has passed the path to, for errors. */
  readonly caller: string;
}

/** How to wait for a lock. */
export interface Waiting {
  /** Whether to stop waiting. */
  isCancelled(): boolean;
  /**
   * The error for a lock that another process keeps.
   * @param used such as `process 7 on host has used for the last 30 seconds`
   */
  taken(used: string): Error;
  /** The clock to wait with. */
  readonly clock: { now(): number; wait(ms: number): Promise<void> };
}

/**
 * Loads the functions that lock files.
 * @throws {DecorumError} `DECORUM_MISSING_LIBRARY`
 */
export function loadLocks(caller: string): FileLocks {
  try {
    return loadFileLocks();
  } catch (cause) {
    const remedy =
      'It has no binary for some platforms, such as Alpine Linux: use another base image. If the program is bundled, keep the library out of the bundle';
    throw Object.assign(startupError('DECORUM_MISSING_LIBRARY', caller, 'fs-native-extensions', remedy), { cause });
  }
}

/** Who has locked a file, as that process has written it. */
async function holderOf(file: FileHandle): Promise<string> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(300), 0, 300, 0);
  return buffer.toString('utf8', 0, bytesRead).split('\n')[0] || 'another process';
}

/** Writes into a locked file who has it. */
async function sign(file: FileHandle): Promise<FileHandle> {
  await file.truncate(0);
  const advice = 'While it runs, this file keeps other processes out. Do not delete it.';
  await file.appendFile(`process ${process.pid} on ${hostname()}\n${advice}\n`);
  return file;
}

/** Opens a file, and closes it again if `use` fails or returns nothing. */
async function opened<T>(path: string, use: (file: FileHandle) => Promise<T>): Promise<T> {
  const file = await open(path, 'a+', 0o600);
  try {
    const used = await use(file);
    if (used === undefined) await file.close();
    return used;
  } catch (error) {
    await file.close();
    throw error;
  }
}

/**
 * Locks a file if it is free. The kernel frees the lock when the file is closed, or when the process ends.
 * @returns the file to close; undefined if another process has the lock
 * @throws {DecorumError} `DECORUM_MISSING_LIBRARY`
 */
export async function tryLockFile({ path, caller }: LockFile): Promise<FileHandle | undefined> {
  const { tryLock } = loadLocks(caller);
  return await opened(path, async (file) => (tryLock(file.fd, LOCKED_BYTE, 1) ? await sign(file) : undefined));
}

/**
 * Locks a file, and waits up to 30 seconds for it.
 * @returns the file to close; undefined if waiting was cancelled
 * @throws {DecorumError} `DECORUM_MISSING_LIBRARY`, and what `taken` returns
 */
export async function lockFile({ path, caller }: LockFile, waiting: Waiting): Promise<FileHandle | undefined> {
  const { tryLock } = loadLocks(caller);
  const { clock } = waiting;
  return await opened(path, async (file) => {
    const giveUpAt = clock.now() + PATIENCE_MS;
    for (let tries = 0; !tryLock(file.fd, LOCKED_BYTE, 1); tries += 1) {
      if (tries === 0) busy.publish({ path });
      if (waiting.isCancelled()) return undefined;
      if (clock.now() >= giveUpAt)
        throw waiting.taken(`${await holderOf(file)} has used for the last ${PATIENCE_MS / 1000} seconds`);
      await clock.wait(POLL_MS);
    }
    return await sign(file);
  });
}
