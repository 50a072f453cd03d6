import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** The conformance fixture, as `npm run setup` builds it. */
export const FIXTURE = fileURLToPath(new URL('../../examples/everything/dist/main.js', import.meta.url));

/** The fixture as a process that serves HTTP on a free port. */
export class Everything {
  private constructor(
    private readonly child: ChildProcess,
    readonly url: string,
  ) {}

  static async start(): Promise<Everything> {
    const child = spawn(process.execPath, [FIXTURE], {
      env: { ...process.env, PORT: '0' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    for await (const line of createInterface({ input: child.stdout as NodeJS.ReadableStream })) {
      const url = /https?:\/\/\S+/.exec(line)?.[0];
      if (url) return new Everything(child, url);
    }
    throw new Error('The fixture ended without saying where it listens.');
  }

  async stop(): Promise<void> {
    const ended = once(this.child, 'exit');
    this.child.kill('SIGTERM');
    await ended;
  }
}
