import type { JsonObject } from '@decorum/core';
import { isObject, isReservedKey } from '@decorum/core/internal';

const isFree = (key: string): boolean => key !== 'progressToken' && !isReservedKey(key);

const freeOf = (meta: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(meta).filter(([key]) => isFree(key))) as JsonObject;

/**
 * The part of a request's `_meta` that goes upstream: its trace, and what is reserved neither for the protocol nor for
 * the connection to the client in front.
 */
export const metaUpstream = (meta: JsonObject = {}): JsonObject => freeOf(meta);

/** A result without what belongs to the connection that it came over. */
export function resultOf({ resultType: _type, _meta: meta, ...result }: JsonObject): JsonObject {
  if (!isObject(meta)) return result;
  const free = freeOf(meta);
  return Object.keys(free).length > 0 ? { ...result, _meta: free } : result;
}
