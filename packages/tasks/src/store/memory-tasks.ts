import type { OpenTask, StoredTask, TaskCounts, TaskStore } from './task-store.js';

/** Keeps tasks in the memory of one process. */
class MemoryTasks implements TaskStore {
  readonly isDurable = false;
  private readonly tasks = new Map<string, StoredTask>();

  get(id: string): StoredTask | undefined {
    const task = this.tasks.get(id);
    if (task === undefined || !isExpired(task)) return task;
    this.tasks.delete(id);
    return undefined;
  }

  set(task: StoredTask): boolean {
    if ((this.get(task.id)?.version ?? 0) !== task.version - 1) return false;
    this.tasks.set(task.id, task);
    return true;
  }

  delete(id: string): void {
    this.tasks.delete(id);
  }

  list(owner: string, { after, limit }: Parameters<TaskStore['list']>[1]): readonly StoredTask[] {
    const own = this.live().filter((task) => task.owner === owner);
    const all = own.sort(byAge);
    return all.filter((task) => after === undefined || byAge(task, after) > 0).slice(0, limit);
  }

  openTasks(): readonly OpenTask[] {
    return this.live().filter(({ isOpen }) => isOpen);
  }

  count(owner: string): TaskCounts {
    const live = this.live();
    return { all: live.length, own: live.filter((task) => task.owner === owner).length };
  }

  beat(): void {}

  lives(): boolean {
    return true;
  }

  private live(): StoredTask[] {
    return [...this.tasks.keys()].flatMap((id) => this.get(id) ?? []);
  }
}

const isExpired = ({ expiresAt = Infinity }: StoredTask) => expiresAt <= Date.now();

type Aged = Pick<StoredTask, 'id' | 'createdAt'>;

const byAge = (a: Aged, b: Aged) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : Number(a.id > b.id));

/**
 * Keeps tasks in the memory of one process. They end with it.
 * @example
 * ```ts
 * import { McpServer } from '@decorum/core';
 * import { memoryTasks, tasks } from '@decorum/tasks';
 *
 * new McpServer({ name: 'reports', version: '1.0.0', plugins: [tasks({ store: memoryTasks() })] });
 * ```
 */
export const memoryTasks = (): TaskStore => new MemoryTasks();
