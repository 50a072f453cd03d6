import type { FileHandle } from 'node:fs/promises';
import { resolve as absolute } from 'node:path';

import { DecorumError } from '@decorum/core';
import { requireOptions } from '@decorum/core/plugin';
import { invalidFolder, lockFolder } from '@decorum/files';

import { type Clock, SYSTEM_CLOCK } from '../platform.js';
import type { AuthStore, Change, StoredRecord } from './auth-store.js';
import { Journal, JOURNAL_FILE } from './journal.js';
import { DEFAULT_MAX_RECORDS, isExpected, Records, valueAfter } from './records.js';

/** Options of `fileStore`. */
export interface FileStoreOptions {
  /**
   * Cap on the records, which are all in memory, too. Beyond it, the records that expire first are evicted, such as
   * unfinished sign-ins. Defaults to 200,000, about 200 MB.
   */
  readonly maxRecords?: number;
}

/** What users call, for errors. */
const CALLER = 'fileStore';

/** A write that waits for the writes before it. */
interface PendingWrite {
  readonly changes: readonly Change[];
  readonly resolve: (isMade: boolean) => void;
  readonly reject: (error: unknown) => void;
}

/** Keeps records in memory and in a journal. The writes that arrive during a sync share the next one. */
export class FileStore implements AuthStore {
  readonly isPersistent = true;
  private readonly records: Records;
  private readonly journal: Journal;
  private lock: FileHandle | undefined;
  private pending: PendingWrite[] = [];
  private isWriting = false;
  private written = Promise.resolve();
  private isClosed = false;

  constructor(
    private readonly folder: string,
    { maxRecords = DEFAULT_MAX_RECORDS }: FileStoreOptions,
    private readonly clock: Clock,
  ) {
    this.records = new Records(() => clock.now(), maxRecords);
    this.journal = new Journal(folder);
  }

  async open(): Promise<void> {
    try {
      this.lock = await lockFolder({
        folder: this.folder,
        caller: CALLER,
        example: 'auth',
        isOwn: (file) => file === JOURNAL_FILE || file === `${JOURNAL_FILE}.new`,
        isCancelled: () => this.isClosed,
        clock: this.clock,
      });
      for await (const changes of this.journal.read()) this.records.apply(changes);
      // this also removes an incomplete last line
      await this.journal.replace(this.records.all());
      if (this.isClosed) throw invalidFolder(CALLER, 'was closed before it was open');
    } catch (error) {
      await this.close();
      if (error instanceof DecorumError) throw error;
      const { message, code } = error as NodeJS.ErrnoException;
      const remedy = code === undefined ? '' : '. Pass a folder on a local disk that the process can write to';
      throw invalidFolder(CALLER, `can't be used: ${message}${remedy}`, error);
    }
  }

  async get(key: string): Promise<string | undefined> {
    return this.records.get(key);
  }

  async list(kind: string): Promise<readonly StoredRecord[]> {
    return this.records.list(kind);
  }

  async write(changes: readonly Change[]): Promise<boolean> {
    if (this.isClosed) throw new Error('The store is closed.');
    return await new Promise((resolve, reject) => {
      this.pending.push({ changes, resolve, reject });
      if (!this.isWriting) this.written = this.writePending();
    });
  }

  async close(): Promise<void> {
    this.isClosed = true;
    await this.written;
    const { lock } = this;
    this.lock = undefined;
    await this.journal.close().finally(() => lock?.close());
  }

  private async writePending(): Promise<void> {
    this.isWriting = true;
    while (this.pending.length > 0) {
      await this.writeTogether(this.pending.splice(0));
      // on a full disk, for example, the old journal stays in use
      if (this.journal.isLong) await this.journal.replace(this.records.all()).catch(() => undefined);
    }
    this.isWriting = false;
  }

  /**
   * Neither a read nor a conflict shows a change before it is in the journal: an answer that depends on it would not
   * survive a crash.
   */
  private async writeTogether(writes: readonly PendingWrite[]): Promise<void> {
    const changed = new Map<string, Change>();
    const valueOf = (key: string) => {
      const change = changed.get(key);
      return change ? valueAfter(change, this.clock.now()) : this.records.get(key);
    };
    const made = writes.map(({ changes }) => {
      if (!isExpected(changes, valueOf)) return false;
      for (const change of changes) changed.set(change.key, change);
      return true;
    });
    const changes = [...changed.values()];
    try {
      if (changes.length > 0) await this.journal.append(changes);
      this.records.apply(changes);
      for (const [at, { resolve }] of writes.entries()) resolve(made[at] as boolean);
    } catch (error) {
      for (const { reject } of writes) reject(error);
    }
  }
}

/**
 * Keeps clients, grants and keys in a folder, for servers of one process. All records are in memory, too. The folder and
 * its files can only be read by the user of the process. While another process uses the folder, the server waits for up
 * to 30 seconds before it fails to start.
 * @param folder is created. It must be on a local disk
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 * @example
 * ```ts
 * const store = fileStore('data'); // and DECORUM_SECRET in the environment
 * ```
 */
export function fileStore(folder: string, options: FileStoreOptions = {}): AuthStore {
  if (typeof folder !== 'string' || folder === '') {
    throw invalidFolder(CALLER, 'must be the path of a folder, such as "data"');
  }
  requireOptions('fileStore', options, { maxRecords: [1, 10_000_000] });
  return new FileStore(absolute(folder), options, SYSTEM_CLOCK);
}
