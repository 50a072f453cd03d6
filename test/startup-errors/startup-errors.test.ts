// What users get wrong in their first hour. None of it is silent: each row says where, and ends with what to write.
//
// What needs compilers and bundlers of its own is tested elsewhere: missing class-validator and class-transformer in
// test/packaging/lacking.test.ts, standard decorators in packages/core/test/decorators/standard.tc39.test.ts,
// and stdout in packages/core/test/transports/stdio-process.test.ts.
import { readFileSync } from 'node:fs';

import * as core from '@decorum/core';
import { Resource, Tool } from '@decorum/core';
import * as plugin from '@decorum/core/plugin';
import * as http from '@decorum/http';
import { fetchHandler } from '@decorum/http/fetch';
import { McpModule } from '@decorum/nestjs';
import { connect } from '@decorum/testing';
import { describe, expect, it } from '@jest/globals';
import { Module, UseGuards } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { transformSync } from '@swc/core';
import * as transformer from 'class-transformer';
import * as validator from 'class-validator';

import { APPS } from './apps.js';
import { AUDITS } from './audit.js';
import { AUTHORIZATION } from './auth-server.js';
import { CLIENTS } from './clients.js';
import { ARGUMENTS, PLACES } from './decorators.js';
import { INPUTS } from './inputs.js';
import { DOCUMENTS } from './openapi.js';
import { PREVIEWS } from './previews.js';
import { REDIS } from './redis.js';
import { SCHEMAS } from './schemas.js';
import { RECORDERS } from './recorders.js';
import { SEARCHES } from './search.js';
import { PROVIDERS, SERVERS } from './servers.js';
import { SOURCES } from './sources.js';
import { expectMistake, type Mistake, type Mistakes, serverOf, untyped } from './table.js';
import { TRANSPORTS } from './transports.js';

describe.each<readonly [string, Mistakes]>([
  ['a decorator in the wrong place', PLACES],
  ['a wrong argument of a decorator', ARGUMENTS],
  ['a parameter that gives no input', INPUTS],
  ['a wrong schema', SCHEMAS],
  ['a wrong option of a server', SERVERS],
  ['a wrong provider', PROVIDERS],
  ['a wrong source of members', SOURCES],
  ['a client with a wrong option', CLIENTS],
  ['a transport that cannot be opened', TRANSPORTS],
  ['an authorization server with a wrong option', AUTHORIZATION],
  ['an engine over Redis with a wrong option', REDIS],
  ['a page with a wrong option', APPS],
  ['a document of OpenAPI that cannot be served', DOCUMENTS],
  ['a recorder or a replay with a wrong option', RECORDERS],
  ['a search with a wrong option', SEARCHES],
  ['an audit log with a wrong option', AUDITS],
  ['a preview with a wrong option', PREVIEWS],
])('%s fails at startup, and the error says where it is and what to write:', (_kind, table) => {
  describe.each(Object.entries(table) as [core.StartupErrorCode, Mistake[]][])('%s', (code, rows) => {
    it.each(rows)('%s', async (_wrote, run, message) => {
      await expectMistake(run, code, message);
    });
  });
});

/** The packages' own tables of startup errors. */
const TABLES = ['schema/src', 'core/src/protocol', 'http/src', 'nestjs/src'];
const textOf = (file: string): string => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');

