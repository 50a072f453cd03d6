// Access control, rate limits and sanitized output.
import { describe, expect } from '@jest/globals';
import {
  type Access,
  type CacheHint,
  Completion,
  type Context,
  embedded,
  image,
  link,
  McpError,
  type McpServerOptions,
  NoInput,
  type Principal,
  Prompt,
  rateLimit,
  Resource,
  sanitize,
  Tool,
  ToolError,
} from '@decorum/core';
import { IsString } from 'class-validator';
import { RateLimiterMemory } from 'rate-limiter-flexible';

import { overHttp } from '../support/http-transports.js';
import { type RawTransport, overMemory, RawClient, textOf } from '../support/raw-client.js';
import { eachRevision, inStateless, type Revision, STATELESS } from '../support/requirements.js';
import { LISTS, pagesOf } from './lists.js';
import { bare, listen } from './neutral.js';
import { Log, serverOf, serverWith } from './servers.js';

class Named {
  @IsString()
  name!: string;
}

const ADA: Principal = { subject: 'ada' };
const BOB: Principal = { subject: 'bob' };

const onlyAda: Access = (principal) => principal?.subject === 'ada';

/** One public member and one member for Ada of each kind. */
class Office {
  readonly ran: string[] = [];

  @Tool()
  greet() {
    return 'Hello';
  }

  @Tool({ access: onlyAda })
  pay({ name }: Named) {
    this.ran.push('pay');
    return `paid ${name}`;
  }

  @Prompt()
  write() {
    return 'Dear all';
  }

  @Prompt({ access: onlyAda })
  dismiss({ name }: Named) {
    this.ran.push('dismiss');
    return `Goodbye ${name}`;
  }

  @Resource('docs://menu')
  menu() {
    return 'soup';
  }

  @Resource('docs://salaries', { access: onlyAda })
  salaries() {
    this.ran.push('salaries');
    return 'a lot';
  }

  @Resource('docs://staff/{name}', { access: onlyAda })
  staff({ name }: Named) {
    this.ran.push('staff');
    return name;
  }

  @Completion({ for: ['dismiss', 'staff'], argument: 'name' })
  names() {
    this.ran.push('names');
    return ['Grace', 'Barbara'];
  }
}

const RAW_TRANSPORTS: readonly RawTransport[] = [overMemory, overHttp];

interface Opened {
  readonly office: Office;
  readonly ada: RawClient;
  /** Clients without full access: another user and an anonymous one. */
  readonly others: readonly RawClient[];
}

async function open(
  revision: Revision,
  transport: RawTransport,
  options: Partial<McpServerOptions> = {},
): Promise<Opened> {
  const office = new Office();
  const server = serverOf({ providers: [office], ...options });
  const callers = [{ principal: ADA }, { principal: BOB }, {}];
  const opening = callers.map((caller) => RawClient.connect(server, { revision, ...caller }, transport));
  const [ada, ...others] = (await Promise.all(opening)) as [RawClient, ...RawClient[]];
  return { office, ada, others };
}

/** All list entries that a client sees. */
async function listedFor(client: RawClient): Promise<unknown[]> {
  const found: unknown[] = [];
  for (const [method, member] of LISTS) {
    for (const page of await pagesOf(client, method)) found.push(...(page[member] as { name: string }[]));
  }
  return (found as { name: string }[]).map(({ name }) => name);
}

