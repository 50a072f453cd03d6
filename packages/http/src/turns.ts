import { AsyncResource } from 'node:async_hooks';
import { setImmediate } from 'node:timers';

/** Milliseconds of each turn of the event loop in which work is begun. */
const BUDGET_MS = 10;

/**
 * Spreads work over turns of the event loop. When clients ask for more than fits into one, everything else is served in
 * between, such as small requests and new connections.
 */
export class Turns {
  private readonly waiting: (() => void)[] = [];

  /** Whether work waits. */
  get isBusy(): boolean {
    return this.waiting.length > 0;
  }

  /** Does some work at the end of this turn or a later one. Each turn does at least one piece. */
  add(work: () => void): void {
    // each piece has to find the `AsyncLocalStorage` of its own request
    const resource = new AsyncResource('Turn');
    if (this.waiting.push(() => resource.runInAsyncScope(work)) === 1) setImmediate(this.next);
  }

  private readonly next = (): void => {
    const { waiting } = this;
    const until = performance.now() + BUDGET_MS;
    let done = 0;
    try {
      do waiting[done++]?.();
      while (done < waiting.length && performance.now() < until);
    } finally {
      // what was added meanwhile has not been scheduled
      waiting.splice(0, done);
      if (waiting.length > 0) setImmediate(this.next);
    }
  };
}
