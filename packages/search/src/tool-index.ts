import MiniSearch, { type SearchOptions } from 'minisearch';
import type { ToolPlan } from '@decorum/core/internal';

import { relevance, type Searched, searched } from './relevance.js';
import { actionsOf, type Synonyms } from './synonyms.js';
import { type Fields, FIELDS, fieldsOf } from './tool-fields.js';
import { stemsOf } from './words.js';

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
const SYNONYM = 0.4;

/** Tools that are indexed before other requests get their turn. */
const CHUNK = 100;

interface Numbered extends Fields {
  readonly id: number;
}

/** Finds tools among those that a caller sees. */
export class ToolIndex {
  /** The tools, by their ids in the index. */
  private readonly tools: Searched[] = [];
  /** The stems that tools have. */
  private readonly known = new Set<string>();
  private readonly index = new MiniSearch<Numbered>({
    fields: [...FIELDS],
    tokenize: (stems) => stems.split(' '),
    processTerm: (stem) => {
      if (stem === '') return null;
      this.known.add(stem);
      return stem;
    },
    autoVacuum: false,
  });

  private constructor(private readonly synonyms: Synonyms) {}

  /** Builds the index of these tools. */
  static async of(tools: readonly ToolPlan[], synonyms: Synonyms): Promise<ToolIndex> {
    const built = new ToolIndex(synonyms);
    for (const [at, tool] of tools.entries()) {
      if (at > 0 && at % CHUNK === 0) await new Promise((resolve) => setImmediate(resolve));
      built.add(tool);
    }
    return built;
  }

  private add(tool: ToolPlan): void {
    const fields = fieldsOf(tool.entry);
    this.index.add({ id: this.tools.length, ...fields });
    this.tools.push(searched(tool, fields));
  }

  /** The tools that match a query, the best first. */
  ranked(query: string): readonly ToolPlan[] {
    const terms = [...new Set(stemsOf(query))].slice(0, MAX_TERMS);
    const origins = this.originsOf(terms);
    const asked = [...origins.keys()];
    const options: SearchOptions = {
      boost: BOOST,
      combineWith: 'OR',
      prefix: (term) => term.length > 2,
      // a word that tools have is no typo
      fuzzy: (term) => term.length > 4 && !this.known.has(term) && 0.2,
      weights: { fuzzy: 0.2, prefix: 0.4 },
      boostTerm: (term) => (terms.includes(term) ? 1 : SYNONYM),
      tokenize: () => asked,
      processTerm: (term) => term,
    };
    const wanted = actionsOf(query, terms);
    const found = this.index.search(query, options).map(({ id, score, queryTerms, match: stems }) => {
      const each = this.tools[id as number] as Searched;
      const covered = new Set(queryTerms.flatMap((term) => [...(origins.get(term) ?? [])]));
      const share = covered.size / terms.length;
      return { tool: each.tool, score: score * relevance(each, { share, stems }, wanted) };
    });
    return found.sort((one, other) => other.score - one.score).map(({ tool }) => tool);
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
