import type { StandardSchemaV1 } from '@standard-schema/spec';

import type { Class } from './metadata/store.js';
import { startupError } from './errors.js';
import { isObject, type JsonObject } from './values/json.js';
import { compileGenerated, type Inspection } from './validation/ajv.js';
import { hasTinyObjects, TOO_COMPLEX } from './validation/bounded-work.js';
import { type Direction, loadTransformer, missingLibrary } from './rules/class-facts.js';
import type { ClassReading } from './dto/class-model.js';
import type { ExtraFields } from './json-schema/extra-fields.js';
import { readClass } from './dto/from-class.js';
import { compileHydrator, type Hydrate, instanceCheck, transformerHydrator } from './dto/hydrate.js';
import { compileRules } from './dto/instance-rules.js';
import { acceptedView, publishedView } from './rules/keywords.js';
import { mistakenSource } from './mistaken-source.js';
import { harmfulPath, NotJson, toJsonForm } from './values/json-form.js';
import { writeDays } from './dto/nested-values.js';
import { MAX_PROBLEMS, readablePath } from './validation/problems.js';
import { boundSchema, inspectRaw } from './validation/raw.js';
import { SchemaKinds } from './json-schema/schema-kinds.js';
import type { Checked, Problem, SchemaSource, Shape } from './shape.js';
import { compileGuard, compileStandard, isStandardSchema, sourceOf, standardJson } from './standard/standard.js';
import { readStrings, resolve } from './json-schema/strings.js';

const failed = (problems: readonly Problem[]): Checked => ({ ok: false, problems });
const passed = (value: unknown): Checked => ({ ok: true, value });

type Step = (value: unknown) => Checked | Promise<Checked>;

/** Continues with a validated value, synchronously if possible. */
function andThen(checked: Checked | Promise<Checked>, step: Step): Checked | Promise<Checked> {
  if (checked instanceof Promise) return checked.then((settled) => andThen(settled, step));
  return checked.ok ? step(checked.value) : checked;
}

/** Rejects keys that could reach a prototype, in values that the schema leaves partly open. */
function rejectHarmful(value: unknown): Checked {
  const keys = harmfulPath(value);
  return keys === undefined ? passed(value) : failed([{ path: readablePath(keys), expected: 'is not a known field' }]);
}

function jsonForm(value: unknown, extra?: ExtraFields): Checked {
  try {
    const form = toJsonForm(value);
    return passed(extra === undefined ? form : extra.drop(form));
  } catch (error) {
    if (error instanceof NotJson) return failed([{ path: '', expected: error.message }]);
    throw error;
  }
}

function inspected({ fits, explain }: Inspection, value: unknown): Checked {
  return fits(value) ? passed(value) : failed(explain(value));
}

/** The fields at the root, and whether each is required. */
function fieldsOf(schema: JsonObject): Shape['fields'] {
  const root = resolve(schema, schema);
  const required = new Set((root['required'] as readonly string[] | undefined) ?? []);
  const names = Object.keys((root['properties'] as object | undefined) ?? {});
  return new Map(names.map((name) => [name, { required: required.has(name) }]));
}

/** Compiles the check on first use, since most listed members are never called. */
function shape(
  { published, accepted = published }: Pick<Shape, 'published'> & Partial<Shape>,
  compileCheck: () => Shape['check'],
  checkOutput: Shape['checkOutput'],
): Shape {
  const lazy: { -readonly [K in keyof Shape]: Shape[K] } = {
    published,
    accepted,
    fields: fieldsOf(published),
    check(value) {
      lazy.check = compileCheck();
      return lazy.check(value);
    },
    checkStrings: (value) => lazy.check(readStrings(accepted, value)),
    checkOutput,
  };
  return lazy;
}

function rawShape(source: JsonObject, where: string): Shape {
  const inspect = inspectRaw(source, where);
  return shape(
    { published: source },
    () => (value) => andThen(inspected(inspect, value), rejectHarmful),
    (value, extra) => andThen(jsonForm(value, extra), (json) => inspected(inspect, json)),
  );
}

const NO_FIELDS: JsonObject = { type: 'object', properties: {}, additionalProperties: false };

/** Rejects all fields. */
function checkEmpty(value: unknown): Checked {
  if (!isObject(value)) return failed([{ path: '', expected: 'must be an object' }]);
  const unknown = Object.keys(value).slice(0, MAX_PROBLEMS);
  if (unknown.length === 0) return passed(value);
  return failed(unknown.map((name) => ({ path: readablePath([name]), expected: 'is not a known field' })));
}

/** Accepts only an empty object. */
export const EMPTY_SHAPE = shape({ published: NO_FIELDS }, () => checkEmpty, checkEmpty);

