// Cache hints in results.
import { describe, expect } from '@jest/globals';
import {
  type CacheHint,
  type Context,
  type JsonObject,
  type McpServerOptions,
  NoInput,
  Prompt,
  Resource,
  Tool,
} from '@decorum/core';

import { transportsOf } from '../support/http-transports.js';
import { RawClient, type RawOptions } from '../support/raw-client.js';
import { eachSessionRevision, inStateless, STATELESS } from '../support/requirements.js';
import { copies, copiesWith, enumerated, kindsOf, LISTS, many, names, namesOf, pagesOf, restricted } from './lists.js';
import { serverOf } from './servers.js';

const ACCEPTED = { action: 'accept', content: { confirmed: true } };
const ADA = { subject: 'ada' };

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
  inStateless(['CACHE-01', 'DISC-05'], 'that are cacheable have a duration and a scope', async () => {
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

  inStateless(['CACHE-02', 'CACHE-03', 'DISC-05'], 'have whole milliseconds and one of two scopes', async () => {
    for (const cache of [
      { ttlMs: 0, scope: 'private' },
      { ttlMs: 1, scope: 'public' },
      { ttlMs: Number.MAX_SAFE_INTEGER, scope: 'private' },
    ] as const) {
      const results = await hintsOf(await open({ cache }));
      expect(results.slice(0, 5)).toEqual(Array.from({ length: 5 }, () => [cache.ttlMs, cache.scope]));
    }
    const durations = [-1, 0.5, Number.NaN, Infinity, '1', null, undefined].map((ttlMs) => ({
      ttlMs,
      scope: 'public',
    }));
    const scopes = ['shared', 'Public', '', null, undefined].map((scope) => ({ ttlMs: 1, scope }));
    for (const cache of [...durations, ...scopes] as CacheHint[]) {
      expect(() => serverOf({ cache })).toThrow('DECORUM_INVALID_OPTION');
      for (const uri of ['docs://a', 'docs://{name}'])
        expect(() => withResource(uri, cache)).toThrow('DECORUM_INVALID_OPTION');
    }
  });

  inStateless(['CACHE-01', 'CACHE-02', 'CACHE-04'], 'have one hint on all pages, of any kind of list', async () => {
    for (const cache of [
      { ttlMs: 0, scope: 'public' },
      { ttlMs: 1500, scope: 'public' },
      { ttlMs: 7, scope: 'private' },
    ] as const) {
      // one page of it has an entry that not everybody sees
      const partly = [...names(4).map((name) => copies(name)), copiesWith({ access: () => true })('own')];
      for (const [server, scope, lists] of [
        [many(5, 2, { cache }), cache.scope, LISTS],
        [restricted(5, { cache }), 'private', LISTS],
        [serverOf({ providers: partly, pageSize: 2, cache }), 'private', LISTS],
        [enumerated(5, { cache }).server, 'private', LISTS.slice(2, 3)],
      ] as const) {
        const client = await RawClient.connect(server, { revision: STATELESS, principal: ADA });
        for (const [method] of lists) {
          const hints = (await pagesOf(client, method)).map(hintOf);
          expect([method, hints]).toEqual([method, Array.from({ length: 3 }, () => [cache.ttlMs, scope])]);
        }
      }
    }
  });

  inStateless(['CACHE-05', 'AUTHRS-20'], 'are private if they show what the caller may use, or public', async () => {
    const kinds = Object.values(kindsOf({ scopes: ['files:read'] }));
    const cache: CacheHint = { ttlMs: 1000, scope: 'public' };
    for (const listing of ['usable', 'all'] as const) {
      for (const scopes of [['files:read'], []]) {
        const server = serverOf({ providers: kinds, cache, listing });
        const client = await RawClient.connect(server, { revision: STATELESS, principal: { ...ADA, scopes } });
        for (const [method, member] of LISTS) {
          const result = await client.result(method);
          // with 'all', everybody gets the same list
          expect([listing, method, result]).toMatchObject([
            listing,
            method,
            { cacheScope: listing === 'all' ? 'public' : 'private' },
          ]);
          const hidden = listing === 'usable' && scopes.length === 0;
          expect([method, namesOf(result, member).length]).toEqual([method, hidden ? 0 : 1]);
        }
      }
    }
    const access = () => true;
    class Own {
      @Resource('files://own', { access })
      own() {
        return '';
      }
    }
    const owner = await open({ providers: [Own], cache }, { principal: ADA });
    expect(hintOf(await owner.result('resources/read', { uri: 'files://own' }))).toEqual([0, 'private']);
    const server = serverOf({ providers: [copies('a')], cache });
    const texts = [ADA, { subject: 'bob' }].map(async (principal) => {
      const client = await RawClient.connect(server, { revision: STATELESS, principal });
      await client.result('tools/list');
      return client.texts[0];
    });
    expect(await texts[0]).toBe(await texts[1]);
  });

  inStateless(['CACHE-07', 'MRTR-18'], 'that depend on answers are not cacheable, nor are the questions', async () => {
    const cache = { ttlMs: 60_000, scope: 'public' } as const;
    class Asking {
      @Resource('docs://{name}', { cache, input: { type: 'object', properties: { name: { type: 'string' } } } })
      async asking(_input: object, context: Context) {
        await context.confirm('One?');
        return String(await context.confirm('Two?'));
      }

      @Resource('docs://kept', { cache })
      kept() {
        return 'kept';
      }
    }
    for (const transport of Object.values(transportsOf(STATELESS))) {
      const server = serverOf({ providers: [Asking], cache });
      const client = await RawClient.connect(
        server,
        { revision: STATELESS, capabilities: { elicitation: {} } },
        transport,
      );
      let given: JsonObject = {};
      for (const hint of [
        [undefined, undefined],
        [undefined, undefined],
        [0, 'private'],
      ]) {
        const { result = {} } = await client.request('resources/read', { uri: 'docs://a', ...given });
        expect(hintOf(result)).toEqual(hint);
        const keys = Object.keys((result['inputRequests'] as object | undefined) ?? {});
        const inputResponses = Object.fromEntries(keys.map((key) => [key, ACCEPTED]));
        given = { inputResponses, requestState: result['requestState'] };
      }
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
