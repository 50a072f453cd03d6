import { isObject } from '@decorum/core/internal';

import { TestClient } from '../client.js';
import { originOf } from '../origin.js';
import type { Question } from '@decorum/client';
import { failure, type Judge, type MatcherContext, verdict } from './matcher.js';
import { differences, indented, isText, show } from './show.js';

/** The texts of a question: the message for the user, or the messages for the model. */
function wordsOf({ params }: Question): readonly string[] {
  const { message, messages } = params;
  if (typeof message === 'string') return [message];
  if (!Array.isArray(messages)) return [];
  const blocks = messages.flatMap((each: unknown) => (isObject(each) ? [each['content']].flat() : []));
  return blocks.flatMap((block) => (isObject(block) && typeof block['text'] === 'string' ? [block['text']] : []));
}

function fits(context: MatcherContext, expected: unknown, question: Question): boolean {
  if (expected === undefined) return true;
  const { method, params } = question;
  if (isObject(expected) && !('asymmetricMatch' in expected) && !(expected instanceof RegExp)) {
    return differences(context, expected, { value: { method, ...params }, path: '' }).length === 0;
  }
  return wordsOf(question).some((words) => isText(context, expected, words));
}

const showQuestion = (question: Question): string => [question.method, ...wordsOf(question).map(show)].join(' ');

/** Whether the server has asked the user or the model, or has asked for the roots. */
export const asksFor: Judge<[expected?: unknown]> = (context, received, [expected]) => {
  const questions = received instanceof TestClient ? received.questions : originOf(received)?.questions;
  if (questions === undefined) {
    const found = received instanceof Error ? String(received) : show(received);
    return failure(context, `Pass a client, or what one of its calls returns. This is neither: ${found}`);
  }
  const wanted = expected === undefined ? 'for anything' : `for ${show(expected)}`;
  const asked = questions.length === 0 ? 'It asked nothing.' : `It asked:\n\n${indented(questions.map(showQuestion))}`;
  return verdict(
    questions.some((question) => fits(context, expected, question)),
    {
      otherwise: `The server did not ask ${wanted}. ${asked}`,
      negated: `The server asked ${wanted}, but should not have. ${asked}`,
    },
  );
};
