import { type Host, HOST } from './transport.js';

const guards = new Set<{ readonly host: Host }>();

/** Reports an uncaught error to every server of the process, since any of them may have caused it. */
function report(error: unknown): void {
  for (const host of new Set([...guards].map((guard) => guard.host))) {
    try {
      host[HOST].report(error);
    } catch (failure) {
      // the server's logger threw; throwing again would end the process
      process.stderr.write(`The error could not be reported: ${String(failure)}\n`);
    }
  }
}

/**
 * Keeps the process alive when a handler leaves a rejected promise behind, or throws in a timer or an event listener.
 * Such an error can no longer become a response, so it is reported. Guards can be nested: releasing the last one
 * removes the listeners for `uncaughtException` and `unhandledRejection` (Node.js, `process`).
 * @param host the server to report errors to
 * @returns releases the guard; calling it again is a no-op
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
