import { ToolError } from '../../protocol/errors.js';
import { withFailureCause } from '../../protocol/failure-cause.js';

/** Milliseconds that a call waits for another one, unless its tool has a time limit. */
const WAIT_MS = 600_000;

const LATE =
  'A call with this idempotency key is still running. Repeat the call later with the same key, to get its outcome.';

/** How long a call waits for another one with its key: until it is cancelled, or its time is over. */
export class Patience {
  private readonly ending = new AbortController();
  private readonly timer: NodeJS.Timeout;

  /**
   * @param ms milliseconds that the call may take; undefined if it has no limit of its own
   * @param tooLong called if the other one runs for longer than a call waits that has no limit
   */
  constructor(
    private readonly signal: AbortSignal,
    ms: number | undefined,
    tooLong: () => void,
  ) {
    const giveUp = () => {
      if (ms === undefined) tooLong();
      this.ending.abort(withFailureCause(new ToolError(LATE), 'timeout'));
    };
    this.timer = setTimeout(giveUp, ms ?? WAIT_MS);
    signal.addEventListener('abort', this.cancel, { once: true });
    if (signal.aborted) this.cancel();
  }

  private readonly cancel = (): void => this.ending.abort(this.signal.reason);

  /** Waits for something that never rejects. */
  async until<T>(settled: Promise<T>): Promise<T> {
    const { signal } = this.ending;
    signal.throwIfAborted();
    let stop = () => {};
    const stopped = new Promise<never>((_resolve, reject) => (stop = () => reject(signal.reason as Error)));
    signal.addEventListener('abort', stop, { once: true });
    try {
      return await Promise.race([settled, stopped]);
    } finally {
      signal.removeEventListener('abort', stop);
    }
  }

  /** Waits for some milliseconds. */
  async pause(ms: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    try {
      await this.until(new Promise<void>((resolve) => (timer = setTimeout(resolve, ms))));
    } finally {
      clearTimeout(timer);
    }
  }

  end(): void {
    clearTimeout(this.timer);
    this.signal.removeEventListener('abort', this.cancel);
  }
}

/**
 * Waits for a run. The time limit of a tool ends with its call, so once the call is cancelled, this waits for as long
 * as the limit: a handler that never ends must not keep its key.
 */
export function untilLate<R>(running: Promise<R>, signal: AbortSignal, ms: number): Promise<R> {
  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout | undefined;
    const limit = () => (timer = setTimeout(() => reject(signal.reason as Error), ms).unref());
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', limit);
    };
    signal.addEventListener('abort', limit, { once: true });
    running.finally(end).then(resolve, reject);
  });
}
