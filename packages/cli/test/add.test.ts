import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, describe, expect, it, jest } from '@jest/globals';

import { createProject, type Project, ROOT } from '../../../test/packaging/project.js';
import { LEGACY, type Shape, STANDARD } from './add-shapes.js';

// compilers and test runners run in separate processes
jest.setTimeout(120_000);

const DECORUM = join(ROOT, 'packages/cli/bin/decorum.js');

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `decorum add …` in a folder. */
const add = (folder: string, ...args: string[]): Promise<Ended> =>
  new Promise((resolve) => {
    const child = execFile(process.execPath, [DECORUM, 'add', ...args], { cwd: folder }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
    );
    child.stdin?.end();
  });

const STRICT = {
  target: 'ES2022',
  module: 'NodeNext',
  strict: true,
  noUnusedLocals: true,
  noUnusedParameters: true,
  noImplicitOverride: true,
  noUncheckedIndexedAccess: true,
  noPropertyAccessFromIndexSignature: true,
  exactOptionalPropertyTypes: true,
  verbatimModuleSyntax: true,
  isolatedModules: true,
  skipLibCheck: true,
  types: ['node'],
};

const projects: Project[] = [];
afterAll(() => projects.forEach((project) => process.env['KEEP'] || project.remove()));

/** A project whose tests run with `from`, a folder of test/packaging. */
function projectWith(from: string, options: { packageJson?: object; compilerOptions?: object } = {}): Project {
  const project = createProject({ from, tools: ['ts7', '@types/node'] });
  for (const file of readdirSync(project.folder).filter((name) => name !== 'node_modules')) rmSync(project.path(file));
  project.write('package.json', JSON.stringify({ type: 'module', ...options.packageJson }));
  const compilerOptions = { ...STRICT, ...options.compilerOptions };
  project.write('tsconfig.json', JSON.stringify({ compilerOptions, include: ['src', 'test'] }));
  projects.push(project);
  return project;
}

const LEGACY_FLAGS = { experimentalDecorators: true, emitDecoratorMetadata: true };

/** Adds one member of each kind to each shape. */
async function addToAll(project: Project, shapes: readonly Shape[]): Promise<Ended[]> {
  const ended: Ended[] = [];
  for (const { file, text } of shapes) project.write(`src/${file}`, text);
  for (const { file, line } of shapes) {
    const name = file.replace(/\..+$/, '');
    const to = line === undefined ? `src/${file}` : `src/${file}:${line}`;
    ended.push(await add(project.folder, 'tool', `${name}-alerts`, '--to', to));
    // the first lines are new: the class is further down now
    const now = line === undefined ? to : /^(\S+)/.exec(ended.at(-1)!.stdout)![1]!;
    ended.push(await add(project.folder, 'resource', `${name}_station`, '--to', now));
    const again = line === undefined ? to : /^(\S+)/.exec(ended.at(-1)!.stdout)![1]!;
    ended.push(await add(project.folder, 'prompt', `${name}Pack`, '--to', again));
    const last = line === undefined ? to : /^(\S+)/.exec(ended.at(-1)!.stdout)![1]!;
    ended.push(await add(project.folder, 'completion', `${name}Pack/topic`, '--to', last));
  }
  return ended;
}

const linesOf = (text: string): string[] => text.split(/(?<=\n)/);

/** Whether all parts of `before` are in `after`, in their order. */
function isWithin(before: Iterable<string>, after: Iterable<string>): boolean {
  const rest = [...after][Symbol.iterator]();
  for (const part of before) {
    let next = rest.next();
    while (!next.done && next.value !== part) next = rest.next();
    if (next.done) return false;
  }
  return true;
}

const compile = (project: Project) => project.run('node', ['node_modules/ts7/bin/tsc', '--noEmit', '-p', '.']);

interface Report {
  readonly numPassedTests: number;
  readonly numTotalTests: number;
}

function expectAllPassed(report: string, count: number): void {
  const { numPassedTests, numTotalTests } = JSON.parse(report) as Report;
  expect({ numPassedTests, numTotalTests }).toEqual({ numPassedTests: count, numTotalTests: count });
}

