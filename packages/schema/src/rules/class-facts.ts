import type { ValidationError } from 'class-validator';

import {
  loadBundledTransformerStorage,
  loadClassTransformer,
  loadTransformerStorage,
  loadValidationExecutor,
} from '../metadata/libraries.cjs';
import { type Rule, type RuleStore, ruleStore } from '../metadata/rule-store.js';
import { type Class, lineage } from '../metadata/store.js';

/**
 * Facts that class-validator and class-transformer have recorded about a class. A DTO file has already imported these
 * libraries, so reading their stores loads nothing new. A server without DTOs never loads them.
 */

export type { Rule } from '../metadata/rule-store.js';

/**
 * The rules of each field, base classes first, with class-validator's own inheritance applied. As with `validate(dto)`
 * without options, rules of every group apply.
 */
export function rulesOf(cls: Class): Map<string, Rule[]> {
  const rules = ruleStore()?.getTargetValidationMetadatas(cls, '', false, false) ?? [];
  const ancestors = lineage(cls);
  const depth = ({ target }: Rule): number => ancestors.indexOf(target as Class);
  const fields = new Map<string, Rule[]>();
  for (const rule of rules.toSorted((a, b) => depth(a) - depth(b))) {
    fields.set(rule.propertyName, [...(fields.get(rule.propertyName) ?? []), rule]);
  }
  return fields;
}

/** Whether a schema describes values received from clients, or results sent to them. */
export type Direction = 'input' | 'output';

/** Facts from a field's `@Type`. */
export interface TypeFact {
  readonly type: unknown;
  /** The discriminator option, not validated yet. */
  readonly discriminator: unknown;
  /** Whether class-transformer keeps the discriminator in the instance. */
  readonly keepsDiscriminator: boolean;
}

type TransformerStore = NonNullable<ReturnType<typeof loadTransformerStorage>>['defaultMetadataStorage'];

const WRITTEN = ['_typeMetadatas', '_transformMetadatas', '_exposeMetadatas', '_excludeMetadatas'] as const;

/** Whether decorators have written to a store. The store's maps are private. */
function isWritten(store: object): boolean {
  const maps = store as Readonly<Record<(typeof WRITTEN)[number], ReadonlyMap<unknown, unknown>>>;
  return WRITTEN.some((name) => maps[name].size > 0);
}

let transformerStores: readonly TransformerStore[] | undefined;

/**
 * class-transformer is published as CommonJS and as ES modules, each with its own store. Node.js loads CommonJS, but
 * bundlers may choose either, so the store in use is the one that decorators have written to.
 */
function transformer(): TransformerStore | undefined {
  transformerStores ??= [loadTransformerStorage(), loadBundledTransformerStorage()].flatMap(
    (storage) => storage?.defaultMetadataStorage ?? [],
  );
  return transformerStores.find(isWritten) ?? transformerStores[0];
}

/** The first library that DTO classes need but that is not installed: both are optional peers. */
export function missingLibrary(): 'class-validator' | 'class-transformer' | undefined {
  if (ruleStore() === undefined && loadValidationExecutor() === undefined) return 'class-validator';
  return transformer() === undefined ? 'class-transformer' : undefined;
}

/** Loads class-transformer, which must be installed once a class has been read. */
export function loadTransformer() {
  return loadClassTransformer() as NonNullable<ReturnType<typeof loadClassTransformer>>;
}

/** Facts from a field's `@Type`, if it has one. */
export function typeFact(cls: Class, key: string): TypeFact | undefined {
  const fact = transformer()?.findTypeMetadata(cls, key);
  if (fact === undefined) return undefined;
  const type: unknown = fact.typeFunction?.({ newObject: {}, object: {}, property: key });
  const { discriminator, keepDiscriminatorProperty } = fact.options;
  return { type, discriminator, keepsDiscriminator: keepDiscriminatorProperty === true };
}

/** How class-transformer treats a field in one direction, because of `@Expose`, `@Exclude` and `@Transform`. */
export function exposureOf(cls: Class, key: string, direction: Direction) {
  const store = transformer() as TransformerStore;
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

/** Whether class-validator must skip a rule of a class. */
export type Ignores = (cls: Class, rule: Rule) => boolean;

function ignoreRules(executor: { metadataStorage: RuleStore }, ignores: Ignores): void {
  const store = executor.metadataStorage;
  const getTargetValidationMetadatas: RuleStore['getTargetValidationMetadatas'] = (cls, ...rest) =>
    store.getTargetValidationMetadatas(cls, ...rest).filter((rule) => !ignores(cls, rule));
  executor.metadataStorage = Object.assign(Object.create(store) as RuleStore, { getTargetValidationMetadatas });
}

/**
 * Runs class-validator on an instance. The class may have no class-validator rules, only Decorum's decorators. Returns
 * a promise only if a rule does. Uses class-validator's executor, because the public `validateSync` silently skips
 * asynchronous rules, and `validate` always returns a promise.
 */
export function runRules(instance: object, ignores?: Ignores): ValidationError[] | Promise<ValidationError[]> {
  const { ValidationExecutor } = loadValidationExecutor() as NonNullable<ReturnType<typeof loadValidationExecutor>>;
  const options = { validationError: { target: false, value: false }, forbidUnknownValues: false };
  // the executor never uses its validator
  const executor = new ValidationExecutor(undefined as never, options);
  if (ignores !== undefined) ignoreRules(executor as unknown as { metadataStorage: RuleStore }, ignores);
  const errors: ValidationError[] = [];
  executor.execute(instance, '', errors);
  if (executor.awaitingPromises.length === 0) return executor.stripEmptyErrors(errors);
  return Promise.all(executor.awaitingPromises).then(() => executor.stripEmptyErrors(errors));
}
