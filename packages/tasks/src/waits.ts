import { setTimeout as delay } from 'node:timers/promises';

import { isOutage } from './store/guarded-store.js';

/** Milliseconds until the next attempt: at first, and at most. */
const RETRY_MS = { first: 100, most: 5000 };

/**
 * Tries again while the store fails.
 * @throws the reason of `signal`, once it aborts
 */
export async function insist<T>(attempt: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (let ms = RETRY_MS.first; ; ms = Math.min(2 * ms, RETRY_MS.most)) {
    signal.throwIfAborted();
    try {
      return await attempt();
    } catch (error) {
      if (!isOutage(error)) throw error;
    }
    await delay(ms, undefined, { signal, ref: false }).catch(() => {});
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
