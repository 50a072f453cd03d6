import { AsyncResource } from 'node:async_hooks';
import { setImmediate } from 'node:timers';

/** Milliseconds per turn of the event loop during which work may start. */
const BUDGET_MS = 10;

/**
 * Spreads work over turns of the event loop. If the work doesn't fit into one turn, everything else is served in
 * between, such as small requests and new connections.
 */
export class Turns {
  private readonly waiting: (() => void)[] = [];

  /** Whether work is waiting. */
  get isBusy(): boolean {
    return this.waiting.length > 0;
  }

  /** Runs `work` at the end of this turn or a later one. Each turn runs at least one piece of work. */
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
      // work that was added in the meantime has not been scheduled
      waiting.splice(0, done);
      if (waiting.length > 0) setImmediate(this.next);
    }
  };
}
