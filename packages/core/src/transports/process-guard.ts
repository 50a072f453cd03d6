import { type Host, HOST } from './transport.js';

const guards = new Set<{ readonly host: Host }>();

/** Gives an error that came out of no request to every server of the process: any of them may be its cause. */
function report(error: unknown): void {
  for (const host of new Set([...guards].map((guard) => guard.host))) {
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
  if (guards.size === 0) process.on('uncaughtException', report).on('unhandledRejection', report);
  const guard = { host };
  guards.add(guard);
  return () => {
    if (!guards.delete(guard) || guards.size > 0) return;
    process.off('uncaughtException', report).off('unhandledRejection', report);
  };
}
