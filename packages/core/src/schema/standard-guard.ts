import type { StandardSchemaV1 } from '@standard-schema/spec';

import type { JsonObject } from '../protocol/model.js';
import { type Convert, limitOf, publishedLimit } from './standard-patterns.js';

/**
 * Keyword of our own: the maximum length of a text, because the library matches the text against a pattern that may
 * backtrack.
 */
export const LONGEST = 'x-longest';

/** The schema by which values are judged before their library reads them. */
export interface Guard {
  readonly json: JsonObject;
  /** Whether the library rejects everything that the schema rejects. */
  readonly isReliable: boolean;
  /** Whether the library tries all alternatives completely, even if a constant tells them apart. */
  readonly triesAll: boolean;
  /** Whether the library looks only once at a value that a recursive schema reaches by several paths. */
  readonly remembers: boolean;
}

type Fields = Readonly<Record<string, unknown>>;

/** Keywords about a value's own text, number or size, which a conversion within the library may change first. */
const ABOUT_VALUES = [
  ...['minLength', 'maxLength', 'pattern', 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'],
  ...['minItems', 'maxItems', 'allOf'],
];

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

const partOf = (schema: unknown): ZodNode['_zod'] | undefined =>
  typeof schema === 'object' && schema !== null ? (schema as Partial<ZodNode>)._zod : undefined;

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

function patternsOf(schema: ZodNode): RegExp[] {
  const { pattern, checks = [] } = schema._zod.def;
  const all = [pattern, ...(checks as readonly unknown[]).map((check) => partOf(check)?.def['pattern'])];
  return all.filter((each) => each instanceof RegExp);
}

/** Removes what zod doesn't enforce from the schema of one node. */
function relaxZod({ zodSchema, jsonSchema }: { readonly zodSchema: ZodNode; readonly jsonSchema: JsonObject }): void {
  const { type, shape, checks = [] } = zodSchema._zod.def;
  const patterns = patternsOf(zodSchema);
  // JSON Schema has no flags
  if (patterns.some(({ flags }) => flags !== '')) forget(jsonSchema, ['pattern', 'allOf']);
  if ((checks as readonly unknown[]).some(mayChange)) forget(jsonSchema, ABOUT_VALUES);
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
  switch (source['~standard'].vendor) {
    case 'zod': {
      const metadata = { get: () => undefined };
      const json = convert({ metadata, override: relaxZod });
      return { json, isReliable: true, triesAll: true, remembers: remembers(source) };
    }
    case 'valibot':
      return {
        json: convert({ ignoreActions: ['metadata'], overrideAction: relaxAction, overrideSchema: relaxSchema }),
        isReliable: true,
        triesAll: true,
        remembers: false,
      };
    case 'arktype':
      return { json: limited(published), isReliable: true, triesAll: false, remembers: false };
    default:
      return { json: limited(published), isReliable: false, triesAll: false, remembers: false };
  }
}

/** Replaces patterns, whose flags are unknown, by the longest text for them. */
function limited(node: unknown): JsonObject {
  const change = (key: string, value: unknown): unknown => {
    if (key === 'pattern') return undefined;
    const { pattern } = Object(value) as JsonObject;
    if (typeof pattern !== 'string') return value;
    const longest = publishedLimit(pattern);
    return longest === Number.POSITIVE_INFINITY ? value : { ...(value as JsonObject), [LONGEST]: longest };
  };
  return JSON.parse(JSON.stringify(node, change)) as JsonObject;
}
