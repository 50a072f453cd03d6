import { requireOptions, startupError } from '@decorum/core/plugin';

import { type Clock, SYSTEM_CLOCK } from '../platform.js';
import type { AuthStore, Change, StoredRecord } from './auth-store.js';
import { DEFAULT_MAX_RECORDS, isExpected, Records } from './records.js';

/** Options of `memoryStore`. */
export interface MemoryStoreOptions {
  /**
   * Cap on the records. Beyond it, the records that expire first are evicted, such as unfinished sign-ins. Defaults to
   * 200,000, about 200 MB.
   */
  readonly maxRecords?: number;
  /**
   * Whether to accept `NODE_ENV=production`. After each restart, all users then sign in again, and all clients register
   * again.
   */
  readonly inProduction?: boolean;
}

/** Keeps records in the memory of this process. */
export class MemoryStore implements AuthStore {
  readonly isPersistent = false;
  private readonly records: Records;

  constructor({ maxRecords = DEFAULT_MAX_RECORDS }: MemoryStoreOptions, clock: Clock) {
    this.records = new Records(() => clock.now(), maxRecords);
  }

  async open(): Promise<void> {}

  async get(key: string): Promise<string | undefined> {
    return this.records.get(key);
  }

  async list(kind: string): Promise<readonly StoredRecord[]> {
    return this.records.list(kind);
  }

  async write(changes: readonly Change[]): Promise<boolean> {
    const isMade = isExpected(changes, (key) => this.records.get(key));
    if (isMade) this.records.apply(changes);
    return isMade;
  }

  async close(): Promise<void> {}
}

/**
 * Keeps clients, grants and keys in the memory of this process, for development and tests.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`, also under `NODE_ENV=production` without `inProduction`
 * @example
 * ```ts
 * const store = memoryStore({ maxRecords: 10_000 });
 * ```
 */
export function memoryStore(options: MemoryStoreOptions = {}): AuthStore {
  requireOptions('memoryStore', options, { maxRecords: [1, 10_000_000], inProduction: 'boolean' });
  if (process.env['NODE_ENV'] === 'production' && options.inProduction !== true) {
    throw startupError(
      'DECORUM_INVALID_OPTION',
      'memoryStore',
      'inProduction',
      'is not set, but NODE_ENV is "production": each restart would sign out all users. Use fileStore(folder), or set `inProduction: true` to accept that',
    );
  }
  return new MemoryStore(options, SYSTEM_CLOCK);
}
