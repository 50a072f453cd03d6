import { compileShape } from './compile.js';
import type { Direction } from './rules/class-facts.js';
import type { Accepted, Checked, Parsed, Problem, SchemaSource, Shape } from './shape.js';
import { repairing } from './validation/repair.js';
import type { JsonObject } from './values/json.js';

/** How to read a value. */
export interface ParseOptions {
  /** Repairs a value that has only one possible meaning, such as `"5"` for an integer. Valid values never change. */
  readonly repair?: boolean;
  /** The value is an object of strings, as in a query or a form. Numbers and booleans are parsed. */
  readonly strings?: boolean;
}

/** The type of a parsed value. A raw JSON Schema has no static type. */
export type Value<S> = [Parsed<S>] extends [never] ? unknown : Parsed<S>;

/** A value does not fit its schema. The message lists the problems. */
export class InvalidValue extends Error {
  /** @param problems all problems, or the first 50 of them */
  constructor(readonly problems: readonly Problem[]) {
    super(problems.map(({ path, expected }) => `${path || 'the value'} ${expected}`).join('; '));
    this.name = 'InvalidValue';
  }
}

function shapeOf(source: SchemaSource, direction: Direction): Shape {
  const name = (source as { readonly name?: unknown } | undefined)?.name;
  return compileShape(source, typeof source === 'function' && typeof name === 'string' ? name : 'schema', direction);
}

function check(source: SchemaSource, value: unknown, { repair, strings }: ParseOptions): Checked | Promise<Checked> {
  const shape = shapeOf(source, 'input');
  if (strings) return shape.checkStrings(value as Readonly<Record<string, string>>);
  return (repair ? repairing(shape) : shape).check(value);
}

function valueOf(checked: Checked): unknown {
  if (checked.ok) return checked.value;
  throw new InvalidValue(checked.problems);
}

/**
 * The JSON Schema to publish.
 * @param direction a schema with transformations or initializers may differ between what you `parse` (`'input'`, the
 *   default) and what you `serialize` (`'output'`)
 * @throws {DecorumError} for a mistake in the schema
 * @example
 * ```ts
 * class Place {
 *   @Describe('City, for example "Oslo"') @IsString() city!: string;
 * }
 *
 * schemaOf(Place); // { type: 'object', properties: { city: … }, required: ['city'], additionalProperties: false }
 * ```
 */
export function schemaOf(source: SchemaSource, direction: Direction = 'input'): JsonObject {
  return shapeOf(source, direction).published;
}

/**
 * Validates a JSON value and converts it: to an instance of the class with its initializers, or to what a Standard
 * Schema returns. Never modifies the value.
 * @throws {InvalidValue} with what is wrong
 * @throws {DecorumError} for a mistake in the schema
 * @example
 * ```ts
 * class Trip {
 *   @IsDate() from!: Date;
 *   @IsInt() @Min(1) people = 1;
 * }
 *
 * const { from, people } = await parse(Trip, { from: '2026-05-01T09:00:00Z' });
 * ```
 */
export async function parse<S extends SchemaSource>(
  source: S,
  value: unknown,
  options: ParseOptions = {},
): Promise<Value<S>> {
  return valueOf(await check(source, value, options)) as Value<S>;
}

/**
 * Everything that is wrong with a value, up to 50 problems. Empty for a valid one.
 * @throws {DecorumError} for a mistake in the schema
 * @example
 * ```ts
 * class Trip {
 *   @IsInt() @Min(1) people = 1;
 * }
 *
 * await explain(Trip, { people: 0 }); // [{ path: 'people', expected: 'must be at least 1' }]
 * ```
 */
export async function explain(
  source: SchemaSource,
  value: unknown,
  options: ParseOptions = {},
): Promise<readonly Problem[]> {
  const checked = await check(source, value, options);
  return checked.ok ? [] : checked.problems;
}

/**
 * The JSON form of a value, which may contain instances, dates, bytes and more, validated against the published schema.
 * @throws {InvalidValue} with what is wrong
 * @throws {DecorumError} for a mistake in the schema
 * @example
 * ```ts
 * class Trip {
 *   @DateOnly() from = new Date();
 * }
 *
 * await serialize(Trip, new Trip()); // { from: '2026-05-01' }
 * ```
 */
export async function serialize<S extends SchemaSource>(source: S, value: Accepted<S>): Promise<unknown> {
  return valueOf(await shapeOf(source, 'output').checkOutput(value));
}
