import type { InputRequest } from '../protocol/input.js';
import { isObject } from '../protocol/jsonrpc.js';
import type { JsonObject } from '../protocol/model.js';
import { SECRET_FIELD } from './redact.js';

/**
 * What the specification demands of questions before they are sent. A handler that breaks a rule gets a `TypeError`:
 * the mistake is its author's, and the client sees a masked error.
 */

const refuse = (message: string): never => {
  throw new TypeError(message);
};

// what a form can show (MCP 2025-11-25, `PrimitiveSchemaDefinition`)
const FORM_KEYWORDS = new Set(
  (
    'type title description default enum enumNames oneOf anyOf items const format ' +
    'minLength maxLength minimum maximum minItems maxItems'
  ).split(' '),
);
const FORMATS = new Set<unknown>(['email', 'uri', 'date', 'date-time']);
const PRIMITIVES = new Set<unknown>(['string', 'number', 'integer', 'boolean']);

/**
 * The part of a schema that a form can show. Whatever else the schema says is checked when the answer is here.
 * @throws {TypeError} for fields that are not primitive, and for those that ask for secrets
 */
export function formOf(schema: JsonObject): JsonObject {
  const properties: Record<string, unknown> = {};
  for (const [name, field] of Object.entries((schema['properties'] ?? {}) as Record<string, JsonObject>)) {
    if (SECRET_FIELD.test(name)) refuse(`A form must not ask for "${name}": use ctx.elicitUrl for what is secret.`);
    if (!isPrimitive(field))
      refuse(`A form cannot ask for "${name}": its fields are texts, numbers, yes or no, and choices.`);
    properties[name] = Object.fromEntries(
      Object.entries(field).filter(
        ([keyword, value]) => FORM_KEYWORDS.has(keyword) && (keyword !== 'format' || FORMATS.has(value)),
      ),
    );
  }
  return { type: 'object', properties, ...(Array.isArray(schema['required']) && { required: schema['required'] }) };
}

function isPrimitive({ type, items }: JsonObject): boolean {
  if (PRIMITIVES.has(type)) return true;
  return type === 'array' && isObject(items) && (Array.isArray(items['enum']) || Array.isArray(items['anyOf']));
}

const LOCAL = new Set(['localhost', '127.0.0.1', '[::1]']);

/**
 * A URL that a user may be sent to.
 * @throws {TypeError} unless it is https (or http on this machine) and names no user
 */
export function visitable(url: string): string {
  const { protocol, hostname, username, password, href } = new URL(url);
  const isSafe = protocol === 'https:' || (protocol === 'http:' && LOCAL.has(hostname));
  if (!isSafe) refuse(`A user cannot be sent to "${url}": use https.`);
  if (username !== '' || password !== '') refuse('A URL for the user must not carry a name or password.');
  return href;
}

const PRIORITIES = ['costPriority', 'speedPriority', 'intelligencePriority'];

/**
 * Refuses preferences out of range.
 * @throws {TypeError}
 */
export function checkPreferences(preferences: JsonObject = {}): void {
  for (const name of PRIORITIES) {
    const value = preferences[name] ?? 0;
    if (typeof value !== 'number' || !(value >= 0 && value <= 1)) refuse(`"${name}" is not between 0 and 1.`);
  }
}

const REQUIRED_FIELDS: Readonly<Record<string, readonly string[]>> = {
  text: ['text'],
  image: ['data', 'mimeType'],
  audio: ['data', 'mimeType'],
  tool_use: ['id', 'name'],
  tool_result: ['toolUseId'],
};

interface Block extends JsonObject {
  readonly type: string;
}

/** The blocks of a message, which may be one or several. */
export function blocksIn(content: unknown): readonly Block[] {
  const blocks: readonly unknown[] = Array.isArray(content) ? content : [content];
  for (const block of blocks) {
    const fields = isObject(block) ? REQUIRED_FIELDS[String(block['type'])] : undefined;
    if (!fields?.every((field) => typeof (block as JsonObject)[field] === 'string')) {
      refuse('A model is asked with texts, images, audio, and the use of tools; other content cannot be sent.');
    }
  }
  return blocks as readonly Block[];
}

const idsOf = (blocks: readonly Block[], type: string, field: string) =>
  blocks.filter((block) => block.type === type).map((block) => block[field] as string);

/**
 * Refuses conversations that models do not take: each use of a tool is answered in the next message, by nothing else.
 * @throws {TypeError}
 * @see https://modelcontextprotocol.io/specification/2025-11-25/client/sampling
 */
export function checkConversation(messages: readonly { readonly content: unknown }[]): void {
  let pending: readonly string[] = [];
  for (const { content } of messages) {
    const blocks = blocksIn(content);
    const results = idsOf(blocks, 'tool_result', 'toolUseId');
    if (results.length > 0 && results.length < blocks.length)
      refuse('A message with results of tools has nothing else.');
    if ([...pending].sort().join() !== [...results].sort().join())
      refuse('Each use of a tool has its result in the next message.');
    pending = idsOf(blocks, 'tool_use', 'id');
  }
  if (pending.length > 0) refuse('Each use of a tool has its result in the next message.');
}

/**
 * Refuses a question in the words of the specification that breaks one of these rules.
 * @throws {TypeError}
 */
export function checkRequest({ method, params = {} }: InputRequest): void {
  if (method === 'sampling/createMessage') {
    checkConversation(params['messages'] as Parameters<typeof checkConversation>[0]);
    checkPreferences(params['modelPreferences'] as JsonObject | undefined);
  } else if (method === 'elicitation/create' && params['mode'] === 'url') {
    visitable(String(params['url']));
  } else if (method === 'elicitation/create') {
    formOf((params['requestedSchema'] ?? {}) as JsonObject);
  }
}
