import type { IncomingMessage, ServerResponse } from 'node:http';
import { text as textOf } from 'node:stream/consumers';

import { Context, NoInput, Prompt, Resource, Tool } from '@decorum/core';
import type { Auth } from '@decorum/http';
import { type McpModuleOptions, requestOf } from '@decorum/nestjs';
import { connect } from '@decorum/testing';
import { describe, expect, it } from '@jest/globals';
import {
  BadRequestException,
  Controller,
  createParamDecorator,
  type ExecutionContext,
  Headers,
  type INestApplication,
  Injectable,
  Ip,
  ParseIntPipe,
  Post,
  Req,
  RequestMethod,
  UsePipes,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { IsString } from 'class-validator';
import express from 'express';

import { json, modernCall, modernHeaders, post } from '../../http/test/fixture.js';
import { closing, forRoot, moduleOf, PLATFORMS, QUIET, serve, Shop } from './fixture.js';

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

describe.each(PLATFORMS)('an application on %s', (_platform, adapter) => {
  async function listen(
    servers: readonly Partial<McpModuleOptions>[],
    configure: (app: INestApplication) => void = () => {},
  ) {
    const module = moduleOf({ imports: servers.map(forRoot), providers: [Shop] });
    const app = closing(await NestFactory.create(module, adapter(), QUIET));
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

  it('serves its Server Card below the prefix, and the catalog at the root', async () => {
    const about = { description: 'Sells everything', card: true };
    const url = await listen([about], (app) => app.setGlobalPrefix('api'));
    const card = await (await fetch(`${url}/api/mcp/server-card`)).json();
    expect(card).toMatchObject({ description: 'Sells everything', remotes: [{ url: `${url}/api/mcp` }] });
    const catalog = await (await fetch(`${url}/.well-known/ai-catalog.json`)).json();
    expect(catalog).toMatchObject({ entries: [{ url: `${url}/api/mcp/server-card` }] });
  });

  it('serves the documents of several servers, and at the root those of the first', async () => {
    const url = await listen(['a', 'b'].map((name) => ({ name, path: `/${name}`, auth: authOf(name) })));
    const bodies = ['a', 'b', 'root'].map(async (name) => await (await fetch(`${url}/.well-known/${name}`)).text());
    expect(await Promise.all(bodies)).toEqual(['a', 'b', 'a']);
  });

  it('lets several servers share the mount of `auth`, with unread bodies, and owns its paths', async () => {
    const allowedHosts = ['id.example'];
    const auth: Auth = {
      authenticate: () => undefined,
      allowedHosts,
      mount: { paths: ['/users', '/users/'], handle: echo as never },
    };
    const url = await listen(['a', 'b'].map((name) => ({ name, path: `/${name}`, auth })));
    const headers = { 'content-type': 'application/json' };
    const answered = await fetch(`${url}/users/x?y`, { method: 'POST', headers, body: '{"a":1}' });
    expect([await answered.text(), answered.headers.getSetCookie()]).toEqual(['/users/x?y {"a":1}', ['a=1', 'b=2']]);
    const module = moduleOf({ imports: [forRoot({ auth })], providers: [Shop], controllers: [Users] });
    const app = closing(await NestFactory.create(module, adapter(), QUIET));
    await expect(app.listen(0)).rejects.toThrow(/users\S* belongs to the application and to `auth`/);
  });
});

/** Answers with what it got. */
async function echo(request: IncomingMessage, response: ServerResponse): Promise<void> {
  response.setHeader('set-cookie', ['a=1', 'b=2']);
  response.end(`${request.url} ${await textOf(request)}`);
}

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
const order = (url: string, size: number) =>
  post(url, modernCall(1, 'order', {}, { note: 'x'.repeat(size) }), modernHeaders('tools/call', 'order'));

describe('an application on Express', () => {
  it.each(['/mcp/', '/MCP', '/Mcp/?from=here'])('serves %s, which Express takes for its path', async (path) => {
    const url = (await listenOnExpress()) + path;
    for (const size of [0, 200_000]) {
      expect(await json(await order(url, size))).toMatchObject({ result: { content: [{ text: 'ordered' }] } });
    }
    const refused = await order(url, 2 ** 20);
    expect([refused.status, (await json(refused)).error?.code]).toEqual([413, -32600]);
  });

  it('leaves other paths to the application', async () => {
    const url = await listenOnExpress();
    for (const path of ['/', '/mcp/more', '/mcps', '//mcp']) expect((await order(url + path, 0)).status).toBe(404);
  });

  it.each([
    ['strict routing', '/mcp/', '/users/'],
    ['case sensitive routing', '/MCP', '/USERS'],
  ])('follows the setting "%s"', async (setting, path, other) => {
    const url = await listenOnExpress([setting]);
    expect((await order(url + path, 0)).status).toBe(404);
    expect((await order(`${url}/mcp`, 0)).status).toBe(200);
    expect((await fetch(url + other, { method: 'POST' })).status).toBe(404);
    expect((await fetch(`${url}/users`, { method: 'POST' })).status).toBe(201);
  });
});

interface Request {
  readonly headers: Readonly<Record<string, string>>;
}

/** The user that a guard would have found. */
const CurrentUser = createParamDecorator((field: string | undefined, context: ExecutionContext) => {
  const { headers } = context.switchToHttp().getRequest<Request>();
  const name = headers['x-user'] ?? `nobody in ${context.getType<string>()} ${context.getHandler().name}`;
  return field === undefined ? { name } : name;
});

const HeaderOf = createParamDecorator((name: string, context: ExecutionContext) => {
  return context.switchToHttp().getRequest<Request>().headers[name];
});

class Query1 {
  @IsString() text!: string;
}

interface User {
  readonly name: string;
}

@Injectable()
class Asking {
  @Tool() find(query: Query1, @CurrentUser() user: User, ctx: Context) {
    return [query.text, query instanceof Query1, user.name, typeof ctx.log.info].join();
  }

  @Tool() user(@Headers('X-User') user: string | undefined) {
    return user ?? 'nobody';
  }

  @Tool() asked(_input: NoInput, ctx: Context) {
    return requestOf<Request>(ctx)?.headers['x-user'] ?? 'no request';
  }

  @Tool() first(@CurrentUser('name') name: string, { text }: Query1) {
    return `${name} ${text}`;
  }

  @Tool() whoami(@CurrentUser() { name }: User) {
    return name;
  }

  @Tool() number(@HeaderOf('x-count', ParseIntPipe) count: number) {
    return `${typeof count} ${count}`;
  }

  @Tool() http(@Req() request: Request, @Headers() headers: Request['headers'], @Ip() ip: string) {
    return [request.headers['x-user'], headers['x-user'], ip.endsWith('127.0.0.1')].join();
  }

  @Resource('docs://mine') mine(@CurrentUser('name') name: string) {
    return name;
  }

  @Prompt() ask({ text }: Query1, @CurrentUser('name') name: string) {
    return `${text} ${name}`;
  }
}

describe.each(PLATFORMS)('parameters with decorators, on %s', (_name, adapter) => {
  it('have their values, between the input and the context (#23)', async () => {
    const module = moduleOf({ imports: [forRoot()], providers: [Asking] });
    const served = closing(await NestFactory.create(module, adapter(), QUIET));
    await served.listen(0, '127.0.0.1');
    const url = `${await served.getUrl()}/mcp`;
    const call = async (name: string, args = {}) => {
      const headers = { ...modernHeaders('tools/call', name), 'x-user': 'ada', 'x-count': '7' };
      const { result } = await json(await post(url, modernCall(1, name, args), headers));
      return (result as { content: { text: string }[] }).content[0]?.text;
    };
    expect(await call('find', { text: 'a' })).toBe('a,true,ada,function');
    expect(await call('first', { text: 'a' })).toBe('ada a');
    expect(await call('whoami')).toBe('ada');
    expect(await call('user')).toBe('ada');
    expect(await call('asked')).toBe('ada');
    expect(await call('number')).toBe('number 7');
    expect(await call('http')).toBe('ada,ada,true');
    expect(await call('find', { text: 7 })).toContain('text: must be a string');
  });
});

it('parameters with decorators have their values over other transports, for all members (#23)', async () => {
  const { client } = await serve([Asking]);
  const tools = await client.listTools();
  expect(tools.find(({ name }) => name === 'whoami')?.inputSchema).toMatchObject({ properties: {} });
  expect(tools.find(({ name }) => name === 'first')?.inputSchema).toMatchObject({ required: ['text'] });
  expect(await client.callTool('whoami')).toMatchObject({ content: [{ text: 'nobody in mcp whoami' }] });
  expect(await client.readResource('docs://mine')).toMatchObject({ contents: [{ text: 'nobody in mcp mine' }] });
  expect(await client.getPrompt('ask', { text: 'a' })).toMatchObject({
    messages: [{ content: { text: 'a nobody in mcp ask' } }],
  });
  expect(await client.callTool('user')).toMatchObject({ content: [{ text: 'nobody' }] });
  expect(await client.callTool('asked')).toMatchObject({ content: [{ text: 'no request' }] });
  // no header, so the pipe refuses
  expect(await client.callTool('number')).toMatchObject({ isError: true });
});

it('pipes of the method also run for them (#23)', async () => {
  class Refusing {
    transform(value: unknown) {
      if (typeof value === 'string') throw new BadRequestException(`refused ${value}`);
      return value;
    }
  }
  @Injectable()
  class Piped {
    @UsePipes(new Refusing()) @Tool() whoami(@CurrentUser('name') name: string) {
      return name;
    }
  }
  const { client } = await serve([Piped]);
  expect(await client.callTool('whoami')).toMatchObject({
    isError: true,
    content: [{ text: 'refused nobody in mcp whoami' }],
  });
});
