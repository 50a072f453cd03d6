import type { FieldFacts } from '../metadata/records.js';
import { isConditionalRule, isNullableRule } from '../metadata/rule-store.js';
import { type Class, fieldType } from '../metadata/store.js';
import { startupError } from '../errors.js';
import type { JsonObject } from '../values/json.js';
import { type Direction, exposureOf, type Rule, typeFact } from '../rules/class-facts.js';
import { UNSUPPORTED } from '../rules/constraints.js';
import { isListForm } from './field-form.js';
import type { DocumentedFacts } from './swagger-facts.js';
import { decoratorOf } from '../rules/value-rule.js';

const SCALARS = [String, Number, Boolean, Symbol, BigInt];
const BUILT_IN: ReadonlySet<unknown> = new Set([...SCALARS, Date, Array, Object, Function, Uint8Array, Buffer]);

/** Names of rules that make a field a list. */
const ABOUT_LISTS = /^(?:isArray$|array[A-Z])/;

/** Whether a type is a user's class, not a built-in one. */
export const isClass = (type: unknown): type is Class => typeof type === 'function' && !BUILT_IN.has(type);

/** Whether a rule is `@ValidateNested`. */
export const isNestedRule = ({ type }: Rule): boolean => type === 'nestedValidation';

/** Whether a rule is `@IsOptional`. */
export function isOptionalRule({ type, name }: Rule): boolean {
  return type === 'conditionalValidation' && name === 'isOptional';
}

/** Whether a rule is `@ValidateIf`, whose condition only the instance can decide. */
export const isValidateIf = (rule: Rule): boolean =>
  isConditionalRule(rule) && !isOptionalRule(rule) && !isNullableRule(rule);

const looksLikeList = (emitted: unknown, rules: readonly Rule[]): boolean =>
  emitted === Array || rules.some(({ each, name }) => each || ABOUT_LISTS.test(name ?? ''));

type Entry = readonly [key: string, rules: readonly Rule[], facts: DocumentedFacts];

/** Fields that need no rule, because they have a form or `@Nullable`. */
export const declaredKeys = (described: ReadonlyMap<string, FieldFacts>): string[] =>
  [...described].filter(([, { form, nullable }]) => form !== undefined || nullable === true).map(([key]) => key);

/** The accessor that a class declares in place of a field, if any. */
export function accessorOf(cls: Class, key: string): PropertyDescriptor | undefined {
  for (
    let holder = cls.prototype as object | null;
    holder !== null;
    holder = Object.getPrototypeOf(holder) as object | null
  ) {
    const found = Object.getOwnPropertyDescriptor(holder, key);
    if (found !== undefined) return (found.get ?? found.set) ? found : undefined;
  }
  return undefined;
}

/** The value of a field in a new instance. The value of a getter without a setter does not count as a default. */
export function initialOf(fresh: JsonObject, { key, accessor }: Pick<Subject, 'key' | 'accessor'>): unknown {
  if (accessor !== undefined && accessor.set === undefined) return undefined;
  try {
    return fresh[key];
  } catch {
    // a getter may depend on fields that are not set yet
    return undefined;
  }
}

/**
 * Rejects an accessor that clients can't set, or that results lack.
 * @throws {DecorumError} `DECORUM_INVALID_FIELD`
 */
export function checkAccessor({ where, accessor, direction, exposure }: Subject): void {
  if (accessor === undefined) return;
  const wrong = (problem: string, remedy: string) => startupError('DECORUM_INVALID_FIELD', where, problem, remedy);
  if (direction === 'input' && accessor.set === undefined) {
    throw wrong(
      'it has a getter but no setter, so clients cannot send it',
      'Remove its rules, or add @Exclude({ toClassOnly: true }) from class-transformer.',
    );
  }
  if (direction === 'output' && !exposure.isExposed) {
    throw wrong('JSON omits the values of getters', 'Add @Expose() from class-transformer, or make it a field.');
  }
}

/** The fields in declaration order if a new instance reveals it, otherwise in the given order. */
export function inOrderOf(fresh: object, keys: readonly string[]): readonly string[] {
  const shown = Object.keys(fresh);
  return keys.every((key) => shown.includes(key)) ? shown.filter((key) => keys.includes(key)) : keys;
}

/** Whether `@Allow` is the only rule. */
const isOnlyAllowed = (rules: readonly Rule[]): boolean =>
  rules.length > 0 && rules.every(({ type }) => type === 'whitelistValidation');

/** Collects the facts about a field from its decorators and TypeScript. */
export function readSubject(cls: Class, [key, rules, { form, nullable, values }]: Entry, direction: Direction) {
  // type emitted by TypeScript
  const emitted = fieldType(cls, key);
  return {
    cls,
    key,
    where: `${cls.name}.${key}`,
    rules,
    form,
    values,
    direction,
    named: typeFact(cls, key),
    exposure: exposureOf(cls, key, direction),
    emitted,
    accessor: accessorOf(cls, key),
    isList: isListForm(form) || (form === undefined && looksLikeList(emitted, rules)),
    isRecord: form?.kind === 'RecordOf',
    isOptional: rules.some(isOptionalRule) || isOnlyAllowed(rules.filter((rule) => !isNullableRule(rule))),
    isConditional: rules.some(isValidateIf),
    // classes that copy class-validator's rules, as those of @nestjs/mapped-types do, have only the rule
    isNullable: nullable === true || rules.some(isNullableRule),
  };
}

/** A field while it is being read. */
export type Subject = ReturnType<typeof readSubject>;

/**
 * Rejects rules that make no sense for JSON, and decorators that contradict `@Nullable`.
 * @param isDiscriminator whether the field tells the classes of a union apart
 * @throws {DecorumError} `DECORUM_UNSUPPORTED_RULE`, `DECORUM_INVALID_FIELD`
 */
export function reject({ where, rules, form, isNullable }: Subject, isDiscriminator: boolean): void {
  const decorators = rules.map(decoratorOf);
  for (const decorator of decorators) {
    const remedy = UNSUPPORTED[decorator];
    if (remedy !== undefined) throw startupError('DECORUM_UNSUPPORTED_RULE', where, decorator, remedy);
  }
  if (!isNullable) return;
  const contradiction = (other: string, remedy: string) =>
    startupError('DECORUM_INVALID_FIELD', where, `@Nullable cannot be combined with @${other}`, remedy);
  if (isDiscriminator) {
    const remedy = 'Remove @Nullable: null would not say which class it is.';
    throw startupError('DECORUM_INVALID_FIELD', where, '@Nullable is on the discriminator of a union', remedy);
  }
  if (form?.kind === 'Schema') throw contradiction('Schema', 'Allow null in the schema, and remove @Nullable.');
  if (decorators.includes('IsDefined'))
    throw contradiction('IsDefined', 'Remove one of them. A field without @IsOptional() is required anyway.');
}

/** Whether requests without the field are rejected. */
export function isRequired({ isOptional, isConditional, exposure, rules }: Subject, initial: unknown): boolean {
  if (isOptional || isConditional || initial !== undefined) return false;
  if (exposure.isTransformed && exposure.isExposed) return false;
  return !rules.some(({ name }) => name === 'isEmpty');
}
