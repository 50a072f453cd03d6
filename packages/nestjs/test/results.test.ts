// What calls return and throw: exceptions behind filters, generators and observables.
import { type Context, McpServer, NoInput, Prompt, Resource, Tool } from '@decorum/core';
import type { Plugin } from '@decorum/core/plugin';
import { connect } from '@decorum/testing';
import { describe, expect, it, jest } from '@jest/globals';
import {
  type ArgumentsHost,
  BadRequestException,
  type CallHandler,
  Catch,
  ConflictException,
  type ExceptionFilter,
  ForbiddenException,
  Injectable,
  InternalServerErrorException,
  type NestInterceptor,
  NotFoundException,
  RequestTimeoutException,
  type Type,
  UseFilters,
  UseGuards,
  UseInterceptors,
} from '@nestjs/common';
import { APP_FILTER, BaseExceptionFilter, HttpAdapterHost, NestFactory } from '@nestjs/core';
import { IsString } from 'class-validator';
import { finalize, map, Observable, of, tap, timeout } from 'rxjs';

import { closing, Denied, forRoot, moduleOf, PLATFORMS, serve } from './fixture.js';

/** The methods of Express's and Fastify's responses that applications chain. */
interface Response {
  status(code: number): Response;
  code(code: number): Response;
  header(name: string, value: string): Response;
  json(body: object): Response;
  send(body: object): Response;
}

const responseOf = (host: ArgumentsHost) => host.switchToHttp().getResponse<Response>();

/** What filters return, as applications on Express and Fastify write them. */
const WAYS: Readonly<Record<string, (response: Response) => unknown>> = {
  'the response of Express': (response) => response.status(404).json({ message: 'gone' }),
  'the response of Fastify': (response) => response.code(404).header('x-a', 'b').send({ message: 'gone' }),
  'a promise of it': async (response) => response.status(404).json({}),
  'an observable of it': (response) => of(response.status(404)),
  'the response itself': (response) => response,
  nothing: (response) => void response.status(404).json({}),
};

async function called(provider: Type) {
  const { client } = await serve([provider]);
  return [await client.callTool('find'), await client.getPrompt('ask').catch((error: Error) => error.message)];
}

it.each(Object.keys(WAYS))('a filter that returns %s leaves its error to the client (#23)', async (way) => {
  @Catch(NotFoundException)
  class Filter implements ExceptionFilter {
    catch(_error: unknown, host: ArgumentsHost) {
      return WAYS[way]?.(responseOf(host));
    }
  }

  @UseFilters(Filter)
  @Injectable()
  class Shop {
    @Tool() find() {
      throw new NotFoundException('No such article');
    }
    @Prompt() ask(): string {
      throw new NotFoundException('No such prompt');
    }
  }
  expect(await called(Shop)).toMatchObject([
    { isError: true, content: [{ text: 'No such article' }] },
    expect.stringContaining('No such prompt'),
  ]);
});

const intercepting = (way: string) =>
  UseInterceptors({ intercept: (context, _next: CallHandler) => of(WAYS[way]?.(responseOf(context))) });
const responding = UseGuards({
  canActivate: (context) => responseOf(context).status(401).json({ message: 'no' }) as unknown as boolean,
});

it.each([
  [
    'an interceptor that returns the response of Express fails',
    intercepting('the response of Express'),
    'Internal error',
  ],
  ['an interceptor that returns the response itself fails', intercepting('the response itself'), 'Internal error'],
  ['a guard that returns the response denies', responding, 'Forbidden resource'],
])('%s the call, because it has answered (#23)', async (_what, decorator, text) => {
  @Injectable()
  class Shop {
    @decorator @Tool() find() {
      return 'found';
    }
    @Prompt() ask() {
      return 'asked';
    }
  }
  const [result] = await called(Shop);
  expect(result).toMatchObject({ isError: true, content: [{ text: expect.stringContaining(text) }] });
});

