// a test may have replaced the global timers
import { clearTimeout, setTimeout } from 'node:timers';

/** The time and the chance of a proxy, so that tests can set them. */
export interface UpstreamClock {
  /** Milliseconds since some moment. */
  now(): number;
  /** From 0 up to, but not including, 1. */
  random(): number;
  /**
   * Calls a function later, without keeping the process alive.
   * @returns a function that prevents the call
   */
  after(ms: number, run: () => void): () => void;
}

/** The time of the system. */
export const SYSTEM_CLOCK: UpstreamClock = {
  now: () => performance.now(),
  random: () => Math.random(),
  after(ms, run) {
    const timer = setTimeout(run, ms);
    timer.unref();
    return () => clearTimeout(timer);
  },
};
