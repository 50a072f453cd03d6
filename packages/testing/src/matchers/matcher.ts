/** The `this` of a matcher that is added with `expect.extend`, in both Jest and Vitest. */
export interface MatcherContext {
  /** Whether the matcher was called as `expect(…).not`. */
  readonly isNot?: boolean | undefined;
  /** Compares deeply. Supports the runner's asymmetric matchers. */
  equals(a: unknown, b: unknown): boolean;
}

/** What a matcher returns. */
export interface Verdict {
  readonly pass: boolean;
  message(): string;
}

/**
 * Judges the value passed to `expect`.
 * @param context the runner's matcher context
 */
export type Judge<Args extends readonly unknown[]> = (
  context: MatcherContext,
  received: unknown,
  args: Args,
) => Verdict | Promise<Verdict>;

/** A matcher for `expect.extend`. */
export type Matcher<Args extends readonly unknown[]> = (
  this: MatcherContext,
  received: unknown,
  ...args: Args
) => Verdict | Promise<Verdict>;

/** A verdict with the message for either outcome. */
export function verdict(pass: boolean, messages: { readonly otherwise: string; readonly negated: string }): Verdict {
  return { pass, message: () => (pass ? messages.negated : messages.otherwise) };
}

/** A verdict that fails the test even with `not`, because there was nothing to judge. */
export function failure({ isNot }: MatcherContext, problem: string): Verdict {
  return { pass: isNot === true, message: () => problem };
}

/** Whether a value can be awaited. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}

/**
 * Creates a matcher for values and promises. If it gets a promise, it returns one.
 * @param judgeRejection judges a rejection. By default, a rejection fails the test, even with `not`
 */
export function matcher<Args extends readonly unknown[]>(
  judge: Judge<Args>,
  judgeRejection: Judge<Args> = (context, error) => failure(context, `The promise was rejected:\n\n  ${String(error)}`),
): Matcher<Args> {
  return function match(received, ...args) {
    if (!isThenable(received)) return judge(this, received, args);
    return Promise.resolve(received).then(
      (value) => judge(this, value, args),
      (error: unknown) => judgeRejection(this, error, args),
    );
  };
}
