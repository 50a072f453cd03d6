import { randomUUID } from 'node:crypto';
import {
  compileShape,
  isObject,
  type JsonObject,
  type Parsed,
  type SchemaSource,
  type Shape,
} from '@decorum/schema/internal';

import { TransientPeer, unaskable } from '../protocol/eras/transient.js';
import { QuestionError, McpError, ToolError } from '../protocol/errors.js';
import type { Exchange } from '../protocol/exchange.js';
import { type InputRequest, usesTools } from '../protocol/input.js';
import type { ClientCapabilities, Root } from '../protocol/model.js';
import type { Question } from '../protocol/revisions/revision.js';
import { type Elicited, isElicited, listsRoots, wrongInSample } from './answers.js';
import {
  type ConfirmOptions,
  type ElicitOptions,
  type ElicitUrlOptions,
  type QuestionOptions,
  requireOptionsOf,
  type SampledContent,
  type SampleOptions,
} from './question-options.js';
import { blanksOf, checkConversation, checkPreferences, formOf, visitable } from './question-rules.js';

/** The user's response: accepted (with validated content), declined, or dismissed. */
export type ElicitResult<T> =
  | { readonly action: 'accept'; readonly content: T }
  | { readonly action: 'decline' }
  | { readonly action: 'cancel' };

/** The user's response: agreed to open the URL, declined, or dismissed. */
export interface ElicitUrlResult {
  readonly action: 'accept' | 'decline' | 'cancel';
}

/** The answer from the client's model. */
export interface SampleResult {
  readonly role: 'user' | 'assistant';
  readonly content: readonly SampledContent[];
  /** The text of all text blocks combined. */
  readonly text: string;
  readonly model: string;
  readonly stopReason?: string;
}

/**
 * Rejects a question before it is sent, if the client has not declared the capability for it, or can't be asked at all.
 * @param parts the required parts of the capability, as clients declare them
 * @throws {McpError} `missing-capability`
 */
function requireCapability({ peer }: Exchange, name: keyof ClientCapabilities, parts: JsonObject = {}): void {
  if (peer instanceof TransientPeer) throw unaskable();
  const known: unknown = peer.client.capabilities[name];
  if (isObject(known) && Object.keys(parts).every((part) => isObject(known[part]))) return;
  const what = [name, ...Object.keys(parts)].join('.');
  const data = { requiredCapabilities: { [name]: parts } };
  throw new McpError('missing-capability', `The client does not support ${what}.`, data);
}

/** A client that declares elicitation without a mode supports forms (MCP 2025-11-25, "Elicitation", capabilities). */
function requireForms(exchange: Exchange): void {
  const { elicitation } = exchange.peer.client.capabilities;
  const onlyUrls = isObject(elicitation) && isObject(elicitation['url']);
  requireCapability(exchange, 'elicitation', onlyUrls ? { form: {} } : {});
}

/** Sampling does not imply support for tools or context. */
function requireSampling(exchange: Exchange, params: JsonObject): void {
  const { includeContext = 'none' } = params;
  const parts = { ...(usesTools(params) && { tools: {} }), ...(includeContext !== 'none' && { context: {} }) };
  requireCapability(exchange, 'sampling', parts);
}

/**
 * Rejects a request passed to `needInput` if the client has not declared the required capability, or if the client's
 * revision does not support it.
 * @throws {McpError} `missing-capability`
 */
export function requireDeclared(exchange: Exchange, { method, params = {} }: InputRequest): void {
  if (method === 'roots/list') requireCapability(exchange, 'roots');
  else if (method === 'sampling/createMessage') requireSampling(exchange, params);
  else if (params['mode'] === 'url') requireCapability(exchange, 'elicitation', { url: {} });
  else requireForms(exchange);
  if (exchange.revision.question({ method, params }) !== undefined) return;
  throw new McpError('missing-capability', `The client's protocol revision does not support this "${method}" request.`);
}

/**
 * Asks a question whose params are complete.
 * @throws {McpError} `missing-capability` if the client has not declared the required capability
 */
export async function askDeclared(exchange: Exchange, question: Question): Promise<JsonObject> {
  requireDeclared(exchange, question as InputRequest);
  return await exchange.ask(question);
}

/** Asks the user for data that matches a schema. */
export async function elicit<S extends SchemaSource>(
  exchange: Exchange,
  source: S,
  options: ElicitOptions,
): Promise<ElicitResult<Parsed<S>>> {
  requireOptionsOf('elicit', options);
  requireForms(exchange);
  const { message, ...how } = options;
  const shape = compileShape(source, 'elicit');
  const check = checkerOf(shape);
  const answer = await exchange.ask({
    ...how,
    method: 'elicitation/create',
    params: { mode: 'form', message, requestedSchema: formOf(shape.published) },
    fits: (given) => isElicited(given) && (given.action !== 'accept' || fits(check(given.content))),
  });
  const { action, content } = elicited(answer);
  if (action !== 'accept') return { action };
  const checked = await check(content);
  if (checked.ok) return { action, content: checked.value as Parsed<S> };
  const problems = checked.problems.map(({ path, expected }) => `${path} ${expected}`).join('; ');
  throw new ToolError(`The answer to "${message}" does not match the requested schema: ${problems}`);
}

/** @throws {QuestionError} for an invalid answer */
function elicited(answer: JsonObject): Elicited {
  if (isElicited(answer)) return answer;
  throw new QuestionError('The client returned an invalid elicitation result: its `action` is unknown.');
}

