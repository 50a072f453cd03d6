/** What a runner's `expect.extend` gives to a matcher. Jest and Vitest agree on it. */
export interface MatcherContext {
  /** Whether the matcher was called as `expect(…).not`. */
  readonly isNot?: boolean | undefined;
  /** Compares deeply. Knows the asymmetric matchers of the runner. */
  equals(a: unknown, b: unknown): boolean;
}

/** What a matcher returns. */
export interface Verdict {
  readonly pass: boolean;
  message(): string;
}

/**
 * Judges what a matcher was given.
 * @param context that of the runner
 */
export type Judge<Args extends readonly unknown[]> = (
  context: MatcherContext,
  received: unknown,
  args: Args,
) => Verdict | Promise<Verdict>;

/** A matcher, as `expect.extend` takes it. */
export type Matcher<Args extends readonly unknown[]> = (
  this: MatcherContext,
  received: unknown,
  ...args: Args
) => Verdict | Promise<Verdict>;

/** A verdict with the message for either outcome. */
export function verdict(pass: boolean, messages: { readonly otherwise: string; readonly negated: string }): Verdict {
  return { pass, message: () => (pass ? messages.negated : messages.otherwise) };
}

/** A verdict that fails the test with `not`, too: there was nothing to judge. */
export function failure({ isNot }: MatcherContext, problem: string): Verdict {
  return { pass: isNot === true, message: () => problem };
}

/** Whether a value is a promise, or a call that can be awaited. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}

/**
 * Makes a matcher for values, and for promises of them: for these it returns a promise.
 * @param judgeRejection by default a rejection fails the test, with `not`, too
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
