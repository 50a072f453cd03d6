// Applications with several servers, whose classes say which of them serves them.
import { Tool } from '@decorum/core';
import { ForMcpServer, getMcpServerToken, type McpModuleOptions } from '@decorum/nestjs';
import { describe, expect, it } from '@jest/globals';
import { Controller, Injectable, Module } from '@nestjs/common';

import { forRoot, moduleOf, started, toolsOf } from './fixture.js';

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
