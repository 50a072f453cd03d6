/**
 * `npm run pictures:recording`: records a first server into `docs/pictures/first-server.svg`. What is shown is what the
 * commands print, in a project that is created for it from the packed packages. Only the pauses are made up, the port is
 * the usual one, and the time of day is always the same.
 */
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

import { terminal } from './pictures/terminal.js';
import { freePort, ROOT } from './workspace.js';

const COLUMNS = 84;
const { packageManager } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));

/** @type {import('./pictures/terminal.js').Line[]} */
const lines = [];
const port = await freePort();

/** @param {string} text */
const shown = (text) =>
  text
    .replaceAll(String(port), '3000')
    .replace(/^\d\d:\d\d:\d\d/, '09:30:00')
    .slice(0, COLUMNS);

/**
 * Shows a command as it is typed, and what it prints.
 * @param {number} at the terminal
 * @param {string} command
 * @param {string} [output]
 */
function show(at, command, output = '') {
  lines.push({ terminal: at, after: 1.5, text: `$ ${shown(command)}`, isCommand: true });
  for (const [index, text] of output.trimEnd().split('\n').entries()) {
    if (text !== '') lines.push({ terminal: at, after: index === 0 ? 1 : 0.3, text: shown(text) });
  }
}

/**
 * @param {string} program
 * @param {readonly string[]} args
 * @param {string} cwd
 */
const run = (program, args, cwd) =>
  execFileSync(program, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });

const folder = mkdtempSync(join(tmpdir(), 'decorum-recording-'));
const project = join(folder, 'greeter');
const packed = join(folder, 'packages');
try {
  run('npx', ['-y', packageManager, '--filter', './packages/*', 'pack', '--pack-destination', packed], ROOT);
  const create = join(ROOT, 'packages/create-decorum/bin/create-decorum.js');
  const created = run(process.execPath, [create, 'greeter', '--yes', '--packages', packed], folder);
  show(0, 'npm create decorum@latest greeter -- --yes', created);
  show(0, 'cd greeter && npm run dev');
  await develop();
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** Serves the project, calls its tool, edits it, and calls it again. */
async function develop() {
  const decorum = join(project, 'node_modules/.bin/decorum');
  // what `npm run dev` runs, without npm, which may leave it behind
  const child = spawn(decorum, ['dev', 'src/server.ts'], {
    cwd: project,
    env: { ...process.env, PORT: String(port) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  try {
    const printed = createInterface({ input: child.stderr })[Symbol.asyncIterator]();
    // "greeter 1.0.0   1 tool, …"
    const heard = async (/** @type {RegExp} */ pattern) => {
      for (;;) {
        const { value, done } = await printed.next();
        if (done === true) throw new Error('decorum dev ended.');
        if (pattern.test(value)) return value;
      }
    };
    child.stdout.resume();
    lines.push({ terminal: 0, after: 1, text: shown(await heard(/\d tool/)) });
    const args = ['inspect', `http://127.0.0.1:${port}/mcp`, 'call', 'greet', 'name=Ada'];
    const call = () => show(1, `npx decorum ${args.join(' ')}`, run(decorum, args, project));
    call();
    const file = join(project, 'src/server.ts');
    const source = readFileSync(file, 'utf8');
    show(1, "sed -i 's/Hello/Good morning/' src/server.ts");
    writeFileSync(file, source.replace('Hello', 'Good morning'));
    lines.push({ terminal: 0, after: 0.6, text: shown(await heard(/server\.ts/)) });
    call();
  } finally {
    child.kill('SIGTERM');
  }
}

const rowsOf = (/** @type {number} */ at) => lines.filter((line) => line.terminal === at).length;
const picture = terminal({
  title:
    'Two terminals. In the first, a project is created and served. In the second, its tool answers “Hello”. After an edit of the source, the same call answers “Good morning”.',
  columns: COLUMNS,
  terminals: [
    { name: 'the server', rows: rowsOf(0) },
    { name: 'a client', rows: rowsOf(1) },
  ],
  lines,
});
writeFileSync(join(ROOT, 'docs/pictures/first-server.svg'), picture);
