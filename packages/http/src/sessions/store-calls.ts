import { clearTimeout, setTimeout } from 'node:timers';

import { isPromise } from '@decorum/core/internal';
import type { ClusterCounts } from '@decorum/core/transport';

import { HttpError, storeFailed } from '../endpoint/http-error.js';
import type { PendingCallbacks } from '../endpoint/pending-callbacks.js';

/** Reports an error, which no client sees. The log message says what failed, if that is known. */
export type Report = (error: unknown, message?: string) => void;

/**
 * The log message for a store's method that has failed.
 * @param name the option and the method, such as `sessionStore.get`
 */
export const failureOf = (name: string): string => `${name} failed`;

/** Settings of `StoreCalls`. */
export interface StoreSettings {
  /** Milliseconds within which a store must answer. */
  readonly storeTimeoutMs: number;
  /** Cap on the calls that wait for a store. */
  readonly maxStoreCalls: number;
  readonly report: Report;
  readonly counts: ClusterCounts;
}

/** The calls of stores that requests wait for. A store that fails, hangs or lags makes them fail with 503. */
export class StoreCalls {
  /** Calls that began since the last look, as functions that give them up. */
  private recent = new Set<() => void>();
  /** Calls that began before the last look. */
  private late = new Set<() => void>();
  /** The next look. One timer serves all calls, because a timer for each would cost more than most calls. */
  private timer: NodeJS.Timeout | undefined;
  /** Whether calls were refused, and most of the others still wait. */
  private isFull = false;

  constructor(
    private readonly pending: PendingCallbacks,
    private readonly settings: StoreSettings,
  ) {}

  /**
   * Calls a store.
   * @param name the option and the method, for the log
   * @throws {HttpError} 503 if the store fails or doesn't answer in time, if too many calls wait, or if the endpoint closes
   */
  run<T>(name: string, call: () => T | Promise<T>): T | Promise<T> {
    const { maxStoreCalls } = this.settings;
    if (this.size >= maxStoreCalls) {
      // reported once: thousands may fail until the store answers
      if (!this.isFull) this.failed(name, new Error(`${maxStoreCalls} calls wait for a store.`));
      this.isFull = true;
      throw storeFailed();
    }
    let result;
    try {
      result = call();
    } catch (error) {
      throw this.failed(name, error);
    }
    return isPromise(result) ? this.wait(name, result) : result;
  }

  /** Stops looking at calls: the endpoint has closed. */
  close(): void {
    clearTimeout(this.timer);
  }

  private get size(): number {
    return this.recent.size + this.late.size;
  }

  /** Gives up the calls that were there at the last look, which is half of `storeTimeoutMs` ago. */
  private look(): void {
    const { late } = this;
    this.late = this.recent;
    this.recent = new Set();
    this.timer = undefined;
    for (const giveUp of late) giveUp();
    if (this.late.size > 0) this.lookLater();
  }

  private lookLater(): void {
    this.timer ??= setTimeout(() => this.look(), this.settings.storeTimeoutMs / 2).unref();
  }

  private async wait<T>(name: string, result: PromiseLike<T>): Promise<T> {
    let giveUp = () => {};
    const limited = new Promise<T>((resolve, reject) => {
      giveUp = () => {
        this.settings.counts.timeouts += 1;
        reject(new Error(`${name} does not answer.`));
      };
      result.then(resolve, reject);
    });
    this.recent.add(giveUp);
    this.lookLater();
    try {
      return await this.pending.until(limited);
    } catch (error) {
      throw this.failed(name, error);
    } finally {
      if (!this.recent.delete(giveUp)) this.late.delete(giveUp);
      if (this.size < this.settings.maxStoreCalls / 2) this.isFull = false;
    }
  }

  /** The store's errors only go to the log, even if they name an HTTP status. */
  private failed(name: string, error: unknown): HttpError {
    if (error instanceof HttpError) return error;
    this.settings.report(error, failureOf(name));
    return storeFailed();
  }
}
