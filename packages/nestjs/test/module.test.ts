import { health, McpServer, Resource, Tool } from '@decorum/core';
import {
  ForMcpServer,
  getMcpServerToken,
  InjectMcpServer,
  McpExecutionContext,
  McpModule,
  type McpModuleAsyncOptions,
  type McpModuleOptions,
  McpRequest,
} from '@decorum/nestjs';
import { describe, expect, it, jest } from '@jest/globals';
import {
  type CanActivate,
  Catch,
  Controller,
  type ExecutionContext,
  ForbiddenException,
  forwardRef,
  Inject,
  Injectable,
  Module,
  type NestInterceptor,
  Scope,
  type Type,
  UseGuards,
  UsePipes,
} from '@nestjs/common';
import {
  APP_FILTER,
  APP_GUARD,
  APP_INTERCEPTOR,
  BaseExceptionFilter,
  ContextIdFactory,
  NestFactory,
  REQUEST,
} from '@nestjs/core';
import { EMPTY, of } from 'rxjs';
import { z } from 'zod';

import { closing, Denied, forRoot, moduleOf, NAMED, serve, Shop, started, textOf, toolsOf } from './fixture.js';

@Injectable()
class Stock {
  @Tool() count() {
    return 3;
  }
}

@Module({ providers: [Stock] })
class StockModule {}

describe('McpModule', () => {
  it('serves providers of all modules, and injects the server', async () => {
    @Injectable()
    class Watcher {
      constructor(readonly server: McpServer) {}
    }
    const app = await started({ imports: [StockModule, forRoot()], providers: [Shop, Watcher] });
    expect(await toolsOf(app.get(McpServer))).toEqual(['order', 'count']);
    expect(app.get(Watcher).server).toBe(app.get(McpServer));
  });

  it('serves the modules that it includes and does not exclude, under several names', async () => {
    @Injectable()
    class Watcher {
      constructor(@InjectMcpServer('stock') readonly server: McpServer) {}
    }
    const stock = forRoot({ name: 'stock', path: '/stock', include: [StockModule] });
    const app = await started({
      imports: [StockModule, forRoot({ exclude: [StockModule] }), stock],
      providers: [Shop, Watcher],
    });
    expect(await toolsOf(app.get(getMcpServerToken('shop')))).toEqual(['order']);
    expect(await toolsOf(app.get(Watcher).server)).toEqual(['count']);
  });

  it('gets its options from other providers', async () => {
    class Config {
      readonly version = '2.0.0';
    }
    @Module({ providers: [Config], exports: [Config] })
    class ConfigModule {}
    @Injectable()
    class Watcher {
      constructor(readonly server: McpServer) {}
    }
    const options = {
      imports: [ConfigModule],
      inject: [Config],
      useFactory: async ({ version }: Config) => ({ name: 'shop', version }),
    };
    const app = await started({ imports: [McpModule.forRootAsync(options)], providers: [Shop, Watcher] });
    expect(app.get(Watcher).server).toBe(app.get(McpServer));
    expect(app.get(McpServer).info.version).toBe('2.0.0');
    expect(await textOf(app.get(McpServer), 'order')).toBe('ordered');
  });

  it('injects a server with asynchronous options by the name beside the factory', async () => {
    @Injectable()
    class Watcher {
      constructor(@InjectMcpServer('shop') readonly server: McpServer) {}
    }
    const options = { name: 'shop', useFactory: () => Promise.resolve(NAMED) };
    const app = await started({ imports: [McpModule.forRootAsync(options)], providers: [Shop, Watcher] });
    expect(app.get(Watcher).server).toBe(app.get(McpServer));
  });

  it('keeps servers apart whose modules look alike', async () => {
    const server = (name: string) =>
      McpModule.forRootAsync({ useFactory: () => ({ ...NAMED, name, path: `/${name}` }) });
    const module = moduleOf({ imports: [server('one'), server('two')], providers: [Shop] });
    const settings = { logger: false, moduleIdGeneratorAlgorithm: 'deep-hash' } as const;
    const app = closing(await NestFactory.createApplicationContext(module, settings));
    const servers = app.get(McpServer, { each: true, strict: false });
    expect(new Set(servers.map(({ info }) => info.name))).toEqual(new Set(['one', 'two']));
  });

  it('serves providers that depend on each other', async () => {
    @Injectable()
    class Left {
      constructor(@Inject(forwardRef(() => Right)) readonly right: object) {}
      @Tool() left() {
        return typeof (this.right as Right).right;
      }
    }
    @Injectable()
    class Right {
      constructor(@Inject(forwardRef(() => Left)) readonly other: Left) {}
      @Tool() right() {
        return typeof this.other.left;
      }
    }
    const { server } = await serve([Left, Right]);
    expect(await textOf(server, 'left')).toBe('function');
    expect(await textOf(server, 'right')).toBe('function');
  });
});

