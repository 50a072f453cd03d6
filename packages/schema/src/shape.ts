import type { StandardSchemaV1 } from '@standard-schema/spec';

import type { Class } from './metadata/store.js';
import type { JsonObject } from './values/json.js';
import type { ExtraFields } from './json-schema/extra-fields.js';

/** A DTO class, a Standard Schema (zod, valibot, arktype …), or a JSON Schema object. */
export type SchemaSource = Class | StandardSchemaV1 | JsonObject;

/** The type that a handler receives for a schema source. A raw JSON Schema has no static type, so anything fits. */
export type Parsed<S> = S extends Class<infer T> ? T : S extends StandardSchemaV1<unknown, infer T> ? T : never;

/** The type that a handler may return for a schema source. */
export type Accepted<S> = S extends Class<infer T> ? T : S extends StandardSchemaV1<infer T, unknown> ? T : unknown;

/** One problem with a value. */
export interface Problem {
  /** Path of the field, such as `items[2].price`; empty for the value itself. */
  readonly path: string;
  /** What was expected, such as `must be at least 1`. */
  readonly expected: string;
}

/** Validates one field with its own schema. A function, because functions are not published. */
export type FieldCheck = ((value: unknown) => boolean) & {
  readonly problemsOf: (value: unknown) => readonly Problem[];
};

/** The outcome of a check: the value to use, or the problems. */
export type Checked =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/**
 * A compiled schema, in two views. A DTO has a third one, which validates: `ClassReading.validated`. All three come from
 * the same nodes, where symbols say what a view shows instead (see `rules/keywords.ts`).
 */
export interface Shape {
  /** The JSON Schema that callers see. */
  readonly published: JsonObject;
  /**
   * The same, but open where a transformation accepts more than callers should send. Texts are parsed and values are
   * repaired as it says.
   */
  readonly accepted: JsonObject;
  /** Names of the fields at the root, and whether each is required. */
  readonly fields: ReadonlyMap<string, { readonly required: boolean }>;
  /**
   * Validates a value from the wire and converts it to the handler's input (for a DTO, an instance with defaults
   * applied). Never modifies `value`. Returns a promise only if a rule is asynchronous.
   */
  check(value: unknown): Checked | Promise<Checked>;
  /**
   * Like `check`, for values that are all strings (prompt arguments, template variables). Parses numbers and booleans
   * first.
   */
  checkStrings(value: Readonly<Record<string, unknown>>): Checked | Promise<Checked>;
  /**
   * Validates a handler's return value, which may contain instances and dates, and returns its JSON form.
   * @param extra leaves fields out of the JSON form before it is validated
   */
  checkOutput(value: unknown, extra?: ExtraFields): Checked | Promise<Checked>;
}

/** The type of the first parameter of a handler that takes no arguments but needs the context. */
export class NoInput {
  /** Makes the type nominal: other objects are not assignable. */
  declare protected readonly none: never;
}