/** Checks each answer only once, because its rules may have side effects. */
function checkerOf(shape: Shape): (content: unknown) => ReturnType<Shape['check']> {
  const done = new Map<unknown, ReturnType<Shape['check']>>();
  const blanks = blanksOf(shape.published);
  return (content) => {
    const given = content ?? {};
    const checked = done.get(content) ?? shape.check(isObject(given) ? { ...blanks, ...given } : given);
    done.set(content, checked);
    return checked;
  };
}

/** Whether to accept an answer. Asynchronous rules count as passed here; they are awaited once it is accepted. */
function fits(checked: ReturnType<Shape['check']>): boolean {
  if (!(checked instanceof Promise)) return checked.ok;
  // nobody may ask for the outcome if the question is asked again
  checked.catch(() => {});
  return true;
}

/** Creates the question that sends the user to a URL. */
function visitOf(exchange: Exchange, options: ElicitUrlOptions, method: 'elicitUrl' | 'requireUrl') {
  requireOptionsOf(method, options);
  requireCapability(exchange, 'elicitation', { url: {} });
  const { message, url } = options;
  const id = randomUUID();
  const params = { mode: 'url', message, elicitationId: id };
  if (typeof url === 'string') return { params: { ...params, url: visitable(url) } };
  const { peer, wire } = exchange;
  const { subject, issuer } = wire.principal ?? {};
  const ticket = peer.tickets.issue({ id, subject, issuer, sessionId: peer.sessionId });
  const visited = visitable(url({ id, ticket }));
  // each round has a new id and ticket, so leave them out of the question's identity
  const lasting = visited.replaceAll(id, 'id').replaceAll(ticket, 'ticket');
  return { params: { ...params, url: visited }, identity: { message, url: lasting } };
}

/** Asks the user to do something at a URL. */
export async function elicitUrl(exchange: Exchange, options: ElicitUrlOptions): Promise<ElicitUrlResult> {
  return { action: await askVisit(exchange, options, visitOf(exchange, options, 'elicitUrl')) };
}

async function askVisit(
  exchange: Exchange,
  { key, acceptUnsolicited, timeoutMs }: ElicitUrlOptions,
  visit: ReturnType<typeof visitOf>,
): Promise<Elicited['action']> {
  const how = { key, acceptUnsolicited, timeoutMs, fits: isElicited };
  return elicited(await exchange.ask({ ...visit, ...how, method: 'elicitation/create' })).action;
}

/** Sends the user to a URL that the request depends on. */
export async function requireUrl(exchange: Exchange, options: ElicitUrlOptions): Promise<void> {
  const visit = visitOf(exchange, options, 'requireUrl');
  const { params } = visit;
  const error = new McpError('url-elicitation-required', options.message, { elicitations: [params] });
  if (exchange.revision.errorCode(error) !== undefined) {
    exchange.peer.expect?.(params.elicitationId);
    throw error;
  }
  if ((await askVisit(exchange, options, visit)) !== 'accept')
    throw new QuestionError('The user did not agree to open the required URL.');
}

/** Asks the user to confirm. */
export async function confirm(exchange: Exchange, message: string, options: ConfirmOptions): Promise<boolean> {
  requireOptionsOf('confirm', options);
  requireForms(exchange);
  const params = { mode: 'form', message, requestedSchema: { type: 'object', properties: {} } };
  const { key, timeoutMs } = options;
  const question = { key, timeoutMs, method: 'elicitation/create', params, fits: isElicited } as const;
  return elicited(await exchange.ask(question)).action === 'accept';
}

/** Asks the client's model. */
export async function sample(exchange: Exchange, options: SampleOptions): Promise<SampleResult> {
  requireOptionsOf('sample', options);
  const { key, timeoutMs, acceptUnsolicited, messages, ...rest } = options;
  requireSampling(exchange, { messages, ...rest });
  const conversation =
    typeof messages === 'string' ? [{ role: 'user', content: { type: 'text', text: messages } }] : messages;
  checkConversation(conversation);
  checkPreferences(rest.modelPreferences);
  const params = { messages: conversation, ...rest };
  const isSampled = (given: JsonObject) => wrongInSample(given, exchange.revision) === undefined;
  const question = { method: 'sampling/createMessage', params, key, timeoutMs, acceptUnsolicited } as const;
  const answer = await exchange.ask({ ...question, fits: isSampled });
  const wrong = wrongInSample(answer, exchange.revision);
  if (wrong !== undefined) {
    throw new QuestionError(`The client returned an invalid sampling result: \`${wrong}\` is missing or invalid.`);
  }
  const { role, content, model, stopReason } = answer as unknown as SampleResult;
  const blocks = [content].flat();
  const text = blocks.map((block) => (block.type === 'text' ? block.text : '')).join('');
  return { role, content: blocks, text, model, ...(stopReason !== undefined && { stopReason }) };
}

/** Asks for the directories and files that the client works in. */
export async function roots(exchange: Exchange, options: QuestionOptions): Promise<readonly Root[]> {
  requireOptionsOf('roots', options);
  requireCapability(exchange, 'roots');
  const answer = await exchange.ask({ ...options, method: 'roots/list', params: {}, fits: listsRoots });
  if (listsRoots(answer)) return answer.roots;
  throw new QuestionError(
    'The client returned an invalid list of roots: each root needs a `uri` that starts with "file://".',
  );
}

/** Checks whether the client responds. */
export async function ping(exchange: Exchange, options: Pick<QuestionOptions, 'timeoutMs'>): Promise<void> {
  requireOptionsOf('ping', options);
  await exchange.ask({ ...options, method: 'ping', params: {} });
}
