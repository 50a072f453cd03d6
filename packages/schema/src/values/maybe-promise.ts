/** Whether a value is a thenable, from any implementation. As with `await`, functions can be thenables too. */
export function isPromise<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  return (
    ((typeof value === 'object' && value !== null) || typeof value === 'function') &&
    typeof (value as { readonly then?: unknown }).then === 'function'
  );
}

/** Runs a step of the user's. Errors go to `fail`, even those that come later. Returns undefined if the step throws. */
export function attempt<T>(step: () => T, fail: (error: unknown) => unknown): T | undefined {
  try {
    const value = step();
    if (isPromise(value)) value.then(undefined, fail);
    return value;
  } catch (error) {
    fail(error);
    return undefined;
  }
}

/** Continues with a value, synchronously unless it is a promise. */
export function andThen<T, R>(value: T | PromiseLike<T>, step: (value: T) => R | Promise<R>): R | Promise<R> {
  return isPromise(value) ? Promise.resolve(value).then((settled) => step(settled)) : step(value);
}

/**
 * Waits for a step of the user's.
 * @param ms milliseconds that it may take
 * @param problem the message of the error if it takes longer
 * @throws {Error} if it takes longer
 */
export async function within<T>(ms: number, problem: string, step: () => T | PromiseLike<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(problem)), ms);
  });
  try {
    return await Promise.race([step(), late]);
  } finally {
    clearTimeout(timer);
  }
}
