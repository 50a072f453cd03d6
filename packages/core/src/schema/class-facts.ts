import type { ValidationArguments, ValidationError, ValidatorConstraintInterface } from 'class-validator';

import { loadTransformerStorage, loadValidationExecutor } from '../metadata/libraries.cjs';
import { type Class, lineage } from '../metadata/store.js';

/**
 * The facts that class-validator and class-transformer wrote about a class. A DTO file has imported those libraries
 * already, so reading their stores costs nothing; a server without DTOs never loads them.
 */

/** One class-validator rule on one field, as class-validator stores it: its own type has members that may be missing. */
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

interface RuleStore {
  getTargetValidationMetadatas(cls: Class, schema: string, always: boolean, strictGroups: boolean): Rule[];
}

/**
 * The rules of each field, those of base classes first, merged with class-validator's own inheritance. As in
 * `validate(dto)` without options, rules of every group apply.
 */
export function rulesOf(cls: Class): Map<string, Rule[]> {
  // class-validator keeps its store here so that two copies of it agree.
  const store = (globalThis as { classValidatorMetadataStorage?: RuleStore }).classValidatorMetadataStorage;
  const rules = store?.getTargetValidationMetadatas(cls, '', false, false) ?? [];
  const ancestors = lineage(cls);
  const depth = ({ target }: Rule): number => ancestors.indexOf(target as Class);
  const fields = new Map<string, Rule[]>();
  for (const rule of rules.toSorted((a, b) => depth(a) - depth(b))) {
    fields.set(rule.propertyName, [...(fields.get(rule.propertyName) ?? []), rule]);
  }
  return fields;
}

/** Whether a schema speaks of values that come in, or of values that go out. */
export type Direction = 'input' | 'output';

/** What `@Type` says of a field, if the field has one. */
export function typeFact(cls: Class, key: string): { type: unknown; hasDiscriminator: boolean } | undefined {
  const fact = loadTransformerStorage().defaultMetadataStorage.findTypeMetadata(cls, key);
  if (fact === undefined) return undefined;
  const type: unknown = fact.typeFunction?.({ newObject: {}, object: {}, property: key });
  return { type, hasDiscriminator: fact.options.discriminator !== undefined };
}

/** What class-transformer does to a field in one direction: what `@Expose`, `@Exclude` and `@Transform` say of it. */
export function exposureOf(cls: Class, key: string, direction: Direction) {
  const { defaultMetadataStorage: store } = loadTransformerStorage();
  const code = direction === 'input' ? 0 : 1;
  const isExposed = store.getExposedProperties(cls, code).includes(key);
  const expose = store.findExposeMetadata(cls, key);
  const isGrouped = isExposed && (expose?.options.groups?.length ?? 0) > 0;
  const isLeftOut = store.getStrategy(cls) === 'excludeAll' && !isExposed;
  return {
    /** The name on the wire. */
    wire: expose?.options.name ?? key,
    isHidden: isLeftOut || isGrouped || store.getExcludedProperties(cls, code).includes(key),
    /** `@Expose` makes class-transformer visit the field even when it is absent. */
    isExposed,
    isTransformed: store.findTransformMetadatas(cls, key, code).length > 0,
  };
}

/**
 * Runs class-validator over an instance. A promise only where a rule returned one: the public `validateSync` skips such
 * rules silently and `validate` always returns a promise, hence class-validator's executor.
 */
export function runRules(instance: object): ValidationError[] | Promise<ValidationError[]> {
  const { ValidationExecutor } = loadValidationExecutor();
  // it never asks its validator
  const executor = new ValidationExecutor(undefined as never, { validationError: { target: false, value: false } });
  const errors: ValidationError[] = [];
  executor.execute(instance, '', errors);
  if (executor.awaitingPromises.length === 0) return executor.stripEmptyErrors(errors);
  return Promise.all(executor.awaitingPromises).then(() => executor.stripEmptyErrors(errors));
}
