import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

import { lines } from './lines.js';
import type { Report } from './report.js';

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

/** The path of the project's `tsc`, if it has TypeScript. */
export function compilerOf(root: string): string | undefined {
  try {
    const manifest = createRequire(join(root, 'package.json')).resolve('typescript/package.json');
    const { bin } = JSON.parse(readFileSync(manifest, 'utf8')) as { bin: { tsc: string } };
    return join(dirname(manifest), bin.tsc);
  } catch {
    return undefined;
  }
}

/** Prints the project's type errors after each edit. The program doesn't wait for the check. */
export class TypeCheck {
  private running: ChildProcess | undefined;
  private hadErrors = false;

  constructor(
    private readonly root: string,
    private readonly report: Report,
  ) {}

  /** Starts a new check. A check that is still running is abandoned. */
  run(): void {
    this.stop();
    const compiler = compilerOf(this.root);
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
