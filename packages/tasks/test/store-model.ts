// Random steps with a store, and what a plain array of tasks would do.
import { expect } from '@jest/globals';
import type { StoredTask, TaskStore } from '@decorum/tasks';
import type { ContractClock } from '@decorum/tasks/store-contract';
import fc from 'fast-check';

const IDS = ['a', 'b', 'c', 'd', 'e'];
const OWNERS = ['', 'ann', 'bob'];

/** A step: a set, whose version may be wrong, a deletion, or some time. */
const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      set: fc.nat(IDS.length - 1),
      ahead: fc.constantFrom(1, 1, 1, 1, 0, 2),
      isOpen: fc.boolean(),
      /** Milliseconds until the task expires. */
      life: fc.constantFrom(undefined, 500, 2000, 100_000),
      holder: fc.constantFrom(undefined, 'p1'),
      text: fc.string({ unit: 'binary' }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ deleted: fc.nat(IDS.length - 1) }) },
  { weight: 1, arbitrary: fc.record({ pass: fc.constantFrom(300, 1000) }) },
);

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** Random steps. */
export const steps = fc.array(step, { maxLength: 40 });

/** Random steps of a store whose clock is that of the world: nothing expires. */
export const timelessSteps = fc.array(
  step.filter((each) => !('pass' in each) && !('set' in each && (each.life ?? Infinity) < 10_000)),
  { maxLength: 40 },
);

const byAge = (one: StoredTask, other: StoredTask) => one.createdAt - other.createdAt;

/** Does the steps, and checks after each that the store has what the model has. */
export async function expectLikeModel(store: TaskStore, clock: ContractClock, taken: readonly Step[]): Promise<void> {
  const model = new Map<string, StoredTask>();
  for (const each of taken) {
    await take(each, { store, clock, model });
    for (const [id, { expiresAt = Infinity }] of model) if (expiresAt <= clock.now()) model.delete(id);
    await expectSame(store, model);
  }
}

interface Both {
  readonly store: TaskStore;
  readonly clock: ContractClock;
  readonly model: Map<string, StoredTask>;
}

async function take(each: Step, { store, clock, model }: Both): Promise<void> {
  if ('pass' in each) return await clock.pass(each.pass);
  if ('deleted' in each) {
    const id = IDS[each.deleted] as string;
    model.delete(id);
    return await store.delete(id);
  }
  const { set, ahead, life, ...rest } = each;
  const id = IDS[set] as string;
  const version = (model.get(id)?.version ?? 0) + ahead;
  const expiresAt = life === undefined ? undefined : clock.now() + life;
  const task = { ...rest, id, version, owner: OWNERS[set % OWNERS.length] as string, createdAt: 9 - set, expiresAt };
  expect(await store.set(task)).toBe(ahead === 1);
  if (ahead === 1) model.set(id, task);
}

async function expectSame(store: TaskStore, model: ReadonlyMap<string, StoredTask>): Promise<void> {
  const all = [...model.values()].sort(byAge);
  for (const id of IDS) expect(await store.get(id)).toEqual(model.get(id));
  for (const owner of OWNERS) {
    const own = all.filter((task) => task.owner === owner);
    expect(await store.list(owner, { limit: 10 })).toEqual(own);
    const [first] = own;
    if (first) expect(await store.list(owner, { after: first, limit: 1 })).toEqual(own.slice(1, 2));
    expect(await store.count(owner)).toEqual({ all: all.length, own: own.length });
  }
  const open = all.filter(({ isOpen }) => isOpen).map(({ id, holder }) => ({ id, holder }));
  expect([...(await store.openTasks())].sort((one, other) => (one.id > other.id ? -1 : 1))).toEqual(open);
}
