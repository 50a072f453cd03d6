import {
  type Context,
  context,
  type Link,
  propagation,
  type TextMapGetter,
  type TextMapSetter,
  trace,
} from '@opentelemetry/api';
import type { JsonObject } from '@decorum/core';

const GETTER: TextMapGetter<Readonly<JsonObject>> = {
  keys: (meta) => Object.keys(meta),
  get: (meta, key) => {
    const value = Object.hasOwn(meta, key) ? meta[key] : undefined;
    return typeof value === 'string' ? value : undefined;
  },
};

const SETTER: TextMapSetter<JsonObject> = {
  set: (meta, key, value) => {
    meta[key] = value;
  },
};

/** The context that a request runs in, and what its span links to. */
export interface Parentage {
  readonly parent: Context;
  readonly links: Link[];
}

/**
 * The parent of a request is the span that its client names in `_meta`. The span that is active, usually the one of the
 * HTTP request, is then linked: several messages may come over one HTTP request. Without a parent in `_meta`, the active
 * span is the parent.
 */
export function parentageOf(meta: Readonly<JsonObject>): Parentage {
  const ambient = context.active();
  const parent = propagation.extract(ambient, meta, GETTER);
  const around = trace.getSpanContext(ambient);
  const isRemote = trace.getSpanContext(parent) !== around;
  return { parent, links: isRemote && around ? [{ context: around }] : [] };
}

/** Writes the context of a question into its `_meta`, for the client to continue. */
export const inject = (from: Context, meta: JsonObject): void => propagation.inject(from, meta, SETTER);
