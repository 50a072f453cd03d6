/** Whether something has to be waited for, whoever made the promise. As for `await`, a function can be one too. */
export function isPromise<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  return (
    ((typeof value === 'object' && value !== null) || typeof value === 'function') &&
    typeof (value as { readonly then?: unknown }).then === 'function'
  );
}

/** Continues with a value: at once, unless it has to be waited for. */
export function andThen<T, R>(value: T | PromiseLike<T>, step: (value: T) => R | Promise<R>): R | Promise<R> {
  return isPromise(value) ? Promise.resolve(value).then((settled) => step(settled)) : step(value);
}
