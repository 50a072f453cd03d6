import { type ClosableHost, HOST } from './transport.js';

const SIGNALS = ['SIGTERM', 'SIGINT'] as const;
const STDERR_MS = 100;
const HOOKS_MS = 300;

const ends = new Set<() => Promise<void>>();
let ending: Promise<void> | undefined;

/**
 * Has something done before the process ends by a first SIGTERM or SIGINT. A second signal does what it does in any
 * program. Whatever was registered is done side by side, and then the process exits.
 * @param end must not reject
 * @returns takes it back; with the last one go the listeners of the signals
 */
export function endOnSignal(end: () => Promise<void>): () => void {
  if (ends.size === 0) for (const signal of SIGNALS) process.on(signal, onSignal);
  ends.add(end);
  return () => {
    if (ends.delete(end) && ends.size === 0) ignoreSignals();
  };
}

function onSignal(): void {
  ignoreSignals();
  void endProcess();
}

function ignoreSignals(): void {
  for (const signal of SIGNALS) process.off(signal, onSignal);
}

/** Whether the process is about to exit. */
export function isProcessEnding(): boolean {
  return ending !== undefined;
}

/** Ends the process as a signal does. Never resolves. */
export function endProcess(): Promise<void> {
  ending ??= exit();
  return ending;
}

async function exit(): Promise<void> {
  await Promise.all([...ends].map((end) => end()));
  // an exit drops what a slow reader of stderr has not taken yet
  const timer = new Promise((resolve) => setTimeout(resolve, STDERR_MS));
  await Promise.race([timer, new Promise((resolve) => process.stderr.write('', resolve))]);
  process.exit();
}

/**
 * Closes a server whose process is about to end. If that fails, the process exits with 1. Never rejects.
 * @param deadlineMs milliseconds after which running calls are cancelled
 */
export async function closeForGood(server: ClosableHost, deadlineMs: number): Promise<void> {
  try {
    await server.close({ deadlineMs });
  } catch (error) {
    server[HOST].report(error);
    process.exitCode = 1;
  }
}

/**
 * Does the same, but waits no longer than a client does: a hook that never ends must not leave the process behind.
 * @param deadlineMs milliseconds for calls and hooks together; hooks get `HOOKS_MS` at least
 */
export async function closeInTime(server: ClosableHost, deadlineMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, Math.max(deadlineMs, HOOKS_MS));
  });
  await Promise.race([closeForGood(server, deadlineMs), late]);
  clearTimeout(timer);
}
