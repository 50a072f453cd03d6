import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { cpus } from 'node:os';
import type { Duplex } from 'node:stream';
import { fileURLToPath } from 'node:url';

/** CPU cores of the measured process and of this process, which generates the load. */
export const SERVER_CPU = 0;
export const LOAD_CPU = 1;

/** Whether processes can be pinned to cores. Otherwise the server and the load compete for them. */
export const canPin = cpus().length > 1 && spawnSync('taskset', ['--version']).status === 0;

/** The first file descriptor after stdin, stdout, stderr and the IPC channel. */
export const FIRST_PIPE = 4;

/** Pins this process to the load core. */
export function pinLoad(): void {
  if (canPin) spawnSync('taskset', ['--all-tasks', '--cpu-list', '--pid', String(LOAD_CPU), String(process.pid)]);
}

/** The command that runs Node on the server core. */
export function pinnedNode(args: readonly string[]): readonly [command: string, args: readonly string[]] {
  const node = [process.execPath, ...args] as const;
  return canPin ? ['taskset', ['--cpu-list', String(SERVER_CPU), ...node]] : [process.execPath, args];
}

/** Options of a process. */
export interface ChildOptions {
  /** Path of the script, relative to this file. */
  readonly file: string;
  readonly flags?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Number of pipes in addition to the standard ones. */
  readonly pipes?: number;
}

/** A measured process. It answers one question at a time. */
export class Child {
  private readonly process: ChildProcess;

  constructor({ file, flags = [], env = {}, pipes = 0 }: ChildOptions) {
    const [command, args] = pinnedNode([...flags, fileURLToPath(new URL(file, import.meta.url))]);
    this.process = spawn(command, args, {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc', ...Array.from({ length: pipes }, () => 'pipe' as const)],
      env: { ...process.env, NODE_ENV: 'production', ...env },
    });
  }

  /** Sends a question and waits for the answer. */
  ask<Answer>(question: object): Promise<Answer> {
    const answer = this.next<Answer>();
    this.process.send(question);
    return answer;
  }

  /** Waits for the next message from the process. */
  next<Message>(): Promise<Message> {
    return new Promise((resolve, reject) => {
      const settle = (finish: () => void) => {
        this.process.removeAllListeners('message');
        this.process.removeAllListeners('exit');
        finish();
      };
      this.process.once('message', (message) => settle(() => resolve(message as Message)));
      this.process.once('exit', (code) =>
        settle(() => reject(new Error(`${this.process.spawnargs.join(' ')} exited with ${code}`))),
      );
    });
  }

  /** This process's end of pipe `index`. */
  pipe(index: number): Duplex {
    return this.process.stdio[FIRST_PIPE + index] as unknown as Duplex;
  }

  /** Ends the process immediately, even if it is stuck. */
  kill(): void {
    this.process.kill('SIGKILL');
  }

  /** Lets the process exit on its own, so that profilers can write their files. */
  async stop(): Promise<void> {
    if (this.process.exitCode !== null) return;
    const ended = new Promise((resolve) => this.process.once('exit', resolve));
    this.process.disconnect();
    await ended;
  }
}
