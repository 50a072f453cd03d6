import type { JsonObject } from '@decorum/core';
import { isObject } from '@decorum/core/internal';

type Check = (value: unknown, root: JsonObject) => boolean;

const TYPES: readonly unknown[] = ['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'];

const isCount: Check = (value) => Number.isSafeInteger(value) && (value as number) >= 0;
const isNumber: Check = (value) => typeof value === 'number';
const isText: Check = (value) => typeof value === 'string';
const isFlag: Check = (value) => typeof value === 'boolean';
const isTexts: Check = (value) => Array.isArray(value) && value.every((each) => typeof each === 'string');
const isType: Check = (value) => [value].flat().length > 0 && [value].flat().every((each) => TYPES.includes(each));
const isSchema: Check = (value, root) => typeof value === 'boolean' || isCompilable(value, root);
const isSchemas: Check = (value, root) =>
  Array.isArray(value) && value.length > 0 && value.every((each) => isSchema(each, root));
const isSchemaMap: Check = (value, root) =>
  isObject(value) && Object.values(value).every((each) => isSchema(each, root));

const isPattern: Check = (value) => {
  try {
    return typeof value === 'string' && new RegExp(value, 'u') instanceof RegExp;
  } catch {
    return false;
  }
};

/** Only places in the schema itself: nobody fetches others. */
const isReference: Check = (value, root) => {
  if (value === '#') return true;
  if (typeof value !== 'string' || !value.startsWith('#/')) return false;
  let found: unknown = root;
  for (const step of value.slice(2).split('/')) {
    const key = step.replaceAll('~1', '/').replaceAll('~0', '~');
    found =
      typeof found === 'object' && found !== null && Object.hasOwn(found, key) ? (found as JsonObject)[key] : undefined;
  }
  return isObject(found) || typeof found === 'boolean';
};

/** What each keyword must be, as the meta-schema says. */
const KEYWORDS: ReadonlyMap<string, Check> = new Map(
  Object.entries({
    $ref: isReference,
    $defs: isSchemaMap,
    definitions: isSchemaMap,
    type: isType,
    enum: (value) => Array.isArray(value) && value.length > 0,
    required: isTexts,
    properties: isSchemaMap,
    patternProperties: (value, root) =>
      isSchemaMap(value, root) && Object.keys(value as object).every((key) => isPattern(key, root)),
    additionalProperties: isSchema,
    propertyNames: isSchema,
    items: (value, root) => isSchema(value, root) || isSchemas(value, root),
    prefixItems: isSchemas,
    contains: isSchema,
    allOf: isSchemas,
    anyOf: isSchemas,
    oneOf: isSchemas,
    not: isSchema,
    if: isSchema,
    else: isSchema,
    pattern: isPattern,
    format: isText,
    title: isText,
    description: isText,
    uniqueItems: isFlag,
    minimum: isNumber,
    maximum: isNumber,
    exclusiveMinimum: isNumber,
    exclusiveMaximum: isNumber,
    multipleOf: (value) => typeof value === 'number' && value > 0,
    minLength: isCount,
    maxLength: isCount,
    minItems: isCount,
    maxItems: isCount,
    minProperties: isCount,
    maxProperties: isCount,
  } satisfies Readonly<Record<string, Check>>),
).set('then', isSchema);

/**
 * Whether clients can compile a schema. Many clients compile all output schemas of a list, and reject the whole list for
 * one that they can't compile. The caller has capped the depth of the schema.
 * @param root what its references point into
 */
export function isCompilable(schema: unknown, root?: JsonObject): schema is JsonObject {
  if (!isObject(schema)) return false;
  const document = root ?? schema;
  return Object.entries(schema).every(([name, value]) => KEYWORDS.get(name)?.(value, document) ?? true);
}
