import type { ListName } from './added.js';
import { type Condition, conditionsOf, isHidden } from './listing.js';
import type { TaggedCaller } from '../protocol/access-caller.js';
import type { LiveKind } from './live-members.js';
import type { Plan } from './plan.js';
import { beyondTags } from './tags.js';

/** The conditions for seeing each member that was added to a list or removed from it. Only some callers see them. */
export type HiddenChanges = ReadonlyMap<ListName, readonly (readonly Condition[])[]>;

const LISTS = { tool: 'tools', prompt: 'prompts', resource: 'resources', template: 'resources' } as const;

/** The lists that have members of these kinds. */
export const listsWith = (kinds: readonly LiveKind[]): readonly ListName[] => [
  ...new Set(kinds.map((kind) => LISTS[kind])),
];

/**
 * The lists that members were added to or removed from.
 * @param all what was added or removed, of which lists have only some
 * @param entire lists that have changed for everybody
 */
export function listChanges(
  all: readonly { readonly list: ListName; readonly plan: Plan<unknown> }[],
  entire: readonly ListName[],
  onlyUsable: boolean,
): [lists: readonly ListName[], hidden: HiddenChanges] {
  const changes = all.filter(({ plan }) => !plan.isUnlisted);
  const seen = changes.filter(({ plan }) => !isHidden(plan, onlyUsable)).map(({ list }) => list);
  const lists = new Set([...seen, ...entire]);
  const hidden = new Map<ListName, (readonly Condition[])[]>();
  for (const { list, plan } of changes) {
    if (!lists.has(list)) hidden.set(list, [...(hidden.get(list) ?? []), conditionsOf(plan, onlyUsable)]);
  }
  return [[...lists], hidden];
}

interface Lists {
  readonly onlyUsable: boolean;
  readonly tools: ReadonlyMap<string, Plan<unknown>>;
  readonly prompts: ReadonlyMap<string, Plan<unknown>>;
  readonly resources: ReadonlyMap<string, Plan<unknown>>;
  readonly templates: ReadonlyMap<string, Plan<unknown>>;
}

/** The lists that differ between two callers because of tags, with the other conditions for seeing what differs. */
export function tagDifferences(
  { tools, prompts, resources, templates, onlyUsable }: Lists,
  callers: readonly [TaggedCaller, TaggedCaller],
): HiddenChanges {
  const lists = { tools: [tools], prompts: [prompts], resources: [resources, templates] };
  const differing = Object.entries(lists).map(([list, maps]) => {
    const plans = maps.flatMap((each) => [...each.values()]).filter(({ isUnlisted }) => !isUnlisted);
    const others = plans.map((plan) => beyondTags(conditionsOf(plan, onlyUsable), callers));
    return [list as ListName, others.filter((each) => each !== undefined)] as const;
  });
  return new Map(differing);
}
