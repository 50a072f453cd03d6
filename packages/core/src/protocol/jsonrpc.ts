import { isObject, type JsonObject, requireFinite } from '@decorum/schema/internal';

import { McpError } from './errors.js';
import { DEFAULT_LIMITS, McpLimitError } from './limits.js';
import type { CallToolResult, RequestId } from './model.js';

/** A JSON-RPC notification: a request without a response. */
export interface JsonRpcNotification {
  readonly jsonrpc: '2.0';
  readonly method: string;
  readonly params?: JsonObject;
}

/** A JSON-RPC request (JSON-RPC 2.0, section 4). */
export interface JsonRpcRequest extends JsonRpcNotification {
  readonly id: RequestId;
}

/** A JSON-RPC response (JSON-RPC 2.0, section 5). */
export interface JsonRpcResponse {
  readonly jsonrpc: '2.0';
  readonly id?: RequestId;
  readonly result?: JsonObject;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

/** Any JSON-RPC message that has passed `checkMessage`. */
export type JsonRpcMessage = JsonRpcRequest | JsonRpcNotification | JsonRpcResponse;

/** Above this length, `JSON.stringify` is faster, because it scans many characters at a time. */
const SHORT_TEXT = 40;

/** Quotes a string as JSON. For short strings, this takes half the time of `JSON.stringify`: 39 ns, not 79. */
export function quote(text: string): string {
  if (text.length > SHORT_TEXT) return JSON.stringify(text);
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    // characters to escape, and possible surrogates
    if (code < 0x20 || code > 0x7e || code === 0x22 || code === 0x5c) return JSON.stringify(text);
  }
  return `"${text}"`;
}

/** Writes a response from the JSON of its `result`. */
export function resultFrame(id: RequestId, result: string): string {
  return `{"jsonrpc":"2.0","id":${typeof id === 'number' ? id : quote(id)},"result":${result}}`;
}

/** JSON before and after a result's members, for the fields that every result of a revision has. */
export interface ResultEnvelope {
  readonly before: string;
  readonly after: string;
}

/**
 * Writes the most common tool results directly: one text block, possibly with structured content. Every revision that
 * has these fields sends them the same way. It takes 50 ns, and encoding the result as an object 790 ns.
 * @param sendsObjects whether the revision sends structured objects of this tool unchanged
 * @returns undefined for any other result
 * @throws {NotFinite} if the structured content has a number that JSON lacks
 */
export function plainResult(
  result: CallToolResult,
  { before, after }: ResultEnvelope,
  sendsObjects: boolean | undefined,
): string | undefined {
  const { content, structuredContent, isError } = result;
  if (isError !== undefined && isError !== true) return undefined;
  for (const name in result) if (!PLAIN_FIELDS.has(name)) return undefined;
  const block = content.length === 1 ? content[0] : undefined;
  if (block?.type !== 'text' || typeof block.text !== 'string') return undefined;
  if ('toJSON' in block) return undefined;
  for (const name in block) if (name !== 'type' && name !== 'text') return undefined;
  let json = `${before}"content":[{"type":"text","text":${quote(block.text)}}]`;
  if (structuredContent !== undefined) {
    if (!sendsObjects || !isObject(structuredContent)) return undefined;
    const structured = JSON.stringify(structuredContent) as string | undefined;
    // undefined if its toJSON returns undefined
    if (structured !== undefined) {
      requireFinite(structuredContent, structured);
      json += `,"structuredContent":${structured}`;
    }
  }
  return isError ? `${json},"isError":true${after}` : json + after;
}

const PLAIN_FIELDS = new Set(['content', 'structuredContent', 'isError']);

/**
 * Writes an error response. The id is omitted or null if the request's id was unreadable.
 * @example socket.write(errorFrame(null, new McpError('parse-error', 'Not JSON')));
 */
export function errorFrame(id: RequestId | null | undefined, error: NonNullable<JsonRpcResponse['error']>): string {
  const { code, message, data } = error;
  return JSON.stringify({ jsonrpc: '2.0', id, error: { code, message, data } });
}

/**
 * Parses a message.
 * @throws {McpError} `parse-error`
 */
export function parseMessage(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new McpError('parse-error', 'The message is not JSON.');
  }
}

/** Cap on the characters of ids and progress tokens, which are repeated in each response or progress notification. */
const MAX_ID_LENGTH = 256;

