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

/** Accepts nobody, and has a document at the root and one of its own. */
const authOf = (name: string) => ({
  authenticate: () => {
    throw new Error('not called');
  },
  documents: ['/.well-known/root', `/.well-known/${name}`].map((path) => ({
    path,
    answer: () => ({ status: 200, body: name }),
  })),
});

describe.each(['Express', 'Fastify'])('an application on %s', (platform) => {
  async function listen(
    servers: readonly Partial<McpModuleOptions>[],
    configure: (app: INestApplication) => void = () => {},
  ) {
    class AppModule {}
    const imports = servers.map((options) => McpModule.forRoot({ name: 'shop', version: '1.0.0', ...options }));
    Module({ imports, providers: [Shop] })(AppModule);
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
    const url = await listen([{}], (app) => app.setGlobalPrefix('api', { exclude }));
    const client = await connect(`${url}/api/mcp`);
    expect(await client.callTool('order')).toMatchObject({ content: [{ text: 'ordered' }] });
    await client.close();
  });

  it('serves the documents of several servers, and at the root those of the first', async () => {
    const url = await listen(['a', 'b'].map((name) => ({ name, path: `/${name}`, auth: authOf(name) })));
    const bodies = ['a', 'b', 'root'].map(async (name) => await (await fetch(`${url}/.well-known/${name}`)).text());
    expect(await Promise.all(bodies)).toEqual(['a', 'b', 'a']);
  });
});
