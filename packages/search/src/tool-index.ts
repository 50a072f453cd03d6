import MiniSearch, { type SearchOptions } from 'minisearch';
import type { ToolPlan } from '@decorum/core/internal';

import { relevance, type Searched, searched } from './relevance.js';
import { actionsOf, impliedBy, type Synonyms } from './synonyms.js';
import { type Fields, FIELDS, fieldsOf } from './tool-fields.js';
import { varied } from './variety.js';
import { stemsOf } from './words.js';

/** Further words of a query are ignored: each costs time. */
const MAX_TERMS = 16;

/** How much a match in a field counts. */
const BOOST: Readonly<Record<keyof Fields, number>> = {
  name: 4,
  summary: 3,
  description: 1,
  parameters: 1,
  details: 0.4,
};

/** How much a synonym counts, compared with the word itself, and how much if no tool has the word. */
const SYNONYM = 0.4;
const STAND_IN = 0.8;

/** How much a word counts that the query only implies. */
const IMPLIED = 0.3;

/** Plain BM25. With `d`, which MiniSearch adds for long texts, tools come first that mention a word in passing. */
const BM25 = { k: 1.2, b: 0.7, d: 0 };

/** How much a word tells that no tool has. A word that every tenth tool has tells 2.4. */
const UNKNOWN = 1;

/**
 * How many matches the beginnings of words may have, counted once per tool and word: a few letters begin thousands of
 * words. Words beyond it match only themselves.
 */
const MAX_BEGUN = 10_000;

/** Tools that are indexed before other requests get their turn. */
const CHUNK = 50;

interface Numbered extends Fields {
  readonly id: number;
}

/** A word of a query, with its synonyms. */
interface Term {
  readonly words: readonly string[];
  readonly weight: number;
}

/** Finds tools among those that a caller sees. */
export class ToolIndex {
  /** The tools, by their ids in the index. */
  private readonly tools: Searched[] = [];
  /** How many tools have each stem. */
  private readonly counts = new Map<string, number>();
  private readonly index = new MiniSearch<Numbered>({
    fields: [...FIELDS],
    tokenize: (stems) => stems.split(' '),
    processTerm: (stem) => stem || null,
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
    const stems = new Set(FIELDS.flatMap((field) => fields[field].split(' ')));
    for (const stem of stems) this.counts.set(stem, (this.counts.get(stem) ?? 0) + 1);
  }

  /** The tools that match a query, the best first. */
  ranked(query: string): readonly ToolPlan[] {
    const asked = [...new Set(stemsOf(query))].slice(0, MAX_TERMS);
    const terms = new Map(asked.map((word) => [word, this.termOf(word, asked)]));
    const all = sumOf([...terms.values()]);
    const wanted = actionsOf(query, asked, this.synonyms);
    const name = query.trim();
    const found = this.index
      .search(query, this.optionsOf(terms, impliedBy(query)))
      .map(({ id, score, queryTerms, match: stems }) => {
        const each = this.tools[id as number] as Searched;
        const matched = new Set(queryTerms);
        const share = sumOf([...terms.values()].filter(({ words }) => words.some((word) => matched.has(word)))) / all;
        const isNamed = each.tool.key === name;
        return { searched: each, score: isNamed ? Infinity : score * relevance(each, { share, stems }, wanted) };
      });
    return varied(found);
  }

  private termOf(word: string, asked: readonly string[]): Term {
    // "undo a lock" means "unlock"
    const undone = asked.includes('undo') ? [`un${word}`] : [];
    const words = [word, ...(this.synonyms.get(word) ?? []), ...undone];
    const counts = words.flatMap((each) => this.counts.get(each) ?? []);
    return { words, weight: counts.length === 0 ? UNKNOWN : Math.log(1 + this.tools.length / Math.min(...counts)) };
  }

  /** The words of a query that may begin other words. */
  private beginning(asked: Iterable<string>): ReadonlySet<string> {
    const stems = [...this.counts];
    let left = MAX_BEGUN;
    const affordable = [...asked].filter((word) => {
      if (word.length < 3) return false;
      const begun = stems.reduce((sum, [stem, count]) => (stem.startsWith(word) ? sum + count : sum), 0);
      if (begun > left) return false;
      left -= begun;
      return true;
    });
    return new Set(affordable);
  }

  private optionsOf(terms: ReadonlyMap<string, Term>, implied: readonly string[]): SearchOptions {
    const boosts = new Map<string, number>();
    for (const [asked, { words }] of terms) {
      const boost = this.counts.has(asked) ? SYNONYM : STAND_IN;
      for (const word of words) boosts.set(word, Math.max(boosts.get(word) ?? 0, terms.has(word) ? 1 : boost));
    }
    for (const word of implied) if (!boosts.has(word)) boosts.set(word, IMPLIED);
    const words = [...boosts.keys()];
    const beginning = this.beginning(terms.keys());
    return {
      boost: BOOST,
      combineWith: 'OR',
      prefix: (word) => beginning.has(word),
      // a word that tools have is no typo
      fuzzy: (word) => word.length > 4 && terms.has(word) && !this.counts.has(word) && 0.2,
      weights: { fuzzy: 0.2, prefix: 0.4 },
      bm25: BM25,
      boostTerm: (word) => boosts.get(word) ?? 1,
      tokenize: () => words,
      processTerm: (word) => word,
    };
  }
}

const sumOf = (terms: readonly Term[]): number => terms.reduce((sum, { weight }) => sum + weight, 0);
