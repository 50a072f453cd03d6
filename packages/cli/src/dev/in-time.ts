import { setTimeout as wait } from 'node:timers/promises';

const LIMIT_MS = 5000;

/** Resolves like `promise`, or with undefined after a time limit: a slow program must not hold up later edits. */
export async function inTime<T>(promise: Promise<T>, limitMs = LIMIT_MS): Promise<T | undefined> {
  const timer = new AbortController();
  const late = wait(limitMs, undefined, { ref: false, signal: timer.signal }).catch(() => undefined);
  try {
    return await Promise.race([promise, late]);
  } finally {
    timer.abort();
  }
}
