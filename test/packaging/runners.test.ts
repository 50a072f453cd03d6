import { readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';

import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { transformSync } from '@swc/core';

import { createProject, type Project, ROOT, statuses } from './project.js';

// compilers and servers run in separate processes
jest.setTimeout(180_000);

let project: Project | undefined;
afterEach(() => project?.remove());

/** The configuration of docs/operate/running.md. */
function jestConfig(type: string): object {
  const [, json = ''] =
    /^## Jest$[^]*?```json\n([^]*?)```/m.exec(readFileSync(join(ROOT, 'docs/operate/running.md'), 'utf8')) ?? [];
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

/** The files that docs/guides/testing.md shows, by name. */
const shown = new Map(
  [...readFileSync(join(ROOT, 'docs/guides/testing.md'), 'utf8').matchAll(/^```\w+ file=(\S+)\n([^]*?)^```$/gm)].map(
    ([, name = '', text = '']) => [name, text],
  ),
);

describe('the tests of docs/guides/testing.md pass', () => {
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

describe("a user's tests of a server with DTOs run, with the matchers and targets of @decorum/testing", () => {
  const TESTS = ['matchers', 'targets'] as const;
  const here = (file: string) => join(ROOT, 'packages/testing/test', file);

  /** The tests of the package itself, for a runner. */
  const projectFor = (runner: 'jest' | 'vitest', tests: readonly string[] = TESTS) => {
    project = createProject({ from: runner, tools: ['ts7', '@types/node', 'fastify'] });
    for (const name of tests) {
      const text = readFileSync(here(`${name}.test.ts`), 'utf8');
      const adapted = text
        .replace('@jest/globals', runner)
        .replace('@decorum/testing/jest', `@decorum/testing/${runner}`);
      project.write(`${name}.spec.ts`, runner === 'jest' ? text : adapted);
    }
    for (const file of ['weather.js', 'weather.d.ts', 'stdio.js']) {
      project.write(`servers/${file}`, readFileSync(here(`servers/${file}`), 'utf8'));
    }
    project.write('package.json', JSON.stringify({ type: 'module' }));
    return project;
  };

  /** The messages of all failing matchers, as the runner stores them. */
  const snapshots = () => readFileSync(here('__snapshots__/matchers.test.ts.snap'), 'utf8');

  const failed = (report: string) => Object.entries(statuses(report)).filter(([, status]) => status !== 'passed');

  it('in Vitest, which reads parameter types by the tsconfig alone', async () => {
    const { run, write } = projectFor('vitest');
    const [group = ''] = /the message of a failing/.exec(snapshots()) ?? [];
    const stored = snapshots()
      .replace(/^.*\n/, '// Vitest Snapshot v1, https://vitest.dev/guide/snapshot.html\n')
      .replaceAll(`exports[\`${group} `, `exports[\`${group} > `);
    write('__snapshots__/matchers.spec.ts.snap', stored);
    const report = await run('node', ['node_modules/vitest/vitest.mjs', 'run', '--reporter=json'], {
      env: { CI: 'true' },
    });
    expect(failed(report)).toEqual([]);
    expect(statuses(report)).toHaveProperty(['calls a tool with a nested DTO'], 'passed');
  });

  /** For Jest's global `expect`. */
  const GLOBAL = `
    import '@decorum/testing/jest';
    import { connect } from '@decorum/testing';
    import { createServer } from './servers/weather.js';

    it('extends the global expect', async () => {
      const client = await connect(createServer());
      await expect(client).toHaveTool('map');
      await client.close();
    });
  `;

  const inJest = async ({ run, write }: Project, type: string) => {
    write('global.spec.ts', GLOBAL);
    write('package.json', JSON.stringify({ type }));
    write('jest.config.json', JSON.stringify(jestConfig(type)));
    write('__snapshots__/matchers.spec.ts.snap', snapshots());
    const args = ['node_modules/jest/bin/jest.js', '--ci', '--json', '--config', 'jest.config.json'];
    const env = { NODE_OPTIONS: type === 'module' ? '--experimental-vm-modules' : '' };
    const report = await run('node', args, { env });
    expect(failed(report)).toEqual([]);
    const kind = type === 'module' ? 'an ES module' : 'CommonJS';
    for (const title of [`calls a tool with a nested DTO, as ${kind}`, 'has the other entries too']) {
      expect(statuses(report)).toHaveProperty([title], 'passed');
    }
  };

  it('in Jest, as ES modules', async () => {
    await inJest(projectFor('jest'), 'module');
  });

  it('in Jest, as CommonJS', async () => {
    // a CommonJS test can't name a program by `import.meta.url`
    const own = projectFor('jest', ['matchers']);
    const { code } = transformSync(readFileSync(here('servers/weather.js'), 'utf8'), { module: { type: 'commonjs' } });
    own.write('servers/weather.js', code);
    await inJest(own, 'commonjs');
  });

  it.each(['vitest', 'jest'] as const)('with the types of %s', async (runner) => {
    const { run, write, path } = projectFor(runner);
    rmSync(path('shop.spec.ts'));
    // npm installs it beside `@jest/globals`
    if (runner === 'jest') symlinkSync(join(ROOT, 'packages/testing/node_modules/expect'), path('node_modules/expect'));
    const options = { module: 'nodenext', target: 'es2023', strict: true, noEmit: true, types: ['node'] };
    write('tsconfig.json', JSON.stringify({ compilerOptions: options, include: ['*.spec.ts'] }));
    expect(await run('node', ['node_modules/ts7/bin/tsc', '-p', '.'])).toBe('');
  });
});
