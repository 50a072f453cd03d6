import { andThen, isObject } from '@decorum/core/internal';
import { requireOptions } from '@decorum/core/plugin';
import type { SessionRecord } from '@decorum/core/transport';

/** The record of a session together with its id. It can be stored as JSON. */
export type KeptSession = SessionRecord & { readonly id: string };

/**
 * Stores the records of sessions. Implement this on a shared store to let several processes serve the same sessions.
 * A record is always written as a whole, and the last write wins.
 */
export interface SessionStore {
  /** Returns the record of a session; undefined or null if there is none or it has expired. */
  get(id: string): SessionRecord | null | undefined | Promise<SessionRecord | null | undefined>;
  /**
   * Stores a record and replaces the previous one.
   * @param ttlMs milliseconds until the record may expire
   */
  set(record: KeptSession, ttlMs: number): void | Promise<void>;
  /**
   * Stores a record like `set`, unless the stored record has a `principal`. Checking and storing must be one step that
   * nothing can come between: callers may sign in to the same session in two processes at once, and only one may get it.
   * Without this method, the last one gets it.
   * @returns whether the record was stored
   */
  setIfAnonymous?(record: KeptSession, ttlMs: number): boolean | Promise<boolean>;
  /**
   * Extends the life of a record. Does nothing if there is none.
   * @param ttlMs milliseconds from now until the record may expire
   */
  touch(id: string, ttlMs: number): void | Promise<void>;
  /** Deletes a record. Does nothing if there is none. */
  delete(id: string): void | Promise<void>;
}

/**
 * Stores a record unless a principal has the stored one.
 * @returns whether it was stored. Always true if the store can't check that
 */
export function storeIfAnonymous(store: SessionStore, record: KeptSession, ttlMs: number): boolean | Promise<boolean> {
  return store.setIfAnonymous?.(record, ttlMs) ?? andThen(store.set(record, ttlMs), () => true);
}

/**
 * Reads the record of a session.
 * @throws {TypeError} if the store returns anything else, such as JSON text: the session isn't unknown then
 */
export function recordIn(store: SessionStore, id: string): ReturnType<SessionStore['get']> {
  return andThen(store.get(id), (found) => {
    if (found === undefined || found === null || isObject(found)) return found;
    const kind = Array.isArray(found) ? 'an array' : `a ${typeof found}`;
    throw new TypeError(
      `sessionStore.get returned ${kind}, but must return the record as an object, or undefined or null if there is none. Parse JSON before you return it.`,
    );
  });
}

interface Kept {
  readonly json: string;
  expiresAt: number;
}

/** Options of `MemorySessionStore`. */
export interface MemorySessionStoreOptions {
  /** Cap on the characters of all records. Beyond it, the least recently used are dropped. Defaults to 64 Mi. */
  readonly maxChars?: number;
}

/**
 * Stores records in the memory of this process. Several endpoints of one process can share sessions through it.
 * @example
 * ```ts
 * await listen(server, { port: 3000, sessionStore: new MemorySessionStore({ maxChars: 1_000_000 }) });
 * ```
 */
export class MemorySessionStore implements SessionStore {
  // least recently touched first
  private readonly kept = new Map<string, Kept>();
  private readonly maxChars: number;
  private size = 0;

  /** @throws {DecorumError} `DECORUM_INVALID_OPTION` */
  constructor(options: MemorySessionStoreOptions = {}) {
    requireOptions('MemorySessionStore', options, { maxChars: [1, Number.MAX_SAFE_INTEGER] });
    this.maxChars = options.maxChars ?? 67_108_864;
  }

  get(id: string): SessionRecord | undefined {
    const kept = this.kept.get(id);
    // a copy, as from a remote store: changes to it take effect only through `set`
    return kept && kept.expiresAt > Date.now() ? (JSON.parse(kept.json) as SessionRecord) : undefined;
  }

  set(record: KeptSession, ttlMs: number): void {
    this.keep(record.id, { json: JSON.stringify(record), expiresAt: Date.now() + ttlMs });
    this.makeRoom();
  }

  setIfAnonymous(record: KeptSession, ttlMs: number): boolean {
    if (this.get(record.id)?.principal !== undefined) return false;
    this.set(record, ttlMs);
    return true;
  }

  touch(id: string, ttlMs: number): void {
    const kept = this.kept.get(id);
    if (kept && kept.expiresAt > Date.now()) this.keep(id, { ...kept, expiresAt: Date.now() + ttlMs });
  }

  delete(id: string): void {
    this.size -= this.kept.get(id)?.json.length ?? 0;
    this.kept.delete(id);
  }

  private keep(id: string, kept: Kept): void {
    this.delete(id);
    this.kept.set(id, kept);
    this.size += kept.json.length;
  }

  private makeRoom(): void {
    const now = Date.now();
    for (const [id, { expiresAt }] of this.kept) {
      if (expiresAt > now && this.size <= this.maxChars) return;
      this.delete(id);
    }
  }
}
