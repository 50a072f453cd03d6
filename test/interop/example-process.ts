import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** The program of an example, as `npm run setup` builds it. */
export function programOf(example: string): string {
  return fileURLToPath(new URL(`../../examples/${example}/dist/main.js`, import.meta.url));
}

/** An example as a process that serves HTTP on a free port. */
export class ExampleProcess {
  private constructor(
    private readonly child: ChildProcess,
    readonly url: string,
  ) {}

  /** @throws {Error} when the example ends without saying where it listens */
  static async start(example: string): Promise<ExampleProcess> {
    const child = spawn(process.execPath, [programOf(example)], {
      env: { ...process.env, PORT: '0' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    for await (const line of createInterface({ input: child.stdout as NodeJS.ReadableStream })) {
      const url = /https?:\/\/\S+/.exec(line)?.[0];
      if (url) return new ExampleProcess(child, url);
    }
    throw new Error(`The example "${example}" ended without saying where it listens.`);
  }

  async stop(): Promise<void> {
    const ended = once(this.child, 'exit');
    this.child.kill('SIGTERM');
    await ended;
  }
}
