import { requireOptions } from '@decorum/schema/internal';

import { McpError } from '../../protocol/errors.js';

/**
 * Keeps values that outlive calls: recorded outcomes, plans, and what handlers remember. On a shared store, several
 * processes can serve the same clients. Methods may be asynchronous. Values are sealed before they are stored.
 */
export interface KeyValueStore {
  /** Whether values survive the end of the process. The server then needs a `secret`, to open them again. */
  readonly isDurable: boolean;
  /** Called once, before the first other call, even if several servers of the process use the store. */
  open?(): void | Promise<void>;
  /** Called once, after the last other call, and after an `open` that failed. It may be opened again. */
  close?(): void | Promise<void>;
  /** Returns the value of a key; undefined or null if there is none or it has expired. */
  get(key: string): string | null | undefined | Promise<string | null | undefined>;
  /**
   * Stores a value. Comparing and storing must be one step that nothing can come between. If this rejects, the value
   * may have been stored or not. A store that is full rejects with {McpError} `too-many-requests`: what it has promised
   * to keep, it doesn't drop.
   * @param value Unicode text
   * @param options.ttlMs milliseconds until the value may expire, and not before
   * @param options.expected the value that the key must have. Undefined if it must have none
   * @returns false, and stores nothing, if the key has another value
   */
  set(
    key: string,
    value: string,
    options: { readonly ttlMs: number; readonly expected: string | undefined },
  ): boolean | Promise<boolean>;
  /**
   * Deletes a key, if it has the expected value, in one step.
   * @returns whether it had it
   */
  delete(key: string, expected: string): boolean | Promise<boolean>;
}

interface Kept {
  readonly value: string;
  readonly expiresAt: number;
}

/** Options of `MemoryKeyValueStore`. */
export interface MemoryKeyValueStoreOptions {
  /** Cap on the characters of all keys and values. Beyond it, nothing new is stored. Defaults to 64 Mi. */
  readonly maxChars?: number;
}

/**
 * Keeps values in the memory of this process.
 * @example
 * ```ts
 * const store = new MemoryKeyValueStore({ maxChars: 1_000_000 });
 * new McpServer({ name: 'shop', version: '1.0.0', store });
 * ```
 */
export class MemoryKeyValueStore implements KeyValueStore {
  readonly isDurable = false;
  private readonly kept = new Map<string, Kept>();
  private readonly maxChars: number;
  private size = 0;
  /** No value expires before. */
  private nextExpiry = Infinity;

  /** @throws {DecorumError} `DECORUM_INVALID_OPTION` */
  constructor(options: MemoryKeyValueStoreOptions = {}) {
    requireOptions('MemoryKeyValueStore', options, { maxChars: [1, Number.MAX_SAFE_INTEGER] });
    this.maxChars = options.maxChars ?? 67_108_864;
  }

  get(key: string): string | undefined {
    const kept = this.kept.get(key);
    return kept && kept.expiresAt > Date.now() ? kept.value : undefined;
  }

  /** @throws {McpError} `too-many-requests` at the cap: what was promised to be kept is not dropped */
  set(
    key: string,
    value: string,
    { ttlMs, expected }: { readonly ttlMs: number; readonly expected: string | undefined },
  ): boolean {
    if (this.get(key) !== expected) return false;
    const grown = key.length + value.length - this.sizeOf(key);
    if (this.size + grown > this.maxChars) this.forgetExpired();
    if (this.size + grown > this.maxChars) throw new McpError('too-many-requests', FULL);
    this.drop(key);
    const expiresAt = Date.now() + ttlMs;
    this.kept.set(key, { value, expiresAt });
    this.nextExpiry = Math.min(this.nextExpiry, expiresAt);
    this.size += key.length + value.length;
    return true;
  }

  delete(key: string, expected: string): boolean {
    if (this.get(key) !== expected) return false;
    this.drop(key);
    return true;
  }

  private forgetExpired(): void {
    const now = Date.now();
    // a full store must not look at all values each time
    if (this.nextExpiry > now) return;
    this.nextExpiry = Infinity;
    for (const [key, { expiresAt }] of this.kept) {
      if (expiresAt <= now) this.drop(key);
      else this.nextExpiry = Math.min(this.nextExpiry, expiresAt);
    }
  }

  private sizeOf(key: string): number {
    const kept = this.kept.get(key);
    return kept === undefined ? 0 : key.length + kept.value.length;
  }

  private drop(key: string): void {
    this.size -= this.sizeOf(key);
    this.kept.delete(key);
  }
}

const FULL = 'The server has no room for more data. Try again later.';
