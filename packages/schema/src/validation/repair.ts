import { isObject, type JsonObject } from '../values/json.js';
import { andThen } from '../values/maybe-promise.js';
import { harmfulPath } from '../values/json-form.js';
import { type Kinds, SchemaKinds } from '../json-schema/schema-kinds.js';
import type { Shape } from '../shape.js';
import { resolve } from '../json-schema/strings.js';

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const BOOLEAN = /^(?:true|false)$/i;

/** Cap on the schemas followed for one value, because references may be circular. */
const MAX_HOPS = 16;

/**
 * Steps allowed in addition to one per character of the JSON. A recursive schema may reach a value by several paths,
 * whose number doubles with each level.
 */
const SPARE_STEPS = 1000;

/** Steps charged for a text that is not JSON, because an exception takes far longer than looking at a value. */
const FAILED_STEPS = 100;

/** Cap on the nesting of a value. What is nested deeper is left alone. */
const MAX_DEPTH = 62;

/** Position of a repair in the value and in the schema. */
interface Place {
  readonly depth: number;
  /** Number of schemas followed for the current value. */
  readonly hops: number;
}

const ROOT: Place = { depth: 0, hops: 0 };

const further = ({ depth, hops }: Place): Place => ({ depth, hops: hops + 1 });
const deeper = ({ depth }: Place): Place => ({ depth: depth + 1, hops: 0 });

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels <= 0 || Object.values(value).some((item) => isDeeper(item, levels - 1));
}

/** Parses JSON text. Undefined if it is invalid, too deep, or contains harmful keys. */
function parse(text: string, { depth }: Place): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return isDeeper(value, MAX_DEPTH - depth) || harmfulPath(value) !== undefined ? undefined : value;
  } catch {
    return undefined;
  }
}

/** Maps the items of a list or object. Returns the same object if none of them changes. */
function mapItems(value: unknown, change: (item: unknown, key: string) => unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  let isChanged = false;
  const entries = Object.entries(value).map(([key, item]) => {
    const changed = change(item, key);
    isChanged ||= changed !== item;
    return [key, changed] as const;
  });
  if (!isChanged) return value;
  // fromEntries keeps a `__proto__` key, which the check then rejects
  return Array.isArray(value) ? entries.map(([, item]) => item) : Object.fromEntries(entries);
}

/** A nested schema; undefined for `true`, `false` and missing ones. */
const schemaIn = (holder: unknown, key: string | number): JsonObject | undefined => {
  const found: unknown = Object.hasOwn(Object(holder) as object, key) ? (holder as JsonObject)[key] : undefined;
  return isObject(found) ? found : undefined;
};

/** The schema of a list item, in 2020-12 and in draft-07. */
function itemSchema({ prefixItems, items, additionalItems }: JsonObject, index: number): JsonObject | undefined {
  const first = prefixItems ?? (Array.isArray(items) ? items : []);
  const rest = Array.isArray(items) ? additionalItems : items;
  if (index < (first as unknown[]).length) return schemaIn(first, index);
  return isObject(rest) ? rest : undefined;
}

function fieldSchema({ properties, patternProperties, additionalProperties }: JsonObject, key: string) {
  if (Object.hasOwn(Object(properties) as object, key)) return schemaIn(properties, key);
  return patternProperties === undefined && isObject(additionalProperties) ? additionalProperties : undefined;
}

/** Repairs values where a JSON Schema leaves only one possible reading. */
class Repairer {
  readonly #root: JsonObject;
  readonly #kinds: SchemaKinds;
  #stepsLeft = 0;

  constructor(root: JsonObject) {
    this.#root = root;
    this.#kinds = new SchemaKinds(root);
  }

  /** Returns the value itself if there is nothing to repair, otherwise a copy with the repairs. */
  repair(value: unknown): unknown {
    this.#stepsLeft = JSON.stringify(value).length + SPARE_STEPS;
    return this.#repair(value, this.#root, ROOT);
  }

  #repair(value: unknown, schema: JsonObject, place: Place): unknown {
    this.#stepsLeft -= 1;
    if (place.hops > MAX_HOPS || place.depth > MAX_DEPTH || this.#stepsLeft < 0) return value;
    const kinds = this.#kinds.of(schema);
    const read = kinds === undefined || kinds.admits(value) ? value : this.#read(value, { schema, kinds, place });
    return this.#inside(read, schema, place);
  }

