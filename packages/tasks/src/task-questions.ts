import { createHash } from 'node:crypto';

import type { Question } from '@decorum/core/plugin';

import { MAX_QUESTIONS } from './limits.js';
import { isOpen, type TaskQuestion } from './task.js';

const REMEDY = 'Check its handler for an endless loop.';

/** A question that the handler asks. */
export interface Asked {
  /** What the handler knows it by: its own key, or `#` and its position. */
  readonly name: string;
  /** Tells whether a handler that runs again asks the same question. */
  readonly digest: string;
  readonly question: Question;
}

/** A question with its digest. */
export const askedAs = (name: string, question: Question): Asked => {
  const { method, identity, params } = question;
  const digest = createHash('sha256')
    .update(JSON.stringify([method, identity ?? params]))
    .digest('base64url');
  return { name, digest, question };
};

/** What is known of a question: each time that it was asked. */
export const knownOf = (questions: readonly TaskQuestion[], { name, digest }: Asked): readonly TaskQuestion[] =>
  questions.filter((each) => each.name === name && each.digest === digest && each.isWithdrawn !== true);

/**
 * Adds a question, with a key that no other question of the task has. A handler that runs again may ask something else
 * in its place: what it asked before is withdrawn.
 * @param unfit the key with which it was asked before, if the answer does not fit
 */
export function withQuestion(
  questions: readonly TaskQuestion[],
  asked: Asked,
  unfit?: string,
): readonly TaskQuestion[] {
  const { name, digest, question } = asked;
  // the write before this one may have arrived, although it failed
  if (knownOf(questions, asked).at(-1)?.key !== unfit) return questions;
  if (questions.length >= MAX_QUESTIONS) throw new Error(`A task asked ${MAX_QUESTIONS} questions. ${REMEDY}`);
  const taken = new Set(questions.map(({ key }) => key));
  const plain = name.startsWith('#') ? `question-${name.slice(1)}` : name;
  let key = plain;
  for (let count = 2; taken.has(key); count += 1) key = `${plain}~${count}`;
  const { method, params } = question;
  const others = questions.map((each) => (each.name === name && isOpen(each) ? { ...each, isWithdrawn: true } : each));
  return [...others, { name, key, digest, question: { method, params } }];
}
