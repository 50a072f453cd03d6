import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';

/** Whether each program gets its own process group, which includes the processes that it starts. */
export const HAS_GROUPS = process.platform !== 'win32';

/** Shell script that ends the process group `$0` once stdin ends: first with SIGTERM, then with SIGKILL. */
const WATCH = 'read _; kill -s TERM -- "-$0" && sleep 1 && kill -s KILL -- "-$0"';

/** Signals a program and all processes that it has started. A no-op if all of them have ended. */
export function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  if (!HAS_GROUPS) return void child.kill(signal);
  try {
    process.kill(-child.pid, signal);
  } catch {
    // the group has ended
  }
}

/**
 * Ends a program when this process ends, for whatever reason. An `exit` listener wouldn't run after SIGKILL or under
 * Jest.
 * @returns a function that stops watching
 */
export function endWithThisProcess(child: ChildProcess): () => void {
  if (!HAS_GROUPS) {
    const kill = () => child.kill('SIGKILL');
    process.once('exit', kill);
    return () => process.off('exit', kill);
  }
  // the watcher's stdin ends with this process
  const stdio = ['pipe', 'ignore', 'ignore'] as const;
  const watcher = spawn('/bin/sh', ['-c', WATCH, String(child.pid)], { stdio: [...stdio], detached: true });
  watcher.on('error', () => {});
  watcher.unref();
  (watcher.stdin as Socket | null)?.unref();
  return () => void watcher.kill('SIGKILL');
}
