import { describe, expect } from '@jest/globals';
import {
  type Access,
  Completion,
  type CompletionContext,
  type JsonObject,
  type Principal,
  Prompt,
  rateLimit,
  type RateLimiter,
  Resource,
  sanitize,
  Tool,
} from '@decorum/core';
import { IsInt, IsString, Matches, Max } from 'class-validator';
import { RateLimiterMemory } from 'rate-limiter-flexible';

import { overHttp } from '../support/http-transports.js';
import { overMemory, RawClient, textOf } from '../support/raw-client.js';
import { eachRevision, inStateless, STATELESS } from '../support/requirements.js';
import { listen } from './neutral.js';
import { serverOf, serverWith } from './servers.js';

const staff: Access = (principal) => principal?.subject === 'ada';

const lateStaff: Access = async (principal, transport) => await Promise.resolve(staff(principal, transport));

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

/** A value that a handler received. */
type Given = readonly [member: string, value: unknown];

class Library {
  readonly given: Given[] = [];

  @Tool()
  search(input: Search) {
    this.given.push(['search', { ...input }]);
    return `\u001B[31m${input.text}\u001B[0m\u202E found: api_key=sk-live-1234567890abcdef1234567890`;
  }

  @Tool({ access: staff })
  burn() {
    this.given.push(['burn', undefined]);
    return 'burnt';
  }

  @Resource('library://pages/{page}')
  read({ page }: Page) {
    this.given.push(['read', page]);
    return `page ${page}`;
  }

  @Resource('library://diary', { access: staff })
  diary() {
    this.given.push(['diary', undefined]);
    return 'dear diary';
  }

  @Prompt()
  summarize({ page }: Page) {
    this.given.push(['summarize', page]);
    return `Summarize ${page}`;
  }

  @Completion({ for: 'summarize', argument: 'page' })
  pages(value: string, _context: CompletionContext) {
    this.given.push(['pages', value]);
    return ['intro', 'index'].filter((page) => page.startsWith(value));
  }
}

/** Allows two searches per caller. */
class TwoEach implements RateLimiter {
  private readonly used = new Map<string | number, number>();

  async consume(key: string | number): Promise<unknown> {
    const used = (this.used.get(key) ?? 0) + 1;
    this.used.set(key, used);
    return used <= 2 ? await Promise.resolve({}) : await Promise.reject({ msBeforeNext: 3000 });
  }
}

describe('one server', () => {
  eachRevision('SEC-14', 'validates input, controls access, limits rates and sanitizes output', async (revision) => {
    const library = new Library();
    const limited = rateLimit(new TwoEach(), {
      of: ({ name, ctx }) => (name === 'search' ? ctx.principal?.subject : undefined),
    });
    const server = serverOf({ providers: [library], interceptors: [sanitize(), limited] });
    const connect = (principal?: Principal) =>
      RawClient.connect(server, { revision, ...(principal && { principal }) }, overHttp);
    const [nobody, ada, eve] = [await connect(), await connect({ subject: 'ada' }), await connect({ subject: 'eve' })];
    /** The values that handlers received in a step. */
    const givenBy = async (step: () => Promise<unknown>) => {
      const before = library.given.length;
      await step();
      return library.given.slice(before);
    };
    const refuses = async (client: RawClient, [method, params]: readonly [string, JsonObject], code: unknown) => {
      const given = await givenBy(async () => {
        const { result, error } = await client.request(method, params);
        expect([params, error?.code ?? result?.['isError']]).toEqual([params, code]);
      });
      expect([params, given]).toEqual([params, []]);
    };
    const notFound = revision === STATELESS ? -32602 : -32002;

    // tools: input validation, access control, rate limits and sanitized output
    for (const args of [
      {},
      { text: 'a' },
      { text: 7, limit: 1 },
      { text: 'a', limit: 11 },
      { text: 'a', limit: '1' },
    ]) {
      // invalid tool arguments are errors for the model
      await refuses(nobody, ['tools/call', { name: 'search', arguments: args }], true);
    }
    await refuses(ada, ['tools/call', { name: 'unknown' }], -32602);
    await refuses(eve, ['tools/call', { name: 'burn' }], -32602);
    const namesOf = async (client: RawClient) =>
      ((await client.result('tools/list'))['tools'] as { name: string }[]).map(({ name }) => name);
    expect([await namesOf(ada), await namesOf(eve)]).toEqual([['search', 'burn'], ['search']]);
    expect(textOf(await ada.call('burn'))).toBe('burnt');
    const search = { text: 'cats', limit: 1 };
    for (let call = 1; call <= 2; call += 1) {
      expect(textOf(await ada.call('search', search))).toBe('cats found: api_key=[redacted]');
    }
    const over = await givenBy(async () => {
      expect(await ada.call('search', search)).toMatchObject({
        isError: true,
        content: [{ text: expect.stringContaining('Too many calls') }],
      });
    });
    expect(over).toEqual([]);
    expect(textOf(await eve.call('search', search))).toContain('cats');

    // resources: URI validation and access control
    for (const uri of ['library://pages/Intro', 'library://pages/a.b']) {
      await refuses(ada, ['resources/read', { uri }], -32602);
    }
    for (const uri of [
      'library://pages/',
      'library://pages/..%2Fsecret',
      'library://nothing',
      'file:///etc/passwd',
      'pages',
    ]) {
      await refuses(ada, ['resources/read', { uri }], notFound);
    }
    await refuses(eve, ['resources/read', { uri: 'library://diary' }], notFound);
    const read = () => ada.result('resources/read', { uri: 'library://pages/intro' });
    expect(await givenBy(read)).toEqual([['read', 'intro']]);
    expect(await ada.result('resources/read', { uri: 'library://diary' })).toMatchObject({ contents: [{}] });

    // prompts: argument validation
    for (const args of [{}, { page: '../x' }, { page: 7 }, 'intro', undefined]) {
      const params = { name: 'summarize', ...(args !== undefined && { arguments: args as never }) };
      await refuses(ada, ['prompts/get', params], -32602);
    }
    await refuses(ada, ['prompts/get', { name: 'unknown' }], -32602);
    const get = () => ada.result('prompts/get', { name: 'summarize', arguments: { page: 'intro' } });
    expect(await givenBy(get)).toEqual([['summarize', 'intro']]);

    // completions: reference validation
    const ref = { type: 'ref/prompt', name: 'summarize' };
    for (const params of [
      {},
      { ref },
      { ref, argument: { name: 'page' } },
      { ref, argument: { name: 'page', value: 7 } },
      { ref: { type: 'ref/prompt', name: 'unknown' }, argument: { name: 'page', value: '' } },
      { ref: { type: 'ref/other', name: 'summarize' }, argument: { name: 'page', value: '' } },
      ...['none', { arguments: 'none' }, { arguments: { other: 7 } }, { arguments: { page: null } }].map((context) => ({
        ref,
        argument: { name: 'page', value: '' },
        context,
      })),
    ]) {
      await refuses(ada, ['completion/complete', params], -32602);
    }
    const complete = async () => {
      const { completion } = await ada.result('completion/complete', {
        ref,
        argument: { name: 'page', value: 'int' },
      });
      expect(completion).toMatchObject({ values: ['intro'] });
    };
    expect(await givenBy(complete)).toEqual([['pages', 'int']]);
  });
});

