import type { Completable } from './completion-plan.js';
import { duplicate } from './duplicate.js';
import type { LiveMembers } from './live-members.js';
import type { NamedPlans } from './named-plans.js';
import type { Plan } from './plan.js';
import type { Transforms } from './transforms.js';

/** The lists that have change notifications. */
export type ListName = 'tools' | 'prompts' | 'resources';

/** Everything that one provider added, so that it can be removed. */
export interface Added {
  readonly undo: (() => void)[];
  readonly plans: { readonly list: ListName; readonly plan: Plan<unknown> }[];
  readonly live: LiveMembers[];
  /** By member name, for the provider's completions. */
  readonly completable: Map<string, Completable>;
  /** Whether no class declares the members. */
  readonly isSource: boolean;
  readonly transforms: Transforms;
}

/** The lists of the kinds of members. */
const LISTS = { tool: 'tools', prompt: 'prompts', resource: 'resources', 'resource template': 'resources' } as const;

/** Adds a plan under its key and its aliases, and notes how to remove it. */
export function put<P extends Plan<unknown>>(
  kind: keyof typeof LISTS,
  plans: NamedPlans<P>,
  { plan, added }: { readonly plan: P; readonly added: Added },
): void {
  const { key, where, aliases = [] } = plan;
  const requireFree = (named: Pick<Plan<unknown>, 'key' | 'where'>) => {
    const other = plans.whereIs(named.key);
    if (other !== undefined) throw duplicate(kind, named, { other, isSource: added.isSource });
  };
  requireFree(plan);
  plans.set(key, plan);
  added.undo.push(() => plans.delete(key));
  for (const alias of aliases) {
    requireFree({ key: alias.name, where: `${where} (aliases)` });
    plans.claim(alias, key);
  }
  added.plans.push({ list: LISTS[kind], plan });
}
