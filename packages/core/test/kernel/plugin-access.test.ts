// `access` of plugins: who sees and uses which members, wherever they are served.
import {
  Completion,
  type Context,
  McpServer,
  type McpServerOptions,
  mount,
  type Principal,
  Prompt,
  Resource,
  Tool,
} from '@decorum/core';
import { definePlugin, type Plugin, type PluginCaller, type PluginMember, seesResource } from '@decorum/core/plugin';
import { connect, revisions, type TestClient } from '@decorum/testing';
import { describe, expect, it } from '@jest/globals';
import { IsString } from 'class-validator';

import { reporting, textOf } from './serving.js';

class Id {
  @IsString() id!: string;
}

class Shop {
  @Tool({ tags: ['write'], annotations: { destructiveHint: true }, aliases: ['erase'] }) drop() {
    return 'dropped';
  }
  @Tool() find() {
    return 'found';
  }
  @Prompt({ tags: ['write'] }) letter({ id }: Id) {
    return id;
  }
  @Completion({ for: ['letter', 'item'], argument: 'id' }) ids() {
    return ['7'];
  }
  @Resource('shop://secret', { tags: ['write'], cache: { ttlMs: 1000, scope: 'public' } }) secret() {
    return 'secret';
  }
  @Resource('shop://terms', { cache: { ttlMs: 1000, scope: 'public' } }) terms() {
    return 'terms';
  }
  @Resource('shop://items/{id}', { tags: ['write'], list: 'all' }) item({ id }: Id) {
    return id;
  }
  all() {
    return ['shop://items/7'];
  }
}

type Decide = NonNullable<Plugin['access']>;

const deciding = definePlugin((access: Decide, name: string = 'roles') => ({ name, access }));

const WRITERS: Decide = ({ tags }, { principal }) => !tags.includes('write') || principal?.subject === 'ann';

const shopOf = (access: Decide, options: Partial<McpServerOptions> = {}) =>
  reporting({ providers: [Shop], plugins: [deciding(access)], ...options });

const ANN: Principal = { subject: 'ann' };

/** Names and URIs on all lists. */
async function listsOf(client: TestClient): Promise<readonly string[]> {
  const lists = [
    await client.listTools(),
    await client.listPrompts(),
    await client.listResources(),
    await client.listResourceTemplates(),
  ] as readonly (readonly { name: string; uri?: string; uriTemplate?: string }[])[];
  return lists.flat().map(({ name, uri, uriTemplate }) => uri ?? uriTemplate ?? name);
}

const ALL = ['drop', 'find', 'letter', 'shop://secret', 'shop://terms', 'shop://items/7', 'shop://items/{id}'];

const matrix = revisions.flatMap((revision) =>
  (['memory', 'http'] as const).flatMap((via) =>
    (['direct', 'mounted'] as const).map((way) => [revision, via, way] as const),
  ),
);

describe.each(matrix)('`access` of a plugin in %s over %s, %s', (revision, via, way) => {
  const open = async (access: Decide, principal?: Principal) => {
    const { server: own } = shopOf(access);
    const middle = () => new McpServer({ name: 'middle', version: '1', providers: [mount(own)] });
    const server =
      way === 'direct' ? own : new McpServer({ name: 'outer', version: '1', providers: [mount(middle())] });
    return await connect(server, { revision, via, ...(principal && via === 'memory' && { principal }) });
  };

  it('hides members from lists, calls, completions and reads', async () => {
    const client = await open(WRITERS);
    expect(await listsOf(client)).toEqual(['find', 'shop://terms']);
    expect(textOf(await client.callTool('find'))).toBe('found');
    for (const name of ['drop', 'erase', 'invented'])
      await expect(client.callTool(name)).rejects.toThrow(new RegExp(`^Unknown tool: ${name}$`));
    await expect(client.getPrompt('letter', { id: '1' })).rejects.toThrow('Unknown prompt');
    await expect(client.readResource('shop://secret')).rejects.toThrow('Resource not found');
    await expect(client.readResource('shop://items/7')).rejects.toThrow('Resource not found');
    await expect(client.complete({ prompt: 'letter' }, { name: 'id', value: '' })).rejects.toThrow('Unknown prompt');
    await client.close();
  });

  it('makes caches private', async () => {
    const client = await open(WRITERS);
    if (revision === revisions.at(-1)) {
      expect(await client.request('tools/list', {})).toMatchObject({ cacheScope: 'private' });
      expect(await client.request('resources/read', { uri: 'shop://terms' })).toMatchObject({ cacheScope: 'private' });
    }
    await client.close();
  });

  if (via === 'memory')
    it('shows and serves them to whom it admits', async () => {
      const client = await open(WRITERS, ANN);
      expect(await listsOf(client)).toEqual(ALL);
      for (const name of ['drop', 'erase']) expect(textOf(await client.callTool(name))).toBe('dropped');
      expect((await client.complete({ prompt: 'letter' }, { name: 'id', value: '' })).values).toEqual(['7']);
      await client.readResource('shop://items/7');
      await client.close();
    });
});