describe('access', () => {
  /** Members whose access functions answer late. */
  class Vault {
    ran = 0;

    @Resource('vault://gold', { access: lateStaff })
    gold() {
      this.ran += 1;
      return 'gold';
    }

    @Resource('vault://box/{page}', {
      access: lateStaff,
    })
    box({ page }: Page) {
      this.ran += 1;
      return page;
    }

    @Completion({ for: 'box', argument: 'page' })
    boxes() {
      this.ran += 1;
      return ['red'];
    }
  }

  eachRevision('RES-13', 'is waited for, whatever the client wants to do with a resource', async (revision) => {
    for (const transport of [overMemory, overHttp]) {
      const vault = new Vault();
      const server = serverOf({ providers: [vault] });
      const ref = { type: 'ref/resource', uri: 'vault://box/{page}' };
      const complete = ['completion/complete', { ref, argument: { name: 'page', value: '' } }] as const;
      const uris = ['vault://gold', 'vault://box/red'];
      const code = revision === STATELESS ? -32602 : -32002;
      for (const caller of [{ principal: { subject: 'bob' } }, {}]) {
        const client = await RawClient.connect(server, { revision, ...caller }, transport);
        const methods = client.stateless ? ['resources/read'] : ['resources/read', 'resources/subscribe'];
        for (const method of methods) {
          for (const uri of uris)
            expect([method, await client.error(method, { uri })]).toMatchObject([method, { code }]);
        }
        expect(await client.result('resources/list')).toMatchObject({ resources: [] });
        expect(await client.result('resources/templates/list')).toMatchObject({ resourceTemplates: [] });
        expect(await client.error(...complete)).toMatchObject({ code: -32602 });
        if (client.stateless)
          expect(await listen(client, { resourceSubscriptions: uris })).toEqual({ resourceSubscriptions: [] });
      }
      expect(vault.ran).toBe(0);
      const ada = await RawClient.connect(server, { revision, principal: { subject: 'ada' } }, transport);
      for (const uri of uris) {
        expect(await ada.result('resources/read', { uri })).toMatchObject({ contents: [{ uri }] });
        if (!ada.stateless) await ada.result('resources/subscribe', { uri });
      }
      expect(await ada.result(...complete)).toMatchObject({ completion: { values: ['red'] } });
      if (ada.stateless)
        expect(await listen(ada, { resourceSubscriptions: uris })).toEqual({ resourceSubscriptions: uris });
    }
  });
});

describe('a limit', () => {
  inStateless('TOOL-28', 'counts each round of a call, even if the client repeats a round', async () => {
    let runs = 0;
    const interceptors = [rateLimit(new RateLimiterMemory({ points: 3, duration: 60 }))];
    const server = serverWith(
      {
        async remove(context) {
          const isSure = await context.confirm('Remove it?');
          runs += 1;
          return isSure ? 'removed' : 'kept';
        },
      },
      { interceptors },
    );
    const client = await RawClient.connect(
      server,
      { revision: STATELESS, capabilities: { elicitation: {} } },
      overHttp,
    );
    const params = { name: 'remove', arguments: {} };
    const { result: asked } = await client.request('tools/call', params);
    const inputResponses = { '#1': { action: 'accept', content: {} } };
    const retry = { ...params, requestState: asked?.['requestState'], inputResponses };
    for (const text of ['removed', 'removed', expect.stringMatching(/^Too many calls/)]) {
      expect(await client.request('tools/call', retry)).toMatchObject({ result: { content: [{ text }] } });
    }
    expect(runs).toBe(2);
  });
});
