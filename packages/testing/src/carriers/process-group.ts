import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';

/** Whether programs get a process group of their own, which includes what they start. */
export const HAS_GROUPS = process.platform !== 'win32';

/** Ends the processes that outlive the one that reads its stdin: first politely, then for good. */
const WATCH = 'read _; kill -s TERM -- "-$0" && sleep 1 && kill -s KILL -- "-$0"';

/** Signals a program and all processes that it has started. A no-op if none is left. */
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
 * Ends a program with this process, however this process ends. A handler for `exit` would not run after a SIGKILL, nor
 * under Jest.
 * @returns stops watching
 */
export function endWithThisProcess(child: ChildProcess): () => void {
  if (!HAS_GROUPS) {
    const kill = () => child.kill('SIGKILL');
    process.once('exit', kill);
    return () => process.off('exit', kill);
  }
  // its stdin ends with this process
  const stdio = ['pipe', 'ignore', 'ignore'] as const;
  const watcher = spawn('/bin/sh', ['-c', WATCH, String(child.pid)], { stdio: [...stdio], detached: true });
  watcher.on('error', () => {});
  watcher.unref();
  (watcher.stdin as Socket | null)?.unref();
  return () => void watcher.kill('SIGKILL');
}
