import { equal } from 'node:assert/strict';

import type { KeyValueStore } from '@decorum/core';

import { type ContractClock, type ContractRule, numbersTo } from './rule.js';

type Check = (store: KeyValueStore, clock: ContractClock) => Promise<void>;

const HOUR = 3_600_000;
const YEAR = 8766 * HOUR;

const create = async (store: KeyValueStore, [key, value]: readonly [string, string], ttlMs = HOUR): Promise<boolean> =>
  await store.set(key, value, { ttlMs, expected: undefined });

const replace = async (store: KeyValueStore, key: string, values: readonly [string, string]): Promise<boolean> =>
  await store.set(key, values[1], { ttlMs: HOUR, expected: values[0] });

/** Checks what a key has. A store may return null in place of undefined. */
async function expectKept(store: KeyValueStore, key: string, value: string | undefined): Promise<void> {
  const found = (await store.get(key)) ?? undefined;
  // not `equal(found, value)`: values are long, and a difference would be printed
  const what =
    found === undefined ? 'no value' : found === value ? 'its value' : `another value (${found.length} long)`;
  equal(what, value === undefined ? 'no value' : 'its value', `The key ${JSON.stringify(key)}`);
}

const returnsWhatWasStored: Check = async (store) => {
  // unpaired surrogates can't be sent as UTF-8, and sealed text has none
  const values = ['a', ' a\n', '"\\', 'ümlaut 日本 🎉 \u0000\u2028\uFEFF', 'ü', 'u\u0308', 'x'.repeat(262_144)];
  for (const [n, value] of values.entries()) {
    equal(await create(store, [`key${n}`, value]), true);
    await expectKept(store, `key${n}`, value);
  }
};

const keepsKeysApart: Check = async (store) => {
  const keys = ['a', 'A', 'a ', 'a:b', '..', '__proto__', 'constructor', 'toString', `memory:${'x'.repeat(43)}`];
  for (const key of keys) {
    await expectKept(store, key, undefined);
    equal(await store.delete(key, 'value'), false);
    equal(await create(store, [key, `value of ${key}`]), true);
  }
  for (const key of keys) await expectKept(store, key, `value of ${key}`);
  equal(await store.delete('__proto__', 'value of __proto__'), true);
  for (const key of keys) await expectKept(store, key, key === '__proto__' ? undefined : `value of ${key}`);
};

const createsOnce: Check = async (store) => {
  equal(await create(store, ['a', 'first']), true);
  for (const value of ['second', 'first']) equal(await create(store, ['a', value]), false);
  await expectKept(store, 'a', 'first');
};

const comparesValues: Check = async (store) => {
  equal(await replace(store, 'a', ['none', 'value']), false);
  await expectKept(store, 'a', undefined);
  await create(store, ['a', 'value']);
  for (const other of ['valu', 'value ', 'VALUE', '', 'undefined', 'null'])
    equal(await replace(store, 'a', [other, 'next']), false, `expects ${JSON.stringify(other)}`);
  await expectKept(store, 'a', 'value');
  equal(await replace(store, 'a', ['value', 'next']), true);
  equal(await replace(store, 'a', ['value', 'other']), false);
  await expectKept(store, 'a', 'next');
};

const comparesWhatIsThere: Check = async (store) => {
  await create(store, ['a', 'first']);
  equal(await replace(store, 'a', ['first', 'second']), true);
  equal(await replace(store, 'a', ['second', 'first']), true);
  equal(await replace(store, 'a', ['first', 'third']), true);
  await expectKept(store, 'a', 'third');
};

const deletesExpected: Check = async (store) => {
  await create(store, ['a', 'value']);
  await create(store, ['b', 'value']);
  for (const other of ['other', '', 'valu']) equal(await store.delete('a', other), false);
  await expectKept(store, 'a', 'value');
  equal(await store.delete('a', 'value'), true);
  equal(await store.delete('a', 'value'), false);
  await expectKept(store, 'a', undefined);
  await expectKept(store, 'b', 'value');
  equal(await replace(store, 'a', ['value', 'next']), false);
  equal(await create(store, ['a', 'value']), true);
};

/** Runs 20 changes at once, and checks that the store has the value of the only one that won. */
async function expectOneWinner(store: KeyValueStore, change: (value: string) => Promise<boolean>): Promise<void> {
  // long enough that nothing writes them in one piece
  const values = numbersTo(20).map((n) => `value ${n} `.repeat(4000));
  const won = await Promise.all(values.map(change));
  equal(won.filter(Boolean).length, 1, `${won.filter(Boolean).length} of 20 changes were stored`);
  await expectKept(store, 'a', values[won.indexOf(true)]);
}

