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

/** The parent context of a request's span, and the links of the span. */
export interface Parentage {
  readonly parent: Context;
  readonly links: Link[];
}

/**
 * Extracts the parent of a request from its `_meta`. The active span, usually that of the HTTP request, is then linked,
 * because one HTTP request may carry several messages. Without a parent in `_meta`, the active span is the parent.
 */
export function parentageOf(meta: Readonly<JsonObject>): Parentage {
  const ambient = context.active();
  const parent = propagation.extract(ambient, meta, GETTER);
  const around = trace.getSpanContext(ambient);
  const isRemote = trace.getSpanContext(parent) !== around;
  return { parent, links: isRemote && around ? [{ context: around }] : [] };
}

/** Injects the context of a question into its `_meta`, so that the client can continue the trace. */
export const inject = (from: Context, meta: JsonObject): void => propagation.inject(from, meta, SETTER);
