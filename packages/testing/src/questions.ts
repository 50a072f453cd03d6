import { answer as answerByHandlers } from '@decorum/client/internal';
import type { ElicitAnswer, ElicitQuestion, Question, SampleAnswer, SampleQuestion } from '@decorum/client';
import { McpError, type Root } from '@decorum/core';

/** Handlers for the server's requests. Each one also declares the capability it implements. */
export interface ServerRequestHandlers {
  /** Plays the user who answers forms and URL requests. Declares `elicitation`. */
  readonly onElicit?: (question: ElicitQuestion) => ElicitAnswer | Promise<ElicitAnswer>;
  /**
   * Plays the client's model. A string stands for one text block. Declares `sampling`, which the specification
   * deprecates as of 2026-07-28.
   */
  readonly onSample?: (question: SampleQuestion) => string | SampleAnswer | Promise<string | SampleAnswer>;
  /** Returns the client's roots. Declares `roots`, which the specification deprecates as of 2026-07-28. */
  readonly onRoots?: () => readonly Root[] | Promise<readonly Root[]>;
}

const ASKING = { call: undefined, signal: new AbortController().signal, model: 'test-model' };

/**
 * Answers one request from the server.
 * @throws {McpError} `method-not-found` if there is no handler, or any error that the handler throws
 */
export async function answer(handlers: ServerRequestHandlers, question: Question): Promise<object> {
  const handled = await answerByHandlers(handlers, question, ASKING);
  if (handled !== undefined) return handled;
  const { method } = question;
  throw new McpError('method-not-found', `The test client has no handler for "${method}". Pass one to \`connect\`.`);
}