describe('access', () => {
  eachRevision('TOOL-27', 'decides who may see a tool and who may call it', async (revision) => {
    for (const transport of RAW_TRANSPORTS) {
      const { office, ada, others } = await open(revision, transport);
      expect(await listedFor(ada)).toEqual(['greet', 'pay', 'write', 'dismiss', 'menu', 'salaries', 'staff']);
      expect(textOf(await ada.call('pay', { name: 'Grace' }))).toBe('paid Grace');
      expect(await ada.call('pay', { name: 7 })).toMatchObject({ isError: true });
      office.ran.length = 0;
      for (const other of others) {
        expect(await listedFor(other)).toEqual(['greet', 'write', 'menu']);
        expect(textOf(await other.call('greet'))).toBe('Hello');
        // access is checked before anything else
        for (const args of [{ name: 'Grace' }, { name: 7 }, undefined, []]) {
          const params = { name: 'pay', ...(args && { arguments: args }) };
          expect(await other.error('tools/call', params)).toMatchObject({ code: -32602 });
        }
      }
      expect(office.ran).toEqual([]);
    }
  });

  eachRevision('TOOL-27', 'shows each user exactly the members that this user may use', async (revision) => {
    const only =
      (...subjects: string[]): Access =>
      (principal) =>
        subjects.includes(principal?.subject ?? '');
    const server = serverOf();
    for (const [name, access] of [
      ['ada1', only('ada')],
      ['bob1', only('bob')],
      ['both', only('ada', 'bob')],
      ['eve1', only('eve')],
    ] as const) {
      server.addTool({ name, access, input: NoInput }, () => name);
    }
    const shown = { ada: ['ada1', 'both'], bob: ['bob1', 'both'], eve: ['eve1'], nobody: [] };
    // twice, because lists are kept for later callers with the same rights
    for (const [subject, names] of [...Object.entries(shown), ...Object.entries(shown).reverse()]) {
      const client = await RawClient.connect(server, { revision, principal: { subject } });
      const { tools } = await client.result('tools/list');
      expect([subject, (tools as { name: string }[]).map(({ name }) => name)]).toEqual([subject, names]);
      for (const name of ['ada1', 'bob1', 'both', 'eve1']) {
        const { result } = await client.request('tools/call', { name });
        expect([subject, name, result !== undefined]).toEqual([subject, name, (names as string[]).includes(name)]);
      }
    }
  });

  eachRevision('TOOL-27', 'is refused where it cannot be decided, and decided anew for each call', async (revision) => {
    let answer: () => unknown = () => true;
    const logger = new Log();
    const server = serverOf({ logger });
    server.addTool({ name: 'pay', access: (() => answer()) as Access, input: NoInput }, () => 'paid');
    const client = await RawClient.connect(server, { revision, principal: ADA });
    const failing = () => {
      throw new Error('the directory is down');
    };
    for (const refusal of [
      () => false,
      () => 1,
      () => 'yes',
      () => undefined,
      failing,
      () => Promise.reject(failing),
    ]) {
      answer = () => true;
      expect(textOf(await client.call('pay'))).toBe('paid');
      answer = refusal;
      expect(await client.error('tools/call', { name: 'pay' })).toMatchObject({ code: -32602 });
      expect(await client.result('tools/list')).toMatchObject({ tools: [] });
    }
    expect(logger.entries).not.toEqual([]);
    expect(client.texts.join('')).not.toContain('directory');
  });

  eachRevision('TOOL-33', 'leaves no trace of what is hidden', async (revision) => {
    const session = ['resources/subscribe', 'uri', 'docs://salaries', {}] as const;
    const probes = [
      ['tools/call', 'name', 'pay', { arguments: { name: 'Grace' } }],
      ['prompts/get', 'name', 'dismiss', { arguments: { name: 'Grace' } }],
      ['resources/read', 'uri', 'docs://salaries', {}],
      ['resources/read', 'uri', 'docs://staff/Grace', {}],
      ...(revision === STATELESS ? [] : [session]),
    ] as const;
    const unknownCode = revision === STATELESS ? -32602 : -32002;
    for (const transport of RAW_TRANSPORTS) {
      const { office, ada, others } = await open(revision, transport);
      // they exist, for those who may have them
      for (const [method, field, hidden, params] of probes) await ada.result(method, { [field]: hidden, ...params });
      const ran = office.ran.length;
      expect(ran).toBe(4);
      expect(others).toHaveLength(2);
      for (const other of others) {
        for (const [method, field, hidden, params] of probes) {
          // a name of the same length, that is not a template's either
          const unknown = hidden.replace(/^docs:\/\/...|^.../, field === 'uri' ? 'docs://xyz' : 'xyz');
          const one = await other.error(method, { [field]: hidden, ...params });
          const two = await other.error(method, { [field]: unknown, ...params });
          expect(one.code).toBe(field === 'uri' ? unknownCode : -32602);
          expect(JSON.stringify(one)).toContain(hidden);
          expect(JSON.stringify(one)).toBe(JSON.stringify(two).replaceAll(unknown, hidden));
        }
      }
      // not even a malformed request tells them apart
      for (const other of others) {
        for (const [method, hidden] of [
          ['tools/call', 'pay'],
          ['prompts/get', 'dismiss'],
        ] as const) {
          for (const malformed of [undefined, null, 7, 'x', [], {}, { name: 7 }]) {
            const answers = [hidden, 'xyz'].map(async (name) => {
              const { code, message } = await other.error(method, { name, arguments: malformed });
              return [code, message.replace(name, '')];
            });
            const [one, two] = await Promise.all(answers);
            expect([malformed, one]).toEqual([malformed, two]);
          }
        }
      }
      expect(office.ran).toHaveLength(ran);
    }
  });

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

  eachRevision('RES-13', 'is asked before a resource is read or followed', async (revision) => {
    for (const transport of RAW_TRANSPORTS) {
      const { office, ada, others } = await open(revision, transport);
      const uris = ['docs://salaries', 'docs://staff/Grace'];
      const read = async (client: RawClient, uri: string) => await client.result('resources/read', { uri });
      for (const uri of uris) expect(await read(ada, uri)).toMatchObject({ contents: [{ uri }] });
      expect(office.ran).toEqual(['salaries', 'staff']);
      for (const other of others) {
        expect(await read(other, 'docs://menu')).toMatchObject({ contents: [{ text: 'soup' }] });
        const code = revision === STATELESS ? -32602 : -32002;
        for (const uri of uris) {
          expect(await other.error('resources/read', { uri })).toMatchObject({ code, data: { uri } });
          if (!other.stateless) expect(await other.error('resources/subscribe', { uri })).toMatchObject({ code });
        }
        if (!other.stateless) continue;
        const honoured = await listen(other, { resourceSubscriptions: [...uris, 'docs://menu'] });
        expect(honoured).toEqual({ resourceSubscriptions: ['docs://menu'] });
      }
      expect(office.ran).toEqual(['salaries', 'staff']);
    }
  });

  /** Lists documents that others serve, some of them only for Ada. */
  class Catalogue {
    @Resource('docs://{+path}', { list: 'list' })
    page() {
      return 'a page';
    }

    list() {
      return ['docs://menu', 'docs://salaries', 'docs://staff/Grace', 'docs://manual'];
    }
  }

  eachRevision('RES-13', 'is asked for each listed resource, even if an open template lists it', async (revision) => {
    for (const transport of RAW_TRANSPORTS) {
      const { ada, others } = await open(revision, transport, { providers: [Office, Catalogue] });
      const urisFor = async (client: RawClient) => {
        const pages = await pagesOf(client, 'resources/list');
        return new Set(pages.flatMap(({ resources }) => (resources as { uri: string }[]).map(({ uri }) => uri)));
      };
      const all = ['docs://menu', 'docs://salaries', 'docs://staff/Grace', 'docs://manual'];
      expect(await urisFor(ada)).toEqual(new Set(all));
      for (const other of others) expect(await urisFor(other)).toEqual(new Set(['docs://menu', 'docs://manual']));
    }
  });

  eachRevision('COMP-07', 'keeps suggestions from those who may not have them', async (revision) => {
    const { office, ada, others } = await open(revision, overMemory);
    const argument = { name: 'name', value: 'G' };
    const refs = [
      { type: 'ref/prompt', name: 'dismiss' },
      { type: 'ref/resource', uri: 'docs://staff/{name}' },
      { type: 'ref/resource', uri: 'docs://staff/Grace' },
    ];
    for (const ref of refs) {
      const { completion } = await ada.result('completion/complete', { ref, argument });
      expect(completion).toEqual({ values: ['Grace', 'Barbara'] });
    }
    expect(office.ran).toHaveLength(refs.length);
    for (const other of others) {
      for (const ref of refs) {
        // the same answer as for a name that doesn't exist, apart from the name
        const unknown = JSON.parse(JSON.stringify(ref).replace(/dismiss|staff/, 'unknown')) as typeof ref;
        const [denied, missing] = [
          await other.error('completion/complete', { ref, argument }),
          await other.error('completion/complete', { ref: unknown, argument }),
        ].map((error) => JSON.stringify(error).replaceAll(/dismiss|staff|unknown/g, '…'));
        expect(denied).toBe(missing);
      }
    }
    expect(office.ran).toHaveLength(refs.length);
  });

  eachRevision('COMP-07', 'comes with limits and checks for completions too', async (revision) => {
    const interceptors = [rateLimit(new RateLimiterMemory({ points: 2, duration: 60 }))];
    const { office, ada } = await open(revision, overMemory, { interceptors });
    const ref = { type: 'ref/prompt', name: 'dismiss' };
    for (const argument of [undefined, 'G', { name: 'name' }, { name: 'name', value: 7 }, { value: 'G' }]) {
      expect(await ada.error('completion/complete', { ref, argument })).toMatchObject({ code: -32602 });
    }
    const params = { ref, argument: { name: 'name', value: 'G' } };
    for (let time = 0; time < 2; time += 1) expect(await ada.result('completion/complete', params)).toBeDefined();
    const { message } = await ada.error('completion/complete', params);
    expect(message).toContain('Too many calls');
    expect(office.ran).toHaveLength(2);
  });

  const PUBLIC: CacheHint = { ttlMs: 1000, scope: 'public' };

  inStateless('CACHE-05', 'is never left to caches: what depends on the caller is private', async () => {
    for (const transport of RAW_TRANSPORTS) {
      const { ada, others } = await open(STATELESS, transport, { cache: PUBLIC, pageSize: 1 });
      for (const client of [ada, ...others]) {
        for (const [method] of LISTS) {
          for (const page of await pagesOf(client, method)) expect(page).toMatchObject({ cacheScope: 'private' });
        }
      }
      const salaries = await ada.result('resources/read', { uri: 'docs://salaries' });
      expect(salaries).toMatchObject({ ttlMs: 0, cacheScope: 'private' });
    }
    // a method that lists resources knows its caller too
    const client = await RawClient.connect(serverOf({ providers: [Catalogue], cache: PUBLIC }), {
      revision: STATELESS,
    });
    expect(await client.result('resources/list')).toMatchObject({ cacheScope: 'private' });
    expect(await client.result('resources/templates/list')).toMatchObject({ cacheScope: 'public' });
    class Shared {
      @Resource('docs://salaries', { access: onlyAda, cache: PUBLIC })
      salaries() {
        return '';
      }
    }
    expect(() => serverOf({ providers: [Shared] })).toThrow('cache.scope');
  });

  inStateless(
    'CACHE-05',
    'does not depend on cache hints, and public results are the same for all callers',
    async () => {
      for (const scope of ['public', 'private'] as const) {
        const { ada, others } = await open(STATELESS, overMemory, { cache: { ttlMs: 1000, scope } });
        expect(await listedFor(ada)).toContain('pay');
        for (const other of others) expect(await listedFor(other)).not.toContain('pay');
      }
      const server = serverWith({ greet: () => 'Hello' }, { cache: PUBLIC });
      const texts: (string | undefined)[] = [];
      for (const principal of [ADA, BOB]) {
        const client = await RawClient.connect(server, { revision: STATELESS, principal });
        expect(await client.result('tools/list')).toMatchObject({ cacheScope: 'public' });
        texts.push(client.texts[0]);
      }
      expect(texts[1]).toBe(texts[0]);
    },
  );
});

