// What a server declares, lists and announces, and the pages and cursors of its lists.
import { describe, expect } from '@jest/globals';
import { type Access, type CacheHint, Completion, type JsonObject, NoInput, Resource, Tool } from '@decorum/core';
import { fetchHandler } from '@decorum/http/fetch';
import { z } from 'zod';

import { overHttp, statelessHeaders, transportsOf } from '../support/http-transports.js';
import { type Message, overMemory, RawClient, textOf } from '../support/raw-client.js';
import { eachRevision, inStateless, STATELESS } from '../support/requirements.js';
import { asked } from '../support/stateless-post.js';
import { copies, copiesWith, enumerated, kindsOf, LISTS, many, names, namesOf, pagesOf, restricted } from './lists.js';
import { listen } from './neutral.js';
import { serverOf } from './servers.js';
import { type Setting, waysOf } from './ways.js';

/** Nobody has access, as it turns out later. */
const nobody: Access = async () => await Promise.resolve(false);

describe('a server', () => {
  const visible = kindsOf();

  eachRevision(['TOOL-01', 'RES-01', 'PROMPT-01', 'COMP-01', 'LOG-01'], 'declares what it has', async (revision) => {
    const { OneTool, OnePrompt, OneResource, OneTemplate } = kindsOf({ access: nobody });
    class Completed extends OneTemplate {
      @Completion({ for: 'template', argument: 'at' })
      ats() {
        return ['a'];
      }
    }
    const completions = revision === '2024-11-05' ? {} : { completions: {} };
    const resources = { listChanged: true, subscribe: true };
    const cases = [
      [[], {}],
      [[OneTool], { tools: { listChanged: true } }],
      [[OnePrompt], { prompts: { listChanged: true } }],
      [[OneResource], { resources }],
      [[OneTemplate], { resources }],
      [[Completed], { resources, ...completions }],
      [[OneTool, OnePrompt], { tools: { listChanged: true }, prompts: { listChanged: true } }],
    ] as const;
    for (const [name, transport] of Object.entries(transportsOf(revision))) {
      for (const [providers, declared] of name === 'memory' ? cases : cases.slice(-2)) {
        for (const isLate of [false, true]) {
          const server = serverOf(isLate ? {} : { providers });
          if (isLate) for (const provider of providers) server.addProvider(provider);
          const client = await RawClient.connect(server, { revision, begins: false }, transport);
          expect((await client.begin())['capabilities']).toEqual({ logging: {}, ...declared });
        }
      }
    }
  });

  eachRevision(['TOOL-06', 'PROMPT-13', 'RES-18'], 'announces each list that has changed', async (revision) => {
    for (const transport of Object.values(transportsOf(revision))) {
      const server = serverOf();
      const first = server.addProvider(copies('first'));
      let added = { remove() {} };
      const add = (name: string) => server.addTool({ name, input: NoInput }, () => '');
      const grow = server.addTool({ name: 'grow', input: NoInput }, () => void (added = add('grown')));
      const client = await RawClient.connect(server, { revision }, transport);
      const all = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true };
      if (client.stateless) await listen(client, all);
      const told = () =>
        client.received.flatMap(({ method = '' }) => (method.endsWith('/list_changed') ? [method] : []));
      const announced = async (change: () => unknown, ...lists: readonly string[]) => {
        const before = told().length;
        await change();
        await client.find(() => told().length >= before + lists.length);
        await client.settled();
        expect(told().slice(before).sort()).toEqual(lists.map((list) => `notifications/${list}/list_changed`));
      };
      await announced(() => (added = add('second')), 'tools');
      await announced(() => added.remove(), 'tools');
      await announced(() => (added = server.addProvider(visible.OnePrompt)), 'prompts');
      await announced(() => added.remove(), 'prompts');
      await announced(() => (added = server.addProvider(visible.OneTemplate)), 'resources');
      await announced(() => added.remove(), 'resources');
      await announced(() => (added = server.addProvider(copies('other'))), 'prompts', 'resources', 'tools');
      await announced(() => added.remove(), 'prompts', 'resources', 'tools');
      await announced(() => client.call('grow'), 'tools');
      for (const tool of [added, grow]) await announced(() => tool.remove(), 'tools');
      // the lists become empty, and no longer are
      await announced(() => first.remove(), 'prompts', 'resources', 'tools');
      for (const [kind, provider] of [
        ['tools', visible.OneTool],
        ['prompts', visible.OnePrompt],
        ['resources', visible.OneResource],
      ] as const) {
        await announced(() => (added = server.addProvider(provider)), kind);
        await announced(() => added.remove(), kind);
      }
      await client.close();
    }
  });
});