/**
 * Whether a value is a valid request id or progress token: a string of up to 256 characters, or a safe integer.
 */
export function isRequestId(value: unknown): value is RequestId {
  return typeof value === 'string' ? value.length <= MAX_ID_LENGTH : Number.isSafeInteger(value);
}

/**
 * The id of a request, if it is readable. A message without a method may be a response, whose id was chosen by its
 * receiver.
 */
export function readableId(message: unknown): RequestId | undefined {
  return isObject(message) && 'method' in message && isRequestId(message['id']) ? message['id'] : undefined;
}

/** Whether a message is a response or a notification, even a malformed one. These are never answered. */
export function isUnanswered(message: unknown): boolean {
  if (!isObject(message)) return false;
  if ('method' in message) return typeof message['method'] === 'string' && !('id' in message);
  return 'result' in message || 'error' in message;
}

const invalid = (message: string) => new McpError('invalid-request', message);

/**
 * Rejects anything but JSON-RPC messages, as well as excessive nesting, too many values, numbers beyond the range of a
 * double, and members called `__proto__`.
 * @param limits the server's limits. Defaults to `DEFAULT_LIMITS`
 * @throws {McpError} `invalid-request` or `invalid-params`
 */
export function checkMessage(message: unknown, limits = DEFAULT_LIMITS): asserts message is JsonRpcMessage {
  if (!isObject(message) || message['jsonrpc'] !== '2.0') throw invalid('The message is not a JSON-RPC 2.0 object.');
  const { id, method, params } = message;
  if (id !== undefined && (typeof id === 'string' ? id.length > MAX_ID_LENGTH : !Number.isSafeInteger(id)))
    throw invalid(`The id is neither a string of up to ${MAX_ID_LENGTH} characters nor an integer up to 2^53 - 1.`);
  if (method === undefined) {
    if ((message['result'] === undefined) === (message['error'] === undefined)) {
      throw invalid('The message has neither a method nor exactly one of result and error.');
    }
  } else if (typeof method !== 'string') throw invalid('The method is not a string.');
  if (params !== undefined && !isObject(params)) throw new McpError('invalid-params', 'The params are not an object.');
  const { maxDepth, maxValues } = limits;
  const left = checkValues(message, maxDepth, maxValues);
  if (left === TOO_DEEP)
    throw new McpLimitError('maxDepth', `The message is nested more than ${maxDepth} levels deep.`);
  if (left < 0) throw new McpLimitError('maxValues', `The message has more than ${maxValues} values.`);
}

const TOO_DEEP = Number.NEGATIVE_INFINITY;

/**
 * Counts values, because memory and the time for checks grow with values, not with bytes. A member's name counts too,
 * because a name that is new to the runtime costs more than a value. Loops without iterators take 67 ns for a small call,
 * and `Object.entries` 160 ns.
 * @returns the number of values still allowed, negative if there are too many, or `TOO_DEEP`
 */
function checkValues(value: object, depth: number, allowed: number): number {
  if (depth === 0) return TOO_DEEP;
  let left = allowed;
  if (Array.isArray(value)) {
    left -= value.length;
    // not `for…of`: this runs for each value of each message
    for (let at = 0; at < value.length && left >= 0; at += 1) {
      const item: unknown = value[at];
      // most values are strings or numbers, so test for these first
      if (typeof item === 'string') continue;
      if (typeof item === 'number' && !Number.isFinite(item)) throw notFinite();
      if (typeof item === 'object' && item !== null) left = checkValues(item, depth - 1, left);
    }
    return left;
  }
  for (const key in value) {
    // JSON.parse creates an own member, but copying it by assignment would set a prototype
    if (key === '__proto__') throw invalid('The message has a member called __proto__.');
    left -= 2;
    if (left < 0) break;
    const member = (value as JsonObject)[key];
    if (typeof member === 'string') continue;
    if (typeof member === 'number' && !Number.isFinite(member)) throw notFinite();
    if (typeof member === 'object' && member !== null) left = checkValues(member, depth - 1, left);
  }
  return left;
}

/**
 * JSON.parse turns `1e999` into Infinity, which JSON cannot represent. If accepted, it would be checked as one value
 * and sealed as another.
 */
const notFinite = () => invalid('The message has a number that is too large.');
