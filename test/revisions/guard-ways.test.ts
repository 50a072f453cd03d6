// Access control, rate limits and sanitized output, in every way that a request can take.
import { describe, expect } from '@jest/globals';
import {
  type Access,
  Completion,
  embedded,
  image,
  type JsonObject,
  McpError,
  NoInput,
  Prompt,
  rateLimit,
  Resource,
  sanitize,
  Tool,
  ToolError,
} from '@decorum/core';
import { RateLimiterMemory } from 'rate-limiter-flexible';

import { textOf } from '../support/raw-client.js';
import { eachRevisionOf, STATELESS } from '../support/requirements.js';
import { pagesOf } from './lists.js';
import { listen } from './neutral.js';
import { serverOf } from './servers.js';
import { answersAlike, type Probe, type Setting, waysOf } from './ways.js';

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
function guarded(ran: string[]) {
  return ({ options, guard }: Setting) => {
    const server = serverOf(options);
    const membersFor = (name: string, given: { readonly access?: Access }) => {
      class Members {
        @Tool({ name, input: ANY, ...given })
        tool() {
          ran.push(name);
          return 'ran';
        }

        @Prompt({ name, input: ANY, ...given })
        prompt() {
          ran.push(name);
          return 'ran';
        }

        @Resource(`${name}://fixed`, given)
        fixed() {
          ran.push(name);
          return 'ran';
        }

        @Resource(`${name}://pages/{at}`, { input: ANY, list: 'list', ...given })
        page() {
          ran.push(name);
          return 'ran';
        }

        list() {
          ran.push(name);
          return [`${name}://pages/a`];
        }

        @Completion({ for: ['prompt', 'page'], argument: 'at' })
        ats() {
          ran.push(name);
          return ['a'];
        }
      }
      return Members;
    };
    for (const [name, access] of Object.entries(DENIALS)) server.addProvider(membersFor(name, { access }));
    server.addProvider(membersFor('open', guard));
    return server;
  };
}

describe('access, however a request arrives,', () => {
  eachRevisionOf(
    ['TOOL-27', 'TOOL-33', 'RES-13', 'PROMPT-08', 'COMP-07'],
    'is given only by an access function that returns true, and a denial looks like an unknown member',
    async (revision) => {
      const ran: string[] = [];
      const ways = await waysOf(revision, guarded(ran));
      const notFound = revision === STATELESS ? -32602 : -32002;
      const argument = { name: 'at', value: '' };
      const probes = Object.keys(DENIALS).flatMap((name): Probe[] => {
        const [fixed, page] = [`${name}://fixed`, `${name}://pages/a`];
        const unknown = (what: string) => ({ code: -32602, message: `Unknown ${what}: ${name}` });
        const missing = (uri: string) => ({ code: notFound, message: 'Resource not found', data: { uri } });
        const templates = [page, `${name}://pages/{at}`];
        const follow = (uri: string): Probe[] =>
          revision === STATELESS ? [] : [['resources/subscribe', { uri }, missing(uri)]];
        return [
          ['tools/call', { name }, unknown('tool')],
          ['tools/call', { name, arguments: 7 }, unknown('tool')],
          ['prompts/get', { name, arguments: {} }, unknown('prompt')],
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
        const uris = ['open://fixed', 'open://pages/a', 'open://pages/{at}'];
        expect([way, listed, ran.splice(0)]).toEqual([way, ['open', 'open', ...uris], ['open']]);
        const { result = {} } = await ask('tools/call', { name: 'open' });
        expect([way, textOf(result), ran.splice(0)]).toEqual([way, 'ran', ['open']]);
        if (!client.stateless) continue;
        const all = [...Object.keys(DENIALS), 'open'].map((name) => `${name}://pages/a`);
        expect(await listen(client, { resourceSubscriptions: all })).toEqual({
          resourceSubscriptions: ['open://pages/a'],
        });
      }
      expect(ways.flatMap(({ client }) => client.texts).join('')).not.toContain('secret');
    },
  );
});

describe('a limit, however a call arrives,', () => {
  eachRevisionOf(['TOOL-28', 'COMP-06', 'COMP-07'], 'counts it, and runs nothing beyond', async (revision) => {
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

describe('sanitized output, however a call arrives,', () => {
  eachRevisionOf(['TOOL-29'], 'contains neither hidden text nor credentials', async (revision) => {
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
