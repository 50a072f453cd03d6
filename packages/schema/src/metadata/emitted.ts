import { dirname, join } from 'node:path';

import { type Class, lineage } from './store.js';

const PRIMITIVES: ReadonlyMap<unknown, string> = new Map<unknown, string>([
  [String, 'a string'],
  [Number, 'a number'],
  [Boolean, 'a boolean'],
  [Array, 'an array'],
]);

/**
 * Why the emitted type of a parameter is no class of arguments; undefined if it is one.
 * @param orElse another remedy
 */
export function typeProblem(type: unknown, orElse: string): string | undefined {
  if (type === undefined) {
    return `its class did not exist yet, because two modules import each other. Move the DTO to a module of its own, or ${orElse}`;
  }
  if (type === Function) {
    return `its type was emitted as Function, because its class is imported with \`import type\`, or with \`type\` in the braces. Write \`import { MyDto }\` without \`type\`, or ${orElse}`;
  }
  if (type === Object) {
    return `its type was emitted as Object. If it is a class imported with \`import type\`, write \`import { MyDto }\` without \`type\`. If it is an interface, a type parameter, a union or an object type, declare a DTO class, or ${orElse}`;
  }
  const primitive = PRIMITIVES.get(type);
  if (primitive === undefined) return undefined;
  return `it is ${primitive}, but arguments are named. Use a DTO class, as in \`method({ city }: MyDto)\`, or ${orElse}`;
}

/** Whether a method's emitted types are those of a base class, because a subclass overrides it without a decorator. */
export function inheritsTypes(cls: Class, key: string): boolean {
  const { getOwnMetadata } = Reflect as unknown as { getOwnMetadata(...of: unknown[]): unknown };
  const owner = [...lineage(cls)].reverse().find(({ prototype }) => Object.hasOwn(prototype as object, key));
  return owner !== undefined && getOwnMetadata('design:paramtypes', owner.prototype, key) === undefined;
}

const FLAGS = '"experimentalDecorators": true and "emitDecoratorMetadata": true';

/**
 * Why a compiler has emitted no types, and what to do about it.
 * @param orElse another remedy
 */
export function nothingEmitted(orElse: string): string {
  const file = nearestTsconfig(process.cwd());
  if (file !== undefined && setsFlag(file)) {
    return `its type was not emitted, although ${file} sets "emitDecoratorMetadata": the compiler of this class ignores it, as esbuild, tsx and standard decorators do. Compile with tsc, swc or oxc, or ${orElse}`;
  }
  return `its type was not emitted (esbuild, tsx and standard decorators never do). Set ${FLAGS} in ${file ?? 'tsconfig.json'}, or ${orElse}`;
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
