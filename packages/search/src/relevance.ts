import type { ToolPlan } from '@decorum/core/internal';

import { actionsIn } from './synonyms.js';
import type { Fields } from './tool-fields.js';

/** How much a tool counts that does what the query wants done, and one that does something else. */
const AGREES = 1.2;
const DIFFERS = 0.6;

/** How much of the score depends on how much of the name or summary the query is about. Other tools do something special. */
const FOCUS = 0.7;

/** Fields that say what a tool is about. */
const TELLING = ['name', 'summary'] as const;

/** What is known of a tool before it is searched. */
export interface Searched {
  readonly tool: ToolPlan;
  /** What it does, such as `delete`. */
  readonly actions: ReadonlySet<string>;
  /** The stems of its name, and of its summary. */
  readonly name: ReadonlySet<string>;
  readonly summary: ReadonlySet<string>;
}

/** What a query matches of a tool. */
export interface Matched {
  /** The share of the words of the query, by what they tell. */
  readonly share: number;
  /** The stems of the tool, each with the fields that have it. */
  readonly stems: Readonly<Record<string, readonly string[]>>;
}

const stemsIn = (field: string) => field.split(' ');

/** Reads what is known of a tool. */
export function searched(tool: ToolPlan, { name, summary }: Fields): Searched {
  const named = actionsIn(stemsIn(name));
  const actions = named.size > 0 ? named : actionsIn(stemsIn(summary).slice(0, 1));
  return { tool, actions, name: new Set(stemsIn(name)), summary: new Set(stemsIn(summary)) };
}

/**
 * What a score of BM25 is multiplied with.
 * @param wanted what the query wants done
 */
export function relevance(tool: Searched, { share, stems }: Matched, wanted: ReadonlySet<string>): number {
  const fields = Object.values(stems);
  const about = TELLING.map((field) => fields.filter((each) => each.includes(field)).length / tool[field].size);
  return share * agreement(tool.actions, wanted) * (1 - FOCUS + FOCUS * Math.max(...about));
}

function agreement(actions: ReadonlySet<string>, wanted: ReadonlySet<string>): number {
  // nothing should be deleted by a model that only looked for a thing
  if (wanted.size === 0) return actions.has('delete') ? DIFFERS : 1;
  if (actions.size === 0) return 1;
  return [...actions].some((each) => wanted.has(each)) ? AGREES : DIFFERS;
}
