import { UriTemplate } from '@decorum/uri-template';
import { andThen, type JsonObject } from '@decorum/schema/internal';

import { McpError } from '../protocol/errors.js';
import type { CallToolResult, ContentBlock, GetPromptResult, ReadResourceResult, Tool } from '../protocol/model.js';
import type { Need } from '../protocol/scopes.js';
import type { Access } from '../protocol/wire.js';
import { prefixed } from './aliases.js';
import type { Completable } from './completion-plan.js';
import { everyAccess } from './every-access.js';
import type { LiveMembers } from './live-members.js';
import { MountedLive, type MountedLiveParts } from './mounted-live.js';
import type { Caller } from './caller.js';
import type { InnerCall, InnerCalls } from './inner-call.js';
import { type Plan, requireName } from './plan.js';
import { originalUri, placedUri, type UriPlace } from './placed-uri.js';
import type { PromptPlan } from './prompt-plan.js';
import type { CompiledMembers } from './compiled-members.js';
import { NO_CACHE, type ResourcePlan, type TemplatePlan } from './resource-plan.js';
import type { AnyPlan } from './transformed.js';
import type { ToolExtras, ToolPlan } from './tool-plan.js';

/** Where the members of a server are served that another server mounts, and who may use them. */
export interface MountPlace extends UriPlace {
  /** Names the mounted server in errors. */
  readonly source: string;
  /** Put before names. */
  readonly prefix: string;
  readonly access: Access | undefined;
  readonly scopes: readonly string[];
  readonly tags: readonly string[];
  /** The maximum of a member in the server that mounts, if it has this one in its own; undefined for none of its own. */
  maxOf(own: number | undefined): number | undefined;
  /** Whether the mounted server lists only what callers may use. */
  readonly onlyUsable: boolean;
  /** Undefined if calls run as they do on a server without interceptors, error rules and plugins. */
  readonly calls: InnerCalls | undefined;
  /** The options of a tool, with the URIs that clients know. */
  movedOptions(options: JsonObject, move: (uri: string) => string): JsonObject;
  /** What extensions of the server that mounts make of a tool. */
  extrasOf(tool: Tool, options: JsonObject): ToolExtras | undefined;
  /** What live sources of the mounted server need. */
  readonly live: Pick<MountedLiveParts, 'transforms' | 'isTaken' | 'serves' | 'report'>;
  /** A member with the conditions that the mounted server's tags and plugins set. */
  guarded<P extends AnyPlan>(member: P): P;
  /** The same for a resource of which only the URI is known. */
  guardedAt<G extends ReturnType<LiveMembers['guards']>>(uri: string, guards: G): G;
  /** Whether the mounted server serves any resource. */
  hasResources(): boolean;
  /** Whether the mounted server serves a URI. */
  serves(uri: string): boolean;
}

const CLOSED = new McpError('closing', 'The server is closing.');

const refuse = (): never => {
  throw CLOSED;
};

/** Makes the members that a server serves of those of a server that it mounts. */
export class MountedMembers {
  /** Whether all calls fail, because the mounted server has closed. */
  isClosed = false;
  /** Calls that have not ended. */
  private readonly running = new Set<Promise<unknown>>();

  constructor(private readonly place: MountPlace) {}

  /**
   * The same members under other names. They share what runs.
   * @throws {DecorumError} `DECORUM_INVALID_NAME`, or what an extension throws for the options of a tool
   */
  of({ tools, prompts, resources, live, offers }: CompiledMembers): CompiledMembers {
    return {
      tools: tools.filter(({ isFinder }) => isFinder === undefined).map((plan) => this.tool(plan)),
      prompts: prompts.map((plan) => this.prompt(plan)),
      resources: resources.map((plan) => this.resource(plan)),
      live: this.isClosed ? [] : live.map((source) => this.live(source)),
      offers,
    };
  }

  /** Resolves when the calls have ended that run now. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.running);
  }

  /** Notes a call that runs on. */
  private noted<R>(result: R | Promise<R>): R | Promise<R> {
    if (!(result instanceof Promise)) return result;
    this.running.add(result);
    const end = () => void this.running.delete(result);
    result.then(end, end);
    return result;
  }

