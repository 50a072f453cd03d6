import type { ValidationArguments, ValidatorConstraintInterface } from 'class-validator';

import type { Class } from './store.js';

/** A rule on a field, as class-validator stores it. The library's own type does not mark optional members as such. */
export interface Rule {
  readonly type: string;
  readonly name?: string;
  readonly target: unknown;
  readonly propertyName: string;
  readonly constraints?: unknown[];
  readonly constraintCls?: new () => ValidatorConstraintInterface;
  readonly each?: boolean;
  readonly message?: string | ((args: ValidationArguments) => string);
  readonly validateIf?: unknown;
}

/** class-validator's store of rules. */
export interface RuleStore {
  addValidationMetadata(rule: Rule): void;
  getTargetValidationMetadatas(cls: Class, schema: string, always: boolean, strictGroups: boolean): Rule[];
}

/**
 * The store, if class-validator is loaded. class-validator keeps it on globalThis, so two copies of the library share
 * it.
 */
export function ruleStore(): RuleStore | undefined {
  return (globalThis as { classValidatorMetadataStorage?: RuleStore }).classValidatorMetadataStorage;
}

const CONDITIONAL = 'conditionalValidation';
const NULLABLE = 'decorum:nullable';

/** Whether a rule decides if the other rules of its field apply: `@IsOptional`, `@ValidateIf` or `@Nullable`. */
export const isConditionalRule = ({ type }: Rule): boolean => type === CONDITIONAL;

/** Whether a rule is `@Nullable`. */
export const isNullableRule = (rule: Rule): boolean => isConditionalRule(rule) && rule.name === NULLABLE;

/**
 * Makes class-validator skip the rules of a field that is `null`, also where Decorum doesn't call it: in Nest's
 * ValidationPipe, and in classes that copy these rules. Without class-validator, the field has no rules to skip.
 */
export function skipNull(cls: Class, key: string): void {
  const store = ruleStore();
  if (store === undefined) return;
  // class-validator would otherwise drop the conditions of base classes, such as @IsOptional
  const inherited = store.getTargetValidationMetadatas(Object.getPrototypeOf(cls) as Class, '', false, false);
  for (const rule of inherited) {
    if (rule.propertyName === key && isConditionalRule(rule)) store.addValidationMetadata({ ...rule, target: cls });
  }
  const constraints = [(_: unknown, value: unknown) => value !== null];
  store.addValidationMetadata({ type: CONDITIONAL, name: NULLABLE, target: cls, propertyName: key, constraints });
}
