import type { Program } from './program.js';

/** Counts the requests that each program has in flight. */
export class RequestCounts {
  private readonly counts = new Map<Program, number>();
  private readonly waiting = new Map<Program, (() => void)[]>();

  /** Counts one more request until the returned function is called. */
  begin(program: Program): () => void {
    this.counts.set(program, (this.counts.get(program) ?? 0) + 1);
    let isCounted = true;
    return () => {
      if (!isCounted) return;
      isCounted = false;
      const left = (this.counts.get(program) ?? 1) - 1;
      if (left > 0) return void this.counts.set(program, left);
      this.counts.delete(program);
      for (const resolve of this.waiting.get(program) ?? []) resolve();
      this.waiting.delete(program);
    };
  }

  /** Resolves when a program has nothing in flight. */
  idle(program: Program): Promise<void> {
    if (!this.counts.has(program)) return Promise.resolve();
    return new Promise((resolve) => {
      this.waiting.set(program, [...(this.waiting.get(program) ?? []), resolve]);
    });
  }

  /** Resolves when no program has anything in flight. */
  async allIdle(): Promise<void> {
    while (this.counts.size > 0) await Promise.all([...this.counts.keys()].map((program) => this.idle(program)));
  }
}