describe.each(PLATFORMS)('a filter for all exceptions, on %s', (_name, adapter) => {
  @Injectable()
  class Shop {
    @Tool() find() {
      throw new NotFoundException('No such article');
    }
  }

  @Catch()
  class Everything implements ExceptionFilter {
    constructor(private readonly host: HttpAdapterHost) {}

    catch(error: NotFoundException, host: ArgumentsHost) {
      return this.host.httpAdapter.reply(responseOf(host), { message: error.message }, error.getStatus()) as unknown;
    }
  }

  @Catch()
  class Base extends BaseExceptionFilter {}

  it.each([Everything, Base])('leaves its error to the client: %p (#23)', async (useClass) => {
    const module = moduleOf({ imports: [forRoot()], providers: [Shop, { provide: APP_FILTER, useClass }] });
    const app = closing(await NestFactory.create(module, adapter(), { logger: ['warn', 'error'] }));
    const warn = jest.spyOn(process.stderr, 'write').mockReturnValue(true);
    const print = jest.spyOn(process.stdout, 'write').mockReturnValue(true);
    const client = await connect((await app.init()).get(McpServer));
    const result = await client.callTool('find');
    const printed = [...warn.mock.calls, ...print.mock.calls];
    warn.mockRestore();
    print.mockRestore();
    expect(result).toMatchObject({ isError: true, content: [{ text: 'No such article' }] });
    expect(printed).toEqual([]);
  });
});

const ERRORS = {
  wrong: () => new BadRequestException('wrong'),
  missing: () => new NotFoundException('missing'),
  late: () => new RequestTimeoutException('late'),
  failed: () => new InternalServerErrorException('failed'),
  bug: () => new Error('bug'),
};
let thrown: keyof typeof ERRORS = 'bug';

@Injectable()
class Failing {
  @Tool() fail() {
    throw ERRORS[thrown]();
  }
  @Resource('docs://fail') read(): string {
    throw ERRORS[thrown]();
  }
  @Prompt() ask(): string {
    throw ERRORS[thrown]();
  }
  @UseGuards(Denied) @Tool({ name: 'closed' }) closedTool() {}
  @UseGuards(Denied) @Resource('docs://closed') closedResource() {
    return '';
  }
  @UseGuards(Denied) @Prompt({ name: 'closed' }) closedPrompt() {
    return '';
  }
}

it('plugins learn why calls of Nest applications failed, whatever the member (#23)', async () => {
  const causes: unknown[] = [];
  const plugin: Plugin = {
    name: 'causes',
    ended(_request, { cause }) {
      if (cause !== undefined) causes.push(cause);
    },
  };
  const { client } = await serve([Failing], { plugins: [plugin] });
  const causesOf = async (tool: string, uri: string, prompt: string) => {
    causes.length = 0;
    await client.callTool(tool);
    await client.readResource(uri).catch(() => {});
    await client.getPrompt(prompt).catch(() => {});
    return causes;
  };
  expect(await causesOf('closed', 'docs://closed', 'closed')).toEqual(['denied', 'denied', 'denied']);
  for (const [error, cause] of Object.entries({
    wrong: 'invalid-arguments',
    missing: 'not-found',
    late: 'timeout',
    failed: 'bug',
    bug: 'bug',
  })) {
    thrown = error as keyof typeof ERRORS;
    expect([error, await causesOf('fail', 'docs://fail', 'ask')]).toEqual([error, [cause, cause, cause]]);
  }
});

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

class Topic {
  @IsString() topic!: string;
}

@Injectable()
@UseInterceptors(Noting)
class Streaming {
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

async function startStreaming() {
  told.length = 0;
  returned = deferred();
  return (await serve([Streaming])).client;
}

describe('a generator in Nest', () => {
  it('runs inside the interceptors, and reports its progress (#23)', async () => {
    const client = await startStreaming();
    const progress: unknown[] = [];
    const result = await client.callTool('count', {}, { onProgress: (...each) => progress.push(each[0]) });
    expect(result).toMatchObject({ content: [{ text: 'counted' }] });
    expect(progress).toHaveLength(2);
    expect(told).toEqual(['between', 'counted', 'end']);
    expect(await client.callTool('inSteps')).toMatchObject({ content: [{ text: 'a' }, { text: 'b' }] });
  });

  it('has filters, and errors for clients, like any method (#23)', async () => {
    const client = await startStreaming();
    expect(await client.callTool('refuse')).toMatchObject({ isError: true, content: [{ text: 'Not yours' }] });
    expect(await client.callTool('conflict')).toMatchObject({ content: [{ text: 'caught: taken' }] });
  });

  it('ends when its call is cancelled (#23)', async () => {
    const client = await startStreaming();
    const controller = new AbortController();
    const call = client.callTool('wait', {}, { signal: controller.signal, onProgress: () => controller.abort() });
    await expect(call).rejects.toThrow('aborted');
    await returned.promise;
  });

  it('ends when an interceptor no longer waits for it (#23)', async () => {
    const client = await startStreaming();
    expect(await client.callTool('forever')).toMatchObject({ isError: true });
    await returned.promise;
  });

  it('yields the text of a resource and the messages of a prompt (#23)', async () => {
    const client = await startStreaming();
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
