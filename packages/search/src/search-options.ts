import { type OptionTypes, requireOptions, startupError } from '@decorum/core/plugin';

import { stemsOf } from './words.js';

/** Options of `search`. */
export interface SearchOptions {
  /**
   * Clients that may see more tools than this get the short list. Defaults to 50. The tools of the plugin itself don't
   * count.
   */
  readonly above?: number;
  /** Names of tools that the short list has, too, such as those that nearly every conversation needs. Defaults to none. */
  readonly always?: readonly string[];
  /** The short list has the tools with one of these tags, too. Defaults to none. */
  readonly alwaysTags?: readonly string[];
  /** How many tools a search returns, unless the model asks for another number. 1 to 20; defaults to 5. */
  readonly limit?: number;
  /** Words of your users, each with the words that tools have for it, such as `{ invoice: ['bill'] }`. One way only. */
  readonly synonyms?: Readonly<Record<string, readonly string[]>>;
  /** Put before the names of the two tools: `shop` makes `shop_search_tools` of `search_tools`. Defaults to none. */
  readonly prefix?: string;
}

/** The most tools that one search returns. */
export const MAX_LIMIT = 20;

const OPTIONS: OptionTypes<SearchOptions> = {
  above: [0, 1_000_000],
  always: 'array',
  alwaysTags: 'array',
  limit: [1, MAX_LIMIT],
  synonyms: 'object',
  prefix: 'string',
};

/** The options with their defaults. */
export type SearchSettings = Required<SearchOptions>;

/** @throws {DecorumError} `DECORUM_INVALID_OPTION` */
export function settingsOf(options: SearchOptions): SearchSettings {
  requireOptions('search', options, OPTIONS);
  const { above = 50, always = [], alwaysTags = [], limit = 5, synonyms = {}, prefix = '' } = options;
  requireTexts('always', always, "['create_order']");
  requireTexts('alwaysTags', alwaysTags, "['orders']");
  requireSynonyms(synonyms);
  // `-` and `.` as in other names of tools
  if (!/^[\w.-]{0,64}$/.test(prefix)) {
    const problem = `is "${prefix}", but can have only up to 64 letters, digits, "_", "-" and "."`;
    throw startupError('DECORUM_INVALID_OPTION', 'search', 'prefix', problem);
  }
  return { above, always, alwaysTags, limit, synonyms, prefix };
}

/** @throws {DecorumError} `DECORUM_INVALID_OPTION`, also for what no query has as a word */
function requireSynonyms(synonyms: Readonly<Record<string, unknown>>): void {
  const wrong = (problem: string) => startupError('DECORUM_INVALID_OPTION', 'search', 'synonyms', problem);
  if (synonyms instanceof Map) throw wrong("is a Map, but must be an object, such as { invoice: ['bill'] }");
  for (const [word, others] of Object.entries(synonyms)) {
    requireTexts(`synonyms.${word}`, others, "['bill']");
    const [empty] = [word, ...(others as readonly string[])].filter((each) => stemsOf(each).length === 0);
    if (empty !== undefined) throw wrong(`has "${empty}", which is no word. Use letters or digits`);
    if (stemsOf(word).length > 1)
      throw wrong(`has "${word}", which is more than one word. Use the one that tells most`);
  }
}

function requireTexts(option: string, value: unknown, example: string): void {
  if (Array.isArray(value) && value.every((each) => typeof each === 'string' && each !== '')) return;
  throw startupError('DECORUM_INVALID_OPTION', 'search', option, `must be an array of words, such as ${example}`);
}
