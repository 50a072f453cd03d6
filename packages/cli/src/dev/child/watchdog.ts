import { Worker } from 'node:worker_threads';

const WATCH = `
const parent = process.ppid;
setInterval(() => {
  if (process.ppid !== parent) process.kill(process.pid, 'SIGKILL');
}, 500);
`;

/**
 * Ends this process when the relay is gone, even if the program never returns to its event loop. In a thread, because
 * then no event reaches this one.
 */
export function watchParent(): void {
  if (process.platform !== 'win32') new Worker(WATCH, { eval: true, execArgv: [], stdout: false }).unref();
}
