import { setTimeout as delay } from 'node:timers/promises';

import type { JsonObject } from '@decorum/schema/internal';

import type { McpError } from '../../protocol/errors.js';
import type { RecordChange, RecordKey, Records } from '../../protocol/records.js';
import { type KeyRing, sha256 } from '../key-ring.js';
import type { CallerRoom } from './caller-room.js';
import { GuardedStore, SilentStore, type StoreReporter, unavailable } from './guarded-store.js';
import type { KeyValueStore } from './key-value-store.js';

/** Milliseconds for which a change is tried again while other processes are faster. */
const CHANGE_MS = 10_000;

/** Milliseconds that a pause before the next try takes at most. */
const MAX_PAUSE_MS = 50;

/** Ten years. Stores may not know times that are much later. */
const MAX_TTL_MS = 315_576_000_000;

/** What `SealedRecords` is made of. */
export interface SealedRecordsParts {
  readonly store: KeyValueStore;
  /** Keys whose sealed text does not expire: the store decides how long records live. */
  readonly ring: KeyRing;
  /** The server's name: servers with other names share nothing. */
  readonly server: string;
  readonly reporter: StoreReporter;
  /** How much of the store each caller may fill. */
  readonly room: CallerRoom;
}

interface Setting {
  readonly ttlMs: number;
  readonly expected: string | undefined;
  readonly payer: string | undefined;
}

type Change<T> = (now: T | undefined) => RecordChange<T> | undefined;

/** Seals records, and keeps them in a store under keys that say nothing about them. */
export class SealedRecords implements Records {
  /**
   * The last change of each record that this process is changing: the next one waits for it. Resolves with the error if
   * the store was silent.
   */
  private readonly changing = new Map<string, Promise<SilentStore | undefined>>();
  private readonly store: GuardedStore;
  private isReportedUnreadable = false;

  constructor(private readonly parts: SealedRecordsParts) {
    this.store = new GuardedStore(parts.store, parts.reporter);
  }

  async read<T extends JsonObject>(key: RecordKey): Promise<T | undefined> {
    const place = this.placeOf(key);
    return this.open<T>(place, await this.store.get(place));
  }

  async change<T extends JsonObject>(key: RecordKey, change: Change<T>, payer?: string): Promise<T | undefined> {
    const place = this.placeOf(key);
    const before = this.changing.get(place);
    const run = () => this.changeNow(place, change, payer);
    const changed = before === undefined ? run() : this.changeAfter(before, run);
    const settled = changed.then(
      () => undefined,
      (error: unknown) => (error instanceof SilentStore ? error : undefined),
    );
    this.changing.set(place, settled);
    try {
      return await changed;
    } finally {
      if (this.changing.get(place) === settled) this.changing.delete(place);
    }
  }

  /** Waits for the change before. If the store was silent, all that wait fail: each would wait in vain as long. */
  private async changeAfter<T>(before: Promise<SilentStore | undefined>, run: () => Promise<T>): Promise<T> {
    const silence = await before;
    if (silence !== undefined) throw silence;
    return await run();
  }

  private async changeNow<T extends JsonObject>(
    place: string,
    change: Change<T>,
    payer: string | undefined,
  ): Promise<T | undefined> {
    const giveUpAt = performance.now() + CHANGE_MS;
    let tried: { readonly sealed: string; readonly value: T } | undefined;
    for (let tries = 0; performance.now() < giveUpAt; tries += 1) {
      if (tries > 0) await delay(Math.random() * Math.min(MAX_PAUSE_MS, 2 ** tries));
      const expected = await this.store.get(place);
      // what is sealed twice differs: a store may send a write again after it lost the answer, and then refuse it
      if (tried !== undefined && tried.sealed === expected) return tried.value;
      const now = this.open<T>(place, expected);
      const wanted = change(now);
      if (wanted === undefined) return now;
      if (wanted === 'remove') {
        if (expected !== undefined && !(await this.store.delete(place, expected))) continue;
        if (expected !== undefined && payer !== undefined) this.parts.room.giveBack(payer, expected.length);
        return undefined;
      }
      tried = { sealed: this.parts.ring.seal(JSON.stringify(wanted.value), place), value: wanted.value };
      const ttlMs = Math.ceil(Math.min(Math.max(wanted.ttlMs, 1), MAX_TTL_MS));
      if (await this.set(place, tried.sealed, { ttlMs, expected, payer })) return wanted.value;
    }
    throw this.failed(`Other processes changed a record in \`store\` all the time for ${CHANGE_MS} ms.`);
  }

  private async set(place: string, sealed: string, { payer, ...options }: Setting): Promise<boolean> {
    if (payer === undefined) return await this.store.set(place, sealed, options);
    const { room } = this.parts;
    const grown = sealed.length - (options.expected?.length ?? 0);
    if (grown > 0) room.take(payer, grown, options.ttlMs);
    let isSet = false;
    try {
      return (isSet = await this.store.set(place, sealed, options));
    } finally {
      room.giveBack(payer, Math.max(0, isSet ? -grown : grown));
    }
  }

  private open<T>(place: string, sealed: string | undefined): T | undefined {
    if (sealed === undefined) return undefined;
    const json = this.parts.ring.open(sealed, place);
    if (json !== undefined) return JSON.parse(json) as T;
    if (this.isReportedUnreadable) throw unavailable();
    this.isReportedUnreadable = true;
    throw this.failed(`The record "${place}" in \`store\` can not be opened: ${UNREADABLE}`);
  }

  private failed(problem: string): McpError {
    this.parts.reporter.report(new Error(problem), undefined, 'a record in `store` can not be used');
    return unavailable();
  }

  /** Where a record is kept: nothing of its caller or tool can be read from it. */
  private placeOf([kind, ...parts]: RecordKey): string {
    return `${kind}:${sha256(JSON.stringify([this.parts.server, ...parts])).toString('base64url')}`;
  }
}

const UNREADABLE =
  'it was altered, or sealed with another secret. It is left as it is. If the secret was replaced, add the old one to the list `secret`. Reported once.';
