// Cursors and cache hints of every kind of list: the same for all, restricted, and read from a method.
import { describe, expect } from '@jest/globals';
import {
  type CacheHint,
  type Context,
  type JsonObject,
  type McpServer,
  type McpServerOptions,
  NoInput,
  type Principal,
  Prompt,
  Resource,
  Tool,
} from '@decorum/core';
import { IsString } from 'class-validator';

import { overHttp, transportsOf } from '../support/http-transports.js';
import { overMemory, RawClient } from '../support/raw-client.js';
import { eachRevision, inStateless, STATELESS } from '../support/requirements.js';
import { copies, LISTS, many, names, pagesOf } from './lists.js';
import { serverOf } from './servers.js';

type Listed = Partial<McpServerOptions>;

const isUser = (principal?: Principal) => principal !== undefined;

/** A server whose lists have members that only users see, and asynchronously so. */
function restricted(count: number, options: Listed = {}): McpServer {
  const access = async (principal?: Principal) => await Promise.resolve(isUser(principal));
  const providers = names(count).map((name) => {
    class Restricted {
      @Tool({ name, access })
      tool() {}

      @Prompt({ name, access })
      prompt() {
        return '';
      }

      @Resource(`docs://${name}`, { access })
      resource() {
        return '';
      }

      @Resource(`docs://${name}/{id}`, { access })
      template(_variables: NoInput) {
        return '';
      }
    }
    return Restricted;
  });
  return serverOf({ providers, pageSize: 2, ...options });
}

/** A server whose resources are listed by a method, and the entries that it lists. */
function enumerated(count: number, options: Listed = {}) {
  const entries = names(count);
  class Enumerating {
    @Resource('notes://{id}', { list: 'all' })
    note(_variables: NoInput) {
      return '';
    }

    async all() {
      return entries.map((id) => `notes://${id}`);
    }
  }
  return { entries, server: serverOf({ providers: [Enumerating], pageSize: 2, ...options }) };
}

class Id {
  @IsString()
  id!: string;
}

const ADA = { subject: 'ada' };

type Entry = { readonly name: string; readonly uri?: string; readonly uriTemplate?: string };

/** What tells the entries of a page apart. */
const namesOf = (page: JsonObject, member: string) =>
  (page[member] as Entry[]).map(({ name, uri, uriTemplate }) => uri ?? uriTemplate ?? name);

describe('a cursor', () => {
  eachRevision('PAGE-02', 'is stable in each list while entries are added and removed', async (revision) => {
    const lists = [many(4, 2), restricted(4)];
    for (const server of lists) {
      const client = await RawClient.connect(server, { revision, principal: ADA });
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
      const client = await RawClient.connect(server, { revision, principal: ADA }, transport);
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

describe('a list', () => {
  const HINTS: readonly CacheHint[] = [
    { ttlMs: 0, scope: 'public' },
    { ttlMs: 1500, scope: 'public' },
    { ttlMs: 7, scope: 'private' },
  ];

  for (const id of ['CACHE-01', 'CACHE-02', 'CACHE-04']) {
    inStateless(id, 'has the same cache hint on every page, however the list is made', async () => {
      for (const cache of HINTS) {
        const { ttlMs, scope } = cache;
        for (const [server, expected, count] of [
          [many(5, 2, { cache }), scope, 3],
          [restricted(5, { cache }), 'private', 3],
          [enumerated(5, { cache }).server, 'private', 3],
        ] as const) {
          const client = await RawClient.connect(server, { revision: STATELESS, principal: ADA });
          const pages = await pagesOf(client, 'resources/list');
          const hints = pages.map((page) => [page['ttlMs'], page['cacheScope']]);
          expect(hints).toEqual(Array.from({ length: count }, () => [ttlMs, expected]));
        }
      }
    });
  }

  inStateless('CACHE-05', 'is private if it shows only what the caller may use', async () => {
    class Files {
      @Tool({ scopes: ['files:read'] })
      read() {}

      @Tool()
      help() {}

      @Prompt({ scopes: ['files:read'] })
      summary() {
        return '';
      }

      @Resource('files://{id}', { scopes: ['files:read'] })
      file(_variables: NoInput) {
        return '';
      }

      @Resource('files://all', { scopes: ['files:read'] })
      files() {
        return '';
      }
    }
    const cache: CacheHint = { ttlMs: 1000, scope: 'public' };
    for (const listing of ['usable', 'all'] as const) {
      for (const scopes of [['files:read'], []]) {
        const server = serverOf({ providers: [Files], cache, listing });
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
          expect([method, namesOf(result, member).length > (member === 'tools' ? 1 : 0)]).toEqual([method, !hidden]);
        }
      }
    }
    class Shared {
      @Resource('files://shared', { cache })
      shared() {
        return '';
      }
    }
    expect(() => serverOf({ providers: [{ provider: Shared, scopes: ['files:read'] }] })).toThrow('cache.scope');
  });

  inStateless(
    'CACHE-07',
    'and a resource of a template are not cached while the client is asked, nor after',
    async () => {
      const cache: CacheHint = { ttlMs: 1000, scope: 'public' };
      class Asking {
        @Resource('docs://{id}', { cache })
        async doc({ id }: Id, context: Context) {
          await context.confirm('One?');
          return `${String(id)} ${String(await context.confirm('Two?'))}`;
        }
      }
      for (const transport of Object.values(transportsOf(STATELESS))) {
        const capabilities = { elicitation: {} };
        const server = serverOf({ providers: [Asking], cache });
        const client = await RawClient.connect(server, { revision: STATELESS, capabilities }, transport);
        let given: JsonObject = {};
        for (let round = 1; round <= 3; round += 1) {
          const { result = {} } = await client.request('resources/read', { uri: 'docs://a', ...given });
          const hint = [result['resultType'], result['ttlMs'], result['cacheScope']];
          expect(hint).toEqual(round < 3 ? ['input_required', undefined, undefined] : ['complete', 0, 'private']);
          const keys = Object.keys((result['inputRequests'] as object | undefined) ?? {});
          const inputResponses = Object.fromEntries(keys.map((key) => [key, { action: 'accept', content: {} }]));
          given = { inputResponses, requestState: result['requestState'] };
        }
      }
    },
  );
});
