import type { JsonObject } from '../protocol/model.js';

const NUMBER = /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** Reads the values of text as the types that a schema names; what does not fit stays text, for the schema to refuse. */
export function readStrings(schema: JsonObject, values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const properties = resolve(schema, schema)['properties'] as Record<string, JsonObject> | undefined;
  return Object.fromEntries(
    Object.entries(values).map(([key, value]) => {
      const field = properties !== undefined && Object.hasOwn(properties, key) ? properties[key] : undefined;
      return [key, read(resolve(field ?? {}, schema), value, schema)];
    }),
  );
}

/** Follows `$ref` within the schema itself. */
function resolve(schema: JsonObject, root: JsonObject): JsonObject {
  const { $ref: ref } = schema;
  if (typeof ref !== 'string' || !ref.startsWith('#/')) return schema;
  let target: unknown = root;
  for (const token of ref.slice(2).split('/')) {
    const key = decodeURIComponent(token).replaceAll('~1', '/').replaceAll('~0', '~');
    const holder = Object(target) as JsonObject;
    target = Object.hasOwn(holder, key) ? holder[key] : undefined;
  }
  return typeof target === 'object' && target !== null ? (target as JsonObject) : schema;
}

/** The types that a schema allows, as far as it names them. */
function typesOf(schema: JsonObject, root: JsonObject): ReadonlySet<unknown> {
  const { type, enum: values, const: only, anyOf, oneOf, allOf } = schema;
  if (type !== undefined) return new Set([type].flat());
  if (Array.isArray(values)) return new Set(values.map((value) => typeof value));
  if (only !== undefined) return new Set([typeof only]);
  const branches = [anyOf, oneOf, allOf].find(Array.isArray) as JsonObject[] | undefined;
  return new Set((branches ?? []).flatMap((branch) => [...typesOf(resolve(branch, root), root)]));
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
