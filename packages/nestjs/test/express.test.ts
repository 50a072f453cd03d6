import { Tool } from '@decorum/core';
import { McpModule } from '@decorum/nestjs';
import { afterEach, describe, expect, it } from '@jest/globals';
import { Controller, type INestApplication, Injectable, Module, Post } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import express from 'express';

import { json, modernCall, modernHeaders, post } from '../../http/test/fixture.js';

@Injectable()
class Shop {
  @Tool() order() {
    return 'ordered';
  }
}

@Controller('users')
class Users {
  @Post() add() {
    return 'added';
  }
}

let app: INestApplication;
afterEach(async () => {
  await app.close();
});

async function listen(settings: readonly string[] = []): Promise<string> {
  class AppModule {}
  const served = McpModule.forRoot({ name: 'shop', version: '1.0.0' });
  Module({ imports: [served], providers: [Shop], controllers: [Users] })(AppModule);
  const instance = express();
  for (const setting of settings) instance.enable(setting);
  app = await NestFactory.create(AppModule, new ExpressAdapter(instance), { logger: false, abortOnError: false });
  await app.listen(0, '127.0.0.1');
  return await app.getUrl();
}

/** Calls a tool with a body of more than a number of bytes. */
const call = (url: string, size: number) =>
  post(url, modernCall(1, 'order', {}, { note: 'x'.repeat(size) }), modernHeaders('tools/call', 'order'));

describe('an application on Express', () => {
  it.each(['/mcp/', '/MCP', '/Mcp/?from=here'])('serves %s, which Express takes for its path', async (path) => {
    const url = (await listen()) + path;
    for (const size of [0, 200_000]) {
      expect(await json(await call(url, size))).toMatchObject({ result: { content: [{ text: 'ordered' }] } });
    }
    const refused = await call(url, 2 ** 20);
    expect([refused.status, (await json(refused)).error?.code]).toEqual([413, -32600]);
  });

  it('leaves other paths to the application', async () => {
    const url = await listen();
    for (const path of ['/', '/mcp/more', '/mcps', '//mcp']) expect((await call(url + path, 0)).status).toBe(404);
  });

  it.each([
    ['strict routing', '/mcp/', '/users/'],
    ['case sensitive routing', '/MCP', '/USERS'],
  ])('follows the setting "%s"', async (setting, path, other) => {
    const url = await listen([setting]);
    expect((await call(url + path, 0)).status).toBe(404);
    expect((await call(`${url}/mcp`, 0)).status).toBe(200);
    expect((await fetch(url + other, { method: 'POST' })).status).toBe(404);
    expect((await fetch(`${url}/users`, { method: 'POST' })).status).toBe(201);
  });
});
