// What `decorum dev` does on machines that lack what others have.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { afterEach, expect, it } from '@jest/globals';

import { CLOCK, createProject, type Project, ROOT, TSCONFIG } from './project.js';

let project: Project;
afterEach(() => project.remove());

const FILES = {
  'package.json': { name: 'clock', type: 'module' },
  'tsconfig.json': TSCONFIG,
  'src/main.ts': CLOCK.replace('export class', 'export default class'),
};

/** Fails as libuv does for a user without HOME who isn't in the list of users. */
const HOMELESS = `
delete process.env.HOME;
require('node:os').homedir = () => {
  throw new Error('A system error occurred: uv_os_homedir returned ENOENT (no such file or directory)');
};`;

it('decorum dev serves for a user without a home folder, for whom npm does not start (#23)', async () => {
  project = createProject({ ...FILES, 'homeless.cjs': HOMELESS });
  const NODE_OPTIONS = `--require ${join(project.folder, 'homeless.cjs')}`;
  const running = project.start(['dev', '--port', '0'], { NODE_OPTIONS });
  await running.printed(/clock 1\.0\.0 {3}1 tool {3}http/);
  const npm = promisify(execFile)('npm', ['--version'], { env: { ...process.env, NODE_OPTIONS }, cwd: ROOT });
  await expect(npm).rejects.toMatchObject({ stderr: expect.stringContaining('uv_os_homedir returned ENOENT') });
});

it('decorum dev --check prints type errors while the program runs, and nothing of a cache that it can not write (#23)', async () => {
  project = createProject({
    ...FILES,
    'src/wrong.ts': `export const wrong: number = 'x';\n`,
    'node_modules/.cache': 'a file, where the folder would be',
  });
  const running = project.start(['dev', '--check', '--port', '0']);
  await running.printed(/src\/wrong\.ts:1:14 {2}Type 'string' is not assignable to type 'number'\. \[TS2322\]\n/);
  await running.printed(/clock 1\.0\.0/);
  running.child.kill('SIGTERM');
  expect((await running.ended).stderr).not.toContain('TS5033');
});