const letsOneCreationWin: Check = async (store) => {
  await expectOneWinner(store, async (value) => await create(store, ['a', value]));
};

const letsOneChangeWin: Check = async (store) => {
  await create(store, ['a', 'first']);
  await expectOneWinner(store, async (value) => await replace(store, 'a', ['first', value]));
};

const losesNoChange: Check = async (store) => {
  await create(store, ['a', '0']);
  const count = async () => {
    for (;;) {
      const now = (await store.get('a')) as string;
      if (await replace(store, 'a', [now, String(Number(now) + 1)])) return;
    }
  };
  await Promise.all(numbersTo(20).map(count));
  await expectKept(store, 'a', '20');
};

const deletesOrChanges: Check = async (store) => {
  for (const key of numbersTo(10).map((n) => `a${n}`)) {
    await create(store, [key, 'first']);
    const [isChanged, isDeleted] = await Promise.all([
      replace(store, key, ['first', 'second']),
      store.delete(key, 'first'),
    ]);
    equal(isChanged, !isDeleted);
    await expectKept(store, key, isChanged ? 'second' : undefined);
  }
};

const expires: Check = async (store, clock) => {
  // far enough apart for stores and machines that are slow
  for (const key of ['quiet', 'longer', 'refused', 'created']) await create(store, [key, 'first'], 2500);
  await create(store, ['shorter', 'first'], HOUR);
  await clock.pass(1000);
  for (const key of ['quiet', 'longer', 'refused']) await expectKept(store, key, 'first');
  equal(await store.set('longer', 'second', { ttlMs: HOUR, expected: 'first' }), true);
  equal(await store.set('shorter', 'second', { ttlMs: 500, expected: 'first' }), true);
  equal(await store.set('refused', 'second', { ttlMs: HOUR, expected: 'other' }), false);
  equal(await create(store, ['created', 'second'], HOUR), false);
  await clock.pass(1600);
  for (const key of ['quiet', 'shorter', 'refused', 'created']) await expectKept(store, key, undefined);
  await expectKept(store, 'longer', 'second');
};

const treatsExpiredAsNone: Check = async (store, clock) => {
  for (const key of ['a', 'b']) await create(store, [key, 'value'], 500);
  await clock.pass(700);
  equal(await replace(store, 'a', ['value', 'next']), false);
  equal(await store.delete('a', 'value'), false);
  for (const key of ['a', 'b']) equal(await create(store, [key, 'value']), true);
  await clock.pass(700);
  for (const key of ['a', 'b']) await expectKept(store, key, 'value');
};

const keepsForLong: Check = async (store, clock) => {
  await create(store, ['a', 'value'], 30 * 24 * HOUR);
  await create(store, ['b', 'value'], 10 * YEAR);
  await clock.pass(100);
  for (const key of ['a', 'b']) await expectKept(store, key, 'value');
};

/**
 * The rules for a `KeyValueStore`, each with what checks it. Give each check a new store. If several processes share
 * what is stored, let each call of the store go to the next one of them.
 * @example
 * ```ts
 * import { keyValueStoreContract } from '@decorum/testing/contracts';
 * import { it } from 'node:test';
 *
 * for (const [rule, check] of keyValueStoreContract) {
 *   it(`PostgresStore ${rule}`, async () => await check(await openEmptyValues(), clock));
 * }
 * ```
 */
export const keyValueStoreContract: readonly ContractRule<[store: KeyValueStore, clock: ContractClock]>[] = [
  ['returns a value as it was when it was stored, with any Unicode, of up to 256 KiB', returnsWhatWasStored],
  ['keeps the values of different keys apart', keepsKeysApart],
  ['creates a value only if the key has none', createsOnce],
  ['changes a value only if the key has the expected one', comparesValues],
  ['compares with what is there now, also if it was there before', comparesWhatIsThere],
  ['deletes a value only if it is the expected one', deletesExpected],
  ['lets exactly one of 20 creations win', letsOneCreationWin],
  ['lets exactly one of 20 changes win that expect the same value', letsOneChangeWin],
  ['loses none of 20 changes that are tried until they win', losesNoChange],
  ['either deletes a value or changes it', deletesOrChanges],
  ['lets a value expire when the last change says so, and not before', expires],
  ['treats an expired value as none', treatsExpiredAsNone],
  ['keeps a value for ten years', keepsForLong],
];
