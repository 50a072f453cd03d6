import type { AuthStore, Change, StoredRecord } from './auth-store.js';

/** Time limit for each call. Otherwise, a store that hangs would keep requests, and what they hold, forever. */
const TIMEOUT_MS = 5000;

/** A store whose calls reject if they take too long. What it was asked to write may have been written or not. */
export class BoundedStore implements AuthStore {
  readonly isPersistent: boolean;

  constructor(private readonly store: AuthStore) {
    this.isPersistent = store.isPersistent;
  }

  /** Not limited: another process may have to end first. */
  async open(): Promise<void> {
    await this.store.open();
  }

  async get(key: string): Promise<string | undefined> {
    return await inTime(this.store.get(key));
  }

  async list(kind: string): Promise<readonly StoredRecord[]> {
    return await inTime(this.store.list(kind));
  }

  async write(changes: readonly Change[]): Promise<boolean> {
    return await inTime(this.store.write(changes));
  }

  async close(): Promise<void> {
    await this.store.close();
  }
}

async function inTime<T>(answer: Promise<T>): Promise<T> {
  return await new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new Error(`The store has not answered within ${TIMEOUT_MS / 1000} seconds.`)),
      TIMEOUT_MS,
    ).unref();
    answer.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
