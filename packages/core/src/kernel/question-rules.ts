import { randomUUID } from 'node:crypto';
import { admitsNull, isObject, type JsonObject, withoutNull } from '@decorum/schema/internal';

import type { InputRequest } from '../protocol/input.js';
import { pick } from '../protocol/revisions/fields.js';
import { SECRET_FIELD } from '../text/redact.js';
import { isRole, wrongInBlock } from './answers.js';

/**
 * The specification's rules for questions, checked before they are sent. A violation is a bug in the handler: the
 * handler gets a `TypeError`, and the client sees a masked error.
 */

const reject = (message: string): never => {
  throw new TypeError(message);
};

// keywords that forms support for each type, besides choices (MCP 2025-11-25, `PrimitiveSchemaDefinition`)
const FORM_KEYWORDS: Readonly<Record<string, readonly string[]>> = {
  string: ['minLength', 'maxLength', 'format'],
  number: ['minimum', 'maximum'],
  integer: ['minimum', 'maximum'],
  boolean: [],
  array: ['minItems', 'maxItems'],
};
const FORMATS = new Set<unknown>(['email', 'uri', 'date', 'date-time']);

/**
 * Required fields that may be `null`, with that value: forms have no `null`, so a user leaves such a field blank.
 */
export function blanksOf({ properties, required }: JsonObject): Readonly<Record<string, null>> {
  const fields = Object.entries((properties ?? {}) as Readonly<Record<string, JsonObject>>);
  const nullable = fields.filter(([name, field]) => isNamed(required, name) && admitsNull(field));
  return Object.fromEntries(nullable.map(([name]) => [name, null]));
}

const isNamed = (names: unknown, name: string): boolean => Array.isArray(names) && names.includes(name);

/**
 * Reduces a schema to the keywords that forms support. The answer is still validated against the complete schema.
 * @throws {TypeError} for fields that forms don't support, and for fields that ask for secrets
 */
export function formOf(schema: JsonObject): JsonObject {
  const properties: Record<string, unknown> = {};
  for (const [name, field] of Object.entries((schema['properties'] ?? {}) as Record<string, JsonObject>)) {
    if (SECRET_FIELD.test(name)) reject(`A form must not ask for "${name}". Use ctx.elicitUrl for secrets.`);
    properties[name] =
      fieldOf(admitsNull(field) ? withoutNull(field) : field) ??
      reject(`A form cannot ask for "${name}". Use strings, numbers, booleans, and choices of strings.`);
  }
  const blanks = blanksOf(schema);
  const { required } = schema;
  const needed = Array.isArray(required) && required.filter((name) => !Object.hasOwn(blanks, String(name)));
  return { type: 'object', properties, ...(needed && { required: needed }) };
}

/** Reduces a field to the keywords that forms support; undefined if forms don't support the field at all. */
function fieldOf(field: JsonObject): JsonObject | undefined {
  const { format, ...rest } = field;
  const { type, items, default: initial } = rest;
  const own = typeof type === 'string' ? FORM_KEYWORDS[type] : undefined;
  if (own === undefined) return undefined;
  const choices = type === 'string' ? choicesOf(field, 'oneOf') : undefined;
  const several = type === 'array' && isObject(items) ? choicesOf(items, 'anyOf') : undefined;
  if (type === 'array' && several === undefined) return undefined;
  return {
    ...pick(field, ['type', 'title', 'description']),
    // fields with choices have no length limits and no format
    ...(choices ?? pick(FORMATS.has(format) ? field : rest, own)),
    ...(several && { items: 'enum' in several ? { type: 'string', ...several } : several }),
    ...(isInitial(type, initial) && { default: initial }),
  };
}

const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((item) => typeof item === 'string');

/** Whether a default has the type of its field. JSON Schema allows any default. */
function isInitial(type: unknown, value: unknown): boolean {
  return type === 'array' ? isTexts(value) : typeof value === (type === 'integer' ? 'number' : type);
}

