// a test may have replaced the global timers
import { clearInterval, setInterval } from 'node:timers';

/** The longest interval of Node, in milliseconds. */
const LONGEST_MS = 2 ** 31 - 1;

/**
 * Keeps the process alive for somebody who waits, while connections come and go.
 * @returns a function that no longer does
 */
export function keepAlive(): () => void {
  const timer = setInterval(() => {}, LONGEST_MS);
  return () => clearInterval(timer);
}