describe('guards and filters', () => {
  it('may be request-scoped for the whole application', async () => {
    const seen = new Set<object>();
    @Injectable({ scope: Scope.REQUEST })
    class ScopedGuard implements CanActivate {
      constructor(@Inject(REQUEST) readonly request: object) {}
      canActivate(context: ExecutionContext) {
        seen.add(this);
        return this.request === context.switchToHttp().getRequest() && this.request instanceof McpRequest;
      }
    }
    const { server } = await serve([Shop, { provide: APP_GUARD, useClass: ScopedGuard }]);
    expect(await textOf(server, 'order')).toBe('ordered');
    expect(await textOf(server, 'order')).toBe('ordered');
    expect(seen.size).toBe(2);
  });

  it('that write to the response change nothing', async () => {
    @Catch()
    class EverythingFilter extends BaseExceptionFilter {
      override catch(exception: unknown, host: Parameters<BaseExceptionFilter['catch']>[1]) {
        host.switchToHttp().getResponse().status(500).json({ oops: true });
        return exception instanceof ForbiddenException ? undefined : 'caught';
      }
    }
    @Injectable()
    class Closing {
      @UseGuards(Denied) @Tool() denied() {}
      @Tool() broken() {
        throw new Error('secret');
      }
    }
    const { server } = await serve([Closing, { provide: APP_FILTER, useClass: EverythingFilter }]);
    expect(await textOf(server, 'denied')).toBe('Forbidden resource');
    expect(await textOf(server, 'broken')).toBe('caught');
  });

  it('do not meet interceptors when guards are asked for a list', async () => {
    const ran: string[] = [];
    @Injectable()
    class Cached implements NestInterceptor {
      intercept() {
        ran.push('interceptor');
        return of('cached');
      }
    }
    @Catch()
    class Everything {
      catch() {
        ran.push('filter');
        return 'caught';
      }
    }
    const { server } = await serve(
      [Shop, { provide: APP_INTERCEPTOR, useClass: Cached }, { provide: APP_FILTER, useClass: Everything }],
      { hideGuarded: true },
    );
    expect(await toolsOf(server)).toEqual(['order']);
    expect(ran).toEqual([]);
    expect(await textOf(server, 'order')).toBe('cached');
  });

  it.each(['guard', 'check', 'pipe'])('let nothing more run if the client cancels while a %s waits', async (waits) => {
    let decide = () => {};
    const ran: string[] = [];
    const wait = async (what: string) => {
      if (what !== waits) return;
      await new Promise<void>((resolve) => {
        decide = resolve;
      });
    };
    const input = z.object({}).refine(async () => {
      if (waits === 'guard') ran.push('check');
      await wait('check');
      return true;
    });
    @Injectable()
    class Guard {
      async canActivate() {
        await wait('guard');
        return true;
      }
    }
    @Injectable()
    class Pipe {
      async transform(value: unknown) {
        await wait('pipe');
        return value;
      }
    }
    @Injectable()
    class Checked {
      @UseGuards(Guard) @UsePipes(Pipe) @Tool({ input }) run(_input: object) {
        ran.push('run');
      }
    }
    const { client } = await serve([Checked]);
    const controller = new AbortController();
    const call = client.callTool('run', {}, { signal: controller.signal });
    await new Promise(setImmediate);
    controller.abort(new Error('cancelled'));
    await expect(call).rejects.toThrow('cancelled');
    decide();
    await new Promise(setImmediate);
    expect(ran).toEqual([]);
  });

  it('see the calls of another copy of the package', async () => {
    jest.resetModules();
    const { McpExecutionContext: Other } = await import('@decorum/nestjs');
    @Injectable()
    class Library {
      canActivate(context: ExecutionContext) {
        return Other !== McpExecutionContext && Other.from(context).member.name === 'order';
      }
    }
    const { server } = await serve([Shop, { provide: APP_GUARD, useClass: Library }]);
    expect(await textOf(server, 'order')).toBe('ordered');
  });

  it('see nothing of a call in contexts that are not of MCP', () => {
    const host = { getArgs: () => [{}], getType: () => 'http' } as unknown as ExecutionContext;
    expect(() => McpExecutionContext.from(host)).toThrow("context.getType() === 'mcp'");
  });
});

