import { isObject, type JsonObject } from '../values/json.js';
import { resolve } from './strings.js';

/** What a schema says about the parts of a value. */
interface Parts {
  readonly fields: ReadonlyMap<string, JsonObject>;
  /** Whether there are no other fields. */
  readonly isClosed: boolean;
  /** The schema of other fields. */
  readonly rest: JsonObject | undefined;
  /** The schemas of the first items, and of the others. */
  readonly first: readonly JsonObject[];
  readonly item: JsonObject | undefined;
}

const UNKNOWN: Parts = { fields: new Map(), isClosed: false, rest: undefined, first: [], item: undefined };

const listOf = (value: unknown): readonly JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : []);

const unionOf = (schemas: readonly JsonObject[]): JsonObject | undefined =>
  schemas.length > 1 ? { anyOf: schemas } : schemas[0];

/** Whether a schema may accept objects. Other schemas have no fields, so a union with them can be closed. */
function admitsObjects({ type, const: only, enum: values }: JsonObject): boolean {
  if (type === undefined) return only === undefined && values === undefined;
  return [type].flat().includes('object');
}

function joined(own: object, parts: readonly Parts[]): ReadonlyMap<string, JsonObject> {
  const found = [...Object.entries(own), ...parts.flatMap(({ fields }) => [...fields])];
  const names = new Set(found.map(([name]) => name));
  const schemasOf = (name: string) => found.filter(([other]) => other === name).map(([, schema]) => schema);
  return new Map([...names].map((name) => [name, unionOf(schemasOf(name).filter(isObject)) ?? {}]));
}

/** Leaves out the fields of results that an output schema does not have. */
export class ExtraFields {
  readonly #known = new Map<JsonObject, Parts>();

  /** @param root the output schema, whose references are followed */
  constructor(private readonly root: JsonObject) {}

  /** Copies a JSON value without those fields. In a union, only fields that no alternative has are left out. */
  drop(value: unknown, schema: JsonObject | undefined = this.root): unknown {
    if (schema === undefined || typeof value !== 'object' || value === null) return value;
    const { fields, isClosed, rest, first, item } = this.#partsOf(schema);
    if (Array.isArray(value)) return value.map((each, index) => this.drop(each, first[index] ?? item ?? {}));
    const kept = Object.entries(value).filter(([name]) => !isClosed || fields.has(name));
    return Object.fromEntries(kept.map(([name, field]) => [name, this.drop(field, fields.get(name) ?? rest ?? {})]));
  }

  #partsOf(schema: JsonObject): Parts {
    const known = this.#known.get(schema);
    if (known !== undefined) return known;
    // an alternative that refers to its own union adds nothing to it
    this.#known.set(schema, UNKNOWN);
    const parts = this.#read(schema);
    this.#known.set(schema, parts);
    return parts;
  }

  #read(schema: JsonObject): Parts {
    const { properties, patternProperties, additionalProperties: rest, unevaluatedProperties, items } = schema;
    const target = resolve(schema, this.root);
    const all = [...listOf(schema['allOf']), ...(target === schema ? [] : [target])].map((part) => this.#partsOf(part));
    const any = [schema['anyOf'], schema['oneOf']].map((list) => listOf(list).map((part) => this.#partsOf(part)));
    const parts = [...all, ...any.flat()];
    const isClosed =
      !admitsObjects(schema) ||
      [rest, unevaluatedProperties].includes(false) ||
      all.some((part) => part.isClosed) ||
      any.some((alternatives) => alternatives.length > 0 && alternatives.every((part) => part.isClosed));
    return {
      fields: joined(Object(properties) as object, parts),
      isClosed: isClosed && patternProperties === undefined,
      rest: unionOf([rest, ...parts.map((part) => part.rest)].filter(isObject)),
      first:
        [schema['prefixItems'], ...parts.map((part) => part.first)].map(listOf).find(({ length }) => length > 0) ?? [],
      item: unionOf([items, ...parts.map((part) => part.item)].filter(isObject)),
    };
  }
}
