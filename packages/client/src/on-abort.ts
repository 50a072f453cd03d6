const waiting = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Calls a function when a signal aborts. However many wait for a signal, it has one listener, so Node doesn't warn of a
 * leak if a caller passes one signal to many calls.
 * @returns a function that stops waiting
 */
export function onAbort(signal: AbortSignal | undefined, callback: () => void): () => void {
  if (signal === undefined) return () => {};
  const callbacks = waiting.get(signal) ?? listen(signal);
  callbacks.add(callback);
  return () => void callbacks.delete(callback);
}

function listen(signal: AbortSignal): Set<() => void> {
  const callbacks = new Set<() => void>();
  waiting.set(signal, callbacks);
  const fire = () => {
    for (const callback of callbacks) callback();
  };
  signal.addEventListener('abort', fire, { once: true });
  return callbacks;
}
