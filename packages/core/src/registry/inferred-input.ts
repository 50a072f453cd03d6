import { dirname, join } from 'node:path';
import { type Class, lineage, parameterTypes } from '@decorum/schema/internal';

import { startupError } from '../protocol/errors.js';
import type { MemberKind } from '../metadata/records.js';
import { hasDefault, hasParameters } from './parameters.js';

const PRIMITIVES: ReadonlyMap<unknown, string> = new Map<unknown, string>([
  [String, 'a string'],
  [Number, 'a number'],
  [Boolean, 'a boolean'],
  [Array, 'an array'],
]);

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
  if (emitted?.length === 0 && !declared.provided?.length && isOverridden(cls, key) && hasParameters(method)) {
    const problem = 'it overrides a method without parameters, and has no decorator of its own. Decorate it too';
    throw startupError('DECORUM_MISSING_INPUT', `${cls.name}.${key}`, problem);
  }
  if (emitted === undefined ? !hasParameters(method) : emitted.length === 0) return undefined;
  const isField = !(key in (cls.prototype as object));
  const problem = emitted === undefined ? (isField ? FIELD : nothingEmitted()) : problemOf(emitted[0]);
  if (problem !== undefined) throw startupError('DECORUM_MISSING_INPUT', `${cls.name}.${key}`, problem);
  return emitted?.[0];
}

const FIELD = `compilers emit no parameter types for fields. Make it a method, or ${NAME_IT}`;

/** Whether the emitted types are those of a base class, because a subclass overrides the method without a decorator. */
function isOverridden(cls: Class, key: string): boolean {
  const { getOwnMetadata } = Reflect as unknown as { getOwnMetadata(...of: unknown[]): unknown };
  const owner = [...lineage(cls)].reverse().find(({ prototype }) => Object.hasOwn(prototype as object, key));
  return owner !== undefined && getOwnMetadata('design:paramtypes', owner.prototype, key) === undefined;
}

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
  if (type === undefined) {
    return `its class did not exist yet, because two modules import each other. Move the DTO to a module of its own, or ${NAME_IT}`;
  }
  if (type === Function) {
    return `its type was emitted as Function, because its class is imported with \`import type\`, or with \`type\` in the braces. Write \`import { MyDto }\` without \`type\`, or ${NAME_IT}`;
  }
  if (type === Object) {
    return `its type was emitted as Object. If it is a class imported with \`import type\`, write \`import { MyDto }\` without \`type\`. If it is an interface, a type parameter, a union or an object type, declare a DTO class, or ${NAME_IT}`;
  }
  const primitive = PRIMITIVES.get(type);
  if (primitive !== undefined) {
    return `it is ${primitive}, but arguments are named. Use a DTO class, as in \`method({ city }: MyDto)\`, or ${NAME_IT}`;
  }
  if (!isContext(type)) return undefined;
  return 'it is the context, which is the second parameter. Put the input first, or `_: NoInput` if there is none';
}

const FLAGS = '"experimentalDecorators": true and "emitDecoratorMetadata": true';

function nothingEmitted(): string {
  const file = nearestTsconfig(process.cwd());
  if (file !== undefined && setsFlag(file)) {
    return `its type was not emitted, although ${file} sets "emitDecoratorMetadata": the compiler of this class ignores it, as esbuild, tsx and standard decorators do. Compile with tsc, swc or oxc, or ${NAME_IT}`;
  }
  return `its type was not emitted (esbuild, tsx and standard decorators never do). Set ${FLAGS} in ${file ?? 'tsconfig.json'}, or ${NAME_IT}`;
}

/** Reads a text file; undefined if the file does not exist, or the host has no file system. */
function read(file: string): string | undefined {
  try {
    // not imported: the package must also load on hosts without a file system
    return process.getBuiltinModule('node:fs').readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

/** Finds the tsconfig.json that a compiler started in this folder would use. */
function nearestTsconfig(folder: string): string | undefined {
  const file = join(folder, 'tsconfig.json');
  if (read(file) !== undefined) return file;
  return dirname(folder) === folder ? undefined : nearestTsconfig(dirname(folder));
}

/** Whether a tsconfig sets the flag, itself or through `extends` with a relative path. */
function setsFlag(file: string, depth = 0): boolean {
  const text = read(file)?.replaceAll(/\/\/.*$/gm, '') ?? '';
  const [, own] = /"emitDecoratorMetadata"\s*:\s*(true|false)/.exec(text) ?? [];
  if (own !== undefined) return own === 'true';
  const [, base] = /"extends"\s*:\s*"(\.[^"]+)"/.exec(text) ?? [];
  if (base === undefined || depth > 8) return false;
  return setsFlag(join(dirname(file), base.endsWith('.json') ? base : `${base}.json`), depth + 1);
}
