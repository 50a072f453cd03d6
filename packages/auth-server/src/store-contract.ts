// `@decorum/auth-server/store-contract`: what any `AuthStore` must do, for the tests of its author.
import { deepEqual, equal } from 'node:assert/strict';

import type { AuthStore, StoredRecord } from './store/auth-store.js';

/** The clock of the store under test. */
export interface ContractClock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Moves the clock forward by some milliseconds. */
  pass(ms: number): void | Promise<void>;
}

/** Checks an open and empty store. Rejects if the store breaks the rule. */
type Check = (store: AuthStore, clock: ContractClock) => Promise<void>;

/** A rule for stores, and its check. */
export type StoreRule = readonly [rule: string, check: Check];

// copied: in Jest, what a library returns may have other prototypes
const sorted = (records: readonly StoredRecord[]) =>
  [...records].sort((one, other) => (one.key < other.key ? -1 : 1)).map(({ key, value }) => ({ key, value }));

const keysOf = async (store: AuthStore, kind: string) => sorted(await store.list(kind)).map(({ key }) => key);

const numbersTo = (count: number) => Array.from({ length: count }, (_, n) => n);

const returnsWhatWasWritten: Check = async (store) => {
  equal(await store.write([{ key: 'grant:a', value: 'one' }]), true);
  equal(await store.get('grant:a'), 'one');
  for (const key of ['grant:b', 'grant:', 'grant', 'grant:a ', 'a', '__proto__', 'constructor', ''])
    equal(await store.get(key), undefined, key);
};

const replacesAndDeletes: Check = async (store) => {
  await store.write([{ key: 'grant:a', value: 'one' }]);
  await store.write([{ key: 'grant:a', value: 'two' }]);
  equal(await store.get('grant:a'), 'two');
  await store.write([
    { key: 'grant:a', value: undefined },
    { key: 'grant:never', value: undefined },
  ]);
  equal(await store.get('grant:a'), undefined);
  deepEqual(await keysOf(store, 'grant'), []);
};

const writesAllOrNothing: Check = async (store) => {
  await store.write([{ key: 'grant:a', value: 'one' }]);
  const changes = [
    { key: 'grant:b', value: 'new' },
    { key: 'grant:a', value: 'two', expected: 'zero' },
    { key: 'grant:c', value: 'new' },
  ];
  equal(await store.write(changes), false);
  deepEqual(sorted(await store.list('grant')), [{ key: 'grant:a', value: 'one' }]);
  equal(await store.write(changes.map((change) => ({ ...change, expected: undefined }))), true);
  deepEqual(await keysOf(store, 'grant'), ['grant:a', 'grant:b', 'grant:c']);
};

const comparesWithExpectedValues: Check = async (store) => {
  const steps: [value: string | undefined, expected: string | null, isMade: boolean][] = [
    ['one', '', false],
    ['one', null, true],
    ['two', null, false],
    ['two', 'one', true],
    [undefined, 'one', false],
    [undefined, 'two', true],
    // an empty value is a value
    ['', null, true],
    ['three', null, false],
    // written again as it is, to depend on it
    ['', '', true],
  ];
  for (const [value, expected, isMade] of steps) {
    equal(await store.write([{ key: 'grant:a', value, expected }]), isMade, `${value} in place of ${expected}`);
  }
  equal(await store.get('grant:a'), '');
};

const letsOneConflictingWriteWin: Check = async (store) => {
  await store.write([{ key: 'grant:a', value: 'start' }]);
  const made = await Promise.all(
    numbersTo(50).map((n) => {
      const grant = { key: 'grant:a', value: `winner ${n}`, expected: 'start' };
      return store.write([grant, { key: `code:${n}`, value: 'used', expected: null }]);
    }),
  );
  equal(made.filter(Boolean).length, 1);
  const winner = made.indexOf(true);
  equal(await store.get('grant:a'), `winner ${winner}`);
  deepEqual(sorted(await store.list('code')), [{ key: `code:${winner}`, value: 'used' }]);
};

