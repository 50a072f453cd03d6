// Classes that the server gets at run time, or in its options, and whose constructors have dependencies.
import { type Context, McpServer, NoInput, Tool } from '@decorum/core';
import type { McpModuleOptions, McpRequest } from '@decorum/nestjs';
import { connect } from '@decorum/testing';
import { describe, expect, it } from '@jest/globals';
import { Inject, Injectable, Module, Scope, SetMetadata } from '@nestjs/common';
import { APP_GUARD, Reflector, REQUEST } from '@nestjs/core';
import { Test } from '@nestjs/testing';

import { closing, forRoot, started, textOf } from './fixture.js';

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

const metadataOf = (options: Partial<McpModuleOptions> = {}) => ({
  imports: [forRoot(options), StockModule],
  providers: [Shop, guard],
});

const start = async (options?: Partial<McpModuleOptions>) => await started(metadataOf(options));

describe('a class that is added to the server', () => {
  it.each([Counter, ByProperty])(
    'gets what %p injects from the module that imports the server’s (#23)',
    async (cls) => {
      const app = await start();
      const registration = app.get(McpServer).addProvider(cls);
      expect(await textOf(app.get(McpServer), 'count')).toBe('3');
      app.get(Stock, { strict: false }).count = 4;
      expect(await textOf(app.get(McpServer), 'count')).toBe('4');
      registration.remove();
      await app.close();
    },
  );

  it('gets it before the application starts too (#23)', async () => {
    const app = closing(await Test.createTestingModule(metadataOf()).compile());
    app.get(McpServer).addProvider(Counter);
    await app.init();
    expect(await textOf(app.get(McpServer), 'count')).toBe('3');
  });

  it('is rejected if its constructor takes arguments that Nest has no metadata of (#23)', async () => {
    class Undecorated {
      constructor(readonly stock: Stock) {}
      @Tool() count() {}
    }
    const app = await start();
    expect(() => app.get(McpServer).addProvider(Undecorated)).toThrow(
      expect.objectContaining({
        code: 'DECORUM_CONSTRUCTOR_ARGUMENTS',
        message: expect.stringContaining('decorate it with @Injectable()'),
      }),
    );
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
    const app = await start({ onError: (error) => void errors.push(error) });
    const server = app.get(McpServer);
    const client = await connect(server);
    server.addProvider(Lost);
    expect(await client.callTool('count')).toMatchObject({ isError: true });
    expect(String(errors[0])).toContain('Unknown at index [0]');
  });
});

describe('a class in the options of the server', () => {
  it('gets its dependencies, and has one instance (#23)', async () => {
    Counter.made = 0;
    const app = await start({ providers: [Counter, { provider: Counter, prefix: 'all_' }] });
    const server = app.get(McpServer);
    expect([await textOf(server, 'count'), await textOf(server, 'all_count'), Counter.made]).toEqual(['3', '3', 1]);
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
    const app = await start({ providers: [{ provider: Caller, scope: 'request' }] });
    const server = app.get(McpServer);
    expect([await textOf(server, 'count'), await textOf(server, 'count')]).toEqual(['3 true', '3 true']);
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
    const starting = started({ imports: [forRoot({ providers: [cls] }), CallerModule], providers: [Shop] });
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
    await expect(start({ providers: [Lost] })).rejects.toThrow('Unknown at index [0]');
  });
});
