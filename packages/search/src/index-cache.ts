import type { ToolPlan } from '@decorum/core/internal';

import { ToolIndex } from './tool-index.js';
import { type Synonyms, synonymsOf } from './synonyms.js';

/** Callers with different permissions see different tools. Each index of 1,000 tools takes a few megabytes. */
const MAX_INDEXES = 16;

interface Kept {
  readonly tools: readonly ToolPlan[];
  readonly index: Promise<ToolIndex>;
}

/** Whether two lists have the same entries. Lists with tools that depend on the caller are made for each request. */
const isSame = (one: readonly ToolPlan[], other: readonly ToolPlan[]): boolean =>
  one === other || (one.length === other.length && one.every(({ entry }, index) => entry === other[index]?.entry));

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
    this.kept = [used, ...this.kept.filter((each) => each !== used)].slice(0, MAX_INDEXES);
    return used.index;
  }
}
