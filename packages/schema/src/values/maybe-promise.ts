/** Whether a value is a thenable, from any implementation. As with `await`, functions can be thenables too. */
export function isPromise<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  return (
    ((typeof value === 'object' && value !== null) || typeof value === 'function') &&
    typeof (value as { readonly then?: unknown }).then === 'function'
  );
}

/** Continues with a value, synchronously unless it is a promise. */
export function andThen<T, R>(value: T | PromiseLike<T>, step: (value: T) => R | Promise<R>): R | Promise<R> {
  return isPromise(value) ? Promise.resolve(value).then((settled) => step(settled)) : step(value);
}
