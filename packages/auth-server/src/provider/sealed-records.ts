import { AsyncLocalStorage } from 'node:async_hooks';
import { hash } from 'node:crypto';

import type { Sealer } from '../keys/sealer.js';
import type { Clock } from '../platform.js';
import type { AuthStore, Change } from '../store/auth-store.js';

/** Dependencies of `SealedRecords`. */
export interface RecordsParts {
  readonly store: AuthStore;
  readonly sealer: Sealer;
  readonly clock: Clock;
}

/** What a record holds, and what the store has for it. */
interface Found {
  readonly value: unknown;
  readonly raw: string;
}

/** Changes that are made together once the request that asked for them has been handled. */
export class Batch {
  /** What was read, so that a change expects what the request has decided by, and not what has come since. */
  readonly seen = new Map<string, Found | undefined>();
  private readonly changes = new Map<string, Change & { readonly content: unknown }>();

  /** Adds a change. An earlier change of the record is replaced, but what it expected still counts. */
  add(change: Change, content: unknown): void {
    const expected = this.changes.get(change.key)?.expected ?? change.expected;
    this.changes.set(change.key, { ...change, ...(expected !== undefined && { expected }), content });
  }

  /** The change of a record; undefined if there is none. */
  get(key: string): (Change & { readonly content: unknown }) | undefined {
    return this.changes.get(key);
  }

  /** All changes, for the store. */
  all(): readonly Change[] {
    return [...this.changes.values()].map(({ content: _content, ...change }) => change);
  }
}

/**
 * The records of an authorization server: JSON, sealed, under keys that are digests. What is written while a batch runs
 * is made together when the batch ends, so that a process that dies leaves nothing half done.
 */
export class SealedRecords {
  private readonly batches = new AsyncLocalStorage<Batch>();

  constructor(private readonly parts: RecordsParts) {}

  /** The key of a record. The id may be a token. */
  static key(kind: string, id: string): string {
    return `${kind}:${hash('sha256', id, 'base64url')}`;
  }

  /** The value of a record; undefined if there is none. */
  async get(key: string): Promise<unknown> {
    const changed = this.batches.getStore()?.get(key);
    return changed === undefined ? (await this.find(key))?.value : changed.content;
  }

  /** All records of a kind. This opens each of them, so it is for what operators do now and then. */
  async list(kind: string): Promise<readonly { readonly key: string; readonly value: unknown }[]> {
    const found = await this.parts.store.list(kind);
    return found.flatMap(({ key, value }) => {
      const text = this.parts.sealer.open(key, value);
      return text === undefined ? [] : [{ key, value: JSON.parse(text) as unknown }];
    });
  }

  /**
   * Replaces a record.
   * @param expiresAt milliseconds since 1970
   */
  async put(key: string, value: unknown, expiresAt?: number): Promise<void> {
    await this.write({ key, value: this.sealed(key, value), expiresAt }, value);
  }

  /**
   * Adds a record. If there is one by then, nothing of the batch is written.
   * @throws {Error} without a batch
   */
  async create(key: string, value: unknown, expiresAt?: number): Promise<void> {
    await this.write({ key, value: this.sealed(key, value), expiresAt, expected: null }, value);
  }

  /** Replaces a record if it still has the value that was read: otherwise, nothing of the batch is written. */
  async replace(
    key: string,
    change: (value: never) => unknown,
    expiryOf: (value: never) => number | undefined,
  ): Promise<void> {
    const found = await this.find(key);
    if (found === undefined) return;
    const value = change(found.value as never);
    const expiresAt = expiryOf(value as never);
    await this.write({ key, value: this.sealed(key, value), expiresAt, expected: found.raw }, value);
  }

  /** Changes a record again that the batch has changed already. */
  async amend(key: string, change: (value: never) => unknown): Promise<void> {
    const { content, ...earlier } = this.batches.getStore()?.get(key) ?? {};
    if (content === undefined) return;
    const value = change(content as never);
    await this.write({ ...earlier, key, value: this.sealed(key, value) }, value);
  }

  /**
   * Deletes a record that may be used once.
   * @returns whether it was there. Of several that take it at once, one does
   */
  async take(key: string): Promise<boolean> {
    const raw = await this.parts.store.get(key);
    return raw !== undefined && (await this.parts.store.write([{ key, value: undefined, expected: raw }]));
  }

  /** Deletes a record. */
  async delete(key: string): Promise<void> {
    await this.write({ key, value: undefined }, undefined);
  }

  /**
   * Runs a function whose changes are made together.
   * @param run gets the batch, and returns the changes to make, usually all of it
   * @returns whether they were made. If not, another request has changed one of the records
   */
  async together(run: (batch: Batch) => Promise<readonly Change[]>): Promise<boolean> {
    const batch = new Batch();
    const changes = await this.batches.run(batch, () => run(batch));
    return changes.length === 0 || (await this.parts.store.write(changes));
  }

  private async find(key: string): Promise<Found | undefined> {
    const seen = this.batches.getStore()?.seen;
    if (seen === undefined) return await this.load(key);
    if (!seen.has(key)) seen.set(key, await this.load(key));
    return seen.get(key);
  }

  private async load(key: string): Promise<Found | undefined> {
    const raw = await this.parts.store.get(key);
    const text = raw === undefined ? undefined : this.parts.sealer.open(key, raw);
    return raw === undefined || text === undefined ? undefined : { raw, value: JSON.parse(text) };
  }

  private sealed(key: string, value: unknown): string {
    return this.parts.sealer.seal(key, JSON.stringify(value));
  }

  private async write(change: Change, content: unknown): Promise<void> {
    const batch = this.batches.getStore();
    if (batch !== undefined) batch.add(change, content);
    else if (!(await this.parts.store.write([change]))) throw new Error('Another request has changed the record.');
  }
}
