import { Tool } from '@decorum/core';
import type { McpModuleOptions } from '@decorum/nestjs';
import { connect } from '@decorum/testing';
import { describe, expect, it } from '@jest/globals';
import { Controller, type INestApplication, Injectable, Post, RequestMethod } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import express from 'express';

import { json, modernCall, modernHeaders, post } from '../../http/test/fixture.js';
import { closing, forRoot, moduleOf, QUIET } from './fixture.js';

@Injectable()
class Shop {
  @Tool() order() {
    return 'ordered';
  }
}

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
    const module = moduleOf({ imports: servers.map(forRoot), providers: [Shop] });
    const adapter = platform === 'Fastify' ? new FastifyAdapter() : new ExpressAdapter();
    const app = closing(await NestFactory.create(module, adapter as ExpressAdapter, QUIET));
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

@Controller('users')
class Users {
  @Post() add() {
    return 'added';
  }
}

async function listenOnExpress(settings: readonly string[] = []): Promise<string> {
  const module = moduleOf({ imports: [forRoot()], providers: [Shop], controllers: [Users] });
  const instance = express();
  for (const setting of settings) instance.enable(setting);
  const app = closing(await NestFactory.create(module, new ExpressAdapter(instance), QUIET));
  await app.listen(0, '127.0.0.1');
  return await app.getUrl();
}

/** Calls a tool with a body of more than a number of bytes. */
const call = (url: string, size: number) =>
  post(url, modernCall(1, 'order', {}, { note: 'x'.repeat(size) }), modernHeaders('tools/call', 'order'));

describe('an application on Express', () => {
  it.each(['/mcp/', '/MCP', '/Mcp/?from=here'])('serves %s, which Express takes for its path', async (path) => {
    const url = (await listenOnExpress()) + path;
    for (const size of [0, 200_000]) {
      expect(await json(await call(url, size))).toMatchObject({ result: { content: [{ text: 'ordered' }] } });
    }
    const refused = await call(url, 2 ** 20);
    expect([refused.status, (await json(refused)).error?.code]).toEqual([413, -32600]);
  });

  it('leaves other paths to the application', async () => {
    const url = await listenOnExpress();
    for (const path of ['/', '/mcp/more', '/mcps', '//mcp']) expect((await call(url + path, 0)).status).toBe(404);
  });

  it.each([
    ['strict routing', '/mcp/', '/users/'],
    ['case sensitive routing', '/MCP', '/USERS'],
  ])('follows the setting "%s"', async (setting, path, other) => {
    const url = await listenOnExpress([setting]);
    expect((await call(url + path, 0)).status).toBe(404);
    expect((await call(`${url}/mcp`, 0)).status).toBe(200);
    expect((await fetch(url + other, { method: 'POST' })).status).toBe(404);
    expect((await fetch(`${url}/users`, { method: 'POST' })).status).toBe(201);
  });
});
