import type { JsonObject } from '@decorum/schema/internal';

import type { RecordChange } from '../../protocol/records.js';

/** The record of a holder, with all that is remembered for it. Lists, because names such as `__proto__` are no keys. */
export interface MemoryRecord extends JsonObject {
  readonly values: readonly (readonly [name: string, expiresAt: number, value: unknown])[];
  /** Runs that have written and may run again, the newest last. */
  readonly runs?: readonly (readonly [id: string, writtenAt: number])[] | undefined;
}

/** A change of one value. */
export interface ValueChange {
  readonly name: string;
  readonly ttlMs: number;
  /** Returns the new value; undefined to remove it. Called again if another run was faster. */
  apply(now: unknown): unknown;
}

/** How much is remembered for one holder. */
export interface MemoryLimits {
  readonly maxBytes: number;
  readonly maxNames: number;
}

/** How many runs a record remembers. */
const MAX_RUNS = 100;

/** Milliseconds for which it remembers them. */
const RUN_MS = 86_400_000;

/** Thrown if a holder would have more than it may. */
export class MemoryFull extends Error {}

/** The values of a record that have not expired, by name. */
export function valuesOf(
  record: MemoryRecord | undefined,
  now: number,
): Map<string, { expiresAt: number; value: unknown }> {
  const values = (record?.values ?? []).filter(([, expiresAt]) => expiresAt > now);
  return new Map(values.map(([name, expiresAt, value]) => [name, { expiresAt, value }]));
}

/**
 * What becomes of a record with the changes of a run; undefined if it has them already.
 * @param run the run's id, if it may run again
 * @throws {MemoryFull} if it would be too much
 */
export function changed(
  record: MemoryRecord | undefined,
  changes: readonly ValueChange[],
  { run, ...limits }: MemoryLimits & { readonly run: string | undefined },
): RecordChange<MemoryRecord> | undefined {
  const now = Date.now();
  const runs = (record?.runs ?? []).filter(([, writtenAt]) => writtenAt + RUN_MS > now);
  if (runs.some(([id]) => id === run)) return undefined;
  const values = valuesOf(record, now);
  for (const { name, ttlMs, apply } of changes) {
    const value = apply(values.get(name)?.value);
    if (value === undefined) values.delete(name);
    else values.set(name, { expiresAt: now + ttlMs, value });
  }
  const entries = [...values].map(([name, { expiresAt, value }]) => [name, expiresAt, value] as const);
  requireRoom(entries, limits);
  const noted = run === undefined ? runs : [...runs, [run, now] as const].slice(-MAX_RUNS);
  const ends = [...entries.map(([, expiresAt]) => expiresAt), ...noted.map(([, writtenAt]) => writtenAt + RUN_MS)];
  if (ends.length === 0) return 'remove';
  const value = { values: entries, ...(noted.length > 0 && { runs: noted }) };
  return { value, ttlMs: Math.max(...ends) - now };
}

function requireRoom(entries: MemoryRecord['values'], { maxBytes, maxNames }: MemoryLimits): void {
  if (entries.length > maxNames) throw new MemoryFull(`more than ${maxNames} names`);
  const bytes = Buffer.byteLength(JSON.stringify(entries));
  if (bytes > maxBytes) throw new MemoryFull(`more than ${maxBytes / 1024} KiB`);
}
