import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync, mkdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

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

/** A project in a folder of its own. */
export class Project {
  readonly folder = mkdtempSync(join(tmpdir(), 'decorum-dev-'));
  private readonly runs: DevRun[] = [];

  constructor(files: Readonly<Record<string, string>>) {
    symlinkSync(join(ROOT, 'node_modules'), join(this.folder, 'node_modules'));
    for (const [file, text] of Object.entries({ ...SETTINGS, ...files })) this.write(file, text);
  }

  /** Writes a file as editors do: a whole new one takes its place. */
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

  async remove(): Promise<void> {
    await Promise.all(this.runs.map((run) => run.end()));
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** The command line and arguments that run `decorum dev`, for clients that start it themselves. */
export const devCommand = (args: readonly string[]) => ({ command: process.execPath, args: [MAIN, 'dev', ...args] });

/** `decorum dev` in a process. */
export class DevRun {
  readonly child: ChildProcess;
  /** What it has printed. */
  printed = '';
  stdout = '';
  /** Resolves with the exit code or the signal. */
  readonly ended: Promise<number | string>;
  private readonly watchers = new Set<() => void>();

  constructor(folder: string, args: readonly string[], env: NodeJS.ProcessEnv) {
    const { command, args: all } = devCommand(args);
    this.child = spawn(command, all, { cwd: folder, env: { ...process.env, ...env }, stdio: 'pipe' });
    this.child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.printed += text;
      for (const see of this.watchers) see();
    });
    this.child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.stdout += text;
      for (const see of this.watchers) see();
    });
    this.ended = once(this.child, 'exit').then(([code, signal]) => (code ?? signal) as number | string);
  }

  /** Resolves with the match when it has been printed. */
  async says(pattern: RegExp): Promise<RegExpExecArray> {
    const find = () => pattern.exec(this.printed);
    return (
      find() ??
      (await new Promise((resolve, reject) => {
        const see = () => {
          const found = find();
          if (!found) return;
          this.watchers.delete(see);
          resolve(found);
        };
        this.watchers.add(see);
        void this.ended.then((code) =>
          reject(new Error(`It ended with ${code} and never said ${pattern}:\n${this.printed}`)),
        );
      }))
    );
  }

  /** The URL that clients connect to. */
  async url(): Promise<string> {
    return (await this.says(/http:\/\/\S+/))[0];
  }

  async end(): Promise<number | string> {
    this.child.kill('SIGTERM');
    return this.ended;
  }
}
