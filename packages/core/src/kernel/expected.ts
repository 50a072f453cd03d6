import { type FailureKind, McpError, startupError, ToolError } from '../protocol/errors.js';

type Class<T = object> = abstract new (...args: never[]) => T;

/** What clients see of an error: a message, or the whole error. */
export type PublicError = string | McpError;

/**
 * A class of errors that a server expects, and what clients see of them: a text, or what a function makes of one. If the
 * function returns undefined, the rule doesn't apply to that error.
 */
export type ErrorRule<E = object> = readonly [
  cls: Class<E>,
  // as a method: rules for narrower classes may stand where any is expected
  shown: PublicError | { show(error: E): PublicError | undefined }['show'],
];

/** A rule for each class. In each, `error` has the type of the class. */
export type ErrorRules<E extends readonly object[]> = { readonly [K in keyof E]: ErrorRule<E[K]> };

const invalid = (problem: string) => startupError('DECORUM_INVALID_OPTION', 'McpServer', 'errors', problem);

const isShown = (value: unknown): value is PublicError => typeof value === 'string' || value instanceof McpError;

/**
 * Refuses rules that would never hold.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 */
export function checkErrorRules(rules: unknown = []): readonly ErrorRule[] {
  if (!Array.isArray(rules))
    throw invalid('is not a list. Write `errors: [[NotFoundError, (error) => error.message]]`');
  const classes: Class[] = [];
  for (const [index, rule] of rules.entries()) {
    const [cls, shown] = (Array.isArray(rule) ? rule : []) as readonly unknown[];
    if (typeof cls !== 'function' || typeof cls.prototype !== 'object') {
      throw invalid(`has an entry ${index} without a class. Write \`[NotFoundError, (error) => error.message]\``);
    }
    if (!isShown(shown) && typeof shown !== 'function') {
      throw invalid(`has no message for ${cls.name}. Write \`[${cls.name}, (error) => error.message]\``);
    }
    const earlier = [ToolError, McpError, ...classes].find((known) => known === cls || isWithin(cls, known));
    if (earlier === ToolError || earlier === McpError) {
      throw invalid(`has ${cls.name}, which clients see anyway. Remove the entry`);
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
 * What clients may see of an error, by the rules of the server and by the convention of http-errors; undefined for one
 * that nobody expected.
 * @throws what a function of a rule throws
 */
export function expectedError(error: unknown, rules: readonly ErrorRule[]): PublicError | undefined {
  for (const [cls, rule] of rules) {
    if (!(error instanceof cls)) continue;
    const shown: unknown = typeof rule === 'function' ? rule(error) : rule;
    if (isShown(shown)) return shown;
    if (shown !== undefined)
      throw new TypeError(
        `\`errors\`: the function for ${cls.name} gave ${typeof shown}. Return a string or an McpError.`,
      );
  }
  const { expose, message } = (error ?? {}) as { readonly expose?: unknown; readonly message?: unknown };
  return expose === true && typeof message === 'string' ? message : undefined;
}

/** What went wrong, by the HTTP status that an expected error carries. */
export function failureKind(error: unknown, isResource: boolean): FailureKind {
  const { status, statusCode } = (error ?? {}) as { readonly status?: unknown; readonly statusCode?: unknown };
  const code = Number(status ?? statusCode);
  if (code === 404 && isResource) return 'unknown-resource';
  return code >= 400 && code < 500 ? 'invalid-params' : 'internal-error';
}
