// Members that depend on the caller, of a server that another one mounts.
import { describe, expect, it } from '@jest/globals';
import { type Context, link, McpServer, mount, NoInput, Tool } from '@decorum/core';
import type { LiveMember, LiveSource } from '@decorum/core/plugin';
import { hostOf } from '@decorum/core/transport';
import { connect, type ConnectOptions, revisions } from '@decorum/testing';

import { reporting, said, SILENT } from '../kernel/serving.js';

const userOf = ({ principal }: Context) => principal?.subject ?? 'nobody';

/** Members of one caller each. */
function deskOf(): LiveSource {
  const made = new Map<string, LiveMember>();
  const once = (id: string, make: () => LiveMember) => made.get(id) ?? (made.set(id, make()).get(id) as LiveMember);
  const tool = (name: string) =>
    once(name, () => ({
      entry: { name, inputSchema: { type: 'object' } },
      run: (args) => ({
        content: [
          ...said(`${name} ${JSON.stringify(args)}`),
          link('desk://more', { name: 'more' }),
          link('https://example.com/', { name: 'web' }),
        ] as never,
      }),
    }));
  const prompt = (name: string) =>
    once(name, () => ({
      entry: { name, arguments: [{ name: 'tone' }] },
      run: () => ({ messages: [{ role: 'user', content: { type: 'text', text: name } }] }),
      complete: (argument, value) => [`${argument} ${value}`],
    }));
  const resource = (uri: string) =>
    once(uri, () => ({
      entry: { uri, name: uri },
      run: (asked) => ({ contents: [{ uri: String(asked), text: `read ${String(asked)}` }] }),
    }));
  const template = (user: string) =>
    once(`template ${user}`, () => ({
      ...resource(`x:${user}`),
      entry: { uriTemplate: `desk://{part}/${user}`, name: 'part' },
    }));
  return {
    kinds: ['tool', 'prompt', 'resource', 'template'],
    list(kind, ctx) {
      const user = userOf(ctx);
      if (kind === 'tool') return [tool(`of_${user}`), tool('own')];
      if (kind === 'prompt') return [prompt(`ask_${user}`)];
      return kind === 'resource' ? [resource(`desk://${user}`)] : [template(user)];
    },
    find(kind, key, ctx) {
      const user = userOf(ctx);
      if (kind === 'tool') return key === `of_${user}` || key === 'own' ? tool(key) : undefined;
      if (kind === 'prompt') return key === `ask_${user}` ? prompt(key) : undefined;
      if (key === `desk://${user}` || key === 'desk://more') return resource(key);
      return key.endsWith(`/${user}`) ? template(user) : undefined;
    },
  };
}

class Plain {
  @Tool() own() {
    return 'ours';
  }
}

const MORE = { offers: ['completions'] } as const;

function serve(options: Parameters<typeof mount>[1] = {}, added: Parameters<McpServer['addLive']>[1] = MORE) {
  const inner = new McpServer({ name: 'office', version: '1', providers: [Plain], logger: SILENT });
  const registration = inner.addLive(deskOf(), added);
  const middle = new McpServer({
    name: 'house',
    version: '1',
    providers: [mount(inner, { prefix: 'o' })],
    logger: SILENT,
  });
  const outer = reporting({ providers: [mount(middle, { prefix: 'h', ...options })] });
  const as = async (subject: string, given: ConnectOptions = {}) =>
    await connect(outer.server, { principal: { subject, scopes: ['read'] }, ...given });
  return { inner, middle, registration, as, ...outer };
}

const namesOf = (entries: readonly { readonly name: string }[]) => entries.map(({ name }) => name);

describe.each(revisions)('members of a mounted server that depend on the caller, in %s', (revision) => {
  it('are served in their place, to their caller alone', async () => {
    const { as } = serve();
    const client = await as('ada', { revision });
    expect(namesOf(await client.listTools())).toEqual(['h_o_own', 'h_o_of_ada']);
    expect(namesOf(await client.listPrompts())).toEqual(['h_o_ask_ada']);
    expect((await client.listResources()).map(({ uri }) => uri)).toEqual(['desk://h/o/ada']);
    expect((await client.listResourceTemplates()).map((each) => each.uriTemplate)).toEqual(['desk://h/o/{part}/ada']);
    const { content } = await client.callTool('h_o_of_ada', { a: 1 });
    const uris = (content as readonly { uri?: string }[]).flatMap(({ uri }) => uri ?? []);
    expect(content[0]).toEqual(said('of_ada {"a":1}')[0]);
    expect(uris).toEqual(['desk://h/o/more', 'https://example.com/'].slice(0, uris.length));
    expect((await client.callTool('h_o_own')).content).toEqual(said('ours'));
    expect((await client.getPrompt('h_o_ask_ada')).messages).toHaveLength(1);
    const read = async (uri: string) => (await client.readResource(uri)).contents;
    expect(await read('desk://h/o/ada')).toMatchObject([{ uri: 'desk://h/o/ada', text: 'read desk://ada' }]);
    expect(await read('desk://h/o/x/ada')).toMatchObject([{ uri: 'desk://h/o/x/ada', text: 'read desk://x/ada' }]);
    expect(await read('desk://h/o/more')).toMatchObject([{ uri: 'desk://h/o/more', text: 'read desk://more' }]);
    const ref = { type: 'ref/prompt', name: 'h_o_ask_ada' };
    const completed = await client.request('completion/complete', { ref, argument: { name: 'tone', value: 'v' } });
    expect(completed).toMatchObject({ completion: { values: ['tone v'] } });
    const bob = await as('bob', { revision });
    await expect(bob.callTool('h_o_of_ada')).rejects.toThrow('Unknown tool');
    await expect(bob.readResource('desk://h/o/ada')).rejects.toThrow('not found');
  });
});

