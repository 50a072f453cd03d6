// Cache hints in results.
import { describe, expect } from '@jest/globals';
import {
  type CacheHint,
  type Context,
  type JsonObject,
  type McpServerOptions,
  NoInput,
  type Principal,
  Prompt,
  Resource,
  type ResourceListing,
  Tool,
} from '@decorum/core';

import { overHttp } from '../support/http-transports.js';
import { RawClient, type RawOptions } from '../support/raw-client.js';
import { eachSessionRevision, inStateless, STATELESS } from '../support/requirements.js';
import { copies, LISTS, names, pagesOf } from './lists.js';
import { serverOf } from './servers.js';

class Everything {
  @Tool()
  tool() {
    return 'tool';
  }

  @Prompt()
  prompt() {
    return 'prompt';
  }

  @Resource('docs://plain')
  plain() {
    return 'plain';
  }

  @Resource('docs://kept', { cache: { ttlMs: 60_000, scope: 'public' } })
  kept() {
    return 'kept';
  }

  @Resource('docs://pages/{name}', { cache: { ttlMs: 5000, scope: 'private' } })
  page(_variables: NoInput) {
    return 'page';
  }
}

/** The requests with cacheable results: method and params. */
const KEPT: readonly (readonly [method: string, params?: JsonObject])[] = [
  ['server/discover'],
  ['tools/list'],
  ['prompts/list'],
  ['resources/list'],
  ['resources/templates/list'],
  ['resources/read', { uri: 'docs://plain' }],
  ['resources/read', { uri: 'docs://kept' }],
  ['resources/read', { uri: 'docs://pages/a' }],
];

const open = (options: Partial<McpServerOptions> = {}, more: Partial<RawOptions> = {}) =>
  RawClient.connect(serverOf({ providers: [Everything], ...options }), { revision: STATELESS, ...more });

const hintOf = ({ ttlMs, cacheScope }: JsonObject) => [ttlMs, cacheScope];

async function hintsOf(client: RawClient): Promise<unknown[]> {
  const results: JsonObject[] = [];
  for (const [method, params] of KEPT) results.push(await client.result(method, params));
  return results.map(hintOf);
}

/** Creates a server with one resource with this cache hint. */
function withResource(uri: string, cache: unknown) {
  class Wrong {
    @Resource(uri, { cache: cache as CacheHint })
    read(_variables: NoInput) {
      return '';
    }
  }
  return serverOf({ providers: [Wrong] });
}