/** Names of tools, in their order. */
const NAMES = ['zz', 'GETUSER', 'getUser', '_', '.', '-', '10', '9', 'constructor', 'toString', 'x'.repeat(128)];

/** Tools without arguments, declared in different ways. */
const bareTools = ({ options, guard }: Setting) => {
  class Bare {
    @Tool(guard)
    method() {
      return 'method';
    }

    @Tool({ name: 'none', input: NoInput, ...guard })
    none(_input: NoInput) {
      return 'none';
    }
  }
  const server = serverOf({ providers: [Bare], ...options, pageSize: 2 });
  for (const name of NAMES) {
    server.addTool({ name, input: z.object({}), ...guard }, () => name);
  }
  return server;
};

describe('the list of tools', () => {
  eachRevision(['TOOL-02', 'TOOL-03', 'TOOL-05', 'TOOL-25'], 'lists each tool once, and in order', async (revision) => {
    const expected = ['method', 'none', ...NAMES];
    for (const { name: way, client, ask } of await waysOf(revision, bareTools)) {
      for (let time = 0; time < 2; time += 1) {
        const pages = await pagesOf(client, 'tools/list');
        expect([way, pages.length]).toEqual([way, 7]);
        const tools = pages.flatMap((page) => page['tools'] as { name: string; inputSchema: JsonObject }[]);
        expect([way, tools.map(({ name }) => name)]).toEqual([way, expected]);
        for (const { inputSchema } of tools) expect(inputSchema).toMatchObject({ type: 'object' });
      }
      for (const name of NAMES) {
        const { result = {} } = await ask('tools/call', { name });
        expect([way, textOf(result)]).toEqual([way, name]);
      }
    }
  });

  eachRevision('TOOL-25', 'has valid names only, wherever a name comes from', async (revision) => {
    const { OneTool } = kindsOf({ access: nobody });
    const odd = ['', ' ', 'a b', ' a', 'a ', 'a,b', 'a/b', 'a:b', 'a@b', 'a\n', 'a\t', 'é', '名', '$a', 'a{b}'];
    for (const name of [...odd, 'x'.repeat(129)]) {
      class Named {
        @Tool({ name })
        tool() {
          return '';
        }
      }
      class Keyed {
        [name]() {
          return '';
        }
      }
      const descriptor = Object.getOwnPropertyDescriptor(Keyed.prototype, name) as PropertyDescriptor;
      expect(() => serverOf({ providers: [Named] })).toThrow('DECORUM_INVALID_NAME');
      expect(() => serverOf().addTool({ name, input: NoInput }, () => '')).toThrow('DECORUM_INVALID_NAME');
      expect(() => {
        (Tool() as MethodDecorator)(Keyed.prototype, name, descriptor);
        serverOf({ providers: [Keyed] });
      }).toThrow('DECORUM_INVALID_NAME');
      const prefixed = () => serverOf({ providers: [{ provider: OneTool, prefix: name }] });
      if (name !== '') expect(prefixed).toThrow('DECORUM_INVALID_NAME');
    }
    const server = serverOf({ providers: [{ provider: OneTool, prefix: `${'x'.repeat(123)}.` }] });
    const longer = { provider: OneTool, prefix: `${'x'.repeat(124)}.` };
    expect(() => server.addProvider(longer)).toThrow('DECORUM_INVALID_NAME');
    const client = await RawClient.connect(server, { revision });
    expect(await client.result('tools/list')).toMatchObject({ tools: [] });
  });
});