  private live(source: LiveMembers): LiveMembers {
    const { guarded, guardedAt, live } = this.place;
    return new MountedLive(source, {
      ...live,
      place: this.place,
      mounted: (plan) => this.liveMember(guarded(plan)),
      guarded: (uri, guards) => ({ ...guards, ...this.guards(guardedAt(uri, guards)) }),
    });
  }

  private liveMember(plan: AnyPlan): AnyPlan {
    // extensions don't apply to members of live sources
    if ('mirrored' in plan) return this.tool(plan, () => undefined);
    return 'run' in plan ? this.prompt(plan) : this.resource(plan);
  }

  private tool(plan: ToolPlan, extrasOf = this.place.extrasOf): ToolPlan {
    const entry = { ...plan.entry, name: this.nameOf(plan, plan.key) };
    const run = this.around('tool', plan.key, plan.run);
    const isMoved = this.place.uriSegment !== undefined;
    const options = isMoved ? this.place.movedOptions(plan.options, (uri) => placedUri(uri, this.place)) : plan.options;
    return {
      ...plan,
      ...this.guards(plan),
      key: entry.name,
      entry,
      options,
      extras: extrasOf(entry, options),
      run: isMoved ? this.moving(run) : run,
    };
  }

  private moving(run: ToolPlan['run']): ToolPlan['run'] {
    const { place } = this;
    // a promise isn't touched without need
    return (args, caller) => {
      const result = run(args, caller);
      return place.hasResources() ? andThen(result, (settled) => this.toolResult(settled)) : result;
    };
  }

  private prompt(plan: PromptPlan): PromptPlan {
    const entry = { ...plan.entry, name: this.nameOf(plan, plan.key) };
    const run = this.around('prompt', plan.key, plan.run);
    const isMoved = this.place.uriSegment !== undefined;
    return {
      ...plan,
      ...this.guards(plan),
      key: entry.name,
      entry,
      completions: this.completions(plan),
      run: isMoved ? (args, caller) => andThen(run(args, caller), (result) => this.promptResult(result)) : run,
    };
  }

  private resource(plan: ResourcePlan | TemplatePlan): ResourcePlan | TemplatePlan {
    const { place } = this;
    const key = placedUri(plan.key, place);
    const name = place.prefix + plan.entry.name;
    const isRestricted = place.access !== undefined || place.scopes.length > 0;
    const shared = {
      ...this.guards(plan),
      key,
      cache: isRestricted && plan.cache.scope === 'public' ? NO_CACHE : plan.cache,
      read: this.reader(plan),
      forget: plan.forget && ((uri: string) => plan.forget?.(originalUri(uri, place) ?? uri)),
      ...(plan.extra && { maxResultChars: plan.maxResultChars }),
    };
    if (!('template' in plan)) return { ...plan, ...shared, entry: { ...plan.entry, uri: key, name } };
    const list = this.isClosed ? undefined : plan.list;
    return {
      ...plan,
      ...shared,
      entry: { ...plan.entry, uriTemplate: key, name },
      template: new UriTemplate(key),
      completions: this.completions(plan),
      list:
        list &&
        (async (caller, report) =>
          (await list(caller, report)).map((entry) => ({ ...entry, uri: placedUri(entry.uri, place) }))),
    };
  }

  private reader(plan: ResourcePlan | TemplatePlan): ResourcePlan['read'] {
    const { calls, uriSegment } = this.place;
    if (this.isClosed) return refuse;
    const inside: ResourcePlan['read'] = (name, args, caller) =>
      this.noted(
        calls === undefined
          ? plan.read(name, args, caller)
          : calls.run({ kind: 'resource', name, args, caller }, (inner) => plan.read(name, args, inner)),
      );
    if (uriSegment === undefined) return inside;
    const moved = (result: ReadResourceResult, uri: string, asked: string) => ({
      ...result,
      contents: result.contents.map((each) => ({ ...each, uri: each.uri === uri ? asked : this.moved(each.uri) })),
    });
    return async (asked, variables, caller) => {
      const uri = originalUri(asked, this.place) ?? asked;
      try {
        return moved(await inside(uri, variables, caller), uri, asked);
      } catch (error) {
        throw error instanceof McpError ? withUri(error, uri, asked) : error;
      }
    };
  }

