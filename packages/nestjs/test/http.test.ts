import { Tool } from '@decorum/core';
import { McpModule, type McpModuleOptions } from '@decorum/nestjs';
import { connect } from '@decorum/testing';
import { afterEach, describe, expect, it } from '@jest/globals';
import { type INestApplication, Injectable, Module, RequestMethod } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';

@Injectable()
class Shop {
  @Tool() order() {
    return 'ordered';
  }
}

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

describe.each(['Express', 'Fastify'])('an application on %s', (platform) => {
  async function listen(options: Partial<McpModuleOptions>, configure: (app: INestApplication) => void) {
    class AppModule {}
    const served = McpModule.forRoot({ name: 'shop', version: '1.0.0', ...options });
    Module({ imports: [served], providers: [Shop] })(AppModule);
    const settings = { logger: false, abortOnError: false } as const;
    const app =
      platform === 'Fastify'
        ? await NestFactory.create(AppModule, new FastifyAdapter(), settings)
        : await NestFactory.create(AppModule, settings);
    closing.push(() => app.close());
    configure(app);
    await app.listen(0, '127.0.0.1');
    return await app.getUrl();
  }

  it('serves one path if the prefix excludes a single method of it', async () => {
    const exclude = [{ path: 'mcp', method: RequestMethod.GET }];
    const url = await listen({}, (app) => app.setGlobalPrefix('api', { exclude }));
    const client = await connect(`${url}/api/mcp`);
    expect(await client.callTool('order')).toMatchObject({ content: [{ text: 'ordered' }] });
    await client.close();
  });
});
