// Providers that tests or modules replace, and classes that the server gets in its options or at run time.
import { type Context, McpServer, NoInput, Resource, Tool } from '@decorum/core';
import { type McpModuleOptions, McpRequest } from '@decorum/nestjs';
import { connect } from '@decorum/testing';
import { describe, expect, it, jest } from '@jest/globals';
import { Inject, Injectable, Module, Scope, SetMetadata, UseGuards } from '@nestjs/common';
import { APP_GUARD, Reflector, REQUEST } from '@nestjs/core';
import { Test, type TestingModule, type TestingModuleBuilder } from '@nestjs/testing';
import { IsString } from 'class-validator';

import { closing, Denied, forRoot, moduleOf, serve, Shop, started, textIn, textOf, toolsOf } from './fixture.js';

class Place {
  @IsString() city!: string;
}

@Injectable()
class Weather {
  @Tool() forecast({ city }: Place) {
    return `Rain in ${city}`;
  }

  @Resource('weather://{city}', { list: 'cities' }) report({ city }: Place) {
    return `Rain in ${city}`;
  }

  cities() {
    return ['weather://Oslo'];
  }

  @UseGuards(Denied) @Tool() turnOff() {
    return 'off';
  }
}

const AppModule = moduleOf({ imports: [forRoot()], providers: [Weather] });

/** A mock with all methods. Its methods see the mock as `this`. */
const mockOf = () => ({
  sky: 'Sun',
  forecast({ city }: Place) {
    return `${this.sky} in ${city}`;
  },
  report: () => 'Sun',
  cities: () => ['weather://Rome'],
  turnOff: jest.fn(() => 'off'),
});

class Mock {
  readonly forecast = () => 'Sun';
  readonly report = () => 'Sun';
  readonly cities = () => ['weather://Rome'];
  readonly turnOff = () => 'off';
}

type Override = ReturnType<TestingModuleBuilder['overrideProvider']>;

async function testing(override: (by: Override) => TestingModuleBuilder): Promise<TestingModule> {
  const builder = Test.createTestingModule({ imports: [AppModule] });
  return closing(await override(builder.overrideProvider(Weather)).compile());
}

/** What a client gets from the tools and resources. */
async function served(server: McpServer) {
  const client = await connect(server);
  const forecast = textIn(await client.callTool('forecast', { city: 'Oslo' }));
  const invalid = await client.callTool('forecast', { city: 7 });
  const guarded = textIn(await client.callTool('turnOff'));
  const listed = (await client.listResources()).map(({ uri }) => uri);
  await client.close();
  return { forecast, isInvalid: invalid.isError, guarded, listed };
}

describe('a provider that a test overrides', () => {
  it.each<[string, string, (by: Override) => TestingModuleBuilder]>([
    ['a value', 'Sun in Oslo', (by) => by.useValue(mockOf())],
    ['a factory', 'Sun in Oslo', (by) => by.useFactory({ factory: mockOf })],
    ['a class', 'Sun', (by) => by.useClass(Mock)],
  ])('serves its members with the methods of %s, behind their guards (#23)', async (_by, forecast, override) => {
    const app = await testing(override);
    await app.init();
    expect(await served(app.get(McpServer))).toEqual({
      forecast,
      isInvalid: true,
      guarded: 'Forbidden resource',
      listed: ['weather://Rome'],
    });
  });

  it('serves the members of a mock with decorators of its own in place of the provider’s (#23)', async () => {
    class Other {
      @Tool() greet() {
        return 'Hello!';
      }
    }
    const app = await testing((by) => by.useValue(new Other()));
    await app.init();
    expect(await toolsOf(app.get(McpServer))).toEqual(['greet']);
  });

  it('must have the decorated methods (#23)', async () => {
    const { forecast: _, ...rest } = mockOf();
    const app = await testing((by) => by.useValue(rest));
    await expect(app.init()).rejects.toMatchObject({
      code: 'DECORUM_NOT_A_METHOD',
      message:
        'Weather.forecast is decorated as a tool, and the provider has no such method. ' +
        'Add it to what stands in for Weather, such as the mock. (Weather is in AppModule) [DECORUM_NOT_A_METHOD]',
    });
  });
});

describe('a provider whose token is a class with members', () => {
  class Clock {
    @Tool() now() {
      return '12:00';
    }
  }

  it('serves them with the value of each request (#23)', async () => {
    const useFactory = (request: { transport?: string }) => ({ now: () => typeof request });
    const clock = { provide: Clock, useFactory, inject: [REQUEST], scope: Scope.REQUEST };
    const { client } = await serve([clock]);
    expect(textIn(await client.callTool('now'))).toBe('object');
  });

  it('serves nothing without a value (#23)', async () => {
    await expect(serve([{ provide: Clock, useFactory: () => null }])).rejects.toThrow('DECORUM_NOTHING_SERVED');
  });
});

class MadeCaller {
  constructor(readonly request: unknown) {}

  @Tool() who() {
    return this.request instanceof McpRequest ? this.request.transport.kind : String(this.request);
  }
}

@Injectable({ scope: Scope.REQUEST })
class User {}

it.each([
  [
    'that is request-scoped',
    { inject: [REQUEST], scope: Scope.REQUEST, useFactory: (from: unknown) => new MadeCaller(from) },
  ],
  [
    'that needs something request-scoped',
    { inject: [REQUEST, User], useFactory: (from: unknown) => new MadeCaller(from) },
  ],
])('serves what a factory makes %s', async (_what, factory) => {
  const { client } = await serve([User, { provide: MadeCaller, ...factory }]);
  expect(await client.callTool('who')).toMatchObject({ content: [{ text: 'memory' }] });
});

it('serves no factory that has made nothing', async () => {
  const { client } = await serve([Shop, { provide: MadeCaller, useFactory: () => null }]);
  expect((await client.listTools()).map(({ name }) => name)).toEqual(['order']);
});

it('calls `onStart` and `onClose` of providers that exist only', async () => {
  const called: string[] = [];
  class Hooked {
    readonly name: string = this.constructor.name;
    onStart() {
      called.push(`start ${this.name}`);
    }
    onClose() {
      called.push(`close ${this.name}`);
    }
  }
  @Injectable()
  class Shared extends Hooked {
    @Tool() shared() {}
  }
  @Injectable({ scope: Scope.REQUEST })
  class Scoped extends Hooked {
    @Tool() scoped() {}
  }
  const { app, client } = await serve([Shared, Scoped]);
  expect(await client.callTool('scoped')).not.toHaveProperty('isError');
  await app.close();
  expect(called).toEqual(['start Shared', 'close Shared']);
});

@Injectable()
class Stock {
  count = 3;
}

@Module({ providers: [Stock], exports: [Stock] })
class StockModule {}

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

@Injectable()
class Unknown {}

/** Nest can't create it. */
@Injectable()
class Lost {
  constructor(readonly unknown: Unknown) {}

  @SetMetadata('open', true)
  @Tool()
  count() {}
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
    await expect(start({ providers: [Lost] })).rejects.toThrow('Unknown at index [0]');
  });
});
