import type { StandardSchemaV1 } from '@standard-schema/spec';

import type { Class } from '../metadata/store.js';
import type { JsonObject } from '../protocol/model.js';

/** Where a schema comes from: a DTO class, a Standard Schema (zod, valibot, arktype …), or a JSON Schema object. */
export type SchemaSource = Class | StandardSchemaV1 | JsonObject;

/** What a handler receives for a schema source. A raw JSON Schema says nothing to the compiler, so it fits any type. */
export type Parsed<S> = S extends Class<infer T> ? T : S extends StandardSchemaV1<unknown, infer T> ? T : never;

/** What a handler may return for a schema source: what the schema accepts. */
export type Accepted<S> = S extends Class<infer T> ? T : S extends StandardSchemaV1<infer T, unknown> ? T : unknown;

/** One thing that is wrong with a value. */
export interface Problem {
  /** The field by path, such as `items[2].price`; empty for the value itself. */
  readonly path: string;
  /** What was expected, such as `must be at least 1`. */
  readonly expected: string;
}

/** The check of one field by a schema of its own. A function, so that it is not published. */
export type FieldCheck = ((value: unknown) => boolean) & {
  readonly problemsOf: (value: unknown) => readonly Problem[];
};

/** The outcome of a check: the value to use, or everything that is wrong with it. */
export type Checked =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/** A compiled schema. */
export interface Shape {
  /** The JSON Schema 2020-12 that clients see. */
  readonly json: JsonObject;
  /** Names of the fields at the root, and whether each is required. */
  readonly fields: ReadonlyMap<string, { readonly required: boolean }>;
  /**
   * Checks a value from the wire, and makes of it what a handler receives (a DTO instance with defaults applied).
   * Never changes `value`. A promise only where a rule is asynchronous.
   */
  check(value: unknown): Checked | Promise<Checked>;
  /** As `check`, for values that are all strings (prompt arguments, template variables): numbers and booleans are read from their text first. */
  checkStrings(value: Readonly<Record<string, unknown>>): Checked | Promise<Checked>;
  /** Checks a value that a handler returned, which may hold instances and dates, and gives its JSON form. */
  checkOutput(value: unknown): Checked | Promise<Checked>;
}

/** The type of the first parameter of a handler that takes no arguments but wants its context. */
export class NoInput {
  /** Keeps other objects from being taken for it. */
  declare protected readonly none: never;
}
