/** Runs jobs: those of one key in order, and of all keys at most some at once. */
export class Queue {
  private readonly last = new Map<string, Promise<unknown>>();
  private readonly waiting: (() => void)[] = [];

  /** @param free how many jobs may run at once */
  constructor(private free: number) {}

  /** Runs a job after the earlier ones of its key. */
  async run<T>(key: string, job: () => Promise<T>): Promise<T> {
    const before = this.last.get(key);
    const done = this.after(before, job);
    const settled = done.catch(() => undefined);
    this.last.set(key, settled);
    try {
      return await done;
    } finally {
      if (this.last.get(key) === settled) this.last.delete(key);
    }
  }

  /** Resolves once all jobs that were added are done. */
  async idle(): Promise<void> {
    while (this.last.size > 0) await Promise.all(this.last.values());
  }

  private async after<T>(before: Promise<unknown> | undefined, job: () => Promise<T>): Promise<T> {
    await before;
    if (this.free > 0) this.free -= 1;
    else await new Promise<void>((resolve) => void this.waiting.push(resolve));
    try {
      return await job();
    } finally {
      const next = this.waiting.shift();
      if (next) next();
      else this.free += 1;
    }
  }
}
