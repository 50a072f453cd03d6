// Safeguards: masked failures, limits of messages, who the caller is, and everything at once.
import { describe, expect } from '@jest/globals';
import {
  type Access,
  Completion,
  type JsonObject,
  type Principal,
  Prompt,
  rateLimit,
  Resource,
  sanitize,
  TicketError,
  Tool,
} from '@decorum/core';
import { IsInt, IsString, Matches, Max } from 'class-validator';
import { RateLimiterMemory } from 'rate-limiter-flexible';

import { overHttp, transportsOf } from '../support/http-transports.js';
import { overStdio, RawClient, textOf } from '../support/raw-client.js';
import { eachRevision, STATELESS } from '../support/requirements.js';
import { membersOf, RUNNING } from './members.js';
import { Log, serverOf, serverWith } from './servers.js';

describe('whatever a member throws', () => {
  const SECRET = /hunter2|10\.0\.0\.1|\bat .+:\d+|\.[jt]s\b/;
  const THROWN: readonly (() => unknown)[] = [
    () => new Error('hunter2'),
    () => Object.assign(new TypeError('hunter2'), { code: 'hunter2', status: 500 }),
    () => Object.assign(new Error('', { cause: new Error('hunter2') }), { name: 'hunter2', data: 'hunter2' }),
    () => new AggregateError([new Error('hunter2')], 'at 10.0.0.1'),
    () => 'hunter2',
    () => ({ message: 'hunter2', code: -32602, expose: 'yes' }),
    () => undefined,
  ];

  eachRevision('SEC-15', 'is masked, and the operator is told all of it', async (revision) => {
    let thrown: unknown;
    let isLate = false;
    const fail = () => {
      const rejected = Promise.reject(thrown);
      if (isLate) return rejected;
      rejected.catch(() => {});
      throw thrown;
    };
    const log = new Log();
    const client = await RawClient.connect(serverOf({ providers: [membersOf(fail)], logger: log }), { revision });
    for (const make of THROWN) {
      for (isLate of [false, true]) {
        thrown = make();
        for (const [method, params] of RUNNING) {
          const text = JSON.stringify(await client.request(method, params));
          expect([method, text]).toEqual([method, expect.stringContaining('reference')]);
          expect(text).not.toMatch(SECRET);
          const [, reference] = /reference (\w+)/.exec(text) ?? [];
          const { details } = log.entries.at(-1) as { details: { reference: string; err: unknown } };
          expect(reference).toContain(details.reference);
          if (thrown instanceof Error) expect(details.err).toBe(thrown);
        }
      }
    }
  });
});

/** The text of a call. Replaces "@" with JSON that JSON.stringify can't produce. */
const written = (client: RawClient, id: number, { params, json }: { params: JsonObject; json: string }) =>
  JSON.stringify(client.buildMessage(id, 'tools/call', { name: 'take', ...params })).replace('"@"', () => json);

describe('limits', () => {
  eachRevision('SEC-16', 'exist for the size and depth of messages, and are exact', async (revision) => {
    const server = serverWith({ take: (_context, _input) => 'taken' }, { limits: { maxDepth: 20 } });
    const pipe = await RawClient.connect(server, { revision }, overStdio);
    await pipe.send(`{"jsonrpc":"2.0","method":"${'x'.repeat(5 * 1024 * 1024)}"}`);
    await pipe.find(({ error }) => error?.code === -32600);
    await pipe.settled();
    const client = await RawClient.connect(server, { revision });
    const before = client.received.length;
    await client.send(Array.from({ length: 1000 }, (_item, id) => client.buildMessage(id, 'completion/complete')));
    expect(client.received.at(-1)).toMatchObject({ error: { code: -32600 } });
    expect(client.received.length).toBe(before + 1);
    // arrays and objects count alike
    const wrap = { list: (inner: string) => `[${inner}]`, object: (inner: string) => `{"a":${inner}}` };
    const kinds = [['list'], ['object'], ['list', 'object'], ['object', 'list', 'list']] as const;
    for (const [index, kind] of kinds.entries()) {
      // three levels are those of the message, its params and the arguments
      for (const [levels, taken] of [
        [17, true],
        [18, false],
        [5000, false],
      ] as const) {
        let json = '1';
        for (let level = 0; level < levels; level += 1) json = wrap[kind[level % kind.length] ?? 'list'](json);
        const id = 10_000 * (index + 1) + levels;
        await client.send(written(client, id, { params: { arguments: { deep: '@' } }, json }));
        expect([kind, levels, 'result' in (await client.response(id))]).toEqual([kind, levels, taken]);
      }
    }
  });
});

