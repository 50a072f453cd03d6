import { randomUUID } from 'node:crypto';

import { isObject } from '../protocol/jsonrpc.js';
import { ClientError, McpError, ToolError } from '../protocol/errors.js';
import type { Exchange } from '../protocol/exchange.js';
import { type InputRequest, usesTools } from '../protocol/input.js';
import type { ClientCapabilities, ContentBlock, JsonObject, Root } from '../protocol/model.js';
import { type Elicited, isElicited, listsRoots, wrongInSample } from './answers.js';
import { checkConversation, checkPreferences, formOf, visitable } from './question-rules.js';
import { compileShape } from '../schema/compile.js';
import type { Parsed, SchemaSource, Shape } from '../schema/shape.js';

/** What every question to the client may carry. */
export interface QuestionOptions {
  /**
   * Names the question. Needed where a handler asks in a loop or in an order that may change: in stateless revisions
   * answers find their question by it.
   */
  readonly key?: string;
  /**
   * Takes an answer only from a client that was asked: stateless clients may send answers to questions that they
   * expect, and this one must have been seen.
   */
  readonly sealed?: boolean;
  /** Milliseconds to wait for the answer where the client is asked directly; by default the server's `questionTimeoutMs`. */
  readonly timeoutMs?: number;
}

/** Options of `ctx.elicit`. */
export interface ElicitOptions extends QuestionOptions {
  /** What the user is asked. */
  readonly message: string;
}

/** What the user did: accepted (with checked content), declined, or dismissed the question. */
export type ElicitResult<T> =
  | { readonly action: 'accept'; readonly content: T }
  | { readonly action: 'decline' }
  | { readonly action: 'cancel' };

/** Options of `ctx.elicitUrl` and `ctx.requireUrl`. */
export interface ElicitUrlOptions extends ElicitOptions {
  /**
   * Where the user goes; `https:`, without anything secret in it. A function gets what the page needs to know what it
   * completes: an `id` for `server.notify.elicitationCompleted`, and a `ticket` for `server.openTicket`. It writes them
   * into the URL as they are, and is called again in each round, with others.
   */
  readonly url: string | ((visit: { readonly id: string; readonly ticket: string }) => string);
}

/** What the user did: consented to go to the URL, declined, or dismissed the question. */
export interface ElicitUrlResult {
  readonly action: 'accept' | 'decline' | 'cancel';
}

/** What a tool gave that a model used. */
export interface ToolResultContent {
  readonly type: 'tool_result';
  readonly toolUseId: string;
  readonly content: readonly ContentBlock[];
  readonly isError?: boolean;
}

/** One message of a conversation with a model. */
export interface SampleMessage {
  readonly role: 'user' | 'assistant';
  /** One block or several; clients that take one per message get several messages. */
  readonly content: SampledContent | ToolResultContent | readonly (SampledContent | ToolResultContent)[];
}

/** Parameters of `ctx.sample` (MCP, `CreateMessageRequest`). */
export interface SampleOptions extends QuestionOptions {
  /** The conversation; a text stands for one message of the user. */
  readonly messages: string | readonly SampleMessage[];
  readonly maxTokens: number;
  readonly systemPrompt?: string;
  readonly temperature?: number;
  readonly stopSequences?: readonly string[];
  readonly modelPreferences?: JsonObject;
  readonly metadata?: JsonObject;
  /** Needs a client with `sampling.context`, unless it is `none`. */
  readonly includeContext?: 'none' | 'thisServer' | 'allServers';
  /** Tools that the model may use. Needs a client with `sampling.tools`. */
  readonly tools?: readonly JsonObject[];
  readonly toolChoice?: JsonObject;
}

/** The model wants to use a tool. */
export interface ToolUseContent {
  readonly type: 'tool_use';
  readonly id: string;
  readonly name: string;
  readonly input: JsonObject;
}

