import { isObject } from '../protocol/jsonrpc.js';
import { ClientError, McpError, ToolError } from '../protocol/errors.js';
import type { Exchange } from '../protocol/exchange.js';
import type { ClientCapabilities, ContentBlock, JsonObject, PromptMessage, Root } from '../protocol/model.js';
import { compileShape } from '../schema/compile.js';
import type { Parsed, SchemaSource, Shape } from '../schema/shape.js';

/** What every question to the client may carry. */
export interface QuestionOptions {
  /**
   * Names the question. Needed where a handler asks in a loop or in an order that may change: in stateless revisions
   * answers find their question by it.
   */
  readonly key?: string;
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

/** Parameters of `ctx.sample` (MCP, `CreateMessageRequest`). */
export interface SampleOptions extends QuestionOptions {
  /** The conversation; a text stands for one message of the user. */
  readonly messages: string | readonly PromptMessage[];
  readonly maxTokens: number;
  readonly systemPrompt?: string;
  readonly temperature?: number;
  readonly stopSequences?: readonly string[];
  readonly modelPreferences?: JsonObject;
  readonly metadata?: JsonObject;
}

/** What the client's model said. */
export interface SampleResult {
  readonly role: 'user' | 'assistant';
  readonly content: readonly ContentBlock[];
  /** The text of all text blocks. */
  readonly text: string;
  readonly model: string;
  readonly stopReason?: string;
}

/**
 * Refuses questions that the client has not declared to answer, before anything is sent.
 * @throws {McpError} `missing-capability`
 */
function requireCapability(exchange: Exchange, name: keyof ClientCapabilities): void {
  if (exchange.peer.client.capabilities[name] !== undefined) return;
  const data = { requiredCapabilities: { [name]: {} } };
  throw new McpError('missing-capability', `The client does not support ${name}.`, data);
}

/** Asks the user for data that fits a schema. */
export async function elicit<S extends SchemaSource>(
  exchange: Exchange,
  source: S,
  { message, key, timeoutMs }: ElicitOptions,
): Promise<ElicitResult<Parsed<S>>> {
  requireCapability(exchange, 'elicitation');
  const shape = compileShape(source, 'elicit');
  const params = { mode: 'form', message, requestedSchema: requestedSchema(shape) };
  const { action, content } = await exchange.ask({ method: 'elicitation/create', params, key, timeoutMs });
  if (action === 'decline' || action === 'cancel') return { action };
  if (action !== 'accept') throw new ClientError('The client answered the question in an unknown way.');
  const checked = await shape.check(content ?? {});
  if (checked.ok) return { action, content: checked.value as Parsed<S> };
  const problems = checked.problems.map(({ path, expected }) => `${path} ${expected}`).join('; ');
  throw new ToolError(`The answer to "${message}" does not fit what was asked: ${problems}`);
}

// what a form can show (MCP 2025-11-25, `PrimitiveSchemaDefinition`)
const FORM_KEYWORDS = new Set(
  (
    'type title description default enum enumNames oneOf anyOf items const format ' +
    'minLength maxLength minimum maximum minItems maxItems'
  ).split(' '),
);

/** The part of a schema that a form can show. Whatever else the schema says is checked when the answer is here. */
function requestedSchema({ json }: Shape): JsonObject {
  const properties: Record<string, unknown> = {};
  for (const [name, schema] of Object.entries((json['properties'] ?? {}) as Record<string, JsonObject>)) {
    if (schema['type'] === 'object' || schema['$ref'] !== undefined) {
      throw new TypeError(`A question cannot ask for "${name}": forms are flat, without objects in them.`);
    }
    properties[name] = Object.fromEntries(Object.entries(schema).filter(([keyword]) => FORM_KEYWORDS.has(keyword)));
  }
  return { type: 'object', properties, ...(Array.isArray(json['required']) && { required: json['required'] }) };
}

/** Asks the client's model. */
export async function sample(exchange: Exchange, options: SampleOptions): Promise<SampleResult> {
  requireCapability(exchange, 'sampling');
  const { key, timeoutMs, messages, ...rest } = options;
  const conversation =
    typeof messages === 'string' ? [{ role: 'user', content: { type: 'text', text: messages } }] : messages;
  const params = { messages: conversation, ...rest };
  const answer = await exchange.ask({ method: 'sampling/createMessage', params, key, timeoutMs });
  const content = (Array.isArray(answer['content']) ? answer['content'] : [answer['content']]) as ContentBlock[];
  if (!content.every(isObject)) throw new ClientError('The client answered the sampling request without content.');
  const text = content.map((block) => (block.type === 'text' ? block.text : '')).join('');
  return { ...(answer as unknown as SampleResult), content, text };
}

/** Asks for the directories and files that the client works in. */
export async function roots(exchange: Exchange, { key, timeoutMs }: QuestionOptions): Promise<readonly Root[]> {
  requireCapability(exchange, 'roots');
  const answer = await exchange.ask({ method: 'roots/list', params: {}, key, timeoutMs });
  const found: unknown = answer['roots'];
  if (!Array.isArray(found)) throw new ClientError('The client answered the question for its roots without a list.');
  return found as readonly Root[];
}
