// `@decorum/tasks/store-contract`: what any `TaskStore` must do, for the tests of its author.
import { deepEqual, equal } from 'node:assert/strict';

import type { StoredTask, TaskStore } from './store/task-store.js';

export type { OpenTask, StoredTask, TaskCounts, TaskPage, TaskStore, TaskStoreServer } from './store/task-store.js';

/** The clock of the store under test. */
export interface ContractClock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Moves the clock forward by some milliseconds, or waits as long. */
  pass(ms: number): void | Promise<void>;
}

/** Checks an open and empty store. Rejects if the store breaks the rule. */
type Check = (store: TaskStore, clock: ContractClock) => Promise<void>;

/** A rule for stores, and its check. */
export type StoreRule = readonly [rule: string, check: Check];

const task = (id: string, more: Partial<StoredTask> = {}): StoredTask => ({
  id,
  version: 1,
  owner: 'ann',
  isOpen: true,
  createdAt: 1_700_000_000_000,
  expiresAt: undefined,
  holder: undefined,
  text: `text of ${id}`,
  ...more,
});

// copied: in Jest, what a library returns may have other prototypes
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value ?? null));

const numbersTo = (count: number) => Array.from({ length: count }, (_, n) => n);

async function expectKept(store: TaskStore, id: string, kept: StoredTask | undefined): Promise<void> {
  deepEqual(plain(await store.get(id)), plain(kept));
}

async function setAll(store: TaskStore, tasks: readonly StoredTask[]): Promise<void> {
  for (const each of tasks) equal(await store.set(each), true, each.id);
}

/** The ids of all tasks of an owner, read page by page. */
async function listed(store: TaskStore, owner: string, limit = 100): Promise<string[]> {
  const all: StoredTask[] = [];
  for (;;) {
    const after = all.at(-1);
    const page = await store.list(owner, { limit, ...(after && { after }) });
    all.push(...page);
    if (page.length < limit) return all.map(({ id }) => id);
  }
}

const openIds = async (store: TaskStore) => (await store.openTasks()).map(({ id }) => id).sort();

const returnsWhatWasStored: Check = async (store, { now }) => {
  const tasks = [
    task('a', { expiresAt: now() + 3_600_000, holder: 'p1' }),
    task('b', { isOpen: false, owner: '', createdAt: 0 }),
  ];
  await setAll(store, tasks);
  for (const each of tasks) await expectKept(store, each.id, each);
  for (const id of ['c', '', 'A', 'a ', '__proto__', 'constructor', '../a']) await expectKept(store, id, undefined);
};

const comparesVersions: Check = async (store) => {
  for (const version of [0, 2, 3]) equal(await store.set(task('a', { version })), false, `${version} as the first`);
  await expectKept(store, 'a', undefined);
  deepEqual(plain(await store.count('ann')), { all: 0, own: 0 });
  for (let version = 1; version <= 11; version += 1) {
    const next = task('a', { version, text: `text ${version}` });
    equal(await store.set(next), true, `version ${version}`);
    for (const other of [1, version, version - 1, version + 2, version * 10]) {
      equal(await store.set(task('a', { version: other, text: 'wrong' })), false, `${other} after ${version}`);
    }
    await expectKept(store, 'a', next);
  }
};

const letsOneSetWin: Check = async (store) => {
  for (const version of [1, 2, 3]) {
    const tries = numbersTo(50).map((n) => task('a', { version, text: `try ${n}`, holder: `p${n}` }));
    const made = await Promise.all(tries.map(async (each) => await store.set(each)));
    equal(made.filter(Boolean).length, 1, `${made.filter(Boolean).length} of 50 sets were made`);
    await expectKept(store, 'a', tries[made.indexOf(true)]);
    const open = await store.openTasks();
    deepEqual(plain(open), [{ id: 'a', holder: `p${made.indexOf(true)}` }]);
  }
};

const deletes: Check = async (store) => {
  await setAll(store, [task('a'), task('a', { version: 2 }), task('b')]);
  await store.delete('a');
  await store.delete('never');
  await expectKept(store, 'a', undefined);
  await expectKept(store, 'b', task('b'));
  deepEqual(await listed(store, 'ann'), ['b']);
  deepEqual(await openIds(store), ['b']);
  deepEqual(plain(await store.count('ann')), { all: 1, own: 1 });
  equal(await store.set(task('a', { version: 3 })), false);
  equal(await store.set(task('a')), true);
};

