import { McpError } from '@decorum/core';
import { ownerOf } from '@decorum/core/internal';
import type { ClusterCounts, Session, SessionRecord } from '@decorum/core/transport';

import type { Letters } from '../cluster/letters.js';
import { HttpError, sessionEnded } from '../endpoint/http-error.js';
import { isUsable, type KeptSession, recordIn, type SessionStore } from './session-store.js';
import type { StoreCalls } from './store-calls.js';

/** How often a store may refuse the same change. Others are faster now and then, but not every time. */
export const MAX_REFUSALS = 100;

/** @throws {Error} for a store that refuses everything */
export function refused(): never {
  throw new Error(
    `sessionStore.set has returned false ${MAX_REFUSALS} times, each time for the version that get returned.`,
  );
}

/** A change to a record, with whoever waits until it is saved. */
interface Waiting {
  readonly apply: (record: SessionRecord) => void;
  readonly saved: () => void;
  readonly failed: (error: unknown) => void;
}

/** What a writer needs from the endpoint of its session. */
export interface WriterParts {
  readonly store: SessionStore;
  readonly stores: StoreCalls;
  readonly letters: Letters | undefined;
  readonly counts: ClusterCounts;
  /** Milliseconds to store a record. */
  readonly ttlMs: number;
}

/**
 * Saves changes to the record of a session for other processes: one write at a time, with all changes since the last.
 * If another process was faster, its record is read, and the changes are applied to that one.
 */
export class RecordWriter {
  private waiting: Waiting[] = [];
  private writing: readonly Waiting[] = [];
  private isBusy = false;

  constructor(
    private readonly state: Session,
    private readonly parts: WriterParts,
  ) {}

  /**
   * Saves a change that has been applied to the record of this process.
   * @throws {McpError} `unavailable` if the store fails, `invalid-request` if the session has ended; and what the change
   *   throws, if it doesn't fit the record of another process
   */
  save(apply: Waiting['apply']): Promise<void> {
    return new Promise((saved, failed) => {
      this.waiting.push({ apply, saved, failed });
      if (!this.isBusy) void this.writeAll();
    });
  }

  /** Applies the unsaved changes again, after the record was replaced by a stored one. */
  reapply(): void {
    const fits = ({ apply, failed }: Waiting) => {
      try {
        apply(this.state.record);
        return true;
      } catch (error) {
        failed(error);
        return false;
      }
    };
    this.writing = this.writing.filter(fits);
    this.waiting = this.waiting.filter(fits);
  }

  private async writeAll(): Promise<void> {
    this.isBusy = true;
    while (this.waiting.length > 0) {
      [this.writing, this.waiting] = [this.waiting, []];
      try {
        await this.write();
        for (const { saved } of this.writing) saved();
      } catch (error) {
        for (const { failed } of this.writing) failed(inKernel(error));
      }
      this.writing = [];
    }
    this.isBusy = false;
  }

  private async write(): Promise<void> {
    const { state, parts } = this;
    const { store, stores, letters, counts, ttlMs } = parts;
    const record = state.record as KeptSession;
    const { id } = record;
    for (let refusals = 0; refusals < MAX_REFUSALS; refusals += 1) {
      const { version } = record;
      const next = { ...record, version: (version ?? 0) + 1 };
      if ((await stores.run('sessionStore.set', () => store.set(next, ttlMs, version))) !== false) {
        if (record.version === version) record.version = next.version;
        await letters?.tell({ kind: 'changed', session: id, record: next });
        return;
      }
      counts.conflicts += 1;
      const fresh = await stores.run('sessionStore.get', () => recordIn(store, id));
      if (!isUsable(fresh, id)) throw sessionEnded();
      // a principal has adopted the session elsewhere, so the change of an anonymous caller is lost
      if (ownerOf(fresh.principal) !== ownerOf(record.principal)) return;
      state.refresh(fresh);
      this.reapply();
    }
    await stores.run('sessionStore.set', refused);
  }
}

/** The error as the kernel knows it, which would hide others from the client. */
function inKernel(error: unknown): unknown {
  if (!(error instanceof HttpError)) return error;
  return new McpError(error.status === 503 ? 'unavailable' : 'invalid-request', error.message);
}