describe('an interceptor that returns', () => {
  it.each([
    ['an empty observable ends the call with an internal error', EMPTY, true, [/^Internal error/]],
    ['undefined makes an empty result', of(undefined), false, []],
  ])('%s', async (_title, returned, isError, texts) => {
    class Replacing implements NestInterceptor {
      intercept() {
        return returned;
      }
    }
    const logger = { warn: () => {}, error: () => {} };
    const { client } = await serve([Shop, { provide: APP_INTERCEPTOR, useClass: Replacing }], { logger });
    const result = await client.callTool('order');
    expect(result.isError ?? false).toBe(isError);
    expect(result.content).toEqual(texts.map((text) => ({ type: 'text', text: expect.stringMatching(text) })));
  });
});

it('durable providers live as long as the strategy of the application says', async () => {
  const parents = new Map<string, { id: number }>();
  ContextIdFactory.apply({
    attach: () => {
      const payload = { tenant: 'a' };
      const parent = parents.get('a') ?? { id: 1 };
      parents.set('a', parent);
      return { resolve: ({ isTreeDurable }) => (isTreeDurable ? parent : { id: 2 }), payload };
    },
  });
  let made = 0;
  @Injectable({ scope: Scope.REQUEST, durable: true })
  class Tenant {
    readonly number = ++made;
    constructor(@Inject(REQUEST) readonly payload: { tenant: string }) {}
    @Tool() which() {
      return `${this.payload.tenant} ${this.number}`;
    }
  }
  const { server } = await serve([Tenant]);
  expect(await textOf(server, 'which')).toBe('a 1');
  expect(await textOf(server, 'which')).toBe('a 1');
  ContextIdFactory.apply(undefined as never);
});

