// Providers that tests, or modules, replace with values, factories or other classes, and how long they live.
import { McpServer, Resource, Tool } from '@decorum/core';
import { McpRequest } from '@decorum/nestjs';
import { connect } from '@decorum/testing';
import { describe, expect, it, jest } from '@jest/globals';
import { Injectable, Scope, UseGuards } from '@nestjs/common';
import { REQUEST } from '@nestjs/core';
import { Test, type TestingModule, type TestingModuleBuilder } from '@nestjs/testing';
import { IsString } from 'class-validator';

import { closing, Denied, forRoot, moduleOf, serve, textIn, toolsOf } from './fixture.js';

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

class Caller {
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
    { inject: [REQUEST], scope: Scope.REQUEST, useFactory: (from: unknown) => new Caller(from) },
  ],
  ['that needs something request-scoped', { inject: [REQUEST, User], useFactory: (from: unknown) => new Caller(from) }],
])('serves what a factory makes %s', async (_what, factory) => {
  const { client } = await serve([User, { provide: Caller, ...factory }]);
  expect(await client.callTool('who')).toMatchObject({ content: [{ text: 'memory' }] });
});

it('serves no factory that has made nothing', async () => {
  @Injectable()
  class Shop {
    @Tool() order() {}
  }
  const { client } = await serve([Shop, { provide: Caller, useFactory: () => null }]);
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
