// Methods that return generators and observables.
import { type Context, NoInput, Prompt, Resource, Tool } from '@decorum/core';
import { describe, expect, it } from '@jest/globals';
import {
  type ArgumentsHost,
  type CallHandler,
  Catch,
  ClassSerializerInterceptor,
  ConflictException,
  type ExceptionFilter,
  ForbiddenException,
  Injectable,
  type NestInterceptor,
  type Provider,
  UseFilters,
  UseInterceptors,
} from '@nestjs/common';
import { APP_INTERCEPTOR, Reflector } from '@nestjs/core';
import { Exclude } from 'class-transformer';
import { IsString } from 'class-validator';
import { finalize, map, Observable, of, tap, timeout } from 'rxjs';

import { serve } from './fixture.js';

function deferred() {
  let resolve = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

const told: unknown[] = [];
let returned = deferred();

/** Notes what it sees of a call. */
@Injectable()
class Noting implements NestInterceptor {
  intercept(_context: unknown, next: CallHandler): Observable<unknown> {
    return next.handle().pipe(
      tap((value) => told.push(value)),
      finalize(() => told.push('end')),
    );
  }
}

class Impatient implements NestInterceptor {
  intercept(_context: unknown, next: CallHandler): Observable<unknown> {
    return next.handle().pipe(timeout(20));
  }
}

@Catch(ConflictException)
class Conflicts implements ExceptionFilter {
  catch(error: ConflictException, _host: ArgumentsHost) {
    return `caught: ${error.message}`;
  }
}

class User {
  name = 'Ada';
  @Exclude() password = 'secret';
}

class Topic {
  @IsString() topic!: string;
}

@Injectable()
@UseInterceptors(Noting)
class Shop {
  @Tool() async *count() {
    yield 1;
    told.push('between');
    yield { progress: 2, total: 2 };
    return 'counted';
  }

  @Tool() *inSteps() {
    yield 'a';
    yield 'b';
  }

  @Tool() async *refuse() {
    yield 1;
    throw new ForbiddenException('Not yours');
  }

  @Tool()
  @UseFilters(Conflicts)
  async *conflict() {
    yield 1;
    throw new ConflictException('taken');
  }

  @Tool() async *user() {
    yield 1;
    return new User();
  }

  @Tool() async *wait(_input: NoInput, { signal }: Context) {
    try {
      yield 1;
      if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve));
      yield 2;
    } finally {
      returned.resolve();
    }
  }

  @UseInterceptors(Impatient)
  @Tool()
  async *forever() {
    try {
      for (;;) {
        yield 1;
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
    } finally {
      returned.resolve();
    }
  }

  @Resource('docs://long') async *long() {
    yield 'one ';
    yield 'two';
  }

  @Prompt() async *ask({ topic }: Topic) {
    yield `First ${topic}`;
    yield 'Then more';
  }
}

async function started(...providers: Provider[]) {
  told.length = 0;
  returned = deferred();
  return (await serve([Shop, ...providers])).client;
}

describe('a generator in Nest', () => {
  it('runs inside the interceptors, and reports its progress (#23)', async () => {
    const client = await started();
    const progress: unknown[] = [];
    const result = await client.callTool('count', {}, { onProgress: (...each) => progress.push(each[0]) });
    expect(result).toMatchObject({ content: [{ text: 'counted' }] });
    expect(progress).toHaveLength(2);
    expect(told).toEqual(['between', 'counted', 'end']);
    expect(await client.callTool('inSteps')).toMatchObject({ content: [{ text: 'a' }, { text: 'b' }] });
  });

  it('has filters, and errors for clients, like any method (#23)', async () => {
    const client = await started();
    expect(await client.callTool('refuse')).toMatchObject({ isError: true, content: [{ text: 'Not yours' }] });
    expect(await client.callTool('conflict')).toMatchObject({ content: [{ text: 'caught: taken' }] });
  });

  it('has its result serialized (#23)', async () => {
    const serializer = {
      provide: APP_INTERCEPTOR,
      useFactory: (reflector: Reflector) => new ClassSerializerInterceptor(reflector),
      inject: [Reflector],
    };
    const client = await started(serializer);
    expect(await client.callTool('user')).toMatchObject({ content: [{ text: '{"name":"Ada"}' }] });
    expect(await client.callTool('count')).toMatchObject({ content: [{ text: 'counted' }] });
  });

  it('ends when its call is cancelled (#23)', async () => {
    const client = await started();
    const controller = new AbortController();
    const call = client.callTool('wait', {}, { signal: controller.signal, onProgress: () => controller.abort() });
    await expect(call).rejects.toThrow('aborted');
    await returned.promise;
  });

  it('ends when an interceptor no longer waits for it (#23)', async () => {
    const client = await started();
    expect(await client.callTool('forever')).toMatchObject({ isError: true });
    await returned.promise;
  });

  it('yields the text of a resource and the messages of a prompt (#23)', async () => {
    const client = await started();
    expect(await client.readResource('docs://long')).toMatchObject({ contents: [{ text: 'one two' }] });
    const { messages } = await client.getPrompt('ask', { topic: 'rain' });
    expect(messages.map(({ content }) => (content as { text: string }).text)).toEqual(['First rain', 'Then more']);
    expect(told.filter((each) => each === 'end')).toHaveLength(2);
  });
});

@Injectable()
class Plain implements NestInterceptor {
  intercept(...[, next]: Parameters<NestInterceptor['intercept']>) {
    return next.handle().pipe(map((value: unknown) => value));
  }
}

const INTERCEPTORS: [string, (typeof Plain)[]][] = [
  ['without interceptors', []],
  ['with interceptors', [Plain]],
];

it.each(INTERCEPTORS)('answers with the last value of an observable, %s', async (_what, interceptors) => {
  @UseInterceptors(...interceptors)
  @Injectable()
  class Streams {
    @Tool() count() {
      return of(1, 2, 3);
    }
  }
  const { client } = await serve([Streams]);
  expect(await client.callTool('count')).toMatchObject({ content: [{ text: '3' }] });
});

it.each(INTERCEPTORS)('unsubscribes from an observable when its call is cancelled, %s', async (_what, interceptors) => {
  const [began, ended] = [deferred(), deferred()];
  @UseInterceptors(...interceptors)
  @Injectable()
  class Streams {
    @Tool() watch() {
      return new Observable(() => {
        began.resolve();
        return ended.resolve;
      });
    }
  }
  const { client } = await serve([Streams]);
  const controller = new AbortController();
  const call = client.callTool('watch', {}, { signal: controller.signal });
  await began.promise;
  controller.abort(new Error('cancelled'));
  await expect(call).rejects.toThrow('cancelled');
  await ended.promise;
});
