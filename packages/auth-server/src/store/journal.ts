import { type FileHandle, open, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';

import { syncFolder } from '@decorum/files';

import type { Change } from './auth-store.js';

/** The file of a store, in its folder. */
export const JOURNAL_FILE = 'journal.jsonl';

const HEADER = { decorum: 'auth-store', version: 1 };
const NEWLINE = 0x0a;

/** A journal is replaced when it is this many times as long as after the last replacement, but not while it is short. */
const GROWTH = 2;
const MIN_BYTES = 1024 * 1024;

/** Bytes of each write of a replacement. Requests are handled between two of them. */
const CHUNK_BYTES = 64 * 1024;

const lineOf = (value: unknown): string => `${JSON.stringify(value)}\n`;

/** The line for changes that are made together: `[[key, value or null, expiresAt or null], …]`. */
const lineOfChanges = (changes: readonly Change[]): string =>
  lineOf(changes.map(({ key, value, expiresAt }) => [key, value, expiresAt]));

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function changeIn(entry: unknown): Change | undefined {
  if (!Array.isArray(entry)) return undefined;
  const [key, value, expiresAt] = entry as unknown[];
  const isValid = typeof key === 'string' && (value === null || typeof value === 'string');
  if (!isValid || !(expiresAt === null || typeof expiresAt === 'number')) return undefined;
  return { key, value: value ?? undefined, expiresAt: expiresAt ?? undefined };
}

/** The changes of a line; undefined if the line is damaged. */
function changesIn(text: string): Change[] | undefined {
  const entries = parsed(text);
  if (!Array.isArray(entries)) return undefined;
  const changes = entries.map(changeIn).filter((change) => change !== undefined);
  return changes.length === entries.length ? changes : undefined;
}

async function writeAt(handle: FileHandle, text: string, position: number): Promise<number> {
  const bytes = Buffer.from(text);
  for (let written = 0; written < bytes.length;) {
    const { bytesWritten } = await handle.write(bytes, written, bytes.length - written, position + written);
    written += bytesWritten;
  }
  return bytes.length;
}

/**
 * The file of a store: a header, and a line of JSON for each group of changes that were made together. A line counts
 * once the file has been synced, and only then the next line is written. So only the last line can be incomplete after
 * a crash, and nobody was told that its changes were made.
 */
export class Journal {
  private readonly file: string;
  private handle: FileHandle | undefined;
  /** The bytes that count. The rest is what a failed write has left. */
  private size = 0;
  private replaceAt = 0;
  private isTruncated = true;
  private isFolderSynced = true;

  constructor(private readonly folder: string) {
    this.file = join(folder, JOURNAL_FILE);
  }

  /** Whether most of the journal is probably out of date. */
  get isLong(): boolean {
    return this.size >= this.replaceAt;
  }

  /**
   * The changes of the journal, in groups.
   * @throws {Error} if any line but the last is damaged
   */
  async *read(): AsyncGenerator<readonly Change[]> {
    const bytes = await readFile(this.file).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined;
      throw error;
    });
    if (bytes === undefined) return;
    for (let line = 1, start = 0; line === 1 || start < bytes.length; line++) {
      const end = bytes.indexOf(NEWLINE, start);
      const text = bytes.toString('utf8', start, Math.max(start, end));
      if (line === 1) this.checkHeader(text);
      const changes = line === 1 ? [] : changesIn(text);
      const isLast = end === -1 || end === bytes.length - 1;
      if (changes !== undefined) yield changes;
      else if (!isLast) throw new Error(`line ${line} of ${this.file} is damaged. Restore the file from a backup`);
      if (isLast) return;
      start = end + 1;
    }
  }

  /** Appends changes. Once it has resolved, they survive a crash. If it rejects, the journal is as before. */
  async append(changes: readonly Change[]): Promise<void> {
    const { handle } = this;
    if (handle === undefined) throw new Error('The store is not open.');
    if (!this.isFolderSynced) await this.syncFolder();
    if (!this.isTruncated) await this.truncate(handle);
    try {
      const bytes = await writeAt(handle, lineOfChanges(changes), this.size);
      await handle.datasync();
      this.size += bytes;
    } catch (error) {
      this.isTruncated = false;
      // if this fails too, the next write tries it again
      await this.truncate(handle).catch(() => undefined);
      throw error;
    }
  }

  /** Replaces the journal by one that only has these changes. If that fails, the journal stays in use. */
  async replace(changes: Iterable<Change>): Promise<void> {
    const draftFile = `${this.file}.new`;
    this.replaceAt = this.size * GROWTH;
    await rm(draftFile, { force: true });
    const draft = await open(draftFile, 'wx', 0o600);
    let size = 0;
    try {
      let chunk = lineOf(HEADER);
      for (const change of changes) {
        chunk += lineOfChanges([change]);
        if (chunk.length < CHUNK_BYTES) continue;
        size += await writeAt(draft, chunk, size);
        chunk = '';
      }
      size += await writeAt(draft, chunk, size);
      await draft.sync();
      await rename(draftFile, this.file);
    } catch (error) {
      await draft.close();
      await rm(draftFile, { force: true });
      throw error;
    }
    await this.handle?.close().catch(() => undefined);
    this.handle = draft;
    this.size = size;
    this.replaceAt = Math.max(MIN_BYTES, size * GROWTH);
    this.isTruncated = true;
    this.isFolderSynced = false;
    await this.syncFolder();
  }

  async close(): Promise<void> {
    const { handle } = this;
    this.handle = undefined;
    await handle?.close();
  }

  private checkHeader(text: string): void {
    const header = parsed(text) as Partial<typeof HEADER> | null | undefined;
    if (header?.decorum !== HEADER.decorum) {
      throw new Error(`${this.file} is not a journal of fileStore, or its first line is damaged. Restore it`);
    }
    if (header.version === HEADER.version) return;
    throw new Error(`${this.file} was written by a newer version of @decorum/auth-server. Install that version`);
  }

  private async truncate(handle: FileHandle): Promise<void> {
    await handle.truncate(this.size);
    this.isTruncated = true;
  }

  /** Makes the last rename survive a crash. Until then, no change counts, because the old file might come back. */
  private async syncFolder(): Promise<void> {
    await syncFolder(this.folder);
    this.isFolderSynced = true;
  }
}
