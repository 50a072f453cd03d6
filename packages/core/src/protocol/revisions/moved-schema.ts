import { isObject, type JsonObject } from '@decorum/schema/internal';

/** Keywords whose values are data. */
const DATA = new Set(['const', 'default', 'enum', 'examples']);
/** Keywords that map names to schemas. */
const NAMED = new Set(['$defs', 'definitions', 'dependentSchemas', 'patternProperties', 'properties']);

/** Points references to a schema's root to its new location. A schema with `$id` is the root for its own references. */
function moved(schema: unknown, place: string): unknown {
  if (Array.isArray(schema)) return schema.map((each) => moved(each, place));
  if (!isObject(schema) || '$id' in schema) return schema;
  const entries = Object.entries(schema).map(([key, value]) => {
    if (key === '$ref' && /^#(?:$|\/(?!\$defs\/))/.test(String(value))) return [key, place + String(value).slice(1)];
    if (!NAMED.has(key) || !isObject(value)) return [key, DATA.has(key) ? value : moved(value, place)];
    return [key, Object.fromEntries(Object.entries(value).map(([name, each]) => [name, moved(each, place)]))];
  });
  return Object.fromEntries(entries) as JsonObject;
}

/**
 * A schema that becomes a part of another one. Its definitions move to the new root, because most references to
 * definitions start at the root.
 * @param place where it is in the other schema, such as `#/anyOf/0`
 */
export function movedSchema(
  schema: JsonObject,
  place: string,
): { readonly definitions: unknown; readonly rest: JsonObject } {
  if ('$id' in schema) return { definitions: undefined, rest: schema };
  const { $defs, ...rest } = moved(schema, place) as JsonObject;
  return { definitions: $defs, rest };
}