describe('a member called __proto__', () => {
  eachRevision('SEC-17', 'has no effect anywhere', async (revision) => {
    const seen: unknown[] = [];
    const server = serverWith({ take: (context, input) => void seen.push(input, context.meta) });
    const client = await RawClient.connect(server, { revision });
    const evil = '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}';
    const meta = client.stateless ? { 'example.com/x': '@' } : '@';
    const lists = [['@'], [{}, '@'], [[1], [{}, ['@']]], [1, { a: [null, { b: '@' }] }]];
    const places = [{ arguments: '@' }, { _meta: meta }, { x: '@' }, ...lists.map((a) => ({ arguments: { a } }))];
    for (const [id, params] of places.entries()) {
      await client.send(written(client, id, { params, json: evil }));
      expect([params, (await client.response(id)).error]).toMatchObject([params, { code: -32600 }]);
    }
    for (const [id, value] of ['{"polluted":true}', 'null', '1', '"x"', '[]'].entries()) {
      await client.send(`{"jsonrpc":"2.0","id":"top${id}","method":"ping","__proto__":${value}}`);
      expect((await client.response(`top${id}`)).error).toMatchObject({ code: -32600 });
      await client.send(
        written(client, 100 + id, { params: { arguments: '@' as never }, json: `{"__proto__":${value}}` }),
      );
      expect((await client.response(100 + id)).error).toMatchObject({ code: -32600 });
    }
    expect(seen).toEqual([]);
    await client.call('take', { constructor: { prototype: { polluted: true } } });
    expect(({} as JsonObject)['polluted']).toBeUndefined();
    for (const value of seen) expect((value as JsonObject | undefined)?.['polluted']).toBeUndefined();
  });
});

describe('the caller', () => {
  eachRevision(
    ['ELIC-22', 'AUTHRS-21', 'STDIO-12'],
    'is determined by the transport, as are owners of tickets',
    async (revision) => {
      const whole = {
        issuer: 'https://id.example',
        clientId: 'editor',
        kind: 'user',
        scopes: ['a'],
        expiresAt: 4_102_444_800_000,
      } as const;
      // the older revisions have no tickets
      const asks = revision >= '2025-11-25';
      const claims = { subject: 'eve', user: 'eve', clientId: 'eve', principal: { subject: 'eve' } };
      for (const [name, transport] of Object.entries(transportsOf(revision))) {
        let ticket = '';
        const url = (visit: { readonly ticket: string }) => `https://shop.example/?ticket=${(ticket = visit.ticket)}`;
        const server = serverWith({
          async who(context) {
            if (asks) await context.elicitUrl({ message: 'Pay', url });
            return JSON.stringify(context.principal ?? null);
          },
        });
        for (const principal of [undefined, { subject: 'ada' }, { subject: 'ada', ...whole }]) {
          // over HTTP, the tests know only the name of the user
          if (name.startsWith('HTTP') && principal && 'issuer' in principal) continue;
          const client = await RawClient.connect(
            server,
            {
              revision,
              ...(principal && { principal }),
              capabilities: { elicitation: { url: {} }, experimental: claims },
              answers: { 'elicitation/create': () => ({ result: { action: 'accept', content: { user: 'eve' } } }) },
            },
            transport,
          );
          for (const meta of [claims, { 'io.modelcontextprotocol/principal': claims, authorization: 'Bearer eve' }]) {
            const result = await client.result('tools/call', { name: 'who', ...claims, _meta: meta });
            expect(JSON.parse(textOf(result) ?? '')).toEqual(principal ?? null);
            if (!asks) continue;
            expect(() => server.openTicket(ticket, { subject: 'eve' })).toThrow(TicketError);
            expect(server.openTicket(ticket, principal).subject).toBe(principal?.subject);
          }
          await client.close();
        }
      }
    },
  );
});

