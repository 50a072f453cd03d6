import type { CompletionContext, Context, PromptEntry, ResourceTemplateEntry, ToolEntry } from '@decorum/core';
import { isObject } from '@decorum/core/internal';
import type { AddedMember, Handlers } from '@decorum/core/plugin';

import type { Catalog } from './catalog.js';
import { type EntryOf, type Kind, keyOf } from './entries.js';
import type { CompletionTarget, Relay } from './relay.js';

/** The lists whose members are added and removed together. */
export const GROUPS = {
  tools: ['tool'],
  prompts: ['prompt'],
  resources: ['resource', 'template'],
} as const satisfies Readonly<Record<string, readonly Kind[]>>;

/** A list whose members are added and removed together. */
export type Group = keyof typeof GROUPS;

/** Members as `server.addMembers` takes them. */
export interface Members {
  readonly records: readonly AddedMember[];
  readonly handlers: Handlers;
}

/** The members of an upstream's lists, whose calls go to the upstream. */
export function membersOf(
  group: Group,
  catalog: Catalog,
  { relay, completes }: { readonly relay: Relay; readonly completes: boolean },
): Members {
  const records: AddedMember[] = [];
  // own properties: the names are the upstream's, and `__proto__` is one
  const handlers = new Map<string, (input: never, ctx: never) => unknown>();
  const add = (record: AddedMember, handler: (input: never, ctx: never) => unknown) => {
    if (handlers.has(record.key)) return;
    records.push(record);
    handlers.set(record.key, handler);
  };
  for (const kind of GROUPS[group]) {
    for (const entry of catalog[kind]) {
      const key = `${kind}:${keyOf(kind, entry)}`;
      add(recordOf(kind, key, entry), runnerOf(kind, entry, relay));
      if (!completes) continue;
      for (const argument of argumentsOf(kind, entry)) {
        const options = { for: key, argument };
        add(
          { kind: 'completion', key: `completion:${argument}:${key}`, options },
          completerOf(kind, entry, { relay, argument }),
        );
      }
    }
  }
  return { records, handlers: Object.fromEntries(handlers) };
}

type Entry = EntryOf[Kind];

function recordOf(kind: Kind, key: string, entry: Entry): AddedMember {
  if (kind === 'tool') return { kind, key, entry: entry as ToolEntry };
  if (kind === 'prompt') return { kind, key, entry: entry as PromptEntry };
  return { kind: 'resource', key, entry: entry as ResourceTemplateEntry };
}

/** What runs a member: with arguments, or the URI of a resource. */
export function runnerOf(kind: Kind, entry: Entry, relay: Relay): (input: never, ctx: never) => unknown {
  const { name } = entry;
  if (kind === 'tool') return (args: unknown, ctx: Context) => relay.callTool(name, args, ctx);
  if (kind === 'prompt') return (args: unknown, ctx: Context) => relay.getPrompt(name, args, ctx);
  return (uri: string, ctx: Context) => relay.read(uri, ctx);
}

/** What can be completed of a member: the arguments of a prompt, or the variables of a template. */
function argumentsOf(kind: Kind, entry: Entry): readonly string[] {
  if (kind === 'prompt') {
    const { arguments: args } = entry as PromptEntry;
    return Array.isArray(args)
      ? args.flatMap((each: unknown) => (isObject(each) && typeof each['name'] === 'string' ? [each['name']] : []))
      : [];
  }
  return kind === 'template' ? variablesOf((entry as ResourceTemplateEntry).uriTemplate) : [];
}

/** The variables of a URI template (RFC 6570), which core checks. */
const variablesOf = (template: string): readonly string[] =>
  [...template.matchAll(/\{[+#./;?&]?([^{}]*)\}/g)].flatMap(([, list = '']) =>
    list.split(',').map((name) => name.replace(/\*$|:\d+$/, '')),
  );

function completerOf(
  kind: Kind,
  entry: Entry,
  { relay, argument: name }: { readonly relay: Relay; readonly argument: string },
): (value: string, ctx: CompletionContext) => unknown {
  const target = completionTargetOf(kind, entry);
  return (value, ctx) => relay.complete(target, { name, value }, ctx);
}

/** How a request for completions names a member. */
export const completionTargetOf = (kind: Kind, entry: Entry): CompletionTarget =>
  kind === 'prompt'
    ? { type: 'ref/prompt', name: entry.name }
    : { type: 'ref/resource', uri: (entry as ResourceTemplateEntry).uriTemplate };
