import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { jest } from '@jest/globals';

import { createCommand } from '../src/command.js';
import { CommandFailure, EXIT } from '../src/failure.js';

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

  /** Runs the command in a process of its own. */
  start(args: readonly string[], env: object = {}): Running {
    const { PATH = '', HOME } = process.env;
    const child = spawn(process.execPath, [PROGRAM, ...args], {
      cwd: this.folder,
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

  /** Runs the command in this process, without questions and without an installation. A process takes most of the time. */
  async run(args: readonly string[], { cwd = '.', agent = 'npm/11.0.0' } = {}): Promise<Ended> {
    const [home, { CI, npm_config_user_agent }] = [process.cwd(), process.env];
    process.chdir(this.path(cwd));
    Object.assign(process.env, { CI: 'true', npm_config_user_agent: agent });
    let stdout = '';
    const write = jest.spyOn(process.stdout, 'write').mockImplementation((text) => (stdout += String(text)) !== '');
    try {
      await createCommand('create-decorum').parseAsync(['--no-install', ...args], { from: 'user' });
      return { code: EXIT.done, stdout, stderr: '' };
    } catch (error) {
      if (!(error instanceof CommandFailure)) throw error;
      return { code: error.exitCode, stdout, stderr: `${error.message}\n` };
    } finally {
      write.mockRestore();
      process.chdir(home);
      for (const [name, value] of Object.entries({ CI, npm_config_user_agent })) {
        if (value === undefined) delete process.env[name];
        else process.env[name] = value;
      }
    }
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
