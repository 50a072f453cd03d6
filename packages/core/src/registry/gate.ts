import type { Gate, PluginMember } from '../protocol/plugin-access.js';
import { everyAccess } from './every-access.js';
import type { Listed } from './page.js';
import { type AnyPlan, kindOf } from './transformed.js';

/** What plugins' conditions are added to. */
export type Gated = Pick<Listed<unknown>, 'access' | 'tags'>;

/** A member with the condition that plugins set for it. Its content may depend on the caller from then on. */
export function gatedPlan<P extends AnyPlan>(plan: P, gate: Gate | undefined): P {
  if (gate === undefined) return plan;
  const access = everyAccess([plan.access, gate(pluginMemberOf(plan))]);
  return 'cache' in plan ? { ...plan, access, cache: { ...plan.cache, scope: 'private' } } : { ...plan, access };
}

/** The same for the conditions of a resource of which only the URI is known. */
export function gatedAt<G extends Gated>(uri: string, guards: G, gate: Gate | undefined): G {
  if (gate === undefined) return guards;
  const tags = Object.freeze([...(guards.tags ?? [])]);
  const member = Object.freeze({ kind: 'resource', name: uri, uri, tags, annotations: undefined, where: uri });
  return { ...guards, access: everyAccess([guards.access, gate(member)]) };
}

function pluginMemberOf(plan: AnyPlan): PluginMember {
  const { entry, key, where, tags = [] } = plan;
  const kind = kindOf(plan);
  const uri = kind === 'resource' || kind === 'template' ? key : undefined;
  const annotations = 'annotations' in entry ? entry.annotations : undefined;
  return Object.freeze({ kind, name: entry.name, uri, tags: Object.freeze([...tags]), annotations, where });
}
