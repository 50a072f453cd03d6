import type { Readable } from 'node:stream';

/** The parent when this module loads: the client may be gone before the program's other imports have ended. */
const ppid = globalThis.process?.ppid;

/**
 * The code of the worker thread, as text, because the package is published as one file. It asks the main thread only
 * when the client seems to be gone: when the parent process has ended, or stdin has. The main thread answers whether
 * stdin has ended.
 *
 * A parent that has ended was not the client if the main thread still waits for messages `graceMs` later: some
 * launchers start a server and exit.
 */
export const WATCH = `
const { parentPort, workerData: { ppid, graceMs, pollMs } } = require('node:worker_threads');
let parent = ppid;
let hasEnded = false;
let goneAt;
let heardAt;
parentPort.on('message', (isEnd) => {
  heardAt = performance.now();
  hasEnded = isEnd;
  if (isEnd) goneAt ??= heardAt;
});
setInterval(() => {
  const now = performance.now();
  if (process.ppid !== parent) goneAt ??= now;
  if (goneAt === undefined) return;
  if (!hasEnded && heardAt > goneAt + graceMs) {
    parent = process.ppid;
    goneAt = undefined;
  } else if (now - Math.max(goneAt, heardAt ?? 0) > graceMs) process.kill(process.pid, 'SIGKILL');
  else parentPort.postMessage('');
}, pollMs);
`;

/** Times of the watchdog, in milliseconds. */
export interface WatchdogTimes {
  /** How long the event loop may be blocked once the client is gone. */
  readonly graceMs: number;
  /** How often to look for the parent process. */
  readonly pollMs: number;
}

/**
 * Starts a thread that kills this process if its client is gone and its event loop is blocked. The thread doesn't keep
 * the process alive.
 * @param input the stream from the client
 * @returns a function that stops the thread
 */
export async function startWatchdog(input: Readable, { graceMs, pollMs }: WatchdogTimes): Promise<() => void> {
  const { Worker } = await import('node:worker_threads');
  const workerData = { ppid, graceMs, pollMs };
  // without the options of the process and NODE_OPTIONS, which may load modules that print
  const worker = new Worker(WATCH, { eval: true, name: 'watchdog', execArgv: [], env: {}, workerData });
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  const answer = () => worker.postMessage(input.readableEnded || input.destroyed);
  worker.on('message', answer).unref();
  input.once('end', answer);
  return () => {
    input.off('end', answer);
    void worker.terminate();
  };
}
