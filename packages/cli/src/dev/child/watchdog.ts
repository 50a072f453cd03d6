/**
 * Ends this process when the relay is gone. Node.js loads this file first, because later it may wait for the thread of the
 * loader and then hears of nothing, as with a program that never returns to its event loop. So another thread looks.
 */
import { Worker } from 'node:worker_threads';

const WATCH = `
const { workerData: relay } = require('node:worker_threads');
setInterval(() => {
  if (process.ppid !== relay) process.kill(process.pid, 'SIGKILL');
}, 250);
`;

// not `process.exit`, which may wait for a module that is being loaded
const end = (): void => void process.kill(process.pid, 'SIGKILL');

const relay = Number(process.env['DECORUM_DEV']);
if (process.connected) process.once('disconnect', end);
else end();
// elsewhere the id of the parent stays
if (process.platform !== 'win32') {
  new Worker(WATCH, { eval: true, execArgv: [], workerData: relay, stdout: false }).unref();
}
