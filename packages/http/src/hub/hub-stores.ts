import { MemoryKeyValueStore, type MemoryKeyValueStoreOptions, MemorySingleUse } from '@decorum/core';

import { type KeptSession, MemorySessionStore, type MemorySessionStoreOptions } from '../sessions/session-store.js';
import type { EventBatch } from '../streams/event-store.js';
import { MemoryEventStore, type MemoryEventStoreOptions } from '../streams/memory-event-store.js';

/** Limits on what a hub keeps in memory for the servers of one name. */
export interface HubOptions {
  /** Limits on the records of sessions. Defaults to 64 Mi characters. */
  readonly sessions?: MemorySessionStoreOptions;
  /** Limits on the events of streams. Defaults to 10,000 events of 32 Mi characters for 5 minutes. */
  readonly events?: MemoryEventStoreOptions;
  /** Limits on the used ids of `singleUse`. Defaults to 500,000 ids. */
  readonly singleUse?: { readonly maxIds?: number };
  /** Limits on recorded outcomes, plans, and what handlers remember. Defaults to 64 Mi characters. */
  readonly store?: MemoryKeyValueStoreOptions;
}

/** The functions that nodes of one server name call in the hub. */
export type HubStores = ReturnType<typeof hubStores>;

/**
 * The memory that the nodes of one server name share.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 */
export function hubStores(options: HubOptions) {
  const sessions = new MemorySessionStore(options.sessions);
  const events = new MemoryEventStore(options.events);
  const used = new MemorySingleUse(options.singleUse);
  const values = new MemoryKeyValueStore(options.store);
  return {
    get: (id: string) => sessions.get(id),
    set: (record: KeptSession, ttlMs: number, expected?: number) => sessions.set(record, ttlMs, expected),
    touch: (id: string, ttlMs: number) => sessions.touch(id, ttlMs),
    delete: (id: string) => sessions.delete(id),
    append: (key: string, batch: EventBatch) => events.appendBatch(key, batch),
    read: (key: string, after: number, limit?: number) => events.read(key, after, limit),
    claim: (id: string, ttlMs: number) => used.claim(id, ttlMs),
    getValue: (key: string) => values.get(key),
    setValue: (key: string, value: string, condition: Parameters<MemoryKeyValueStore['set']>[2]) =>
      values.set(key, value, condition),
    deleteValue: (key: string, expected: string) => values.delete(key, expected),
  };
}
