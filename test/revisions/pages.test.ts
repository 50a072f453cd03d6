// The pages of lists.
import { describe, expect } from '@jest/globals';
import { type CacheHint, type JsonObject, NoInput, type Principal, Prompt, Resource, Tool } from '@decorum/core';
import { fetchHandler } from '@decorum/http/fetch';

import { overHttp, statelessHeaders } from '../support/http-transports.js';
import { type Message, RawClient } from '../support/raw-client.js';
import { eachRevision, inStateless, STATELESS } from '../support/requirements.js';
import { asked } from '../support/stateless-post.js';
import { copies, LISTS, many, names, pagesOf } from './lists.js';
import { serverOf } from './servers.js';

/** One member of each kind. Everybody sees every other one, and Ada all of them. */
function restricted(name: string, index: number) {
  const access = (principal?: Principal) => index % 2 === 0 || principal?.subject === 'ada';
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

    @Resource(`docs://${name}/{id}`, { access, list: 'list' })
    template(_variables: NoInput) {
      return '';
    }

    list() {
      return [];
    }
  }
  return Restricted;
}

const namesOf = ({ tools }: JsonObject) => (tools as { name: string }[]).map(({ name }) => name);

describe('pages', () => {
  eachRevision(
    ['PAGE-01', 'PAGE-04'],
    'contain each entry that the caller may see once, and have no cursor at the end',
    async (revision) => {
      for (const size of [1, 2, 3, 4, 9]) {
        for (const [subject, count, server] of [
          ['ada', size, serverOf({ providers: names(size).map(restricted), pageSize: 2 })],
          ['bob', Math.ceil(size / 2), serverOf({ providers: names(size).map(restricted), pageSize: 2 })],
          ['bob', size, many(size, 2)],
        ] as const) {
          const client = await RawClient.connect(server, { revision, principal: { subject } });
          for (const [method, member] of LISTS) {
            const pages = await pagesOf(client, method);
            const entries = pages.flatMap((page) => page[member] as JsonObject[]).map((entry) => JSON.stringify(entry));
            expect([method, pages.length, new Set(entries).size]).toEqual([method, Math.ceil(count / 2), count]);
            expect([entries.length, 'nextCursor' in pages.at(-1)!]).toEqual([count, false]);
          }
        }
      }
    },
  );

  eachRevision('PAGE-02', 'neither repeat nor omit entries when others are added and removed', async (revision) => {
    const all = ['a', 'b', 'c', 'd', 'e', 'f'];
    for (const removed of ['', 'a', 'b', 'c', 'f', 'ac', 'bd', 'cdef', 'bcdef', 'abcdef'].map((each) => [...each])) {
      const server = serverOf({ pageSize: 2 });
      const added = new Map(all.map((name) => [name, server.addTool({ name, input: NoInput }, () => '')]));
      const client = await RawClient.connect(server, { revision });
      let { nextCursor: cursor } = await client.result('tools/list');
      server.addProvider(copies('late'));
      for (const name of removed) added.get(name)?.remove();
      const rest: string[] = [];
      while (cursor !== undefined) {
        const page = await client.result('tools/list', { cursor });
        rest.push(...namesOf(page));
        cursor = page['nextCursor'];
      }
      const kept = all.slice(2).filter((name) => !removed.includes(name));
      expect([removed, rest.filter((name) => name !== 'late')]).toEqual([removed, kept]);
      if (removed.length === 0) expect(rest.at(-1)).toBe('late');
    }
  });

  inStateless('PAGE-05', 'never have an empty cursor, and reject one', async () => {
    // lists that are the same for everybody, and lists that are not
    for (const server of [many(5, 2), serverOf({ providers: names(9).map(restricted), pageSize: 2 })]) {
      const client = await RawClient.connect(server, { revision: STATELESS });
      for (const [method] of LISTS) {
        const cursors = (await pagesOf(client, method)).map(({ nextCursor }) => nextCursor);
        expect(cursors).toEqual([expect.stringMatching(/./), expect.stringMatching(/./), undefined]);
        for (const cursor of ['', null]) expect(await client.error(method, { cursor })).toMatchObject({ code: -32602 });
      }
    }
  });

  inStateless('PAGE-06', 'may come from several servers that share only a secret', async () => {
    class Enumerating {
      @Resource('notes://{id}', { list: 'list' })
      note(_variables: NoInput) {
        return '';
      }

      list() {
        return names(3).map((id) => ({ variables: { id } }));
      }
    }
    const node = (secret: string, cache: CacheHint = { ttlMs: 1000, scope: 'public' }) =>
      serverOf({ providers: [...names(4).map(copies), Enumerating], pageSize: 2, secret, cache });
    const [ours, theirs] = ['our'.repeat(20), 'their'.repeat(20)];
    const opening = [node(ours), node(ours), node(theirs)].map((server) =>
      RawClient.connect(server, { revision: STATELESS, principal: { subject: 'ada' } }, overHttp),
    );
    const [one, other, stranger] = (await Promise.all(opening)) as [RawClient, RawClient, RawClient];
    for (const [method, member] of LISTS) {
      const whole = await pagesOf(one, method);
      const turns = [other, one];
      const pages = [await other.result(method)];
      for (let cursor = pages[0]?.['nextCursor']; cursor !== undefined; cursor = pages.at(-1)?.['nextCursor']) {
        expect(await stranger.error(method, { cursor })).toMatchObject({ code: -32602 });
        pages.push(await turns[pages.length % 2]!.result(method, { cursor }));
      }
      expect(pages.length).toBeGreaterThan(1);
      expect(pages.map((page) => page[member])).toEqual(whole.map((page) => page[member]));
      expect(new Set(pages.map(({ cacheScope }) => cacheScope)).size).toBe(1);
    }
  });

  inStateless('PAGE-06', 'continue from wherever the client asks', async () => {
    const server = many(5, 2);
    const handler = fetchHandler(server);
    const ask = async (method: string, params: JsonObject, remoteAddress?: string) => {
      const message = asked(1, method, params);
      const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
      const init = { method: 'POST', headers: { ...headers, ...statelessHeaders(message) } };
      const request = new Request('http://localhost/mcp', { ...init, body: JSON.stringify(message) });
      const { result } = (await (await handler(request, { remoteAddress })).json()) as Message;
      return result as JsonObject;
    };
    for (const [method, member] of LISTS) {
      const { nextCursor: cursor, [member]: first } = await ask(method, {}, '192.0.2.1');
      for (const address of ['192.0.2.1', '198.51.100.7', '2001:db8::1', undefined]) {
        expect([address, await ask(method, { cursor }, address)]).toMatchObject([
          address,
          { [member]: [{}, {}], nextCursor: expect.any(String) },
        ]);
      }
      expect(first).toHaveLength(2);
    }
    await handler.close();
  });
});
