import { setTimeout } from 'node:timers/promises';

/** The clock of the process. Tests pass their own. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Resolves after some milliseconds. */
  wait(ms: number): Promise<void>;
}

/** The clock of this process. */
export const SYSTEM_CLOCK: Clock = {
  now: () => Date.now(),
  wait: (ms) => setTimeout(ms),
};
