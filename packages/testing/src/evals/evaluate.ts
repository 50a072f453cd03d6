import { type OptionTypes, requireOptions } from '@decorum/core/plugin';

import { Catalog } from './catalog.js';
import { choose, ModelFailure, TIMEOUT_MS } from './choose.js';
import { ASKED, type ExpectToolOptions, requireAsked, serverOptions } from './expect-tool.js';
import { judge, type Judgment, wordsOf } from './expectation.js';
import { checkedQuestions, type CheckedQuestion, type EvalQuestion, requireQuestions } from './questions.js';
import { type EvalReport, type FailedChoice, type QuestionReport, reportOf, type WrongChoice } from './report.js';

/** Options of `evaluate`. */
export interface EvaluateOptions extends ExpectToolOptions {
  /** How often to ask each question, because models don't always choose the same. Defaults to 1. */
  readonly repeat?: number;
  /** How many questions to ask at the same time. Defaults to 4. */
  readonly concurrency?: number;
  /** Ends the evaluation. The promise rejects with the signal's reason. */
  readonly signal?: AbortSignal;
}

const OPTIONS: OptionTypes<EvaluateOptions> = {
  ...ASKED,
  repeat: [1, 1000],
  concurrency: [1, 100],
  signal: true,
};

/** The outcome of asking once: a judged choice, or why there is none. */
type Run = { readonly chosen: string; readonly judgment: Judgment } | { readonly failure: string };

async function run(catalog: Catalog, { question, expected }: CheckedQuestion, options: EvaluateOptions): Promise<Run> {
  const { model, timeoutMs = TIMEOUT_MS, signal } = options;
  try {
    const choice = await choose(catalog, { question, model, timeoutMs, signal });
    return { chosen: choice.tool ?? 'no tool', judgment: judge(choice, expected) };
  } catch (error) {
    signal?.throwIfAborted();
    return { failure: error instanceof ModelFailure ? error.message : String(error) };
  }
}

/** Counts what is alike, the most frequent first. */
function counted<T extends object>(all: readonly T[]): (T & { readonly count: number })[] {
  const groups = new Map<string, T & { count: number }>();
  for (const each of all) {
    const key = JSON.stringify(each);
    const group = groups.get(key) ?? { ...each, count: 0 };
    group.count += 1;
    groups.set(key, group);
  }
  return [...groups.values()].sort((a, b) => b.count - a.count);
}

function questionReport({ question, expected }: CheckedQuestion, runs: readonly Run[]): QuestionReport {
  const choices = runs.filter((each) => 'judgment' in each);
  const wrong = choices.filter(({ judgment: { kind } }) => kind !== 'right');
  const wrongly = ({ chosen, judgment: { kind, problems } }: (typeof wrong)[number]): Omit<WrongChoice, 'count'> => ({
    chosen,
    forbidden: kind === 'forbidden',
    problems,
  });
  const failed = runs.flatMap((each): Omit<FailedChoice, 'count'>[] =>
    'failure' in each ? [{ message: each.failure }] : [],
  );
  return {
    question,
    expected: wordsOf(expected),
    right: choices.length - wrong.length,
    chosen: choices.length,
    wrong: counted(wrong.map(wrongly)),
    failures: counted(failed),
  };
}

/** Does everything, so much at a time. */
async function inParallel<T, R>(all: readonly T[], limit: number, work: (each: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  const left = all.entries();
  const worker = async () => {
    for (const [at, each] of left) results[at] = await work(each);
  };
  await Promise.all(Array.from({ length: Math.min(limit, all.length) }, worker));
  return results;
}

/**
 * Asks a model a table of questions about a server, and counts what it chooses. No tool is called, except `search_tools` of
 * a server with the plugin `search()`. A model that throws or takes too long is in the report, and doesn't end the rest.
 * @param questions each with the tool that is right
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`, also for a tool that the server doesn't list for the caller
 * @example
 * ```ts
 * import { evaluate } from '@decorum/testing';
 *
 * const questions = [
 *   { question: 'Do I need an umbrella in Oslo?', tool: 'forecast', arguments: { city: 'Oslo' } },
 *   { question: 'Thanks, that was all', tool: null },
 * ];
 * const { share } = await evaluate(questions, { server, model, repeat: 5 });
 * ```
 */
export async function evaluate(questions: readonly EvalQuestion[], options: EvaluateOptions): Promise<EvalReport> {
  requireOptions('evaluate', options, OPTIONS);
  requireAsked('evaluate', options);
  requireQuestions(questions);
  const { repeat = 1, concurrency = 4 } = options;
  const catalog = await Catalog.open(serverOptions(options));
  try {
    const checked = checkedQuestions(questions, catalog);
    const all = checked.flatMap((each) => Array.from({ length: repeat }, () => each));
    const runs = await inParallel(all, concurrency, (each) => run(catalog, each, options));
    return reportOf(checked.map((each, at) => questionReport(each, runs.slice(at * repeat, (at + 1) * repeat))));
  } finally {
    await catalog.close();
  }
}