const expires: Check = async (store, clock) => {
  const expiresAt = clock.now() + 1000;
  await store.write([
    { key: 'code:short', value: 'one', expiresAt },
    { key: 'code:long', value: 'two', expiresAt: expiresAt + 1000 },
    { key: 'code:endless', value: 'three' },
    { key: 'code:over', value: 'four', expiresAt: clock.now() },
  ]);
  equal(await store.get('code:over'), undefined);
  await clock.pass(999);
  equal(await store.get('code:short'), 'one');
  await clock.pass(1);
  equal(await store.get('code:short'), undefined);
  deepEqual(await keysOf(store, 'code'), ['code:endless', 'code:long']);
  equal(await store.write([{ key: 'code:short', value: 'new', expected: 'one' }]), false);
  equal(await store.write([{ key: 'code:short', value: 'new', expected: null }]), true);
  // the new record doesn't inherit the expiry of the old one
  await clock.pass(3_600_000);
  deepEqual(await keysOf(store, 'code'), ['code:endless', 'code:short']);
};

const takesTheLatestExpiry: Check = async (store, clock) => {
  await store.write([{ key: 'code:a', value: 'one', expiresAt: clock.now() + 1000 }]);
  await store.write([{ key: 'code:a', value: 'one', expiresAt: clock.now() + 5000 }]);
  await clock.pass(4999);
  equal(await store.get('code:a'), 'one');
  await clock.pass(1);
  equal(await store.get('code:a'), undefined);
};

const listsOneKind: Check = async (store) => {
  const keys = ['key:a', 'keys:a', 'key:b:c', 'key-old:a', 'ke:y:a', 'KEY:a', 'client:key:a'];
  await store.write(keys.map((key) => ({ key, value: key })));
  deepEqual(await keysOf(store, 'key'), ['key:a', 'key:b:c']);
  deepEqual(await keysOf(store, 'keys'), ['keys:a']);
  deepEqual(await keysOf(store, 'ke'), ['ke:y:a']);
  for (const kind of ['k', 'k*', '%', 'a', '', 'key:b', '__proto__']) deepEqual(await keysOf(store, kind), [], kind);
};

const keepsAnyText: Check = async (store) => {
  const values = [
    '',
    ' \t\r\n\u0001',
    '{"json":[1]}\n[["grant:x","y",null]]\n',
    'ümlaut 日本 🎉 \u2028\u2029\uFEFF',
    'x'.repeat(300_000),
  ];
  const records = values.map((value, n) => ({ key: `grant:${n} é\n"🎉`, value }));
  await store.write(records);
  for (const { key, value } of records) equal(await store.get(key), value);
  deepEqual(sorted(await store.list('grant')), records);
};

const keepsManyRecords: Check = async (store) => {
  const recordsOf = (kind: string) => numbersTo(500).map((n) => ({ key: `${kind}:${n}`, value: `value ${n}` }));
  await Promise.all(recordsOf('client').map((record) => store.write([record])));
  await store.write(recordsOf('grant'));
  for (const kind of ['client', 'grant']) deepEqual(sorted(await store.list(kind)), sorted(recordsOf(kind)));
};

/**
 * The rules for stores, each with what checks it. Give each check a new store.
 * @example
 * ```ts
 * import { storeContract } from '@decorum/auth-server/store-contract';
 * import { it } from 'node:test';
 *
 * for (const [rule, check] of storeContract) {
 *   it(`RedisStore ${rule}`, async () => check(await openEmptyStore(), clock));
 * }
 * ```
 */
export const storeContract: readonly StoreRule[] = [
  ['returns what was written, and nothing for other keys', returnsWhatWasWritten],
  ['replaces and deletes records', replacesAndDeletes],
  ['makes all changes of a write or none', writesAllOrNothing],
  ['compares records with their expected values, where null means none', comparesWithExpectedValues],
  ['lets exactly one of several conflicting writes win', letsOneConflictingWriteWin],
  ['counts an expired record as missing', expires],
  ['takes the expiry of the latest write', takesTheLatestExpiry],
  ['lists the records of one kind, also if others begin with the same letters', listsOneKind],
  ['keeps keys and values of any Unicode, and of any length', keepsAnyText],
  ['keeps 1,000 records, written one by one and at once', keepsManyRecords],
];