describe('a list', () => {
  eachRevision(['TOOL-04', 'RES-03', 'PROMPT-03'], 'has the same pages on every connection', async (revision) => {
    const server = serverOf({ providers: names(5).map(copies), pageSize: 2 });
    server.addTool({ name: 'ask', input: NoInput }, async (_input, ctx) => String(await ctx.confirm('Sure?')));
    const pagesFor = async (client: RawClient) => {
      const before = client.texts.length;
      let sent = 0;
      for (const [method] of LISTS) {
        let cursor: unknown;
        do {
          const { result = {} } = await client.request(method, cursor === undefined ? {} : { cursor }, (sent += 1));
          cursor = result['nextCursor'];
        } while (cursor !== undefined);
      }
      return client.texts.slice(before);
    };
    const caller = { revision, principal: { subject: 'ada' } };
    const all: string[][] = [];
    for (const transport of Object.values(transportsOf(revision))) {
      all.push(await pagesFor(await RawClient.connect(server, caller, transport)));
      const more = { logLevel: 'debug', capabilities: { elicitation: {}, roots: {} } };
      const busy = await RawClient.connect(server, { ...caller, ...more }, transport);
      await listen(busy, { toolsListChanged: true, resourceSubscriptions: ['docs://n1'] });
      for (const name of ['n0', 'ask', 'unknown']) await busy.request('tools/call', { name });
      for (const uri of ['docs://n0', 'docs://n0/a', 'docs://']) await busy.request('resources/read', { uri });
      for (const name of ['n0', 'unknown']) await busy.request('prompts/get', { name });
      all.push(await pagesFor(busy));
    }
    expect(all[0]).toHaveLength(3 + 3 * 3);
    for (const each of all) expect(each).toEqual(all[0]);
  });
});

describe('a cursor', () => {
  eachRevision('PAGE-02', 'is stable in a list that a method returns', async (revision) => {
    for (const [change, left] of [
      [(entries: string[]) => entries.unshift('first'), ['n2', 'n3', 'n4', 'n5']],
      [(entries: string[]) => entries.splice(0, 1), ['n2', 'n3', 'n4', 'n5']],
      [(entries: string[]) => entries.splice(2, 1), ['n3', 'n4', 'n5']],
      [(entries: string[]) => entries.splice(3), ['n2']],
      [(entries: string[]) => entries.push('last'), ['n2', 'n3', 'n4', 'n5', 'last']],
      [(entries: string[]) => entries.splice(0), []],
    ] as const) {
      const { entries, server } = enumerated(6);
      const client = await RawClient.connect(server, { revision });
      let { nextCursor: cursor } = await client.result('resources/list');
      change(entries);
      const found: string[] = [];
      while (cursor !== undefined) {
        const next = await client.result('resources/list', { cursor });
        found.push(...namesOf(next, 'resources'));
        cursor = next['nextCursor'];
      }
      expect(found).toEqual(left.map((id) => `notes://${id}`));
    }
  });

  eachRevision(['PAGE-03', 'PAGE-05'], 'is valid only unaltered, for its list and server', async (revision) => {
    for (const [server, transport] of [
      [many(3, 2), overMemory],
      [many(3, 2), overHttp],
      [restricted(3), overMemory],
      [enumerated(3).server, overMemory],
    ] as const) {
      const client = await RawClient.connect(server, { revision, principal: { subject: 'ada' } }, transport);
      const cursors = new Map<string, string>();
      for (const [method] of LISTS) {
        const { result } = await client.request(method);
        if (result?.['nextCursor'] !== undefined) cursors.set(method, result['nextCursor'] as string);
      }
      expect(cursors.size).toBeGreaterThan(0);
      for (const [method, own] of cursors) {
        const foreign = [...cursors].filter(([other]) => other !== method).map(([, cursor]) => cursor);
        const altered = [`${own}=`, ` ${own}`, own.slice(1), own.slice(0, -2), `${own}${own}`, own.toUpperCase()];
        for (const cursor of [...foreign, ...altered, '', '0', 0, 1, null, false, [own], {}]) {
          const { code } = await client.error(method, { cursor });
          expect([method, cursor, code]).toEqual([method, cursor, -32602]);
        }
        expect(await client.result(method, { cursor: own })).not.toHaveProperty('nextCursor');
      }
    }
  });
});

/** One member of each kind. Everybody sees every other one, and Ada all of them. */
const halfSeen = (name: string, index: number) =>
  copiesWith({ access: (principal) => index % 2 === 0 || principal?.subject === 'ada' })(name);

