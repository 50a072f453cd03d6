import { setTimeout as delay } from 'node:timers/promises';

import { isOutage } from './store/guarded-store.js';

/** Milliseconds until the next attempt: at first, and at most. */
const RETRY_MS = { first: 100, most: 5000 };

/** Somebody who may be stopped. */
interface Stoppable {
  /** Why; undefined until then. */
  readonly stopped: Error | undefined;
  /** Aborts then. */
  readonly signal: AbortSignal;
}

/**
 * Tries again while the store fails.
 * @throws {Error} why `who` was stopped
 */
export async function insist<T>(attempt: () => Promise<T>, who: Stoppable): Promise<T> {
  for (let ms = RETRY_MS.first; ; ms = Math.min(2 * ms, RETRY_MS.most)) {
    if (who.stopped) throw who.stopped;
    try {
      return await attempt();
    } catch (error) {
      if (!isOutage(error)) throw error;
    }
    await delay(ms, undefined, { signal: who.signal, ref: false }).catch(() => {});
  }
}

/** The longest delay of a timer, in milliseconds. */
const MAX_DELAY_MS = 2 ** 31 - 1;

/**
 * Waits, without keeping the process alive.
 * @param end milliseconds since 1970
 * @throws {DOMException} `AbortError` once `signal` aborts
 */
export async function sleepUntil(end: number, signal: AbortSignal): Promise<void> {
  for (let left = end - Date.now(); left > 0; left = end - Date.now()) {
    await delay(Math.min(left, MAX_DELAY_MS), undefined, { signal, ref: false });
  }
}
