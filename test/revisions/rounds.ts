// Shared by tests of requests with several rounds.
import { expect } from '@jest/globals';
import type { Context, JsonObject, McpServer } from '@decorum/core';

import { transportsOf } from '../support/http-transports.js';
import { type Message, overMemory, RawClient, type RawOptions } from '../support/raw-client.js';
import { STATELESS } from '../support/requirements.js';
import type { Handler } from './servers.js';

/** A secret that servers can share. */
export const SECRET = 'a secret that two servers can share';
/** Capabilities of a client that can answer all questions. */
export const CAPABILITIES = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} };
/** The schema of a form. */
export const NAME = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } as const;
/** An answer to the form. */
export const ADA = { action: 'accept', content: { name: 'Ada' } };
/** An answer of the model. */
export const SAID = { role: 'assistant', model: 'm-1', content: { type: 'text', text: 'Ho' } };
/** An answer to the question for roots. */
export const HOME = { roots: [{ uri: 'file:///home/ada' }] };
/** Answers to all questions. */
export const ANSWERS = {
  'elicitation/create': () => ({ result: ADA }),
  'sampling/createMessage': () => ({ result: SAID }),
  'roots/list': () => ({ result: HOME }),
};

/** All transports of the stateless revision. */
export const RAW_TRANSPORTS = Object.entries(transportsOf(STATELESS));

/** Connects a stateless client. */
export const connect = (server: McpServer, options: Partial<RawOptions> = {}, transport = overMemory) =>
  RawClient.connect(server, { revision: STATELESS, capabilities: CAPABILITIES, ...options }, transport);

/** Asks for a name. */
export const question = (context: Context, message: string) => context.elicit(NAME, { message });
/** Asks for the user's name. */
export const form = (context: Context) => question(context, 'Who are you?');
/** Asks the model. */
export const sample = (context: Context) => context.sample({ messages: 'Hi', maxTokens: 5 });
/** Asks to visit a URL. */
export const visit = (context: Context) =>
  context.elicitUrl({ message: 'Please sign in', url: 'https://example.com/a' });
/** Asks for the user's name and returns a greeting. */
export const greet: Handler = async (context) => {
  const answer = await form(context);
  return answer.action === 'accept' ? `Hello, ${(answer.content as { name: string }).name}` : answer.action;
};

/** A result with questions. */
export interface Asked {
  readonly requestState: string;
  readonly inputRequests: Readonly<Record<string, { readonly method: string; readonly params?: JsonObject }>>;
}

/** Asserts that a result has questions. */
export function asked(result: JsonObject | undefined): Asked {
  expect(result).toMatchObject({ resultType: 'input_required' });
  return result as unknown as Asked;
}

/** Runs the first round of a tool. */
export async function begin(client: RawClient, name: string, args?: JsonObject): Promise<Asked> {
  return asked((await client.request('tools/call', { name, ...(args && { arguments: args }) })).result);
}

/** Retries a call with these parameters. */
export const again = (client: RawClient, name: string, more: JsonObject): Promise<Message> =>
  client.request('tools/call', { name, ...more });

/** The response to an invalid state. */
export const INVALID = { error: { code: -32602 } };
