import { schemaOf } from '@decorum/schema';
import type { JsonObject } from '@decorum/core';

import { cleanText, isObject } from './json.js';

type Read = (value: unknown) => unknown;

const TYPES = new Set(['null', 'boolean', 'object', 'array', 'number', 'integer', 'string']);
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;

const count: Read = (value) => (isCount(value) ? value : undefined);
const number: Read = (value) => (Number.isFinite(value) ? value : undefined);
const flag: Read = (value) => (typeof value === 'boolean' ? value : undefined);
const MAX_NAMES = 1000;
const names: Read = (value) =>
  Array.isArray(value) && value.length <= MAX_NAMES
    ? [...new Set(value.filter((each) => typeof each === 'string'))]
    : undefined;
const data: Read = (value) => value;

function type(value: unknown): unknown {
  if (!Array.isArray(value)) return TYPES.has(String(value)) ? value : undefined;
  const known = [...new Set<unknown>(value.filter((each) => TYPES.has(String(each))))];
  return known.length > 0 ? known : undefined;
}

const judged = new Map<string, boolean>();
const MAX_JUDGED = 10_000;
const MAX_PATTERN = 1000;
/** Judging a hostile pattern takes up to a second. After this time, those of the document are left to the API. */
const MAX_SPENT_MS = 3000;
let spentMs = 0;

/** Begins a document: the time for the patterns of the last one does not count. */
export function beginPatterns(): void {
  spentMs = 0;
}

/**
 * Whether a pattern can be checked: it is a regular expression, and takes no exponential time. Clients compile those of
 * outputs, and many refuse a whole list for one that is not strict.
 */
export const isUsablePattern = (pattern: string, direction: 'input' | 'output'): boolean =>
  (direction === 'input' || isStrict(pattern)) && isSafePattern(pattern);

function isStrict(pattern: string): boolean {
  try {
    return new RegExp(pattern, 'u').source !== '';
  } catch {
    return false;
  }
}

function isSafePattern(pattern: string): boolean {
  const known = judged.get(pattern);
  if (known !== undefined) return known;
  let isUsable = pattern.length <= MAX_PATTERN && spentMs < MAX_SPENT_MS;
  const start = performance.now();
  try {
    if (isUsable) schemaOf({ type: 'string', pattern });
  } catch {
    isUsable = false;
  }
  spentMs += performance.now() - start;
  if (judged.size >= MAX_JUDGED) judged.clear();
  judged.set(pattern, isUsable);
  return isUsable;
}

const pattern: Read = (value) => (typeof value === 'string' && isSafePattern(value) ? value : undefined);

/** Formats that the check of inputs knows, and some that tell models more than it. Others may mean anything. */
const FORMATS = new Set(
  (
    'date time date-time duration uri uri-reference uri-template url email hostname ipv4 ipv6 uuid regex ' +
    'json-pointer int32 int64 float double password'
  ).split(' '),
);
const format: Read = (value) => (FORMATS.has(String(value)) ? value : undefined);

const MAX_EXAMPLE = 200;
const examples: Read = (value) => {
  const short = Array.isArray(value) ? value.filter((each) => JSON.stringify(each)?.length <= MAX_EXAMPLE) : [];
  return short.length > 0 ? short.slice(0, 3) : undefined;
};

/** How the keywords without schemas in them are read. Keywords that are not in the table are left out. */
const KEYWORDS: Readonly<Record<string, Read>> = {
  type,
  title: cleanText,
  description: cleanText,
  enum: (value) => (Array.isArray(value) && value.length > 0 ? value : undefined),
  const: data,
  default: data,
  deprecated: (value) => (value === true ? true : undefined),
  examples,
  example: (value) => examples([value]),
  format,
  pattern,
  multipleOf: (value) => (Number.isFinite(value) && (value as number) > 0 ? value : undefined),
  minimum: number,
  maximum: number,
  minLength: count,
  maxLength: count,
  minItems: count,
  maxItems: count,
  minProperties: count,
  maxProperties: count,
  minContains: count,
  maxContains: count,
  uniqueItems: flag,
  required: names,
  contentEncoding: (value) => (typeof value === 'string' ? value : undefined),
  contentMediaType: (value) => (typeof value === 'string' ? value : undefined),
};

/** What only the check of inputs needs: an API may break its own rules without harm. */
const ABOUT_INPUT = new Set(['pattern', 'format', 'default', 'uniqueItems', 'multipleOf']);

/** `exclusiveMinimum: true` of OpenAPI 3.0 is about `minimum`. */
function limits(schema: JsonObject, into: Record<string, unknown>): void {
  for (const [exclusive, limit] of [
    ['exclusiveMinimum', 'minimum'],
    ['exclusiveMaximum', 'maximum'],
  ] as const) {
    const value = schema[exclusive];
    if (Number.isFinite(value)) into[exclusive] = value;
    if (value !== true || into[limit] === undefined) continue;
    into[exclusive] = into[limit];
    delete into[limit];
  }
}

/** `format: byte` and `binary` of OpenAPI 3.0: JSON carries bytes as base64. */
function bytes({ format: given }: JsonObject, into: Record<string, unknown>): void {
  if (given === 'byte' || given === 'binary') into['contentEncoding'] ??= 'base64';
}

/** The keywords of a schema that have no schemas in them. */
export function keywordsOf(schema: JsonObject, direction: 'input' | 'output'): Record<string, unknown> {
  const into: Record<string, unknown> = {};
  for (const [name, read] of Object.entries(KEYWORDS)) {
    if (!Object.hasOwn(schema, name) || (direction === 'output' && ABOUT_INPUT.has(name))) continue;
    const value = read(schema[name]);
    if (value !== undefined) into[name === 'example' ? 'examples' : name] ??= value;
  }
  limits(schema, into);
  bytes(schema, into);
  return into;
}

/** Allows `null` besides what a schema allows: `nullable` of OpenAPI 3.0. */
export function orNull(schema: JsonObject): JsonObject {
  const { type: types, enum: values, description, ...rest } = schema;
  const isPlain =
    types !== undefined && !['$ref', 'allOf', 'anyOf', 'oneOf', 'not', 'const'].some((each) => each in rest);
  if (!isPlain) {
    const { description: text, ...alternative } = schema;
    return { anyOf: [alternative, { type: 'null' }], ...(text !== undefined && { description: text }) };
  }
  const nullable = [...new Set([types, 'null'].flat())];
  return {
    type: nullable,
    ...(Array.isArray(values) && { enum: values.includes(null) ? values : [...(values as unknown[]), null] }),
    ...(description !== undefined && { description }),
    ...rest,
  };
}

/** Whether a schema says nothing about a value. */
export const isOpen = (schema: unknown): boolean => isObject(schema) && Object.keys(schema).length === 0;
