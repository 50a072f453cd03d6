import { randomBytes } from 'node:crypto';
import { mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** What a folder of recordings may hold. */
export interface Room {
  readonly maxFiles: number;
  readonly maxTotalBytes: number;
}

/** Names of recordings. Other files of the folder are never deleted. */
const NAME = /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}Z-[\w.-]{1,40}-[\da-f]{8}\.json$/;

/** Names of recordings that are being written. */
const UNFINISHED = /^\..+\.json\.part$/;

/** Milliseconds after which nobody finishes a recording any more. */
const ABANDONED_MS = 60_000;

/** The folder is looked through after this many recordings, because other processes may write to it, too. */
const LOOK_EVERY = 20;

/** What is left after old recordings were deleted, so that not each recording deletes one. */
const LEFT = 0.9;

interface Stored {
  readonly name: string;
  readonly bytes: number;
}

/** A folder of recordings, which other processes may use, too. */
export class Folder {
  private files = 0;
  private bytes = 0;
  /** Recordings until the next look. */
  private left = 0;

  constructor(
    private readonly path: string,
    private readonly room: Room,
  ) {}

  /**
   * Writes a recording. Either all of it is there, or nothing.
   * @param at when the call ended, in ISO 8601
   * @param member named in the name of the file
   */
  async write(text: string, at: string, member: string): Promise<void> {
    const label = member.replaceAll(/[^\w.-]+/g, '_').slice(0, 40) || '_';
    const name = `${at.replaceAll(':', '-')}-${label}-${randomBytes(4).toString('hex')}.json`;
    const unfinished = join(this.path, `.${name}.part`);
    await mkdir(this.path, { recursive: true, mode: 0o700 });
    try {
      await writeFile(unfinished, text, { mode: 0o600, flag: 'wx' });
      await rename(unfinished, join(this.path, name));
    } catch (error) {
      await rm(unfinished, { force: true }).catch(() => {});
      throw error;
    }
    this.files += 1;
    this.bytes += Buffer.byteLength(text);
    this.left -= 1;
    if (this.left <= 0 || this.isFull(1)) await this.makeRoom();
  }

  private isFull(share: number): boolean {
    const { maxFiles, maxTotalBytes } = this.room;
    return this.files > Math.max(1, maxFiles * share) || this.bytes > maxTotalBytes * share;
  }

  /** Deletes the oldest recordings, and what was never finished. */
  private async makeRoom(): Promise<void> {
    this.left = LOOK_EVERY;
    const names = await readdir(this.path);
    const recordings: Stored[] = [];
    for (const name of names.sort()) {
      const found = await stat(join(this.path, name)).catch(() => undefined);
      if (found === undefined || !found.isFile()) continue;
      if (NAME.test(name)) recordings.push({ name, bytes: found.size });
      else if (UNFINISHED.test(name) && found.mtimeMs < Date.now() - ABANDONED_MS) await this.delete(name);
    }
    this.files = recordings.length;
    this.bytes = recordings.reduce((sum, { bytes }) => sum + bytes, 0);
    if (!this.isFull(1)) return;
    for (const { name, bytes } of recordings.slice(0, -1)) {
      if (!this.isFull(LEFT)) return;
      await this.delete(name);
      this.files -= 1;
      this.bytes -= bytes;
    }
  }

  /** Another process may have deleted it. */
  private async delete(name: string): Promise<void> {
    await rm(join(this.path, name), { force: true });
  }
}
