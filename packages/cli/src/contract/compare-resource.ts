import { UriTemplate } from '@decorum/core/internal';

import { type Change, type EntryPair, listingChange, wordingChanges } from './change.js';

const COMPARED = ['uri', 'uriTemplate', 'mimeType', 'listed'];

/** What has changed of a resource or a template. */
export function resourceChanges(pair: EntryPair): readonly Change[] {
  return [...typeChanges(pair), ...listingChange(pair), ...wordingChanges(pair, COMPARED)];
}

function typeChanges({ member, before, after }: EntryPair): readonly Change[] {
  const [old, current] = [before['mimeType'], after['mimeType']];
  if (old === current) return [];
  const common = { member, path: 'mimeType', field: 'mimeType' };
  if (old === undefined) return [{ ...common, class: 'widening', why: `says that its type is ${String(current)}` }];
  const now = current === undefined ? 'no longer says what it is' : `is ${String(current)} now`;
  return [{ ...common, class: 'breaking', why: `${now}, and was ${String(old)}` }];
}

function templateOf(text: string): UriTemplate | undefined {
  try {
    return new UriTemplate(text);
  } catch {
    return undefined;
  }
}

/** Whether a template serves a URI. */
export const servesUri = (template: string, uri: string): boolean => templateOf(template)?.match(uri) !== undefined;

type Values = Readonly<Record<string, unknown>>;

/** How a template serves the URIs of another: with the same variables, with others, or not. */
export type Service = 'same' | 'renamed' | 'none';

/** How a template serves the URIs that clients build with an older one. */
export function serviceOf(older: string, newer: string): Service {
  const [old, current] = [templateOf(older), templateOf(newer)];
  if (old === undefined || current === undefined) return 'none';
  const values = (text: string) => Object.fromEntries(old.variables.map((name, index) => [name, `${text}${index}`]));
  // only some variables, such as `{+path}`, can have several segments
  const [all, segments] = [values('value'), values('a/b')];
  // without each of its variables, as far as it can be without them
  const fewer = old.variables.map((left) => ({ ...all, [left]: undefined }));
  const uris = [all, segments, ...fewer].map((each) => old.expand(each)).filter((uri) => old.match(uri) !== undefined);
  const matches = uris.map((uri): readonly (Values | undefined)[] => [old.match(uri), current.match(uri)]);
  if (matches.some(([, is]) => is === undefined)) return 'none';
  const isSame = matches.every(([was = {}, is = {}]) =>
    Object.entries(was).every(([name, value]) => JSON.stringify(is[name]) === JSON.stringify(value)),
  );
  return isSame ? 'same' : 'renamed';
}