/** A block of what a model said. */
export type SampledContent = ContentBlock | ToolUseContent;

/** What the client's model said. */
export interface SampleResult {
  readonly role: 'user' | 'assistant';
  readonly content: readonly SampledContent[];
  /** The text of all text blocks. */
  readonly text: string;
  readonly model: string;
  readonly stopReason?: string;
}

/**
 * Refuses questions that the client has not declared to answer, before anything is sent.
 * @param parts what it needs of the capability, as a client would declare it
 * @throws {McpError} `missing-capability`
 */
function requireCapability({ peer }: Exchange, name: keyof ClientCapabilities, parts: JsonObject = {}): void {
  const known: unknown = peer.client.capabilities[name];
  if (isObject(known) && Object.keys(parts).every((part) => known[part] !== undefined)) return;
  const what = [name, ...Object.keys(parts)].join('.');
  const data = { requiredCapabilities: { [name]: parts } };
  throw new McpError('missing-capability', `The client does not support ${what}.`, data);
}

/** A client that has elicitation and names no mode has forms (MCP 2025-11-25, "Elicitation", capabilities). */
function requireForms(exchange: Exchange): void {
  const { elicitation } = exchange.peer.client.capabilities;
  const onlyUrls = isObject(elicitation) && elicitation['url'] !== undefined;
  requireCapability(exchange, 'elicitation', onlyUrls ? { form: {} } : {});
}

/** A client that has sampling need not take tools, and need not give context. */
function requireSampling(exchange: Exchange, params: JsonObject): void {
  const { includeContext = 'none' } = params;
  const parts = { ...(usesTools(params) && { tools: {} }), ...(includeContext !== 'none' && { context: {} }) };
  requireCapability(exchange, 'sampling', parts);
}

/**
 * Refuses a question in the words of the specification that the client has not declared to answer, or that its revision
 * does not have.
 * @throws {McpError} `missing-capability`
 */
export function requireDeclared(exchange: Exchange, { method, params = {} }: InputRequest): void {
  if (method === 'roots/list') requireCapability(exchange, 'roots');
  else if (method === 'sampling/createMessage') requireSampling(exchange, params);
  else if (params['mode'] === 'url') requireCapability(exchange, 'elicitation', { url: {} });
  else requireForms(exchange);
  if (exchange.revision.question({ method, params }) !== undefined) return;
  throw new McpError('missing-capability', `The protocol revision of the client has no such "${method}".`);
}

/** Asks the user for data that fits a schema. */
export async function elicit<S extends SchemaSource>(
  exchange: Exchange,
  source: S,
  { message, ...options }: ElicitOptions,
): Promise<ElicitResult<Parsed<S>>> {
  requireForms(exchange);
  const shape = compileShape(source, 'elicit');
  const answer = await exchange.ask({
    ...options,
    method: 'elicitation/create',
    params: { mode: 'form', message, requestedSchema: formOf(shape.json) },
    fits: (given) => isElicited(given) && (given.action !== 'accept' || fits(shape, given.content)),
  });
  const { action, content } = elicited(answer);
  if (action !== 'accept') return { action };
  const checked = await shape.check(content ?? {});
  if (checked.ok) return { action, content: checked.value as Parsed<S> };
  const problems = checked.problems.map(({ path, expected }) => `${path} ${expected}`).join('; ');
  throw new ToolError(`The answer to "${message}" does not fit what was asked: ${problems}`);
}

/** @throws {ClientError} for an answer that is none */
function elicited(answer: JsonObject): Elicited {
  if (isElicited(answer)) return answer;
  throw new ClientError('The client returned an invalid elicitation result: its `action` is unknown.');
}

/** Rules that take time are left for later: here it is only decided whether to ask again. */
function fits(shape: Shape, content: unknown): boolean {
  const checked = shape.check(content ?? {});
  return checked instanceof Promise || checked.ok;
}

