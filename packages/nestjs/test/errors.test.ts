import { McpServer, Prompt, Resource, Tool } from '@decorum/core';
import type { Plugin } from '@decorum/core/plugin';
import { connect } from '@decorum/testing';
import { describe, expect, it, jest } from '@jest/globals';
import {
  type ArgumentsHost,
  BadRequestException,
  type CallHandler,
  type CanActivate,
  Catch,
  type ExceptionFilter,
  type ExecutionContext,
  Injectable,
  type NestInterceptor,
  InternalServerErrorException,
  NotFoundException,
  RequestTimeoutException,
  type Type,
  UseFilters,
  UseGuards,
  UseInterceptors,
} from '@nestjs/common';
import { APP_FILTER, BaseExceptionFilter, HttpAdapterHost, NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { of } from 'rxjs';

import { closing, Denied, forRoot, moduleOf, serve } from './fixture.js';

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

it.each(['the response of Express', 'the response itself'])(
  'an interceptor that returns %s fails the call (#23)',
  async (way) => {
    class Interceptor implements NestInterceptor {
      intercept(context: ExecutionContext, _next: CallHandler) {
        return of(WAYS[way]?.(responseOf(context)));
      }
    }

    @Injectable()
    class Shop {
      @UseInterceptors(Interceptor) @Tool() find() {
        return 'found';
      }
      @Prompt() ask() {
        return 'asked';
      }
    }
    const [result] = await called(Shop);
    expect(result).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('Internal error') }] });
  },
);

it('a guard that returns the response denies the call, because it has answered (#23)', async () => {
  class Guard implements CanActivate {
    canActivate(context: ExecutionContext) {
      return responseOf(context).status(401).json({ message: 'no' }) as unknown as boolean;
    }
  }

  @Injectable()
  class Shop {
    @UseGuards(Guard) @Tool() find() {
      return 'found';
    }
    @Prompt() ask() {
      return 'asked';
    }
  }
  const [result] = await called(Shop);
  expect(result).toMatchObject({ isError: true, content: [{ text: 'Forbidden resource' }] });
});

describe.each([
  ['Express', () => new ExpressAdapter()],
  ['Fastify', () => new FastifyAdapter()],
])('a filter for all exceptions, on %s', (_name, adapter) => {
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
    const app = closing(await NestFactory.create(module, adapter() as ExpressAdapter, { logger: ['warn', 'error'] }));
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
let next: keyof typeof ERRORS = 'bug';

@Injectable()
class Failing {
  @Tool() fail() {
    throw ERRORS[next]();
  }
  @Resource('docs://fail') read(): string {
    throw ERRORS[next]();
  }
  @Prompt() ask(): string {
    throw ERRORS[next]();
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
    next = error as keyof typeof ERRORS;
    expect([error, await causesOf('fail', 'docs://fail', 'ask')]).toEqual([error, [cause, cause, cause]]);
  }
});
