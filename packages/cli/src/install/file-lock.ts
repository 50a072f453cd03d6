/** Keeps two `decorum` processes from writing the same file at once. */
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';

/** Writing takes milliseconds. */
const STALE_MS = 10_000;

const POLL_MS = 5;

function isTaken(lock: string): boolean {
  try {
    writeFileSync(lock, String(process.pid), { flag: 'wx', mode: 0o600 });
    return false;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return true;
    throw error;
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Whether the process that made a lock was killed. */
function isAbandoned(lock: string): boolean {
  const stats = statSync(lock, { throwIfNoEntry: false });
  if (stats === undefined) return false;
  if (Math.abs(Date.now() - stats.mtimeMs) > STALE_MS) return true;
  try {
    const pid = Number(readFileSync(lock, 'utf8'));
    return pid > 0 && !isRunning(pid);
  } catch {
    // removed just now, or of another user
    return false;
  }
}

/**
 * Runs a step while no other process runs one for the same file. Waits for those that do.
 * @param path of the file; the lock is beside it
 */
export function locked<T>(path: string, step: () => T): T {
  const lock = `${path}.decorum-lock`;
  while (isTaken(lock)) {
    if (isAbandoned(lock)) rmSync(lock, { force: true });
    else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, POLL_MS);
  }
  try {
    return step();
  } finally {
    rmSync(lock, { force: true });
  }
}
