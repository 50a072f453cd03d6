import { setTimeout as delay } from 'node:timers/promises';

import { type JsonObject, within } from '@decorum/schema/internal';

import { McpError } from '../../protocol/errors.js';
import type { RecordChange, RecordKey, Records } from '../../protocol/records.js';
import type { ErrorReporter } from '../error-reporter.js';
import { type KeyRing, sha256 } from '../key-ring.js';
import type { KeyValueStore } from './key-value-store.js';

/** Milliseconds within which the store must answer. */
const STORE_MS = 3000;

/** How often a change is tried again because another process was faster. */
const MAX_TRIES = 100;

/** Milliseconds that a pause before the next try takes at most. */
const MAX_PAUSE_MS = 50;

/** Seals records, and keeps them in a store under keys that say nothing about them. */
export class SealedRecords implements Records {
  /** The last change of each record that this process is changing: the next one waits for it. */
  private readonly changing = new Map<string, Promise<unknown>>();

  /**
   * @param ring keys whose sealed text does not expire: the store decides how long records live
   * @param reporter gives the operator the details that the client's error leaves out
   */
  constructor(
    private readonly store: KeyValueStore,
    private readonly ring: KeyRing,
    private readonly reporter: Pick<ErrorReporter, 'report'>,
  ) {}

  async read<T extends JsonObject>(key: RecordKey): Promise<T | undefined> {
    const place = placeOf(key);
    return this.open<T>(place, await this.get(place));
  }

  async change<T extends JsonObject>(
    key: RecordKey,
    change: (now: T | undefined) => RecordChange<T> | undefined,
  ): Promise<T | undefined> {
    const place = placeOf(key);
    const before = this.changing.get(place) ?? Promise.resolve();
    const changed = before.then(async () => await this.changeNow(place, change));
    const settled = Promise.allSettled([changed]);
    this.changing.set(place, settled);
    try {
      return await changed;
    } finally {
      if (this.changing.get(place) === settled) this.changing.delete(place);
    }
  }

  private async changeNow<T extends JsonObject>(
    place: string,
    change: (now: T | undefined) => RecordChange<T> | undefined,
  ): Promise<T | undefined> {
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      if (tries > 0) await delay(Math.random() * Math.min(MAX_PAUSE_MS, 2 ** tries));
      const expected = await this.get(place);
      const now = this.open<T>(place, expected);
      const wanted = change(now);
      if (wanted === undefined || (wanted === 'remove' && expected === undefined)) return now;
      if (wanted === 'remove') {
        if (await this.reach(() => this.store.delete(place, expected as string))) return undefined;
      } else if (await this.put(place, this.ring.seal(JSON.stringify(wanted.value), place), { ...wanted, expected })) {
        return wanted.value;
      }
    }
    throw this.unavailable(new Error(`A record was changed by others ${MAX_TRIES} times in a row.`));
  }

  /** A store that rejects a write may have written it. */
  private async put(
    place: string,
    sealed: string,
    { ttlMs, expected }: { readonly ttlMs: number; readonly expected: string | undefined },
  ): Promise<boolean> {
    try {
      return await within(STORE_MS, SILENT, () => this.store.set(place, sealed, { ttlMs, expected }));
    } catch (error) {
      if (error instanceof McpError) throw error;
      if ((await this.get(place)) === sealed) return true;
      throw this.unavailable(error);
    }
  }

  private async get(place: string): Promise<string | undefined> {
    return (await this.reach(() => this.store.get(place))) ?? undefined;
  }

  private async reach<R>(call: () => R | Promise<R>): Promise<R> {
    try {
      return await within(STORE_MS, SILENT, call);
    } catch (error) {
      throw error instanceof McpError ? error : this.unavailable(error);
    }
  }

  private open<T>(place: string, sealed: string | undefined): T | undefined {
    if (sealed === undefined) return undefined;
    const json = this.ring.open(sealed, place);
    if (json !== undefined) return JSON.parse(json) as T;
    const problem =
      'A record in `store` cannot be opened: it was altered, or sealed with another secret. It is left as it is. Add the secret to the list `secret`.';
    throw this.unavailable(new Error(problem));
  }

  private unavailable(error: unknown): McpError {
    this.reporter.report(error, undefined, 'store failed');
    return new McpError('unavailable', 'The server cannot reach its data. Try again later.');
  }
}

const SILENT = 'store does not answer.';

/** Where a record is kept: nothing of its caller or tool can be read from it. */
const placeOf = ([kind, ...parts]: RecordKey): string =>
  `${kind}:${sha256(JSON.stringify(parts)).toString('base64url')}`;
