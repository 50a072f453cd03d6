import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('../bin/create-decorum.js', import.meta.url));

/** How a process ended. */
export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A running command. */
export interface Running {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
}

/** A folder for one test, with its own package managers. */
export class Desk {
  readonly folder = realpathSync(mkdtempSync(join(tmpdir(), 'create-decorum-')));

  path(...parts: string[]): string {
    return join(this.folder, ...parts);
  }

  write(path: string, text: string): void {
    mkdirSync(dirname(this.path(path)), { recursive: true });
    writeFileSync(this.path(path), text);
  }

  /** Adds a program that takes precedence over others with its name. `body` is the body of a CommonJS module. */
  program(name: string, body: string): void {
    this.write(`bin/${name}`, `#!/usr/bin/env node\n${body}\n`);
    chmodSync(this.path('bin', name), 0o755);
  }

  start(args: readonly string[], { cwd = '.', env = {} }: { cwd?: string; env?: object } = {}): Running {
    const { PATH = '', HOME } = process.env;
    const child = spawn(process.execPath, [PROGRAM, ...args], {
      cwd: this.path(cwd),
      // a clean environment without the test runner's settings
      env: { PATH: `${this.path('bin')}${delimiter}${PATH}`, HOME, ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    const printed = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'] as const) {
      child[name].setEncoding('utf8').on('data', (text: string) => void (printed[name] += text));
    }
    const ended = new Promise<Ended>((resolve, reject) => {
      child.on('error', reject);
      child.on('close', (code) => resolve({ code, ...printed }));
    });
    return { child, ended };
  }

  async run(args: readonly string[], options?: { cwd?: string; env?: object }): Promise<Ended> {
    return await this.start(args, options).ended;
  }

  /** The files in a folder and its subfolders. */
  files(folder = '.'): string[] {
    return readdirSync(this.path(folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(this.path(folder).length + 1))
      .sort();
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
