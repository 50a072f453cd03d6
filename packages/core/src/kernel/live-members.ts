import { andThen } from '@decorum/schema/internal';

import type { Exchange } from '../protocol/exchange.js';
import { Listing } from '../registry/listing.js';
import type { Listed } from '../registry/page.js';
import type { LiveKind, Sought } from '../registry/live-members.js';
import { isTaken } from '../registry/lists.js';
import type { Registry, ResourceMatch } from '../registry/registry.js';
import type { AnyPlan } from '../registry/transformed.js';
import { admission } from './admission.js';
import { Context } from './context.js';
import type { ErrorReporter } from './error-reporter.js';

/** What the members of live sources are found with. */
export interface LiveParts {
  readonly registry: Registry;
  readonly reporter: ErrorReporter;
}

/** What each request has found: its scopes are judged before it runs. */
const found = new WeakMap<Exchange, Map<string, Promise<AnyPlan | undefined>>>();

/**
 * Finds a member of a live source. Sources that fail are reported, and count as if they didn't have it.
 * @returns undefined at once if there are no live sources
 */
export function findLive(
  exchange: Exchange,
  { kind, key }: { readonly kind: Sought; readonly key: string },
  parts: LiveParts,
): Promise<AnyPlan | undefined> | undefined {
  if (parts.registry.live.length === 0) return undefined;
  const known = found.get(exchange) ?? new Map<string, Promise<AnyPlan | undefined>>();
  const id = `${kind} ${key}`;
  const finding = known.get(id) ?? search(exchange, { kind, key }, parts);
  found.set(exchange, known.set(id, finding));
  return finding;
}

async function search(
  exchange: Exchange,
  { kind, key }: { readonly kind: Sought; readonly key: string },
  { registry, reporter }: LiveParts,
): Promise<AnyPlan | undefined> {
  for (const source of registry.live) {
    try {
      const plan = await source.find(kind, key, new Context(exchange));
      if (plan) return registry.guarded(plan);
    } catch (error) {
      reporter.report(error, exchange);
    }
  }
  return undefined;
}

/** What serves a URI: a provider, or else a live source. */
export function resourceAt(
  exchange: Exchange,
  uri: string,
  parts: LiveParts,
): ResourceMatch | undefined | Promise<ResourceMatch | undefined> {
  const match = parts.registry.match(uri);
  if (match !== undefined) return match;
  return andThen(findLive(exchange, { kind: 'resource', key: uri }, parts), (plan) => {
    if (plan === undefined) return undefined;
    return {
      plan: plan as ResourceMatch['plan'],
      variables: ('template' in plan ? plan.template.match(uri) : undefined) ?? {},
    };
  });
}

/** Whether a list has members of live sources. */
export const isLiveList = (kind: LiveKind, { live }: Registry): boolean =>
  live.some(({ kinds }) => kinds.includes(kind));

/** Appends what live sources have for a caller to what the caller sees of a list. Names that are taken are left out. */
export async function withLive<T>(
  listed: readonly Listed<T>[] | Promise<readonly Listed<T>[]>,
  kind: LiveKind,
  { exchange, registry, reporter }: LiveParts & { readonly exchange: Exchange },
): Promise<readonly Listed<T>[]> {
  const lists = registry.live.map(async (source) => {
    try {
      return source.kinds.includes(kind) ? await source.list(kind, new Context(exchange)) : [];
    } catch (error) {
      reporter.report(error, exchange);
      return [];
    }
  });
  const [known, ...added] = await Promise.all([listed, ...lists]);
  const seen = new Set<string>();
  const own = added
    .flat()
    .filter(({ key, isUnlisted }) => !isUnlisted && !isTaken(registry, kind, key) && seen.size < seen.add(key).size);
  const visible = await new Listing<Listed<unknown>>(
    own.map((plan) => registry.guarded(plan)),
    registry.onlyUsable,
  ).visible(admission(exchange, reporter));
  return [...known, ...(visible as readonly Listed<T>[])];
}