/** Extracts the choices of a schema; undefined if they are not all strings. */
function choicesOf(schema: JsonObject, titledBy: 'oneOf' | 'anyOf'): JsonObject | undefined {
  const { [titledBy]: titled, enum: plain, enumNames } = schema;
  const isChoice = (choice: unknown) => isObject(choice) && typeof choice['const'] === 'string';
  if (Array.isArray(titled) && titled.every(isChoice)) {
    const choices = titled as readonly JsonObject[];
    return { [titledBy]: choices.map(({ const: value, title = value }) => ({ const: value, title })) };
  }
  if (!isTexts(plain)) return undefined;
  return { enum: plain, ...(titledBy === 'oneOf' && isTexts(enumNames) && { enumNames }) };
}

const LOCAL = new Set(['localhost', '127.0.0.1', '[::1]']);

/**
 * Checks and normalizes a URL to send the user to.
 * @throws {TypeError} unless it is https (or http on this machine) and contains no credentials
 */
export function visitable(url: string): string {
  const { protocol, hostname, username, password, href } = new URL(url);
  const isSafe = protocol === 'https:' || (protocol === 'http:' && LOCAL.has(hostname));
  if (!isSafe) reject(`A user cannot be sent to "${url}". Use https.`);
  if (username !== '' || password !== '') reject('A URL for the user must not contain a user name or password.');
  return href;
}

const PRIORITIES = ['costPriority', 'speedPriority', 'intelligencePriority'];

/**
 * Rejects preferences that are out of range.
 * @throws {TypeError}
 */
export function checkPreferences(preferences: JsonObject = {}): void {
  for (const name of PRIORITIES) {
    const value = preferences[name] ?? 0;
    if (typeof value !== 'number' || !(value >= 0 && value <= 1)) reject(`"${name}" must be a number from 0 to 1.`);
  }
}

/** The blocks of a message, whose content is one block or several. */
function blocksIn(content: unknown): readonly JsonObject[] {
  const blocks = [content].flat();
  if (blocks.every((block) => wrongInBlock(block) === undefined)) return blocks as readonly JsonObject[];
  return reject('Invalid block in a sampling message. Use text, image, audio, tool_use and tool_result blocks.');
}

const idsOf = (blocks: readonly JsonObject[], type: string, field: string) =>
  blocks.filter((block) => block['type'] === type).map((block) => block[field] as string);

/**
 * Rejects invalid conversations: the next message must contain the result of each tool use, and nothing else.
 * @throws {TypeError}
 * @see https://modelcontextprotocol.io/specification/2025-11-25/client/sampling
 */
export function checkConversation(messages: readonly { readonly role: unknown; readonly content: unknown }[]): void {
  let pending: readonly string[] = [];
  for (const { role, content } of messages) {
    if (!isRole(role)) reject('The role of a sampling message must be "user" or "assistant".');
    const blocks = blocksIn(content);
    const results = idsOf(blocks, 'tool_result', 'toolUseId');
    if (results.length > 0 && results.length < blocks.length)
      reject('A message with tool results must not contain other content.');
    if ([...pending].sort().join() !== [...results].sort().join())
      reject('Each tool use needs its result in the next message.');
    pending = idsOf(blocks, 'tool_use', 'id');
  }
  if (pending.length > 0) reject('Each tool use needs its result in the next message.');
}

/**
 * Checks a request passed to `needInput`, and normalizes it for sending.
 * @throws {TypeError} if the request violates one of these rules
 */
export function checkRequest({ method, params = {} }: InputRequest): Required<InputRequest> {
  if (method === 'elicitation/create') return { method, params: checkElicitation(params) };
  if (method === 'sampling/createMessage') {
    checkConversation(params['messages'] as Parameters<typeof checkConversation>[0]);
    checkPreferences(params['modelPreferences'] as JsonObject | undefined);
    if (typeof params['maxTokens'] !== 'number') reject('A sampling request needs a number `maxTokens`.');
  } else if (method !== 'roots/list') {
    reject(`needInput cannot send "${String(method)}". Use a method of InputRequest.`);
  }
  return { method, params };
}

function checkElicitation(params: JsonObject): JsonObject {
  const { mode = 'form', message, url, elicitationId = randomUUID(), requestedSchema } = params;
  if (typeof message !== 'string') reject('An elicitation needs a string `message`.');
  if (mode === 'url') return { ...params, elicitationId, url: visitable(String(url)) };
  if (mode !== 'form') reject('The `mode` of an elicitation must be "form" or "url".');
  if (!isObject(requestedSchema)) return reject('A form needs a `requestedSchema`.');
  return { ...params, requestedSchema: formOf(requestedSchema) };
}
