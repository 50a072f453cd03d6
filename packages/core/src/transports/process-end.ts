import { type ClosableHost, HOST } from './transport.js';

const SIGNALS = ['SIGTERM', 'SIGINT'] as const;
const STDERR_MS = 100;
const HOOKS_MS = 300;

const ends = new Set<() => Promise<void>>();
let ending: Promise<void> | undefined;

/**
 * Registers a function to run before the first SIGTERM or SIGINT ends the process. All registered functions run
 * concurrently, then the process exits. A second signal has its default effect.
 * @param end must not reject
 * @returns a function that unregisters `end`. Unregistering the last one removes the signal listeners
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

/** Ends the process as a signal would. Never resolves. */
export function endProcess(): Promise<void> {
  ending ??= exit();
  return ending;
}

async function exit(): Promise<void> {
  await Promise.all([...ends].map((end) => end()));
  // exiting discards stderr output that a slow reader has not read yet
  const timer = new Promise((resolve) => setTimeout(resolve, STDERR_MS));
  await Promise.race([timer, new Promise((resolve) => process.stderr.write('', resolve))]);
  process.exit();
}

/**
 * Closes a server before the process ends. If closing fails, the process exits with code 1. Never rejects.
 * @param deadlineMs milliseconds after which calls in flight are cancelled
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
 * Like `closeForGood`, but with a deadline: a hook that never ends must not keep the process running.
 * @param deadlineMs milliseconds for calls and hooks together, but at least `HOOKS_MS`
 */
export async function closeInTime(server: ClosableHost, deadlineMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, Math.max(deadlineMs, HOOKS_MS));
  });
  await Promise.race([closeForGood(server, deadlineMs), late]);
  clearTimeout(timer);
}
