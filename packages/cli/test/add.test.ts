import { execFile } from 'node:child_process';
import { readFileSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';

import { createProject, type Project, ROOT } from '../../../test/packaging/project.js';
import { planAddition } from '../src/add/add.js';
import { KINDS } from '../src/add/names.js';
import { writeFiles } from '../src/add/write-files.js';
import { LEGACY, type Shape, STANDARD } from './add-shapes.js';

// compilers and test runners run in separate processes
jest.setTimeout(180_000);

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
afterAll(() => projects.forEach((project) => project.remove()));

/** A project whose tests run with `from`, a folder of test/packaging. */
function projectWith(from: string, options: { packageJson?: object; compilerOptions?: object } = {}): Project {
  const project = createProject({ from, tools: ['ts7', '@types/node', 'zod'] });
  for (const file of readdirSync(project.folder).filter((name) => name !== 'node_modules')) rmSync(project.path(file));
  project.write('package.json', JSON.stringify({ type: 'module', ...options.packageJson }));
  const compilerOptions = { ...STRICT, ...options.compilerOptions };
  project.write('tsconfig.json', JSON.stringify({ compilerOptions, include: ['src', 'test'] }));
  projects.push(project);
  return project;
}

const LEGACY_FLAGS = { experimentalDecorators: true, emitDecoratorMetadata: true };

/** Adds one member of each kind to a shape, in this process: one for each would take most of the time. */
async function addAll({ path }: Project, { file, line }: Shape): Promise<void> {
  const name = file.replace(/\..+$/, '');
  const given = path(`src/${file}`);
  let to = line === undefined ? given : `${given}:${line}`;
  const members = {
    tool: `${name}-alerts`,
    resource: `${name}_station`,
    prompt: `${name}Pack`,
    completion: `${name}Pack/topic`,
  };
  for (const kind of KINDS) {
    const { changes, report } = await planAddition({ kind, name: members[kind], to });
    writeFiles(changes);
    // the class is further down now: the first line of the report says where
    if (line !== undefined) to = `${given}:${/:(\d+) /.exec(report[0] ?? '')?.[1]}`;
  }
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
  beforeAll(() => {
    project = projectWith('vitest', { compilerOptions: LEGACY_FLAGS });
    for (const { file, text } of LEGACY) project.write(`src/${file}`, text);
  });

  it.each(LEGACY)('only adds lines to $about', async ({ isOneLine, ...shape }) => {
    await addAll(project, shape);
    const after = readFileSync(project.path(`src/${shape.file}`), 'utf8');
    // a body on one line has to be broken: there, only the characters stay
    expect(isOneLine ? isWithin(shape.text, after) : isWithin(linesOf(shape.text), linesOf(after))).toBe(true);
  });

  it('says where a test does without what the class needs', () => {
    const lineAbove = (file: string, code: string) =>
      new RegExp(`^ *// (.+)\\n.*${code}`, 'm').exec(readFileSync(project.path(`test/${file}.test.ts`), 'utf8'))?.[1];
    expect(lineAbove('decorated-alerts', 'Object.create')).toBe(
      'an instance that was never constructed: replace it when the code needs more',
    );
    expect(lineAbove('office-alerts', 'new Office')).toBe(
      '{} as never stands for what it needs: replace it when the code uses it',
    );
    expect(lineAbove('plain-alerts', 'new McpServer')).toBeUndefined();
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
  beforeAll(() => {
    project = projectWith('jest', { packageJson: { devDependencies: { jest: '^30' } } });
    const config = { ...swc({ decoratorVersion: '2022-03' }), extensionsToTreatAsEsm: ['.ts'] };
    project.write('jest.config.json', JSON.stringify(config));
    for (const { file, text } of STANDARD) project.write(`src/${file}`, text);
  });

  it.each(STANDARD)('only adds lines to $about', async (shape) => {
    await addAll(project, shape);
    const after = readFileSync(project.path(`src/${shape.file}`), 'utf8');
    expect(isWithin(linesOf(shape.text), linesOf(after))).toBe(true);
    expect(after).toMatch(/input: \w+AlertsInput/);
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
    // as of Node 22, a folder is no test
    const built = readdirSync(project.path('dist')).filter((file) => file.endsWith('.test.js'));
    const report = await project.run('node', ['--test', '--test-reporter=tap', ...built.map((file) => `dist/${file}`)]);
    expect(report).toMatch(/^# pass 5$/m);
  });
});
