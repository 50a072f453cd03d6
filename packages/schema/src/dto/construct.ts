import { type Class, lineage } from '../metadata/store.js';
import { startupError } from '../errors.js';
import type { JsonObject } from '../values/json.js';

/** Whether a class, or one that it extends, has a constructor with parameters, or decides whether it may be called. */
const isParticular = (cls: Class): boolean =>
  lineage(cls).some((each) =>
    /\bconstructor\s*\(\s*[^)\s]|\bnew\.target\b/.test(Function.prototype.toString.call(each)),
  );

/** Rejects a class whose initializers or constructor fail because of a mistake. Other errors are deliberate. */
function rejectFailure(cls: Class, error: unknown): void {
  if (!(error instanceof TypeError || error instanceof ReferenceError) || isParticular(cls)) return;
  const [, place] = /^ +at .*?([^\s()]+:\d+:\d+)\)?$/m.exec(error.stack ?? '') ?? [];
  const problem = `\`new ${cls.name}()\` fails at ${place ?? 'an unknown place'}: ${error.message}`;
  throw startupError('DECORUM_INVALID_FIELD', cls.name, problem, 'Correct the initializer that is there.');
}

/**
 * A new instance, to read its initializers; undefined if the constructor needs arguments or throws.
 * @throws {DecorumError} `DECORUM_INVALID_FIELD` if a mistake makes it throw
 */
export function construct(cls: Class): JsonObject | undefined {
  if (cls.length > 0) return undefined;
  try {
    return new (cls as unknown as new () => JsonObject)();
  } catch (error) {
    rejectFailure(cls, error);
    return undefined;
  }
}
