import type { StandardSchemaV1 } from '@standard-schema/spec';

import { isObject, type JsonObject } from '../values/json.js';
import { type Convert, limitOf, publishedLimit } from '../patterns/standard-patterns.js';

/**
 * Keyword of our own: the maximum length of a text, because the library matches the text against a pattern that may
 * backtrack.
 */
export const LONGEST = 'x-longest';

/** Keyword of our own: patterns that a text must match, with their flags, which JSON Schema lacks. */
export const MATCHES = 'x-matches';

/** Keyword of our own: a schema with the `LONGEST` of the names of fields. */
export const LONGEST_NAME = 'x-longest-name';

/** The schema by which values are judged before their library reads them. */
export interface Guard {
  readonly json: JsonObject;
  /** Whether the library rejects everything that the schema rejects. */
  readonly isReliable: boolean;
  /** Whether the library tries all alternatives completely, even if a constant tells them apart. */
  readonly triesAll: boolean;
  /** Whether the library looks only once at a value that a recursive schema reaches by several paths. */
  readonly remembers: boolean;
  /** Whether the library reads lists as objects whose fields are the items. */
  readonly readsLists: boolean;
}

type Fields = Readonly<Record<string, unknown>>;

/** Keywords about a value's own text, number or size, which a conversion within the library may change first. */
const ABOUT_VALUES =
  'minLength maxLength pattern minimum maximum exclusiveMinimum exclusiveMaximum minItems maxItems allOf'.split(' ');

function forget(node: JsonObject, keywords: readonly string[]): void {
  for (const keyword of keywords) if (keyword !== LONGEST) delete node[keyword];
}

/** The first version of zod that remembers the results of recursive schemas. */
const REMEMBERING = { major: 4, minor: 6 };

interface ZodNode {
  readonly _zod: {
    readonly version?: { readonly major: number; readonly minor: number };
    readonly def: Fields;
    readonly toJSONSchema?: unknown;
  };
}

function partOf(schema: unknown): ZodNode['_zod'] | undefined {
  if (typeof schema !== 'object' || schema === null) return undefined;
  const { _zod: zod } = schema as Partial<ZodNode>;
  return zod;
}

/** Whether zod accepts more than what it publishes for a schema itself. */
function isLax({ _zod: zod }: ZodNode): boolean {
  const { type, coerce, in: first } = zod.def;
  return (
    zod.toJSONSchema !== undefined ||
    coerce === true ||
    type === 'catch' ||
    (type === 'pipe' && partOf(first)?.def['type'] === 'transform')
  );
}

/** Whether a schema or a part of it is lax, so that a missing value may be valid. */
function hasLax(part: unknown, seen = new Set<unknown>()): boolean {
  if (typeof part !== 'object' || part === null || seen.has(part)) return false;
  seen.add(part);
  const { def } = partOf(part) ?? {};
  if (def === undefined) return Object.values(part).some((each) => hasLax(each, seen));
  if (isLax(part as ZodNode) || def['type'] === 'lazy') return true;
  return Object.keys(def).some((key) => key !== 'defaultValue' && hasLax(def[key], seen));
}

/** Whether a check of zod may change the value for the checks after it. */
const mayChange = (check: unknown): boolean => ['overwrite', 'custom'].includes(String(partOf(check)?.def['check']));

function remembers(schema: unknown): boolean {
  const { major = 0, minor = 0 } = partOf(schema)?.version ?? {};
  return major > REMEMBERING.major || (major === REMEMBERING.major && minor >= REMEMBERING.minor);
}

function patternsOf({ _zod: zod }: ZodNode): RegExp[] {
  const { pattern, checks = [] } = zod.def;
  const all = [pattern, ...(checks as readonly unknown[]).map((check) => partOf(check)?.def['pattern'])];
  return all.filter((each) => each instanceof RegExp);
}

/** Removes what zod doesn't enforce from the schema of one node. */
function relaxZod({ zodSchema, jsonSchema }: { readonly zodSchema: ZodNode; readonly jsonSchema: JsonObject }): void {
  const { _zod: zod } = zodSchema;
  const { type, shape, checks = [] } = zod.def;
  const patterns = patternsOf(zodSchema);
  if (patterns.length > 0) {
    forget(jsonSchema, ['pattern', 'allOf']);
    jsonSchema[MATCHES] = patterns.map(({ source, flags }) => [source, flags]);
  }
  if ((checks as readonly unknown[]).some(mayChange)) forget(jsonSchema, [...ABOUT_VALUES, MATCHES]);
  // its keys are converted, and may be optional
  if (type === 'record') forget(jsonSchema, ['required']);
  if (type === 'object' && Array.isArray(jsonSchema['required'])) {
    const fields = shape as Fields;
    jsonSchema['required'] = jsonSchema['required'].filter((key) => !hasLax(fields[String(key)]));
  }
  if (isLax(zodSchema)) forget(jsonSchema, Object.keys(jsonSchema));
  const longest = Math.min(...patterns.map(limitOf));
  if (longest !== Number.POSITIVE_INFINITY) jsonSchema[LONGEST] = longest;
}

