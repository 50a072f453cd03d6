import {
  type Class,
  hasDefault,
  hasParameters,
  inheritsTypes,
  nothingEmitted,
  parameterTypes,
  typeProblem,
} from '@decorum/schema/internal';

import { startupError } from '../protocol/errors.js';
import type { MemberKind } from '../metadata/records.js';

const NAME_IT = 'pass `input: MyDto`';

/** A method as the class declares it. */
interface Declared {
  readonly method: unknown;
  /** Positions of the parameters that a framework fills in. */
  readonly provided: readonly number[] | undefined;
}

/** The emitted classes of a method's parameters, without those that a framework fills in. */
const ownTypes = (cls: Class, key: string, { provided = [] }: Declared): readonly unknown[] | undefined =>
  parameterTypes(cls, key)?.filter((_, at) => !provided.includes(at));

/**
 * The class of a method's first parameter, as emitted by the compiler; undefined if the method has no parameters.
 * @throws {DecorumError} `DECORUM_MISSING_INPUT` if no schema can be inferred from it
 */
export function inferredInput(cls: Class, key: string, declared: Declared): unknown {
  const { method } = declared;
  const emitted = ownTypes(cls, key, declared);
  if (emitted?.length === 0 && !declared.provided?.length && inheritsTypes(cls, key) && hasParameters(method)) {
    const problem = 'it overrides a method without parameters, and has no decorator of its own. Decorate it too';
    throw startupError('DECORUM_MISSING_INPUT', `${cls.name}.${key}`, problem);
  }
  if (emitted === undefined ? !hasParameters(method) : emitted.length === 0) return undefined;
  const isField = !(key in (cls.prototype as object));
  const problem = emitted === undefined ? (isField ? FIELD : nothingEmitted(NAME_IT)) : problemOf(emitted[0]);
  if (problem !== undefined) throw startupError('DECORUM_MISSING_INPUT', `${cls.name}.${key}`, problem);
  return emitted?.[0];
}

const FIELD = `compilers emit no parameter types for fields. Make it a method, or ${NAME_IT}`;

/** Marks the context classes. */
export const CONTEXT = Symbol.for('decorum:context');

/** Whether a type is the context class, of this or another copy of the package. Its name may be minified. */
const isContext = (type: unknown): boolean => typeof type === 'function' && CONTEXT in type;

/** Whether an emitted type is a class that compilers know. They emit Function or Object for types imported with `import type`. */
const isClass = (type: unknown): type is { readonly name: string } =>
  typeof type === 'function' && type !== Object && type !== Function;

/**
 * Rejects parameters that handlers never receive.
 * @throws {DecorumError} `DECORUM_INVALID_PARAMETER`
 */
export function checkParameters(
  cls: Class,
  { kind, key }: { kind: MemberKind; key: string },
  declared: Declared,
): void {
  const { method, provided = [] } = declared;
  const [first, second] = ownTypes(cls, key, declared) ?? [];
  const all = (method as { readonly length: number }).length;
  const length = all - provided.filter((at) => at < all).length;
  const isCompletion = kind === 'completion';
  const signature = isCompletion ? '(value: string, ctx: CompletionContext)' : '(input: MyDto, ctx: Context)';
  const wrong = (problem: string) =>
    startupError('DECORUM_INVALID_PARAMETER', `${cls.name}.${key}`, problem, signature);
  if (isCompletion && isClass(first) && first !== String) {
    throw wrong(`the first parameter is a ${first.name}, but a completion receives the text typed so far`);
  }
  if (length > 1 && isClass(second) && !isContext(second) && !isContext(first)) {
    throw wrong(`the second parameter is a ${second.name}, but handlers receive their context there`);
  }
  // parameters with defaults don't count
  if (!isCompletion && hasDefault(method)) {
    throw wrong(
      'the first parameter has a default value, which is never used: handlers always receive an object, and its required fields stay required. Remove the default, and decorate the fields that clients may omit with @IsOptional()',
    );
  }
  if (length > 2) throw wrong(`it takes ${length} parameters, but handlers receive two`);
}

function problemOf(type: unknown): string | undefined {
  if (!isContext(type)) return typeProblem(type, NAME_IT);
  return 'it is the context, which is the second parameter. Put the input first, or `_: NoInput` if there is none';
}
