import { excerpt, invalidOption } from '@decorum/schema/internal';

import { TAGS, type TaggedCaller, type TagVisibility } from '../protocol/access-caller.js';
import { isTag, MAX_TAG_CHARS } from '../protocol/limits.js';
import type { Access, TransportInfo } from '../protocol/wire.js';
import { everyAccess } from './every-access.js';
import type { Condition } from './listing.js';
import type { Listed } from './page.js';

const NONE: TagVisibility = { shown: [], hidden: [] };

/** Conditions for tags, of this server or of one that it mounts. */
const CONDITIONS = new WeakSet<Condition>();

/**
 * Whether tags make a difference between two callers with the same principal and transport.
 * @returns the other conditions, which decide whether they see the member at all; undefined if there is no difference
 */
export function beyondTags(
  conditions: readonly Condition[],
  [before, now]: readonly [TaggedCaller, TaggedCaller],
): readonly Condition[] | undefined {
  const sees = (caller: TaggedCaller) =>
    conditions.every((each) => !CONDITIONS.has(each) || (each as TagCondition)(undefined, ANY, caller));
  return sees(before) === sees(now) ? undefined : conditions.filter((each) => !CONDITIONS.has(each));
}

type TagCondition = (...asked: Parameters<Access>) => boolean;

const ANY: TransportInfo = { kind: 'memory' };

/** Hides members by their tags. Until some caller may not see a tag, tags are no condition, and cost nothing. */
export class Tags {
  private readonly conditions = new Map<string, Access>();
  private readonly hidden: ReadonlySet<string>;
  /** Whether tags decide who sees a member. */
  isUsed: boolean;

  /** @param hidden the tags that are hidden from everybody whose session doesn't show them */
  constructor(hidden: readonly string[] = []) {
    this.hidden = new Set(hidden);
    this.isUsed = hidden.length > 0;
  }

  /** A member whose access depends on its tags, too, if tags are used. */
  guarded<M extends Pick<Listed<unknown>, 'access' | 'tags'>>(member: M): M {
    const { tags = [], access } = member;
    if (!this.isUsed || tags.length === 0) return member;
    return { ...member, access: everyAccess([this.conditionOf(tags), access]) };
  }

  /** Replaces the members whose tags are conditions. */
  guardAll<M extends Pick<Listed<unknown>, 'access' | 'tags'>>(members: Map<string, M>): void {
    for (const [key, member] of members) members.set(key, this.guarded(member));
  }

  private conditionOf(tags: readonly string[]): Access {
    const id = JSON.stringify(tags);
    const known = this.conditions.get(id);
    if (known) return known;
    const condition: TagCondition = (_principal, _transport, caller: TaggedCaller) => {
      const { shown, hidden } = caller[TAGS] ?? NONE;
      return tags.every((tag) => shown.includes(tag) || !(hidden.includes(tag) || this.hidden.has(tag)));
    };
    this.conditions.set(id, condition);
    CONDITIONS.add(condition);
    return condition;
  }
}

/** @throws {DecorumError} `DECORUM_INVALID_OPTION` for anything but an array of tags */
export function requireTags(tags: unknown, where: string, option = 'tags'): asserts tags is readonly string[] {
  if (!Array.isArray(tags)) throw invalidOption(where, option, `is not an array. Write \`${option}: ['admin']\``);
  const index = tags.findIndex((tag) => !isTag(tag));
  if (index === -1) return;
  const found = excerpt(String(JSON.stringify(tags[index])));
  throw invalidOption(
    where,
    option,
    `has ${found}, which is not a tag. Use strings of 1 to ${MAX_TAG_CHARS} characters`,
  );
}
