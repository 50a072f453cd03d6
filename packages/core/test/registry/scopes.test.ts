import { PassThrough } from 'node:stream';

import { describe, expect, it } from '@jest/globals';
import { type Class, McpServer, type Principal, Prompt, Resource, serveStdio, Tool } from '@decorum/core';
import { hostOf, requireNoScopes } from '@decorum/core/transport';

const expectMistake = (start: () => unknown, problem: string) => {
  const message = expect.stringContaining(problem);
  expect(start).toThrow(expect.objectContaining({ code: 'DECORUM_INVALID_OPTION', message }));
};
const UNKNOWN = expect.objectContaining({ code: 'DECORUM_NO_AUTHORIZATION' }) as unknown as Error;

const serverOf = (...providers: readonly unknown[]) =>
  new McpServer({ name: 'shop', version: '1.0.0', providers: providers as Class[] });

/** A class for each kind of member, with these options. */
function classesWith(options: object): readonly Class[] {
  class WithTool {
    @Tool(options) find() {}
  }
  class WithPrompt {
    @Prompt(options) find() {}
  }
  class WithResource {
    @Resource('shop://find', options) find() {}
  }
  class WithTemplate {
    @Resource('shop://{name}', { input: { type: 'object', properties: { name: {} } }, ...options }) find() {}
  }
  return [WithTool, WithPrompt, WithResource, WithTemplate];
}

const NOT_A_LIST = "`scopes` is not an array. Write `scopes: ['files:write']`.";
const NOT_A_SCOPE = 'which is not a scope.';

describe('scopes', () => {
  const mistakes = [
    [{ scopes: undefined }, NOT_A_LIST],
    [{ scopes: null }, NOT_A_LIST],
    [{ scopes: 'files:write' }, NOT_A_LIST],
    [{ scopes: new Set(['files:write']) }, NOT_A_LIST],
    [{ scopes: [''] }, `\`scopes\` has "", ${NOT_A_SCOPE}`],
    [{ scopes: ['read write'] }, `\`scopes\` has "read write", ${NOT_A_SCOPE}`],
    [{ scopes: ['a', 'b"c'] }, NOT_A_SCOPE],
    [{ scopes: ['a\\b'] }, NOT_A_SCOPE],
    [{ scopes: ['é'] }, NOT_A_SCOPE],
    [{ scopes: ['a\n'] }, NOT_A_SCOPE],
    [{ scopes: [undefined] }, `\`scopes\` has undefined, ${NOT_A_SCOPE}`],
    [{ scopes: [['a']] }, NOT_A_SCOPE],
    [{ scopes: ['a'], public: true }, '`public` is true, but the member also has `scopes`. Remove one of them.'],
    [{ public: 'yes' }, '`public` is "yes", but must be true or false.'],
    [{ scope: ['a'] }, '`scope` is not an option. Write `scopes`.'],
  ] as const;

  it.each(mistakes)('that are mistaken fail at startup: %j', (options, problem) => {
    for (const cls of classesWith(options)) expectMistake(() => serverOf(cls), problem);
    expectMistake(() => serverOf().addTool({ name: 'find', ...(options as object) }, () => ''), problem);
  });

  it.each([{ scopes: [] }, { scopes: ['a', 'a', '!#[]~'] }, { scopes: [], public: true }, { public: undefined }])(
    'may be %j',
    (options) => {
      for (const cls of classesWith(options)) expect(() => serverOf(cls)).not.toThrow();
    },
  );

  it.each(mistakes.slice(0, 12))('of a provider that are mistaken fail at startup: %j', (options, problem) => {
    const [cls] = classesWith({});
    expectMistake(() => serverOf({ provider: cls, ...options }), problem);
  });

  it('of a provider contradict its public members', () => {
    for (const provider of classesWith({ public: true })) {
      const problem = '`public` is true, but the member also has `scopes`. Remove it, or the `scopes` of its provider.';
      expectMistake(() => serverOf({ provider, scopes: ['a'] }), problem);
      expect(() => serverOf({ provider, scopes: [] })).not.toThrow();
    }
  });

  it('contradict a public cache, of the member and of its provider', () => {
    const cache = { ttlMs: 1, scope: 'public' };
    const problem = '`cache.scope` is "public", but `scopes` restricts who may read it. Make it "private".';
    for (const cls of classesWith({ cache, scopes: ['a'] }).slice(2)) expectMistake(() => serverOf(cls), problem);
    for (const provider of classesWith({ cache }).slice(2)) {
      expectMistake(() => serverOf({ provider, scopes: ['a'] }), problem);
      expect(() => serverOf(provider)).not.toThrow();
    }
    for (const cls of classesWith({ cache, public: true }).slice(2)) expect(() => serverOf(cls)).not.toThrow();
  });

  it('of a subclass do not go with a base that is public, nor the other way round', () => {
    class Base {
      @Tool({ public: true }) open() {}
      @Tool({ scopes: ['a'] }) closed() {}
    }
    class Closed extends Base {
      @Tool({ scopes: ['a'] }) override open() {}
    }
    class Open extends Base {
      @Tool({ public: true }) override closed() {}
    }
    expect(() => serverOf(Closed)).toThrow('Closed.open: `public` is true, but the member also has `scopes`.');
    expect(() => serverOf(Open)).toThrow('Open.closed: `public` is true, but the member also has `scopes`.');
  });
});

describe('a server with scopes', () => {
  class Shop {
    @Tool() look() {}
    @Tool({ scopes: ['pay'] }) pay() {}
  }

  const serve = async (server: McpServer, principal?: Principal) =>
    await serveStdio(server, { input: new PassThrough(), output: new PassThrough(), principal });

  it('is not served over stdio without a principal', async () => {
    const problem =
      'serveStdio: Shop.pay needs scopes, but nothing tells the server who calls. ' +
      'Pass `principal`: the user who started the process.';
    await expect(serve(serverOf(Shop))).rejects.toThrow(UNKNOWN);
    await expect(serve(serverOf(Shop))).rejects.toThrow(problem);
    const added = serverOf();
    class Late {
      @Tool() early() {}

      onStart() {
        added.addTool({ name: 'late', scopes: ['late'] }, () => '');
      }
    }
    added.addProvider(Late);
    await expect(serve(added)).rejects.toThrow('serveStdio: addTool.late needs scopes');
  });

  it('is served over stdio with a principal, or once nothing needs scopes', async () => {
    const known = serverOf(Shop);
    await (await serve(known, { subject: 'ada' })).close();
    const server = serverOf();
    const registration = server.addProvider(Shop);
    await expect(serve(server)).rejects.toThrow(UNKNOWN);
    registration.remove();
    await (await serve(server)).close();
    await (await serve(serverOf(...classesWith({ public: true }).slice(0, 3)))).close();
  });

  it('tells transports which member needs scopes, and whether one is public', async () => {
    const server = serverOf();
    const seen: unknown[] = [];
    await hostOf(server).open((kernel) => {
      const look = () => seen.push([kernel.scopedMember, kernel.hasPublic]);
      look();
      const scoped = server.addProvider(Shop);
      look();
      expect(() => requireNoScopes(kernel, 'open', 'Pass `auth`')).toThrow(UNKNOWN);
      const open = server.addTool({ name: 'open', public: true }, () => '');
      look();
      scoped.remove();
      look();
      open.remove();
      look();
      return { stop: () => {}, close: () => {} };
    });
    expect(seen).toEqual([
      [undefined, false],
      ['Shop.pay', false],
      ['Shop.pay', true],
      [undefined, true],
      [undefined, false],
    ]);
  });
});
