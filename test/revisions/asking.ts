import { ClientError, type Context, type JsonObject, McpError } from '@decorum/core';

import { type Answer, RawClient, textOf } from '../support/raw-client.js';
import type { Revision } from '../support/requirements.js';
import { type Handler, serverWith } from './servers.js';

/** What a handler asks a client. */
export type Asking = (context: Context) => Promise<unknown>;

/** What became of a question. */
export interface Asked {
  /** What the handler came to know, or why it did not; `asked again` where the client's answer was not taken for one. */
  readonly said: string;
  /** What the client was asked. */
  readonly questions: RawClient['questions'];
  readonly client: RawClient;
}

/** What became of a question, as the result of the tool that asked it. */
export const outcome =
  (question: Asking): Handler =>
  async (context) => {
    try {
      return JSON.stringify(await question(context));
    } catch (error) {
      if (error instanceof ClientError) return `client error ${String(error.code)}`;
      if (error instanceof McpError) return `mcp error ${error.kind}`;
      return `${(error as Error).name}: ${(error as Error).message}`;
    }
  };

/** Answers the same question once, and is silent when it is asked again. */
function onceEach(answer: Answer): Answer {
  const known = new Set<string>();
  return (params, id) => {
    const question = JSON.stringify(params);
    if (known.has(question)) return undefined;
    known.add(question);
    return answer(params, id);
  };
}

/** What `ask` takes. */
export interface AskOptions {
  readonly capabilities: JsonObject;
  /** What the client answers, whatever it is asked. Without it, it does not. */
  readonly answer?: Answer;
}

/** Has a tool ask a client. */
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
