import { setTimeout as wait } from 'node:timers/promises';

const LIMIT_MS = 5000;

/** Resolves with an answer, or with undefined if that takes too long: a slow program must not hold up later edits. */
export async function inTime<T>(answered: Promise<T>): Promise<T | undefined> {
  const timer = new AbortController();
  const late = wait(LIMIT_MS, undefined, { ref: false, signal: timer.signal }).catch(() => undefined);
  try {
    return await Promise.race([answered, late]);
  } finally {
    timer.abort();
  }
}
