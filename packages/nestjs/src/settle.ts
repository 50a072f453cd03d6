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

/** Runs a generator until it ends, or until nothing waits for its result, as after an interceptor with a `timeout`. */
const untilLeft = (run: NonNullable<ReturnType<typeof generatorOf>>, context: Context): Observable<unknown> =>
  new Observable((subscriber) => {
    const leaving = new AbortController();
    const signal = AbortSignal.any([context.signal, leaving.signal]);
    const show = (result: unknown) => {
      subscriber.next(result);
      subscriber.complete();
    };
    run({ signal, progress: (...all) => context.progress(...all) }).then(show, (error: unknown) =>
      subscriber.error(error),
    );
    return () => leaving.abort();
  });

/**
 * Runs the generator that a method returned, so that interceptors see its result, and filters what its body throws.
 * Other values are returned as they are; observables end with their call.
 */
export function settle(value: unknown, { context, member }: McpExecutionContext): unknown {
  if (context === undefined) return value;
  if (isObservable(value)) return untilAborted(value, context.signal);
  const run = generatorOf(value, member.kind);
  return run === undefined ? value : untilLeft(run, context as Context);
}
