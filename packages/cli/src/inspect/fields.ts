import type { JsonObject } from '@decorum/core';
import { isObject } from '@decorum/core/internal';
import { CommandFailure, EXIT } from 'create-decorum';

/** A JSON Schema, and the document that its references point into. */
export interface Field {
  readonly schema: JsonObject;
  readonly root: JsonObject;
}

/** Cap on arrays inside each other in the name of a type, because references may go round in circles. */
const MAX_DEPTH = 5;

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** The schema itself, what it refers to and extends, and its alternatives. */
function variantsOf({ schema, root }: Field): readonly JsonObject[] {
  const variants = new Set([schema]);
  for (const { $ref: reference, allOf, anyOf, oneOf } of variants) {
    const target = typeof reference === 'string' ? atPointer(root, reference) : undefined;
    for (const each of [target, allOf, anyOf, oneOf].flat()) if (isObject(each)) variants.add(each);
  }
  return [...variants];
}

function atPointer(root: JsonObject, reference: string): unknown {
  if (!reference.startsWith('#/')) return undefined;
  let found: unknown = root;
  for (const step of reference.slice(2).split('/')) {
    const key = step.replaceAll('~1', '/').replaceAll('~0', '~');
    found = isObject(found) && Object.hasOwn(found, key) ? found[key] : undefined;
  }
  return found;
}

/** The types that a field may have. Empty if the schema doesn't say. */
const typesOf = (field: Field): ReadonlySet<unknown> =>
  new Set(variantsOf(field).flatMap(({ type }) => (type === undefined ? [] : [type].flat())));

/** The only values that a field may have. Empty if any value of its type will do. */
export const choicesOf = (field: Field): readonly unknown[] =>
  variantsOf(field).flatMap((each) => [...listOf(each['enum']), ...('const' in each ? [each['const']] : [])]);

/** The field of an object; undefined if the schema doesn't name it. */
export function propertyOf({ schema, root }: Field, name: string): Field | undefined {
  for (const { properties } of variantsOf({ schema, root })) {
    if (!isObject(properties) || !Object.hasOwn(properties, name)) continue;
    const found = properties[name];
    return { schema: isObject(found) ? found : {}, root };
  }
  return undefined;
}

/** The names of an object's fields. */
export const namesOf = ({ schema }: Field): readonly string[] => Object.keys(Object(schema['properties']) as object);

/** The names of the fields that an object must have. */
export const requiredOf = ({ schema }: Field): readonly string[] => listOf(schema['required']).map(String);

/** The field of an array's items; undefined unless the field is an array and nothing else. */
export function itemsOf(field: Field): Field | undefined {
  const types = [...typesOf(field)].filter((type) => type !== 'null');
  if (types.length !== 1 || types[0] !== 'array') return undefined;
  const items = variantsOf(field).find(({ items: found }) => isObject(found))?.['items'];
  return { schema: isObject(items) ? items : {}, root: field.root };
}

/** Names the type of a field: `integer`, `c|f`, `string[]`. */
export function typeNameOf(field: Field, depth = 0): string {
  const items = itemsOf(field);
  if (items) return depth < MAX_DEPTH ? `${typeNameOf(items, depth + 1)}[]` : 'array';
  const choices = choicesOf(field);
  if (choices.length > 0)
    return choices.map((each) => (typeof each === 'string' ? each : JSON.stringify(each))).join('|');
  return [...typesOf(field)].join('|') || 'any';
}

type Reader = (text: string) => unknown;

/** How the types are read, in the order in which they are tried. A reader returns undefined for what it can't read. */
const READERS: Readonly<Record<string, Reader>> = {
  null: (text) => (text === 'null' ? null : undefined),
  boolean: (text) => (text === 'true' ? true : text === 'false' ? false : undefined),
  // a longer one would lose digits
  integer: (text) => (/^[+-]?\d+$/.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : undefined),
  number: (text) => (text.trim() !== '' && Number.isFinite(Number(text)) ? Number(text) : undefined),
  object: (text) => parsed(text, isObject),
  array: (text) => parsed(text, Array.isArray),
  string: (text) => text,
};

function parsed(text: string, isMeant: (value: unknown) => boolean): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return isMeant(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Reads the text of a value by its schema.
 * @param name the argument, for messages
 * @throws {CommandFailure} with `EXIT.usage`
 */
export function readValue(name: string, text: string, field: Field): unknown {
  const choices = choicesOf(field);
  const types = typesOf(field);
  const choice = choices.find((each) => String(each) === text);
  if (choice !== undefined) return choice;
  const isOpen = choices.length === 0;
  if (isOpen && types.size === 0) return text;
  for (const [type, read] of Object.entries(READERS)) {
    const value = types.has(type) && (isOpen || type === 'null') ? read(text) : undefined;
    if (value !== undefined) return value;
  }
  const wanted = isOpen ? `is of type ${typeNameOf(field)}` : `is one of ${choices.map(String).join(', ')}`;
  throw new CommandFailure(`${name} ${wanted}, so it can't be "${text}".`, EXIT.usage);
}
