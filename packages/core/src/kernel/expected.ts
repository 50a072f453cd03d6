import { invalidOption } from '@decorum/schema/internal';

import { type FailureKind, McpError, ToolError } from '../protocol/errors.js';

type Class<T = object> = abstract new (...args: never[]) => T;

/** The form of an error that clients see: a message, or a complete error. */
export type PublicError = string | McpError;

/**
 * A class of errors that the server expects, and what clients see: a fixed value, or the result of a function. If the
 * function returns undefined, the rule does not apply to the error.
 */
export type ErrorRule<E = object> = readonly [
  cls: Class<E>,
  // method syntax makes the parameter bivariant: rules for narrower classes are assignable
  shown: PublicError | { show(error: E): PublicError | undefined }['show'],
];

/** One rule per class; `error` has the type of its class. */
export type ErrorRules<E extends readonly object[]> = { readonly [K in keyof E]: ErrorRule<E[K]> };

const invalid = (problem: string) => invalidOption('McpServer', 'errors', problem);

const isShown = (value: unknown): value is PublicError => typeof value === 'string' || value instanceof McpError;

/**
 * Rejects invalid rules, and rules that could never match.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 */
export function checkErrorRules(rules: unknown = []): readonly ErrorRule[] {
  if (!Array.isArray(rules))
    throw invalid('is not an array. Write `errors: [[NotFoundError, (error) => error.message]]`');
  const classes: Class[] = [];
  for (const [index, rule] of rules.entries()) {
    const [cls, shown] = (Array.isArray(rule) ? rule : []) as readonly unknown[];
    if (typeof cls !== 'function' || typeof cls.prototype !== 'object') {
      throw invalid(`has no class in entry ${index}. Write \`[NotFoundError, (error) => error.message]\``);
    }
    if (!isShown(shown) && typeof shown !== 'function') {
      throw invalid(`has no message for ${cls.name}. Write \`[${cls.name}, (error) => error.message]\``);
    }
    const earlier = [ToolError, McpError, ...classes].find((known) => known === cls || isWithin(cls, known));
    if (earlier === ToolError || earlier === McpError) {
      throw invalid(`has a rule for ${cls.name}, which clients see anyway. Remove the rule`);
    }
    if (earlier)
      throw invalid(
        `has ${cls.name} after ${earlier.name}, which already matches it. List ${cls.name} once, before its base classes`,
      );
    classes.push(cls as unknown as Class);
  }
  return rules as readonly ErrorRule[];
}

const isWithin = (cls: { readonly prototype: unknown }, base: { readonly prototype: unknown }) =>
  Object.prototype.isPrototypeOf.call(base.prototype as object, cls.prototype as object);

/**
 * The form of an error that clients may see, by the server's rules or the `expose` convention of http-errors; undefined
 * for an unexpected error.
 * @throws whatever a rule's function throws
 */
export function expectedError(error: unknown, rules: readonly ErrorRule[]): PublicError | undefined {
  for (const [cls, rule] of rules) {
    if (!(error instanceof cls)) continue;
    const shown: unknown = typeof rule === 'function' ? rule(error) : rule;
    if (isShown(shown)) return shown;
    if (shown !== undefined)
      throw new TypeError(
        `\`errors\`: the function for ${cls.name} returned ${typeof shown}. Return a string or an McpError.`,
      );
  }
  const { expose, message } = (error ?? {}) as { readonly expose?: unknown; readonly message?: unknown };
  return expose === true && typeof message === 'string' ? message : undefined;
}

/** The kind of failure for an expected error, derived from its HTTP status. */
export function failureKind(error: unknown, isResource: boolean): FailureKind {
  const { status, statusCode } = (error ?? {}) as { readonly status?: unknown; readonly statusCode?: unknown };
  const code = Number(status ?? statusCode);
  if (code === 404 && isResource) return 'unknown-resource';
  return code >= 400 && code < 500 ? 'invalid-params' : 'internal-error';
}