describe('`access` of plugins', () => {
  it.each(revisions)('is told of the member and of the caller, once per member and request (%s)', async (revision) => {
    const asked: [PluginMember, PluginCaller][] = [];
    const { server } = shopOf((...given) => {
      asked.push(given);
      return true;
    });
    const client = await connect(server, { revision, principal: ANN, clientInfo: { name: 'probe', version: '7' } });
    asked.length = 0;
    await client.listTools();
    expect(asked.map(([{ name }]) => name)).toEqual(['drop', 'find']);
    const [[member, caller]] = asked as [[PluginMember, PluginCaller]];
    expect(member).toEqual({
      kind: 'tool',
      name: 'drop',
      uri: undefined,
      tags: ['write'],
      annotations: { destructiveHint: true },
      where: 'Shop.drop',
    });
    expect(Object.isFrozen(member)).toBe(true);
    expect(caller).toMatchObject({ principal: ANN, transport: { kind: 'memory' }, revision });
    expect(caller.client.info).toMatchObject({ name: 'probe' });
    asked.length = 0;
    await client.callTool('erase');
    await client.readResource('shop://items/7');
    expect(asked.map(([{ name, uri }]) => uri ?? name)).toEqual(['drop', 'shop://items/{id}']);
    expect(asked.map(([{ kind }]) => kind)).toEqual(['tool', 'template']);
    await client.close();
  });

  it('counts together with the access of members, and is not asked for those whose own access refuses', async () => {
    const asked: string[] = [];
    const server = shopOf(({ name }) => asked.push(name) > 0 && name !== 'late').server;
    server.addTool({ name: 'own', access: () => false }, () => '');
    server.addTool({ name: 'late', access: () => true }, () => '');
    const client = await connect(server, {});
    await expect(client.callTool('own')).rejects.toThrow('Unknown tool');
    expect(asked).toEqual([]);
    await expect(client.callTool('late')).rejects.toThrow('Unknown tool');
    await client.close();
  });

  it('must admit in all plugins, which may take their time', async () => {
    const late: Decide = async ({ name }) => await Promise.resolve(name !== 'find');
    const plugins = [deciding(WRITERS), deciding(late, 'late')];
    const { server } = reporting({ providers: [Shop], plugins });
    const [client, ann] = [await connect(server, {}), await connect(server, { principal: ANN })];
    expect(await client.listTools()).toEqual([]);
    expect((await ann.listTools()).map(({ name }) => name)).toEqual(['drop']);
    await client.close();
    await ann.close();
  });

  it.each([
    [
      'throws',
      () => {
        throw new Error('no roles');
      },
    ],
    ['rejects', () => Promise.reject(new Error('no roles'))],
    ['answers with more than true or false', () => 'yes' as never],
    ['returns nothing', () => undefined as never],
    ['resolves with nothing', () => Promise.resolve() as never],
  ] as [string, Decide][])('hides the member if it %s, which is reported once', async (_name, access) => {
    const { server, errors } = shopOf(access);
    const client = await connect(server, {});
    expect(await listsOf(client)).toEqual([]);
    await expect(client.callTool('find')).rejects.toThrow('Unknown tool');
    expect(errors.map(({ message }) => message)).toEqual([
      'The plugin "roles" failed in `access`. What it does not decide about stays hidden.',
    ]);
    await client.close();
  });

  it('decides who hears of changes', async () => {
    const { server } = shopOf(WRITERS);
    const client = await connect(server, { revision: '2025-11-25' });
    const ann = await connect(server, { revision: '2025-11-25', principal: ANN });
    await expect(client.request('resources/subscribe', { uri: 'shop://secret' })).rejects.toThrow('Resource not found');
    await ann.request('resources/subscribe', { uri: 'shop://secret' });
    server.notify.resourceUpdated('shop://secret');
    await ann.nextNotification('notifications/resources/updated');
    server.addTool({ name: 'burn', tags: ['write'] }, () => '');
    await ann.nextNotification('notifications/tools/list_changed');
    server.notify.promptsChanged();
    await client.nextNotification('notifications/prompts/list_changed');
    expect(client.notifications.map(({ method }) => method)).toEqual(['notifications/prompts/list_changed']);
    await client.close();
    await ann.close();
  });

  it('decides about what a client listens to', async () => {
    const { server } = shopOf(WRITERS);
    const client = await connect(server, { revision: revisions.at(-1) as string });
    const notifications = { resourceSubscriptions: ['shop://secret', 'shop://terms'] };
    client.request('subscriptions/listen', { notifications }).catch(() => {});
    const { params } = await client.nextNotification('notifications/subscriptions/acknowledged');
    expect(params).toMatchObject({ notifications: { resourceSubscriptions: ['shop://terms'] } });
    await client.close();
  });

  it('decides about what methods of extensions show', async () => {
    const sees = async (params: object, ctx: Context) => ({
      sees: await seesResource(ctx, (params as { uri: string }).uri),
    });
    const extension = { id: 'example.com/sees', callers: 'all' as const, methods: { 'example/sees': sees } };
    const { server } = shopOf(WRITERS, { extensions: [extension] } as object);
    const client = await connect(server, { revision: revisions.at(-1) as string });
    expect(await client.request('example/sees', { uri: 'shop://secret' })).toMatchObject({ sees: false });
    expect(await client.request('example/sees', { uri: 'shop://terms' })).toMatchObject({ sees: true });
    await client.close();
  });

  it('is asked again about a resource of a live source that changes, at each server', async () => {
    const refused = new Set<string>();
    const access: Decide = ({ uri = '' }) => !refused.has(uri);
    const now = (uri: string) => ({ entry: { uri, name: uri }, run: () => ({ contents: [{ uri, text: 'noon' }] }) });
    const find = (kind: string, uri: string) =>
      kind === 'resource' && uri.startsWith('live://') ? now(uri) : undefined;
    const inner = reporting({ plugins: [deciding(access)] }).server;
    inner.addLive({ kinds: [], list: () => [], find }, {});
    const outer = reporting({
      providers: [Shop, mount(inner)],
      plugins: [deciding(({ uri = '' }) => !uri.endsWith('c'))],
    });
    const client = await connect(outer.server, { revision: '2025-11-25' });
    for (const uri of ['live://a', 'live://b']) await client.request('resources/subscribe', { uri });
    await expect(client.request('resources/subscribe', { uri: 'live://c' })).rejects.toThrow('Resource not found');
    refused.add('live://a');
    for (const uri of ['live://a', 'live://b']) inner.notify.resourceUpdated(uri);
    const { params } = await client.nextNotification('notifications/resources/updated');
    expect(params).toMatchObject({ uri: 'live://b' });
    await client.close();
  });

  it('decides about members of live sources, under the name of each server', async () => {
    const asked: string[] = [];
    const access: Decide = ({ name, uri }) => asked.push(uri ?? name) > 0 && !(uri ?? name).includes('hidden');
    const tool = (name: string) => ({
      entry: { name, inputSchema: { type: 'object' as const } },
      run: () => ({ content: [{ type: 'text' as const, text: name }] }),
    });
    const tools = [tool('shown'), tool('hidden')];
    const inner = reporting({ plugins: [deciding(access)] }).server;
    inner.addLive({
      kinds: ['tool'],
      list: () => tools,
      find: (kind: string, key: string) =>
        kind === 'tool' ? tools.find(({ entry }) => entry.name === key) : undefined,
    } as never);
    const outer = reporting({ providers: [mount(inner, { prefix: 'a' })], plugins: [deciding(access)] }).server;
    const client = await connect(outer, {});
    expect((await client.listTools()).map(({ name }) => name)).toEqual(['a_shown']);
    expect(new Set(asked)).toEqual(new Set(['shown', 'a_shown', 'hidden', 'a_hidden']));
    expect(textOf(await client.callTool('a_shown'))).toBe('shown');
    await expect(client.callTool('a_hidden')).rejects.toThrow('Unknown tool');
    await client.close();
  });

  it('sees the names that each server serves a member under', async () => {
    const asked: string[] = [];
    const note: Decide = ({ name, where }) => asked.push(`${name} ${where}`) > 0;
    const inner = reporting({ providers: [Shop], plugins: [deciding(note)] }).server;
    const server = reporting({ providers: [mount(inner, { prefix: 'eu' })], plugins: [deciding(note)] }).server;
    const client = await connect(server, {});
    await client.callTool('eu_find');
    expect(asked).toEqual(['find Shop.find', 'eu_find Shop.find in mount(test)']);
    await client.close();
  });

  it('is not asked by servers whose plugins have none', async () => {
    const server = reporting({ providers: [Shop] }).server;
    const client = await connect(server, { revision: revisions.at(-1) as string });
    expect(await client.request('tools/list', {})).toMatchObject({ tools: [{ name: 'drop' }, { name: 'find' }] });
    await client.close();
  });
});
