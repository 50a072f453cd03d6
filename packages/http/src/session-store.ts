import type { SessionRecord } from '@decorum/core/transport';

/** The record of a session together with its id. It can be stored as JSON. */
export type KeptSession = SessionRecord & { readonly id: string };

/**
 * Stores the records of sessions. Implement this on a shared store to let several processes serve the same sessions.
 * A record is always written as a whole, and the last write wins.
 */
export interface SessionStore {
  /** Returns the record of a session, or undefined or null if there is none or it has expired. */
  get(id: string): SessionRecord | null | undefined | Promise<SessionRecord | null | undefined>;
  /**
   * Stores a record and replaces the previous one.
   * @param ttlMs milliseconds until the record may expire
   */
  set(record: KeptSession, ttlMs: number): void | Promise<void>;
  /**
   * Extends the life of a record. Does nothing if there is none.
   * @param ttlMs milliseconds from now until the record may expire
   */
  touch(id: string, ttlMs: number): void | Promise<void>;
  /** Deletes a record. Does nothing if there is none. */
  delete(id: string): void | Promise<void>;
}

interface Kept {
  readonly json: string;
  expiresAt: number;
}

/** Stores records in the memory of this process. Several endpoints of one process can share sessions through it. */
export class MemorySessionStore implements SessionStore {
  // least recently touched first
  private readonly kept = new Map<string, Kept>();

  get(id: string): SessionRecord | undefined {
    const kept = this.kept.get(id);
    // a copy, as from a remote store: changes to it take effect only through `set`
    return kept && kept.expiresAt > Date.now() ? (JSON.parse(kept.json) as SessionRecord) : undefined;
  }

  set(record: KeptSession, ttlMs: number): void {
    this.forgetExpired();
    this.keep(record.id, { json: JSON.stringify(record), expiresAt: Date.now() + ttlMs });
  }

  touch(id: string, ttlMs: number): void {
    const kept = this.kept.get(id);
    if (kept && kept.expiresAt > Date.now()) this.keep(id, { ...kept, expiresAt: Date.now() + ttlMs });
  }

  delete(id: string): void {
    this.kept.delete(id);
  }

  private keep(id: string, kept: Kept): void {
    this.kept.delete(id);
    this.kept.set(id, kept);
  }

  private forgetExpired(): void {
    const now = Date.now();
    for (const [id, { expiresAt }] of this.kept) {
      if (expiresAt > now) return;
      this.kept.delete(id);
    }
  }
}