describe('docs/reference/errors.md', () => {
  const page = textOf('docs/reference/errors.md');
  const sections = page.split(/^### /m).slice(1);
  const codeOf = (section: string): string => /^`(\w+)`/.exec(section)?.[1] ?? section.slice(0, 20);

  it('describes every startup error', () => {
    // if this fails, add or remove the section: what the error means, what to do, and code that causes it
    const tables = TABLES.map((folder) => textOf(`packages/${folder}/errors.ts`));
    const codes = tables.flatMap((table) => [...table.matchAll(/^  (DECORUM_\w+): /gm)].map(([, code]) => code));
    expect(sections.map(codeOf).toSorted()).toEqual(codes.toSorted());
  });

  // test/packaging runs the examples that need libraries to be missing, or another runtime, and test/cluster the one
  // that needs a worker
  const elsewhere = ['DECORUM_MISSING_LIBRARY', 'DECORUM_NO_CODE_GENERATION', 'DECORUM_NO_HUB'];
  const runnable = sections.filter((section) => !elsewhere.includes(codeOf(section)));

  it.each(runnable.map((section) => [codeOf(section), section]))('has code that causes %s', async (code, section) => {
    await expect(runExample(/```ts\n([^]*?)```/.exec(section)?.[1] ?? '')).rejects.toMatchObject({ code });
  });
});

/** Runs TypeScript code with all public names in scope. */
async function runExample(code: string): Promise<unknown> {
  const scope = new Map(
    Object.entries({
      Module,
      NestFactory,
      UseGuards,
      McpModule,
      ...transformer,
      ...validator,
      ...http,
      ...plugin,
      ...core,
    }),
  );
  // added by Node to the exports of a CommonJS module
  for (const name of ['default', 'module.exports']) scope.delete(name);
  const { code: script } = transformSync(`async function example() {${code}}`, {
    swcrc: false,
    isModule: false,
    jsc: {
      target: 'es2022',
      parser: { syntax: 'typescript', decorators: true },
      transform: { legacyDecorator: true, decoratorMetadata: true },
    },
  });
  // oxlint-disable-next-line no-implied-eval -- the code is from a page of this repository
  const run = new Function(...scope.keys(), `${script}; return example();`);
  return await (run as (...values: unknown[]) => Promise<unknown>)(...scope.values());
}

// Mistakes that startup can't see are named in the log, or in the error of the first request that meets them.

class Clock {
  @Tool() now() {
    return 'noon';
  }

  @Resource('clock://now') face() {
    return 'noon';
  }
}

/** What a server with these options logs while something happens. */
async function logged(happen: (server: core.McpServer) => Promise<unknown>, options: object = {}): Promise<string[]> {
  const messages: string[] = [];
  const logger = {
    warn: (_details: object, message: string) => void messages.push(message),
    error: ({ err }: { readonly err?: Error }) => void messages.push(err?.message ?? ''),
  };
  await happen(serverOf([Clock], { ...options, logger }));
  return messages;
}

it('logs a refused Host once, with the value to allow', async () => {
  const warnings = await logged(async (server) => {
    const handle = fetchHandler(server);
    await handle.ready;
    for (const host of ['mcp.example.com:8080', 'mcp.example.com:8080', 'localhost:8080']) {
      const request = new Request(`http://${host}/mcp`, { method: 'POST', headers: { host } });
      await handle(request, { localPort: 3000 });
    }
  });
  expect(warnings).toEqual([
    expect.stringContaining("add it: `allowedHosts: ['mcp.example.com']`"),
    // the port that a container maps
    expect.stringContaining("add it: `allowedHosts: ['localhost:8080']`"),
  ]);
});

it('names a port that is taken, with what to pass instead', async () => {
  // the digits of an environment variable
  const { port, close } = await http.listen(serverOf([]), { port: '0' as unknown as number });
  const message = `port ${port}. Pass another \`port\` to listen, or 0 for any that is free`;
  const again = http.listen(serverOf([]), { port });
  await expect(again).rejects.toMatchObject({ code: 'EADDRINUSE', message: expect.stringContaining(message) });
  await close();
});

it('rejects a request that is not one of the web, with what to pass in Hono', async () => {
  const handle = untyped<Promise<unknown>>(fetchHandler(serverOf([])));
  await expect(handle({ req: { raw: {} } })).rejects.toThrow('In Hono, pass `c.req.raw`.');
});

it('admits nobody if `access` returns a reason, and logs what to return', async () => {
  const errors = await logged(async (server) => {
    server.addTool({ name: 'buy', access: (() => 'members only') as never }, () => '');
    const tools = await (await connect(server)).listTools();
    expect(tools.map(({ name }) => name)).toEqual(['now']);
  });
  expect(errors).toEqual([expect.stringContaining('`access` must return true or false')]);
});

it('logs what to write if `principal` returns a promise', async () => {
  const errors = await logged(async (server) => {
    const handle = fetchHandler(server, { principal: (() => Promise.resolve({ subject: 'ada' })) as never });
    await handle.ready;
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' });
    const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
    await handle(new Request('http://localhost:3000/mcp', { method: 'POST', headers, body }));
  });
  expect(errors).toEqual([expect.stringContaining('Use `auth` for promises.')]);
});

it('serves a class of another realm', async () => {
  const { runInNewContext } = await import('node:vm');
  const Foreign = runInNewContext('(class Foreign { now() { return "noon"; } })') as core.Class;
  const { prototype } = Foreign;
  untyped<(...place: unknown[]) => void>(Tool)()(prototype, 'now', Object.getOwnPropertyDescriptor(prototype, 'now'));
  expect(await (await connect(serverOf([Foreign]))).callTool('now')).toMatchObject({ content: [{ text: 'noon' }] });
});
