import type { FieldForm } from '../metadata/records.js';
import type { Class } from '../metadata/store.js';
import { type DecorumError, startupError } from '../errors.js';
import { isObject, type JsonObject } from '../values/json.js';
import type { Rule } from '../rules/class-facts.js';
import type { Conversion } from './class-model.js';
import { MAPPED, runsOn } from '../rules/constraints.js';
import { type Draft, TYPES } from './draft.js';
import { type Presented, PUBLISHED } from '../rules/keywords.js';
import { inspectRaw } from '../validation/raw.js';
import type { FieldCheck } from '../shape.js';
import { isStandardSchema } from '../standard/standard.js';
import { decoratorOf } from '../rules/value-rule.js';

/** A field with a form, while it is being read. */
export interface Formed {
  readonly form: FieldForm;
  /** `Class.field`, for error messages. */
  readonly where: string;
  readonly rules: readonly Rule[];
  /** Type emitted by TypeScript. */
  readonly emitted: unknown;
  readonly isConditional: boolean;
  readonly exposure: { readonly isTransformed: boolean };
}

const wrong = ({ where, form }: Formed, problem: string, remedy: string) =>
  startupError('DECORUM_INVALID_FIELD', where, `@${form.kind} ${problem}`, remedy);

/** Whether the form declares a list. */
export function isListForm(form: FieldForm | undefined): boolean {
  return form?.kind === 'ArrayOf' || (form !== undefined && 'each' in form && form.each);
}

/** The values of `@Choices` with their titles. */
function choicesOf(titles: unknown): readonly (readonly [value: unknown, title: unknown])[] {
  if (titles instanceof Map) return [...titles];
  return isObject(titles) ? Object.entries(titles) : [];
}

/** Types that TypeScript emits, by JSON type. */
const EMITTED_OF: Readonly<Record<string, readonly unknown[]>> = {
  string: [String],
  number: [Number],
  integer: [Number],
  boolean: [Boolean],
  array: [Array],
  object: [],
};

/** Types that TypeScript may emit for a field of this form. Unions and interfaces are emitted as `Object`. */
function emittedTypes({ form, exposure }: Formed): readonly unknown[] {
  const plain = [String, Number, Boolean, Array];
  if (isListForm(form)) return [Array];
  if (form.kind === 'DateOnly') return [String, Date];
  if (form.kind === 'Choices') return choicesOf(form.titles).flatMap(([value]) => EMITTED_OF[typeof value] ?? []);
  if (form.kind !== 'Schema') return [];
  const { type } = isObject(form.schema) ? form.schema : {};
  if (exposure.isTransformed) return [...plain, Date];
  return (typeof type === 'string' ? EMITTED_OF[type] : undefined) ?? plain;
}

function checkEmitted(field: Formed): void {
  const { emitted } = field;
  const expected = emittedTypes(field);
  if (emitted === undefined || emitted === Object || expected.includes(emitted)) return;
  const names = [...new Set(expected)].map((type) => (type as { name?: string } | undefined)?.name).filter(Boolean);
  const found = typeof emitted === 'function' ? emitted.name : String(emitted);
  const remedy = names.length > 0 ? names.join(' or ') : 'an object type such as Record<string, number>';
  throw wrong(
    field,
    `does not fit the type of the field, which is ${found}`,
    `Declare the field as ${remedy}, or change the decorator.`,
  );
}

/** The error for a record of instances or dates in a class that needs class-transformer. */
export function recordProblem(where: string): DecorumError {
  const problem = '@RecordOf cannot hold classes or dates together with @Transform, @Expose or @Exclude';
  const remedy = 'Declare an array of objects that contain their key, or remove these decorators.';
  return startupError('DECORUM_INVALID_FIELD', where, problem, remedy);
}

/** Whether a rule constrains the value itself, as a form or `@Schema` already does. */
const isAboutValue = (rule: Rule): boolean =>
  rule.type === 'customValidation' && (MAPPED.has(rule.name ?? '') || runsOn(rule.name) !== 'instance');

const NO_ITEMS: ReadonlySet<unknown> = new Set([Array, Object, Function, Symbol, Map, Set, Promise]);

// arrow functions, as passed to `@Type`, have no prototype
const isItemType = (type: unknown): boolean =>
  typeof type === 'function' && !NO_ITEMS.has(type) && (typeof type.prototype === 'object' || TYPES.has(type));

function checkChoices(field: Formed, titles: unknown): void {
  const choices = choicesOf(titles);
  const isValue = (value: unknown) => typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value);
  if (choices.length > 0 && choices.every(([value, title]) => isValue(value) && typeof title === 'string')) return;
  throw wrong(
    field,
    'needs values with titles',
    "Write `@Choices({ c: 'Celsius' })`, or a Map where they are not strings.",
  );
}

function checkSchema(field: Formed, schema: unknown): void {
  if (!isObject(schema) || isStandardSchema(schema))
    throw wrong(field, 'needs a JSON Schema', "Write `@Schema({ type: 'string' })`.");
  const stray = field.rules.find(isAboutValue);
  if (stray === undefined || field.exposure.isTransformed) return;
  const name = decoratorOf(stray);
  throw wrong(field, `cannot be combined with @${name}`, `Express @${name} in the schema, and remove the decorator.`);
}

