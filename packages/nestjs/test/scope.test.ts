import { McpServer, Tool } from '@decorum/core';
import { McpModule, McpRequest } from '@decorum/nestjs';
import { connect } from '@decorum/testing';
import { expect, it } from '@jest/globals';
import { Injectable, Module, type Provider, Scope } from '@nestjs/common';
import { NestFactory, REQUEST } from '@nestjs/core';

/** An application of providers, without HTTP, and a client of it. */
async function started(...providers: Provider[]) {
  class AppModule {}
  Module({ imports: [McpModule.forRoot({ name: 'shop', version: '1.0.0' })], providers })(AppModule);
  const app = await NestFactory.createApplicationContext(AppModule, { logger: false, abortOnError: false });
  return { app, client: await connect(app.get(McpServer)) };
}

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
  const { app, client } = await started(User, { provide: Caller, ...factory });
  expect(await client.callTool('who')).toMatchObject({ content: [{ text: 'memory' }] });
  await app.close();
});

it('serves no factory that has made nothing', async () => {
  @Injectable()
  class Shop {
    @Tool() order() {}
  }
  const { app, client } = await started(Shop, { provide: Caller, useFactory: () => null });
  expect((await client.listTools()).map(({ name }) => name)).toEqual(['order']);
  await app.close();
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
  const { app, client } = await started(Shared, Scoped);
  expect(await client.callTool('scoped')).not.toHaveProperty('isError');
  await app.close();
  expect(called).toEqual(['start Shared', 'close Shared']);
});
