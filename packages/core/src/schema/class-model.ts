import type { Class } from '../metadata/store.js';
import type { JsonObject } from '../protocol/model.js';

/** Values that JSON has no type for, and that travel as text. */
export type Encoded = 'date' | 'bytes' | 'buffer' | 'bigint';

/** How the value of one field becomes what the DTO declares. */
export interface Conversion {
  readonly to: Encoded | ClassModel;
  readonly isList: boolean;
}

/** One field of a DTO. */
export interface FieldModel {
  readonly key: string;
  /** The name on the wire. */
  readonly wire: string;
  readonly schema: JsonObject;
  readonly isRequired: boolean;
  /** `null` passes, and means absent. */
  readonly isNullable: boolean;
  readonly convert: Conversion | undefined;
}

/** A DTO class as the hydrator needs it. */
export interface ClassModel {
  readonly cls: Class;
  readonly fields: FieldModel[];
  /** Its constructor works without arguments. */
  readonly takesNothing: boolean;
  /** Fields that have a value in a fresh instance. */
  readonly initialized: readonly string[];
}

/** A DTO class with all it leads to. */
export interface ClassReading {
  readonly root: ClassModel;
  readonly models: readonly ClassModel[];
  /** The schema to check by; functions in it are for ajv only. */
  readonly schema: JsonObject;
  /** A rule needs the instance. */
  readonly needsInstance: boolean;
  /** `@Transform`, `@Expose` or `@Exclude` has a say. */
  readonly needsTransformer: boolean;
  /** Some part of the value is not described, so that keys such as `__proto__` may hide there. */
  readonly isOpen: boolean;
  /** A pattern may backtrack. */
  readonly mayBacktrack: boolean;
}

/** An instance with its initializers run; nothing where the constructor wants arguments or throws. */
export function construct(cls: Class): JsonObject | undefined {
  if (cls.length > 0) return undefined;
  try {
    return new (cls as unknown as new () => JsonObject)();
  } catch {
    return undefined;
  }
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

/** Whether a schema leaves room for keys it does not name. */
export function leavesRoom(schema: JsonObject): boolean {
  if (['properties', '$ref', 'enum', 'const'].some((keyword) => keyword in schema)) return false;
  if (Array.isArray(schema['anyOf'])) return schema['anyOf'].some(leavesRoom);
  const types = [schema['type'] ?? 'object'].flat();
  if (types.every((type) => SCALARS.has(type))) return false;
  return types.includes('object') || schema['items'] === undefined || leavesRoom(schema['items'] as JsonObject);
}

/** The schema of an object that has these fields and no others. */
export function objectSchema(fields: readonly FieldModel[]): JsonObject {
  const required = fields.filter(({ isRequired }) => isRequired).map(({ wire }) => wire);
  return {
    type: 'object',
    properties: Object.fromEntries(fields.map(({ wire, schema }) => [wire, schema])),
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  };
}
