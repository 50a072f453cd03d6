/** Where a request was made. */
export interface CallSite {
  readonly stack?: string;
}

/**
 * Records where a request is made.
 * @param below the function whose callers appear in the stack
 */
export function callSite(below: (...args: never[]) => unknown): CallSite {
  const site: CallSite = {};
  Error.captureStackTrace(site, below);
  return site;
}

/**
 * Gives an error the stack of its request. The error is created when the response arrives, and test runners show the
 * line of the test only if it is in the stack.
 */
export function thrownAt(error: unknown, { stack = '' }: CallSite): unknown {
  if (error instanceof Error) error.stack = `${error.name}: ${error.message}${stack.replace(/^[^\n]*/, '')}`;
  return error;
}
