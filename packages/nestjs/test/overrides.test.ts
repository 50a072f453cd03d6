// Providers that tests, or modules, replace with values, factories or other classes.
import { McpServer, Resource, Tool } from '@decorum/core';
import { McpModule } from '@decorum/nestjs';
import { connect } from '@decorum/testing';
import { describe, expect, it, jest } from '@jest/globals';
import { type CanActivate, Injectable, Module, type Provider, Scope, UseGuards } from '@nestjs/common';
import { NestFactory, REQUEST } from '@nestjs/core';
import { Test, type TestingModule, type TestingModuleBuilder } from '@nestjs/testing';
import { IsString } from 'class-validator';

class Place {
  @IsString() city!: string;
}

@Injectable()
class Denied implements CanActivate {
  canActivate() {
    return false;
  }
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

const McpServers = McpModule.forRoot({ name: 'weather', version: '1.0.0' });

class AppModule {}
Module({ imports: [McpServers], providers: [Weather] })(AppModule);

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
  return await override(builder.overrideProvider(Weather)).compile();
}

const textOf = ({ content }: { readonly content: readonly unknown[] }) => (content[0] as { text: string }).text;

/** What a client gets from the tools and resources. */
async function served(server: McpServer) {
  const client = await connect(server);
  const forecast = textOf(await client.callTool('forecast', { city: 'Oslo' }));
  const invalid = await client.callTool('forecast', { city: 7 });
  const guarded = textOf(await client.callTool('turnOff'));
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
    await app.close();
  });

  it('serves the members of a mock with decorators of its own in place of the provider’s (#23)', async () => {
    class Other {
      @Tool() greet() {
        return 'Hello!';
      }
    }
    const app = await testing((by) => by.useValue(new Other()));
    await app.init();
    const client = await connect(app.get(McpServer));
    expect((await client.listTools()).map(({ name }) => name)).toEqual(['greet']);
    await app.close();
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
  const start = async (...providers: Provider[]) => {
    class ShopModule {}
    Module({ imports: [McpServers], providers })(ShopModule);
    return await NestFactory.createApplicationContext(ShopModule, { logger: false, abortOnError: false });
  };

  class Clock {
    @Tool() now() {
      return '12:00';
    }
  }

  it('serves them with the value of each request (#23)', async () => {
    const useFactory = (request: { transport?: string }) => ({ now: () => typeof request });
    const app = await start({ provide: Clock, useFactory, inject: [REQUEST], scope: Scope.REQUEST });
    const client = await connect(app.get(McpServer));
    expect(textOf(await client.callTool('now'))).toBe('object');
    await app.close();
  });

  it('serves nothing without a value (#23)', async () => {
    await expect(start({ provide: Clock, useFactory: () => null })).rejects.toThrow('DECORUM_NOTHING_SERVED');
  });
});
