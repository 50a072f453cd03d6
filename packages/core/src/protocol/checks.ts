import { excerpt, isObject, type JsonObject } from '@decorum/schema/internal';

import { McpError } from './errors.js';
import type { Client } from './client.js';
import { MAX_KEPT_CHARS } from './limits.js';
import type { ClientCapabilities, Implementation } from './model.js';

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

/**
 * Reads a URI from the params.
 * @throws {McpError} `invalid-params`
 */
export function requireUri(params: JsonObject): string {
  const uri = requireString(params, 'uri');
  if (uri.length <= MAX_KEPT_CHARS) return uri;
  throw new McpError('invalid-params', `The URI is longer than ${MAX_KEPT_CHARS} characters.`);
}

/** The fields of a client that are kept, most important first. */
const INFO = ['name', 'version', 'title', 'websiteUrl', 'description', 'icons'] as const;
const CAPABILITIES = ['roots', 'sampling', 'elicitation', 'tasks', 'extensions', 'experimental'] as const;

/** Copies known fields, except those that don't fit within half of the cap. */
function keep(given: unknown, fields: readonly string[]): JsonObject | undefined {
  if (!isObject(given)) return undefined;
  let left = MAX_KEPT_CHARS / 2;
  const kept: JsonObject = {};
  for (const field of fields) {
    const size = JSON.stringify(given[field])?.length ?? left + 1;
    if (size > left) continue;
    left -= size;
    kept[field] = given[field];
  }
  return kept;
}

/** A client's description of itself: the known fields that fit within the cap. Ignores values that are not objects. */
export function clientOf(info: unknown, capabilities: unknown): Client {
  return {
    info: keep(info, INFO) as Implementation | undefined,
    capabilities: (keep(capabilities, CAPABILITIES) ?? {}) as ClientCapabilities,
  };
}

/** A client that has not described itself. */
export const UNKNOWN_CLIENT = clientOf(undefined, undefined);
