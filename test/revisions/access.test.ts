// Access control, rate limits and sanitized output, in every way that a request can take.
import { describe, expect } from '@jest/globals';
import {
  type Access,
  Completion,
  type Context,
  embedded,
  image,
  type JsonObject,
  McpError,
  NoInput,
  type Principal,
  Prompt,
  rateLimit,
  Resource,
  sanitize,
  Tool,
  ToolError,
} from '@decorum/core';
import { RateLimiterMemory } from 'rate-limiter-flexible';

import { overHttp } from '../support/http-transports.js';
import { overMemory, RawClient, type RawTransport, textOf } from '../support/raw-client.js';
import { eachRevision, inStateless, STATELESS } from '../support/requirements.js';
import { pagesOf } from './lists.js';
import { ASKING, membersOf } from './members.js';
import { listen } from './neutral.js';
import { serverOf } from './servers.js';
import { answersAlike, type Probe, type Setting, waysOf } from './ways.js';

const ADA: Principal = { subject: 'ada' };
const BOB: Principal = { subject: 'bob' };
const RAW_TRANSPORTS: readonly RawTransport[] = [overMemory, overHttp];

const ANY: JsonObject = { type: 'object', properties: { at: {} } };

/** Answers of access functions that give no access. Anything but `true` is a mistake. */
const DENIALS: Readonly<Record<string, Access>> = {
  no: () => false,
  late: async () => await Promise.resolve(false),
  mistaken: (() => 'yes') as unknown as Access,
  one: (async () => await Promise.resolve(1)) as unknown as Access,
  empty: (() => undefined) as unknown as Access,
  failing() {
    throw new Error('secret');
  },
  rejecting: async () => await Promise.reject(new Error('secret')),
};

/** One member of each kind for everybody, and one for nobody by each way to say so. */
const guarded =
  (ran: string[]) =>
  ({ options, guard }: Setting) => {
    const server = serverOf(options);
    const add = (name: string, access: { readonly access?: Access }) =>
      server.addProvider(membersOf(() => (ran.push(name), 'ran'), { name, ...access }, name));
    for (const [name, access] of Object.entries(DENIALS)) add(name, { access });
    add('open', guard);
    return server;
  };

