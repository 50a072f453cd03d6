import {
  loadBundledTransformerStorage,
  loadClassTransformer,
  loadTransformerStorage,
  loadValidationExecutor,
} from '../metadata/libraries.cjs';
import { type Class, lineage } from '../metadata/store.js';

/**
 * The facts that class-validator and class-transformer wrote about a class. A DTO file has imported those libraries
 * already, so reading their stores costs nothing; a server without DTOs never loads them.
 */

/** What a rule's message may be made of (class-validator, `ValidationArguments`). */
export interface RuleArguments {
  readonly value: unknown;
  readonly constraints: readonly unknown[];
  readonly targetName: string;
  readonly object: object;
  readonly property: string;
}

/** The body of a rule: class-validator's own, or one registered by the user. */
export interface RuleBody {
  validate(value: unknown, args: RuleArguments): unknown;
  defaultMessage?(args: RuleArguments): string;
}

/** One class-validator rule on one field, as class-validator stores it. */
export interface Rule {
  readonly type: string;
  readonly name?: string;
  readonly target: unknown;
  readonly propertyName: string;
  readonly constraints?: readonly unknown[];
  readonly constraintCls?: new () => RuleBody;
  readonly each?: boolean;
  readonly message?: string | ((args: RuleArguments) => string);
  readonly validateIf?: unknown;
}

interface RuleStore {
  getTargetValidationMetadatas(cls: Class, schema: string, always: boolean, strictGroups: boolean): Rule[];
}

/** class-validator keeps its store here so that two copies of it agree. */
function ruleStore(): RuleStore | undefined {
  return (globalThis as { classValidatorMetadataStorage?: RuleStore }).classValidatorMetadataStorage;
}

/**
 * The rules of each field, those of base classes first, merged with class-validator's own inheritance. As in
 * `validate(dto)` without options, rules of every group apply.
 */
export function rulesOf(cls: Class): Map<string, Rule[]> {
  const rules = ruleStore()?.getTargetValidationMetadatas(cls, '', false, false) ?? [];
  const ancestors = lineage(cls);
  const fields = new Map<string, Rule[]>();
  for (const rule of rules.toSorted(
    (a, b) => ancestors.indexOf(a.target as Class) - ancestors.indexOf(b.target as Class),
  )) {
    fields.set(rule.propertyName, [...(fields.get(rule.propertyName) ?? []), rule]);
  }
  return fields;
}

/** Whether a schema speaks of values that come in, or of values that go out. */
export type Direction = 'input' | 'output';

interface TransformerFact {
  readonly options?: { readonly name?: string; readonly groups?: readonly string[]; readonly discriminator?: unknown };
  readonly typeFunction?: (context: object) => unknown;
}

interface TransformerStore {
  getStrategy(cls: Class): 'none' | 'excludeAll' | 'exposeAll';
  getExposedProperties(cls: Class, direction: number): string[];
  getExcludedProperties(cls: Class, direction: number): string[];
  findTransformMetadatas(cls: Class, key: string, direction: number): unknown[];
  findExposeMetadata(cls: Class, key: string): TransformerFact | undefined;
  findTypeMetadata(cls: Class, key: string): TransformerFact | undefined;
  readonly _typeMetadatas: { readonly size: number };
  readonly _transformMetadatas: { readonly size: number };
  readonly _exposeMetadatas: { readonly size: number };
  readonly _excludeMetadatas: { readonly size: number };
}

let transformerStores: readonly TransformerStore[] | undefined;

function isWritten(store: TransformerStore): boolean {
  const { _typeMetadatas, _transformMetadatas, _exposeMetadatas, _excludeMetadatas } = store;
  return _typeMetadatas.size + _transformMetadatas.size + _exposeMetadatas.size + _excludeMetadatas.size > 0;
}

/**
 * class-transformer is published as CommonJS and as ES modules, each with a store of its own. Node.js loads the first,
 * bundlers choose either: the store in use is the one that decorators have written to.
 */
