import { afterEach, describe, expect, it } from '@jest/globals';
import { evaluate, type EvalQuestion, type Model } from '@decorum/testing';

import { requireUncalled, scripted, weather } from './servers.js';

afterEach(requireUncalled);

/** Chooses by question, and by how often it was asked. */
function answering(answers: Readonly<Record<string, readonly Awaited<ReturnType<Model>>[]>>): Model {
  const counts = new Map<string, number>();
  return ({ question }) => {
    const count = counts.get(question) ?? 0;
    counts.set(question, count + 1);
    return answers[question]?.[count % answers[question].length];
  };
}

const OSLO = { tool: 'forecast', arguments: { city: 'Oslo' } };
const NOW = { tool: 'current', arguments: { city: 'Oslo' } };

describe('evaluate', () => {
  it('asks each question as often as it should, and counts', async () => {
    const model = answering({ 'Rain?': [OSLO, OSLO, NOW, { tool: 'forecast', arguments: {} }], Bye: [undefined] });
    const questions: EvalQuestion[] = [
      { question: 'Rain?', tool: 'forecast', arguments: { city: 'Oslo' } },
      { question: 'Bye', tool: null },
    ];
    const report = await evaluate(questions, { server: weather(), model, repeat: 4 });
    expect(report).toMatchObject({ right: 6, chosen: 8, share: 0.75, forbidden: 0, failures: 0 });
    expect(report.questions).toEqual([
      {
        question: 'Rain?',
        expected: 'forecast',
        right: 2,
        chosen: 4,
        wrong: [
          { chosen: 'current', forbidden: false, problems: [], count: 1 },
          {
            chosen: 'forecast',
            forbidden: false,
            problems: [expect.stringMatching(/^city: /), expect.stringContaining('missing')],
            count: 1,
          },
        ],
        failures: [],
      },
      { question: 'Bye', expected: 'no tool', right: 4, chosen: 4, wrong: [], failures: [] },
    ]);
  });

  it.each([
    [6, 8, 0.409, 0.929],
    [8, 8, 0.676, 1],
    [0, 8, 0, 0.324],
  ])('has the interval of Wilson: %d of %d', async (right, chosen, low, high) => {
    const answers = Array.from({ length: chosen }, (_, at) => (at < right ? OSLO : NOW));
    const questions = [{ question: 'Rain?', tool: 'forecast' }];
    const report = await evaluate(questions, { server: weather(), model: scripted(...answers), repeat: chosen });
    expect(report.interval.low).toBeCloseTo(low, 3);
    expect(report.interval.high).toBeCloseTo(high, 3);
  });

  it('counts forbidden choices, also where every other tool is right', async () => {
    const model = scripted({ tool: 'reset' });
    const questions: EvalQuestion[] = [
      { question: 'Which data is old?', not: ['reset', 'unit'] },
      { question: 'Rain?', tool: 'forecast', not: 'reset' },
    ];
    const report = await evaluate(questions, { server: weather(), model, principal: { subject: 'ada' } });
    expect(report).toMatchObject({ right: 0, forbidden: 2 });
    expect(report.questions.map(({ expected }) => expected)).toEqual(['not reset or unit', 'forecast']);
    expect(report.questions[0]?.wrong).toEqual([{ chosen: 'reset', forbidden: true, problems: [], count: 1 }]);
  });

  it('goes on after a model that throws or hangs, and leaves these out of the share', async () => {
    const model: Model = async ({ question }) => {
      if (question === 'throws') throw new Error('no credit');
      return question === 'hangs' ? await new Promise<never>(() => {}) : OSLO;
    };
    const questions = ['throws', 'hangs', 'Rain?'].map((question) => ({ question, tool: 'forecast' }));
    const report = await evaluate(questions, { server: weather(), model, timeoutMs: 50, repeat: 2 });
    expect(report).toMatchObject({ right: 2, chosen: 2, share: 1, failures: 4 });
    expect(report.questions.map(({ failures }) => failures)).toEqual([
      [{ message: 'the model threw Error: no credit', count: 2 }],
      [{ message: 'the model has not chosen within 0.05 s', count: 2 }],
      [],
    ]);
  });

  it('asks no more at the same time than it may', async () => {
    let running = 0;
    let most = 0;
    const model: Model = async () => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setImmediate(resolve));
      running -= 1;
      return OSLO;
    };
    const questions = [{ question: 'Rain?', tool: 'forecast' }];
    await evaluate(questions, { server: weather(), model, repeat: 12, concurrency: 3 });
    expect(most).toBe(3);
  });

  it('ends with its signal', async () => {
    const stop = new AbortController();
    let asked = 0;
    const model: Model = async () => {
      asked += 1;
      stop.abort(new Error('enough'));
      return await new Promise<never>(() => {});
    };
    const questions = [{ question: 'Rain?', tool: 'forecast' }];
    const options = { server: weather(), model, repeat: 50, concurrency: 1, signal: stop.signal };
    await expect(evaluate(questions, options)).rejects.toThrow('enough');
    expect(asked).toBe(1);
  });

  it.each<[string, unknown, string]>([
    ['no questions', [], 'questions'],
    ['an empty question', [{ question: ' ', tool: 'unit' }], 'evaluate.questions[0]: `question`'],
    ['a misspelled field', [{ question: '?', tol: 'unit' }], 'evaluate.questions[0]: `tol`'],
    ['nothing that is right or wrong', [{ question: '?' }], 'evaluate.questions[0]: `tool`'],
    ['a tool that is a number', [{ question: '?', tool: 5 }], 'evaluate.questions[0]: `tool`'],
    ['an empty list of tools', [{ question: '?', tool: [] }], 'evaluate.questions[0]: `tool`'],
    ['arguments without a tool', [{ question: '?', tool: null, arguments: {} }], 'evaluate.questions[0]: `arguments`'],
    [
      'a tool that is right and forbidden',
      [{ question: '?', tool: 'unit', not: 'unit' }],
      'evaluate.questions[0]: `not`',
    ],
    [
      'an unknown tool',
      [
        { question: '?', tool: null },
        { question: '?', tool: 'units' },
      ],
      'evaluate.questions[1]: `tool`',
    ],
    ['an unknown tool in not', [{ question: '?', not: 'units' }], 'evaluate.questions[0]: `not`'],
  ])('rejects %s before it asks', async (_, questions, where) => {
    const model = scripted(OSLO);
    await expect(evaluate(questions as EvalQuestion[], { server: weather(), model })).rejects.toMatchObject({
      code: 'DECORUM_INVALID_OPTION',
      message: expect.stringContaining(where),
    });
    expect(model.asked).toEqual([]);
  });
});
