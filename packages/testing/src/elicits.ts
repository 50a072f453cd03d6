import type { JsonObject } from '@decorum/core';
import { isObject, revisionOf } from '@decorum/core/internal';

import type { ElicitAnswer, ElicitQuestion } from '@decorum/client';
import type { ServerRequestHandlers } from './questions.js';

const ACTIONS: readonly unknown[] = ['accept', 'decline', 'cancel'];

/**
 * One answer of a script: the content of an accepted form, just an action, a complete answer, or a function of the
 * question.
 */
export type ScriptedAnswer =
  | ElicitAnswer['action']
  | ElicitAnswer
  | JsonObject
  | ((question: ElicitQuestion) => ScriptedAnswer | Promise<ScriptedAnswer>);

/** An `onElicit` handler that gives its answers in order. */
export type Script = NonNullable<ServerRequestHandlers['onElicit']>;

/** Checks that all answers of a script were used. */
interface Progress {
  /** @throws {Error} if the server asked more questions than the script has answers */
  requireComplete(): void;
  /**
   * @param revision the client's revision
   * @throws {Error} if answers are missing or unused
   */
  requireUsed(revision: string): void;
}

const scripts = new WeakMap<object, Progress & { readonly answers: readonly ScriptedAnswer[] }>();

/** The progress of a handler created by `elicits`; undefined for any other handler. */
export function scriptOf(handler: ServerRequestHandlers['onElicit']): Progress | undefined {
  return handler && scripts.get(handler);
}

/** Copies the handlers, with a script that starts over, because several clients may get the same options. */
export function restarted<H extends ServerRequestHandlers>(handlers: H): H {
  const script = handlers.onElicit && scripts.get(handlers.onElicit);
  return script ? { ...handlers, onElicit: elicits(...script.answers) } : handlers;
}

/**
 * Scripts the user's answers, in the order of the questions. Each client starts with the first answer. A call that asks
 * more questions than there are answers rejects. If answers are left, `client.close()` rejects.
 * @param answers the content of the form, `accept`, `decline` or `cancel`, a complete answer, or a function of the
 * question
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

/** Whether servers can ask the user in a revision. */
function canAsk(revision: string): boolean {
  const params = { message: '', requestedSchema: { type: 'object', properties: {} } };
  return revisionOf(revision)?.question({ method: 'elicitation/create', params }) !== undefined;
}

async function answerOf(scripted: ScriptedAnswer, question: ElicitQuestion): Promise<ElicitAnswer> {
  if (typeof scripted === 'function') return await answerOf(await scripted(question), question);
  if (typeof scripted === 'string') return { action: scripted };
  return isAnswer(scripted) ? scripted : { action: 'accept', content: scripted };
}

/** A form may have a field named `action` too, but hardly with one of these values and no field besides `content`. */
const isAnswer = (scripted: object): scripted is ElicitAnswer =>
  isObject(scripted) &&
  ACTIONS.includes(scripted['action']) &&
  Object.keys(scripted).every((name) => name === 'action' || name === 'content');

const shown = (scripted: ScriptedAnswer): string =>
  typeof scripted === 'function' ? 'a function' : JSON.stringify(scripted);
