import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterEach, describe, expect, it, jest } from '@jest/globals';

import { createProject, type Project, ROOT } from './project.js';

// compilers and servers run in separate processes
jest.setTimeout(60_000);

let project: Project | undefined;
afterEach(() => project?.remove());

interface Report {
  readonly testResults: readonly { readonly assertionResults: readonly { title: string; status: string }[] }[];
}

/** The status of each test in the `--json` report of a runner. */
function statuses(report: string): Record<string, string> {
  const { testResults } = JSON.parse(report) as Report;
  const tests = testResults.flatMap(({ assertionResults }) => assertionResults);
  return Object.fromEntries(tests.map(({ title, status }) => [title, status]));
}

/** The configuration of docs/running.md. */
function jestConfig(type: string): object {
  const [, json = ''] =
    /^## Jest$[^]*?```json\n([^]*?)```/m.exec(readFileSync(join(ROOT, 'docs/running.md'), 'utf8')) ?? [];
  const config = JSON.parse(json) as { transform: Record<string, [string, object]> };
  const [pattern = '', [transformer, swc]] = Object.entries(config.transform)[0]!;
  const testMatch = ['**/*.spec.ts'];
  if (type === 'commonjs') return { ...config, testMatch };
  return {
    testMatch,
    extensionsToTreatAsEsm: ['.ts'],
    transform: { [pattern]: [transformer, { ...swc, module: undefined }] },
  };
}

describe("a user's tests of a server with DTOs run", () => {
  it.each([
    { kind: 'CommonJS', type: 'commonjs', NODE_OPTIONS: '' },
    { kind: 'an ES module', type: 'module', NODE_OPTIONS: '--experimental-vm-modules' },
  ])('in Jest, as $kind', async ({ kind, type, NODE_OPTIONS }) => {
    project = createProject({ from: 'jest', tools: ['fastify'] });
    project.write('package.json', JSON.stringify({ type }));
    project.write('jest.config.json', JSON.stringify(jestConfig(type)));
    const args = ['node_modules/jest/bin/jest.js', '--ci', '--json', '--config', 'jest.config.json'];
    expect(statuses(await project.run('node', args, { env: { NODE_OPTIONS } }))).toEqual({
      [`calls a tool with a nested DTO, as ${kind}`]: 'passed',
      'has the other entries too': 'passed',
    });
  });

  it('in Vitest, which reads parameter types by the tsconfig alone', async () => {
    project = createProject({ from: 'vitest' });
    const printed = await project.run('node', ['node_modules/vitest/vitest.mjs', 'run', '--reporter=json']);
    expect(statuses(printed)).toEqual({ 'calls a tool with a nested DTO': 'passed' });
  });
});