describe('decorum add, with experimentalDecorators and vitest', () => {
  let project: Project;

  it('adds a member of each kind to every shape of class', async () => {
    project = projectWith('vitest', { compilerOptions: LEGACY_FLAGS });
    const ended = await addToAll(project, LEGACY);
    expect(ended.filter(({ code }) => code !== 0)).toEqual([]);
  });

  it.each(LEGACY)('only adds lines: $about', ({ file, text, isOneLine }) => {
    const after = readFileSync(project.path(`src/${file}`), 'utf8');
    expect(after.length).toBeGreaterThan(text.length);
    // a body on one line has to be broken: there, only the characters stay
    expect(isOneLine ? isWithin(text, after) : isWithin(linesOf(text), linesOf(after))).toBe(true);
  });

  it('gives code that compiles', async () => {
    await compile(project);
  });

  it('gives tests that pass', async () => {
    const args = ['node_modules/vitest/vitest.mjs', 'run', '--reporter=json', '--no-isolate', '--pool=threads'];
    expectAllPassed(await project.run('node', args), LEGACY.length * 4);
  });
});

const swc = (transform: object, more: object = {}) => ({
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  transform: {
    '\\.ts$': [
      '@swc/jest',
      { jsc: { target: 'es2022', parser: { syntax: 'typescript', decorators: true }, transform }, ...more },
    ],
  },
});

describe('decorum add, with standard decorators and jest', () => {
  let project: Project;

  it('adds members that name their DTO', async () => {
    project = projectWith('jest', { packageJson: { devDependencies: { jest: '^30' } } });
    const config = { ...swc({ decoratorVersion: '2022-03' }), extensionsToTreatAsEsm: ['.ts'] };
    project.write('jest.config.json', JSON.stringify(config));
    const ended = await addToAll(project, STANDARD);
    expect(ended.filter(({ code }) => code !== 0)).toEqual([]);
    expect(readFileSync(project.path('src/plain.ts'), 'utf8')).toContain('input: PlainAlertsInput');
  });

  it.each(STANDARD)('only adds lines: $about', ({ file, text }) => {
    expect(isWithin(linesOf(text), linesOf(readFileSync(project.path(`src/${file}`), 'utf8')))).toBe(true);
  });

  it('gives code that compiles', async () => {
    await compile(project);
  });

  it('gives tests that pass', async () => {
    const env = { NODE_OPTIONS: '--experimental-vm-modules' };
    const args = ['node_modules/jest/bin/jest.js', '--ci', '--json'];
    expectAllPassed(await project.run('node', args, { env }), STANDARD.length * 4);
  });
});

const CLOCK = `import { Tool } from '@decorum/core';

export class Clock {
  @Tool() now() {
    return 'noon';
  }
}
`;

describe('decorum add, in a project with tests of its own', () => {
  it('writes tests for jest in CommonJS, where the others are', async () => {
    const project = projectWith('jest', {
      packageJson: { type: 'commonjs', scripts: { test: 'jest' } },
      compilerOptions: {
        ...LEGACY_FLAGS,
        module: 'CommonJS',
        moduleResolution: 'bundler',
        verbatimModuleSyntax: false,
      },
    });
    const module = { module: { type: 'commonjs' } };
    const config = swc({ legacyDecorator: true, decoratorMetadata: true }, module);
    project.write('jest.config.json', JSON.stringify({ ...config, moduleNameMapper: {} }));
    project.write('src/clock.ts', CLOCK);
    const mine =
      "import { expect, it } from '@jest/globals';\nimport { Clock } from '../clock';\n\nit('is', () => expect(Clock).toBeDefined());\n";
    project.write('src/__tests__/clock.spec.ts', mine);
    const { code, stdout } = await add(project.folder, 'tool', 'alarm');
    expect(code).toBe(0);
    expect(stdout).toContain('src/__tests__/alarm.spec.ts:1  its test: npm test -- src/__tests__/alarm.spec.ts\n');
    await compile(project);
    expectAllPassed(await project.run('node', ['node_modules/jest/bin/jest.js', '--ci', '--json']), 2);
  });

  it("writes tests for Node's own runner", async () => {
    const project = projectWith('jest', {
      packageJson: { scripts: { test: 'node --test dist' } },
      compilerOptions: { ...LEGACY_FLAGS, rootDir: 'src', outDir: 'dist' },
    });
    project.write('src/clock.ts', CLOCK);
    project.write('src/clock.test.ts', "import test from 'node:test';\n\ntest('is', () => {});\n");
    const names = ['tool alarm', 'resource zone', 'prompt plan', 'completion plan/topic'];
    for (const name of names) expect(await add(project.folder, ...name.split(' '))).toMatchObject({ code: 0 });
    project.write('tsconfig.json', readFileSync(project.path('tsconfig.json'), 'utf8').replace(',"test"', ''));
    await project.run('node', ['node_modules/ts7/bin/tsc', '-p', '.']);
    expect(await project.run('node', ['--test', 'dist'])).toMatch(/^# pass 5$/m);
  });
});
