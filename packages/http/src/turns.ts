import { AsyncResource } from 'node:async_hooks';
import { setImmediate } from 'node:timers';

/** Milliseconds of each turn of the event loop in which work is begun. */
const BUDGET_MS = 10;

/** A piece of work. */
export interface Work {
  run(): void;
}

/**
 * Spreads work over turns of the event loop. When clients ask for more than fits into one, everything else is served in
 * between, such as new connections.
 */
export class Turns {
  private readonly waiting: (() => void)[] = [];
  /** Time until which work is begun in this turn. Undefined if none has. */
  private until: number | undefined;
  /** Some work has run in this turn, or waits for the next one. */
  private isScheduled = false;
  private isRunning = false;

  /** Whether work would have to wait. */
  get isBusy(): boolean {
    return this.waiting.length > 0 || (this.until !== undefined && performance.now() >= this.until);
  }

  /** Runs work at once if this turn has time for it, and after everything that waits otherwise. */
  run(work: Work): void {
    // what waiting work asks for in turn, such as the call in a body, would take more memory if it waited again
    if (this.isRunning) return work.run();
    if (this.isBusy) {
      // each piece of work has to find the `AsyncLocalStorage` of its own request
      const resource = new AsyncResource('Turn');
      this.waiting.push(() => resource.runInAsyncScope(work.run, work));
      return;
    }
    if (!this.isScheduled) {
      this.isScheduled = true;
      this.until = performance.now() + BUDGET_MS;
      setImmediate(this.next);
    }
    work.run();
  }

  private readonly next = (): void => {
    const { waiting, until = performance.now() + BUDGET_MS } = this;
    let done = 0;
    this.isRunning = true;
    try {
      while (done < waiting.length && performance.now() < until) waiting[done++]?.();
    } finally {
      this.isRunning = false;
      waiting.splice(0, done);
      this.until = undefined;
      this.isScheduled = waiting.length > 0;
      if (this.isScheduled) setImmediate(this.next);
    }
  };
}
