import { excerpt, McpError } from './errors.js';
import type { JsonRpcMessage } from './jsonrpc.js';
import type { JsonObject, RequestId } from './model.js';

/** How deeply arrays and objects of a message may be nested. */
export const MAX_DEPTH = 64;

/** Whether a value is an object with members, not an array and not null. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether a value can be a request id or a progress token: a string, or an integer that a double holds exactly. */
export function isRequestId(value: unknown): value is RequestId {
  return typeof value === 'string' || Number.isSafeInteger(value);
}

/** The id of a message, where it has a readable one. */
export function readableId(message: unknown): RequestId | undefined {
  if (!isObject(message)) return undefined;
  return isRequestId(message['id']) ? message['id'] : undefined;
}

const invalid = (message: string) => new McpError('invalid-request', message);

/**
 * Refuses what is not a JSON-RPC message, is nested too deeply, or has a member called `__proto__`.
 * @throws {McpError} `invalid-request` or `invalid-params`
 */
export function checkMessage(message: unknown): asserts message is JsonRpcMessage {
  if (!isObject(message) || message['jsonrpc'] !== '2.0') throw invalid('The message is not a JSON-RPC 2.0 object.');
  const { id, method, params } = message;
  if (id !== undefined && !isRequestId(id)) throw invalid('The id is neither a string nor an integer up to 2^53 - 1.');
  if (method === undefined) {
    if ((message['result'] === undefined) === (message['error'] === undefined)) {
      throw invalid('The message has neither a method nor exactly one of result and error.');
    }
  } else if (typeof method !== 'string') throw invalid('The method is not a string.');
  if (params !== undefined && !isObject(params)) throw new McpError('invalid-params', 'The params are not an object.');
  checkNesting(message, MAX_DEPTH);
}

function checkNesting(value: object, depth: number): void {
  if (depth === 0) throw invalid(`The message is nested more than ${MAX_DEPTH} levels deep.`);
  // JSON.parse makes __proto__ an own member; copying it by assignment would change a prototype
  if (Object.hasOwn(value, '__proto__')) throw invalid('The message has a member called __proto__.');
  for (const key in value) {
    const member = (value as JsonObject)[key];
    if (typeof member === 'object' && member !== null) checkNesting(member, depth - 1);
  }
}

/**
 * A member of the params that must be a string.
 * @throws {McpError} `invalid-params`
 */
export function requireString(params: JsonObject, name: string): string {
  const value = params[name];
  if (typeof value !== 'string') throw new McpError('invalid-params', `"${name}" is not a string.`);
  return value;
}

/**
 * A member of the params that must be an object where it is present.
 * @throws {McpError} `invalid-params`
 */
export function optionalObject(params: JsonObject, name: string): JsonObject | undefined {
  const value = params[name];
  if (value === undefined || isObject(value)) return value;
  throw new McpError('invalid-params', `"${name}" is not an object.`);
}

/**
 * One of a set of strings.
 * @throws {McpError} `invalid-params`
 */
export function requireOneOf<T extends string>(value: unknown, name: string, allowed: readonly T[]): T {
  if ((allowed as readonly unknown[]).includes(value)) return value as T;
  throw new McpError('invalid-params', `"${name}" is ${excerpt(value)}, but must be one of ${allowed.join(', ')}.`);
}
