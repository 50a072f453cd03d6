import type { ValidationArguments, ValidatorConstraintInterface } from 'class-validator';

import { isNullableRule } from '../metadata/rule-store.js';
import type { Rule } from './class-facts.js';
import { type Mapping, MAPPED } from './constraints.js';

/** Returns the messages of the rules that a value from the wire breaks; empty if it passes. */
export type Complaints = (value: unknown) => readonly string[];

const NONE: readonly string[] = [];

const DECORATORS: Readonly<Record<string, string>> = {
  whitelistValidation: 'Allow',
  nestedValidation: 'ValidateNested',
  promiseValidation: 'ValidatePromise',
  isDefined: 'IsDefined',
};

/** The name of a rule's decorator, as far as it is known. */
export function decoratorOf(rule: Rule): string {
  const { type, name, constraintCls } = rule;
  if (isNullableRule(rule)) return 'Nullable';
  if (type === 'conditionalValidation') return name === 'isOptional' ? 'IsOptional' : 'ValidateIf';
  return DECORATORS[type] ?? MAPPED.get(name ?? '')?.decorator ?? name ?? constraintCls?.name ?? type;
}

function argumentsOf(rule: Rule, value: unknown): ValidationArguments {
  const targetName = typeof rule.target === 'function' ? rule.target.name : '';
  return { value, constraints: rule.constraints ?? [], targetName, object: {}, property: rule.propertyName };
}

/** Whether a rule is class-validator's own, rather than a custom rule of the same name. */
export function isGenuine(rule: Rule, { says }: Mapping): boolean {
  try {
    const body = rule.constraintCls && new rule.constraintCls();
    return body?.defaultMessage?.(argumentsOf(rule, undefined)).includes(says) ?? false;
  } catch {
    return false;
  }
}

/** A constraint as text. Date constraints may be functions that return the limit. */
const limitOf = ({ name }: Rule, constraint: unknown): string =>
  String(typeof constraint === 'function' && /^m(?:in|ax)Date$/.test(name ?? '') ? constraint() : constraint);

/** The message of a rule without the field's name, which is already in the path. */
export function messageOf(rule: Rule, body: ValidatorConstraintInterface | undefined, value: unknown): string {
  const args = argumentsOf(rule, value);
  const message = rule.message ?? body?.defaultMessage?.(args) ?? '';
  const filled = (typeof message === 'function' ? message(args) : message)
    .replaceAll(/\$constraint(\d+)/g, (_, n: string) => limitOf(rule, args.constraints[Number(n) - 1]))
    .replaceAll('$value', () => String(value))
    .replaceAll('$target', () => args.targetName)
    .replaceAll('$property', () => rule.propertyName);
  return withoutName(filled, rule.propertyName);
}

/** Removes the field's name from the start of a message. */
export function withoutName(message: string, field: string): string {
  return message.startsWith(`${field} `) ? message.slice(field.length + 1) : message;
}

/** Whether a value passes a rule. Some of class-validator's rules throw on odd input, such as a lone surrogate. */
export function passes(rule: Rule, body: ValidatorConstraintInterface, value: unknown): boolean {
  try {
    return body.validate(value, argumentsOf(rule, value)) === true;
  } catch {
    return false;
  }
}

/** Runs class-validator's own rules. All of them are synchronous and look at one field only. */
export function complaintsOf(rules: readonly Rule[]): Complaints {
  const bodies = rules.flatMap((rule) => (rule.constraintCls ? [{ rule, body: new rule.constraintCls() }] : []));
  return (value) => {
    let found = NONE;
    for (const { rule, body } of bodies) {
      if (!passes(rule, body, value)) found = [...found, messageOf(rule, body, value)];
    }
    return found;
  };
}

// RFC 3339, section 5.6
const DATE_TIME = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/;
const NOT_A_DATE = ['must be a date and time such as "2026-01-31T12:00:00Z"'];

/** Validates the day too: V8 parses 30 February as 2 March. */
const isDateTime = (value: unknown): value is string =>
  typeof value === 'string' && DATE_TIME.test(value) && (Number(value.slice(8, 10)) < 29 || isDay(value.slice(0, 10)));

/** Like `complaintsOf`, for date rules. The value arrives as a string. */
export function dateComplaints(rules: readonly Rule[]): Complaints {
  const complaints = complaintsOf(rules);
  return (value) => {
    const date = isDateTime(value) ? new Date(value) : undefined;
    return date === undefined || Number.isNaN(date.getTime()) ? NOT_A_DATE : complaints(date);
  };
}

const DAY = /^\d{4}-\d\d-\d\d$/;
const NOT_A_DAY = ['must be a date such as "2026-01-31"'];

function isDay(value: unknown): value is string {
  if (typeof value !== 'string' || !DAY.test(value)) return false;
  const date = new Date(value);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(value);
}

/** Like `complaintsOf`, for dates without a time. The rules get the handler's value: a `Date` or a string. */
export function dayComplaints(rules: readonly Rule[], isDate: boolean): Complaints {
  const complaints = complaintsOf(rules);
  return (value) => (isDay(value) ? complaints(isDate ? new Date(value) : value) : NOT_A_DAY);
}

/** Also allows `null`. */
export function unlessNull(complaints: Complaints): Complaints {
  return (value) => (value === null ? NONE : complaints(value));
}
