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

const access = () => true;

/** A member of each kind that not everybody may see, and a template that lists its resources. */
class Personal {
  @Tool({ access })
  tool() {}

  @Prompt({ access })
  prompt() {
    return '';
  }

  @Resource('notes://{id}', { access, list: 'list' })
  note(_variables: NoInput) {
    return '';
  }

  list() {
    return ['notes://1'];
  }
}

describe('pages', () => {
  eachRevision('PAGE-01', 'contain each entry of a list once', async (revision) => {
    const client = await RawClient.connect(many(100, 7), { revision });
    for (const [method, member] of LISTS) {
      const pages = await pagesOf(client, method);
      expect(pages).toHaveLength(15);
      const entries = pages.flatMap((page) => page[member] as { name: string; uri?: string }[]);
      expect(new Set(entries.map((entry) => JSON.stringify(entry))).size).toBe(100);
    }
  });

  eachRevision('PAGE-01', 'contain each entry that the caller may see once', async (revision) => {
    const restricted = (name: string, index: number) => {
      const sees = (principal?: Principal) => index % 2 === 0 || principal?.subject === 'ada';
      class Restricted {
        @Tool({ name, access: sees })
        tool() {}

        @Prompt({ name, access: sees })
        prompt() {
          return '';
        }

        @Resource(`docs://${name}`, { access: sees })
        resource() {
          return '';
        }

        @Resource(`docs://${name}/{id}`, { access: sees })
        template(_variables: NoInput) {
          return '';
        }
      }
      return Restricted;
    };
    const server = serverOf({ providers: names(9).map(restricted), pageSize: 2 });
    for (const [subject, count] of [
      ['ada', 9],
      ['bob', 5],
    ] as const) {
      const client = await RawClient.connect(server, { revision, principal: { subject } });
      for (const [method, member] of LISTS) {
        const pages = await pagesOf(client, method);
        const entries = pages.flatMap((page) => page[member] as JsonObject[]).map((entry) => JSON.stringify(entry));
        expect([method, pages.length, new Set(entries).size]).toEqual([method, Math.ceil(count / 2), count]);
      }
    }
  });

  eachRevision('PAGE-02', 'continue at the same position when entries are added and removed', async (revision) => {
    const server = many(4, 2);
    const client = await RawClient.connect(server, { revision });
    const namesOf = ({ tools }: JsonObject) => (tools as { name: string }[]).map(({ name }) => name);
    const first = await client.result('tools/list');
    server.addProvider(copies('late'));
    const second = await client.result('tools/list', { cursor: first['nextCursor'] });
    const third = await client.result('tools/list', { cursor: second['nextCursor'] });
    expect([first, second, third].map(namesOf)).toEqual([['n0', 'n1'], ['n2', 'n3'], ['late']]);
  });

  eachRevision('PAGE-02', 'neither repeat nor omit entries when others are removed', async (revision) => {
    const all = ['a', 'b', 'c', 'd', 'e', 'f'];
    for (const removed of [
      ['a'],
      ['b'],
      ['c'],
      ['f'],
      ['a', 'c'],
      ['b', 'd'],
      ['c', 'd', 'e', 'f'],
      all.slice(1),
      all,
    ]) {
      const server = serverOf({ pageSize: 2 });
      const added = new Map(all.map((name) => [name, server.addTool({ name, input: NoInput }, () => '')]));
      const client = await RawClient.connect(server, { revision });
      let { nextCursor: cursor } = await client.result('tools/list');
      for (const name of removed) added.get(name)?.remove();
      const rest: string[] = [];
      while (cursor !== undefined) {
        const page = await client.result('tools/list', { cursor });
        rest.push(...(page['tools'] as { name: string }[]).map(({ name }) => name));
        cursor = page['nextCursor'];
      }
      expect([removed, rest]).toEqual([removed, all.slice(2).filter((name) => !removed.includes(name))]);
    }
  });

  eachRevision('PAGE-03', 'accept only cursors from the server', async (revision) => {
    const client = await RawClient.connect(many(3, 2), { revision });
    const { nextCursor } = await client.result('tools/list');
    for (const [method] of LISTS) {
      for (const cursor of ['garbage', '', `${String(nextCursor)}x`, 7, null, { a: 1 }]) {
        expect(await client.error(method, { cursor })).toMatchObject({ code: -32602 });
      }
    }
    expect(await client.error('prompts/list', { cursor: nextCursor })).toMatchObject({ code: -32602 });
  });

  eachRevision('PAGE-04', 'have no cursor at the end', async (revision) => {
    for (const count of [1, 2, 3, 4]) {
      const client = await RawClient.connect(many(count, 2), { revision });
      for (const [method] of LISTS) {
        const pages = await pagesOf(client, method);
        expect(pages).toHaveLength(Math.ceil(count / 2));
        expect(pages.at(-1)).not.toHaveProperty('nextCursor');
      }
    }
  });

  inStateless('PAGE-05', 'never have an empty cursor, and reject one', async () => {
    // lists that are the same for everybody, and lists that are not
    const personal = many(4, 2);
    personal.addProvider(Personal);
    for (const server of [many(5, 2), personal]) {
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