describe('pages', () => {
  eachRevision(['PAGE-01', 'PAGE-04', 'PAGE-05'], 'have each visible entry once, and an end', async (revision) => {
    for (const size of [1, 2, 3, 4, 9]) {
      for (const [subject, count, server] of [
        ['ada', size, serverOf({ providers: names(size).map(halfSeen), pageSize: 2 })],
        ['bob', Math.ceil(size / 2), serverOf({ providers: names(size).map(halfSeen), pageSize: 2 })],
        ['bob', size, many(size, 2)],
      ] as const) {
        const client = await RawClient.connect(server, { revision, principal: { subject } });
        for (const [method, member] of LISTS) {
          const pages = await pagesOf(client, method);
          const entries = pages.flatMap((page) => page[member] as JsonObject[]).map((entry) => JSON.stringify(entry));
          expect([method, pages.length, new Set(entries).size]).toEqual([method, Math.ceil(count / 2), count]);
          expect([entries.length, 'nextCursor' in pages.at(-1)!]).toEqual([count, false]);
          for (const { nextCursor } of pages.slice(0, -1)) expect(nextCursor).toMatch(/./);
        }
      }
    }
  });

  eachRevision('PAGE-02', 'neither repeat nor omit entries when others are added and removed', async (revision) => {
    const all = ['a', 'b', 'c', 'd', 'e', 'f'];
    for (const removed of ['', 'a', 'b', 'c', 'f', 'ac', 'bd', 'cdef', 'bcdef', 'abcdef'].map((each) => [...each])) {
      const server = serverOf({ pageSize: 2 });
      const added = new Map(all.map((name) => [name, server.addTool({ name, input: NoInput }, () => '')]));
      const client = await RawClient.connect(server, { revision });
      let { nextCursor: cursor } = await client.result('tools/list');
      server.addProvider(copies('late'));
      for (const name of removed) added.get(name)?.remove();
      const rest: string[] = [];
      while (cursor !== undefined) {
        const page = await client.result('tools/list', { cursor });
        rest.push(...namesOf(page, 'tools'));
        cursor = page['nextCursor'];
      }
      const kept = all.slice(2).filter((name) => !removed.includes(name));
      expect([removed, rest.filter((name) => name !== 'late')]).toEqual([removed, kept]);
      if (removed.length === 0) expect(rest.at(-1)).toBe('late');
    }
  });

  inStateless('PAGE-06', 'may come from several servers that share only a secret', async () => {
    class Enumerating {
      @Resource('notes://{id}', { list: 'list' })
      note(_variables: NoInput) {
        return '';
      }

      list() {
        return names(3).map((id) => ({ variables: { id } }));
      }
    }
    const node = (secret: string, cache: CacheHint = { ttlMs: 1000, scope: 'public' }) =>
      serverOf({ providers: [...names(4).map(copies), Enumerating], pageSize: 2, secret, cache });
    const [ours, theirs] = ['our'.repeat(20), 'their'.repeat(20)];
    const opening = [node(ours), node(ours), node(theirs)].map((server) =>
      RawClient.connect(server, { revision: STATELESS, principal: { subject: 'ada' } }, overHttp),
    );
    const [one, other, stranger] = (await Promise.all(opening)) as [RawClient, RawClient, RawClient];
    for (const [method, member] of LISTS) {
      const whole = await pagesOf(one, method);
      const turns = [other, one];
      const pages = [await other.result(method)];
      for (let cursor = pages[0]?.['nextCursor']; cursor !== undefined; cursor = pages.at(-1)?.['nextCursor']) {
        expect(await stranger.error(method, { cursor })).toMatchObject({ code: -32602 });
        pages.push(await turns[pages.length % 2]!.result(method, { cursor }));
      }
      expect(pages.length).toBeGreaterThan(1);
      expect(pages.map((page) => page[member])).toEqual(whole.map((page) => page[member]));
      expect(new Set(pages.map(({ cacheScope }) => cacheScope)).size).toBe(1);
    }
  });

  inStateless('PAGE-06', 'continue from wherever the client asks', async () => {
    const server = many(5, 2);
    const handler = fetchHandler(server);
    const ask = async (method: string, params: JsonObject, remoteAddress?: string) => {
      const message = asked(1, method, params);
      const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
      const init = { method: 'POST', headers: { ...headers, ...statelessHeaders(message) } };
      const request = new Request('http://localhost/mcp', { ...init, body: JSON.stringify(message) });
      const { result } = (await (await handler(request, { remoteAddress })).json()) as Message;
      return result as JsonObject;
    };
    for (const [method, member] of LISTS) {
      const { nextCursor: cursor, [member]: first } = await ask(method, {}, '192.0.2.1');
      for (const address of ['192.0.2.1', '198.51.100.7', '2001:db8::1', undefined]) {
        expect([address, await ask(method, { cursor }, address)]).toMatchObject([
          address,
          { [member]: [{}, {}], nextCursor: expect.any(String) },
        ]);
      }
      expect(first).toHaveLength(2);
    }
    await handler.close();
  });
});
