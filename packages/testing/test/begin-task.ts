import { setImmediate as turn } from 'node:timers/promises';

/** Ends after the first turn of a handler, so that what it asks then is asked by its task. A timer may end within the turn. */
export async function beginTask(): Promise<void> {
  await turn();
  await turn();
}
