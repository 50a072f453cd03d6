import { isObject } from '../values/json.js';
import type { BadPattern } from './longest-text.js';
import { NAMED, VALUES } from '../json-schema/raw-keywords.js';

/** Keywords whose schemas belong to no field until something refers to them. */
const DEFINITIONS: ReadonlySet<string> = new Set(['$defs', 'definitions']);
/** Keywords whose schemas are for the items of a list. */
const ITEMS: ReadonlySet<string> = new Set(['items', 'prefixItems', 'additionalItems', 'contains', 'unevaluatedItems']);

function stepInto(place: string, keyword: string, name: string): string {
  if (keyword === 'properties') return place === '' ? name : `${place}.${name}`;
  return DEFINITIONS.has(keyword) ? `${keyword}.${name}` : place;
}

/** The field with a pattern, such as `list[].name`; an empty string for the value itself; undefined if there is none. */
function placeOf(pattern: string, node: unknown, place = ''): string | undefined {
  if (!isObject(node)) return undefined;
  for (const [keyword, value] of Object.entries(node)) {
    if (keyword === 'pattern' && value === pattern) return place;
    if (keyword === 'patternProperties' && isObject(value) && Object.hasOwn(value, pattern)) return place;
    if (VALUES.has(keyword)) continue;
    for (const [part, at] of partsOf(keyword, value, place)) {
      const found = placeOf(pattern, part, at);
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

function partsOf(keyword: string, value: unknown, place: string): readonly (readonly [part: unknown, at: string])[] {
  if (NAMED.has(keyword) && isObject(value)) {
    return Object.entries(value).map(([name, part]) => [part, stepInto(place, keyword, name)]);
  }
  const at = ITEMS.has(keyword) ? `${place}[]` : place;
  return [value].flat().map((part: unknown) => [part, at]);
}

/** The message for a wrong pattern, with its field if a schema shows it. */
export function describePattern({ message, pattern, problem }: BadPattern, schema: unknown): string {
  const place = placeOf(pattern, schema);
  return place ? `the pattern ${pattern} of \`${place}\` ${problem}` : message;
}
