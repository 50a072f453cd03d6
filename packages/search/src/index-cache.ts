import { isDeepStrictEqual } from 'node:util';

import type { ToolPlan } from '@decorum/core/internal';

import { ToolIndex } from './tool-index.js';
import { type Synonyms, synonymsOf } from './synonyms.js';

/** Callers with different permissions see different tools. */
const MAX_INDEXES = 16;

/** The most tools of all indexes together: 1,000 of them take a few megabytes. The last index is kept whatever its size. */
const MAX_TOOLS = 20_000;

interface Kept {
  readonly tools: readonly ToolPlan[];
  readonly index: Promise<ToolIndex>;
}

const hasSameName = (one: ToolPlan, other: ToolPlan): boolean => one.key === other.key;

/** Whether two tools have equal entries. Proxies read them again for each request. */
const hasSameEntry = ({ entry: one }: ToolPlan, { entry: other }: ToolPlan): boolean =>
  one === other || isDeepStrictEqual(one, other);

/** Whether two lists have the same entries. Lists with tools that depend on the caller are made for each request. */
function isSame(one: readonly ToolPlan[], other: readonly ToolPlan[]): boolean {
  if (one === other) return true;
  // names cost less to compare, and are what usually differs
  const every = (test: typeof hasSameName) => one.every((tool, index) => test(tool, other[index] as ToolPlan));
  return one.length === other.length && every(hasSameName) && every(hasSameEntry);
}

/** The first indexes, up to the caps. */
function bounded([last, ...older]: readonly Kept[]): readonly Kept[] {
  let left = MAX_TOOLS - (last?.tools.length ?? 0);
  const fitting = older.filter(({ tools }) => (left -= tools.length) >= 0);
  return last === undefined ? [] : [last, ...fitting].slice(0, MAX_INDEXES);
}

/**
 * Keeps an index for each set of tools that some callers see. An index of all tools would let callers learn of hidden
 * ones from the order of what they find.
 */
export class IndexCache {
  private readonly synonyms: Synonyms;
  private kept: readonly Kept[] = [];

  constructor(synonyms: Readonly<Record<string, readonly string[]>>) {
    this.synonyms = synonymsOf(synonyms);
  }

  /** The index of the tools that a caller sees. */
  of(tools: readonly ToolPlan[]): Promise<ToolIndex> {
    const known = this.kept.find((each) => isSame(each.tools, tools));
    const used = known ?? { tools, index: ToolIndex.of(tools, this.synonyms) };
    this.kept = bounded([used, ...this.kept.filter((each) => each !== used)]);
    return used.index;
  }
}