describe('members of a mounted server that depend on the caller', () => {
  it('have the access, scopes and tags of the mount', async () => {
    const { as, server } = serve({
      access: ({ subject } = { subject: '' }) => subject !== 'eve',
      scopes: ['write'],
    });
    const eve = await as('eve');
    expect(await eve.listPrompts()).toEqual([]);
    await expect(eve.callTool('h_o_of_eve')).rejects.toThrow('Unknown tool');
    await expect((await as('ada')).callTool('h_o_of_ada')).rejects.toThrow('lacks scopes');
    await server.close();
    const hidden = serve({ tags: ['admin'] }).middle;
    const shop = new McpServer({
      name: 'shop',
      version: '1',
      providers: [mount(hidden, { tags: ['admin'] })],
      hiddenTags: ['admin'],
    });
    shop.addTool({ name: 'unlock', input: NoInput }, async (_input, ctx) => await ctx.visibility.show('admin'));
    const client = await connect(shop, { principal: { subject: 'ada' } });
    expect(namesOf(await client.listTools())).toEqual(['unlock']);
    await expect(client.callTool('o_of_ada')).rejects.toThrow('Unknown tool');
    await client.callTool('unlock');
    expect(namesOf(await client.listTools())).toEqual(['o_own', 'unlock', 'o_of_ada']);
    await client.callTool('o_of_ada');
  });

  it('may be transformed by the mount, under names that it does not know yet', async () => {
    const { as } = serve({ transform: { o_own: false, o_of_ada: { name: 'mine', title: 'Mine' }, o_other: false } });
    const client = await as('ada');
    expect(await client.listTools()).toMatchObject([{ name: 'h_mine', title: 'Mine' }]);
    expect((await client.callTool('h_mine')).content[0]).toEqual(said('of_ada {}')[0]);
    await expect(client.callTool('h_o_of_ada')).rejects.toThrow('Unknown tool');
    // hidden there, and not replaced by the one that the mounted server would never serve
    await expect(client.callTool('h_o_own')).rejects.toThrow('Unknown tool');
  });

  it('come and go with their source, and clients are told', async () => {
    const { as, inner, registration } = serve();
    const client = await as('ada', { era: 'stateful' });
    registration.remove();
    await client.nextNotification('notifications/tools/list_changed');
    expect(namesOf(await client.listTools())).toEqual(['h_o_own']);
    await expect(client.callTool('h_o_of_ada')).rejects.toThrow('Unknown tool');
    const again = inner.addLive(deskOf());
    await client.nextNotification('notifications/tools/list_changed');
    expect(namesOf(await client.listTools())).toEqual(['h_o_own', 'h_o_of_ada']);
    again.remove();
  });

  it('are left out with a warning if their names are too long there', async () => {
    const { as, warnings } = serve({ prefix: 'p'.repeat(120) });
    expect(namesOf(await (await as('ada')).listTools())).toEqual([expect.stringMatching(/p_o_own$/)]);
    expect(warnings).toEqual([expect.stringContaining('is not a valid name')]);
  });

  it('can be subscribed to, which their source is told of', async () => {
    const { as, inner, server } = serve({ access: ({ subject } = { subject: '' }) => subject !== 'eve' });
    const heard: string[] = [];
    const reviewed: boolean[] = [];
    let done = () => {};
    const left = new Promise<void>((resolve) => (done = resolve));
    hostOf(inner as never).follow({
      follow: (uri) => void heard.push(uri),
      review(isFollowed) {
        reviewed.push(isFollowed('desk://ada'));
        if (!isFollowed('desk://ada')) done();
      },
    });
    const ada = await as('ada', { era: 'stateful' });
    await ada.subscribe('desk://h/o/ada');
    expect(heard).toEqual(['desk://ada']);
    inner.notify.resourceUpdated('desk://ada');
    expect((await ada.nextNotification('notifications/resources/updated')).params).toEqual({ uri: 'desk://h/o/ada' });
    await expect((await as('eve', { era: 'stateful' })).subscribe('desk://h/o/eve')).rejects.toThrow('not found');
    await ada.close();
    await left;
    expect(reviewed.at(-1)).toBe(false);
    await server.close();
  });
});
