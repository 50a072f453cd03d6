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
import type { LiveKind, Sought } from './registry/live-members.js';
import { type LiveParts, LiveProvider, type Lives } from './registry/live-provider.js';
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
 * @returns a function that removes it. Call it once
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 */
export function serveLive(
  registry: Registry,
  source: LiveSource,
  parts: Pick<LiveParts, 'provider' | 'host' | 'report'>,
): () => void {
  requireLive(source, parts.provider.cls.name);
  const live = new LiveProvider({ ...parts, source });
  return registry.addLive(live, parts.provider.offers);
}