interface ValibotStep {
  readonly valibotAction: { readonly type: string; readonly requirement?: unknown };
  readonly jsonSchema: JsonObject;
}

/** Removes patterns that need flags, which JSON Schema lacks. */
function relaxAction({ valibotAction: { type, requirement }, jsonSchema }: ValibotStep): JsonObject | undefined {
  if (!(requirement instanceof RegExp)) return undefined;
  const { pattern, ...rest } = jsonSchema;
  // its own patterns are safe, though too large to be judged
  const longest = type === 'regex' ? limitOf(requirement) : Number.POSITIVE_INFINITY;
  return {
    ...rest,
    ...(requirement.flags === '' && { pattern }),
    ...(longest !== Number.POSITIVE_INFINITY && { [LONGEST]: longest }),
  };
}

function hasFallback(part: unknown, seen = new Set<unknown>()): boolean {
  if (typeof part !== 'object' || part === null || seen.has(part)) return false;
  seen.add(part);
  return 'fallback' in part || Object.values(part).some((each) => hasFallback(each, seen));
}

function relaxSchema({ valibotSchema }: { readonly valibotSchema: object }): JsonObject | undefined {
  return hasFallback(valibotSchema) ? {} : undefined;
}

/**
 * Converts a Standard Schema to the schema that guards it. It leaves out what the library may accept in spite of the
 * schema that it publishes: coercion, `catch`, checks after conversions, flags of patterns, and metadata.
 */
export function guardOf(source: StandardSchemaV1, published: JsonObject, convert: Convert): Guard {
  const guard = relaxed(source, published, convert);
  return { ...guard, json: withNames(guard.json) };
}

/** Adds the longest names of fields, which libraries match against patterns too. */
function withNames(json: JsonObject): JsonObject {
  const change = (_key: string, value: unknown): unknown => {
    const { propertyNames, patternProperties } = Object(value) as JsonObject;
    const patterns = isObject(patternProperties) ? Object.keys(patternProperties) : [];
    const limits = patterns.map((pattern) => publishedLimit(pattern));
    const longest = Math.min(shortestLimit(JSON.stringify(propertyNames) ?? ''), ...limits);
    if (longest === Number.POSITIVE_INFINITY) return value;
    return { ...(value as JsonObject), [LONGEST_NAME]: { [LONGEST]: longest } };
  };
  return JSON.parse(JSON.stringify(json, change)) as JsonObject;
}

const LIMITS = new RegExp(`"${LONGEST}":(\\d+)`, 'g');

/** The length of the longest text that every pattern of a guard, given as JSON, admits. */
export function shortestLimit(text: string): number {
  return Math.min(...[...text.matchAll(LIMITS)].map(([, limit]) => Number(limit)));
}

function relaxed(source: StandardSchemaV1, published: JsonObject, convert: Convert): Guard {
  switch (source['~standard'].vendor) {
    case 'zod': {
      const metadata = { get: () => undefined };
      const json = convert({ metadata, override: relaxZod });
      return { json, isReliable: true, triesAll: true, remembers: remembers(source), readsLists: false };
    }
    case 'valibot':
      return {
        json: convert({ ignoreActions: ['metadata'], overrideAction: relaxAction, overrideSchema: relaxSchema }),
        isReliable: true,
        triesAll: true,
        remembers: false,
        readsLists: true,
      };
    case 'arktype':
      return { ...DISCRIMINATING, json: withFlags(published, flagsIn(source)), isReliable: true };
    default:
      return { ...DISCRIMINATING, json: withFlags(published, new Map()), isReliable: false };
  }
}

const DISCRIMINATING = { triesAll: false, remembers: false, readsLists: true };

/** The flags of patterns of arktype by their source; undefined for a source with several. */
function flagsIn(source: unknown): ReadonlyMap<string, string | undefined> {
  const { references = [] } = source as { readonly references?: readonly Fields[] };
  const flags = new Map<string, string | undefined>();
  for (const { kind, rule, flags: own = '' } of references) {
    if (kind !== 'pattern') continue;
    const text = String(rule);
    flags.set(text, flags.has(text) && flags.get(text) !== own ? undefined : String(own));
  }
  return flags;
}

/** Adds the flags of patterns, and the longest texts for them. Ignores patterns with unknown flags. */
function withFlags(node: unknown, known: ReadonlyMap<string, string | undefined>): JsonObject {
  const change = (_key: string, value: unknown): unknown => {
    const { pattern, ...rest } = Object(value) as JsonObject;
    if (typeof pattern !== 'string') return value;
    const flags = known.get(pattern);
    const longest = publishedLimit(pattern, flags);
    return {
      ...rest,
      ...(flags !== undefined && { [MATCHES]: [[pattern, flags]] }),
      ...(longest !== Number.POSITIVE_INFINITY && { [LONGEST]: longest }),
    };
  };
  return JSON.parse(JSON.stringify(node, change)) as JsonObject;
}
