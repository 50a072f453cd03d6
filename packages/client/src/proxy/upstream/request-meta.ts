import { type Context, type JsonObject, McpError } from '@decorum/core';
import {
  digestOf,
  holderOf,
  IDEMPOTENCY_KEY,
  idempotencyKeyOf,
  isObject,
  isReservedKey,
  NOBODY,
} from '@decorum/core/internal';

const isFree = (key: string): boolean => key !== 'progressToken' && !isReservedKey(key);

const freeOf = (meta: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(meta).filter(([key]) => isFree(key))) as JsonObject;

/**
 * The part of a request's `_meta` that goes upstream: its trace, and what is reserved neither for the protocol nor for
 * the connection to the client in front.
 */
export const metaUpstream = (meta: JsonObject = {}): JsonObject => freeOf(meta);

/**
 * The idempotency key of a call, for an upstream that may not know the callers apart: they must not share keys.
 * @throws {McpError} `invalid-params` for an invalid key, and `invalid-request` from callers whom nothing tells apart
 */
export function keyUpstream(ctx: Context, method: string): JsonObject {
  const key = method === 'tools/call' ? idempotencyKeyOf(ctx.meta, ctx.transport) : undefined;
  if (key === undefined) return {};
  const holder = holderOf(ctx);
  if (holder === undefined) throw new McpError('invalid-request', NOBODY);
  return { [IDEMPOTENCY_KEY]: digestOf([holder, key]) };
}

/** A result without what belongs to the connection that it came over. */
export function resultOf({ resultType: _type, _meta: meta, ...result }: JsonObject): JsonObject {
  if (!isObject(meta)) return result;
  const free = freeOf(meta);
  return Object.keys(free).length > 0 ? { ...result, _meta: free } : result;
}
