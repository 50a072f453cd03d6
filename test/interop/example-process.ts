import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** The program of an example, as `npm run setup` builds it. */
export function programOf(example: string): string {
  return fileURLToPath(new URL(`../../examples/${example}/dist/main.js`, import.meta.url));
}

/** The program of the server that clients of the SDK tell their story to. */
export const STORY_SERVER = fileURLToPath(new URL('story-server.js', import.meta.url));

/** The program that is the other end of one of its pipes. */
export const PIPE = fileURLToPath(new URL('pipe.js', import.meta.url));

/** A process that serves HTTP on a free port. */
export class ExampleProcess {
  private constructor(
    private readonly child: ChildProcess,
    readonly url: string,
    /** Where it serves pipes, if it does. */
    readonly port: string | undefined,
  ) {}

  /**
   * @param program of an example, or of a server that says in the same way where it listens
   * @throws {Error} when it ends without saying so
   */
  static async start(program: string): Promise<ExampleProcess> {
    const child = spawn(process.execPath, [program], {
      env: { ...process.env, PORT: '0' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    for await (const line of createInterface({ input: child.stdout as NodeJS.ReadableStream })) {
      const url = /https?:\/\/\S+/.exec(line)?.[0];
      if (url) return new ExampleProcess(child, url, /port (\d+)/.exec(line)?.[1]);
    }
    throw new Error(`${program} ended without saying where it listens.`);
  }

  async stop(): Promise<void> {
    const ended = once(this.child, 'exit');
    this.child.kill('SIGTERM');
    await ended;
  }
}
