import { isNullableRule } from '../metadata/rule-store.js';
import type { Class } from '../metadata/store.js';
import { startupError } from '../errors.js';
import { isObject, type JsonObject } from '../values/json.js';
import { compileGenerated } from '../validation/ajv.js';
import { type Rule, rulesOf } from '../rules/class-facts.js';
import { isJson } from './class-model.js';
import { MAPPED, runsOn } from '../rules/constraints.js';
import { isOptionalRule, isValidateIf } from './field-subject.js';
import { decoratorOf, isGenuine, passes } from '../rules/value-rule.js';

/** Whether a rule is built into class-validator. Custom rules are not tried, because they may have side effects. */
function isOwn(rule: Rule): boolean {
  const mapping = MAPPED.get(rule.name ?? '');
  return mapping === undefined ? runsOn(rule.name) !== 'instance' : isGenuine(rule, mapping);
}

function holds(rule: Rule, value: unknown): boolean {
  const { constraintCls: Body, each, validateIf } = rule;
  if (Body === undefined || validateIf !== undefined || !isOwn(rule)) return true;
  const body = new Body();
  if (!each) return passes(rule, body, value);
  return Array.isArray(value) && value.every((item) => passes(rule, body, item));
}

/** The first rule that a value breaks. With conditional rules, it is unknown which rules apply, so none is reported. */
function brokenBy(value: unknown, rules: readonly Rule[], items = value): string | undefined {
  if (rules.some(isValidateIf)) return undefined;
  const mayBeAbsent = rules.some(isOptionalRule);
  if ((value === undefined && mayBeAbsent) || (value === null && (mayBeAbsent || rules.some(isNullableRule)))) {
    return undefined;
  }
  const broken = rules.find((rule) => !holds(rule, rule.each ? items : value));
  return broken && `@${decoratorOf(broken)}`;
}

/** Like `brokenBy`, for the fields of a nested object, or of each object in a list. */
function brokenInside(value: unknown, nested: Class): string | undefined {
  const fields = [value].flat().flatMap((item) => [...rulesOf(nested)].map(([key, rules]) => ({ item, key, rules })));
  for (const { item, key, rules } of fields) {
    const broken = isObject(item) ? brokenBy(item[key], rules) : undefined;
    if (broken !== undefined) return `${broken} of ${nested.name}.${key}`;
  }
  return undefined;
}

const CORRECT =
  'Correct the initializer. If clients must send the field, remove the initializer and declare the field with `!`.';

/**
 * Rejects an initializer that does not match the field's `@Schema`, `@Choices`, `@ArrayOf`, `@RecordOf` or `@DateOnly`.
 * @throws {DecorumError} `DECORUM_INVALID_FIELD`
 */
export function checkFormInitializer(
  { where, kind }: { where: string; kind: string },
  initial: unknown,
  schema: JsonObject,
): void {
  if (initial === null || !isJson(initial) || compileGenerated(schema, false).fits(initial)) return;
  throw startupError('DECORUM_INVALID_FIELD', where, `its initializer breaks @${kind}`, CORRECT);
}

/**
 * Rejects an initializer that breaks the field's own rules: handlers would receive it whenever clients omit the field.
 * @param nested the class that `@ValidateNested` validates the value against
 * @throws {DecorumError} `DECORUM_INVALID_FIELD`
 */
export function checkInitializer(
  { where, rules, isRecord }: { where: string; rules: readonly Rule[]; isRecord: boolean },
  initial: unknown,
  nested: Class | undefined,
): void {
  if (initial === undefined) return;
  const items = isRecord && isObject(initial) ? Object.values(initial) : initial;
  const broken = brokenBy(initial, rules, items) ?? (nested && brokenInside(items, nested));
  if (broken === undefined) return;
  const remedy = initial === null ? 'Add @Nullable() or @IsOptional(), or remove the initializer.' : CORRECT;
  throw startupError('DECORUM_INVALID_FIELD', where, `its initializer breaks ${broken}`, remedy);
}