  private around<R extends object>(
    kind: InnerCall['kind'],
    name: string,
    run: (args: JsonObject, caller: Caller) => R | Promise<R>,
  ): (args: JsonObject, caller: Caller) => R | Promise<R> {
    const { calls } = this.place;
    if (this.isClosed) return refuse;
    if (calls === undefined) return (args, caller) => this.noted(run(args, caller));
    return (args, caller) => this.noted(calls.run({ kind, name, args, caller }, (inner) => run(args, inner)));
  }

  private completions({ key, completions }: Plan<unknown> & Completable): Completable['completions'] {
    const { calls } = this.place;
    if (this.isClosed) return new Map([...completions.keys()].map((argument) => [argument, refuse]));
    if (calls === undefined) return completions;
    const wrapped = [...completions].map(([argument, complete]) => {
      const run: typeof complete = (value, caller) => {
        const { args: known = {} } = caller as { readonly args?: JsonObject };
        const args = { ...known, [argument]: value };
        return calls.run({ kind: 'completion', name: key, args, caller }, (inner) => complete(value, inner));
      };
      return [argument, run] as const;
    });
    return new Map(wrapped);
  }

  private nameOf({ where }: Plan<unknown>, name: string): string {
    const { prefix, source } = this.place;
    requireName(prefix + name, `${where} in ${source}`);
    return prefix + name;
  }

  private guards({
    access,
    need,
    where: own,
    tags: given = [],
    aliases,
    maxResultChars,
  }: ReturnType<LiveMembers['guards']> & Partial<Plan<unknown>>): ReturnType<LiveMembers['guards']> &
    Pick<Plan<unknown>, 'where' | 'aliases' | 'maxResultChars'> {
    const { source, scopes, onlyUsable, prefix, access: outer } = this.place;
    const where = `${own} in ${source}`;
    const tags = [...new Set([...this.place.tags, ...given])];
    return {
      where,
      aliases: aliases && prefixed(aliases, prefix, where),
      access: everyAccess([outer, access]),
      need: scopes.length === 0 ? need : withScopes(scopes, need),
      tags: tags.length > 0 ? tags : undefined,
      maxResultChars: this.place.maxOf(maxResultChars),
      ...(onlyUsable && { onlyUsable }),
    };
  }

  private moved(uri: string): string {
    return this.place.serves(uri) ? placedUri(uri, this.place) : uri;
  }

  private block(block: ContentBlock): ContentBlock {
    if (block.type === 'resource_link') return { ...block, uri: this.moved(block.uri) };
    if (block.type !== 'resource') return block;
    return { ...block, resource: { ...block.resource, uri: this.moved(block.resource.uri) } };
  }

  private toolResult(result: CallToolResult): CallToolResult {
    // most results name no resource, and stay the same object
    if (!result.content.some(namesResource)) return result;
    return { ...result, content: result.content.map((block) => this.block(block)) };
  }

  private promptResult(result: GetPromptResult): GetPromptResult {
    const messages = result.messages.map((message) => ({ ...message, content: this.block(message.content) }));
    return { ...result, messages };
  }
}

const namesResource = ({ type }: ContentBlock) => type === 'resource_link' || type === 'resource';

const withScopes = (scopes: readonly string[], own: Need | undefined): Need => ({
  scopes: [...new Set([...scopes, ...(own?.scopes ?? [])])],
  isPublic: false,
});

/** An error that names a resource as the client does. */
function withUri(error: McpError, uri: string, asked: string): McpError {
  const data = error.data as { readonly uri?: unknown } | undefined;
  if (data?.uri !== uri) return error;
  return new McpError(error.kind ?? error.code, error.message, { ...data, uri: asked });
}
