import MiniSearch, { type SearchOptions } from 'minisearch';
import type { ToolPlan } from '@decorum/core/internal';

import { type Fields, FIELDS, fieldsOf } from './tool-fields.js';
import type { Synonyms } from './synonyms.js';
import { stemsOf } from './words.js';

export type { Synonyms } from './synonyms.js';

/** Further words of a query are ignored: each costs time. */
const MAX_TERMS = 24;

/** How much a match in a field counts. */
const BOOST: Readonly<Record<keyof Fields, number>> = {
  name: 4,
  summary: 3,
  description: 1,
  parameters: 1,
  details: 0.4,
};

/** How much a synonym counts, compared with the word itself. */
const SYNONYM = 0.5;

/** Tools that match more of the words of a query come first: the exponent of the matched share of the words. */
const COVERAGE = 1.5;

/** Tools that are indexed before other requests get their turn. */
const CHUNK = 100;

interface Numbered extends Fields {
  readonly id: number;
}

const words = (stems: string): string[] => stems.split(' ');

/** Finds tools among those that a caller sees. */
export class ToolIndex {
  private readonly index = new MiniSearch<Numbered>({
    fields: [...FIELDS],
    tokenize: words,
    processTerm: (stem) => stem || null,
    autoVacuum: false,
  });

  private constructor(
    private readonly tools: readonly ToolPlan[],
    private readonly synonyms: Synonyms,
  ) {}

  /** Builds the index of these tools. */
  static async of(tools: readonly ToolPlan[], synonyms: Synonyms): Promise<ToolIndex> {
    const built = new ToolIndex(tools, synonyms);
    for (let start = 0; start < tools.length; start += CHUNK) {
      if (start > 0) await new Promise((resolve) => setImmediate(resolve));
      const chunk = tools.slice(start, start + CHUNK);
      built.index.addAll(chunk.map((tool, at) => ({ id: start + at, ...fieldsOf(tool.entry) })));
    }
    return built;
  }

  /** The tools that match a query, the best first. */
  *ranked(query: string): Generator<ToolPlan, void, void> {
    const terms = [...new Set(stemsOf(query))].slice(0, MAX_TERMS);
    if (terms.length === 0) return;
    const origins = this.originsOf(terms);
    const asked = [...origins.keys()];
    const options: SearchOptions = {
      boost: BOOST,
      combineWith: 'OR',
      prefix: (term) => term.length > 2,
      fuzzy: (term) => (term.length > 4 ? 0.2 : false),
      weights: { fuzzy: 0.2, prefix: 0.4 },
      boostTerm: (term) => (terms.includes(term) ? 1 : SYNONYM),
      tokenize: () => asked,
      processTerm: (term) => term,
    };
    const found = this.index.search(query, options).map(({ id, score, queryTerms }) => {
      const covered = new Set(queryTerms.flatMap((term) => [...(origins.get(term) ?? [])]));
      return { tool: this.tools[id as number] as ToolPlan, score: score * (covered.size / terms.length) ** COVERAGE };
    });
    found.sort((a, b) => b.score - a.score);
    for (const { tool } of found) yield tool;
  }

  /** The words to look for, each with the words of the query that it stands for. */
  private originsOf(terms: readonly string[]): ReadonlyMap<string, ReadonlySet<string>> {
    const origins = new Map<string, Set<string>>();
    for (const term of terms) {
      for (const word of [term, ...(this.synonyms.get(term) ?? [])]) {
        origins.set(word, (origins.get(word) ?? new Set()).add(term));
      }
    }
    return origins;
  }
}