/**
 * Rejects a form that its field cannot have.
 * @throws {DecorumError} `DECORUM_INVALID_FIELD`
 */
export function checkForm(field: Formed): void {
  const { form, isConditional, exposure } = field;
  if (form.kind === 'Schema') checkSchema(field, form.schema);
  else if (isConditional || exposure.isTransformed) {
    const other = isConditional ? '@ValidateIf' : '@Transform';
    throw wrong(
      field,
      `cannot be combined with ${other}`,
      `Use class-validator's rules, or describe the value on the wire with @Schema.`,
    );
  }
  if (form.kind === 'Choices') checkChoices(field, form.titles);
  if ('of' in form && !isItemType(form.of)) {
    const remedy = `\`@${form.kind}(String)\`. If an import cycle leaves the class undefined, use @Type and @ValidateNested`;
    throw wrong(field, `needs String, Number, Boolean, Date, BigInt, Uint8Array or a DTO class`, `Write ${remedy}.`);
  }
  checkEmitted(field);
}

/**
 * Rejects rules that contradict the form's list, record or single value. Most of these rules lack `{ each: true }`.
 * @throws {DecorumError} `DECORUM_INVALID_FIELD`
 */
export function checkItems(field: Formed, { isList, isRecord }: Pick<Conversion, 'isList' | 'isRecord'>): void {
  const single = isList || isRecord ? undefined : field.rules.find(({ each }) => each);
  if (single !== undefined) {
    throw wrong(
      field,
      `declares one value, but @${decoratorOf(single)} has { each: true }`,
      `Pass it to @${field.form.kind} too.`,
    );
  }
  if (!isList && !isRecord) return;
  const ofWhole = isList ? /^(?:isArray$|array[A-Z])/ : /^(?:isObject|isNotEmptyObject)$/;
  const stray = field.rules.find(
    (rule) => !rule.each && isAboutValue(rule) && !isNeutral(rule) && !ofWhole.test(rule.name ?? ''),
  );
  if (stray !== undefined) {
    throw wrong(
      field,
      `cannot be combined with @${decoratorOf(stray)} for the field as a whole`,
      `To apply it to each item, pass { each: true }.`,
    );
  }
  const custom = field.rules.find((rule) => isRecord && rule.each && !isAboutValue(rule));
  if (custom === undefined) return;
  throw wrong(
    field,
    `cannot run @${decoratorOf(custom)} on each value`,
    `Make the values a class, or validate the record as a whole.`,
  );
}

/** Whether a rule is independent of the value's type. */
const isNeutral = ({ name }: Rule): boolean => ['isNotEmpty', 'isEmpty', 'notEquals', 'isNotIn'].includes(name ?? '');

/**
 * Adds the form to the draft of a value, or of each item.
 * @throws {DecorumError} `DECORUM_INVALID_FIELD` if the rules contradict it
 */
export function addForm(field: Formed, draft: Draft, isDate: boolean): void {
  const { form } = field;
  if (form.kind === 'DateOnly') draft.becomeDay(isDate);
  if (form.kind === 'Choices') addChoices(draft, form.titles, form.each);
  if (!('of' in form)) return;
  const type = TYPES.get(form.of) ?? (form.of as Class).name;
  const { type: ruled } = draft.node;
  if (ruled !== undefined && ruled !== type && !(type === 'number' && ruled === 'integer')) {
    throw wrong(field, `says ${type}, but the rules say ${String(ruled)}`, `Make them agree.`);
  }
  draft.refine(form.of);
}

function addChoices(draft: Draft, titles: unknown, each: boolean): void {
  const choices = choicesOf(titles);
  const types = [...new Set(choices.map(([value]) => typeof value))];
  draft.add({ type: types.length === 1 ? types[0] : types, enum: choices.map(([value]) => value) });
  // the keywords that forms use for one choice and for several
  const titled = { [each ? 'anyOf' : 'oneOf']: choices.map(([value, title]) => ({ const: value, title })) };
  (draft.node as Presented)[PUBLISHED] = { enum: undefined, ...titled };
}

const REFERENCES = /"\$(?:ref|dynamicRef|recursiveRef|schema)":/;

/**
 * The schema of a field with `@Schema`. The field is validated separately, with its own error messages, and its schema
 * is published unchanged.
 * @throws {DecorumError} `DECORUM_INVALID_SCHEMA`
 */
export function ownSchema(source: JsonObject, where: string): JsonObject {
  const own = JSON.parse(JSON.stringify(source)) as JsonObject;
  if (REFERENCES.test(JSON.stringify(own))) {
    const reason =
      'it is part of a larger schema, where `$ref` and `$schema` would mean something else. Write it without them';
    throw startupError('DECORUM_INVALID_SCHEMA', where, reason);
  }
  const { fits, explain } = inspectRaw(own, where);
  const problemsOf = (value: unknown) => (fits(value) ? [] : explain(value));
  const field: FieldCheck = Object.assign((value: unknown) => fits(value), { problemsOf });
  return { field, [PUBLISHED]: own } as Presented;
}
