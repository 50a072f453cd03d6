import { randomUUID } from 'node:crypto';

import { type ClientCapabilities, type JsonObject, McpError, QuestionError } from '@decorum/core';
import { type Front, isObject, isReservedKey, visitable } from '@decorum/core/internal';
import type { Question as FrontQuestion } from '@decorum/core/plugin';

import type { Question } from '../../questions.js';

/** The questions of an upstream that are forwarded, besides those to the user. */
export interface Forward {
  /** Whether the upstream may ask the model of the client in front. */
  readonly sampling?: boolean | undefined;
  /** Whether the upstream may ask for the roots of the client in front. */
  readonly roots?: boolean | undefined;
}

const FORM: JsonObject = { mode: 'form', message: '', requestedSchema: { type: 'object', properties: {} } };
const VISIT: JsonObject = { mode: 'url', message: '', url: 'https://example.com', elicitationId: '' };
const SAMPLE: JsonObject = { messages: [], maxTokens: 1 };

/** All that can be forwarded, for connections over which lists are fetched. */
export const forwardable = ({ sampling, roots }: Forward): ClientCapabilities => ({
  elicitation: { form: {}, url: {} },
  ...(sampling && { sampling: { tools: {}, context: {} } }),
  ...(roots && { roots: {} }),
});

/** The capabilities to declare upstream for a client in front: what it has, as far as it is forwarded. */
export function declaredFor(front: Front, has: ClientCapabilities, { sampling, roots }: Forward): ClientCapabilities {
  return {
    ...(has.elicitation !== undefined && elicitationOf(front)),
    ...(sampling && has.sampling !== undefined && samplingOf(front)),
    ...(roots && has.roots !== undefined && front.takes('roots/list', {}) && { roots: {} }),
  };
}

function elicitationOf(front: Front): ClientCapabilities {
  const form = front.takes('elicitation/create', FORM);
  if (front.takes('elicitation/create', VISIT)) return { elicitation: { ...(form && { form: {} }), url: {} } };
  // older servers know no modes
  return form ? { elicitation: {} } : {};
}

function samplingOf(front: Front): ClientCapabilities {
  const takes = (more: JsonObject) => front.takes('sampling/createMessage', { ...SAMPLE, ...more });
  if (!takes({})) return {};
  const tools = takes({ tools: [] }) && { tools: {} };
  return { sampling: { ...tools, ...(takes({ includeContext: 'thisServer' }) && { context: {} }) } };
}

const KINDS: ReadonlyMap<string, keyof ClientCapabilities> = new Map([
  ['elicitation/create', 'elicitation'],
  ['sampling/createMessage', 'sampling'],
  ['roots/list', 'roots'],
]);

/**
 * Turns a question of an upstream into one for the client in front. Its message tells who asks.
 * @param source put before the message
 * @throws {McpError} `method-not-found` for a question that nobody said could be asked, `invalid-params` for one that
 *   must not reach a user
 */
export function forwarded(
  { method, params }: Question,
  { source, declared }: { readonly source: string; readonly declared: ClientCapabilities },
): FrontQuestion {
  const kind = KINDS.get(method);
  if (kind === undefined || declared[kind] === undefined) {
    throw new McpError('method-not-found', `The client does not support "${method}".`);
  }
  const { task: _task, _meta: meta, ...rest } = params;
  const free = isObject(meta)
    ? Object.entries(meta).filter(([key]) => key !== 'progressToken' && !isReservedKey(key))
    : [];
  const sent = { ...rest, ...(free.length > 0 && { _meta: Object.fromEntries(free) as JsonObject }) };
  const question = { method: method as FrontQuestion['method'], params: sent };
  return kind === 'elicitation' ? elicitation(question, source) : question;
}

function elicitation({ method, params }: FrontQuestion, source: string): FrontQuestion {
  if (typeof params['message'] !== 'string') throw new McpError('invalid-params', 'An elicitation needs a `message`.');
  const named = { ...params, message: `${source}: ${params['message']}` };
  if (params['mode'] !== 'url') return { method, params: named };
  const { elicitationId = randomUUID() } = params;
  return { method, params: { ...named, url: urlFor(params['url']), elicitationId }, identity: named };
}

/**
 * The URL to which a user is sent.
 * @throws {McpError} `invalid-params` for a URL that is not safe to open
 */
export function urlFor(url: unknown): string {
  try {
    visitable(String(url));
    return String(url);
  } catch {
    throw new McpError('invalid-params', 'A user can only be sent to an "https:" URL without a user name.');
  }
}

/** The error for the upstream if the client in front does not answer. */
export function refusal(error: unknown): McpError {
  if (error instanceof QuestionError && error.code !== undefined) {
    return new McpError(error.code, error.message, error.data);
  }
  const isMissing = error instanceof McpError && error.kind === 'missing-capability';
  if (isMissing) return new McpError('invalid-params', 'The client does not support this kind of question.');
  // other messages may tell the upstream about this server
  return new McpError('internal-error', error instanceof QuestionError ? error.message : 'The client was not asked.');
}
