import { excerpt, McpError } from './errors.js';
import type { Client } from './exchange.js';
import { isObject } from './jsonrpc.js';
import type { ClientCapabilities, Implementation, JsonObject } from './model.js';

/**
 * Reads a required string from the params.
 * @throws {McpError} `invalid-params`
 */
export function requireString(params: JsonObject, name: string): string {
  const value = params[name];
  if (typeof value !== 'string') throw new McpError('invalid-params', `"${name}" is not a string.`);
  return value;
}

/**
 * Reads an optional object from the params.
 * @throws {McpError} `invalid-params`
 */
export function optionalObject(params: JsonObject, name: string): JsonObject | undefined {
  const value = params[name];
  if (value === undefined || isObject(value)) return value;
  throw new McpError('invalid-params', `"${name}" is not an object.`);
}

/**
 * Checks that a value is one of several strings.
 * @throws {McpError} `invalid-params`
 */
export function requireOneOf<T extends string>(value: unknown, name: string, allowed: readonly T[]): T {
  if ((allowed as readonly unknown[]).includes(value)) return value as T;
  throw new McpError('invalid-params', `"${name}" is ${excerpt(value)}, but must be one of ${allowed.join(', ')}.`);
}

/** A client's description of itself. Values that are not objects are ignored. */
export function clientOf(info: unknown, capabilities: unknown): Client {
  return {
    info: isObject(info) ? (info as unknown as Implementation) : undefined,
    capabilities: isObject(capabilities) ? (capabilities as ClientCapabilities) : {},
  };
}

/** A client that has not described itself. */
export const UNKNOWN_CLIENT = clientOf(undefined, undefined);
