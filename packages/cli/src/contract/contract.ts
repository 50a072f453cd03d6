import type { JsonObject } from '@decorum/core';

/**
 * The lists of one revision. Unlisted entries have `listed: false`, tools that show a plan first `preview: true`, and other
 * names of an entry are its `aliases`.
 */
export interface Lists {
  readonly tools: readonly JsonObject[];
  readonly prompts: readonly JsonObject[];
  readonly resources: readonly JsonObject[];
  readonly resourceTemplates: readonly JsonObject[];
}

/** Everything that a server offers, by the date of the revision. */
export interface Contract {
  readonly server: { readonly name: string };
  /** Whether clients find most tools by a search. Lock files don't say so. */
  readonly isSearched?: boolean;
  readonly revisions: Readonly<Record<string, Partial<Lists>>>;
}

/** The lists, with the field that identifies an entry. */
export const KEYS = {
  tools: 'name',
  prompts: 'name',
  resources: 'uri',
  resourceTemplates: 'uriTemplate',
} as const satisfies Readonly<Record<keyof Lists, string>>;

/** The names of the lists. */
export const LIST_NAMES = Object.keys(KEYS) as readonly (keyof Lists)[];
