import { performance } from 'node:perf_hooks';

const LOOK_MS = 20;
/** How late a timer may be, in milliseconds, before limits of real time mean nothing. The shortest ones leave 500. */
const LATE_MS = 300;
const TRIES = 3;

/** Notices whether this process, and so maybe the machine, stands still. Returns a function that ends it and tells. */
function watchStalls(): () => boolean {
  let seen = performance.now();
  let hasStalled = false;
  const look = () => {
    const now = performance.now();
    hasStalled ||= now - seen > LOOK_MS + LATE_MS;
    seen = now;
  };
  const timer = setInterval(look, LOOK_MS).unref();
  return () => {
    clearInterval(timer);
    look();
    return hasStalled;
  };
}

/**
 * Runs a check in which real time passes. Runs it again if it fails while the process stood still, because then more time
 * has passed than the check allows for. The check must begin anew each time.
 */
export async function unlessStalled(check: () => Promise<void>): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    const hasStalled = watchStalls();
    try {
      return await check();
    } catch (error) {
      if (!hasStalled() || tries === TRIES) throw error;
    } finally {
      hasStalled();
    }
  }
}
