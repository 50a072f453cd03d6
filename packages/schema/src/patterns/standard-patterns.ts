import type { StandardSchemaV1 } from '@standard-schema/spec';

import type { JsonObject } from '../values/json.js';
import { longestText, SlowPattern } from './longest-text.js';
import { VALUES } from '../json-schema/raw-keywords.js';

/** Converts a Standard Schema to JSON Schema, with options of its library. */
export type Convert = (libraryOptions?: JsonObject) => JsonObject;

/**
 * The maximum length of a text for a pattern of a schema.
 * @throws {SlowPattern}
 */
export function limitOf(pattern: Readonly<Pick<RegExp, 'source' | 'flags'>>): number {
  const longest = longestText(pattern.source, pattern.flags);
  if (longest === 0) throw new SlowPattern(pattern.source);
  return longest;
}

/**
 * The maximum length of a text for a published pattern.
 * @param flags those of the library; undefined if they aren't known
 * @throws {SlowPattern}
 */
export function publishedLimit(source: string, flags?: string): number {
  // JSON Schema recommends `u`, without which `\p{L}` is the letter p
  const tried = flags === undefined ? ['', 'u'] : [flags];
  return Math.min(...tried.map((each) => limitWith(source, each)));
}

function limitWith(source: string, flags: string): number {
  try {
    return limitOf(new RegExp(source, flags));
  } catch (error) {
    if (error instanceof SlowPattern) throw error;
    // only valid with another flag
    return Number.POSITIVE_INFINITY;
  }
}

/**
 * Judges the patterns in a published schema.
 * @throws {SlowPattern}
 */
function judgePublished(node: unknown): void {
  if (typeof node !== 'object' || node === null) return;
  for (const [key, value] of Object.entries(node)) {
    if (key === 'pattern' && typeof value === 'string') publishedLimit(value);
    else if (!VALUES.has(key)) judgePublished(value);
    if (key === 'patternProperties') for (const pattern of Object.keys(Object(value))) publishedLimit(pattern);
  }
}

type Fields = Readonly<Record<string, unknown>>;

/**
 * Judges all patterns of a schema of zod, including those after transformations, which no JSON Schema shows.
 * @throws {SlowPattern}
 */
function judgeZod(part: unknown, seen = new Set<unknown>()): void {
  if (typeof part !== 'object' || part === null || seen.has(part)) return;
  seen.add(part);
  if (part instanceof RegExp) return void limitOf(part);
  const { def } = ((part as Fields)['_zod'] ?? {}) as { readonly def?: Fields };
  if (def?.['type'] === 'lazy') return judgeZod((def['getter'] as () => unknown)(), seen);
  // a default may be a function, which zod calls whenever it is read
  for (const key of Object.keys(def ?? part))
    if (key !== 'defaultValue') judgeZod((def ?? (part as Fields))[key], seen);
}

interface ValibotAction {
  readonly type: string;
  readonly requirement?: unknown;
}

/**
 * Judges all patterns of a schema of valibot. Without a direction, its converter visits all actions of a pipe.
 * @throws {SlowPattern}
 */
function judgeValibot(convert: Convert): void {
  convert({
    typeMode: undefined,
    errorMode: 'ignore',
    overrideAction: ({ valibotAction: { type, requirement } }: { readonly valibotAction: ValibotAction }) => {
      if (type === 'regex' && requirement instanceof RegExp) limitOf(requirement);
    },
  });
}

/**
 * Judges all patterns of a schema of arktype, including those after morphs, which no JSON Schema shows.
 * @throws {SlowPattern}
 */
function judgeArktype({ references = [] }: { readonly references?: readonly Fields[] }): void {
  for (const { kind, rule, flags = '' } of references) {
    if (kind === 'pattern') publishedLimit(String(rule), String(flags));
  }
}

/**
 * Judges the patterns of a Standard Schema.
 * @throws {SlowPattern}
 */
export function judgePatterns(source: StandardSchemaV1, json: JsonObject, convert: Convert): void {
  const { vendor } = source['~standard'];
  if (vendor === 'zod') judgeZod(source);
  // the patterns of valibot itself need flags, which its JSON Schemas lack
  else if (vendor === 'valibot') judgeValibot(convert);
  else judgePublished(json);
  if (vendor === 'arktype') judgeArktype(source as object);
}
