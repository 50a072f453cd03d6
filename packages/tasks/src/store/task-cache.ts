import type { StoredTask } from './task-store.js';

/** Cap on the characters of the texts that are kept. */
const MAX_CHARACTERS = 16 * 1_048_576;

/** The tasks that were used last, up to a cap. The same object is returned until a task changes. */
export class TaskCache {
  private readonly tasks = new Map<string, StoredTask>();
  private characters = 0;

  get(id: string): StoredTask | undefined {
    const task = this.tasks.get(id);
    if (task !== undefined) this.set(task);
    return task;
  }

  set(task: StoredTask): void {
    this.delete(task.id);
    this.tasks.set(task.id, task);
    this.characters += task.text.length;
    for (const oldest of this.tasks.keys()) {
      if (this.characters <= MAX_CHARACTERS) return;
      this.delete(oldest);
    }
  }

  delete(id: string): void {
    this.characters -= this.tasks.get(id)?.text.length ?? 0;
    this.tasks.delete(id);
  }
}
