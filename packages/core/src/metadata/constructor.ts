import type { Class } from '@decorum/schema/internal';

import { startupError } from '../protocol/errors.js';

const sourceOf = (value: unknown): string =>
  typeof value === 'function' ? Function.prototype.toString.call(value) : '';

/**
 * The class whose constructor runs. A subclass without a constructor runs that of its base class, but has a `length` of
 * 0, whatever the base class takes.
 */
function constructorOf(cls: Class): Class {
  const base: unknown = Object.getPrototypeOf(cls);
  const inherits = cls.length === 0 && !/\bconstructor\s*\(/.test(sourceOf(cls));
  // built-in bases, such as `Object` and `EventEmitter`, are functions, and their arguments are optional
  return inherits && sourceOf(base).startsWith('class') ? constructorOf(base as Class) : cls;
}

/**
 * Rejects a class whose constructor needs arguments.
 * @param remedy what to do, other than passing an instance
 * @throws {DecorumError} `DECORUM_CONSTRUCTOR_ARGUMENTS`
 */
export function requireNoArguments(cls: Class, remedy?: string): void {
  const { length } = constructorOf(cls);
  if (length > 0) throw startupError('DECORUM_CONSTRUCTOR_ARGUMENTS', cls.name, length, remedy);
}
