import { QuestionError, type Context, type JsonObject, McpError } from '@decorum/core';

import { type Answer, RawClient, textOf } from '../support/raw-client.js';
import type { Revision } from '../support/requirements.js';
import { type Handler, serverWith } from './servers.js';

/** A handler's question. */
export type Asking = (context: Context) => Promise<unknown>;

/** Outcome of a question. */
export interface Asked {
  /** What the handler returned or threw; `asked again` if the client's answer was invalid. */
  readonly said: string;
  /** The questions that the client received. */
  readonly questions: RawClient['questions'];
  readonly client: RawClient;
}

/** A tool handler that returns the outcome of a question. */
export const outcome =
  (question: Asking): Handler =>
  async (context) => {
    try {
      return JSON.stringify(await question(context));
    } catch (error) {
      if (error instanceof QuestionError) return `client error ${String(error.code)}`;
      if (error instanceof McpError) return `mcp error ${error.kind}`;
      return `${(error as Error).name}: ${(error as Error).message}`;
    }
  };

/** Answers each question once, and stays silent if it is asked again. */
function onceEach(answer: Answer): Answer {
  const known = new Set<string>();
  return (params, id) => {
    const question = JSON.stringify(params);
    if (known.has(question)) return undefined;
    known.add(question);
    return answer(params, id);
  };
}

/** Options of `ask`. */
export interface AskOptions {
  readonly capabilities: JsonObject;
  /** The client's answer to any question. Without it, questions stay unanswered. */
  readonly answer?: Answer;
}

/** Calls a tool that asks a client. */
export async function ask(
  revision: Revision,
  question: Asking,
  { capabilities, answer = () => undefined }: AskOptions,
): Promise<Asked> {
  const methods = ['roots/list', 'sampling/createMessage', 'elicitation/create'];
  const client = await RawClient.connect(serverWith({ ask: outcome(question) }, { questionTimeoutMs: 50 }), {
    revision,
    capabilities,
    answers: Object.fromEntries(methods.map((method) => [method, onceEach(answer)])),
  });
  const result = await client.call('ask');
  const said = result['resultType'] === 'input_required' ? 'asked again' : (textOf(result) ?? '');
  return { said, questions: client.questions, client };
}
