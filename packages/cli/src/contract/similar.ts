import type { JsonObject } from '@decorum/core';

import { meaningOf } from './schema/keywords.js';

/** How alike entries have to be for a hint that one was renamed. */
const THRESHOLD = 1;

/** The entry that is most like one that is gone; undefined if none is alike. */
export function mostSimilar(gone: JsonObject, candidates: readonly JsonObject[]): JsonObject | undefined {
  const scored = candidates.map((entry) => ({ entry, score: likeness(gone, entry) }));
  const [best] = scored.sort((a, b) => b.score - a.score);
  return best !== undefined && best.score >= THRESHOLD ? best.entry : undefined;
}

function likeness(a: JsonObject, b: JsonObject): number {
  const [schema, other] = [a, b].map((entry) => meaningOf(entry['inputSchema'] ?? entry['arguments']));
  // many tools take nothing
  const hasSame = schema === other && /"(?:properties":\{"|name)/.test(schema ?? '');
  const hasSameText = a['description'] !== undefined && a['description'] === b['description'];
  return (hasSame ? 1 : 0) + (hasSameText ? 1 : 0) + 1.5 * sharedWords(String(a['name']), String(b['name']));
}

/** The share of words that two names have in common. */
function sharedWords(a: string, b: string): number {
  const [left, right] = [wordsOf(a), wordsOf(b)];
  const shared = [...left].filter((word) => right.has(word)).length;
  return shared / Math.max(1, left.size, right.size);
}

const wordsOf = (name: string): ReadonlySet<string> => {
  const words = name
    .replaceAll(/(?<=[a-z\d])(?=[A-Z])/g, ' ')
    .toLowerCase()
    .split(/[^a-z\d]+/);
  return new Set(words.filter((word) => word !== '').map((word) => word.replace(/(?<=..)s$/, '')));
};
