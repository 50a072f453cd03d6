// Sealed records over stores with some methods of their own.
import { randomBytes } from 'node:crypto';

import { type KeyValueStore, MemoryKeyValueStore } from '@decorum/core';

import { KeyRing } from '../../src/kernel/key-ring.js';
import { CallerRoom } from '../../src/kernel/records/caller-room.js';
import { SealedRecords } from '../../src/kernel/records/sealed-records.js';
import type { RecordKey } from '../../src/protocol/records.js';

export const HOUR = 3_600_000;
export const KEY: RecordKey = ['memory', 'user:ann'];
export const UNAVAILABLE = { kind: 'unavailable', message: 'The server cannot reach its data. Try again later.' };

export const ringOf = (...keys: Uint8Array[]) => new KeyRing(keys, Infinity, () => {});
export const SECRET = randomBytes(32);

/** Records over a store with some methods of its own, and what is reported. */
export function over(
  spoiled: Partial<KeyValueStore> = {},
  { ring = ringOf(SECRET), server = 'shop', inner = memory(), maxBytes = Infinity } = {},
) {
  const reports: string[] = [];
  const reporter = {
    report(error: unknown, _exchange: unknown, message = '') {
      reports.push(`${message}: ${(error as Error).name}: ${(error as Error).message}`);
      return '';
    },
  };
  const store = { ...methodsOf(inner), ...spoiled };
  return {
    records: new SealedRecords({ store, ring, server, reporter, room: new CallerRoom(maxBytes) }),
    reports,
    inner,
  };
}

const memory = () => new MemoryKeyValueStore();

const methodsOf = (store: KeyValueStore): KeyValueStore => ({
  isDurable: store.isDurable,
  get: (key) => store.get(key),
  set: (key, value, options) => store.set(key, value, options),
  delete: (key, expected) => store.delete(key, expected),
});

type Count = { n: number };

export const increment = (records: SealedRecords, ttlMs = HOUR) =>
  records.change<Count>(KEY, (now) => ({ value: { n: (now?.n ?? 0) + 1 }, ttlMs }));
