// What a server declares, lists and announces, and the cursors of its lists.
import { describe, expect } from '@jest/globals';
import { type Access, Completion, type JsonObject, NoInput, Prompt, Resource, Tool } from '@decorum/core';
import { z } from 'zod';

import { overHttp, transportsOf } from '../support/http-transports.js';
import { overMemory, RawClient, textOf } from '../support/raw-client.js';
import { eachRevision } from '../support/requirements.js';
import { copies, enumerated, LISTS, many, names, namesOf, pagesOf, restricted } from './lists.js';
import { listen } from './neutral.js';
import { serverOf } from './servers.js';
import { type Setting, waysOf } from './ways.js';

const TEXT: JsonObject = { type: 'object', properties: { at: { type: 'string' } } };

/** Nobody has access, as it turns out later. */
const nobody: Access = async () => await Promise.resolve(false);

/** A class for each kind of member. */
function membersWith(guard: { readonly access?: Access }) {
  class OneTool {
    @Tool(guard)
    tool() {
      return '';
    }
  }

  class OnePrompt {
    @Prompt({ input: TEXT, ...guard })
    prompt() {
      return '';
    }
  }

  class OneResource {
    @Resource('docs://a', guard)
    resource() {
      return '';
    }
  }

  class OneTemplate {
    @Resource('docs://{at}', { input: TEXT, ...guard })
    page() {
      return '';
    }
  }

  class Completed extends OneTemplate {
    @Completion({ for: 'page', argument: 'at' })
    ats() {
      return ['a'];
    }
  }
  return { OneTool, OnePrompt, OneResource, OneTemplate, Completed };
}

describe('a server', () => {
  const visible = membersWith({});

  eachRevision(
    ['TOOL-01', 'RES-01', 'PROMPT-01', 'COMP-01', 'LOG-01'],
    'declares what it has, even if this client may see none of it, and no more',
    async (revision) => {
      const { OneTool, OnePrompt, OneResource, OneTemplate, Completed } = membersWith({ access: nobody });
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
      for (const transport of Object.values(transportsOf(revision))) {
        for (const [providers, declared] of cases) {
          for (const isLate of [false, true]) {
            const server = serverOf(isLate ? {} : { providers });
            if (isLate) for (const provider of providers) server.addProvider(provider);
            const client = await RawClient.connect(server, { revision, begins: false }, transport);
            expect((await client.begin())['capabilities']).toEqual({ logging: {}, ...declared });
          }
        }
      }
    },
  );

  eachRevision(
    ['TOOL-06', 'PROMPT-13', 'RES-18'],
    'announces each list that has changed, and no other, whatever changes it',
    async (revision) => {
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
    },
  );
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
  eachRevision(
    ['TOOL-02', 'TOOL-03', 'TOOL-05', 'TOOL-25'],
    'has each tool once and in the same order on all its pages, with an object as its schema',
    async (revision) => {
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
    },
  );

  eachRevision('TOOL-25', 'has valid names only, wherever a name comes from', async (revision) => {
    const { OneTool } = membersWith({ access: nobody });
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
  eachRevision(
    ['TOOL-04', 'RES-03', 'PROMPT-03'],
    'has the same pages on every connection and transport, whatever the client has done',
    async (revision) => {
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
    },
  );
});

describe('a cursor', () => {
  eachRevision('PAGE-02', 'is stable in each list while entries are added and removed', async (revision) => {
    const lists = [many(4, 2), restricted(4)];
    for (const server of lists) {
      const client = await RawClient.connect(server, { revision, principal: { subject: 'ada' } });
      const firsts = new Map<string, JsonObject>();
      for (const [method] of LISTS) firsts.set(method, await client.result(method));
      server.addProvider(copies('late'));
      for (const [method, member] of LISTS) {
        const first = firsts.get(method) as JsonObject;
        const second = await client.result(method, { cursor: first['nextCursor'] });
        const third = await client.result(method, { cursor: second['nextCursor'] });
        const found = [first, second, third].flatMap((page) => namesOf(page, member));
        expect([method, found.length, new Set(found).size]).toEqual([method, 5, 5]);
        expect(third).not.toHaveProperty('nextCursor');
      }
    }
  });

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

  eachRevision('PAGE-03', 'is invalid unless it comes from the same list and server, unaltered', async (revision) => {
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