describe('access', () => {
  eachRevision(['TOOL-27', 'TOOL-33', 'RES-13', 'PROMPT-08', 'COMP-07'], 'needs exactly `true`', async (revision) => {
    const ran: string[] = [];
    const ways = await waysOf(revision, guarded(ran));
    const notFound = revision === STATELESS ? -32602 : -32002;
    const argument = { name: 'at', value: '' };
    const probes = Object.keys(DENIALS).flatMap((name): Probe[] => {
      const [fixed, page] = [`${name}://fixed`, `${name}://a`];
      const unknown = (what: string) => ({ code: -32602, message: `Unknown ${what}: ${name}` });
      const missing = (uri: string) => ({ code: notFound, message: 'Resource not found', data: { uri } });
      const templates = [page, `${name}://{at}`];
      const follow = (uri: string): Probe[] =>
        revision === STATELESS ? [] : [['resources/subscribe', { uri }, missing(uri)]];
      return [
        ['tools/call', { name }, unknown('tool')],
        ['tools/call', { name, arguments: 7 }, unknown('tool')],
        ['tools/call', { name, arguments: [] }, unknown('tool')],
        ['prompts/get', { name, arguments: {} }, unknown('prompt')],
        ['prompts/get', { name, arguments: 7 }, unknown('prompt')],
        ...[fixed, page].flatMap((uri): Probe[] => [['resources/read', { uri }, missing(uri)], ...follow(uri)]),
        ['completion/complete', { ref: { type: 'ref/prompt', name }, argument }, unknown('prompt')],
        ...[fixed, ...templates].map((uri): Probe => {
          const answer = { code: -32602, message: `Unknown resource template: ${uri}` };
          return ['completion/complete', { ref: { type: 'ref/resource', uri }, argument }, answer];
        }),
      ];
    });
    await answersAlike(ways, probes);
    expect(ran).toEqual([]);
    for (const { name: way, client, ask } of ways) {
      const listed: unknown[] = [];
      for (const [method, member, key] of [
        ['tools/list', 'tools', 'name'],
        ['prompts/list', 'prompts', 'name'],
        ['resources/list', 'resources', 'uri'],
        ['resources/templates/list', 'resourceTemplates', 'uriTemplate'],
      ] as const) {
        for (const page of await pagesOf(client, method)) {
          listed.push(...(page[member] as JsonObject[]).map((entry) => entry[key]));
        }
      }
      const uris = ['open://fixed', 'open://ran', 'open://{at}'];
      expect([way, listed, ran.splice(0)]).toEqual([way, ['open', 'open', ...uris], ['open']]);
      const { result = {} } = await ask('tools/call', { name: 'open' });
      expect([way, textOf(result), ran.splice(0)]).toEqual([way, 'ran', ['open']]);
      if (!client.stateless) continue;
      const all = [...Object.keys(DENIALS), 'open'].map((name) => `${name}://a`);
      expect(await listen(client, { resourceSubscriptions: all })).toEqual({
        resourceSubscriptions: ['open://a'],
      });
    }
    expect(ways.flatMap(({ client }) => client.texts).join('')).not.toContain('secret');
  });

  inStateless('TOOL-27', 'is asked in every round of a request', async () => {
    let isOpen = true;
    const ran: string[] = [];
    const confirm = async (context: Context) => {
      ran.push(String(await context.confirm('Sure?')));
      return 'done';
    };
    const server = serverOf({ providers: [membersOf(confirm, { access: () => isOpen })] });
    for (const transport of RAW_TRANSPORTS) {
      const options = { revision: STATELESS, capabilities: { elicitation: {} } } as const;
      const client = await RawClient.connect(server, options, transport);
      for (const [method, params] of ASKING) {
        isOpen = true;
        const { result: asked = {} } = await client.request(method, params);
        const inputResponses = { '#1': { action: 'accept', content: {} } };
        const retry = { ...params, requestState: asked['requestState'], inputResponses };
        isOpen = false;
        for (const later of [retry, { ...params, inputResponses }, params]) {
          expect(await client.error(method, later)).toMatchObject({ code: -32602 });
        }
        expect(ran.splice(0)).toEqual([]);
        isOpen = true;
        expect(await client.request(method, retry)).toMatchObject({ result: { resultType: 'complete' } });
        expect(ran.splice(0)).toEqual(['true']);
      }
    }
  });

  eachRevision('RES-13', 'is asked for each listed resource, even if an open template lists it', async (revision) => {
    const all = ['docs://menu', 'docs://salaries', 'docs://staff/Grace', 'docs://manual'];
    const access: Access = (principal) => principal?.subject === 'ada';
    class Office {
      @Resource('docs://menu')
      menu() {
        return 'soup';
      }

      @Resource('docs://salaries', { access })
      salaries() {
        return 'a lot';
      }

      @Resource('docs://staff/{at}', { access, input: ANY })
      staff() {
        return 'staff';
      }

      @Resource('docs://{+at}', { list: 'list', input: ANY })
      page() {
        return 'a page';
      }

      list() {
        return all;
      }
    }
    for (const transport of RAW_TRANSPORTS) {
      const server = serverOf({ providers: [Office] });
      for (const [caller, uris] of [
        [{ principal: ADA }, all],
        [{ principal: BOB }, ['docs://menu', 'docs://manual']],
        [{}, ['docs://menu', 'docs://manual']],
      ] as const) {
        const pages = await pagesOf(
          await RawClient.connect(server, { revision, ...caller }, transport),
          'resources/list',
        );
        const listed = pages.flatMap(({ resources }) => (resources as { uri: string }[]).map(({ uri }) => uri));
        expect(new Set(listed)).toEqual(new Set(uris));
      }
    }
  });
});

