import { AsyncResource } from 'node:async_hooks';
import { setImmediate } from 'node:timers';

/** Milliseconds after which work waits for the next turn of the event loop. */
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
  private readonly large: (() => void)[] = [];
  /** Time until which work is begun in this turn. Undefined if none has. */
  private until: number | undefined;
  private isScheduled = false;
  private isRunning = false;

  /** Whether large work waits. */
  get isBusy(): boolean {
    return this.large.length > 0;
  }

  /** Runs work at once if this turn has time for it. */
  run(work: Work): void {
    // the call in a large body, for example
    if (this.isRunning) return work.run();
    const isFull = this.until !== undefined && performance.now() >= this.until;
    if (isFull || this.waiting.length > 0) return this.add(work, this.waiting);
    this.schedule();
    this.until ??= performance.now() + BUDGET_MS;
    work.run();
  }

  /** Runs work at the end of this turn or a later one, because a single piece of it may take the time of many others. */
  runLarge(work: Work): void {
    this.add(work, this.large);
  }

  private add(work: Work, queue: (() => void)[]): void {
    // each piece of work has to find the `AsyncLocalStorage` of its own request
    const resource = new AsyncResource('Turn');
    queue.push(() => resource.runInAsyncScope(work.run, work));
    this.schedule();
  }

  private schedule(): void {
    if (this.isScheduled) return;
    this.isScheduled = true;
    setImmediate(this.next);
  }

  private readonly next = (): void => {
    const { waiting, large } = this;
    const until = performance.now() + BUDGET_MS;
    this.isRunning = true;
    try {
      while (waiting.length > 0 && performance.now() < until) waiting.shift()?.();
      do large.shift()?.();
      while (large.length > 0 && performance.now() < until);
    } finally {
      this.isRunning = false;
      this.isScheduled = false;
      this.until = undefined;
      if (waiting.length > 0 || large.length > 0) this.schedule();
    }
  };
}
