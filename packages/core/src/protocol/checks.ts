import { excerpt, McpError } from './errors.js';
import type { Client } from './exchange.js';
import { isObject } from './jsonrpc.js';
import type { ClientCapabilities, Implementation, JsonObject } from './model.js';

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

/** What a client says of itself. What is not an object says nothing. */
export function clientOf(info: unknown, capabilities: unknown): Client {
  return {
    info: isObject(info) ? (info as unknown as Implementation) : undefined,
    capabilities: isObject(capabilities) ? (capabilities as ClientCapabilities) : {},
  };
}

/** A client that has not said anything of itself. */
export const UNKNOWN_CLIENT = clientOf(undefined, undefined);
