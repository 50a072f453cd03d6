// What tests of requests in several rounds have in common.
import { expect } from '@jest/globals';
import type { Context, JsonObject, McpServer } from '@decorum/core';

import { transportsOf } from '../support/http-transports.js';
import { type Message, overMemory, RawClient, type RawOptions } from '../support/raw-client.js';
import { STATELESS } from '../support/requirements.js';
import type { Handler } from './servers.js';

/** What several servers may share. */
export const SECRET = 'a secret that two servers can share';
/** A client that can answer everything. */
export const CAPABILITIES = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} };
/** The schema of a form. */
export const NAME = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } as const;
/** An answer to it. */
export const ADA = { action: 'accept', content: { name: 'Ada' } };
/** An answer of a model. */
export const SAID = { role: 'assistant', model: 'm-1', content: { type: 'text', text: 'Ho' } };
/** An answer to the question for roots. */
export const HOME = { roots: [{ uri: 'file:///home/ada' }] };
/** An answer to everything. */
export const ANSWERS = {
  'elicitation/create': () => ({ result: ADA }),
  'sampling/createMessage': () => ({ result: SAID }),
  'roots/list': () => ({ result: HOME }),
};

/** Everything that can carry the revision without sessions. */
export const RAW_TRANSPORTS = Object.entries(transportsOf(STATELESS));

/** Connects a client of the revision without sessions. */
export const connect = (server: McpServer, options: Partial<RawOptions> = {}, transport = overMemory) =>
  RawClient.connect(server, { revision: STATELESS, capabilities: CAPABILITIES, ...options }, transport);

/** Asks for a name. */
export const question = (context: Context, message: string) => context.elicit(NAME, { message });
/** Asks who somebody is. */
export const form = (context: Context) => question(context, 'Who are you?');
/** Asks the model. */
export const sample = (context: Context) => context.sample({ messages: 'Hi', maxTokens: 5 });
/** Asks to visit a URL. */
export const visit = (context: Context) =>
  context.elicitUrl({ message: 'Please sign in', url: 'https://example.com/a' });
/** Asks who somebody is, and greets them. */
export const greet: Handler = async (context) => {
  const answer = await form(context);
  return answer.action === 'accept' ? `Hello, ${(answer.content as { name: string }).name}` : answer.action;
};

/** A round as a client sees it. */
export interface Asked {
  readonly requestState: string;
  readonly inputRequests: Readonly<Record<string, { readonly method: string; readonly params?: JsonObject }>>;
}

/** A result that is the end of a round. */
export function asked(result: JsonObject | undefined): Asked {
  expect(result).toMatchObject({ resultType: 'input_required' });
  return result as unknown as Asked;
}

/** The first round of a tool. */
export async function begin(client: RawClient, name: string, args?: JsonObject): Promise<Asked> {
  return asked((await client.request('tools/call', { name, ...(args && { arguments: args }) })).result);
}

/** Calls again, with whatever a retry has. */
export const again = (client: RawClient, name: string, more: JsonObject): Promise<Message> =>
  client.request('tools/call', { name, ...more });

/** What is answered to a state that is not good. */
export const INVALID = { error: { code: -32602 } };
