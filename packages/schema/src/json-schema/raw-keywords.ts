import { nearest } from '../options.js';
import { isObject, type JsonObject } from '../values/json.js';

/** The keywords of JSON Schema 2020-12 and draft-07, and two of OpenAPI. */
const KEYWORDS = (
  '$schema $id $ref $anchor $dynamicRef $dynamicAnchor $vocabulary $comment $defs definitions ' +
  'allOf anyOf oneOf not if then else properties patternProperties additionalProperties propertyNames required ' +
  'dependentSchemas dependentRequired dependencies unevaluatedProperties minProperties maxProperties ' +
  'items prefixItems additionalItems contains minContains maxContains unevaluatedItems minItems maxItems uniqueItems ' +
  'type enum const multipleOf minimum maximum exclusiveMinimum exclusiveMaximum minLength maxLength pattern ' +
  'format contentEncoding contentMediaType contentSchema ' +
  'title description default deprecated readOnly writeOnly examples example nullable'
).split(' ');

const KNOWN: ReadonlySet<string> = new Set(KEYWORDS);

// shorter keywords look too much like the keywords of other vocabularies
const LONG = KEYWORDS.filter(({ length }) => length > 3);

/** Keywords that map names to schemas. A name may equal a keyword. */
export const NAMED: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  'dependentSchemas',
  '$defs',
  'definitions',
]);

/** Keywords whose values are data, not schemas. */
export const VALUES: ReadonlySet<string> = new Set(['default', 'const', 'enum', 'examples', 'dependentRequired']);

/** Keywords that may define further properties. */
const COMPOSED = (
  'allOf anyOf oneOf $ref $dynamicRef if patternProperties propertyNames dependentSchemas dependencies ' +
  'additionalProperties unevaluatedProperties'
).split(' ');

function misspelled(node: unknown): string | undefined {
  if (Array.isArray(node)) return node.map(misspelled).find(Boolean);
  if (!isObject(node)) return undefined;
  for (const [key, value] of Object.entries(node)) {
    // stricter than for options, since other tools add keywords of their own, such as `propertyOrder`
    const meant = KNOWN.has(key) ? undefined : nearest(key, LONG, 4);
    if (meant !== undefined) {
      return `"${key}" is not a keyword of JSON Schema (begin your own with "x-"). Write "${meant}"`;
    }
    if (!KNOWN.has(key) || VALUES.has(key)) continue;
    const parts = NAMED.has(key) && isObject(value) ? Object.values(value) : value;
    const found = misspelled(parts);
    if (found !== undefined) return found;
  }
  return undefined;
}

/**
 * Finds likely mistakes in a valid JSON Schema, such as misspelled keywords, which validators ignore.
 * @returns a message with the mistake and its fix; undefined if there is none
 */
export function keywordMistake(schema: JsonObject): string | undefined {
  const names = Object.keys(schema);
  const found = misspelled(schema);
  if (found !== undefined) return found;
  // ajv would return a promise, which looks like "valid"
  if (Object.hasOwn(schema, '$async')) return '"$async" is not a keyword of JSON Schema. Remove it';
  if (names.length > 0 && !names.some((name) => KNOWN.has(name) || name.startsWith('x-'))) {
    return `"${names[0]}" is not a keyword of JSON Schema. Write \`{ type: 'object', properties: { ${names[0]}: … } }\``;
  }
  const { properties, required } = schema;
  if (!isObject(properties) || !Array.isArray(required)) return undefined;
  if (COMPOSED.some((name) => (schema[name] ?? false) !== false)) return undefined;
  const missing: unknown = required.find((name) => typeof name === 'string' && !Object.hasOwn(properties, name));
  if (missing === undefined) return undefined;
  return `\`required\` lists "${String(missing)}". Add it to \`properties\`, or correct the name`;
}
