import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync, mkdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { afterAll } from '@jest/globals';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const MAIN = join(ROOT, 'packages/cli/dist/main.js');

const SETTINGS = {
  'package.json': JSON.stringify({ name: 'weather', version: '1.0.0', type: 'module' }),
  'tsconfig.json': JSON.stringify({
    compilerOptions: {
      target: 'ES2022',
      module: 'NodeNext',
      strict: true,
      experimentalDecorators: true,
      emitDecoratorMetadata: true,
    },
  }),
};

/** A port that was free a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}

/** Resolves when a process that this one hasn't started has ended, which only looking tells. */
export async function processEnds(pid: number): Promise<void> {
  try {
    for (;;) {
      process.kill(pid, 0);
      await wait(20);
    }
  } catch {
    // it has ended
  }
}

const projects: Project[] = [];
afterAll(async () => {
  await Promise.all(projects.splice(0).map((each) => each.remove()));
});

/** What several tests use one after the other. A test that fails leaves the next one a new one. */
export function shared<T>(start: () => Promise<T>): (use: (it: T) => Promise<void>) => Promise<void> {
  let whole: T | undefined;
  return async (use) => {
    const it = whole ?? (await start());
    whole = undefined;
    await use(it);
    whole = it;
  };
}

/** A project in its own folder, until the tests of the file have ended. */
export class Project {
  readonly folder = mkdtempSync(join(tmpdir(), 'decorum-dev-'));
  private readonly runs: DevRun[] = [];

  constructor(files: Readonly<Record<string, string>>) {
    projects.push(this);
    symlinkSync(join(ROOT, 'node_modules'), join(this.folder, 'node_modules'));
    for (const [file, text] of Object.entries({ ...SETTINGS, ...files })) this.write(file, text);
  }

  /** Writes a file as editors do: replaces it with a new file. */
  write(file: string, text: string): void {
    const path = join(this.folder, file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(`${path}~`, text);
    renameSync(`${path}~`, path);
  }

  edit(file: string, from: string, to: string): void {
    const text = readFileSync(join(this.folder, file), 'utf8');
    if (!text.includes(from)) throw new Error(`${file} has no ${from}`);
    this.write(file, text.replace(from, to));
  }

  /** Runs `decorum dev`. */
  dev(args: readonly string[] = [], env: NodeJS.ProcessEnv = {}): DevRun {
    const run = new DevRun(this.folder, args, env);
    this.runs.push(run);
    return run;
  }

  /**
   * Runs `decorum dev` over HTTP, on a port that the program may ask for too. Waits until it has printed a text. If that
   * is not the URL, `--port` makes it listen before it runs the program.
   */
  async serve({ args = [] as readonly string[], env = {}, says = /http:/ } = {}) {
    const port = String(await freePort());
    const run = this.dev(says.test('http:') ? args : ['--port', port, ...args], { PORT: port, ...env });
    await run.says(says);
    return { run, origin: `http://127.0.0.1:${port}`, url: `http://127.0.0.1:${port}/mcp` };
  }

  /** Ends everything at once. Processes of programs end with the relay that started them. */
  async remove(): Promise<void> {
    await Promise.all(this.runs.map((run) => run.end('SIGKILL')));
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** The command and arguments that run `decorum dev`, for clients that start it themselves. */
export const devCommand = (args: readonly string[]) => ({ command: process.execPath, args: [MAIN, 'dev', ...args] });

/** The output of a process while it runs. */
export class Printed {
  text = '';
  private read = 0;
  private readonly watchers = new Set<() => void>();

  add(text: string): void {
    this.text += text;
    for (const see of this.watchers) see();
  }

  /** Resolves with the match once it has been printed. */
  says(pattern: RegExp): Promise<RegExpExecArray> {
    return this.find(() => pattern.exec(this.text));
  }

  /** Like `says`, but only in the text after the last match. */
  async saysNext(pattern: RegExp): Promise<RegExpExecArray> {
    const found = await this.find(() => pattern.exec(this.text.slice(this.read)));
    this.read += found.index + found[0].length;
    return found;
  }

  private async find(look: () => RegExpExecArray | null): Promise<RegExpExecArray> {
    const found = look();
    if (found) return found;
    return new Promise((resolve) => {
      const see = () => {
        const match = look();
        if (!match) return;
        this.watchers.delete(see);
        resolve(match);
      };
      this.watchers.add(see);
    });
  }
}

/** `decorum dev` in a process. */
export class DevRun {
  readonly child: ChildProcess;
  /** Resolves with the exit code or the signal. */
  readonly ended: Promise<number | string>;
  private readonly text = new Printed();

  constructor(folder: string, args: readonly string[], env: NodeJS.ProcessEnv) {
    const { command, args: all } = devCommand(args);
    this.child = spawn(command, all, { cwd: folder, env: { ...process.env, ...env }, stdio: 'pipe' });
    this.child.stderr?.setEncoding('utf8').on('data', (text: string) => this.text.add(text));
    this.child.stdout?.setEncoding('utf8');
    this.ended = once(this.child, 'exit').then(([code, signal]) => (code ?? signal) as number | string);
  }

  /** The output so far. */
  get printed(): string {
    return this.text.text;
  }

  /** The process of the newest program, if that prints it as `pid 7`. */
  get pid(): number {
    return Number(
      this.printed
        .match(/pid \d+/g)
        ?.at(-1)
        ?.slice(4),
    );
  }

  /** @throws {Error} if the process ends first */
  says(pattern: RegExp): Promise<RegExpExecArray> {
    return Promise.race([this.text.says(pattern), this.never(pattern)]);
  }

  /** Like `says`, but only in the text after the last match. */
  saysNext(pattern: RegExp): Promise<RegExpExecArray> {
    return Promise.race([this.text.saysNext(pattern), this.never(pattern)]);
  }

  private async never(pattern: RegExp): Promise<never> {
    const code = await this.ended;
    throw new Error(`It ended with ${code} and never said ${pattern}:\n${this.printed}`);
  }

  /** The URL that clients connect to. */
  async url(): Promise<string> {
    return (await this.says(/http:\/\/\S+/))[0];
  }

  async end(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | string> {
    this.child.kill(signal);
    return this.ended;
  }
}
