import { setTimeout as wait } from 'node:timers/promises';

const LIMIT_MS = 5000;

/** What a program answers, or undefined if that takes too long: a slow list must not hold up the edits after it. */
export async function inTime<T>(answered: Promise<T>): Promise<T | undefined> {
  const timer = new AbortController();
  const late = wait(LIMIT_MS, undefined, { ref: false, signal: timer.signal }).catch(() => undefined);
  try {
    return await Promise.race([answered, late]);
  } finally {
    timer.abort();
  }
}
