import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { cpus } from 'node:os';
import type { Duplex } from 'node:stream';
import { fileURLToPath } from 'node:url';

/** The core of what is measured, and that of this process, which makes the load. */
export const SERVER_CPU = 0;
export const LOAD_CPU = 1;

/** Whether processes can be tied to a core each; otherwise server and load get in each other's way. */
export const canPin = cpus().length > 1 && spawnSync('taskset', ['--version']).status === 0;

/** The first file descriptor after stdin, stdout, stderr and the channel to the parent. */
export const FIRST_PIPE = 4;

/** Ties this process to the core of the load. */
export function pinLoad(): void {
  if (canPin) spawnSync('taskset', ['--all-tasks', '--cpu-list', '--pid', String(LOAD_CPU), String(process.pid)]);
}

/** The command that runs Node on the core of what is measured. */
export function pinnedNode(args: readonly string[]): readonly [command: string, args: readonly string[]] {
  const node = [process.execPath, ...args] as const;
  return canPin ? ['taskset', ['--cpu-list', String(SERVER_CPU), ...node]] : [process.execPath, args];
}

/** How a process is run. */
export interface ChildOptions {
  /** The file, relative to this one. */
  readonly file: string;
  readonly flags?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** How many pipes there are besides the standard ones. */
  readonly pipes?: number;
}

/** A process under measurement. It answers questions, one at a time. */
export class Child {
  private readonly process: ChildProcess;

  constructor({ file, flags = [], env = {}, pipes = 0 }: ChildOptions) {
    const [command, args] = pinnedNode([...flags, fileURLToPath(new URL(file, import.meta.url))]);
    this.process = spawn(command, args, {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc', ...Array.from({ length: pipes }, () => 'pipe' as const)],
      env: { ...process.env, NODE_ENV: 'production', ...env },
    });
  }

  /** Asks, and waits for the answer. */
  ask<Answer>(question: object): Promise<Answer> {
    const answer = this.next<Answer>();
    this.process.send(question);
    return answer;
  }

  /** Waits for the next message of the process. */
  next<Message>(): Promise<Message> {
    return new Promise((resolve, reject) => {
      const settle = (finish: () => void) => {
        this.process.removeAllListeners('message');
        this.process.removeAllListeners('exit');
        finish();
      };
      this.process.once('message', (message) => settle(() => resolve(message as Message)));
      this.process.once('exit', (code) =>
        settle(() => reject(new Error(`${this.process.spawnargs.join(' ')} exited: ${code}`))),
      );
    });
  }

  /** Our end of one of its pipes, counted from 0. */
  pipe(index: number): Duplex {
    return this.process.stdio[FIRST_PIPE + index] as unknown as Duplex;
  }

  /** Lets it end by itself, so that profilers can write their files. */
  async stop(): Promise<void> {
    if (this.process.exitCode !== null) return;
    const ended = new Promise((resolve) => this.process.once('exit', resolve));
    this.process.disconnect();
    await ended;
  }
}
