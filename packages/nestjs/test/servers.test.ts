// Applications with several servers, whose classes say which of them serves them.
import { McpServer, Tool } from '@decorum/core';
import { ForMcpServer, getMcpServerToken, McpModule, type McpModuleOptions } from '@decorum/nestjs';
import { connect } from '@decorum/testing';
import { describe, expect, it } from '@jest/globals';
import { Controller, Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';

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

const forRoot = (name: string, options: Partial<McpModuleOptions> = {}) =>
  McpModule.forRoot({ name, version: '1.0.0', path: `/${name}`, ...options });

async function started(metadata: Parameters<typeof Module>[0]) {
  class AppModule {}
  Module(metadata)(AppModule);
  return await NestFactory.createApplicationContext(AppModule, { logger: false, abortOnError: false });
}

/** The tools of both servers. */
async function toolsOf(metadata: Parameters<typeof Module>[0]) {
  const app = await started(metadata);
  const names = ['weather', 'operations'].map(async (server) => {
    const client = await connect(app.get<McpServer>(getMcpServerToken(server)));
    return (await client.listTools()).map(({ name }) => name).toSorted();
  });
  const [weather, operations] = await Promise.all(names);
  await app.close();
  return { weather, operations };
}

describe('@ForMcpServer', () => {
  it('leaves a class to the servers that it names (#23)', async () => {
    const imports = [forRoot('weather'), forRoot('operations')];
    expect(await toolsOf({ imports, providers: [Weather, Operations], controllers: [Status] })).toEqual({
      weather: ['forecast', 'status'],
      operations: ['forecast', 'restart', 'status'],
    });
  });

  it('wins over the modules that a server includes or excludes (#23)', async () => {
    class OtherModule {}
    Module({ providers: [Weather] })(OtherModule);
    const weather = forRoot('weather', { exclude: [OperationsModule] });
    const operations = forRoot('operations', { include: [OtherModule] });
    expect(await toolsOf({ imports: [weather, operations, OperationsModule, OtherModule] })).toEqual({
      weather: ['forecast'],
      operations: ['forecast', 'restart'],
    });
  });

  it('applies to subclasses, which may name other servers (#23)', async () => {
    const imports = [forRoot('weather'), forRoot('operations')];
    expect(await toolsOf({ imports, providers: [Deploys, Drills] })).toEqual({
      weather: ['drill', 'restart'],
      operations: ['deploy', 'restart'],
    });
  });

  it('must name servers that the application has (#23)', async () => {
    const imports = [forRoot('weather'), forRoot('admin')];
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
