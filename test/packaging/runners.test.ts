import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import { afterEach, describe, expect, it, jest } from '@jest/globals';

import { createProject, type Project, ROOT } from './project.js';

// compilers and servers run as processes of their own
jest.setTimeout(60_000);

let project: Project | undefined;
afterEach(() => project?.remove());

interface Report {
  readonly testResults: readonly { readonly assertionResults: readonly { title: string; status: string }[] }[];
}

/** What a runner reports by `--json`: each test with its status. */
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

/** The files that docs/testing.md shows, by name. */
const shown = new Map(
  [...readFileSync(join(ROOT, 'docs/testing.md'), 'utf8').matchAll(/^```\w+ file=(\S+)\n([^]*?)^```$/gm)].map(
    ([, name = '', text = '']) => [name, text],
  ),
);

describe('the tests of docs/testing.md pass', () => {
  const projectOf = (from: string, ...files: string[]) => {
    project = createProject({ from });
    rmSync(project.path('shop.spec.ts'));
    for (const name of ['src/greeter.ts', ...files]) project.write(name, shown.get(name) ?? '');
    return project;
  };

  it('in Vitest, without configuration', async () => {
    const { run, write } = projectOf('vitest', 'test/greeter.test.ts');
    const compilerOptions = { experimentalDecorators: true, emitDecoratorMetadata: true };
    write('tsconfig.json', JSON.stringify({ compilerOptions, include: ['src', 'test'] }));
    expect(statuses(await run('node', ['node_modules/vitest/vitest.mjs', 'run', '--reporter=json']))).toEqual({
      'greets by name': 'passed',
      'tells the model what is wrong': 'passed',
    });
  });

  it('in Jest, with the configuration of the page', async () => {
    const { run, write } = projectOf('jest', 'test/greeter.spec.ts', 'jest.config.json');
    write('package.json', JSON.stringify({ type: 'module' }));
    const env = { NODE_OPTIONS: '--experimental-vm-modules' };
    expect(statuses(await run('node', ['node_modules/jest/bin/jest.js', '--ci', '--json'], { env }))).toEqual({
      'greets by name': 'passed',
    });
  });
});
