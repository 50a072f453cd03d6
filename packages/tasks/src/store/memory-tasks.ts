import { Processes } from './processes.js';
import { TaskIndex } from './task-index.js';
import type { OpenTask, StoredTask, TaskCounts, TaskPage, TaskStore } from './task-store.js';

/** Keeps tasks in the memory of one process. */
export class MemoryTasks implements TaskStore {
  readonly isDurable = false;
  private readonly tasks: TaskIndex<StoredTask>;
  private readonly processes: Processes;

  /** @param now milliseconds since 1970 */
  constructor(now = () => Date.now()) {
    this.tasks = new TaskIndex(now);
    this.processes = new Processes(now);
  }

  close(): void {
    this.tasks.close();
  }

  get(id: string): StoredTask | undefined {
    return this.tasks.get(id);
  }

  set(task: StoredTask): boolean {
    if ((this.tasks.get(task.id)?.version ?? 0) !== task.version - 1) return false;
    this.tasks.put(task);
    return true;
  }

  delete(id: string): void {
    this.tasks.delete(id);
  }

  list(owner: string, page: TaskPage): readonly StoredTask[] {
    return this.tasks.list(owner, page);
  }

  openTasks(): readonly OpenTask[] {
    return this.tasks.openTasks();
  }

  count(owner: string): TaskCounts {
    return this.tasks.count(owner);
  }

  beat(process: string, ttlMs: number): void {
    this.processes.beat(process, ttlMs);
  }

  lives(process: string): boolean {
    return this.processes.lives(process);
  }

  end(process: string): void {
    this.processes.end(process);
  }
}

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
