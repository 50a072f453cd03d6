import { constants, type FileHandle, open, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

import { LOCKED_BYTE, loadLocks } from './file-lock.js';
import { type FolderPlace, LOCK_FILE, prepareFolder } from './folder-lock.js';

/** How long to wait for other processes, in milliseconds. Nobody holds the folder for longer than some writes take. */
const PATIENCE_MS = 2500;

/** The longest pause between two looks at the lock, in milliseconds. */
const MAX_PAUSE_MS = 4;

/** What a pause counts at most, in milliseconds: a process that stands still, with its machine, has not waited for others. */
const MAX_COUNTED_MS = 100;

/** The digits of a number of bytes. */
const DIGITS = 16;

const ADVICE = 'bytes are in use. This file keeps processes from writing at the same time. Do not delete it.\n';

/** A folder that several processes change, one after another. The kernel frees the lock of a process that ends. */
export class SharedFolder {
  private file: FileHandle | undefined;
  private readonly locks: ReturnType<typeof loadLocks>;

  /** @throws {DecorumError} if the library that locks files is missing */
  constructor(private readonly place: FolderPlace) {
    this.locks = loadLocks(place.caller);
  }

  /** Creates the folder. */
  async open(): Promise<void> {
    this.file = await this.openLock();
  }

  /** Runs a step while no other process runs one. */
  async exclusively(step: (file: FileHandle) => Promise<void>): Promise<void> {
    const file = await this.take();
    try {
      await step(file);
    } finally {
      this.locks.unlock(file.fd, LOCKED_BYTE, 1);
    }
  }

  /** The pause that lets other processes go first. */
  async pause(): Promise<void> {
    await wait(1 + Math.random() * MAX_PAUSE_MS);
  }

  async close(): Promise<void> {
    const { file } = this;
    this.file = undefined;
    await file?.close();
  }

  private async take(): Promise<FileHandle> {
    for (let waitedMs = 0; ;) {
      const file = (this.file ??= await this.openLock());
      if (this.locks.tryLock(file.fd, LOCKED_BYTE, 1)) {
        if (await this.isInPlace(file)) return file;
        // somebody has emptied the folder, and others may have the lock of a new file
        await this.close();
      } else {
        if (waitedMs >= PATIENCE_MS) throw new Error(heldBy(this.place.folder));
        const before = performance.now();
        await this.pause();
        waitedMs += Math.min(performance.now() - before, MAX_COUNTED_MS);
      }
    }
  }

  private async openLock(): Promise<FileHandle> {
    await prepareFolder(this.place);
    return await open(join(this.place.folder, LOCK_FILE), constants.O_RDWR | constants.O_CREAT, 0o600);
  }

  private async isInPlace(file: FileHandle): Promise<boolean> {
    const path = join(this.place.folder, LOCK_FILE);
    const [held, found] = await Promise.all([file.stat(), stat(path).catch(() => undefined)]);
    return held.ino === found?.ino && held.dev === found.dev;
  }
}

const heldBy = (folder: string) =>
  `Another process has locked "${folder}" for ${PATIENCE_MS} ms. If it was stopped, let it continue, or end it.`;

/** Reads how many bytes are in use; undefined if nobody has counted them. */
export async function readBytes(file: FileHandle): Promise<number | undefined> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(DIGITS), 0, DIGITS, 0);
  const text = buffer.toString('latin1', 0, bytesRead);
  return /^\d{16}$/.test(text) ? Number(text) : undefined;
}

/** Writes down how many bytes are in use. */
export async function writeBytes(file: FileHandle, bytes: number): Promise<void> {
  await file.write(`${String(bytes).padStart(DIGITS, '0')} ${ADVICE}`, 0);
}
