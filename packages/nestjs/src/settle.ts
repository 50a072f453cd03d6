import type { Context } from '@decorum/core';
import { generatorOf } from '@decorum/core/internal';
import { isObservable, Observable } from 'rxjs';

import type { McpExecutionContext } from './execution-context.js';

/** Ends an observable that a method returned when its call is cancelled, because nothing else unsubscribes from it. */
const untilAborted = (source: Observable<unknown>, signal: AbortSignal): Observable<unknown> =>
  new Observable((subscriber) => {
    const abort = () => subscriber.error(signal.reason);
    signal.addEventListener('abort', abort);
    if (signal.aborted) abort();
    else subscriber.add(source.subscribe(subscriber));
    return () => signal.removeEventListener('abort', abort);
  });

/**
 * Runs the generator that a method returned, so that interceptors see its result, and filters what its body throws.
 * Other values are returned as they are; observables end with their call.
 */
export function settle(value: unknown, context: McpExecutionContext['context'], kind: string): unknown {
  if (context === undefined) return value;
  if (isObservable(value)) return untilAborted(value, context.signal);
  const run = generatorOf(value, kind);
  if (run === undefined) return value;
  context.signal.throwIfAborted();
  return run(context as Context);
}
