// Classes that the server gets at run time, or in its options, and whose constructors have dependencies.
import { type Context, McpServer, NoInput, Tool } from '@decorum/core';
import { McpModule, type McpModuleOptions, type McpRequest } from '@decorum/nestjs';
import { connect } from '@decorum/testing';
import { describe, expect, it } from '@jest/globals';
import { Inject, Injectable, Module, Scope, SetMetadata } from '@nestjs/common';
import { APP_GUARD, NestFactory, Reflector, REQUEST } from '@nestjs/core';
import { Test } from '@nestjs/testing';

@Injectable()
class Stock {
  count = 3;
}

@Module({ providers: [Stock], exports: [Stock] })
class StockModule {}

@Injectable()
class Shop {
  @Tool() greet() {
    return 'Hello!';
  }
}

@Injectable()
class Counter {
  static made = 0;

  constructor(private readonly stock: Stock) {
    Counter.made += 1;
  }

  @SetMetadata('open', true)
  @Tool()
  count() {
    return this.stock.count;
  }
}

class ByProperty {
  @Inject(Stock) private readonly stock!: Stock;

  @SetMetadata('open', true)
  @Tool()
  count() {
    return this.stock.count;
  }
}

/** Lets calls pass whose method has the metadata. */
const guard = {
  provide: APP_GUARD,
  inject: [Reflector],
  useFactory: (reflector: Reflector) => ({
    canActivate: (context: { getHandler(): () => void }) =>
      reflector.get<boolean>('open', context.getHandler()) === true,
  }),
};

function moduleOf(options: Partial<McpModuleOptions> = {}) {
  class AppModule {}
  const server = McpModule.forRoot({ name: 'shop', version: '1.0.0', ...options });
  Module({ imports: [server, StockModule], providers: [Shop, guard] })(AppModule);
  return AppModule;
}

const started = async (options?: Partial<McpModuleOptions>) =>
  await NestFactory.createApplicationContext(moduleOf(options), { logger: false, abortOnError: false });

async function countOf(server: McpServer, name = 'count') {
  const client = await connect(server);
  const { content } = await client.callTool(name);
  await client.close();
  return (content[0] as { text: string }).text;
}

describe('a class that is added to the server', () => {
  it.each([Counter, ByProperty])(
    'gets what %p injects from the module that imports the server’s (#23)',
    async (cls) => {
      const app = await started();
      const registration = app.get(McpServer).addProvider(cls);
      expect(await countOf(app.get(McpServer))).toBe('3');
      app.get(Stock, { strict: false }).count = 4;
      expect(await countOf(app.get(McpServer))).toBe('4');
      registration.remove();
      await app.close();
    },
  );

  it('gets it before the application starts too (#23)', async () => {
    const app = await Test.createTestingModule({ imports: [moduleOf()] }).compile();
    app.get(McpServer).addProvider(Counter);
    await app.init();
    expect(await countOf(app.get(McpServer))).toBe('3');
    await app.close();
  });

  it('is rejected if its constructor takes arguments that Nest has no metadata of (#23)', async () => {
    class Undecorated {
      constructor(readonly stock: Stock) {}
      @Tool() count() {}
    }
    const app = await started();
    expect(() => app.get(McpServer).addProvider(Undecorated)).toThrow(
      expect.objectContaining({
        code: 'DECORUM_CONSTRUCTOR_ARGUMENTS',
        message: expect.stringContaining('decorate it with @Injectable()'),
      }),
    );
    await app.close();
  });

  it('fails its calls if Nest cannot create it (#23)', async () => {
    @Injectable()
    class Unknown {}
    @Injectable()
    class Lost {
      constructor(readonly unknown: Unknown) {}
      @SetMetadata('open', true)
      @Tool()
      count() {}
    }
    const errors: unknown[] = [];
    const app = await started({ onError: (error) => void errors.push(error) });
    const server = app.get(McpServer);
    const client = await connect(server);
    server.addProvider(Lost);
    expect(await client.callTool('count')).toMatchObject({ isError: true });
    expect(String(errors[0])).toContain('Unknown at index [0]');
    await app.close();
  });
});

describe('a class in the options of the server', () => {
  it('gets its dependencies, and has one instance (#23)', async () => {
    Counter.made = 0;
    const app = await started({ providers: [Counter, { provider: Counter, prefix: 'all_' }] });
    const server = app.get(McpServer);
    expect([await countOf(server), await countOf(server, 'all_count'), Counter.made]).toEqual(['3', '3', 1]);
    await app.close();
  });

  it('gets the request of each call with the scope of requests (#23)', async () => {
    @Injectable({ scope: Scope.REQUEST })
    class Caller {
      constructor(
        @Inject(REQUEST) private readonly request: McpRequest,
        private readonly stock: Stock,
      ) {}
      @SetMetadata('open', true)
      @Tool()
      count(_input: NoInput, ctx: Context) {
        return `${this.stock.count} ${this.request.transport === ctx.transport}`;
      }
    }
    const app = await started({ providers: [{ provider: Caller, scope: 'request' }] });
    const server = app.get(McpServer);
    expect([await countOf(server), await countOf(server)]).toEqual(['3 true', '3 true']);
    await app.close();
  });

  it.each(['itself', 'a dependency'])('must say so if %s has the scope of requests (#23)', async (which) => {
    @Injectable({ scope: Scope.REQUEST })
    class Caller {
      @Tool() count() {}
    }
    @Injectable()
    class Dependent {
      constructor(readonly caller: Caller) {}
      @Tool() sum() {}
    }
    const cls = which === 'itself' ? Caller : Dependent;
    @Module({ providers: [{ provide: Caller, useFactory: () => ({}), scope: Scope.REQUEST }], exports: [Caller] })
    class CallerModule {}
    class AppModule {}
    const imports = [McpModule.forRoot({ name: 'shop', version: '1.0.0', providers: [cls] }), CallerModule];
    Module({ imports, providers: [Shop] })(AppModule);
    const starting = NestFactory.createApplicationContext(AppModule, { logger: false, abortOnError: false });
    await expect(starting).rejects.toMatchObject({
      code: 'DECORUM_INVALID_OPTION',
      message: expect.stringContaining(`Write \`{ provider: ${cls.name}, scope: 'request' }\``),
    });
  });

  it('stops the start if Nest cannot create it (#23)', async () => {
    @Injectable()
    class Unknown {}
    @Injectable()
    class Lost {
      constructor(readonly unknown: Unknown) {}
      @Tool() count() {}
    }
    await expect(started({ providers: [Lost] })).rejects.toThrow('Unknown at index [0]');
  });
});
