import { execFile } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { EXIT_CODES } from 'create-decorum';

import { createProject, GREETER, type Project, ROOT, TSCONFIG } from './project.js';

let project: Project;
beforeEach(() => {
  project = createProject({
    'package.json': { name: 'greeter', type: 'module' },
    'tsconfig.json': TSCONFIG,
    'src/main.ts': GREETER.replace('export class', 'export default class'),
    'src/wrong.ts': `export const server = (undefined as unknown as { city: string }).city;`,
  });
});
afterEach(() => project.remove());

const COMMANDS = [
  'new',
  'dev',
  'start',
  'build',
  'install',
  'uninstall',
  'add',
  'hash-password',
  'inspect',
  'lock',
  'diff',
  'lint',
  'audit',
  'replay',
  'eval',
  'doctor',
];

/** The rows of the table in docs/reference/cli.md. */
function documented(): object[] {
  const page = readFileSync(join(ROOT, 'docs/reference/cli.md'), 'utf8');
  const [, section = ''] = page.split('\n## Exit codes\n');
  return [...section.matchAll(/^\| (\d+) \| (.+) \|$/gm)].map(([, code, meaning]) => ({ code: Number(code), meaning }));
}

describe('the exit codes', () => {
  it('are those of docs/reference/cli.md', () => {
    expect(documented()).toEqual(EXIT_CODES.map(({ code, meaning }) => ({ code, meaning })));
  });

  it('are 0 for the help, which fits 80 by 24, and for the version', async () => {
    const helps = [['--help'], ['help', 'start'], ...COMMANDS.map((command) => [command, '--help'])];
    const ended = await Promise.all([...helps, ['--version']].map((args) => project.decorum(args)));
    expect(ended.map(({ code, stderr }) => [code, stderr])).toEqual(ended.map(() => [0, '']));
    expect(ended.pop()?.stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
    const pages = ended.map(({ stdout }) => stdout.trimEnd().split('\n'));
    expect(pages.flat().filter((line) => line.length > 80)).toEqual([]);
    // one line is left for the prompt
    expect(pages.filter((lines) => lines.length >= 24)).toEqual([]);
  });

  it('are 2 for wrong usage', async () => {
    const wrong = [
      { args: [], says: 'Usage: decorum' },
      { args: ['serve'], says: "unknown command 'serve'" },
      { args: ['start', '--sdtio'], says: "unknown option '--sdtio'\n(Did you mean --stdio?)" },
      { args: ['build', '--mcpb', 'a', 'b'], says: 'too many arguments' },
      { args: ['start', 'src/nothing.ts'], says: 'There is no file src/nothing.ts' },
      { args: ['start', 'src/main.ts', 'src/other.ts'], says: 'Pass one entry.' },
      { args: ['start', '--stdio', '--http'], says: 'Pass either --stdio or --http' },
      { args: ['build', 'src/nothing.ts'], says: 'There is no file src/nothing.ts' },
      { args: ['inspect', 'src/nothing.ts'], says: 'There is no file src/nothing.ts' },
      { args: ['inspect', 'src/main.ts', 'lst'], says: 'There is no verb lst' },
      { args: ['inspect', 'http://127.0.0.1/mcp', '--', 'node'], says: 'Pass either' },
      { args: ['lock', 'src/nothing.ts'], says: 'There is no file src/nothing.ts' },
      { args: ['diff', 'src/nothing.ts'], says: 'There is no file src/nothing.ts' },
      { args: ['lint', 'src/nothing.ts'], says: 'There is no file src/nothing.ts' },
      { args: ['install', 'emacs'], says: 'There is no client emacs. Name one: claude-desktop, claude-code, cursor,' },
      { args: ['uninstall'], says: "missing required argument 'client'" },
      // others could see it in the list of processes
      { args: ['hash-password', 'hunter2'], says: 'too many arguments' },
    ];
    const ended = await Promise.all(wrong.map(({ args }) => project.decorum(args)));
    expect(ended).toEqual(wrong.map(({ says }) => ({ code: 2, stdout: '', stderr: expect.stringContaining(says) })));
  });

  it('are 2 in a folder without a program, with the files that were looked for', async () => {
    rmSync(join(project.folder, 'src'), { recursive: true });
    for (const command of ['start', 'build']) {
      const { code, stderr } = await project.decorum([command]);
      expect({ code, stderr }).toEqual({
        code: 2,
        stderr: expect.stringMatching(/^Name the file to run: .* src\/main\.ts, src\/server\.ts, src\/index\.ts\.\n$/),
      });
    }
  });

  it('are 3 for a program without a lock file to compare with', async () => {
    expect(await project.decorum(['diff'])).toEqual({
      code: 3,
      stdout: '',
      stderr: 'There is no decorum.lock.json. Write it with `decorum lock`, and commit it.\n',
    });
  });

  it('are 3 for a compiler that is not installed', async () => {
    rmSync(join(project.folder, 'node_modules/typescript'));
    expect(await project.decorum(['build'])).toEqual({
      code: 3,
      stdout: '',
      stderr: 'TypeScript is not installed here. Run `npm install -D typescript`.\n',
    });
  });
});

describe('all commands', () => {
  it('print a stack only with --debug', async () => {
    for (const command of ['start', 'build']) {
      const { code, stderr } = await project.decorum([command, 'src/wrong.ts']);
      expect({ code, hasStack: /^ +at /m.test(stderr) }).toEqual({ code: 1, hasStack: false });
    }
    for (const args of [
      ['--debug', 'start', 'src/wrong.ts'],
      ['start', 'src/wrong.ts', '--debug'],
    ]) {
      expect((await project.decorum(args)).stderr).toMatch(/^ +at .*src\/wrong\.ts:1:/m);
    }
    // it is an argument of the program
    expect((await project.decorum(['start', 'src/wrong.ts', '--', '--debug'])).stderr).not.toMatch(/^ +at /m);
  });

  it('end without a stack when nobody reads their output any more', async () => {
    const { child, ended } = project.start(['doctor']);
    child.stdout.destroy();
    expect(await ended).toEqual({ code: 130, stdout: '', stderr: '' });
  });

  it('print no colors with NO_COLOR, also if they would', async () => {
    const env = { NO_COLOR: '1', FORCE_COLOR: '' };
    for (const args of [['--help'], ['start', 'src/wrong.ts', '--debug']]) {
      const { stdout, stderr } = await project.decorum(args, { env });
      expect(stdout + stderr).not.toContain('\u001B[');
    }
  });

  it('run in the folder where npm was called', async () => {
    const cwd = project.folder;
    const printed = await new Promise<string>((resolve) => {
      const args = ['run', '-s', '--prefix', ROOT, 'decorum', '--', 'start', 'src/nothing.ts'];
      execFile('npm', args, { cwd, env: { ...process.env, INIT_CWD: cwd } }, (error, _stdout, stderr) => {
        resolve(`${(error as { code?: number } | null)?.code}: ${stderr}`);
      });
    });
    expect(printed).toContain(`2: There is no file src/nothing.ts in ${cwd}.`);
  });
});
