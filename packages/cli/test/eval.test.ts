import { rmSync } from 'node:fs';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

import { createProject, GREETER, type Project } from './project.js';

/** A model that is right about greetings, and answers by the words of the other questions. */
const MODEL = `
import type { Model } from '@decorum/testing';

let asked = 0;
export const model: Model = async ({ question }) => {
  asked += 1;
  if (question.includes('throw')) throw new Error(\`no \${process.env.CREDIT ?? 'credit'}\`);
  if (question.includes('hang')) return await new Promise<never>(() => {});
  if (question.includes('Hello')) return { tool: 'greet', arguments: { name: asked === 2 ? 5 : 'Ada' } };
  return question.includes('farewell') ? { tool: 'greet', arguments: { name: 'Ada' } } : undefined;
};
`;

const evals = (questions: string): string => `
import type { EvalQuestion } from '@decorum/testing';
import { Greeter } from '../src/main.js';

export { model } from './model.js';
export const server = new Greeter();
export const questions: EvalQuestion[] = [${questions}];
process.stdout.write('to be kept out of the report\\n');
`;

const HELLO = "{ question: 'Say Hello to Ada', tool: 'greet', arguments: { name: 'Ada' } }";
const BYE = "{ question: 'Bye', tool: null }";

let project: Project;
beforeEach(() => {
  project = createProject({
    'package.json': { type: 'module' },
    'src/main.ts': GREETER,
    'evals/model.ts': MODEL,
    'evals/greeter.ts': evals(`${HELLO}, ${BYE}`),
  });
});
afterEach(() => project.remove());

describe('decorum eval', () => {
  it('prints how often each question is answered right, what was chosen instead and the total', async () => {
    const args = ['eval', 'evals/greeter.ts', '--repeat', '4', '--min', '0.8', '--concurrency', '1'];
    const { code, stdout } = await project.decorum(args);
    expect(stdout.split('\n')).toEqual([
      'QUESTION          EXPECTED  RIGHT  INSTEAD',
      expect.stringMatching(/^Say Hello to Ada {2}greet {5}3\/4 {4}greet 1 \(name: /),
      'Bye               no tool   4/4',
      '',
      '7 of 8 right: 87.5 % (52.9 % to 97.8 % with 95 % confidence)',
      '',
    ]);
    expect(code).toBe(0);
  });

  it('exits with 1 below the minimum, which is 0.9', async () => {
    project.write({ 'evals/greeter.ts': evals(`${HELLO}, ${BYE}, { question: 'Bye', tool: 'greet' }`) });
    const { code, stdout } = await project.decorum(['eval', 'evals/greeter.ts']);
    expect(stdout).toContain('2 of 3 right: 66.7 %');
    expect(stdout).toContain(', less than 90 %\n');
    expect(code).toBe(1);
  });

  it('exits with 1 for a forbidden tool, whatever the minimum', async () => {
    project.write({ 'evals/greeter.ts': evals("{ question: 'A farewell', not: 'greet' }") });
    const { code, stdout } = await project.decorum(['eval', 'evals/greeter.ts', '--min', '0']);
    expect(stdout).toContain('not greet  0/1    greet 1 (forbidden)');
    expect(code).toBe(1);
  });

  it('shows a model that throws or hangs, asks the rest, and exits with 10', async () => {
    const others = "{ question: 'throw', tool: null }, { question: 'hang', tool: null }";
    project.write({ 'evals/greeter.ts': evals(`${others}, ${HELLO}`), '.env': 'CREDIT=money\n' });
    const { code, stdout } = await project.decorum(['eval', 'evals/greeter.ts', '--timeout', '0.5']);
    expect(stdout).toContain('no tool   0/0    failed 1 (the model threw Error: no money)');
    expect(stdout).toContain('no tool   0/0    failed 1 (the model has not chosen within 0.5 s)');
    expect(stdout).toMatch(/^1 of 1 right: 100 % \(.*\), 2 failed$/m);
    expect(code).toBe(10);
  });

  it('prints the report as JSON', async () => {
    const { code, stdout } = await project.decorum(['eval', 'evals/greeter.ts', '--json']);
    expect(JSON.parse(stdout)).toMatchObject({
      passed: true,
      min: 0.9,
      share: 1,
      questions: [{ question: 'Say Hello to Ada', right: 1, wrong: [], failures: [] }, { expected: 'no tool' }],
    });
    expect(code).toBe(0);
  });

  it('says which question has a mistake', async () => {
    project.write({ 'evals/greeter.ts': evals("{ question: 'Hello', tool: 'gret' }") });
    expect(await project.decorum(['eval', 'evals/greeter.ts'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('evaluate.questions[0]: `tool` names "gret"'),
    });
  });

  it.each([
    ['server', 'export { model } from "./model.js"; export const questions = [];'],
    ['model', 'export { Greeter as default } from "../src/main.js"; export const questions = [];'],
    ['questions', 'export { Greeter as default } from "../src/main.js"; export { model } from "./model.js";'],
  ])('says how to export a %s', async (name, source) => {
    project.write({ 'evals/lacking.ts': source });
    expect(await project.decorum(['eval', 'evals/lacking.ts'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`evals/lacking.ts exports no ${name}. Export `),
    });
  });

  it('exits with 2 for wrong usage, and with 3 without the test kit', async () => {
    const wrong = [['eval'], ['eval', 'nothing.ts'], ['eval', 'evals/greeter.ts', '--min', '90']];
    for (const args of wrong) expect((await project.decorum(args)).code).toBe(2);
    rmSync(join(project.folder, 'node_modules/@decorum'));
    project.write({
      'evals/bare.ts': 'export const server = "http://127.0.0.1:9/mcp", model = () => {}, questions = [];',
    });
    expect(await project.decorum(['eval', 'evals/bare.ts'])).toEqual({
      code: 3,
      stdout: '',
      stderr: expect.stringContaining('npm install -D @decorum/testing'),
    });
  });
});
