import { andThen, isObject, revisionOf } from '@decorum/core/internal';
import { requireOptions } from '@decorum/core/plugin';
import type { SessionRecord } from '@decorum/core/transport';

/** The record of a session together with its id. It can be stored as JSON. */
export type KeptSession = SessionRecord & { readonly id: string };

/** Stores the records of sessions. On a shared store, several processes can serve the same sessions. */
export interface SessionStore {
  /** Returns the record of a session; undefined or null if there is none or it has expired. */
  get(id: string): SessionRecord | null | undefined | Promise<SessionRecord | null | undefined>;
  /**
   * Stores a whole record. Comparing and storing must be one step that nothing can come between: two processes may
   * change the same session at once.
   * @param ttlMs milliseconds until the record may expire
   * @param expected the `version` that the stored record must have. Undefined for a new session
   * @returns false, and stores nothing, if the stored record has another version, or if there is none
   */
  set(record: KeptSession, ttlMs: number, expected?: number): boolean | void | Promise<boolean | void>;
  /**
   * Extends the life of a record. Does nothing if there is none.
   * @param ttlMs milliseconds from now until the record may expire
   */
  touch(id: string, ttlMs: number): void | Promise<void>;
  /** Deletes a record. Does nothing if there is none. */
  delete(id: string): void | Promise<void>;
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

/**
 * Whether a record from a store is usable. Many stores return null for a missing key, and another version of the server
 * may have stored a revision that this one doesn't know. A record with an empty subject belongs to nobody.
 */
export function isUsable(record: SessionRecord | null | undefined, id: string): record is SessionRecord {
  if (!record || record.id !== id || record.principal?.subject === '') return false;
  return revisionOf(record.revision)?.sessions === true;
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

  set(record: KeptSession, ttlMs: number, expected?: number): boolean {
    if (expected !== undefined && this.get(record.id)?.version !== expected) return false;
    this.keep(record.id, { json: JSON.stringify(record), expiresAt: Date.now() + ttlMs });
    this.makeRoom();
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
