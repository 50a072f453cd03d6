import type { JsonObject } from '@decorum/core';

import { sorted } from './layout.js';

/** What a change means for clients: it breaks some, it allows more, or only texts differ. */
export type ChangeClass = 'breaking' | 'widening' | 'wording';

/** A change of one member, in one revision. */
export interface Change {
  readonly class: ChangeClass;
  /** Name, URI or URI template. */
  readonly member: string;
  /** What has changed of it, as in `arguments.currency`. */
  readonly path: string;
  readonly why: string;
  /** The field of list entries with the change; undefined if it is about the entry itself. */
  readonly field?: string | undefined;
}

/** An entry of a list, before and after. */
export interface EntryPair {
  /** What clients know the entry by. */
  readonly member: string;
  readonly before: JsonObject;
  readonly after: JsonObject;
}

/** Whether a value has changed. */
export const differs = (a: unknown, b: unknown): boolean => JSON.stringify(sorted(a)) !== JSON.stringify(sorted(b));

/** Changes of fields that are texts for people and models, or say nothing of what can be called. */
export function wordingChanges({ member, before, after }: EntryPair, compared: readonly string[]): readonly Change[] {
  const fields = Object.keys({ ...before, ...after }).filter((field) => !compared.includes(field));
  return fields
    .filter((field) => differs(before[field], after[field]))
    .map((field) => ({ class: 'wording', member, path: field, why: verb(before[field], after[field], field), field }));
}

/** Words for fields that people don't call by their name. */
const WORDS: Readonly<Record<string, string>> = { _meta: 'metadata', $comment: 'comment' };

/** Says that something has changed, come or gone: `has another title`, `has other icons`. */
export function verb(before: unknown, after: unknown, field: string): string {
  const word = WORDS[field] ?? field;
  const isMany = /s$|metadata/.test(word);
  if (before === undefined) return `has ${isMany ? '' : 'a '}${word} now`;
  if (after === undefined) return `has no ${word} any more`;
  return `has ${isMany ? 'other' : 'another'} ${word}`;
}

/** Whether lists have an entry. */
export const isListed = ({ listed }: JsonObject): boolean => listed !== false;

/** The change of an entry that lists have no more, or have now. Calls work as before. */
export function listingChange({ member, before, after }: EntryPair): readonly Change[] {
  if (isListed(before) === isListed(after)) return [];
  const common = { member, path: 'listed', field: 'listed' };
  if (isListed(after)) return [{ ...common, class: 'widening', why: 'is on lists now' }];
  return [{ ...common, class: 'wording', why: 'is on no list any more, but still answers' }];
}
