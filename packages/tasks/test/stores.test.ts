// The stores of this package: the contract, and the same random steps against a model.
import { describe, expect, it, jest } from '@jest/globals';
import { storeContract } from '@decorum/tasks/store-contract';
import type { StoredTask, TaskStore } from '@decorum/tasks';
import fc from 'fast-check';

import { MemoryTasks } from '../src/store/memory-tasks.js';
import { createFolder, openFileTasks } from './fixture-files.js';
import { ManualClock } from './manual-clock.js';
import { expectLikeModel, steps } from './store-model.js';

const STORES: readonly [string, (clock: ManualClock) => Promise<TaskStore>, runs: number][] = [
  ['memoryTasks', async (clock) => new MemoryTasks(clock.now), 100],
  ['fileTasks', async (clock) => (await openFileTasks(createFolder(), { clock })).store, 15],
];

describe.each(STORES)('%s', (_name, create, numRuns) => {
  it.each(storeContract)('%s', async (_rule, check) => {
    const clock = new ManualClock();
    await check(await create(clock), clock);
  });

  it('does what a model does, whatever happens in which order', async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (taken) => {
        const clock = new ManualClock();
        const store = await create(clock);
        await expectLikeModel(store, clock, taken);
        await store.close?.();
      }),
      { numRuns },
    );
  });
});

/** Stores that break one rule each. */
const BROKEN: Readonly<Record<string, (store: MemoryTasks) => Partial<TaskStore>>> = {
  'forgets tasks': () => ({ get: () => undefined }),
  'checks before it writes, not at once': (store) => ({
    set: async (task) => {
      if ((store.get(task.id)?.version ?? 0) !== task.version - 1) return false;
      await Promise.resolve();
      store.delete(task.id);
      for (let version = 1; version <= task.version; version++) store.set({ ...task, version });
      return true;
    },
  }),
  'ignores `expiresAt`': (store) => ({ set: (task) => store.set({ ...task, expiresAt: undefined }) }),
  'mixes up owners': (store) => ({ set: (task) => store.set({ ...task, owner: task.owner.trim() }) }),
  'lists the newest first': (store) => ({ list: (owner, page) => [...store.list(owner, page)].reverse() }),
  'needs the task after which a page begins': (store) => ({
    list: (owner, page) => (page.after && !store.get(page.after.id) ? [] : store.list(owner, page)),
  }),
  'counts ended tasks as open': (store) => ({ set: (task) => store.set({ ...task, isOpen: true }) }),
  'forgets who runs a task': (store) => ({
    openTasks: () => store.openTasks().map(({ id }) => ({ id, holder: undefined })),
  }),
  'takes everybody for alive': () => ({ lives: () => true }),
};

describe('the contract of task stores', () => {
  it.each(Object.entries(BROKEN))('rejects a store that %s', async (_what, broken) => {
    const checks = storeContract.map(async ([, check]) => {
      const clock = new ManualClock();
      const store = new MemoryTasks(clock.now);
      await check(Object.assign(Object.create(store) as TaskStore, broken(store)), clock);
    });
    const settled = await Promise.allSettled(checks);
    expect(settled.map(({ status }) => status)).toContain('rejected');
  });
});

const task = (n: number, more: Partial<StoredTask> = {}): StoredTask => ({
  id: `task ${n}`,
  version: 1,
  owner: `owner ${n % 10}`,
  isOpen: false,
  createdAt: n,
  expiresAt: undefined,
  holder: undefined,
  text: 'x',
  ...more,
});

describe('memoryTasks with many tasks', () => {
  /** Microseconds of a call, the best of five rounds. */
  function cost(call: () => unknown): number {
    const rounds = [1, 2, 3, 4, 5].map(() => {
      const begun = performance.now();
      for (let n = 0; n < 500; n++) call();
      return (performance.now() - begun) * 2;
    });
    return Math.min(...rounds);
  }

  it('answers as quickly as with few', () => {
    const [few, many] = [100, 20_000].map((count) => {
      const store = new MemoryTasks();
      for (let n = 0; n < count; n++) store.set(task(n, { isOpen: n < 10, expiresAt: Date.now() + 3_600_000 + n }));
      const after = { id: `task ${count / 2}`, createdAt: count / 2 };
      const poll = () => [
        store.count('owner 1'),
        store.list('owner 1', { after, limit: 5 }),
        store.openTasks(),
        store.get('task 5'),
      ];
      const micros = cost(poll);
      store.close();
      return micros;
    }) as [number, number];
    expect(many).toBeLessThan(few * 5 + 20);
  });

  it('keeps nothing of expired tasks, even if nobody calls', () => {
    jest.useFakeTimers();
    try {
      const store = new MemoryTasks();
      for (let n = 0; n < 1000; n++) store.set(task(n, { isOpen: n < 10, expiresAt: Date.now() + 5000 - n }));
      jest.advanceTimersByTime(6001);
      const { tasks } = store as unknown as { tasks: Record<'tasks' | 'owners' | 'open' | 'mortal', { size: number }> };
      expect([tasks.tasks.size, tasks.owners.size, tasks.open.size, tasks.mortal.size]).toEqual([0, 0, 0, 0]);
      expect(jest.getTimerCount()).toBe(0);
      store.set(task(1, { expiresAt: Date.now() + 5000 }));
      store.close();
      expect(jest.getTimerCount()).toBe(0);
    } finally {
      jest.useRealTimers();
    }
  });
});
