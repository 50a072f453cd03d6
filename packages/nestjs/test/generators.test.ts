import { type Context, McpServer, NoInput, Prompt, Resource, Tool } from '@decorum/core';
import { McpModule } from '@decorum/nestjs';
import { connect } from '@decorum/testing';
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
  Module,
  type NestInterceptor,
  type Type,
  UseFilters,
  UseInterceptors,
} from '@nestjs/common';
import { APP_INTERCEPTOR, NestFactory, Reflector } from '@nestjs/core';
import { Exclude } from 'class-transformer';
import { IsString } from 'class-validator';
import { finalize, type Observable, tap, timeout } from 'rxjs';

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

async function started(provider: Type, providers: object[] = []) {
  told.length = 0;
  returned = deferred();
  class AppModule {}
  Module({
    imports: [McpModule.forRoot({ name: 'shop', version: '1.0.0' })],
    providers: [provider, ...(providers as Type[])],
  })(AppModule);
  const app = await NestFactory.createApplicationContext(AppModule, { logger: false, abortOnError: false });
  return { app, client: await connect(app.get(McpServer)) };
}

describe('a generator in Nest', () => {
  it('runs inside the interceptors, and reports its progress (#23)', async () => {
    const { app, client } = await started(Shop);
    const progress: unknown[] = [];
    const result = await client.callTool('count', {}, { onProgress: (...each) => progress.push(each[0]) });
    expect(result).toMatchObject({ content: [{ text: 'counted' }] });
    expect(progress).toHaveLength(2);
    expect(told).toEqual(['between', 'counted', 'end']);
    expect(await client.callTool('inSteps')).toMatchObject({ content: [{ text: 'a' }, { text: 'b' }] });
    await app.close();
  });

  it('has filters, and errors for clients, like any method (#23)', async () => {
    const { app, client } = await started(Shop);
    expect(await client.callTool('refuse')).toMatchObject({ isError: true, content: [{ text: 'Not yours' }] });
    expect(await client.callTool('conflict')).toMatchObject({ content: [{ text: 'caught: taken' }] });
    await app.close();
  });

  it('has its result serialized (#23)', async () => {
    const serializer = {
      provide: APP_INTERCEPTOR,
      useFactory: (reflector: Reflector) => new ClassSerializerInterceptor(reflector),
      inject: [Reflector],
    };
    const { app, client } = await started(Shop, [serializer]);
    expect(await client.callTool('user')).toMatchObject({ content: [{ text: '{"name":"Ada"}' }] });
    expect(await client.callTool('count')).toMatchObject({ content: [{ text: 'counted' }] });
    await app.close();
  });

  it('ends when its call is cancelled (#23)', async () => {
    const { app, client } = await started(Shop);
    const controller = new AbortController();
    const call = client.callTool('wait', {}, { signal: controller.signal, onProgress: () => controller.abort() });
    await expect(call).rejects.toThrow('aborted');
    await returned.promise;
    await app.close();
  });

  it('ends when an interceptor no longer waits for it (#23)', async () => {
    const { app, client } = await started(Shop);
    expect(await client.callTool('forever')).toMatchObject({ isError: true });
    await returned.promise;
    await app.close();
  });

  it('yields the text of a resource and the messages of a prompt (#23)', async () => {
    const { app, client } = await started(Shop);
    expect(await client.readResource('docs://long')).toMatchObject({ contents: [{ text: 'one two' }] });
    const { messages } = await client.getPrompt('ask', { topic: 'rain' });
    expect(messages.map(({ content }) => (content as { text: string }).text)).toEqual(['First rain', 'Then more']);
    expect(told.filter((each) => each === 'end')).toHaveLength(2);
    await app.close();
  });
});
