import { isObject } from '@decorum/core/internal';

import { sorted } from '../layout.js';
import { ANNOTATIONS } from './keywords.js';

/** What a schema says to readers at one place. */
export interface Notes {
  readonly path: readonly string[];
  /** Texts of JSON by keyword. */
  readonly notes: Readonly<Record<string, string>>;
}

/** What a schema says to readers, by the place of each part. */
export function notesOf(schema: unknown): ReadonlyMap<string, Notes> {
  const found = new Map<string, Notes>();
  collect(schema, { place: '', path: [] }, found);
  return found;
}

interface Place {
  readonly place: string;
  readonly path: readonly string[];
}

function collect(schema: unknown, { place, path }: Place, found: Map<string, Notes>): void {
  if (!isObject(schema)) return;
  const notes = Object.keys(schema).filter((key) => ANNOTATIONS.has(key));
  found.set(place, { path, notes: Object.fromEntries(notes.map((key) => [key, JSON.stringify(sorted(schema[key]))])) });
  for (const keyword of ['properties', '$defs', 'definitions']) {
    const members = schema[keyword];
    if (!isObject(members)) continue;
    for (const [name, member] of Object.entries(members)) {
      const inner = keyword === 'properties' ? [...path, name] : path;
      collect(member, { place: `${place}/${keyword}/${name}`, path: inner }, found);
    }
  }
  for (const keyword of ['anyOf', 'oneOf', 'allOf', 'prefixItems', 'items', 'additionalProperties']) {
    const inner = keyword.endsWith('tems') ? [...path, '[]'] : path;
    for (const [index, member] of [schema[keyword]].flat().entries())
      collect(member, { place: `${place}/${keyword}/${index}`, path: inner }, found);
  }
}