function standardShape(source: StandardSchemaV1, where: string, direction: Direction): Shape {
  const published = standardJson(source, where, direction);
  const check = compileStandard(source);
  let guard: Step | undefined;
  const guarded: Step = (value) => andThen((guard ??= compileGuard(source, published))(value), check);
  return shape(
    { published },
    () => (value) => andThen(rejectHarmful(value), guarded),
    (value, extra) => andThen(andThen(jsonForm(value, extra), guarded), (parsed) => jsonForm(parsed)),
  );
}

function inputCheck(reading: ClassReading, inspection: Inspection, hydrate: Hydrate): Shape['check'] {
  const check = instanceCheck(hydrate, inspection);
  const ruled = compileRules(reading);
  const slow = (value: unknown) => {
    if (hasTinyObjects(value)) return failed(TOO_COMPLEX);
    return reading.needsInstance ? andThen(check(value), (it) => ruled(it as object)) : check(value);
  };
  const rule = reading.needsInstance || reading.needsTransformer ? slow : check;
  return reading.isOpen ? (value) => andThen(rejectHarmful(value), rule) : rule;
}

function outputCheck(reading: ClassReading, inspection: () => Inspection, toInstance: Hydrate): Shape['checkOutput'] {
  const { root, needsInstance, needsTransformer, hasDays } = reading;
  const ruled = compileRules(reading);
  const formOf = (plain: unknown, extra: ExtraFields | undefined): Checked => {
    const form = jsonForm(plain, extra);
    if (hasDays && form.ok) writeDays(form.value, root);
    return form;
  };
  return (value, extra) => {
    if (!isObject(value)) return inspected(inspection(), value);
    const instance = value instanceof root.cls || !(needsInstance || needsTransformer) ? value : toInstance(value);
    const plain = needsTransformer ? loadTransformer().instanceToPlain(instance) : instance;
    const json = andThen(formOf(plain, extra), (form) => inspected(inspection(), form));
    return needsInstance ? andThen(json, (form) => andThen(ruled(instance), () => passed(form))) : json;
  };
}

function classShape(cls: Class, where: string, direction: Direction): Shape {
  const missing = missingLibrary();
  if (missing !== undefined) {
    const remedy = 'Run `npm install class-validator class-transformer`, or pass a Standard Schema or a JSON Schema';
    throw startupError('DECORUM_MISSING_LIBRARY', `${where}: the DTO class ${cls.name}`, missing, remedy);
  }
  const reading = readClass(cls, direction, where);
  const { validated } = reading;
  boundSchema(validated, where);
  const published = publishedView(validated);
  boundSchema(published, where);
  let compiled: Inspection | undefined;
  const inspection = () => (compiled ??= compileGenerated(validated, reading.mayBacktrack));
  const own = compileHydrator(reading.root);
  const hydrate = reading.needsTransformer ? transformerHydrator(reading.root, reading.models) : own;
  const views = { published, accepted: reading.needsTransformer ? acceptedView(validated) : published };
  return shape(views, () => inputCheck(reading, inspection(), hydrate), outputCheck(reading, inspection, own));
}

function build(source: SchemaSource, where: string, direction: Direction): Shape {
  if (isStandardSchema(source)) return standardShape(source, where, direction);
  if (typeof source === 'function') return classShape(source, where, direction);
  return rawShape(source as JsonObject, where);
}

const compiled = { input: new WeakMap<object, Shape>(), output: new WeakMap<object, Shape>() };

/**
 * Compiles a schema, once per source even if many members share it.
 * @param given a `SchemaSource`; anything else is rejected
 * @param where the schema's owner, such as `Weather.forecast`, for error messages
 * @param direction whether it describes input (the default) or output. A schema with transformations or defaults may
 *   differ between the two
 * @throws {DecorumError} `DECORUM_MISSING_LIBRARY`, `DECORUM_NO_RULES`,
 *   `DECORUM_UNSUPPORTED_RULE`, `DECORUM_UNKNOWN_FIELD_TYPE`, `DECORUM_INVALID_FIELD` or `DECORUM_INVALID_SCHEMA`
 */
export function compileShape(given: unknown, where: string, direction: Direction = 'input'): Shape {
  const source = sourceOf(given);
  const known = compiled[direction].get(source as object);
  if (known !== undefined) return known;
  const mistake = mistakenSource(source);
  if (mistake !== undefined) throw startupError('DECORUM_INVALID_SCHEMA', where, mistake);
  const built = build(source as SchemaSource, where, direction);
  compiled[direction].set(source as object, built);
  return built;
}

/** Whether a schema allows only objects. */
export function hasObjectRoot({ published }: Shape): boolean {
  const kinds = new SchemaKinds(published).of(published);
  return kinds !== undefined && kinds.isOnly('object') && !kinds.has('null');
}

/** Whether a schema names its fields in one place. */
export function hasFieldsAtRoot({ published }: Shape): boolean {
  return resolve(published, published)['type'] === 'object';
}
