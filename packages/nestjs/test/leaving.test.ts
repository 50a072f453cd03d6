// What becomes of a method that an interceptor no longer waits for, or whose time is over.
import { type Context, NoInput, Tool } from '@decorum/core';
import { McpExecutionContext } from '@decorum/nestjs';
import { describe, expect, it } from '@jest/globals';
import {
  type CallHandler,
  createParamDecorator,
  type ExecutionContext,
  Injectable,
  type NestInterceptor,
  RequestTimeoutException,
  UseInterceptors,
} from '@nestjs/common';
import { catchError, delay, type Observable, of, race, retry, throwError, timeout, TimeoutError } from 'rxjs';

import { serve } from './fixture.js';

/** The interceptor of Nest's documentation, with a shorter time. */
@Injectable()
class TimeoutInterceptor implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next.handle().pipe(
      timeout(20),
      catchError((error: unknown) => {
        if (error instanceof TimeoutError) return throwError(() => new RequestTimeoutException());
        return throwError(() => error);
      }),
    );
  }
}

/** Answers first. */
@Injectable()
class Racing implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return race(next.handle(), of('raced').pipe(delay(20)));
  }
}

/** Gives each run 20 milliseconds, and tries twice. */
@Injectable()
class Retrying implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const { context: ctx } = McpExecutionContext.from(context);
    contexts.push(ctx as Context);
    return next.handle().pipe(timeout(20), retry(1));
  }
}

const contexts: Context[] = [];
let signals: AbortSignal[] = [];
let runs = 0;

/** The context, as users' own decorators find it. */
const Ctx = createParamDecorator((_data: unknown, host: ExecutionContext) => McpExecutionContext.from(host).context);

const endOf = async (signal: AbortSignal) => {
  signals.push(signal);
  await new Promise((resolve) => signal.addEventListener('abort', resolve));
  return 'ended';
};

@Injectable()
class Slow {
  @UseInterceptors(TimeoutInterceptor)
  @Tool()
  async timed(_input: NoInput, { signal }: Context) {
    return await endOf(signal);
  }

  @UseInterceptors(TimeoutInterceptor)
  @Tool()
  async decorated(@Ctx() { signal }: Context) {
    return await endOf(signal);
  }

  @UseInterceptors(Racing)
  @Tool()
  async raced(_input: NoInput, { signal }: Context) {
    return await endOf(signal);
  }

  @UseInterceptors(TimeoutInterceptor)
  @Tool()
  async *generated(_input: NoInput, { signal }: Context) {
    yield 1;
    await endOf(signal);
  }

  @UseInterceptors(Retrying)
  @Tool()
  async retried(_input: NoInput, { signal }: Context) {
    if (++runs === 2) return `run 2, ${String(signal.aborted)}`;
    return await endOf(signal);
  }

  @UseInterceptors(TimeoutInterceptor)
  @Tool()
  async fast(_input: NoInput, { signal }: Context) {
    signals.push(signal);
    return 'fast';
  }

  @UseInterceptors(TimeoutInterceptor)
  @Tool({ timeoutMs: 5 })
  async limited(_input: NoInput, { signal }: Context) {
    return await endOf(signal);
  }
}

describe('A method that an interceptor no longer waits for', () => {
  it.each([
    ['timed', 'the one of the documentation', 'Request Timeout'],
    ['decorated', 'it, in a parameter with a decorator of your own', 'Request Timeout'],
    ['generated', 'it, around a generator', 'Request Timeout'],
    ['raced', 'a race', 'raced'],
  ])('%s: sees its signal abort after %s', async (name, _what, text) => {
    signals = [];
    const { client } = await serve([Slow]);
    expect((await client.callTool(name)).content).toMatchObject([{ text }]);
    expect(signals.map(({ aborted, reason }) => [aborted, (reason as Error).name])).toEqual([[true, 'AbortError']]);
  });

  it('runs again with a signal of its own, and that of the interceptor stays', async () => {
    signals = [];
    const { client } = await serve([Slow]);
    expect((await client.callTool('retried')).content).toMatchObject([{ text: 'run 2, false' }]);
    expect([signals[0]?.aborted, contexts[0]?.signal.aborted]).toEqual([true, false]);
  });

  it('sees nothing if it has ended before', async () => {
    signals = [];
    const { client } = await serve([Slow]);
    expect((await client.callTool('fast')).content).toMatchObject([{ text: 'fast' }]);
    expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
  });
});

describe('timeoutMs in an application', () => {
  it('aborts the signal of the method, also inside interceptors', async () => {
    signals = [];
    const { client } = await serve([Slow]);
    expect((await client.callTool('limited')).content).toMatchObject([
      { text: expect.stringContaining('within 5 ms') },
    ]);
    expect(signals.map(({ reason }) => (reason as Error).name)).toEqual(['TimeoutError']);
  });
});
