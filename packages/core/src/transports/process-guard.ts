import { type Host, HOST } from './transport.js';

const guarded = new Map<Host, number>();

/** Gives an error that came out of no request to every server of the process: any of them may be its cause. */
function report(error: unknown): void {
  for (const host of guarded.keys()) {
    try {
      host[HOST].report(error);
    } catch (failure) {
      // the logger of the server has failed; an error here would end the process
      process.stderr.write(`The error could not be reported: ${String(failure)}\n`);
    }
  }
}

/**
 * Keeps the process alive when a handler leaves a rejected promise behind, or throws in a timer or an event listener:
 * such an error cannot be a reply any more, so it is reported. Guards add up; the last one to go takes the listeners of
 * `uncaughtException` and `unhandledRejection` (Node.js, `process`) with it.
 * @param host is given the errors
 * @returns releases the guard; calling it again does nothing
 */
export function guardProcess(host: Host): () => void {
  if (guarded.size === 0) process.on('uncaughtException', report).on('unhandledRejection', report);
  guarded.set(host, (guarded.get(host) ?? 0) + 1);
  let released = false;
  return () => {
    if (released) return;
    released = true;
    const left = (guarded.get(host) ?? 1) - 1;
    if (left > 0) guarded.set(host, left);
    else guarded.delete(host);
    if (guarded.size === 0) process.off('uncaughtException', report).off('unhandledRejection', report);
  };
}
