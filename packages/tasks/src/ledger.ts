import type { ExtensionHost } from '@decorum/core/plugin';

import { Queue } from './store/queue.js';
import type { StoredTask, TaskStore } from './store/task-store.js';
import { isOver, type NewTask, type Task } from './task.js';

/** How often a change is tried again after another process was faster. */
const MAX_TRIES = 100;

/** A task that nobody runs again. Clients choose how long its arguments and answers are. */
const withoutWork = (task: Task): Task => ({
  ...task,
  call: { ...task.call, args: {}, meta: undefined },
  questions: [],
  effects: [],
});

/** Reads and writes the tasks of a store. What a durable store keeps is sealed. */
export class Ledger {
  /** Tasks by what the store returned: a store in memory returns the same object until the task changes. */
  private readonly read = new WeakMap<StoredTask, Task>();
  /** Changes of one task wait for each other, and don't compete. */
  private readonly changes = new Queue(Infinity);
  /** Tasks that can't be opened, which are reported once. */
  private readonly unreadable = new Set<string>();

  constructor(
    private readonly store: TaskStore,
    private readonly host: ExtensionHost,
  ) {}

  /** Reads a task; undefined if there is none. Returns no promise if the store doesn't, because clients poll. */
  get(id: string): Task | undefined | Promise<Task | undefined> {
    const stored = this.store.get(id);
    if (stored instanceof Promise) return stored.then((found) => found && this.decode(found));
    return stored && this.decode(stored);
  }

  /** Stores a new task. */
  async create(task: NewTask): Promise<Task> {
    const created = await this.put({ ...task, version: 1, updatedAt: task.createdAt });
    if (created !== undefined) return created;
    throw new Error(`There is a task with the id ${task.id}.`);
  }

  /**
   * Changes a task, again and again until no other process was faster.
   * @param apply returns the changed task, or undefined to leave it as it is
   * @returns the task as it is then; undefined if there is none
   */
  async change(id: string, apply: (task: Task) => Task | undefined): Promise<Task | undefined> {
    return await this.changes.run(id, async () => await this.tryChange(id, apply));
  }

  /** Tasks of an owner, oldest first. */
  async list(owner: string, page: Parameters<TaskStore['list']>[1]): Promise<readonly Task[]> {
    const stored = await this.store.list(owner, page);
    return stored.flatMap((each) => this.decode(each) ?? []);
  }

  private async tryChange(id: string, apply: (task: Task) => Task | undefined): Promise<Task | undefined> {
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const task = await this.get(id);
      const changed = task && apply(task);
      if (task === undefined || changed === undefined) return task;
      const updatedAt = Math.max(Date.now(), task.updatedAt);
      const next = await this.put({ ...changed, version: task.version + 1, updatedAt });
      if (next !== undefined) return next;
    }
    throw new Error(`The task ${id} changes too often to be changed.`);
  }

  /** Returns the task as it was stored; undefined if the store has another version. */
  private async put(given: Task): Promise<Task | undefined> {
    const task = !this.store.isDurable && isOver(given) ? withoutWork(given) : given;
    const { id, version, owner, createdAt, ttlMs, holder } = task;
    const json = JSON.stringify(task);
    const stored: StoredTask = {
      id,
      version,
      owner,
      holder,
      createdAt,
      isOpen: !isOver(task),
      expiresAt: ttlMs === undefined ? undefined : createdAt + ttlMs,
      text: this.store.isDurable ? (this.host.seal?.(json, id) ?? '') : json,
    };
    // handlers may change what they have recorded or asked, but not the task
    const copy = JSON.parse(json) as Task;
    this.read.set(stored, copy);
    return (await this.store.set(stored)) ? copy : undefined;
  }

  /** A task whose text can't be opened was sealed with another secret, or altered: it counts as unknown. */
  private decode(stored: StoredTask): Task | undefined {
    const known = this.read.get(stored);
    if (known !== undefined) return known;
    const json = this.store.isDurable ? this.host.open(stored.text, stored.id) : stored.text;
    if (json === undefined) {
      this.reportUnreadable(stored.id);
      return undefined;
    }
    const task = { ...(JSON.parse(json) as Task), version: stored.version };
    this.read.set(stored, task);
    return task;
  }

  private reportUnreadable(id: string): void {
    if (this.unreadable.has(id)) return;
    this.unreadable.add(id);
    this.host.report(
      new Error(
        `The task ${id} can't be opened: it was altered, or sealed with another secret. It is left as it is. Add the secret to the list \`secret\`.`,
      ),
    );
  }
}
