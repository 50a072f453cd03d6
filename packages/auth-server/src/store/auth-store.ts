/** A change to one record. */
export interface Change {
  /** The kind of the record, a colon, and a digest or another id without secrets: `client:3f9a…`. */
  readonly key: string;
  /** The new value, Unicode text without U+0000; undefined deletes the record. */
  readonly value: string | undefined;
  /** When the record is forgotten, in milliseconds since 1970. By default, it is kept until it is deleted. */
  readonly expiresAt?: number | undefined;
  /** The value that the record must still have, null for none. Otherwise, none of the changes is made. */
  readonly expected?: string | null | undefined;
}

/** A record with its key. */
export interface StoredRecord {
  readonly key: string;
  readonly value: string;
}

/**
 * Where an authorization server keeps clients, grants, tokens and keys. Implement it on a shared store to let several
 * processes serve the same clients, and test it with `storeContract` of `@decorum/auth-server/store-contract`. Keys
 * contain digests in place of tokens, and values have no tokens in clear text. An expired record counts as missing.
 */
export interface AuthStore {
  /** Whether records outlive the process. The values are then sealed with the key in `DECORUM_SECRET`. */
  readonly isPersistent: boolean;
  /** Called once, before the first request. Rejects if the store can't be used. */
  open(): Promise<void>;
  /** The value of a record; undefined if there is none. */
  get(key: string): Promise<string | undefined>;
  /** All records of a kind, in any order. */
  list(kind: string): Promise<readonly StoredRecord[]>;
  /**
   * Makes all changes or none. Once it has resolved, the changes survive the end of the process, if the store is
   * persistent. If it rejects, the changes may have been made or not.
   * @returns whether the changes were made. If not, a record no longer had its `expected` value
   */
  write(changes: readonly Change[]): Promise<boolean>;
  /** Called once, after the last request. */
  close(): Promise<void>;
}
