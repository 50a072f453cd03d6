import { invalidOption } from '@decorum/schema/internal';

import type { Context } from './kernel/context.js';
import type { CompletionContext } from './kernel/completion-context.js';
import type { CompletionValues } from './metadata/records.js';
import type {
  CallToolResult,
  GetPromptResult,
  Prompt,
  ReadResourceResult,
  Resource,
  ResourceTemplate,
  Tool,
} from './protocol/model.js';
import { type LiveKind, type LiveParts, LiveProvider, type Lives, type Sought } from './registry/live-provider.js';
import type { Registry } from './registry/registry.js';

type LiveResult = CallToolResult | GetPromptResult | ReadResourceResult;

/** A member of a live source. Return the same object again: its compiled form is kept for as long as the object. */
export interface LiveMember {
  /** Its entry, with the source's own name or URI. */
  readonly entry: Tool | Prompt | Resource | ResourceTemplate;
  /**
   * Runs it.
   * @param input the arguments as the client sends them, or the source's own URI of the resource
   * @returns the protocol's result, which is not checked
   */
  run(input: unknown, ctx: Context): LiveResult | Promise<LiveResult>;
  /** Completes an argument of a prompt, or a variable of a template. */
  complete?(argument: string, value: string, ctx: CompletionContext): CompletionValues | Promise<CompletionValues>;
}

/** A source of members that depend on the caller, and of resources that are on no list. */
export interface LiveSource {
  /** What it adds to lists. These lists depend on the caller, so clients may cache them only for themselves. */
  readonly kinds: readonly LiveKind[];
  /** All its members of a kind that the caller may know of. */
  list(kind: LiveKind, ctx: Context): readonly LiveMember[] | Promise<readonly LiveMember[]>;
  /**
   * Finds a member that no provider has. Asked once per request.
   * @param kind `resource` also for resources of templates, for those on no list, and for templates to complete
   * @param key the source's own name, URI, or text of a template
   */
  find(kind: Sought, key: string, ctx: Context): LiveMember | undefined | Promise<LiveMember | undefined>;
}

const KINDS: readonly unknown[] = ['tool', 'prompt', 'resource', 'template'] satisfies readonly LiveKind[];

/** The lists of the kinds of members. */
const LISTS = { tool: 'tools', prompt: 'prompts', resource: 'resources', template: 'resources' } as const;

/** @throws {DecorumError} `DECORUM_INVALID_OPTION` for anything but a live source */
function requireLive(source: unknown, where: string): asserts source is Lives {
  const { kinds, list, find } = (source ?? {}) as Readonly<Record<string, unknown>>;
  const isLive = typeof list === 'function' && typeof find === 'function';
  if (isLive && Array.isArray(kinds) && kinds.every((kind) => KINDS.includes(kind))) return;
  const remedy = "Pass { kinds: ['tool'], list(kind, ctx), find(kind, key, ctx) }";
  throw invalidOption(where, 'source', `is not a live source. ${remedy}`);
}

/**
 * Adds a live source.
 * @returns a function that removes it
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 */
export function serveLive(
  registry: Registry,
  source: LiveSource,
  parts: Pick<LiveParts, 'provider' | 'host' | 'report'>,
): () => void {
  requireLive(source, parts.provider.cls.name);
  const live = new LiveProvider({ ...parts, source });
  const lists = [...new Set(live.kinds.map((kind) => LISTS[kind]))];
  for (const each of [...lists, ...(parts.provider.offers ?? [])]) registry.offered.add(each);
  registry.live = [...registry.live, live];
  registry.changed(lists, new Map());
  return () => {
    if (!registry.live.includes(live)) return;
    registry.live = registry.live.filter((each) => each !== live);
    registry.changed(lists, new Map());
  };
}
