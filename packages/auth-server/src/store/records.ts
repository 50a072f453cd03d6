import type { Change, StoredRecord } from './auth-store.js';

/** Entries that each change examines for expired ones. With more than one, expired records can't accumulate. */
const SWEPT_PER_CHANGE = 4;

/** Share of the records that is evicted at the cap, so that finding the victims is rare. */
const EVICTED_SHARE = 0.02;

/**
 * Caps on kinds that strangers create before anybody has signed in: authorization requests, and approvals to sign in
 * upstream. Beyond the cap, the oldest is evicted.
 */
const MAX_OF_KIND: ReadonlyMap<string, number> = new Map([
  ['interaction', 10_000],
  ['upstream-pending', 10_000],
]);

/** Default cap on the records of a store, about 1 KiB each. */
export const DEFAULT_MAX_RECORDS = 200_000;

interface Entry {
  readonly value: string;
  readonly expiresAt: number;
}

const kindOf = (key: string): string => key.slice(0, Math.max(0, key.indexOf(':')));

/** Whether the records that some changes depend on still have their expected values. */
export const isExpected = (changes: readonly Change[], valueOf: (key: string) => string | undefined): boolean =>
  changes.every(({ key, expected }) => expected === undefined || (valueOf(key) ?? null) === expected);

/** The value of a record after a change, unless it has expired. */
export const valueAfter = ({ value, expiresAt }: Change, now: number): string | undefined =>
  expiresAt === undefined || expiresAt > now ? value : undefined;

/** The records of a store in memory. Expired ones count as missing, and are dropped a few at a time. */
export class Records {
  private readonly entries = new Map<string, Entry>();
  private readonly keysOfKinds = new Map<string, Set<string>>();
  private sweep = this.entries.entries();

  /**
   * @param now milliseconds since 1970
   * @param maxRecords cap on the records. Beyond it, those that expire first are evicted: an attacker can create many
   *   sign-ins that last minutes, but must not cost others their keys, registrations and grants
   */
  constructor(
    private readonly now: () => number,
    private readonly maxRecords: number,
  ) {}

  get(key: string): string | undefined {
    const entry = this.entries.get(key);
    if (entry === undefined) return undefined;
    if (entry.expiresAt > this.now()) return entry.value;
    this.delete(key);
    return undefined;
  }

  list(kind: string): StoredRecord[] {
    return [...(this.keysOfKinds.get(kind) ?? [])].flatMap((key) => {
      const value = this.get(key);
      return value === undefined ? [] : [{ key, value }];
    });
  }

  /** Makes changes, whatever they expect. */
  apply(changes: readonly Change[]): void {
    for (const { key, value, expiresAt = Number.POSITIVE_INFINITY } of changes) {
      this.delete(key);
      if (value !== undefined && expiresAt > this.now()) this.set(key, { value, expiresAt });
      this.dropExpired(SWEPT_PER_CHANGE);
    }
    if (this.entries.size > this.maxRecords) this.evict();
  }

  /** The changes that create all records. They may be read while records expire. */
  *all(): Generator<Change> {
    const now = this.now();
    for (const [key, { value, expiresAt }] of this.entries) if (expiresAt > now) yield { key, value, expiresAt };
  }

  private set(key: string, entry: Entry): void {
    const kind = kindOf(key);
    let keys = this.keysOfKinds.get(kind);
    if (keys === undefined) this.keysOfKinds.set(kind, (keys = new Set()));
    keys.add(key);
    this.entries.set(key, entry);
    const [oldest = key] = keys;
    if (keys.size > (MAX_OF_KIND.get(kind) ?? Number.POSITIVE_INFINITY)) this.delete(oldest);
  }

  private delete(key: string): void {
    if (!this.entries.delete(key)) return;
    const kind = kindOf(key);
    const keys = this.keysOfKinds.get(kind);
    keys?.delete(key);
    if (keys?.size === 0) this.keysOfKinds.delete(kind);
  }

  /** Examines the next entries, and begins again after the last. */
  private dropExpired(count: number): void {
    const now = this.now();
    for (let examined = 0; examined < count; examined++) {
      const { value, done } = this.sweep.next();
      if (done === true) {
        this.sweep = this.entries.entries();
        return;
      }
      const [key, { expiresAt }] = value;
      if (expiresAt <= now) this.delete(key);
    }
  }

  private evict(): void {
    const now = this.now();
    for (const [key, { expiresAt }] of this.entries) if (expiresAt <= now) this.delete(key);
    const excess = this.entries.size - this.maxRecords;
    if (excess <= 0) return;
    const mortal = [...this.entries].filter(([, { expiresAt }]) => expiresAt < Number.POSITIVE_INFINITY);
    mortal.sort(([, one], [, other]) => one.expiresAt - other.expiresAt);
    const count = excess + Math.floor(this.maxRecords * EVICTED_SHARE);
    for (const [key] of mortal.slice(0, count)) this.delete(key);
  }
}
