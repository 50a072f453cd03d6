import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';

/** Where and how a process is run. */
export interface ChildOptions {
  /** The file beside this one. */
  readonly file: string;
  readonly cpu: number;
  readonly flags?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** Whether processes can be tied to a core each; otherwise server and load get into each other's way. */
export const canPin = cpus().length > 1 && spawnSync('taskset', ['--version']).status === 0;

/** A process that answers questions, one at a time. */
export class Child {
  private readonly process: ChildProcess;

  constructor({ file, cpu, flags = [], env = {} }: ChildOptions) {
    const node = [process.execPath, ...flags, fileURLToPath(new URL(file, import.meta.url))];
    const [command = '', ...args] = canPin ? ['taskset', '--cpu-list', String(cpu), ...node] : node;
    this.process = spawn(command, args, {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      env: { ...process.env, NODE_ENV: 'production', ...env },
    });
  }

  /** Asks, and waits for the answer. */
  ask<Answer>(question: unknown): Promise<Answer> {
    const answer = this.next<Answer>();
    this.process.send(question as object);
    return answer;
  }

  /** Waits for the next thing that the process says. */
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

  stop(): void {
    this.process.kill();
  }
}