const staff: Access = (principal) => principal?.subject === 'ada';

class Search {
  @IsString()
  text!: string;

  @IsInt()
  @Max(10)
  limit!: number;
}

class Page {
  @Matches(/^[a-z]+$/)
  page!: string;
}

class Library {
  given: unknown[] = [];

  @Tool()
  search(input: Search) {
    this.given.push({ ...input });
    return `\u001B[31m${input.text}\u001B[0m\u202E found: api_key=sk-live-1234567890abcdef1234567890`;
  }

  @Tool({ access: staff })
  burn() {
    return 'burnt';
  }

  @Resource('library://pages/{page}')
  read({ page }: Page) {
    this.given.push(page);
    return `page ${page}`;
  }

  @Resource('library://diary', { access: staff })
  diary() {
    return 'dear diary';
  }

  @Prompt()
  summarize({ page }: Page) {
    this.given.push(page);
    return `Summarize ${page}`;
  }

  @Completion({ for: 'summarize', argument: 'page' })
  pages(value: string) {
    this.given.push(value);
    return ['intro', 'index'].filter((page) => page.startsWith(value));
  }
}

describe('one server', () => {
  eachRevision('SEC-14', 'validates input, controls access, limits rates and sanitizes output', async (revision) => {
    const library = new Library();
    const limited = rateLimit(new RateLimiterMemory({ points: 2, duration: 60 }), {
      of: ({ name, ctx }) => (name === 'search' ? ctx.principal?.subject : undefined),
    });
    const server = serverOf({ providers: [library], interceptors: [sanitize(), limited] });
    const connect = (principal?: Principal) =>
      RawClient.connect(server, { revision, ...(principal && { principal }) }, overHttp);
    const [nobody, ada, eve] = [await connect(), await connect({ subject: 'ada' }), await connect({ subject: 'eve' })];
    const search = (args: JsonObject) => ['tools/call', { name: 'search', arguments: args }] as const;
    const read = (uri: string) => ['resources/read', { uri }] as const;
    const get = (args: unknown) => ['prompts/get', { name: 'summarize', arguments: args }] as const;
    const ref = { type: 'ref/prompt', name: 'summarize' };
    const complete = (params: JsonObject) => ['completion/complete', { ref, ...params }] as const;
    const notFound = revision === STATELESS ? -32602 : -32002;
    const [text, page] = ['cats', 'intro'];
    for (const [client, [method, params], code] of [
      // for the model
      [nobody, search({ text, limit: 11 }), true],
      [ada, ['tools/call', { name: 'unknown' }], -32602],
      [eve, ['tools/call', { name: 'burn' }], -32602],
      [ada, read('library://pages/Intro'), -32602],
      [ada, read('library://pages/..%2Fsecret'), notFound],
      [eve, read('library://diary'), notFound],
      [ada, get({ page: '../x' }), -32602],
      [ada, complete({ argument: { name: 'page', value: 7 } }), -32602],
    ] as const) {
      const { result, error } = await client.request(method, params);
      expect([params, error?.code ?? result?.['isError'], library.given]).toEqual([params, code, []]);
    }
    const namesOf = async (client: RawClient) =>
      ((await client.result('tools/list'))['tools'] as { name: string }[]).map(({ name }) => name);
    expect([await namesOf(ada), await namesOf(eve)]).toEqual([['search', 'burn'], ['search']]);
    expect(textOf(await ada.call('burn'))).toBe('burnt');
    for (const client of [ada, ada, eve]) {
      expect(textOf(await client.result(...search({ text, limit: 1 })))).toBe('cats found: api_key=[redacted]');
    }
    const over = await ada.result(...search({ text, limit: 1 }));
    expect([over['isError'], textOf(over)]).toEqual([true, expect.stringContaining('Too many calls')]);
    expect(await ada.result(...read('library://diary'))).toMatchObject({ contents: [{}] });
    await ada.result(...read(`library://pages/${page}`));
    await ada.result(...get({ page }));
    expect(await ada.result(...complete({ argument: { name: 'page', value: 'int' } }))).toMatchObject({
      completion: { values: ['intro'] },
    });
    const searched = { text, limit: 1 };
    expect(library.given).toEqual([searched, searched, searched, page, page, 'int']);
  });
});
