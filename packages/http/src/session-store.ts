import type { SessionRecord } from '@decorum/core/transport';

/** The record of a session that clients name by its id. It is JSON. */
export type KeptSession = SessionRecord & { readonly id: string };

/**
 * Keeps the records of sessions, so that any of several processes can serve them. Implement it over a shared store.
 * Records are kept whole: the last one that was set counts.
 */
export interface SessionStore {
  /** The record of a session; undefined or null when there is none, or its time is over. */
  get(id: string): SessionRecord | null | undefined | Promise<SessionRecord | null | undefined>;
  /**
   * Keeps a record, in place of the one before.
   * @param ttlMs milliseconds until it may be forgotten
   */
  set(record: KeptSession, ttlMs: number): void | Promise<void>;
  /**
   * Keeps a record for longer. Does nothing when there is none.
   * @param ttlMs milliseconds from now until it may be forgotten
   */
  touch(id: string, ttlMs: number): void | Promise<void>;
  /** Forgets a record. Does nothing when there is none. */
  delete(id: string): void | Promise<void>;
}

interface Kept {
  readonly json: string;
  expiresAt: number;
}

/** Keeps records in this process, so that several endpoints in it share their sessions. */
export class MemorySessionStore implements SessionStore {
  // the one that was touched last is last
  private readonly kept = new Map<string, Kept>();

  get(id: string): SessionRecord | undefined {
    const kept = this.kept.get(id);
    // a copy, as from any other store: whoever changes it has to set it
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
