// Access control, rate limits and sanitized output, in every way that a request can take.
import { describe, expect } from '@jest/globals';
import {
  type Access,
  Completion,
  type Context,
  embedded,
  image,
  type JsonObject,
  link,
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
import { type RawTransport, overMemory, RawClient, textOf } from '../support/raw-client.js';
import { eachRevision, inStateless, STATELESS } from '../support/requirements.js';
import { pagesOf } from './lists.js';
import { bare, listen } from './neutral.js';
import { serverOf, serverWith } from './servers.js';
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

describe('access', () => {
  eachRevision(
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

  eachRevision(
    ['TOOL-05', 'TOOL-27'],
    'shows each user exactly the members that this user may use now, in their order',
    async (revision) => {
      const rights: Record<string, string[]> = {
        ada: ['z', 'both'],
        bob: ['both', '10'],
        eve: ['a'],
        nobody: [],
      };
      const server = serverOf();
      for (const name of ['z', 'both', 'a', '10']) {
        const access: Access = (principal) => rights[principal?.subject ?? '']?.includes(name) ?? false;
        server.addTool({ name, access, input: NoInput }, () => name);
      }
      const clients = new Map<string, RawClient>();
      const check = async (subject: string) => {
        const client = clients.get(subject) ?? (await RawClient.connect(server, { revision, principal: { subject } }));
        clients.set(subject, client);
        const { tools } = await client.result('tools/list');
        expect([subject, (tools as { name: string }[]).map(({ name }) => name)]).toEqual([subject, rights[subject]]);
        for (const name of ['z', 'both', 'a', '10']) {
          const { result } = await client.request('tools/call', { name });
          expect([subject, name, result !== undefined]).toEqual([subject, name, rights[subject]?.includes(name)]);
        }
      };
      // twice, because lists are kept for later callers with the same rights
      for (const subject of [...Object.keys(rights), ...Object.keys(rights).reverse()]) await check(subject);
      Object.assign(rights, { ada: ['both'], nobody: ['a'] });
      for (const subject of Object.keys(rights)) await check(subject);
    },
  );

  inStateless('TOOL-27', 'is asked in every round of a request', async () => {
    let isOpen = true;
    const ran: string[] = [];
    const access: Access = () => isOpen;
    const confirm = async (context: Context) => {
      const isConfirmed = await context.confirm('Sure?');
      ran.push(String(isConfirmed));
      return 'done';
    };
    class Asking {
      @Tool({ access })
      tool(_input: NoInput, context: Context) {
        return confirm(context);
      }

      @Prompt({ access })
      prompt(_input: NoInput, context: Context) {
        return confirm(context);
      }

      @Resource('docs://asking', { access })
      resource(_input: NoInput, context: Context) {
        return confirm(context);
      }
    }
    const server = serverOf({ providers: [Asking] });
    for (const transport of RAW_TRANSPORTS) {
      const client = await RawClient.connect(
        server,
        { revision: STATELESS, capabilities: { elicitation: {} } },
        transport,
      );
      for (const [method, params] of [
        ['tools/call', { name: 'tool' }],
        ['prompts/get', { name: 'prompt' }],
        ['resources/read', { uri: 'docs://asking' }],
      ] as const) {
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
  eachRevision(
    ['TOOL-28', 'COMP-06', 'COMP-07'],
    'counts each call, however it arrives, and runs nothing beyond',
    async (revision) => {
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
    },
  );

  eachRevision('TOOL-28', 'rejects further calls of a caller, and says when to retry', async (revision) => {
    for (const transport of RAW_TRANSPORTS) {
      let runs = 0;
      const interceptors = [rateLimit(new RateLimiterMemory({ points: 3, duration: 60 }))];
      const server = serverWith({ work: () => `done ${(runs += 1)}` }, { interceptors });
      const connect = (principal: Principal) => RawClient.connect(server, { revision, principal }, transport);
      const [ada, again, bob] = await Promise.all([ADA, ADA, BOB].map(connect));
      for (const client of [ada!, again!, ada!]) expect(await client.call('work')).not.toHaveProperty('isError');
      for (const client of [ada!, again!]) {
        const refused = await client.call('work');
        expect(refused).toMatchObject({ isError: true });
        expect(textOf(refused)).toMatch(/^Too many calls\. Try again in \d+ s\.$/);
      }
      expect(runs).toBe(3);
      expect(textOf(await bob!.call('work'))).toBe('done 4');
    }
  });

  eachRevision('TOOL-28', 'applies to anonymous callers, and rejects calls it cannot count', async (revision) => {
    let runs = 0;
    const work = () => `done ${(runs += 1)}`;
    const limited = serverWith(
      { work },
      { interceptors: [rateLimit(new RateLimiterMemory({ points: 1, duration: 60 }))] },
    );
    const client = await RawClient.connect(limited, { revision }, overHttp);
    expect(textOf(await client.call('work'))).toBe('done 1');
    expect(await client.call('work')).toMatchObject({ isError: true });
    const broken = { consume: () => Promise.reject(new Error('redis at 10.0.0.1 is down')) };
    const other = await RawClient.connect(serverWith({ work }, { interceptors: [rateLimit(broken)] }), { revision });
    expect(await other.call('work')).toMatchObject({ isError: true });
    expect(other.texts.join('')).not.toContain('10.0.0.1');
    expect(runs).toBe(1);
  });
});

const ESC = '\u001B';
/** Unsafe text and its sanitized form. */
const DIRTY = [
  [`${ESC}[31mred${ESC}[0m`, 'red'],
  [`a${ESC}]0;title\u0007b`, 'ab'],
  ['bell\u0007 null\u0000 back\b', 'bell null back'],
  ['left\u202Eright\u2066x\u2069', 'leftrightx'],
  ['zero\u200Bwidth \u{E0041}\u{E0042}tags', 'zerowidth tags'],
  ['Bearer abc123.def-456==', 'Bearer [redacted]'],
  ['password=hunter2, user=ada', 'password=[redacted], user=ada'],
  ['postgres://ada:p%40ss@db.example/x', 'postgres://[redacted]@db.example/x'],
  ['tab\tand\nline ends stay \u{1F469}\u200D\u{1F52C}', 'tab\tand\nline ends stay \u{1F469}\u200D\u{1F52C}'],
] as const;

describe('sanitized output', () => {
  eachRevision(
    'TOOL-29',
    'contains no control characters, hidden text or credentials, wherever it is',
    async (revision) => {
      const BYTES = Buffer.from([0, 27, 7]);
      const further = { text: (text: string) => text.replaceAll(/\d{16}/g, '[card]') };
      for (const [dirty, clean] of DIRTY) {
        const server = serverWith(
          {
            text: () => dirty,
            resource: () => embedded({ uri: 'docs://a', data: dirty }),
            fail() {
              throw new ToolError(dirty);
            },
            refuse() {
              throw new McpError('invalid-params', dirty);
            },
            picture: () => image(BYTES, 'image/png'),
            link: () => link('docs://a', { name: `1234567812345678 ${dirty}` }),
          },
          { interceptors: [sanitize(further)] },
        );
        const note = () => ({ deep: [`1234567812345678 ${dirty}`], apiKey: 'k-1' });
        server.addTool({ name: 'note', input: NoInput, output: { type: 'object' } }, note as never);
        const client = await RawClient.connect(server, { revision });
        expect(bare(await client.call('text'))).toEqual({ content: [{ type: 'text', text: clean }] });
        expect((await client.call('resource'))['content']).toMatchObject([{ resource: { text: clean } }]);
        expect(await client.call('fail')).toMatchObject({ isError: true, content: [{ text: clean }] });
        expect(await client.error('tools/call', { name: 'refuse' })).toMatchObject({ message: clean });
        const picture = [{ type: 'image', mimeType: 'image/png', data: BYTES.toString('base64') }];
        expect((await client.call('picture'))['content']).toEqual(picture);
        const expected = { deep: [`[card] ${clean}`], apiKey: '[redacted]' };
        const result = await client.call('note');
        expect(JSON.parse(textOf(result) as string)).toEqual(expected);
        if (revision >= '2025-06-18') expect(result).toHaveProperty('structuredContent', expected);
        const { content } = await client.call('link');
        if (revision >= '2025-06-18') expect(content).toMatchObject([{ name: `[card] ${clean}` }]);
        expect(JSON.stringify(content)).not.toMatch(/\d{16}|abc123|hunter2/);
      }
    },
  );

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
