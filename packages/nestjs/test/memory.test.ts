// What handlers of Nest remember for their callers.
import { Context, NoInput, Tool } from '@decorum/core';
import { describe, expect, it } from '@jest/globals';
import {
  type CallHandler,
  Catch,
  type ExceptionFilter,
  type ExecutionContext,
  Injectable,
  type NestInterceptor,
  Scope,
  UseFilters,
  UseInterceptors,
} from '@nestjs/common';
import { type Observable, retry } from 'rxjs';

import { serve, textIn } from './fixture.js';

const count = (ctx: Context) => ctx.memory<number>('count').update((now = 0) => now + 1);

/** Answers for a method that failed. */
@Catch()
class Apology implements ExceptionFilter {
  catch() {
    return 'sorry';
  }
}

@Injectable()
class Retrying implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next.handle().pipe(retry(2));
  }
}

@Injectable({ scope: Scope.REQUEST })
class Counter {
  runs = 0;

  @Tool() async add(_input: NoInput, ctx: Context) {
    return String(await count(ctx));
  }

  @Tool()
  @UseFilters(Apology)
  async fail(_input: NoInput, ctx: Context) {
    await count(ctx);
    throw new Error('no');
  }

  @Tool()
  @UseInterceptors(Retrying)
  async again(_input: NoInput, ctx: Context) {
    const now = await count(ctx);
    if ((this.runs += 1) < 3) throw new Error('again');
    return String(now);
  }
}

describe('the memory of a caller in Nest', () => {
  it('is kept for request-scoped providers, and not written by runs that failed', async () => {
    const { client } = await serve([Counter, Retrying, Apology]);
    const texts: string[] = [];
    for (const tool of ['add', 'fail', 'add', 'again', 'add']) texts.push(textIn(await client.callTool(tool)));
    expect(texts).toEqual(['1', 'sorry', '2', '3', '4']);
    await client.close();
  });
});
