import { isObject } from '../jsonrpc.js';
import type { JsonObject } from '../model.js';

/** Keywords whose value is data. */
const DATA = new Set(['const', 'enum', 'default', 'examples']);

/** Keywords with schemas by name. A name is no keyword, even if it looks like one. */
const NAMED = new Set(['$defs', 'definitions', 'properties', 'patternProperties', 'dependentSchemas', 'dependencies']);

/** The start of a reference into the schema itself, except into its definitions, which move to the new root. */
const OWN = /^#(?=$|\/(?!\$defs\/))/;

/** Redirects the references within a schema that becomes the schema of a property. */
function redirected(schema: unknown, isNamed = false): unknown {
  if (Array.isArray(schema)) return schema.map((each) => redirected(each));
  // with an id of its own, its references are relative to that
  if (!isObject(schema) || (!isNamed && typeof schema['$id'] === 'string')) return schema;
  const entries = Object.entries(schema).map(([key, value]) => {
    if (!isNamed && key === '$ref' && typeof value === 'string')
      return [key, value.replace(OWN, '#/properties/result')] as const;
    return [key, !isNamed && DATA.has(key) ? value : redirected(value, !isNamed && NAMED.has(key))] as const;
  });
  return Object.fromEntries(entries);
}

/** The schema of an object with a value of this schema as `result`. */
export function wrapped({ $schema, ...schema }: JsonObject): JsonObject {
  const { $defs, ...rest } = schema;
  const moves = $defs !== undefined && typeof schema['$id'] !== 'string';
  return {
    ...($schema !== undefined && { $schema }),
    ...(moves && { $defs: redirected($defs, true) }),
    type: 'object',
    properties: { result: redirected(moves ? rest : schema) },
    required: ['result'],
  };
}
