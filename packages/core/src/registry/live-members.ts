import { hasEnded } from './aliases.js';
import type { TransformedMember } from './change.js';
import type { Guards } from './listing.js';
import type { Listed } from './page.js';
import type { AnyPlan } from './transformed.js';

/** The kinds of members that a live source has. */
export type LiveKind = TransformedMember['kind'];

/** What a live source may be asked for. A resource may also be one that a template has, or that is on no list. */
export type Sought = Exclude<LiveKind, 'template'>;

/** A live source at its place in a server. */
export interface LiveMembers {
  /** What it adds to lists. */
  readonly kinds: readonly LiveKind[];
  /** Whether a URI may be one of its own. */
  owns(uri: string): boolean;
  /** The conditions for seeing the resource with a URI. */
  guards(uri: string): Guards & Pick<Listed<unknown>, 'tags'>;
  /** Its members that the caller may know of. */
  list(kind: LiveKind, context: object): Promise<readonly AnyPlan[]>;
  /** The member with a name or URI. */
  find(kind: Sought, key: string, context: object): Promise<AnyPlan | undefined>;
}

/** Which lists have what is sought. */
const LISTS = { tool: ['tool'], prompt: ['prompt'], resource: ['resource', 'template'] } as const;

/** Whether a member has a name, alias or URI. */
export const isServedBy = (plan: AnyPlan, key: string): boolean =>
  plan.key === key ||
  ('template' in plan && plan.template.match(key) !== undefined) ||
  plan.aliases?.some((alias) => alias.name === key && !hasEnded(alias)) === true;

/** The member of a source's lists with a name or URI, which the source itself may know by another. */
export async function listedAs(
  { kinds, list }: Pick<LiveMembers, 'kinds' | 'list'>,
  { kind, key }: { readonly kind: Sought; readonly key: string },
  context: object,
): Promise<AnyPlan | undefined> {
  for (const each of LISTS[kind].filter((listed) => kinds.includes(listed))) {
    const found = (await list(each, context)).find((plan) => isServedBy(plan, key));
    if (found) return found;
  }
  return undefined;
}
