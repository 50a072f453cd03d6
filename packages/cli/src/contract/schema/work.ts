import { createContext, runInContext } from 'node:vm';

import { CannotTell, TooComplex } from './cannot-tell.js';
import type { Node } from './form.js';

/** Cap on the steps of one comparison. A large schema takes some thousands. */
const MAX_STEPS = 50_000;

/** Cap on the time of one match: the pattern may come from a stranger. A busy machine needs some of it to begin. */
const MATCH_MS = 500;

/** What a match that takes too long costs, so that few of them end the comparison. */
const SLOW_MATCH_STEPS = 5000;

/** The steps that are left for all comparisons together. */
export interface Budget {
  left: number;
}

/** Counts the steps of a comparison, and remembers what nodes it has seen. */
export class Work {
  private steps = 0;
  private readonly ids = new Map<unknown, number>();
  private readonly matches = new Map<string, boolean>();
  private context: object | undefined;

  constructor(private readonly budget: Budget) {}

  /** @throws {TooComplex} */
  spend(steps = 1): void {
    this.steps += steps;
    this.budget.left -= steps;
    if (this.steps > MAX_STEPS || this.budget.left < 0) throw new TooComplex();
  }

  /** The same text for the same schemas, in any order. */
  keyOf(node: Node): string {
    const keys = node.map(({ schema: given, document, isClosed }) => {
      const schema = document.target(given);
      const id = typeof schema === 'object' ? this.idOf(schema) : String(schema);
      return `${this.idOf(document)}.${id}${isClosed ? 'c' : ''}`;
    });
    return [...new Set(keys)].sort().join(' ');
  }

  private idOf(value: unknown): number {
    const id = this.ids.get(value) ?? this.ids.size;
    this.ids.set(value, id);
    return id;
  }

  /**
   * Whether a text matches a pattern.
   * @throws {CannotTell} if it takes too long, or the pattern is invalid
   */
  isMatch(pattern: string, text: string): boolean {
    const key = `${pattern}\n${text}`;
    const known = this.matches.get(key) ?? this.match(pattern, text);
    this.matches.set(key, known);
    return known;
  }

  private match(pattern: string, text: string): boolean {
    this.spend();
    this.context ??= createContext();
    try {
      const script = `new RegExp(${JSON.stringify(pattern)}, 'u').test(${JSON.stringify(text)})`;
      return runInContext(script, this.context, { timeout: MATCH_MS }) === true;
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') this.spend(SLOW_MATCH_STEPS);
      throw new CannotTell(`it has the pattern ${excerptOf(pattern)}, which is invalid or slow`, { cause });
    }
  }
}

/** A text in quotes, cut. */
export const excerptOf = (value: unknown): string => {
  const text = JSON.stringify(value) ?? 'undefined';
  return text.length > 60 ? `${text.slice(0, 59)}…` : text;
};