describe('a limit', () => {
  eachRevision(['TOOL-28', 'COMP-06', 'COMP-07'], 'counts each call, and runs nothing beyond it', async (revision) => {
    let runs = 0;
    const ways = await waysOf(revision, ({ options, guard }) => {
      const limit = rateLimit(new RateLimiterMemory({ points: 3, duration: 60 }));
      class Counted {
        @Tool({ input: ANY, ...guard })
        now() {
          return (runs += 1);
        }

        @Tool({ input: ANY, ...guard })
        async later() {
          return await Promise.resolve((runs += 1));
        }

        @Prompt({ input: ANY, ...guard })
        prompt() {
          return String((runs += 1));
        }

        @Completion({ for: 'prompt', argument: 'at' })
        ats() {
          return [String((runs += 1))];
        }
      }
      return serverOf({ providers: [Counted], ...options, interceptors: [...(options.interceptors ?? []), limit] });
    });
    const ref = { type: 'ref/prompt', name: 'prompt' };
    const argument = { name: 'at', value: '' };
    const said = expect.stringMatching(/^Too many calls\. Try again in \d+ s\.$/);
    for (const { name: way, ask } of ways) {
      runs = 0;
      for (const name of ['now', 'later', 'now', 'later', 'now', 'unknown']) await ask('tools/call', { name });
      const { result } = await ask('tools/call', { name: 'later' });
      expect([way, runs, result]).toMatchObject([way, 3, { isError: true, content: [{ text: said }] }]);
      for (const [method, params] of [
        ['prompts/get', { name: 'prompt', arguments: {} }],
        ['completion/complete', { ref, argument }],
      ] as const) {
        const { error } = await ask(method, params);
        expect([way, method, runs, error?.message]).toEqual([way, method, 3, said]);
      }
    }
  });
});

describe('sanitized output', () => {
  eachRevision('TOOL-29', 'contains neither, however a call arrives', async (revision) => {
    const dirty = '\u001B[31mred\u001B[0m \u202Eleft password=hunter2 Bearer abc123.def-456==';
    const clean = 'red left password=[redacted] Bearer [redacted]';
    const returned = {
      text: dirty,
      list: [dirty, image(Buffer.from([0]), 'image/png')],
      block: embedded({ uri: 'docs://a', data: dirty }),
    };
    const ways = await waysOf(revision, ({ options, guard }) => {
      const server = serverOf({ ...options, interceptors: [...(options.interceptors ?? []), sanitize()] });
      for (const [name, value] of Object.entries(returned)) {
        server.addTool({ name, input: NoInput, ...guard }, () => value);
        server.addTool({ name: `${name}-later`, input: NoInput, ...guard }, async () => await Promise.resolve(value));
      }
      const structured = { name: 'structured', input: NoInput, output: { type: 'object' }, ...guard };
      server.addTool(structured, (async () => await Promise.resolve({ '\u001B[1mkey': [{ note: dirty }] })) as never);
      for (const [name, error] of [
        ['model', new ToolError(dirty)],
        ['protocol', new McpError(-1, dirty, { note: dirty })],
      ] as const) {
        server.addTool({ name, input: NoInput, ...guard }, async () => await Promise.reject(error));
      }
      return server;
    });
    for (const { name: way, client, ask } of ways) {
      const names = [
        ...Object.keys(returned).flatMap((name) => [name, `${name}-later`]),
        'structured',
        'model',
        'protocol',
      ];
      for (const name of names) {
        const { result, error } = await ask('tools/call', { name });
        const text = JSON.stringify(result ?? error);
        expect([way, name, text]).toEqual([way, name, expect.stringContaining(clean)]);
      }
      expect(client.texts.join('')).not.toMatch(/hunter2|abc123|\\u001b|\u202E/i);
    }
  });
});
