import { isObject, type JsonObject } from '@decorum/schema/internal';

import type { RelayedRecord } from '../metadata/records.js';
import { startupError } from '../protocol/errors.js';
import type { CallToolResult, GetPromptResult, Prompt, ReadResourceResult, Tool } from '../protocol/model.js';
import { REVISIONS } from '../protocol/revisions/index.js';
import { mirroredArguments } from './mirrored.js';
import type { Caller } from './caller.js';
import { type Provider, requireName } from './plan.js';
import { originalUri, placedUri } from './placed-uri.js';
import type { PromptPlan } from './prompt-plan.js';
import { NO_CACHE, parsedTemplate, type ResourcePlan, type TemplatePlan } from './resource-plan.js';
import { requireTags } from './tags.js';
import type { ToolDefaults, ToolPlan } from './tool-plan.js';

type RecordOf<Kind extends RelayedRecord['kind']> = Extract<RelayedRecord, { readonly kind: Kind }>;

/** @param args what guards see of the input of a resource, whose input is its URI */
type Relay<R> = (input: unknown, caller: Caller, args?: JsonObject) => R | Promise<R>;

const placeOf = (
  { cls, scopes = [], access, tags: shared = [], host }: Provider,
  { kind, key, tags: own = [] }: RelayedRecord,
) => {
  requireTags(own, `${cls.name}.${key}`);
  const tags = [...new Set([...shared, ...own])];
  return {
    where: `${cls.name}.${key}`,
    isRelayed: true as const,
    access,
    shown: host?.shown?.(key, kind),
    ...(tags.length > 0 && { tags }),
    ...(scopes.length > 0 && { need: { scopes, isPublic: false } }),
  };
};

function handlerOf<R>({ instance, host }: Provider, { kind, key }: RelayedRecord): Relay<R> {
  const handlers = instance as Readonly<Record<string, Relay<R>>>;
  const call: Relay<R> = (input, caller) => (handlers[key] as Relay<R>)(input, caller);
  if (host === undefined) return call;
  return (input, caller, args = input as JsonObject) => call({ kind, args, check: () => input }, caller);
}

/** Fields that clients reject with the whole list if they are no text. */
const TEXTS = ['name', 'title', 'description', 'mimeType'];

/** @throws {DecorumError} `DECORUM_INVALID_OPTION` for an entry that clients would reject with the whole list */
function requireEntry({ kind, entry }: RelayedRecord, where: string): void {
  const wrong = (field: string, problem: string) => startupError('DECORUM_INVALID_OPTION', where, field, problem);
  if (!isObject(entry)) throw wrong('entry', `is not an object. Pass the entry of the ${kind}`);
  const fields: JsonObject = { ...entry };
  const text = TEXTS.find((field) => !['string', 'undefined'].includes(typeof fields[field]));
  if (text !== undefined || typeof fields['name'] !== 'string') {
    throw wrong(`entry.${text ?? 'name'}`, 'is not a string. Correct the entry, or leave it out');
  }
  if (kind !== 'tool') return;
  const { inputSchema, outputSchema = {} } = fields;
  if (!isObject(inputSchema) || inputSchema['type'] !== 'object') {
    throw wrong('entry.inputSchema', 'is not a schema with `type: "object"`. Correct the entry, or leave it out');
  }
  if (!isObject(outputSchema)) throw wrong('entry.outputSchema', 'is not a schema. Correct the entry, or leave it out');
}

/**
 * Compiles a tool of another server.
 * @throws {DecorumError} for an entry that clients would reject
 */
export function relayedTool(
  provider: Provider,
  record: RecordOf<'tool'>,
  extended: ToolDefaults['extended'],
): ToolPlan {
  const place = placeOf(provider, record);
  requireEntry(record, place.where);
  const entry: Tool = { ...record.entry, name: provider.prefix + record.entry.name };
  requireName(entry.name, place.where);
  const relay = handlerOf<CallToolResult>(provider, record);
  return {
    key: entry.name,
    entry,
    ...place,
    options: {},
    extras: extended?.extrasOf(entry, {}),
    mirrored: mirroredArguments(entry.inputSchema, place.where),
    sendsObjects: REVISIONS.map((revision) => revision.sendsObjects(entry)),
    run: (args, caller) => relay(args, caller),
  };
}

/**
 * Compiles a prompt of another server.
 * @throws {DecorumError} for an entry that clients would reject
 */
export function relayedPrompt(provider: Provider, record: RecordOf<'prompt'>): PromptPlan {
  const place = placeOf(provider, record);
  requireEntry(record, place.where);
  const entry: Prompt = { ...record.entry, name: provider.prefix + record.entry.name };
  requireName(entry.name, place.where);
  const { arguments: args = [] } = entry;
  if (!Array.isArray(args) || !args.every((arg) => isObject(arg) && typeof arg['name'] === 'string')) {
    const problem = 'is not a list of arguments with names. Correct the entry, or leave it out';
    throw startupError('DECORUM_INVALID_OPTION', place.where, 'entry.arguments', problem);
  }
  const relay = handlerOf<GetPromptResult>(provider, record);
  return {
    key: entry.name,
    entry,
    ...place,
    variables: (entry.arguments ?? []).map(({ name }) => name),
    completions: new Map(),
    run: (given, caller) => relay(given, caller),
  };
}

/**
 * Compiles a resource or template of another server.
 * @throws {DecorumError} for an entry that clients would reject
 */
export function relayedResource(provider: Provider, record: RecordOf<'resource'>): ResourcePlan | TemplatePlan {
  const place = placeOf(provider, record);
  requireEntry(record, place.where);
  const { entry: given } = record;
  const relay = handlerOf<ReadResourceResult>(provider, record);
  const shared = {
    ...place,
    extra: undefined,
    cache: NO_CACHE,
    read: (uri: string, variables: JsonObject, caller: Caller) => relay(originalUri(uri, provider), caller, variables),
  };
  const name = provider.prefix + given.name;
  if (!('uriTemplate' in given)) {
    requireRelayedUri(given.uri, place.where);
    const uri = placedUri(given.uri, provider);
    return { key: uri, entry: { ...given, uri, name }, ...shared };
  }
  requireRelayedUri(given.uriTemplate, place.where);
  const uriTemplate = placedUri(given.uriTemplate, provider);
  const template = parsedTemplate(uriTemplate, place.where);
  return {
    key: uriTemplate,
    entry: { ...given, uriTemplate, name },
    ...shared,
    template,
    variables: template.variables,
    completions: new Map(),
    list: undefined,
  };
}

/** @throws {DecorumError} `DECORUM_BAD_URI` unless it is a URI with a scheme. Other servers may use unusual characters */
function requireRelayedUri(uri: unknown, where: string): void {
  if (typeof uri !== 'string' || !/^[a-z][a-z0-9+.-]*:/i.test(uri) || /\p{Cc}/u.test(uri)) {
    throw startupError('DECORUM_BAD_URI', where, String(uri), 'Correct the entry, or leave it out');
  }
}