const listsByAge: Check = async (store) => {
  const ages = [5, 3, 9, 1, 7, 3, 5, 5, 2, 8, 20, 100, 3].map((age, n) => task(`t${n}`, { createdAt: age }));
  await setAll(store, ages);
  // a change moves no task
  await setAll(store, [task('t0', { version: 2, createdAt: 5, isOpen: false, text: 'changed' })]);
  const inOrder = await listed(store, 'ann');
  const createdAt = new Map(ages.map((each) => [each.id, each.createdAt]));
  deepEqual(
    inOrder.map((id) => createdAt.get(id)),
    [1, 2, 3, 3, 3, 5, 5, 5, 7, 8, 9, 20, 100],
  );
  equal(new Set(inOrder).size, ages.length);
  for (const limit of [1, 2, 3, 13]) deepEqual(await listed(store, 'ann', limit), inOrder, `pages of ${limit}`);
  const [page] = await store.list('ann', { limit: 1 });
  deepEqual(plain(page), plain(await store.get(inOrder[0] ?? '')));
  for (const [at, id] of inOrder.entries()) {
    await store.delete(id);
    const after = { id, createdAt: createdAt.get(id) ?? 0 };
    const rest = await store.list('ann', { after, limit: 100 });
    deepEqual(
      rest.map((each) => each.id),
      inOrder.slice(at + 1),
      `after ${id}, which is gone`,
    );
  }
};

const keepsOwnersApart: Check = async (store) => {
  const owners = ['ann', 'an', 'ann ', 'Ann', '', '*', '[a-z]n', '{ann}', '__proto__'];
  await setAll(
    store,
    owners.flatMap((owner, n) => numbersTo(n + 1).map((m) => task(`${n}.${m}`, { owner, createdAt: m }))),
  );
  for (const [n, owner] of owners.entries()) {
    deepEqual(
      await listed(store, owner, 3),
      numbersTo(n + 1).map((m) => `${n}.${m}`),
    );
    deepEqual(plain(await store.count(owner)), { all: 45, own: n + 1 });
  }
  deepEqual(await listed(store, 'bob'), []);
  deepEqual(plain(await store.count('bob')), { all: 45, own: 0 });
};

const knowsOpenTasks: Check = async (store) => {
  await setAll(store, [task('a', { holder: 'p1' }), task('b', { owner: '' }), task('c', { isOpen: false })]);
  const found = async () => [...(await store.openTasks())].sort((one, other) => (one.id < other.id ? -1 : 1));
  deepEqual(plain(await found()), plain([{ id: 'a', holder: 'p1' }, { id: 'b' }]));
  await setAll(store, [
    task('a', { version: 2 }),
    task('b', { version: 2, owner: '', holder: 'p2' }),
    task('c', { version: 2 }),
  ]);
  deepEqual(plain(await found()), plain([{ id: 'a' }, { id: 'b', holder: 'p2' }, { id: 'c' }]));
  await setAll(store, [task('a', { version: 3, isOpen: false }), task('b', { version: 3, owner: '', isOpen: false })]);
  deepEqual(await openIds(store), ['c']);
  deepEqual(plain(await store.count('ann')), { all: 3, own: 2 });
};

const expires: Check = async (store, clock) => {
  // far enough apart for stores and machines that are slow
  const expiresAt = clock.now() + 2500;
  await setAll(store, [
    task('short', { expiresAt }),
    task('long', { expiresAt: expiresAt + 3_600_000 }),
    task('endless'),
    task('other', { expiresAt, owner: 'bob', isOpen: false }),
  ]);
  await clock.pass(1000);
  await expectKept(store, 'short', task('short', { expiresAt }));
  deepEqual(plain(await store.count('ann')), { all: 4, own: 3 });
  await clock.pass(1600);
  for (const id of ['short', 'other']) await expectKept(store, id, undefined);
  deepEqual((await listed(store, 'ann')).sort(), ['endless', 'long']);
  deepEqual(await listed(store, 'bob'), []);
  deepEqual(await openIds(store), ['endless', 'long']);
  deepEqual(plain(await store.count('ann')), { all: 2, own: 2 });
  deepEqual(plain(await store.count('bob')), { all: 2, own: 0 });
  equal(await store.set(task('short', { version: 2 })), false);
  equal(await store.set(task('short')), true);
  await expectKept(store, 'short', task('short'));
};