describe('startup', () => {
  class Paid {
    canActivate() {
      return true;
    }
  }
  Injectable()(Paid);
  @Injectable()
  class Base {
    @UseGuards(Paid) @Tool() order() {}
  }
  @Injectable()
  class Overriding extends Base {
    override order() {}
  }
  @Injectable()
  class Other {
    @Tool({ name: 'order' }) place() {}
  }
  @Module({ providers: [Other] })
  class OtherModule {}
  @Injectable()
  class Wrong {
    @Resource('no-scheme') read() {}
  }
  const cases: [string, Type[], object[], string, RegExp][] = [
    [
      'nothing decorated',
      [StockModule],
      [forRoot({ exclude: [StockModule] })],
      'DECORUM_NOTHING_SERVED',
      /"shop".*AppModule/,
    ],
    ['a wrong member', [], [forRoot()], 'DECORUM_BAD_URI', /Wrong\.read.*Wrong is in AppModule/],
    [
      'two members with one name',
      [OtherModule],
      [forRoot()],
      'DECORUM_DUPLICATE_NAME',
      /^(?!.*DECORUM.*DECORUM)(?=.*Shop is in AppModule)(?=.*Other is in OtherModule)/,
    ],
    [
      'two servers at one path',
      [],
      [forRoot(), forRoot({ name: 'b' })],
      'DECORUM_SERVER_CONFLICT',
      /AppModule.*"\/mcp"/,
    ],
    [
      'two servers with one name',
      [],
      [forRoot(), forRoot({ path: '/b' })],
      'DECORUM_SERVER_CONFLICT',
      /AppModule.*same name/,
    ],
    [
      'two servers with one route',
      [],
      [forRoot({ plugins: [health()] }), forRoot({ name: 'b', path: '/b', plugins: [health()] })],
      'DECORUM_DUPLICATE_ROUTE',
      /GET \/healthz.*"health" of "shop".*"health" of "b"/,
    ],
    ['a guard that is overridden', [], [forRoot()], 'DECORUM_UNBOUND_ENHANCER', /AppModule: Overriding\.order/],
    [
      'a provider in two modules',
      [StockModule],
      [forRoot()],
      'DECORUM_DUPLICATE_NAME',
      /Stock is in AppModule, Stock is in StockModule|Stock is in StockModule, Stock is in AppModule/,
    ],
    [
      'a module that is not imported',
      [],
      [forRoot({ include: [OtherModule] })],
      'DECORUM_INVALID_OPTION',
      /OtherModule/,
    ],
  ];
  const PROVIDERS: Record<string, Type[]> = {
    'nothing decorated': [],
    'a wrong member': [Wrong],
    'a guard that is overridden': [Overriding],
    'a provider in two modules': [Stock],
  };
  it.each(cases)('rejects %s', async (what, modules, servers, code, message) => {
    const metadata = { imports: [...modules, ...servers] as Type[], providers: PROVIDERS[what] ?? [Shop] };
    await expect(started(metadata)).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
  });
});

@Injectable()
class Weather {
  @Tool() forecast() {}
}

@ForMcpServer('operations')
@Injectable()
class Operations {
  @Tool() restart() {}
}

@ForMcpServer('operations', 'weather')
@Controller()
class Status {
  @Tool() status() {}
}

class Deploys extends Operations {
  @Tool() deploy() {}
}

@ForMcpServer('weather')
class Drills extends Operations {
  @Tool() drill() {}
}

@Module({ providers: [Operations] })
class OperationsModule {}

const server = (name: string, options: Partial<McpModuleOptions> = {}) =>
  forRoot({ name, path: `/${name}`, ...options });

/** The tools of both servers. */
async function toolsOfBoth(metadata: Parameters<typeof Module>[0]) {
  const app = await started(metadata);
  const names = ['weather', 'operations'].map((name) => toolsOf(app.get(getMcpServerToken(name))));
  const [weather, operations] = (await Promise.all(names)).map((tools) => tools.toSorted());
  return { weather, operations };
}

describe('@ForMcpServer', () => {
  it('leaves a class to the servers that it names (#23)', async () => {
    const imports = [server('weather'), server('operations')];
    expect(await toolsOfBoth({ imports, providers: [Weather, Operations], controllers: [Status] })).toEqual({
      weather: ['forecast', 'status'],
      operations: ['forecast', 'restart', 'status'],
    });
  });

  it('wins over the modules that a server includes or excludes (#23)', async () => {
    const OtherModule = moduleOf({ providers: [Weather] });
    const weather = server('weather', { exclude: [OperationsModule] });
    const operations = server('operations', { include: [OtherModule] });
    expect(await toolsOfBoth({ imports: [weather, operations, OperationsModule, OtherModule] })).toEqual({
      weather: ['forecast'],
      operations: ['forecast', 'restart'],
    });
  });

  it('applies to subclasses, which may name other servers (#23)', async () => {
    const imports = [server('weather'), server('operations')];
    expect(await toolsOfBoth({ imports, providers: [Deploys, Drills] })).toEqual({
      weather: ['drill', 'restart'],
      operations: ['deploy', 'restart'],
    });
  });

  it('must name servers that the application has (#23)', async () => {
    const imports = [server('weather'), server('admin')];
    await expect(started({ imports, providers: [Weather, Operations] })).rejects.toMatchObject({
      code: 'DECORUM_MISUSED_DECORATOR',
      message: expect.stringContaining(
        'Operations: @ForMcpServer names the server "operations", which the application does not have. ' +
          'Name one of its servers: "weather", "admin"',
      ),
    });
  });

  it.each<[string, () => unknown]>([
    ['no name', () => ForMcpServer()(Weather)],
    ['an empty name', () => ForMcpServer('')(Weather)],
    ['a class instead of a name', () => ForMcpServer(Weather as never)],
    ['a method', () => (ForMcpServer('weather') as MethodDecorator)(Weather.prototype, 'forecast', {})],
  ])('takes names, and belongs on a class: not %s (#23)', (_what, decorate) => {
    expect(decorate).toThrow(expect.objectContaining({ code: 'DECORUM_MISUSED_DECORATOR' }));
  });
});

