import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** The built program of an example. */
export function programOf(example: string): string {
  return fileURLToPath(new URL(`../../examples/${example}/dist/main.js`, import.meta.url));
}

/** The server program for the stories of SDK clients. */
export const STORY_SERVER = fileURLToPath(new URL('story-server.js', import.meta.url));

/** The program at the client's end of one of its pipes. */
export const PIPE = fileURLToPath(new URL('pipe.js', import.meta.url));

/** A process that serves HTTP on a free port. */
export class ExampleProcess {
  private constructor(
    private readonly child: ChildProcess,
    readonly url: string,
    /** Port for pipes, if it serves them. */
    readonly port: string | undefined,
  ) {}

  /**
   * @param program an example, or a server that prints its URL in the same way
   * @param args arguments of the program
   * @throws {Error} if it exits without printing its URL
   */
  static async start(program: string, ...args: string[]): Promise<ExampleProcess> {
    const child = spawn(process.execPath, [program, ...args], {
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
