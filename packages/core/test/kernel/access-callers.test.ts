// What access functions are told of callers.
import { describe, expect, it } from '@jest/globals';
import { type Access, type AccessCaller, type JsonObject, NoInput, type Principal, Resource } from '@decorum/core';
import { connect, revisions } from '@decorum/testing';

import { reporting } from './serving.js';

const KEY = 'example.com/tenant';

/** An access function that admits everybody, and whom it was asked about. */
function noting() {
  const asked: AccessCaller[] = [];
  const access: Access = (_principal, _transport, caller) => asked.push(caller) > 0;
  return { asked, access };
}

describe.each(revisions)('access functions in %s', (revision) => {
  it('get the client, the revision and the `_meta` of a call, and the session id of a session', async () => {
    const { asked, access } = noting();
    const { server } = reporting();
    const seen: unknown[] = [];
    server.addTool({ name: 'tool', input: NoInput, access }, (_input, { client, sessionId, meta }) => {
      seen.push({ client, revision, sessionId, meta });
    });
    const client = await connect(server, { revision, clientInfo: { name: 'desk', version: '7' }, via: 'http' });
    await client.request('tools/call', { name: 'tool', _meta: { [KEY]: 'blue' } });
    expect(asked).toEqual(seen);
    const [caller] = asked;
    expect(caller?.client.info).toEqual({ name: 'desk', version: '7' });
    expect(caller?.meta?.[KEY]).toBe('blue');
    const isStateless = revision === revisions.at(-1);
    expect(caller?.sessionId).toEqual(isStateless ? undefined : expect.any(String));
    await server.close();
  });

  it('are told of the client when it is notified, without the `_meta` of a request of its session', async () => {
    const { asked, access } = noting();
    const { server } = reporting();
    server.addTool({ name: 'first' }, () => '');
    const client = await connect(server, { revision, clientInfo: { name: 'desk', version: '7' } });
    const isStateless = revision === revisions.at(-1);
    const meta = { [KEY]: 'blue' };
    if (isStateless) {
      const params = { notifications: { toolsListChanged: true }, _meta: meta };
      void client.request('subscriptions/listen', params).catch(() => {});
      await client.nextNotification('notifications/subscriptions/acknowledged');
    } else {
      await client.request('tools/list', { _meta: meta });
    }
    server.addTool({ name: 'second', access }, () => '');
    await client.nextNotification('notifications/tools/list_changed');
    expect(asked).toEqual([
      expect.objectContaining({ client: expect.objectContaining({ info: { name: 'desk', version: '7' } }), revision }),
    ]);
    expect(asked[0]?.meta?.[KEY]).toBe(isStateless ? 'blue' : undefined);
    await server.close();
  });
});

it('access of a class of members and of a member must both admit, and each is asked once per request', async () => {
  const asked: string[] = [];
  const staff: Access = (principal) => asked.push('staff') > 0 && principal !== undefined;
  const desk: Access = (_principal, _transport, { client }) => asked.push('desk') > 0 && client.info?.name === 'desk';
  const { server } = reporting();
  const records = ['a', 'b'].map((key) => ({ kind: 'tool', key, options: { input: NoInput, access: desk } }) as const);
  server.addMembers(records, { a: () => 'a', b: () => 'b' }, { access: staff, separator: '.', prefix: 'x' });
  server.addTool({ name: 'c', access: desk }, () => 'c');
  const namesFor = async (name: string, principal?: Principal) => {
    const client = await connect(server, { clientInfo: { name, version: '1' }, ...(principal && { principal }) });
    asked.length = 0;
    const names = (await client.listTools()).map((tool) => tool.name);
    expect(asked.toSorted()).toEqual(['desk', 'staff']);
    return { names, client };
  };
  const ada = { subject: 'ada' };
  const { client, names } = await namesFor('desk', ada);
  expect(names).toEqual(['x.a', 'x.b', 'c']);
  expect((await client.callTool('x.a')).content).toEqual([{ type: 'text', text: 'a' }]);
  const others = [await namesFor('phone', ada), await namesFor('desk')];
  expect(others.map((each) => each.names)).toEqual([[], ['c']]);
  for (const { client: other } of others) await expect(other.callTool('x.a')).rejects.toThrow('Unknown tool: x.a');
});

it('a resource of a restricted source may not be cached by everybody', () => {
  class Notes {
    @Resource('notes://all', { cache: { ttlMs: 1, scope: 'public' } }) all() {}
  }
  const options: JsonObject = { uri: 'notes://all', cache: { ttlMs: 1, scope: 'public' } };
  const { server } = reporting({ providers: [Notes] });
  const record = { kind: 'resource', key: 'all', options: options as { uri: string } } as const;
  expect(() => server.addMembers([record], { all: () => '' }, { access: () => true, prefix: 'x' })).toThrow(
    'restricts who may read it',
  );
});
