import { requireOptions, startupError, type OptionTypes } from '@decorum/core/plugin';

import { type Catalog } from './catalog.js';
import { type Expectation, requireTools } from './expectation.js';

/** A question of users, and what is right to choose for it. */
export interface EvalQuestion {
  /** What a user might say. */
  readonly question: string;
  /** The right tool, or several that are equally right. `null`: no tool. If it is missing, all are right but those in `not`. */
  readonly tool?: string | readonly string[] | null;
  /** Some of the arguments. */
  readonly arguments?: object;
  /** A tool that must not be chosen, or several. */
  readonly not?: string | readonly string[];
}

const QUESTION: OptionTypes<EvalQuestion> = { question: 'string', tool: true, arguments: 'object', not: true };

/** A question that was checked. */
export interface CheckedQuestion {
  readonly question: string;
  readonly expected: Expectation;
}

const isName = (value: unknown): value is string => typeof value === 'string' && value !== '';

/** @throws {DecorumError} `DECORUM_INVALID_OPTION` */
function namesIn(value: unknown, where: string, option: string): readonly string[] {
  const names: unknown = typeof value === 'string' ? [value] : value;
  if (Array.isArray(names) && names.length > 0 && names.every(isName)) return names;
  const none = option === 'tool' ? ', or null for no tool' : '';
  throw startupError('DECORUM_INVALID_OPTION', where, option, `is no name. Write one, several in an array${none}`);
}

/**
 * Reads what is right.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 */
function expectationOf({ tool, arguments: args, not }: EvalQuestion, where: string): Expectation {
  const forbidden = not === undefined ? [] : namesIn(not, where, 'not');
  const tools = tool === undefined ? 'any' : tool === null ? 'none' : namesIn(tool, where, 'tool');
  const invalid = (option: string, problem: string) => startupError('DECORUM_INVALID_OPTION', where, option, problem);
  if (tools === 'any' && not === undefined) {
    throw invalid('tool', 'is missing. Write the right tool, null for none, or `not` with those that are wrong');
  }
  if (typeof tools === 'string' && args !== undefined) throw invalid('arguments', 'needs `tool`. Add it');
  const both = typeof tools === 'string' ? undefined : tools.find((name) => forbidden.includes(name));
  if (both !== undefined) throw invalid('not', `has "${both}", which is a right tool, too. Remove it from one of them`);
  return { tools, arguments: args, forbidden };
}

/**
 * Checks all questions before the first one is asked.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 */
export function checkedQuestions(given: readonly EvalQuestion[], catalog: Catalog): readonly CheckedQuestion[] {
  return given.map((each, at) => {
    const where = `evaluate.questions[${at}]`;
    requireOptions(where, each, QUESTION);
    const { question } = each;
    if (!isName(question) || question.trim() === '') {
      throw startupError('DECORUM_INVALID_OPTION', where, 'question', 'is empty. Write what a user might say');
    }
    const expected = expectationOf(each, where);
    requireTools(catalog, expected, { where, option: expected.tools === 'any' ? 'not' : 'tool' });
    return { question, expected };
  });
}

/** @throws {DecorumError} `DECORUM_INVALID_OPTION` if there are none */
export function requireQuestions(given: unknown): asserts given is readonly EvalQuestion[] {
  if (Array.isArray(given) && given.length > 0) return;
  const example = "[{ question: 'Will it rain?', tool: 'forecast' }]";
  throw startupError(
    'DECORUM_INVALID_OPTION',
    'evaluate',
    'questions',
    `are missing. Pass an array, such as ${example}`,
  );
}