describe('a limit', () => {
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
  eachRevision('TOOL-29', 'contains no control characters, hidden text or credentials', async (revision) => {
    const BYTES = Buffer.from([0, 27, 7]);
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
        },
        { interceptors: [sanitize()] },
      );
      const client = await RawClient.connect(server, { revision });
      expect(bare(await client.call('text'))).toEqual({ content: [{ type: 'text', text: clean }] });
      const { content } = await client.call('resource');
      expect(content).toMatchObject([{ resource: { text: clean } }]);
      const failed = await client.call('fail');
      expect(failed).toMatchObject({ isError: true, content: [{ text: clean }] });
      expect(await client.error('tools/call', { name: 'refuse' })).toMatchObject({ message: clean });
      const picture = [{ type: 'image', mimeType: 'image/png', data: BYTES.toString('base64') }];
      expect((await client.call('picture'))['content']).toEqual(picture);
    }
  });

  eachRevision('TOOL-29', 'is sanitized in structured content and links, and by custom rules', async (revision) => {
    const further = { text: (text: string) => text.replaceAll(/\d{16}/g, '[card]') };
    for (const [dirty, clean] of DIRTY) {
      const server = serverWith(
        { note: () => ({ deep: [`1234567812345678 ${dirty}`], apiKey: 'k-1' }) },
        { output: { type: 'object' }, interceptors: [sanitize(further)] },
      );
      server.addTool({ name: 'link', input: NoInput }, () => link('docs://a', { name: `1234567812345678 ${dirty}` }));
      const client = await RawClient.connect(server, { revision });
      const expected = { deep: [`[card] ${clean}`], apiKey: '[redacted]' };
      const result = await client.call('note');
      expect(JSON.parse(textOf(result) as string)).toEqual(expected);
      if (revision >= '2025-06-18') expect(result).toHaveProperty('structuredContent', expected);
      const { content } = await client.call('link');
      if (revision >= '2025-06-18') expect(content).toMatchObject([{ name: `[card] ${clean}` }]);
      expect(JSON.stringify(content)).not.toMatch(/\d{16}|abc123|hunter2/);
    }
  });
});