const takesTheLatestExpiry: Check = async (store, clock) => {
  const soon = clock.now() + 1000;
  const later = soon + 3_600_000;
  const all = ['later', 'sooner', 'never', 'refused'];
  await setAll(
    store,
    all.map((id) => task(id, { expiresAt: id === 'sooner' ? later : soon })),
  );
  await setAll(store, [
    task('later', { version: 2, expiresAt: later }),
    task('sooner', { version: 2, expiresAt: soon }),
    task('never', { version: 2 }),
  ]);
  equal(await store.set(task('refused', { version: 5, expiresAt: later })), false);
  await clock.pass(1200);
  deepEqual((await listed(store, 'ann')).sort(), ['later', 'never']);
  for (const id of ['sooner', 'refused']) await expectKept(store, id, undefined);
  deepEqual(plain(await store.count('ann')), { all: 2, own: 2 });
  deepEqual(await openIds(store), ['later', 'never']);
};

const keepsAnyText: Check = async (store) => {
  const texts = [
    '',
    '\u0000 \t\r\n',
    '{"json":[1]}\n{"a":1}\n',
    'ümlaut 日本 🎉 \u2028\u2029\uFEFF',
    'x'.repeat(1_048_576),
    '日'.repeat(400_000),
  ];
  const tasks = texts.map((text, n) => {
    const odd = `${text.slice(0, 2000)}${n}/..\\:é🎉`;
    return task(odd, { text, owner: odd, holder: `p ${odd.slice(0, 50)}`, createdAt: n });
  });
  await setAll(store, tasks);
  for (const each of tasks) {
    await expectKept(store, each.id, each);
    deepEqual(await listed(store, each.owner), [each.id]);
  }
  const open = await store.openTasks();
  deepEqual(new Map(open.map(({ id, holder }) => [id, holder])), new Map(tasks.map(({ id, holder }) => [id, holder])));
};

const keepsManyTasks: Check = async (store) => {
  const ids = numbersTo(300).map((n) => `t${1000 + n}`);
  await Promise.all(ids.map(async (id, n) => equal(await store.set(task(id, { createdAt: n >> 1 })), true)));
  await Promise.all(
    ids.map(async (id, n) => {
      const next = task(id, { version: 2, createdAt: n >> 1, isOpen: n % 3 === 0 });
      equal(await store.set(next), true);
    }),
  );
  deepEqual((await listed(store, 'ann', 7)).sort(), ids);
  deepEqual(
    await openIds(store),
    ids.filter((_, n) => n % 3 === 0),
  );
  deepEqual(plain(await store.count('ann')), { all: 300, own: 300 });
};

const knowsLivingProcesses: Check = async (store, clock) => {
  const ttlMs = 2500;
  for (const process of ['p1', 'p2', 'ended 🎉']) await store.beat(process, ttlMs);
  await clock.pass(1000);
  await store.beat('p1', ttlMs);
  await store.end?.('ended 🎉');
  await store.end?.('never');
  equal(await store.lives('p2'), true);
  if (store.end) equal(await store.lives('ended 🎉'), false);
  await clock.pass(1600);
  equal(await store.lives('p1'), true);
  for (const process of ['p2', 'never', '', '__proto__']) equal(await store.lives(process), false, process);
  await store.beat('p2', ttlMs);
  equal(await store.lives('p2'), true);
  await clock.pass(1200);
  equal(await store.lives('p1'), false);
};

/**
 * The rules for stores of tasks, each with what checks it. Give each check a new store that was opened.
 * @example
 * ```ts
 * import { storeContract } from '@decorum/tasks/store-contract';
 * import { it } from 'node:test';
 *
 * for (const [rule, check] of storeContract) {
 *   it(`SqlTasks ${rule}`, async () => await check(await openEmptyTasks(), clock));
 * }
 * ```
 */
export const storeContract: readonly StoreRule[] = [
  ['returns tasks as they were stored, and nothing for other ids', returnsWhatWasStored],
  ['stores a version only in place of the one before it', comparesVersions],
  ['lets exactly one of 50 sets of the same version win', letsOneSetWin],
  ['deletes a task from everything, so that it can be created again', deletes],
  ['lists tasks from the oldest on, in pages that miss and repeat nothing', listsByAge],
  ['keeps the tasks of owners apart, however similar they are', keepsOwnersApart],
  ['knows the open tasks and their holders', knowsOpenTasks],
  ['counts an expired task as missing', expires],
  ['takes the expiry of the latest version', takesTheLatestExpiry],
  ['keeps ids, owners and texts of any Unicode, and texts of a mebibyte', keepsAnyText],
  ['keeps 300 tasks that are created and changed at once', keepsManyTasks],
  ['knows which processes live', knowsLivingProcesses],
];
