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

/** Looks at the waiting calls within `storeTimeoutMs`. A call waits for up to one interval less. */
const LOOKS = 8;

/** The calls of stores that requests wait for. A store that fails, hangs or lags makes them fail with 503. */
export class StoreCalls {
  /** The calls that wait, oldest first: functions that give them up, with the number of looks before each began. */
  private readonly waiting = new Map<() => void, number>();
  /** Number of looks so far. */
  private looks = 0;
  /** The next look. One timer serves all calls, because a timer for each would cost more than most calls. */
  private timer: NodeJS.Timeout | undefined;
  /** Whether calls were refused, and most of the others still wait. */
  private isFull = false;
  /** The methods whose last call failed. That is reported once: each request may fail until the store is back. */
  private readonly failing = new Set<string>();

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
    if (this.waiting.size >= maxStoreCalls) {
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
    if (isPromise(result)) return this.wait(name, result);
    this.failing.delete(name);
    return result;
  }

  /** Stops looking at calls: the endpoint has closed. */
  close(): void {
    clearTimeout(this.timer);
  }

  /** Gives up the calls that have waited for as many looks as make up `storeTimeoutMs`. */
  private look(): void {
    this.timer = undefined;
    this.looks += 1;
    for (const [giveUp, since] of this.waiting) {
      if (this.looks - since < LOOKS) break;
      giveUp();
    }
    if (this.waiting.size > 0) this.lookLater();
  }

  private lookLater(): void {
    this.timer ??= setTimeout(() => this.look(), this.settings.storeTimeoutMs / LOOKS).unref();
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
    this.waiting.set(giveUp, this.looks);
    this.lookLater();
    try {
      const value = await this.pending.until(limited);
      this.failing.delete(name);
      return value;
    } catch (error) {
      throw this.failed(name, error);
    } finally {
      this.waiting.delete(giveUp);
      if (this.waiting.size < this.settings.maxStoreCalls / 2) this.isFull = false;
    }
  }

  /** The store's errors only go to the log, even if they name an HTTP status. */
  private failed(name: string, error: unknown): HttpError {
    if (error instanceof HttpError) return error;
    if (!this.failing.has(name)) this.settings.report(error, failureOf(name));
    this.failing.add(name);
    return storeFailed();
  }
}