describe('results', () => {
  inStateless('CACHE-01', 'that are cacheable have a duration and a scope', async () => {
    const client = await open({ cache: { ttlMs: 1000, scope: 'public' } });
    const ofServer = [1000, 'public'];
    const ofResources = [
      [0, 'private'],
      [60_000, 'public'],
      [5000, 'private'],
    ];
    expect(await hintsOf(client)).toEqual([...Array.from({ length: 5 }, () => ofServer), ...ofResources]);
    const others = [await client.call('tool'), await client.result('prompts/get', { name: 'prompt' })];
    for (const result of others) {
      expect(result).not.toHaveProperty('ttlMs');
      expect(result).not.toHaveProperty('cacheScope');
    }
  });

  inStateless('CACHE-01', 'that depend on the caller have them too', async () => {
    const access = () => true;
    class Restricted {
      @Tool({ access })
      tool() {}

      @Prompt({ access })
      prompt() {
        return '';
      }

      @Resource('docs://one', { access })
      one() {
        return '';
      }

      @Resource('docs://{id}', { access, list: 'list' })
      template(_variables: NoInput) {
        return '';
      }

      list() {
        return ['docs://1'];
      }
    }
    for (const scope of ['public', 'private'] as const) {
      const client = await open({ providers: [Restricted], cache: { ttlMs: 1000, scope } });
      for (const [method] of LISTS) {
        expect([method, hintOf(await client.result(method))]).toEqual([method, [1000, 'private']]);
      }
      for (const uri of ['docs://one', 'docs://1']) {
        expect(hintOf(await client.result('resources/read', { uri }))).toEqual([0, 'private']);
      }
    }
  });

  inStateless('CACHE-02', 'have a duration in whole milliseconds, and other values are rejected', async () => {
    for (const ttlMs of [0, 1, Number.MAX_SAFE_INTEGER]) {
      const results = await hintsOf(await open({ cache: { ttlMs, scope: 'private' } }));
      expect(results.slice(0, 5)).toEqual(Array.from({ length: 5 }, () => [ttlMs, 'private']));
    }
    for (const ttlMs of [-1, 0.5, Number.NaN, Infinity, '1', null, undefined]) {
      const cache = { ttlMs, scope: 'public' } as CacheHint;
      expect(() => serverOf({ cache })).toThrow('DECORUM_INVALID_OPTION');
      for (const uri of ['docs://a', 'docs://{name}']) {
        expect(() => withResource(uri, cache)).toThrow('DECORUM_INVALID_OPTION');
      }
    }
  });

  inStateless('CACHE-03', 'have a public or private scope, and other values are rejected', async () => {
    for (const scope of ['public', 'private'] as const) {
      for (const [, said] of (await hintsOf(await open({ cache: { ttlMs: 1, scope } }))) as [unknown, unknown][]) {
        expect(['public', 'private']).toContain(said);
      }
    }
    for (const scope of ['shared', 'Public', '', null, undefined]) {
      const cache = { ttlMs: 1, scope } as CacheHint;
      expect(() => serverOf({ cache })).toThrow('DECORUM_INVALID_OPTION');
      for (const uri of ['docs://a', 'docs://{name}']) {
        expect(() => withResource(uri, cache)).toThrow('DECORUM_INVALID_OPTION');
      }
    }
  });

  class Enumerating {
    @Resource('notes://{id}', { list: 'list' })
    note(_variables: NoInput) {
      return '';
    }

    list(): ResourceListing[] {
      return names(5).map((id) => ({ variables: { id } }));
    }
  }

  inStateless('CACHE-04', 'have the same scope on all pages of a list', async () => {
    for (const scope of ['public', 'private'] as const) {
      for (const providers of [names(7).map(copies), [...names(3).map(copies), Enumerating]]) {
        const client = await open({ providers, pageSize: 2, cache: { ttlMs: 1, scope } });
        for (const [method] of LISTS) {
          const scopes = (await pagesOf(client, method)).map(({ cacheScope }) => cacheScope);
          expect(scopes.length).toBeGreaterThan(1);
          expect(new Set(scopes).size).toBe(1);
        }
      }
    }
  });

  inStateless('CACHE-04', 'have the same scope on all pages, even if only one depends on the caller', async () => {
    const access = (principal?: Principal) => principal?.subject === 'ada';
    class Restricted {
      @Tool({ access })
      tool() {}

      @Prompt({ access })
      prompt() {
        return '';
      }

      @Resource('docs://restricted', { access })
      resource() {
        return '';
      }

      @Resource('docs://restricted/{id}', { access })
      template(_variables: NoInput) {
        return '';
      }
    }
    const providers = [...names(5).map(copies), Restricted];
    for (const scope of ['public', 'private'] as const) {
      for (const [subject, count] of [
        ['ada', 6],
        ['bob', 5],
      ] as const) {
        const options = { providers, pageSize: 1, cache: { ttlMs: 1, scope } };
        const client = await open(options, { principal: { subject } });
        for (const [method] of LISTS) {
          const scopes = (await pagesOf(client, method)).map(({ cacheScope }) => cacheScope);
          expect([subject, method, scopes]).toEqual([subject, method, Array.from({ length: count }, () => 'private')]);
        }
      }
    }
  });

  inStateless('CACHE-07', 'that depend on answers are not cacheable', async () => {
    class Asking {
      @Resource('docs://asking', { cache: { ttlMs: 60_000, scope: 'public' } })
      async asking(_input: NoInput, context: Context) {
        return (await context.confirm('Really?')) ? 'yes' : 'no';
      }
    }
    const server = serverOf({ providers: [Asking, Everything], cache: { ttlMs: 1000, scope: 'public' } });
    const capabilities = { elicitation: {} };
    for (const transport of [undefined, overHttp]) {
      const client = await RawClient.connect(server, { revision: STATELESS, capabilities }, transport);
      const { result: asked = {} } = await client.request('resources/read', { uri: 'docs://asking' });
      expect(asked).toMatchObject({ resultType: 'input_required' });
      for (const field of ['ttlMs', 'cacheScope']) expect(asked).not.toHaveProperty(field);
      const inputResponses = Object.fromEntries(
        Object.keys(asked['inputRequests'] as object).map((key) => [key, ACCEPTED]),
      );
      const retry = { uri: 'docs://asking', inputResponses, requestState: asked['requestState'] };
      const answered = await client.result('resources/read', retry);
      expect(answered).toMatchObject({ contents: [{ text: 'yes' }], ttlMs: 0, cacheScope: 'private' });
      // unsolicited answers count too
      for (const uri of ['docs://kept', 'docs://pages/a']) {
        const unasked = await client.result('resources/read', { uri, inputResponses: { x: ACCEPTED } });
        expect(hintOf(unasked)).toEqual([0, 'private']);
      }
      expect(hintOf(await client.result('resources/read', { uri: 'docs://kept' }))).toEqual([60_000, 'public']);
    }
  });

  inStateless('CACHE-07', 'that continue with only a state or only answers are not cacheable', async () => {
    let asks = true;
    class Changing {
      @Resource('docs://asking', { cache: { ttlMs: 60_000, scope: 'public' } })
      async asking(_input: NoInput, context: Context) {
        return asks ? String(await context.confirm('Really?')) : 'no question any more';
      }
    }
    const client = await open({ providers: [Changing] }, { capabilities: { elicitation: {} } });
    const read = (more: JsonObject = {}) => client.result('resources/read', { uri: 'docs://asking', ...more });
    const { requestState } = (await client.request('resources/read', { uri: 'docs://asking' })).result as JsonObject;
    asks = false;
    expect(hintOf(await read())).toEqual([60_000, 'public']);
    const inputResponses = { '#1': ACCEPTED };
    for (const more of [
      { requestState },
      { inputResponses },
      { requestState, inputResponses },
      { inputResponses: {} },
    ]) {
      expect([more, hintOf(await read(more))]).toEqual([more, [0, 'private']]);
    }
  });

  eachSessionRevision('CACHE-08', 'have no cache hints in sessions', async (revision) => {
    const client = await RawClient.connect(
      serverOf({ providers: [Everything], cache: { ttlMs: 1000, scope: 'public' } }),
      { revision },
    );
    for (const [method, params] of KEPT.slice(1)) {
      const result = await client.result(method, params);
      for (const field of ['ttlMs', 'cacheScope']) expect(result).not.toHaveProperty(field);
    }
  });

  inStateless('CACHE-09', 'are not cacheable by default', async () => {
    class Plain extends Everything {
      @Resource('docs://kept')
      override kept() {
        return '';
      }
    }
    const client = await open({ providers: [Plain] });
    for (const hint of (await hintsOf(client)).slice(0, 6)) expect(hint).toEqual([0, 'private']);
  });
});

const ACCEPTED = { action: 'accept', content: { confirmed: true } };
