import { type JsonObject, McpError } from '@decorum/core';

import type { Refusal, TaskQuestion } from './task.js';

/** Cap on the characters of a status message. Each description of a task has it. */
const MAX_MESSAGE_CHARS = 1000;

/** Cap on the characters of `_meta`, and of the data of an error, that are kept with a task. */
const MAX_KEPT_CHARS = 8192;

/** Cap on the characters of all answers of a task as JSON. */
const MAX_ANSWERS_CHARS = 1024 * 1024;

/** Cap on the questions of a task: the 100 of a call, each of which may be asked again four times. */
export const MAX_QUESTIONS = 500;

/** The beginning of a text that is too long for a status message. */
export function shortened(text: string): string {
  if (text.length <= MAX_MESSAGE_CHARS) return text;
  // without half of a character
  return `${text.slice(0, MAX_MESSAGE_CHARS - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

/** Cap on the characters of the arguments of all tasks that run in this process, as JSON. */
export const MAX_RUNNING_CHARS = 64 * 1024 * 1024;

/** The characters of a value as JSON. */
export const sizeOf = (value: unknown): number => JSON.stringify(value)?.length ?? 0;

/** @throws {McpError} `invalid-params` if the `_meta` of a call is too long to be kept */
export function requireShortMeta(meta: JsonObject | undefined): void {
  if (sizeOf(meta) <= MAX_KEPT_CHARS) return;
  throw new McpError('invalid-params', `The "_meta" of a task can have at most ${MAX_KEPT_CHARS} characters.`);
}

/** @throws {McpError} `invalid-params` if the answers of a task are too long to be kept */
export function requireShortAnswers(questions: readonly TaskQuestion[]): void {
  if (questions.reduce((sum, { answer }) => sum + sizeOf(answer), 0) <= MAX_ANSWERS_CHARS) return;
  throw new McpError('invalid-params', `The answers of a task can have at most ${MAX_ANSWERS_CHARS} characters.`);
}

/** The error that a client answered with, as far as it is kept. */
export const shortRefusal = ({ message, code, data }: Refusal): Refusal => ({
  message: shortened(message),
  code,
  ...(data !== undefined && sizeOf(data) <= MAX_KEPT_CHARS && { data }),
});
