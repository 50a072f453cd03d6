import type { JsonObject } from '@decorum/core';
import { isObject } from '@decorum/core/internal';

import type { Catalog, TakenCall } from './catalog.js';
import type { Model, ModelStep } from './model.js';

/** What a model has chosen. */
export interface Choice {
  /** The tool; undefined if none. A call through `call_tool` counts as one of its target, an alias as its tool. */
  readonly tool: string | undefined;
  readonly arguments: JsonObject;
  /** Why the server would refuse the call. Empty if it would accept it. */
  readonly problems: readonly string[];
  /** The searches before the choice. */
  readonly steps: readonly ModelStep[];
}

/** A question to a model. */
export interface Asking {
  readonly question: string;
  readonly model: Model;
  /** Milliseconds for the choice, with all searches. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** A model that searches more often doesn't see what it has found, or finds nothing. */
const MAX_SEARCHES = 4;

/** The default time for a choice. */
export const TIMEOUT_MS = 60_000;

/** Why there is no choice: the model threw, took too long, or returned something else. */
export class ModelFailure extends Error {
  override readonly name = 'ModelFailure';
}

/**
 * Lets a model choose a tool. No tool is called, except one that finds others.
 * @throws {ModelFailure}
 */
export async function choose(catalog: Catalog, asking: Asking): Promise<Choice> {
  const { timeoutMs, signal } = asking;
  signal?.throwIfAborted();
  const stop = new AbortController();
  return await new Promise<Choice>((resolve, reject) => {
    const end = (reason: unknown) => {
      stop.abort(reason);
      reject(reason as Error);
    };
    // it keeps the process alive, which a model that hangs may not
    const timer = setTimeout(
      () => end(new ModelFailure(`the model has not chosen within ${timeoutMs / 1000} s`)),
      timeoutMs,
    );
    const abort = () => end(signal?.reason);
    signal?.addEventListener('abort', abort);
    void inSteps(catalog, asking, stop.signal)
      .then(resolve, reject)
      .finally(() => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', abort);
      });
  });
}

async function inSteps(catalog: Catalog, asking: Asking, signal: AbortSignal): Promise<Choice> {
  const steps: ModelStep[] = [];
  for (;;) {
    const call = await ask(catalog, asking, { steps, signal });
    if (call === undefined) return { tool: undefined, arguments: {}, problems: [], steps };
    const { tool, args } = call;
    if (typeof args === 'string') return { ...(await catalog.take(tool, {})), problems: [args], steps };
    if (!catalog.isSearch(tool)) return { ...(await catalog.take(tool, args)), steps };
    if (steps.length === MAX_SEARCHES) return { ...searched(tool, args), steps };
    steps.push({ tool, arguments: args, result: await catalog.search(args, signal) });
  }
}

const searched = (tool: string, args: JsonObject): TakenCall => ({
  tool,
  arguments: args,
  problems: [
    `the model searched ${MAX_SEARCHES} times, and then once more. If it never sees what it finds, add \`steps\` to its messages`,
  ],
});

interface Asked {
  readonly steps: readonly ModelStep[];
  readonly signal: AbortSignal;
}

interface Call {
  readonly tool: string;
  /** A problem, if they can't be read. */
  readonly args: JsonObject | string;
}

async function ask(
  { shown, instructions }: Catalog,
  { question, model }: Asking,
  { steps, signal }: Asked,
): Promise<Call | undefined> {
  let answer: unknown;
  try {
    const given = { question, tools: shown, steps: [...steps], signal };
    answer = await model(instructions === undefined ? given : { ...given, instructions });
  } catch (cause) {
    throw new ModelFailure(`the model threw ${String(cause)}`, { cause });
  }
  if (answer === undefined || answer === null) return undefined;
  if (!isObject(answer) || (answer['tool'] !== undefined && typeof answer['tool'] !== 'string')) {
    const shownAnswer = JSON.stringify(answer)?.slice(0, 200);
    throw new ModelFailure(`the model returned ${shownAnswer}. Return { tool, arguments }, or undefined for no tool`);
  }
  const { tool, arguments: args = {} } = answer;
  return tool === undefined ? undefined : { tool, args: readArguments(args) };
}

function readArguments(given: unknown): JsonObject | string {
  let args = given;
  try {
    // as JSON would carry it
    args = JSON.parse(typeof given === 'string' ? given || '{}' : JSON.stringify(given));
  } catch {
    return `the arguments are no JSON: ${String(given).slice(0, 200)}`;
  }
  return isObject(args) ? args : `the arguments are no object: ${JSON.stringify(args)?.slice(0, 200)}`;
}