const startBy = async (create: () => ReturnType<typeof McpModule.forRoot>) =>
  await started({ imports: [create()], providers: [Shop] });

it.each([
  ['a path without a slash', { path: 'mcp' }, /`path`.*"\/mcp"/],
  ['a path in `http` without a slash', { http: { path: 'mcp' } }, /`path`.*"\/mcp"/],
  ['a module in place of a list of modules', { include: Shop }, /`include` is a function, but must be an array/],
  ['a module that is undefined because of an import cycle', { exclude: [undefined] }, /`exclude` lists undefined/],
  [
    'a misspelt option of the module (#22)',
    { hideGuard: true },
    /McpModule: `hideGuard` is not an option\. Write `hideGuarded`/,
  ],
  ['a misspelt option of the endpoint (#22)', { pathh: '/x' }, /McpModule: `pathh` .*Write `path`/],
  ['a misspelt option of the endpoint in `http` (#22)', { http: { pathh: '/x' } }, /McpModule\.http: .*Write `path`/],
  ['a misspelt option of the server (#22)', { instruction: '' }, /McpModule: .*Write `instructions`/],
  [
    'an option of another framework, and lists all of its own (#22)',
    { zzzzzzzz: 1 },
    /McpModule: .*one of (?=.*version)(?=.*allowedHosts)(?=.*hideGuarded)/,
  ],
  ['a limit outside of `limits` (#22)', { maxSubscriptions: 1 }, /Write `limits: { maxSubscriptions }`/],
  [
    'a caller from another place (#23)',
    { principal: 'req.user' },
    /`principal` is "req\.user", but must be "request\.user" or a function/,
  ],
  ['another value than a boolean', { hideGuarded: 'yes' }, /`hideGuarded` is "yes"/],
  ['`http` that is neither false nor an object', { http: null }, /`http` must be false, or an object/],
])('rejects %s', async (_what, options, message) => {
  await expect(
    startBy(() => McpModule.forRoot({ ...NAMED, ...options } as unknown as McpModuleOptions)),
  ).rejects.toMatchObject({ code: 'DECORUM_INVALID_OPTION', message: expect.stringMatching(message) });
});

it('rejects forRoot without options', async () => {
  await expect(startBy(() => McpModule.forRoot(undefined as unknown as McpModuleOptions))).rejects.toMatchObject({
    code: 'DECORUM_INVALID_OPTION',
    message: expect.stringMatching(/`options` must be an object/),
  });
});

it.each([
  ['without options', undefined, /`useFactory` is missing/],
  ['without a factory', { useClass: Shop }, /`useFactory` is missing/],
  ['with an option of the server (#22)', { useFactory: () => NAMED, path: '/x' }, /`path` is not an option/],
  ['with a misspelt option (#22)', { useFactory: () => NAMED, injects: [] }, /forRootAsync: .*Write `inject`/],
  ['whose factory returns nothing', { useFactory: () => {} }, /`options` must be an object/],
])('rejects forRootAsync %s', async (_what, options, message) => {
  await expect(
    startBy(() => McpModule.forRootAsync(options as unknown as McpModuleAsyncOptions)),
  ).rejects.toMatchObject({
    code: 'DECORUM_INVALID_OPTION',
    message: expect.stringMatching(message),
  });
});
