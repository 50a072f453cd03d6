import type { JsonObject } from '../values/json.js';

const NUMBER = /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/**
 * Parses strings as the types that a schema expects. Values that don't match stay strings, and the schema rejects them.
 */
export function readStrings(schema: JsonObject, values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const properties = resolve(schema, schema)['properties'] as Record<string, JsonObject> | undefined;
  return Object.fromEntries(
    Object.entries(values).map(([key, value]) => {
      const field = properties !== undefined && Object.hasOwn(properties, key) ? properties[key] : undefined;
      return [key, read(resolve(field ?? {}, schema), value, schema)];
    }),
  );
}

const MAX_LISTS = 8;

/** Whether a field accepts only objects, or lists of them, which a string cannot represent. */
export function takesObjectsOnly(schema: JsonObject, field: string): boolean {
  const { properties } = resolve(schema, schema) as { readonly properties?: Readonly<Record<string, JsonObject>> };
  const isObjects = (part: JsonObject, depth: number): boolean => {
    const only = resolve(part, schema);
    const types = [...typesOf(only, schema)].filter((type) => type !== 'null');
    // a recursive schema may contain lists of lists forever
    if (types.join() === 'array') return depth < MAX_LISTS && isObjects((only['items'] ?? {}) as JsonObject, depth + 1);
    return types.length > 0 && types.every((type) => type === 'object');
  };
  return isObjects(properties?.[field] ?? {}, 0);
}

/** Follows a `$ref` within the schema. */
export function resolve(schema: JsonObject, root: JsonObject): JsonObject {
  const { $ref: ref } = schema;
  if (ref === '#') return root;
  if (typeof ref !== 'string' || !ref.startsWith('#/')) return schema;
  let target: unknown = root;
  for (const token of ref.slice(2).split('/')) {
    const key = decodeURIComponent(token).replaceAll('~1', '/').replaceAll('~0', '~');
    const holder = Object(target) as JsonObject;
    target = Object.hasOwn(holder, key) ? holder[key] : undefined;
  }
  return typeof target === 'object' && target !== null ? (target as JsonObject) : schema;
}

/** The types that a schema names. */
function typesOf(schema: JsonObject, root: JsonObject): ReadonlySet<unknown> {
  const { type, enum: values, const: only, anyOf, oneOf, allOf } = schema;
  if (type !== undefined) return new Set([type].flat());
  if (Array.isArray(values)) return new Set(values.map((value) => typeof value));
  if (only !== undefined) return new Set([typeof only]);
  const branches = [anyOf, oneOf, allOf].find(Array.isArray) as JsonObject[] | undefined;
  const found = (branches ?? []).map((branch) => typesOf(resolve(branch, root), root));
  // an alternative without a type accepts the string unchanged
  if (branches !== allOf && found.some(({ size }) => size === 0)) return new Set(['string']);
  return new Set(found.flatMap((types) => [...types]));
}

function read(schema: JsonObject, value: unknown, root: JsonObject): unknown {
  const types = typesOf(schema, root);
  if (types.has('array') && !types.has('string')) {
    const items = resolve((schema['items'] as JsonObject | undefined) ?? {}, root);
    return [value].flat().map((item) => read(items, item, root));
  }
  if (typeof value !== 'string' || types.has('string')) return value;
  if ((types.has('number') || types.has('integer')) && NUMBER.test(value)) return Number(value);
  if (types.has('boolean') && (value === 'true' || value === 'false')) return value === 'true';
  return value;
}
