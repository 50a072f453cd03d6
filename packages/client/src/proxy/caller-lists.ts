import type { CompletionContext, Context, ReadResourceResult } from '@decorum/core';
import type { LiveKind, LiveMember, LiveSource } from '@decorum/core/plugin';

import { readList } from './catalog.js';
import { type EntryOf, type Kind, keyOf, KINDS } from './entries.js';
import { completionTargetOf, runnerOf } from './members.js';
import type { Taken } from './proxy-options.js';
import type { Relay } from './relay.js';
import type { Upstreams } from './upstream/upstreams.js';

/** Milliseconds for which a list that was read for a caller serves to find members. */
const FRESH_MS = 60_000;

interface Fetched {
  readonly at: number;
  readonly members: Promise<readonly LiveMember[]>;
}

/** What lists of callers are made of. */
export interface CallerListsParts {
  readonly upstreams: Pick<Upstreams, 'request' | 'sessionOf'>;
  readonly relay: Relay;
  readonly taken: Taken;
  /** Whether clients may read URIs that are on no list. */
  readonly readsUnlisted: boolean;
  warn(problem: string): void;
}

/** Serves to each caller what the upstream shows to that caller. */
export class CallerLists implements LiveSource {
  readonly kinds: readonly LiveKind[] = KINDS;
  /** By the session upstream, with which they end. */
  private readonly fetched = new WeakMap<object, Map<Kind, Fetched>>();

  constructor(private readonly parts: CallerListsParts) {}

  async list(kind: LiveKind, ctx: Context): Promise<readonly LiveMember[]> {
    const { upstreams } = this.parts;
    const session = await upstreams.sessionOf(ctx);
    const lists = this.fetched.get(session) ?? new Map<Kind, Fetched>();
    this.fetched.set(session, lists);
    const members = this.fetch(kind, ctx);
    lists.set(kind, { at: performance.now(), members });
    members.catch(() => lists.delete(kind));
    return await members;
  }

  async find(kind: 'tool' | 'prompt' | 'resource', key: string, ctx: Context): Promise<LiveMember | undefined> {
    const named = await this.named(kind, key, ctx);
    if (named !== undefined || kind !== 'resource') return named;
    const template = await this.named('template', key, ctx);
    if (template !== undefined) return template;
    const { relay, readsUnlisted } = this.parts;
    if (!readsUnlisted) return templateFor(key, await this.recent('template', ctx));
    if (!relay.uris.mayServe(key)) return undefined;
    const run = async (_uri: unknown, reader: Context): Promise<ReadResourceResult> => await relay.read(key, reader);
    return { entry: { uri: key, name: key }, run };
  }

  /** The member with a name, URI or text of a template. A list that doesn't have it may have changed. */
  private async named(kind: Kind, key: string, ctx: Context): Promise<LiveMember | undefined> {
    const has = ({ entry }: LiveMember) => keyOf(kind, entry) === key;
    const known = (await this.recent(kind, ctx)).find(has);
    return known ?? (kind === 'tool' || kind === 'prompt' ? (await this.list(kind, ctx)).find(has) : undefined);
  }

  private async recent(kind: Kind, ctx: Context): Promise<readonly LiveMember[]> {
    const known = this.fetched.get(await this.parts.upstreams.sessionOf(ctx))?.get(kind);
    const isFresh = known !== undefined && performance.now() - known.at < FRESH_MS;
    return isFresh ? await known.members : await this.list(kind, ctx);
  }

  private async fetch(kind: Kind, ctx: Context): Promise<readonly LiveMember[]> {
    const { upstreams, relay, taken, warn } = this.parts;
    const request = async (method: string, params: object) =>
      await upstreams.request(ctx, { method, params: params as never });
    const entries = await readList(kind, { ...taken, request, warn });
    return (entries as readonly EntryOf[Kind][]).map((entry) => {
      const run = runnerOf(kind, entry, relay) as LiveMember['run'];
      if (kind === 'resource' || kind === 'template') relay.uris.learn(keyOf(kind, entry));
      if (kind !== 'prompt' && kind !== 'template') return { entry, run };
      const target = completionTargetOf(kind, entry);
      const complete = (name: string, value: string, asker: CompletionContext) =>
        relay.complete(target, { name, value }, asker);
      return { entry, run, complete };
    });
  }
}

/** The template that a URI most likely belongs to. Core checks whether it does. */
function templateFor(uri: string, templates: readonly LiveMember[]): LiveMember | undefined {
  const literal = ({ entry }: LiveMember) => ('uriTemplate' in entry ? (entry.uriTemplate.split('{')[0] ?? '') : '');
  const fitting = templates.filter((member) => uri.startsWith(literal(member)));
  return fitting.toSorted((one, other) => literal(other).length - literal(one).length)[0];
}
