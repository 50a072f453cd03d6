/** Runs tasks with the same key one after the other. */
export class KeyedQueue {
  private readonly last = new Map<string, Promise<unknown>>();

  /** Runs a task after all earlier tasks with its key. */
  async run<T>(key: string, task: () => Promise<T>): Promise<T> {
    const before = this.last.get(key);
    const running = before === undefined ? task() : before.then(task, task);
    this.last.set(key, running);
    try {
      return await running;
    } finally {
      if (this.last.get(key) === running) this.last.delete(key);
    }
  }
}
