import type { CompletionContext, Context } from '@decorum/core';
import { CombinedSignal, WITHIN } from '@decorum/core/internal';
import type { CallHandler, NestInterceptor } from '@nestjs/common';
import { Observable } from 'rxjs';

type AnyContext = Context | CompletionContext;

/**
 * The innermost interceptor. It tells a run of the method when nothing waits for its result, as after an interceptor with
 * a `timeout` or a `race`: Nest itself would let the method run on.
 */
export class Leaving implements NestInterceptor {
  /** The context of the latest run. Each subscription is a run of its own, as with `retry`. */
  running: AnyContext;

  constructor(private readonly context: AnyContext) {
    this.running = context;
  }

  intercept(_context: unknown, next: CallHandler): Observable<unknown> {
    // called here, because Nest binds the AsyncLocalStorage of this moment
    const rest = next.handle();
    return new Observable((subscriber) => {
      const leaving = new AbortController();
      const combined = new CombinedSignal(this.context, leaving.signal);
      this.running = this.context[WITHIN](combined);
      let isDone = false;
      const inner = rest.subscribe({
        next: (value) => subscriber.next(value),
        error: (error: unknown) => {
          isDone = true;
          // even if a filter answers
          combined.hasFailed = true;
          subscriber.error(error);
        },
        complete: () => {
          isDone = true;
          subscriber.complete();
        },
      });
      return () => {
        if (!isDone) {
          combined.hasFailed = true;
          leaving.abort(new DOMException('An interceptor stopped waiting for the result.', 'AbortError'));
        }
        combined.end();
        inner.unsubscribe();
      };
    });
  }
}
