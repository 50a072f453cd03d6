import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';

import { plainLine } from 'create-decorum';

import type { Construction } from '../../build/messages.js';
import { ENTRIES, EXPORT_A_SERVER, shown } from '../../entry.js';
import { loadFailure } from '../../failures.js';
import { programEnv } from '../../program-env.js';
import { cut } from '../../table.js';
import type { Place } from '../place.js';
import { type Result, resultsOf } from '../result.js';

const results = resultsOf('program');
const stdout = resultsOf('stdout');

/** How long a program may take to load. */
const LOADS_MS = 20_000;

/** How long what a program has printed may be on its way once it has ended. */
const FLUSHES_MS = 500;

interface Ran {
  /** The exit code if the process ended without a message; undefined if it took too long. */
  readonly end: Construction | number | undefined;
  /** The beginning of what it wrote to stdout. */
  readonly output: string;
}

/** Runs a program in its own process until it serves. Nothing listens. */
async function run(file: string, root: string): Promise<Ran> {
  const child = fork(fileURLToPath(new URL('../../build/child.js', import.meta.url)), [file], {
    execArgv: ['--enable-source-maps'],
    env: programEnv(root),
    stdio: ['ignore', 'pipe', 'ignore', 'ipc'],
  });
  let output = '';
  let message: Construction | undefined;
  let isLate = false;
  const late = setTimeout(() => (isLate = child.kill('SIGKILL')), LOADS_MS);
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (output = cut(output + text, 1000)));
  child.once('message', (given) => (message = given as Construction));
  const code = await new Promise<number>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (given) => resolve(given ?? 1));
    // programs that it has started may keep its stdout open
    child.once('exit', (given) => setTimeout(() => resolve(given ?? 1), FLUSHES_MS).unref());
  });
  clearTimeout(late);
  child.stdout?.destroy();
  return { end: message ?? (isLate ? undefined : code), output };
}

function programResult(file: string, end: Ran['end']): Result {
  if (end === undefined) {
    const problem = `${shown(file)} was still loading after ${LOADS_MS / 1000} seconds`;
    return results.problem(problem, 'start long work in `onStart`');
  }
  if (typeof end === 'number') {
    const problem = `${shown(file)} ended with exit code ${end} before it created a server`;
    return results.problem(problem, 'run it with `decorum start` to see why');
  }
  if (end.type === 'constructed') return results.ok(`${shown(file)}: ${end.title}`);
  if (end.type === 'failed') {
    const failure = loadFailure({ file, sources: [file] }, Object.assign(new Error(end.error.message), end.error));
    // without the lines of source that follow, because a result is one line
    return results.problem(failure.message.split('\n\n')[0] ?? '', 'correct this first');
  }
  if (end.type === 'nothing')
    return results.warning(`${shown(file)} creates no server in this process`, EXPORT_A_SERVER);
  return results.problem(`${shown(file)} creates a server, but neither exports nor serves it`, EXPORT_A_SERVER);
}

/** Checks that the program creates a server, and leaves stdout alone before. */
export async function checkProgram({ root, entry }: Place): Promise<Result[]> {
  if (entry === undefined) {
    const problem = `none of ${ENTRIES.join(', ')} is here, so no program was checked`;
    return [results.warning(problem, 'name the file: `decorum doctor src/app.ts`')];
  }
  const { end, output } = await run(entry, root);
  const [first = ''] = stripVTControlCharacters(output).trim().split('\n');
  const problem = `${shown(entry)} prints before it serves: "${cut(first, 60)}". Over stdio, only messages may be on stdout`;
  return [
    programResult(entry, end),
    output === ''
      ? stdout.ok('nothing is printed before the program serves')
      : stdout.warning(plainLine(problem), 'print with `console.error`, or log with a logger that writes to stderr'),
  ];
}
