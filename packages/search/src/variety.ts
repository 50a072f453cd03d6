import type { ToolPlan } from '@decorum/core/internal';

import type { Searched } from './relevance.js';

/** How many of the best tools are put apart. A search returns at most 20. */
const BEST = 40;

/** How much of its score a tool loses, at most, if another one with a similar name comes before it. */
const LOSS = 0.6;

/** Names that share less than this part of their words don't count as similar. */
const APART = 0.3;

/** A tool with its score. */
export interface Scored {
  readonly searched: Searched;
  readonly score: number;
}

function similarity({ name: one }: Searched, { name: other }: Searched): number {
  let shared = 0;
  for (const stem of one) if (other.has(stem)) shared += 1;
  return shared / (one.size + other.size - shared);
}

/**
 * Ranks tools by their scores, but not many of the same kind one after the other: if none of `list_for_org`,
 * `list_for_repo` and `list_for_user` is meant, a model needs to see something else.
 */
export function varied(found: readonly Scored[]): readonly ToolPlan[] {
  const ranked = found.toSorted((one, other) => other.score - one.score);
  const left = ranked.slice(0, BEST).map((each) => ({ ...each, nearest: 0 }));
  const placed: Searched[] = [];
  while (left.length > 0) {
    const scores = left.map(({ score, nearest }) => score * (1 - LOSS * Math.max(0, nearest - APART)));
    // the first of equal ones, so the order is the same each time
    const [next] = left.splice(scores.indexOf(Math.max(...scores)), 1);
    if (next === undefined) break;
    placed.push(next.searched);
    for (const each of left) each.nearest = Math.max(each.nearest, similarity(each.searched, next.searched));
  }
  return [...placed, ...ranked.slice(BEST).map(({ searched }) => searched)].map(({ tool }) => tool);
}
