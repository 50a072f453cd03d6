// What a server declares, lists and announces, over every transport.
import { describe, expect } from '@jest/globals';
import { type Access, Completion, type JsonObject, NoInput, Prompt, Resource, Tool } from '@decorum/core';
import { z } from 'zod';

import { transportsOf } from '../support/http-transports.js';
import { RawClient, textOf } from '../support/raw-client.js';
import { eachRevision, eachRevisionOf } from '../support/requirements.js';
import { copies, LISTS, names, pagesOf } from './lists.js';
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

  eachRevisionOf(
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

  eachRevisionOf(
    ['TOOL-06', 'PROMPT-13', 'RES-18'],
    'announces each list that has changed, and no other, whatever changes it',
    async (revision) => {
      for (const transport of Object.values(transportsOf(revision))) {
        const server = serverOf({ providers: [copies('first')] });
        const add = (name: string) => server.addTool({ name, input: NoInput }, () => '');
        server.addTool({ name: 'grow', input: NoInput }, () => void add('grown'));
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
        let added = { remove() {} };
        await announced(() => (added = add('second')), 'tools');
        await announced(() => added.remove(), 'tools');
        await announced(() => (added = server.addProvider(visible.OnePrompt)), 'prompts');
        await announced(() => added.remove(), 'prompts');
        await announced(() => (added = server.addProvider(visible.OneTemplate)), 'resources');
        await announced(() => added.remove(), 'resources');
        await announced(() => (added = server.addProvider(copies('other'))), 'prompts', 'resources', 'tools');
        await announced(() => added.remove(), 'prompts', 'resources', 'tools');
        await announced(() => client.call('grow'), 'tools');
        await client.close();
      }
    },
  );

  eachRevisionOf(
    ['TOOL-06', 'PROMPT-13', 'RES-18'],
    'announces that a list has become empty, and that it no longer is',
    async (revision) => {
      for (const transport of Object.values(transportsOf(revision))) {
        const server = serverOf();
        const { OneTool: tools, OnePrompt: prompts, OneResource: resources, OneTemplate: templates } = visible;
        const members = { tools, prompts, resources, templates };
        const added = Object.entries(members).map(([kind, provider]) => [kind, server.addProvider(provider)] as const);
        const client = await RawClient.connect(server, { revision }, transport);
        if (client.stateless) {
          await listen(client, { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true });
        }
        const told = () =>
          client.received.flatMap(({ method = '' }) => (method.endsWith('/list_changed') ? method : []));
        const expected: string[] = [];
        const announced = async (kind: string, change: () => void) => {
          change();
          expected.push(`notifications/${kind === 'templates' ? 'resources' : kind}/list_changed`);
          await client.find(() => told().length >= expected.length);
          await client.settled();
          expect(told()).toEqual(expected);
        };
        for (const [kind, { remove }] of added) await announced(kind, remove);
        for (const [kind, provider] of Object.entries(members)) {
          await announced(kind, () => void server.addProvider(provider));
        }
        await client.close();
      }
    },
  );
});

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
  for (const name of [
    'zz',
    'GETUSER',
    'getUser',
    '_',
    '.',
    '-',
    '10',
    '9',
    'constructor',
    'toString',
    'x'.repeat(128),
  ]) {
    server.addTool({ name, input: z.object({}), ...guard }, () => name);
  }
  return server;
};

describe('the list of tools', () => {
  eachRevisionOf(
    ['TOOL-02', 'TOOL-03', 'TOOL-05', 'TOOL-25'],
    'has each tool once and in the same order on all its pages, with an object as its schema',
    async (revision) => {
      const long = 'x'.repeat(128);
      const expected = [
        'method',
        'none',
        'zz',
        'GETUSER',
        'getUser',
        '_',
        '.',
        '-',
        '10',
        '9',
        'constructor',
        'toString',
        long,
      ];
      for (const { name: way, client, ask } of await waysOf(revision, bareTools)) {
        for (let time = 0; time < 2; time += 1) {
          const pages = await pagesOf(client, 'tools/list');
          expect([way, pages.length]).toEqual([way, 7]);
          const tools = pages.flatMap((page) => page['tools'] as { name: string; inputSchema: JsonObject }[]);
          expect([way, tools.map(({ name }) => name)]).toEqual([way, expected]);
          for (const { inputSchema } of tools) expect(inputSchema).toMatchObject({ type: 'object' });
        }
        for (const name of ['constructor', long, 'getUser', 'GETUSER', '10', '.']) {
          const { result = {} } = await ask('tools/call', { name });
          expect([way, textOf(result)]).toEqual([way, name]);
        }
      }
    },
  );

  eachRevision('TOOL-25', 'has valid names only, wherever a name comes from', async (revision) => {
    const invalid = [
      '',
      ' ',
      'a b',
      ' a',
      'a ',
      'a,b',
      'a/b',
      'a:b',
      'a@b',
      'a\n',
      'a\t',
      'é',
      '名',
      '$a',
      'a{b}',
      'x'.repeat(129),
    ];
    for (const name of invalid) {
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
      if (name === '') continue;
      expect(() =>
        serverOf({ providers: [{ provider: membersWith({ access: nobody }).OneTool, prefix: name }] }),
      ).toThrow('DECORUM_INVALID_NAME');
    }
    const server = serverOf({
      providers: [{ provider: membersWith({ access: nobody }).OneTool, prefix: `${'x'.repeat(123)}.` }],
    });
    expect(() =>
      server.addProvider({ provider: membersWith({ access: nobody }).OneTool, prefix: `${'x'.repeat(124)}.` }),
    ).toThrow('DECORUM_INVALID_NAME');
    const client = await RawClient.connect(server, { revision });
    expect(await client.result('tools/list')).toMatchObject({ tools: [] });
  });
});

describe('a list', () => {
  eachRevisionOf(
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
