import { rm } from 'node:fs/promises';
import { join, resolve as absolute } from 'node:path';

import { DecorumError, type KeyValueStore, McpError } from '@decorum/core';
import { requireOptions } from '@decorum/core/plugin';

import { invalidFolder } from './folder-lock.js';
import { Jobs } from './jobs.js';
import { SharedFolder } from './shared-folder.js';
import { draftOf, encoded, fileOf, isOwn, listValues, readExpiry, readValue, sizeOf } from './value-file.js';
import { replaceFile } from './writes.js';

/** Options of `fileKeyValueStore`. */
export interface FileKeyValueStoreOptions {
  /**
   * Cap on the bytes that all files take on the disk, at least 4096 for each value. Beyond it, nothing new is stored.
   * Defaults to 256 MiB
   */
  readonly maxBytes?: number;
}

/** What users call, for errors. */
const CALLER = 'fileKeyValueStore';

/** Milliseconds between two removals of expired files. */
const SWEEP_MS = 600_000;

/** Milliseconds between two removals of expired files while the folder is full. */
const FULL_SWEEP_MS = 10_000;

/** Files that are looked at, at once. */
const READS = 16;

/** Keeps values in a folder: a file for each. Processes share it, and change it one after another. */
class FileStore implements KeyValueStore {
  readonly isDurable = true;
  private jobs: Jobs | undefined;
  private timer: NodeJS.Timeout | undefined;
  private sweeping: Promise<void> | undefined;
  private sweptAt = 0;

  constructor(
    private readonly folder: string,
    private readonly maxBytes: number,
  ) {}

  async open(): Promise<void> {
    const { folder } = this;
    const shared = new SharedFolder({ folder, caller: CALLER, example: 'data', isOwn });
    try {
      await shared.open();
    } catch (error) {
      await shared.close();
      if (error instanceof DecorumError) throw error;
      const { message } = error as Error;
      const remedy = 'Pass a folder on a local disk that the process can write to';
      throw invalidFolder(CALLER, `can't be used: ${message}. ${remedy}`, error);
    }
    this.jobs = new Jobs(folder, shared);
    this.timer = setInterval(() => this.sweep(), SWEEP_MS).unref();
    this.sweep();
  }

  async close(): Promise<void> {
    const { jobs } = this;
    this.jobs = undefined;
    clearInterval(this.timer);
    await this.sweeping;
    await jobs?.close();
  }

  async get(key: string): Promise<string | undefined> {
    this.requireOpen();
    const found = await readValue(this.pathOf(fileOf(key)));
    return found && found.expiresAt > Date.now() ? found.value : undefined;
  }

  /** @throws {McpError} `too-many-requests` at the cap: what was promised to be kept is not dropped */
  async set(
    key: string,
    value: string,
    { ttlMs, expected }: { readonly ttlMs: number; readonly expected: string | undefined },
  ): Promise<boolean> {
    const file = fileOf(key);
    return await this.requireOpen().run(file, async (use) => {
      const path = this.pathOf(file);
      const old = await readValue(path);
      const now = Date.now();
      if ((old && old.expiresAt > now ? old.value : undefined) !== expected) return false;
      const content = Buffer.from(encoded({ value, expiresAt: now + Math.ceil(ttlMs) }));
      const grown = sizeOf(content.length) - (old?.size ?? 0);
      if (grown > 0 && use.bytes + grown > this.maxBytes) throw this.full();
      // at once, because other jobs of the batch look at it
      use.bytes += grown;
      try {
        await replaceFile(path, this.pathOf(draftOf(file)), content);
      } catch (error) {
        use.bytes -= grown;
        throw error;
      }
      return true;
    });
  }

  async delete(key: string, expected: string): Promise<boolean> {
    const file = fileOf(key);
    return await this.requireOpen().run(file, async (use) => {
      const old = await readValue(this.pathOf(file));
      if (old === undefined || old.expiresAt <= Date.now() || old.value !== expected) return false;
      await rm(this.pathOf(file));
      use.bytes -= old.size;
      return true;
    });
  }

  private full(): McpError {
    if (Date.now() >= this.sweptAt + FULL_SWEEP_MS) this.sweep();
    return new McpError('too-many-requests', 'The server has no room for more data. Try again later.');
  }

  /** Removes expired files in the background. */
  private sweep(): void {
    this.sweptAt = Date.now();
    // a disk that fails is reported when it is needed
    this.sweeping ??= this.removeExpired()
      .catch(() => {})
      .finally(() => (this.sweeping = undefined));
  }

  private async removeExpired(): Promise<void> {
    const files = await listValues(this.folder);
    for (let at = 0; at < files.length && this.jobs !== undefined; at += READS) {
      await Promise.all(files.slice(at, at + READS).map(async (file) => await this.removeIfExpired(file)));
    }
    await this.jobs?.count();
  }

  private async removeIfExpired(file: string): Promise<void> {
    const path = this.pathOf(file);
    const isExpired = async () => ((await readExpiry(path)) ?? Infinity) <= Date.now();
    if (!(await isExpired())) return;
    await this.jobs?.run(file, async (use) => {
      // another process may have replaced it
      if (!(await isExpired())) return false;
      const old = await readValue(path);
      await rm(path, { force: true });
      use.bytes -= old?.size ?? 0;
      return true;
    });
  }

  private pathOf(file: string): string {
    return join(this.folder, file);
  }

  private requireOpen(): Jobs {
    if (this.jobs === undefined) throw new Error('The store is not open.');
    return this.jobs;
  }
}

/**
 * Keeps values in a folder, in a file for each. Several processes of one machine can use the folder at the same time, and
 * any of them can be killed: once a value has been stored, it is on the disk, and a write that was interrupted leaves the
 * old value. The folder and its files can only be read by the user of the process.
 * @param folder is created. It must be on a local disk
 * @returns a store for the option `store` of `McpServer`
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 * @example
 * ```ts
 * import { McpServer } from '@decorum/core';
 * import { fileKeyValueStore } from '@decorum/files';
 *
 * // and DECORUM_SECRET in the environment
 * new McpServer({ name: 'shop', version: '1.0.0', store: fileKeyValueStore('data/shop') });
 * ```
 */
export function fileKeyValueStore(folder: string, options: FileKeyValueStoreOptions = {}): KeyValueStore {
  if (typeof folder !== 'string' || folder === '') {
    throw invalidFolder(CALLER, 'must be the path of a folder, such as "data/shop"');
  }
  requireOptions(CALLER, options, { maxBytes: [4096, Number.MAX_SAFE_INTEGER] });
  return new FileStore(absolute(folder), options.maxBytes ?? 268_435_456);
}
