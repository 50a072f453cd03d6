import { isPromise } from '@decorum/core/internal';

import { HttpError, storeFailed } from '../endpoint/http-error.js';
import type { PendingCallbacks } from '../endpoint/pending-callbacks.js';

/** Reports an error, which no client sees. The log message says what failed, if that is known. */
export type Report = (error: unknown, message?: string) => void;

/**
 * The log message for a store's method that has failed.
 * @param name the option and the method, such as `sessionStore.get`
 */
export const failureOf = (name: string): string => `${name} failed`;

/** The calls of the application's stores that requests wait for. A store that fails or hangs makes them fail with 503. */
export class StoreCalls {
  /** Calls that began since the last sweep, as functions that give them up. */
  private recent = new Set<() => void>();
  /** Calls that began before the last sweep. */
  private late = new Set<() => void>();

  constructor(
    private readonly pending: PendingCallbacks,
    private readonly report: Report,
  ) {}

  /**
   * Calls a store.
   * @param name the option and the method, for the log
   * @throws {HttpError} 503 if the store fails, if it has not answered at the second sweep, or if the endpoint closes
   */
  run<T>(name: string, call: () => T | Promise<T>): T | Promise<T> {
    let result;
    try {
      result = call();
    } catch (error) {
      throw this.failed(name, error);
    }
    return isPromise(result) ? this.wait(name, result) : result;
  }

  /** Gives up the calls that have lasted for a whole interval. */
  sweep(): void {
    const { late } = this;
    this.late = this.recent;
    this.recent = new Set();
    for (const giveUp of late) giveUp();
  }

  private async wait<T>(name: string, result: PromiseLike<T>): Promise<T> {
    let giveUp = () => {};
    const limited = new Promise<T>((resolve, reject) => {
      giveUp = () => reject(new Error(`${name} does not answer.`));
      result.then(resolve, reject);
    });
    this.recent.add(giveUp);
    try {
      return await this.pending.until(limited);
    } catch (error) {
      throw this.failed(name, error);
    } finally {
      if (!this.recent.delete(giveUp)) this.late.delete(giveUp);
    }
  }

  /** The store's errors only go to the log, even if they name an HTTP status. */
  private failed(name: string, error: unknown): HttpError {
    if (error instanceof HttpError) return error;
    this.report(error, failureOf(name));
    return storeFailed();
  }
}