  /** Reads a value as one of the expected kinds. */
  #read(value: unknown, due: { schema: JsonObject; kinds: Kinds; place: Place }): unknown {
    const { kinds, place } = due;
    if (typeof value !== 'string') return kinds.isOnly('array') && value !== null ? [value] : value;
    const text = value.trim();
    if (kinds.isOnly('array')) return this.#readList(text, value, due);
    if (kinds.has('array') && !text.startsWith('[')) return value;
    if (kinds.has('boolean') && BOOLEAN.test(text)) return text.toLowerCase() === 'true';
    if (!NUMBER.test(text) && !/^[[{]|^null$/.test(text)) return value;
    const parsed = this.#parse(text, place);
    return parsed !== undefined && kinds.admits(parsed) ? parsed : value;
  }

  #parse(text: string, place: Place): unknown {
    const parsed = parse(text, place);
    if (parsed === undefined) this.#stepsLeft -= FAILED_STEPS;
    return parsed;
  }

  /** Turns a single value into a list, or parses the JSON text of a list. */
  #readList(text: string, value: string, { schema, place }: { schema: JsonObject; place: Place }): unknown {
    if (text === '' || text === 'null') return value;
    const list = text.startsWith('[') ? this.#parse(text, place) : undefined;
    const items = this.#kinds.of(itemSchema(resolve(schema, this.#root), 0) ?? {});
    if (!Array.isArray(list)) return [value];
    const isText = items?.admits(value) === true && list.some((item) => !items.admits(item));
    return isText ? [value] : list;
  }

  /** Repairs the nested values. */
  #inside(value: unknown, schema: JsonObject, place: Place): unknown {
    if (typeof value !== 'object' || value === null) return value;
    const { $ref, allOf } = schema;
    let result = mapItems(value, (item, key) => {
      const inner = Array.isArray(value) ? itemSchema(schema, Number(key)) : fieldSchema(schema, key);
      return inner === undefined ? item : this.#repair(item, inner, deeper(place));
    });
    const target = typeof $ref === 'string' ? resolve(schema, this.#root) : schema;
    if (target !== schema) result = this.#repair(result, target, further(place));
    for (const part of Array.isArray(allOf) ? allOf.filter(isObject) : []) {
      result = this.#repair(result, part, further(place));
    }
    const branch = this.#branchOf(result, schema);
    return branch === undefined ? result : this.#repair(result, branch, further(place));
  }

  /** The only alternative that a value can match, if there is exactly one. */
  #branchOf(value: unknown, { anyOf, oneOf }: JsonObject): JsonObject | undefined {
    const branches = [anyOf, oneOf].find(Array.isArray) ?? [];
    const possible = branches.filter((branch: unknown) => branch !== false && this.#mayBe(value, branch));
    return possible.length === 1 && isObject(possible[0]) ? possible[0] : undefined;
  }

  /** Whether a value has the kind and the discriminators of a schema. */
  #mayBe(value: unknown, branch: unknown): boolean {
    if (!isObject(branch)) return true;
    if (this.#kinds.of(branch)?.admits(value) === false) return false;
    const { properties } = resolve(branch, this.#root);
    if (!isObject(value) || !isObject(properties)) return true;
    return Object.entries(properties).every(([key, field]) => {
      const only: unknown = isObject(field) ? field['const'] : undefined;
      return only === undefined || (Object.hasOwn(value, key) && value[key] === only);
    });
  }
}

/**
 * Wraps a check: if the check fails, repairs common mistakes of models and checks again. Valid values are never
 * changed, because they pass the first check.
 */
export function repairing(shape: Pick<Shape, 'accepted' | 'check'>): Pick<Shape, 'check'> {
  const repairer = new Repairer(shape.accepted);
  return {
    check: (value) =>
      andThen(shape.check(value), (checked) => {
        const repaired = checked.ok ? value : repairer.repair(value);
        return repaired === value ? checked : shape.check(repaired);
      }),
  };
}
