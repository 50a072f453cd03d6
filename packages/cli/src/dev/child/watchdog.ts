/**
 * Ends this process when the relay is gone. `disconnect` isn't emitted while Node.js waits for the loader's thread, or
 * while the program blocks the event loop, so another thread checks as well. Node.js loads this file first, before it
 * can wait for the loader.
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
// on Windows, `ppid` doesn't change when the parent ends
if (process.platform !== 'win32') {
  new Worker(WATCH, { eval: true, execArgv: [], workerData: relay, stdout: false }).unref();
}
