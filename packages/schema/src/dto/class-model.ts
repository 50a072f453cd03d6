import type { Class } from '../metadata/store.js';
import { isObject, type JsonObject } from '../values/json.js';

/** Types that JSON lacks, sent as strings. `day` is a date without a time. */
export type Encoded = 'date' | 'day' | 'bytes' | 'buffer' | 'bigint';

/** How to convert a field's value to its declared type. */
export interface Conversion {
  readonly to: Encoded | ClassModel | UnionModel;
  readonly isList: boolean;
  readonly isRecord: boolean;
}

/** The discriminator of one class of a union: the property and its value. */
export interface Tag {
  readonly property: string;
  readonly name: string;
  /** Whether instances have the property even if their class doesn't declare it. */
  readonly isKept: boolean;
}

/** A union of classes with a discriminator. */
export interface UnionModel {
  readonly property: string;
  readonly variants: ReadonlyMap<unknown, ClassModel>;
}

/** A field of a DTO. */
export interface FieldModel {
  readonly key: string;
  /** Name on the wire. */
  readonly wire: string;
  readonly schema: JsonObject;
  readonly isRequired: boolean;
  /** Whether `null` counts as absent, because many models send it for fields that they omit. */
  readonly dropsNull: boolean;
  readonly convert: Conversion | undefined;
  /** For a discriminator: whether the class itself declares it. */
  readonly isDeclared?: boolean;
  /** Whether the field exists on the wire only, not in the instance. */
  readonly isDropped?: boolean;
  readonly isRecord?: boolean;
  /** Whether class-validator skips the field's instances, because the field has no `@ValidateNested`. */
  readonly isUnreached?: boolean;
}

/** A DTO class, as the hydrator needs it. */
export interface ClassModel {
  readonly cls: Class;
  /** Set for a class of a union. */
  readonly tag: Tag | undefined;
  readonly fields: FieldModel[];
  /** Whether the constructor works without arguments. */
  readonly takesNothing: boolean;
  /** Fields with a value in a new instance. */
  readonly initialized: readonly string[];
}

/** A DTO class with all classes that it references. */
export interface ClassReading {
  readonly root: ClassModel;
  readonly models: readonly ClassModel[];
  /** The schema that validates. Functions in it are for ajv, symbols for the other views. */
  readonly validated: JsonObject;
  /** Whether a rule needs the instance. */
  readonly needsInstance: boolean;
  /** Whether class-transformer is needed, for `@Transform`, `@Expose` or `@Exclude`. */
  readonly needsTransformer: boolean;
  /** Whether the schema leaves part of the value open, where keys such as `__proto__` could hide. */
  readonly isOpen: boolean;
  /** Whether a pattern may backtrack. */
  readonly mayBacktrack: boolean;
  /** Whether any field is a date without a time on the wire, but a `Date` in the instance. */
  readonly hasDays: boolean;
}

/** The class that a value becomes an instance of, if any. */
export function modelOf(to: Conversion['to'], value: unknown): ClassModel | undefined {
  if (typeof to === 'string') return undefined;
  if ('cls' in to) return to;
  const { [to.property]: name, constructor } = value as JsonObject;
  // instances may lack the discriminator
  return to.variants.get(name) ?? [...to.variants.values()].find(({ cls }) => cls === constructor);
}

/**
 * Makes a function apply to a field's value, or to each item of its list or record. Values of another shape are kept.
 */
export function mapHeld({ isList, isRecord }: Conversion, change: (item: unknown) => unknown) {
  if (isList) return (value: unknown) => (Array.isArray(value) ? mapped(value, change) : value);
  if (!isRecord) return change;
  return (value: unknown) =>
    isObject(value) ? Object.fromEntries(Object.entries(value).map(([key, item]) => [key, change(item)])) : value;
}

/**
 * `map` without holes: V8's optimized `map` returns holey arrays, for which `JSON.stringify` takes three times as long.
 */
function mapped(items: readonly unknown[], change: (item: unknown) => unknown): unknown[] {
  const changed: unknown[] = [];
  for (let at = 0; at < items.length; at += 1) changed.push(change(items[at]));
  return changed;
}

/** Whether a value can be published as a default. */
export function isJson(value: unknown): boolean {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return true;
  if (typeof value === 'number') return Number.isFinite(value);
  if (Array.isArray(value)) return value.every(isJson);
  if (typeof value !== 'object' || Object.getPrototypeOf(value) !== Object.prototype) return false;
  return Object.values(value).every(isJson);
}

const SCALARS: ReadonlySet<unknown> = new Set(['string', 'number', 'integer', 'boolean', 'null']);

/** Whether a schema allows keys that it does not name. */
export function leavesRoom(schema: JsonObject): boolean {
  if (['properties', '$ref', 'enum', 'const'].some((keyword) => keyword in schema)) return false;
  if (Array.isArray(schema['anyOf'])) return schema['anyOf'].some(leavesRoom);
  const types = [schema['type'] ?? 'object'].flat();
  if (types.every((type) => SCALARS.has(type))) return false;
  return types.includes('object') || schema['items'] === undefined || leavesRoom(schema['items'] as JsonObject);
}

/** The schema of an object with exactly these fields. */
export function objectSchema(fields: readonly FieldModel[]): JsonObject {
  const required = fields.filter(({ isRequired }) => isRequired).map(({ wire }) => wire);
  return {
    type: 'object',
    properties: Object.fromEntries(fields.map(({ wire, schema }) => [wire, schema])),
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  };
}
