import { endProcess, isProcessEnding } from './process-end.js';
import { type Host, HOST } from './transport.js';

/** Options of `guardProcess`. */
export interface GuardOptions {
  /**
   * Whether to end the process when the reader of its stdout or stderr is gone. Transports that watch stdin don't need
   * this. Defaults to `false`.
   */
  readonly endsWithReader?: boolean;
}

interface Guard extends GuardOptions {
  readonly host: Host;
}

const guards = new Set<Guard>();
const CONSOLES = ['stdout', 'stderr'] as const;
let hasReportedBrokenPipe = false;

const isBrokenPipe = (error: unknown): boolean => (error as NodeJS.ErrnoException | null)?.code === 'EPIPE';

/** Reports an uncaught error to every server in the process, since any of them may have caused it. */
function report(error: unknown): void {
  // a logger with a broken pipe raises this error again for each report
  if (isBrokenPipe(error)) {
    if (hasReportedBrokenPipe) return;
    hasReportedBrokenPipe = true;
  }
  for (const host of new Set([...guards].map((guard) => guard.host))) {
    try {
      host[HOST].report(error);
    } catch (failure) {
      // the server's logger threw; throwing again would end the process
      process.stderr.write(`The error could not be reported: ${String(failure)}\n`);
    }
  }
}

/** Without this, writing a report to a broken stderr would raise another error to report, forever. */
function onConsoleError(error: Error): void {
  if (isBrokenPipe(error) && [...guards].some(({ endsWithReader }) => endsWithReader)) void endProcess();
}

/**
 * Keeps the process alive when a handler causes an unhandled rejection, or throws in a timer or event listener. It's
 * too late to send such an error as a response, so it is reported. A broken stdout or stderr doesn't cause an uncaught
 * error either. Several guards can be active at once: releasing the last one removes the `uncaughtException` and
 * `unhandledRejection` listeners.
 * @param host the server to report errors to
 * @returns a function that releases the guard; further calls do nothing
 */
export function guardProcess(host: Host, options: GuardOptions = {}): () => void {
  if (guards.size === 0) {
    process.on('uncaughtException', report).on('unhandledRejection', report);
    for (const name of CONSOLES) process[name].on('error', onConsoleError);
  }
  const guard = { ...options, host };
  guards.add(guard);
  return () => {
    // errors during shutdown are still reported
    if (isProcessEnding() || !guards.delete(guard) || guards.size > 0) return;
    process.off('uncaughtException', report).off('unhandledRejection', report);
    for (const name of CONSOLES) process[name].off('error', onConsoleError);
  };
}
