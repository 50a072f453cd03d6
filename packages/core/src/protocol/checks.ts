import { excerpt, McpError } from './errors.js';
import { isObject } from './jsonrpc.js';
import type { JsonObject } from './model.js';

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
