import { isDeepStrictEqual } from 'node:util';

import { startupError } from '@decorum/core/plugin';

import { differences, isAsymmetric } from '../matchers/show.js';
import type { Catalog } from './catalog.js';
import type { Choice } from './choose.js';

/** What a model should choose. */
export interface Expectation {
  /** The right tools; `none` if it should call no tool, `any` if all are right that aren't forbidden. */
  readonly tools: readonly string[] | 'none' | 'any';
  /** Some of the arguments. */
  readonly arguments: object | undefined;
  readonly forbidden: readonly string[];
}

/** How a choice compares with what was expected. */
export interface Judgment {
  readonly kind: 'right' | 'other' | 'arguments' | 'forbidden';
  /** What is wrong with the arguments. */
  readonly problems: readonly string[];
}

/** An expectation as a few words, such as `forecast or alerts`. */
export function wordsOf({ tools, forbidden }: Expectation): string {
  if (tools === 'any') return `not ${forbidden.join(' or ')}`;
  return tools === 'none' ? 'no tool' : tools.join(' or ');
}

const judgment = (kind: Judgment['kind'], problems: readonly string[] = []): Judgment => ({ kind, problems });

const CONTEXT = {
  equals: (value: unknown, expected: unknown): boolean =>
    isAsymmetric(expected) ? expected.asymmetricMatch(value) : isDeepStrictEqual(value, expected),
};

/** Compares a choice with what was expected. */
export function judge({ tool, arguments: args, problems }: Choice, expected: Expectation): Judgment {
  const { tools, forbidden, arguments: some = {} } = expected;
  if (tool !== undefined && forbidden.includes(tool)) return judgment('forbidden');
  if (tools === 'any') return judgment('right');
  if (tools === 'none') return judgment(tool === undefined ? 'right' : 'other');
  if (tool === undefined || !tools.includes(tool)) return judgment('other');
  const wrong = [...problems, ...differences(CONTEXT, some, { value: args, path: '' })];
  return judgment(wrong.length === 0 ? 'right' : 'arguments', wrong);
}

/** Where an expectation was written, for errors. */
export interface Written {
  readonly where: string;
  readonly option: string;
}

/**
 * Finds slips of the pen before the model is asked, which costs money.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION` for a tool that the server doesn't have, or doesn't list for the caller
 */
export function requireTools(catalog: Catalog, { tools, forbidden }: Expectation, { where, option }: Written): void {
  const unknown = typeof tools === 'string' ? undefined : tools.find((name) => !catalog.has(name));
  const unforbidden = forbidden.find((name) => !catalog.exists(name));
  const name = unknown ?? unforbidden;
  if (name === undefined) return;
  const meant = catalog.nearest(name);
  const remedy = meant === undefined ? 'Correct the name, or pass a `principal` who may see it' : `Write "${meant}"`;
  const problem = `names "${name}", which is no tool that the server lists for this caller. ${remedy}`;
  throw startupError('DECORUM_INVALID_OPTION', where, option, problem);
}
