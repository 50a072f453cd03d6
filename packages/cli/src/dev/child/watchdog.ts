import { Worker } from 'node:worker_threads';

const WATCH = `
const parent = process.ppid;
setInterval(() => {
  if (process.ppid !== parent) process.kill(process.pid, 'SIGKILL');
}, 500);
`;

/** Ends this process. `process.exit` may wait for a module that is being loaded. */
const end = (): void => void process.kill(process.pid, 'SIGKILL');

/** Ends this process when the relay is gone. */
export function watchParent(): void {
  // it may have gone before this module was loaded
  if (!process.connected) return end();
  process.once('disconnect', end);
  // in a thread: a program that never returns to its event loop hears of nothing
  if (process.platform !== 'win32') new Worker(WATCH, { eval: true, execArgv: [], stdout: false }).unref();
}
