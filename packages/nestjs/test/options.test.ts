import { Tool } from '@decorum/core';
import { McpModule, type McpModuleAsyncOptions, type McpModuleOptions } from '@decorum/nestjs';
import { expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';

import { NAMED, started } from './fixture.js';

@Injectable()
class Shop {
  @Tool() order() {
    return 'ordered';
  }
}

const start = async (create: () => ReturnType<typeof McpModule.forRoot>) =>
  await started({ imports: [create()], providers: [Shop] });

it.each([
  ['a path without a slash', { path: 'mcp' }, /`path`.*"\/mcp"/],
  ['a path in `http` without a slash', { http: { path: 'mcp' } }, /`path`.*"\/mcp"/],
  ['a module in place of a list of modules', { include: Shop }, /`include` is a function, but must be an array/],
  ['a module that is undefined because of an import cycle', { exclude: [undefined] }, /`exclude` lists undefined/],
  [
    'a misspelt option of the module (#22)',
    { hideGuard: true },
    /McpModule: `hideGuard` is not an option\. Write `hideGuarded`/,
  ],
  ['a misspelt option of the endpoint (#22)', { pathh: '/x' }, /McpModule: `pathh` .*Write `path`/],
  ['a misspelt option of the endpoint in `http` (#22)', { http: { pathh: '/x' } }, /McpModule\.http: .*Write `path`/],
  ['a misspelt option of the server (#22)', { instruction: '' }, /McpModule: .*Write `instructions`/],
  [
    'an option of another framework, and lists all of its own (#22)',
    { zzzzzzzz: 1 },
    /McpModule: .*one of (?=.*version)(?=.*allowedHosts)(?=.*hideGuarded)/,
  ],
  ['a limit outside of `limits` (#22)', { maxSubscriptions: 1 }, /Write `limits: { maxSubscriptions }`/],
  [
    'a caller from another place (#23)',
    { principal: 'req.user' },
    /`principal` is "req\.user", but must be "request\.user" or a function/,
  ],
  ['another value than a boolean', { hideGuarded: 'yes' }, /`hideGuarded` is "yes"/],
  ['`http` that is neither false nor an object', { http: null }, /`http` must be false, or an object/],
])('rejects %s', async (_what, options, message) => {
  await expect(
    start(() => McpModule.forRoot({ ...NAMED, ...options } as unknown as McpModuleOptions)),
  ).rejects.toMatchObject({ code: 'DECORUM_INVALID_OPTION', message: expect.stringMatching(message) });
});

it('rejects forRoot without options', async () => {
  await expect(start(() => McpModule.forRoot(undefined as unknown as McpModuleOptions))).rejects.toMatchObject({
    code: 'DECORUM_INVALID_OPTION',
    message: expect.stringMatching(/`options` must be an object/),
  });
});

it.each([
  ['without options', undefined, /`useFactory` is missing/],
  ['without a factory', { useClass: Shop }, /`useFactory` is missing/],
  ['with an option of the server (#22)', { useFactory: () => NAMED, path: '/x' }, /`path` is not an option/],
  ['with a misspelt option (#22)', { useFactory: () => NAMED, injects: [] }, /forRootAsync: .*Write `inject`/],
  ['whose factory returns nothing', { useFactory: () => {} }, /`options` must be an object/],
])('rejects forRootAsync %s', async (_what, options, message) => {
  await expect(start(() => McpModule.forRootAsync(options as unknown as McpModuleAsyncOptions))).rejects.toMatchObject({
    code: 'DECORUM_INVALID_OPTION',
    message: expect.stringMatching(message),
  });
});
