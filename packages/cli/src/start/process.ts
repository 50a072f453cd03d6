import { inspect } from 'node:util';

import type { ClosableHost } from '@decorum/core/transport';
import { endOnSignal } from '@decorum/core/internal';
import { type CommandFailure, printFailure } from 'create-decorum';

const DRAIN_MS = 5000;
const SIGNALS = ['SIGTERM', 'SIGINT'] as const;

/**
 * Lets the first SIGTERM or SIGINT close the servers of a program that handles no signals, such as an Express
 * application. The process then exits with 0.
 */
export function endWithSignal(servers: ReadonlySet<ClosableHost>): void {
  // on the next turn: a program may still be about to register its own listeners
  setImmediate(() => {
    if (SIGNALS.some((signal) => process.listenerCount(signal) > 0)) return;
    endOnSignal(async () => {
      await Promise.allSettled([...servers].map((server) => server.close({ deadlineMs: DRAIN_MS })));
    });
  });
}

/**
 * Explains why a program could not start, and ends it with that exit code, as Node.js would. What the program has opened,
 * such as connections to a database, would otherwise keep a process that nobody starts again.
 */
export async function endFailed(failure: CommandFailure, servers: ReadonlySet<ClosableHost>): Promise<never> {
  printFailure(failure);
  setTimeout(() => process.exit(failure.exitCode), DRAIN_MS);
  await Promise.allSettled([...servers].map((server) => server.close({ deadlineMs: 0 })));
  return process.exit(failure.exitCode);
}

/**
 * Redirects stdout to stderr while a program loads: over stdio, only messages may go to stdout.
 * @returns a function that ends the redirection, to be called when a server begins to write to stdout
 */
export function divertStdout(): () => void {
  const { stdout, stderr } = process;
  const write = stdout.write.bind(stdout);
  let isDiverted = true;
  const divert = (...args: Parameters<typeof write>) => (isDiverted ? stderr.write(...args) : write(...args));
  stdout.write = divert as typeof write;
  return () => {
    isDiverted = false;
  };
}

/**
 * Explains known errors that a program throws after it has loaded. Any other error ends the program with a stack, as
 * Node.js would.
 */
export function failLater(explain: (error: unknown) => CommandFailure | undefined): void {
  const onUncaught = (error: unknown) => {
    // a server's own listener reports the error and keeps the process alive
    if (process.listenerCount('uncaughtException') > 1) return;
    const failure = explain(error);
    if (failure) printFailure(failure);
    else process.stderr.write(`${inspect(error)}\n`);
    process.exit(failure?.exitCode ?? 1);
  };
  process.on('uncaughtException', onUncaught);
}
