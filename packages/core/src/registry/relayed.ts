import { UriTemplate } from '@decorum/uri-template';
import { isObject, type JsonObject } from '@decorum/schema/internal';

import type { CallToolResult, GetPromptResult, Prompt, ReadResourceResult, Tool } from '../protocol/model.js';
import type { RelayedRecord } from '../metadata/records.js';
import { REVISIONS } from '../protocol/revisions/index.js';
import { mirroredArguments } from './mirrored.js';
import type { Caller, Provider } from './plan.js';
import { originalUri, placedUri } from './placed-uri.js';
import type { PromptPlan } from './prompt-plan.js';
import { NO_CACHE, type ResourcePlan, type TemplatePlan } from './resource-plan.js';
import type { ToolExtras, ToolPlan } from './tool-plan.js';

type Relay<R> = (input: unknown, caller: Caller) => R | Promise<R>;

const placeOf = ({ cls, scopes = [], access, tags = [] }: Provider, key: string) => ({
  where: `${cls.name}.${key}`,
  access,
  ...(tags.length > 0 && { tags }),
  ...(scopes.length > 0 && { need: { scopes, isPublic: false } }),
});

const handlerOf = <R>({ instance }: Provider, key: string): Relay<R> => {
  const handlers = instance as Readonly<Record<string, Relay<R>>>;
  return (input, caller) => (handlers[key] as Relay<R>)(input, caller);
};

/** Compiles a tool of another server. */
export function relayedTool(
  provider: Provider,
  { key, entry: given }: Extract<RelayedRecord, { kind: 'tool' }>,
  extended: { extrasOf(tool: Tool, options: JsonObject): ToolExtras | undefined } | undefined,
): ToolPlan {
  const entry: Tool = { ...given, name: provider.prefix + given.name };
  const relay = handlerOf<CallToolResult>(provider, key);
  const { inputSchema } = entry;
  return {
    key: entry.name,
    entry,
    ...placeOf(provider, key),
    extras: extended?.extrasOf(entry, {}),
    mirrored: mirroredArguments(isObject(inputSchema) ? inputSchema : {}, `${provider.cls.name}.${key}`),
    sendsObjects: REVISIONS.map((revision) => revision.sendsObjects(entry)),
    run: (args, caller) => relay(args, caller),
  };
}

/** Compiles a prompt of another server. */
export function relayedPrompt(
  provider: Provider,
  { key, entry: given }: Extract<RelayedRecord, { kind: 'prompt' }>,
): PromptPlan {
  const entry: Prompt = { ...given, name: provider.prefix + given.name };
  const relay = handlerOf<GetPromptResult>(provider, key);
  return {
    key: entry.name,
    entry,
    ...placeOf(provider, key),
    variables: (entry.arguments ?? []).map(({ name }) => name),
    completions: new Map(),
    run: (args, caller) => relay(args, caller),
  };
}

/** Compiles a resource or template of another server. */
export function relayedResource(
  provider: Provider,
  { key, entry: given }: Extract<RelayedRecord, { kind: 'resource' }>,
): ResourcePlan | TemplatePlan {
  const relay = handlerOf<ReadResourceResult>(provider, key);
  const shared = {
    ...placeOf(provider, key),
    extra: undefined,
    cache: NO_CACHE,
    read: (uri: string, _variables: unknown, caller: Caller) => relay(originalUri(uri, provider), caller),
  };
  if ('uri' in given) {
    const uri = placedUri(given.uri, provider);
    return { key: uri, entry: { ...given, uri, name: provider.prefix + given.name }, ...shared };
  }
  const uriTemplate = placedUri(given.uriTemplate, provider);
  const template = new UriTemplate(uriTemplate);
  return {
    key: uriTemplate,
    entry: { ...given, uriTemplate, name: provider.prefix + given.name },
    ...shared,
    template,
    variables: template.variables,
    completions: new Map(),
    list: undefined,
  };
}
