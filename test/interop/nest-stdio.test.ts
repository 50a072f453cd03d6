// What Nest applications print must not mix with the messages on stdout.
import { spawnSync } from 'node:child_process';

import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';

import { answers, compiled, conversation, createProject, type Project } from '../packaging/project.js';

// applications start in processes of their own
jest.setTimeout(60_000);

describe.each([
  ['Nest 11 in CommonJS', 'nest11', 'commonjs'],
  ['Nest 12 in ES modules', 'nest12', 'es6'],
] as const)('serveNestStdio in %s', (_version, folder, modules) => {
  let project: Project;
  beforeAll(() => {
    project = createProject({ from: folder });
    project.write('prints.js', compiled('nest-prints.ts', modules));
  });
  afterAll(() => project.remove());

  it.each(['default', 'levels', 'json'])('writes only messages to stdout, with the %s logger', async (mode) => {
    const stdout = await project.run(process.execPath, ['prints.js', mode], {
      input: conversation([
        ['now', {}],
        ['broken', {}],
      ]),
    });
    expect(answers(stdout).map(({ id }) => id)).toEqual([1, 2, 3, 4]);
    expect(stdout).toContain('Internal error (reference');
    expect(stdout).toContain('"text":"noon"');
    expect(stdout).not.toContain('printed');
  });

  it('fails with the error of a hook, which it prints to stderr', () => {
    const { status, stdout, stderr } = spawnSync(process.execPath, ['prints.js', 'failing'], { cwd: project.folder });
    expect(status).not.toBe(0);
    expect(String(stdout)).toBe('');
    expect(String(stderr)).toContain('printed by a hook');
  });
});
