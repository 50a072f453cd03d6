import { deepEqual, equal } from 'node:assert/strict';

import type { KeptSession, SessionStore } from '@decorum/http';

import { type ContractClock, type ContractRule, numbersTo, plain } from './rule.js';

type Check = (store: SessionStore, clock: ContractClock) => Promise<void>;

const HOUR = 3_600_000;

const record = (id: string, version = 1, more: Partial<KeptSession> = {}): KeptSession => ({
  id,
  version,
  revision: 'any',
  client: { info: { name: 'c', version: '1' }, capabilities: { roots: {} } },
  principal: { subject: 'ann', scopes: ['read'] },
  joined: true,
  createdAt: 1,
  usedAt: 2,
  ...more,
});

/** Checks what a store has. It may return null in place of undefined. */
async function expectKept(store: SessionStore, id: string, kept: KeptSession | undefined): Promise<void> {
  const found = await store.get(id);
  deepEqual(found ? plain(found) : undefined, kept);
}

const returnsWhatWasStored: Check = async (store) => {
  const given = record('a');
  await store.set(given, HOUR);
  given.usedAt = 99;
  await expectKept(store, 'a', record('a'));
};

const returnsCopies: Check = async (store) => {
  await store.set(record('a'), HOUR);
  Object.assign((await store.get('a')) as object, { usedAt: 99 });
  await expectKept(store, 'a', record('a'));
};

const knowsOnlyItsIds: Check = async (store) => {
  await store.set(record('a'), HOUR);
  for (const id of ['b', '', '__proto__', 'constructor', 'a ', 'A']) await expectKept(store, id, undefined);
};

const replacesWholeRecords: Check = async (store) => {
  await store.set(record('a', 1, { logLevel: 'debug', subscriptions: ['docs://guide'] }), HOUR);
  await store.set(record('a', 2, { logLevel: 'error' }), HOUR, 1);
  await expectKept(store, 'a', record('a', 2, { logLevel: 'error' }));
};

const keepsAnyText: Check = async (store) => {
  const text = 'ümlaut 日本 🎉 \u0000 \u2028 "\\\n';
  const given = record('a', 1, {
    principal: { subject: text, claims: { [text]: [text, 1, null] } },
    subscriptions: numbersTo(500).map((n) => `docs://${n}/${text}`),
  });
  await store.set(given, HOUR);
  await expectKept(store, 'a', plain(given));
};

const keepsRecordsApart: Check = async (store) => {
  await Promise.all(['a', 'b', 'c'].map((id) => store.set(record(id), HOUR)));
  await store.delete('b');
  await expectKept(store, 'a', record('a'));
  await expectKept(store, 'b', undefined);
  await expectKept(store, 'c', record('c'));
};

const comparesVersions: Check = async (store) => {
  await store.set(record('a'), HOUR);
  for (const other of [0, 2, 10]) equal(await store.set(record('a', 11), HOUR, other), false, `expects ${other}`);
  await expectKept(store, 'a', record('a'));
  // undefined is success too
  equal((await store.set(record('a', 2), HOUR, 1)) ?? true, true);
  equal(await store.set(record('a', 2, { logLevel: 'error' }), HOUR, 1), false);
  await expectKept(store, 'a', record('a', 2));
};

const refusesWhereNoRecordIs: Check = async (store, clock) => {
  await store.set(record('deleted'), HOUR);
  await store.delete('deleted');
  await store.set(record('over'), 1000);
  await clock.pass(1500);
  for (const id of ['never', 'deleted', 'over']) {
    for (const expected of [0, 1]) equal(await store.set(record(id, expected + 1), HOUR, expected), false, id);
    await expectKept(store, id, undefined);
  }
};

const letsOneChangeWin: Check = async (store) => {
  await store.set(record('a'), HOUR);
  const change = (n: number) => record('a', 2, { subscriptions: [`docs://${n}`] });
  const stored = await Promise.all(numbersTo(20).map(async (n) => await store.set(change(n), HOUR, 1)));
  const winners = numbersTo(20).filter((n) => stored[n - 1] !== false);
  equal(winners.length, 1, `${winners.length} of 20 changes were stored`);
  await expectKept(store, 'a', change(winners[0] as number));
};

const staysDeleted: Check = async (store) => {
  const ids = numbersTo(20).map((n) => `a${n}`);
  await Promise.all(ids.map((id) => store.set(record(id), HOUR)));
  await Promise.all(ids.flatMap((id) => [store.set(record(id, 2), HOUR, 1), store.delete(id)]));
  for (const id of ids) await expectKept(store, id, undefined);
};

const expires: Check = async (store, clock) => {
  // far enough apart for stores and machines that are slow
  const ttlMs = 2500;
  for (const id of ['quiet', 'touched', 'set', 'refused']) await store.set(record(id), ttlMs);
  await clock.pass(1500);
  await store.touch('touched', ttlMs);
  await store.set(record('set', 2), ttlMs, 1);
  await store.set(record('refused', 2), ttlMs, 9);
  await clock.pass(1500);
  await expectKept(store, 'quiet', undefined);
  await expectKept(store, 'touched', record('touched'));
  await expectKept(store, 'set', record('set', 2));
  await expectKept(store, 'refused', undefined);
};

const ignoresUnknownIds: Check = async (store) => {
  await store.touch('none', 1000);
  await store.delete('none');
  await expectKept(store, 'none', undefined);
};

const touchRestoresNothing: Check = async (store, clock) => {
  await store.set(record('deleted'), HOUR);
  await store.delete('deleted');
  await store.touch('deleted', HOUR);
  await store.set(record('over'), 1000);
  await clock.pass(1500);
  await store.touch('over', HOUR);
  await expectKept(store, 'deleted', undefined);
  await expectKept(store, 'over', undefined);
};

/**
 * The rules for a `SessionStore`, each with what checks it. Give each check a new store.
 * @example
 * ```ts
 * import { sessionStoreContract } from '@decorum/testing/contracts';
 * import { it } from 'node:test';
 *
 * for (const [rule, check] of sessionStoreContract) {
 *   it(`RedisSessions ${rule}`, async () => await check(await openEmptySessions(), clock));
 * }
 * ```
 */
export const sessionStoreContract: readonly ContractRule<[store: SessionStore, clock: ContractClock]>[] = [
  ['returns a record as it was when it was stored', returnsWhatWasStored],
  ['returns copies of records, so that changing one changes nothing in the store', returnsCopies],
  ['returns no record for other ids', knowsOnlyItsIds],
  ['replaces the whole record', replacesWholeRecords],
  ['keeps records with any Unicode', keepsAnyText],
  ['keeps the records of different sessions apart', keepsRecordsApart],
  ['stores a change only if the record has the expected version', comparesVersions],
  ['stores no change of a record that is missing, deleted or expired', refusesWhereNoRecordIs],
  ['lets exactly one of 20 changes win that expect the same version', letsOneChangeWin],
  ['does not bring a record back that is deleted while it is changed', staysDeleted],
  ['lets a record expire unless it was touched or changed', expires],
  ['does nothing on touch and delete of an unknown id', ignoresUnknownIds],
  ['does not bring a deleted or expired record back on touch', touchRestoresNothing],
];
