import type { JsonObject } from '@decorum/core';
import { isObject, revisionOf } from '@decorum/core/transport';

import type { ElicitAnswer, ElicitQuestion, ServerRequestHandlers } from './questions.js';

const ACTIONS: readonly unknown[] = ['accept', 'decline', 'cancel'];

/**
 * One answer of a script: the content of an accepted form, an action alone, a whole answer, or a function of the
 * question.
 */
export type ScriptedAnswer =
  | ElicitAnswer['action']
  | ElicitAnswer
  | JsonObject
  | ((question: ElicitQuestion) => ScriptedAnswer | Promise<ScriptedAnswer>);

/** Answers in order, for `onElicit`. */
export type Script = NonNullable<ServerRequestHandlers['onElicit']>;

/** What the client has to know of a script. */
interface Progress {
  /** @throws {Error} if the server has asked more than the script answers */
  requireComplete(): void;
  /**
   * @param revision that of the client
   * @throws {Error} if answers are missing, or left over
   */
  requireUsed(revision: string): void;
}

const scripts = new WeakMap<object, Progress & { readonly answers: readonly ScriptedAnswer[] }>();

/** The progress of a handler that `elicits` has made; undefined for any other. */
export function scriptOf(handler: ServerRequestHandlers['onElicit']): Progress | undefined {
  return handler && scripts.get(handler);
}

/** Starts the script of the handlers from its first answer, because several clients may get the same options. */
export function restarted<H extends ServerRequestHandlers>(handlers: H): H {
  const script = handlers.onElicit && scripts.get(handlers.onElicit);
  return script ? { ...handlers, onElicit: elicits(...script.answers) } : handlers;
}

/**
 * Scripts the user's answers, in the order of the questions. Each client starts with the first answer. A call that asks
 * for more rejects. `client.close()` rejects if the server has asked for less.
 * @param answers the content of the form, `accept`, `decline` or `cancel`, a whole answer, or a function of the question
 * @example
 * ```ts
 * import { connect, elicits } from '@decorum/testing';
 *
 * const client = await connect(server, { onElicit: elicits({ city: 'Oslo' }, 'decline') });
 * await client.callTool('book');
 * await client.close();
 * ```
 */
export function elicits(...answers: readonly ScriptedAnswer[]): Script {
  let used = 0;
  const surplus: string[] = [];
  const script: Script = async (question) => {
    const next = answers[used];
    used += 1;
    if (next !== undefined) return await answerOf(next, question);
    surplus.push(question.message);
    throw new Error(`The script has no answer to ${JSON.stringify(question.message)}.`);
  };
  const has = `elicits(…) has ${answers.length === 1 ? '1 answer' : `${answers.length} answers`}`;
  const requireComplete = () => {
    if (surplus.length === 0) return;
    const asked = surplus.map((message) => JSON.stringify(message)).join(', ');
    throw new Error(`${has}, but the server asked for more: ${asked}. Add an answer for each question.`);
  };
  const requireUsed = (revision: string) => {
    requireComplete();
    const left = answers.slice(used).map(shown);
    if (left.length === 0) return;
    const were = left.length === 1 ? '1 was not used' : `${left.length} were not used`;
    const why = canAsk(revision)
      ? "Remove what is left over, or find out why the server doesn't ask"
      : `Servers can't ask the user in ${revision}`;
    throw new Error(`${has}, but ${were}, because the server did not ask: ${left.join(', ')}. ${why}.`);
  };
  scripts.set(script, { answers, requireComplete, requireUsed });
  return script;
}

/** Whether a revision has questions for the user. */
function canAsk(revision: string): boolean {
  const params = { message: '', requestedSchema: { type: 'object', properties: {} } };
  return revisionOf(revision)?.question({ method: 'elicitation/create', params }) !== undefined;
}

async function answerOf(scripted: ScriptedAnswer, question: ElicitQuestion): Promise<ElicitAnswer> {
  if (typeof scripted === 'function') return await answerOf(await scripted(question), question);
  if (typeof scripted === 'string') return { action: scripted };
  return isAnswer(scripted) ? scripted : { action: 'accept', content: scripted };
}

/** A form may have a field called `action`, too, but hardly one that takes the name of an action and nothing else. */
const isAnswer = (scripted: object): scripted is ElicitAnswer =>
  isObject(scripted) &&
  ACTIONS.includes(scripted['action']) &&
  Object.keys(scripted).every((name) => name === 'action' || name === 'content');

const shown = (scripted: ScriptedAnswer): string =>
  typeof scripted === 'function' ? 'a function' : JSON.stringify(scripted);
