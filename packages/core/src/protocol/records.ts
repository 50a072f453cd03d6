import type { JsonObject } from '@decorum/schema/internal';

/** What a record is for, and what tells it from others of its kind, such as its caller and its tool. */
export type RecordKey = readonly [kind: 'memory' | 'outcome' | 'plan', ...parts: string[]];

/** What to do with a record: keep a value for some time in milliseconds, or remove it. */
export type RecordChange<T> = { readonly value: T; readonly ttlMs: number } | 'remove';

/**
 * Sealed records of a server, which all processes share that serve the same clients.
 * Methods reject with {McpError} `unavailable` if the records can't be reached, or can't be opened, and with
 * `too-many-requests` if the store is full. A change that was rejected may still have been made, or be made later.
 */
export interface Records {
  /** Reads a record; undefined if there is none or it has expired. */
  read<T extends JsonObject>(key: RecordKey): Promise<T | undefined>;
  /**
   * Changes a record in one step that nothing can come between.
   * @param change gets what is recorded, and returns what to do; undefined to leave it as it is. It is called again
   *   whenever another process was faster
   * @param payer the caller whose share of the store it takes, see `payerOf`; undefined if it counts for nobody. Then
   *   this also rejects with {McpError} `too-many-requests` if the share is used up
   * @returns what is recorded afterwards
   */
  change<T extends JsonObject>(
    key: RecordKey,
    change: (now: T | undefined) => RecordChange<T> | undefined,
    payer?: string,
  ): Promise<T | undefined>;
}

/** What a run wants to write once it has completed. */
export interface Remembered {
  /**
   * Called before the handler runs.
   * @returns a mark for `drop`
   */
  enter(): number;
  /**
   * Drops what was written since a mark.
   * @param since by default, the newest mark
   */
  drop(since?: number): void;
  /**
   * Stores what the run has written so far, before its outcome is recorded for other runs of the same call.
   * @throws {ToolError} if it would be too much
   * @throws {McpError} `unavailable` if the store can't be reached
   */
  store(): Promise<void>;
  /**
   * Ends the run. It can write nothing more.
   * @param isComplete whether to store what it has written
   * @throws {ToolError} if it would be too much
   * @throws {McpError} `unavailable` if the store can't be reached
   */
  end(isComplete: boolean): Promise<void>;
}