function transformer(): TransformerStore | undefined {
  transformerStores ??= [loadTransformerStorage(), loadBundledTransformerStorage()].flatMap((storage) =>
    storage === undefined ? [] : [storage.defaultMetadataStorage as TransformerStore],
  );
  return transformerStores.find(isWritten) ?? transformerStores[0];
}

/** The first library that DTO classes need and that can't be loaded: both are optional peers. */
export function missingLibrary(): 'class-validator' | 'class-transformer' | undefined {
  if (ruleStore() === undefined && loadValidationExecutor() === undefined) return 'class-validator';
  return transformer() === undefined ? 'class-transformer' : undefined;
}

/** What `@Type` says of a field. */
export interface TypeFact {
  readonly type: unknown;
  readonly hasDiscriminator: boolean;
}

/** What `@Type` says of a field, if the field has one. */
export function typeFact(cls: Class, key: string): TypeFact | undefined {
  const fact = transformer()?.findTypeMetadata(cls, key);
  if (fact === undefined) return undefined;
  return {
    type: fact.typeFunction?.({ newObject: {}, object: {}, property: key }),
    hasDiscriminator: fact.options?.discriminator !== undefined,
  };
}

/** What `@Expose`, `@Exclude` and `@Transform` say of a field in one direction. */
export interface Exposure {
  /** The name on the wire. */
  readonly wire: string;
  readonly isHidden: boolean;
  /** `@Expose` makes class-transformer visit the field even when it is absent. */
  readonly isExposed: boolean;
  readonly isTransformed: boolean;
}

/** What class-transformer does to a field in one direction. */
export function exposureOf(cls: Class, key: string, direction: Direction): Exposure {
  const store = transformer() as TransformerStore;
  const code = direction === 'input' ? 0 : 1;
  const isExposed = store.getExposedProperties(cls, code).includes(key);
  const expose = store.findExposeMetadata(cls, key);
  const isGrouped = isExposed && (expose?.options?.groups?.length ?? 0) > 0;
  const isLeftOut = store.getStrategy(cls) === 'excludeAll' && !isExposed;
  return {
    wire: expose?.options?.name ?? key,
    isHidden: isLeftOut || isGrouped || store.getExcludedProperties(cls, code).includes(key),
    isExposed,
    isTransformed: store.findTransformMetadatas(cls, key, code).length > 0,
  };
}

interface TransformerLibrary {
  plainToInstance(cls: Class, plain: unknown, options: object): object;
  instanceToPlain(instance: unknown, options: object): unknown;
}

/** class-transformer itself, loaded when the first DTO needs it. */
export function loadTransformer(): TransformerLibrary {
  return loadClassTransformer() as TransformerLibrary;
}

/** An error tree as class-validator builds it. */
export interface RuleError {
  readonly property?: string;
  readonly constraints?: Readonly<Record<string, string>>;
  readonly children?: readonly RuleError[];
}

interface Executor {
  readonly awaitingPromises: readonly Promise<unknown>[];
  execute(object: object, schema: string, errors: RuleError[]): void;
  stripEmptyErrors(errors: RuleError[]): RuleError[];
}

type ExecutorClass = new (validator: undefined, options: object) => Executor;

/**
 * Runs class-validator over an instance. A promise only where a rule returned one: the public `validateSync` skips such
 * rules silently and `validate` always returns a promise, hence class-validator's executor.
 */
export function runRules(instance: object): readonly RuleError[] | Promise<readonly RuleError[]> {
  const { ValidationExecutor } = loadValidationExecutor() as { ValidationExecutor: ExecutorClass };
  const executor = new ValidationExecutor(undefined, { validationError: { target: false, value: false } });
  const errors: RuleError[] = [];
  executor.execute(instance, '', errors);
  if (executor.awaitingPromises.length === 0) return executor.stripEmptyErrors(errors);
  return Promise.all(executor.awaitingPromises).then(() => executor.stripEmptyErrors(errors));
}
