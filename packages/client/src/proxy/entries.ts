import type { JsonObject, PromptEntry, ResourceEntry, ResourceTemplateEntry, ToolEntry } from '@decorum/core';
import { isObject, isReservedKey } from '@decorum/core/internal';

import { isDeeper } from './canonical.js';
import { isCompilable } from './compilable.js';

/** The entries of an upstream by kind of member. */
export interface EntryOf {
  readonly tool: ToolEntry;
  readonly prompt: PromptEntry;
  readonly resource: ResourceEntry;
  readonly template: ResourceTemplateEntry;
}

/** A kind of member. */
export type Kind = keyof EntryOf;

/** All kinds of members. */
export const KINDS = ['tool', 'prompt', 'resource', 'template'] as const satisfies readonly Kind[];

/** The field that identifies an entry. */
const KEY = { tool: 'name', prompt: 'name', resource: 'uri', template: 'uriTemplate' } as const;

/** What identifies an entry: its name, URI or template. */
export const keyOf = (kind: Kind, entry: EntryOf[Kind]): string =>
  (entry as unknown as Readonly<Record<string, string>>)[KEY[kind]] as string;

/** Cap on the depth of an entry: schemas of people have a few levels. */
const MAX_DEPTH = 32;

/** An entry as it may be listed, or what is wrong with it. */
export type Read<K extends Kind> = { readonly entry: EntryOf[K] } | { readonly problem: string };

/**
 * Reads an entry of an upstream, which may have sent anything. Clients reject a whole list for one field of a wrong
 * type, so optional fields that are wrong are left out.
 * @param maxBytes cap on its JSON
 */
export function readEntry<K extends Kind>(kind: K, given: JsonObject, maxBytes: number): Read<K> {
  if (isDeeper(given, MAX_DEPTH)) return { problem: `is nested deeper than ${MAX_DEPTH} levels` };
  if (Buffer.byteLength(JSON.stringify(given)) > maxBytes) return { problem: `is larger than ${maxBytes} bytes` };
  if (typeof given[KEY[kind]] !== 'string') return { problem: `has no ${KEY[kind]}` };
  if (kind === 'tool' && !hasReadableSchema(given['inputSchema']))
    return { problem: 'has an input schema that clients can’t read' };
  if (kind === 'tool' && isObject(given['execution']) && given['execution']['taskSupport'] === 'required')
    return { problem: 'only runs as a task, which does not pass a proxy' };
  const checked = Object.entries(given).flatMap(([field, value]) => {
    const check = Object.hasOwn(OPTIONAL, field) ? OPTIONAL[field] : undefined;
    const kept = check === undefined ? value : check(value);
    return kept === undefined ? [] : [[field, kept] as const];
  });
  return { entry: Object.fromEntries(checked) as unknown as EntryOf[K] };
}

const isTextList = (value: unknown): boolean => Array.isArray(value) && value.every((each) => typeof each === 'string');

/** Clients of sessions want objects as properties, and texts as names of required ones. */
function hasReadableSchema(schema: unknown): boolean {
  if (!isObject(schema)) return false;
  const { properties = {}, required = [] } = schema;
  return isObject(properties) && Object.values(properties).every(isObject) && isTextList(required);
}

const isText = (value: unknown): boolean => typeof value === 'string';

/** Checks of optional fields: each returns what to keep. */
const OPTIONAL: Readonly<Record<string, (value: unknown) => unknown>> = {
  icons: iconsOf,
  outputSchema: (value) => (hasReadableSchema(value) && isCompilable(value) ? value : undefined),
  execution: (value) => (isObject(value) ? kept(value, EXECUTION) : undefined),
  arguments: (value) => (Array.isArray(value) ? value.map(argumentOf) : undefined),
  annotations: annotationsOf,
  _meta: metaOf,
  size: (value) => (typeof value === 'number' ? value : undefined),
};

type Checks = Readonly<Record<string, (value: unknown) => boolean>>;

/** What is left of an object without the fields that are wrong. */
const kept = (value: JsonObject, checks: Checks): JsonObject =>
  Object.fromEntries(
    Object.entries(value).filter(([name, field]) => !Object.hasOwn(checks, name) || checks[name]?.(field)),
  );

const oneOf = (...names: readonly unknown[]) => names.includes.bind(names);

const EXECUTION: Checks = { taskSupport: oneOf('forbidden', 'optional', 'required') };

const ICON: Checks = { mimeType: isText, sizes: isTextList, theme: oneOf('light', 'dark') };

const ARGUMENT: Checks = { title: isText, description: isText, required: (value) => typeof value === 'boolean' };

const argumentOf = (value: unknown): unknown => (isObject(value) ? kept(value, ARGUMENT) : value);

/** Icons with sources that clients may load. Others, such as `javascript:`, could run code. */
function iconsOf(value: unknown): unknown {
  if (!Array.isArray(value)) return undefined;
  const icons = value
    .filter((icon: unknown) => isObject(icon) && isText(icon['src']) && /^(?:https?|data):/i.test(String(icon['src'])))
    .map((icon: JsonObject) => kept(icon, ICON));
  return icons.length > 0 ? icons : undefined;
}

/** A date and time of ISO 8601, with seconds and a zone. */
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/;

const HINTS: Checks = {
  title: isText,
  audience: (value) => Array.isArray(value) && value.every(oneOf('user', 'assistant')),
  priority: (value) => typeof value === 'number' && value >= 0 && value <= 1,
  lastModified: (value) => typeof value === 'string' && TIME.test(value),
};

function annotationsOf(value: unknown): unknown {
  if (!isObject(value)) return undefined;
  return Object.fromEntries(
    Object.entries(value).filter(([name, hint]) =>
      Object.hasOwn(HINTS, name) ? HINTS[name]?.(hint) : typeof hint === 'boolean',
    ),
  );
}

function metaOf(value: unknown): unknown {
  if (!isObject(value)) return undefined;
  const free = Object.entries(value).filter(([key]) => !isReservedKey(key));
  return free.length > 0 ? Object.fromEntries(free) : undefined;
}