/** The question to visit a URL. */
function visitOf(exchange: Exchange, { message, url }: ElicitUrlOptions) {
  requireCapability(exchange, 'elicitation', { url: {} });
  const id = randomUUID();
  const params = { mode: 'url', message, elicitationId: id };
  if (typeof url === 'string') return { params: { ...params, url: visitable(url) } };
  const { peer, wire } = exchange;
  const ticket = peer.tickets.issue({ id, subject: wire.principal?.subject, sessionId: peer.sessionId });
  const visited = visitable(url({ id, ticket }));
  // the next round makes another visit out of the same question
  const lasting = visited.replaceAll(id, 'id').replaceAll(ticket, 'ticket');
  return { params: { ...params, url: visited }, identity: { message, url: lasting } };
}

/** Asks the user to do something at a URL. */
export async function elicitUrl(
  exchange: Exchange,
  options: ElicitUrlOptions,
  visit = visitOf(exchange, options),
): Promise<ElicitUrlResult> {
  const { key, sealed, timeoutMs } = options;
  const question = { ...visit, key, sealed, timeoutMs, method: 'elicitation/create', fits: isElicited } as const;
  return { action: elicited(await exchange.ask(question)).action };
}

/** Sends the user to a URL before the request can go on. */
export async function requireUrl(exchange: Exchange, options: ElicitUrlOptions): Promise<void> {
  const visit = visitOf(exchange, options);
  const { params } = visit;
  const error = new McpError('url-elicitation-required', options.message, { elicitations: [params] });
  if (exchange.revision.errorCode(error) !== undefined) {
    exchange.peer.expect?.(params.elicitationId);
    throw error;
  }
  const { action } = await elicitUrl(exchange, options, visit);
  if (action !== 'accept') throw new ClientError('The user did not agree to go to the URL that this needs.');
}

/** Asks the user for a yes. */
export async function confirm(exchange: Exchange, message: string, options: QuestionOptions): Promise<boolean> {
  requireForms(exchange);
  const params = { mode: 'form', message, requestedSchema: { type: 'object', properties: {} } };
  const question = { ...options, method: 'elicitation/create', params, fits: isElicited, sealed: true } as const;
  return elicited(await exchange.ask(question)).action === 'accept';
}

/** Asks the client's model. */
export async function sample(exchange: Exchange, options: SampleOptions): Promise<SampleResult> {
  const { key, timeoutMs, sealed, messages, ...rest } = options;
  requireSampling(exchange, { messages, ...rest });
  const conversation =
    typeof messages === 'string' ? [{ role: 'user', content: { type: 'text', text: messages } }] : messages;
  checkConversation(conversation);
  checkPreferences(rest.modelPreferences);
  const params = { messages: conversation, ...rest };
  const isSampled = (given: JsonObject) => wrongInSample(given, exchange.revision) === undefined;
  const question = { method: 'sampling/createMessage', params, key, timeoutMs, sealed, fits: isSampled } as const;
  const answer = await exchange.ask(question);
  const wrong = wrongInSample(answer, exchange.revision);
  if (wrong !== undefined) {
    throw new ClientError(`The client returned an invalid sampling result: \`${wrong}\` is missing or wrong.`);
  }
  const { role, content, model, stopReason } = answer as unknown as SampleResult;
  const blocks = [content].flat();
  const text = blocks.map((block) => (block.type === 'text' ? block.text : '')).join('');
  return { role, content: blocks, text, model, ...(stopReason !== undefined && { stopReason }) };
}

/** Asks for the directories and files that the client works in. */
export async function roots(exchange: Exchange, options: QuestionOptions): Promise<readonly Root[]> {
  requireCapability(exchange, 'roots');
  const answer = await exchange.ask({ ...options, method: 'roots/list', params: {}, fits: listsRoots });
  if (listsRoots(answer)) return answer.roots;
  throw new ClientError('The client returned an invalid list of roots: each needs a `uri` that begins with "file://".');
}
