import { isPromise } from '@decorum/core/transport';

import { HttpError, storeFailed } from './http-error.js';
import type { PendingCallbacks } from './pending-callbacks.js';

/** The calls of the application's stores that requests wait for. A store that fails or hangs makes them fail with 503. */
export class StoreCalls {
  /** Calls that began since the last sweep, as functions that give them up. */
  private recent = new Set<() => void>();
  /** Calls that began before the last sweep. */
  private late = new Set<() => void>();

  constructor(
    private readonly pending: PendingCallbacks,
    private readonly report: (error: unknown) => void,
  ) {}

  /**
   * Calls a store.
   * @throws {HttpError} 503 if the store fails, if it has not answered at the second sweep, or if the endpoint closes
   */
  run<T>(call: () => T | Promise<T>): T | Promise<T> {
    let result;
    try {
      result = call();
    } catch (error) {
      throw this.failed(error);
    }
    return isPromise(result) ? this.wait(result) : result;
  }

  /** Gives up the calls that have lasted for a whole interval. */
  sweep(): void {
    const { late } = this;
    this.late = this.recent;
    this.recent = new Set();
    for (const giveUp of late) giveUp();
  }

  private async wait<T>(result: PromiseLike<T>): Promise<T> {
    let giveUp = () => {};
    const limited = new Promise<T>((resolve, reject) => {
      giveUp = () => reject(new Error('A store does not answer.'));
      result.then(resolve, reject);
    });
    this.recent.add(giveUp);
    try {
      return await this.pending.until(limited);
    } catch (error) {
      throw this.failed(error);
    } finally {
      if (!this.recent.delete(giveUp)) this.late.delete(giveUp);
    }
  }

  /** The store's errors only go to the log, even if they name an HTTP status. */
  private failed(error: unknown): HttpError {
    if (error instanceof HttpError) return error;
    this.report(error);
    return storeFailed();
  }
}
