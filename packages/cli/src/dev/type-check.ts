import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';

import { compilerFor } from '../build/tsc.js';
import { lines } from './lines.js';
import type { Report } from './report.js';
import type { Check } from './supervisor.js';

/** The file of `--incremental` can't be written, such as in a folder of another user. The check itself is complete. */
const UNSAVED = /^error TS5033:.*\.tsbuildinfo/;
const DIAGNOSTIC = /^(.+)\((\d+),(\d+)\): error (TS\d+): (.*)$/;

/** With `--incremental`, later checks only look at changes. */
const OPTIONS = (root: string) => [
  '--noEmit',
  '--pretty',
  'false',
  '--incremental',
  '--tsBuildInfoFile',
  join(root, 'node_modules/.cache/decorum/dev.tsbuildinfo'),
];

/** Prints the project's type errors after each edit. The program doesn't wait for the check. */
export class TypeCheck implements Check {
  private running: ChildProcess | undefined;
  private hadErrors = false;

  constructor(
    private readonly root: string,
    private readonly report: Report,
  ) {}

  run(): void {
    this.stop();
    const compiler = compilerFor(this.root);
    if (compiler === undefined) {
      return this.report.note('--check finds no TypeScript in this project. Run: npm install --save-dev typescript');
    }
    const child = spawn(process.execPath, [compiler, ...OPTIONS(this.root)], {
      cwd: this.root,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    this.running = child;
    const errors: string[] = [];
    lines(child.stdout, (line) => {
      if (!UNSAVED.test(line)) errors.push(line.replace(DIAGNOSTIC, '$1:$2:$3  $5 [$4]'));
    });
    child.once('error', () => {});
    child.once('close', () => {
      if (this.running === child) this.print(errors);
    });
  }

  stop(): void {
    this.running?.kill('SIGKILL');
    this.running = undefined;
  }

  private print(errors: readonly string[]): void {
    this.running = undefined;
    const [first, ...more] = errors;
    if (first !== undefined) this.report.problem([first, ...more].join('\n'), 'types only: the program runs');
    else if (this.hadErrors) this.report.note('no type errors');
    this.hadErrors = first !== undefined;
  }
}
