import { describe, expect, it } from '@jest/globals';
import { type Context, McpServer, type McpServerOptions, Resource, Tool } from '@decorum/core';
import type { LiveMember, LiveSource } from '@decorum/core/plugin';
import { connect, type ConnectOptions, revisions } from '@decorum/testing';

import { SILENT, said } from '../kernel/serving.js';

const inputSchema = { type: 'object' };

const userOf = ({ principal }: Context) => principal?.subject ?? 'nobody';

/** Members that each caller has of their own. They are created once. */
class Desk implements LiveSource {
  readonly kinds = ['tool', 'prompt', 'resource', 'template'] as const;
  readonly asked: string[] = [];
  private readonly made = new Map<string, LiveMember>();

  list(kind: string, ctx: Context) {
    const user = userOf(ctx);
    if (kind === 'tool') return [this.tool(`of_${user}`), this.tool('shared'), this.tool('static')];
    if (kind === 'prompt') return [this.prompt(`ask_${user}`)];
    return kind === 'resource' ? [this.resource(`desk://${user}`)] : [this.template(`desk://{part}/${user}`)];
  }

  find(kind: string, key: string, ctx: Context) {
    this.asked.push(`${kind} ${key}`);
    const user = userOf(ctx);
    if (kind === 'tool') return key === `of_${user}` || key === 'shared' ? this.tool(key) : undefined;
    if (kind === 'prompt') return key === `ask_${user}` ? this.prompt(key) : undefined;
    // the second is on no list: the link of a result
    if (key === `desk://${user}` || key === 'desk://link') return this.resource(key);
    return key.endsWith(`/${user}`) ? this.template(`desk://{part}/${user}`) : undefined;
  }

  private once(id: string, make: () => LiveMember): LiveMember {
    const known = this.made.get(id) ?? make();
    this.made.set(id, known);
    return known;
  }

  private tool(name: string) {
    const run = (args: unknown, ctx: Context) => ({
      content: [{ type: 'text' as const, text: `${name} ${JSON.stringify(args)} for ${userOf(ctx)}` }],
    });
    return this.once(name, () => ({ entry: { name, inputSchema }, run }));
  }

  private prompt(name: string) {
    return this.once(name, () => ({
      entry: { name, arguments: [{ name: 'tone' }] },
      run: () => ({ messages: [{ role: 'user', content: { type: 'text', text: name } }] }),
      complete: (argument, value) => [`${argument} ${value}`],
    }));
  }

  private resource(uri: string) {
    return this.once(uri, () => ({ entry: { uri, name: uri }, run: this.read }));
  }

  private template(uriTemplate: string) {
    const complete = (argument: string, _value: string, ctx: Context) => [`${argument} of ${userOf(ctx)}`];
    return this.once(uriTemplate, () => ({ entry: { uriTemplate, name: 'part' }, run: this.read, complete }));
  }

  private readonly read = (uri: unknown) => ({ contents: [{ uri: String(uri), text: `read ${String(uri)}` }] });
}

class Plain {
  @Tool() own() {
    return 'own';
  }

  @Tool({ name: 'desk_static' }) static() {
    return 'ours';
  }

  @Resource('plain://one') one() {
    return 'one';
  }
}

function serve(
  options: Partial<McpServerOptions> = {},
  added: Parameters<McpServer['addLive']>[1] = { prefix: 'desk', offers: ['completions'] },
) {
  const server = new McpServer({ name: 'shop', version: '1', providers: [Plain], logger: SILENT, ...options });
  const desk = new Desk();
  const registration = server.addLive(desk, added);
  const as = async (subject: string, given: ConnectOptions = {}) =>
    await connect(server, { principal: { subject, scopes: ['read'] }, ...given });
  return { server, desk, registration, as };
}

describe.each(revisions)('members that depend on the caller, in %s', (revision) => {
  it('are listed after the others, and found by name and URI', async () => {
    const { as, registration } = serve();
    const client = await as('ada', { revision });
    expect((await client.listTools()).map(({ name }) => name)).toEqual([
      'own',
      'desk_static',
      'desk_of_ada',
      'desk_shared',
    ]);
    expect((await client.listPrompts()).map(({ name }) => name)).toEqual(['desk_ask_ada']);
    expect((await client.listResources()).map(({ uri }) => uri)).toEqual(['plain://one', 'desk://desk/ada']);
    expect((await client.listResourceTemplates()).map((each) => each.uriTemplate)).toEqual(['desk://desk/{part}/ada']);
    expect((await client.callTool('desk_of_ada', { a: 1 })).content).toEqual(said('of_ada {"a":1} for ada'));
    expect((await client.callTool('desk_static')).content).toEqual(said('ours'));
    expect((await client.getPrompt('desk_ask_ada')).messages).toHaveLength(1);
    const texts = ['desk://desk/ada', 'desk://desk/x/ada', 'desk://desk/link'].map(
      async (uri) => await client.readResource(uri),
    );
    expect((await Promise.all(texts)).map(({ contents: [content] }) => content?.text)).toEqual([
      'read desk://ada',
      'read desk://x/ada',
      'read desk://link',
    ]);
    const complete = async (ref: object, name: string) =>
      await client.request('completion/complete', { ref, argument: { name, value: 'v' } });
    expect(await complete({ type: 'ref/prompt', name: 'desk_ask_ada' }, 'tone')).toMatchObject({
      completion: { values: ['tone v'] },
    });
    const ref = { type: 'ref/resource', uri: 'desk://desk/{part}/ada' };
    expect(await complete(ref, 'part')).toMatchObject({ completion: { values: ['part of ada'] } });
    registration.remove();
    await expect(client.callTool('desk_of_ada')).rejects.toThrow('Unknown tool');
    expect(await client.listTools()).toHaveLength(2);
    await client.close();
  });
});

describe('members that depend on the caller', () => {
  it('are unknown to other callers, and make lists private', async () => {
    const { as } = serve({ cache: { ttlMs: 1000, scope: 'public' } });
    const bob = await as('bob', { era: 'stateless' });
    await expect(bob.callTool('desk_of_ada')).rejects.toThrow('Unknown tool: desk_of_ada');
    await expect(bob.getPrompt('desk_ask_ada')).rejects.toThrow('Unknown prompt');
    await expect(bob.readResource('desk://desk/ada')).rejects.toThrow('Resource not found');
    const ref = { type: 'ref/prompt', name: 'desk_ask_ada' };
    await expect(bob.request('completion/complete', { ref, argument: { name: 'tone', value: '' } })).rejects.toThrow(
      'Unknown prompt',
    );
    expect(await bob.request('tools/list')).toMatchObject({ ttlMs: 1000, cacheScope: 'private' });
  });

  it('leave lists public that they add nothing to', async () => {
    const server = new McpServer({
      name: 'shop',
      version: '1',
      providers: [Plain],
      cache: { ttlMs: 1000, scope: 'public' },
    });
    const run = (uri: unknown) => ({ contents: [{ uri: String(uri), text: 'linked' }] });
    server.addLive({
      kinds: [],
      list: () => [],
      find: (kind, uri) => (kind === 'resource' ? { entry: { uri, name: uri }, run } : undefined),
    });
    const client = await connect(server, { era: 'stateless' });
    expect(await client.request('resources/list')).toMatchObject({ cacheScope: 'public' });
    expect(await client.readResource('any://thing')).toMatchObject({ contents: [{ text: 'linked' }] });
    await expect(client.callTool('any')).rejects.toThrow('Unknown tool');
  });

  it('go over several pages', async () => {
    const { as } = serve({ pageSize: 1 });
    const client = await as('ada');
    expect((await client.listTools()).map(({ name }) => name)).toEqual([
      'own',
      'desk_static',
      'desk_of_ada',
      'desk_shared',
    ]);
    expect((await client.listResources()).map(({ uri }) => uri)).toEqual(['plain://one', 'desk://desk/ada']);
  });

  it('are asked for once per request, and only if their place fits', async () => {
    const { as, desk } = serve(
      {},
      { prefix: 'desk', scopes: ['read'], access: ({ subject } = { subject: '' }) => subject !== 'eve' },
    );
    const ada = await as('ada');
    await ada.callTool('desk_of_ada');
    await ada.callTool('own');
    await ada.callTool('other').catch(() => {});
    expect(desk.asked).toEqual(['tool of_ada']);
    await expect((await as('eve')).callTool('desk_shared')).rejects.toThrow('Unknown tool');
    expect((await (await as('eve')).listTools()).map(({ name }) => name)).toEqual(['own', 'desk_static']);
    const poor = await connect((await serve({}, { scopes: ['write'] })).server, {
      principal: { subject: 'ada', scopes: [] },
    });
    await expect(poor.callTool('of_ada')).rejects.toThrow('lacks scopes');
    await expect(poor.request('resources/read', { uri: 'desk://ada' })).rejects.toThrow('lacks scopes');
  });

  it('can be subscribed to', async () => {
    const { as, server } = serve({}, { prefix: 'desk', access: ({ subject } = { subject: '' }) => subject !== 'eve' });
    const ada = await as('ada', { era: 'stateful' });
    await ada.subscribe('desk://desk/ada');
    server.notify.resourceUpdated('desk://desk/ada');
    expect(await ada.nextNotification('notifications/resources/updated')).toMatchObject({
      params: { uri: 'desk://desk/ada' },
    });
    await expect((await as('eve', { era: 'stateful' })).subscribe('desk://desk/eve')).rejects.toThrow(
      'Resource not found',
    );
  });

  it('may be transformed', async () => {
    const { as } = serve(
      {},
      { prefix: 'desk', transform: ({ name }) => name === 'shared' && { name: 'common', fix: {} } },
    );
    const client = await as('ada');
    expect((await client.listTools()).map(({ name }) => name)).toEqual(['own', 'desk_static', 'desk_common']);
    expect((await client.callTool('desk_common')).content).toEqual(said('shared {} for ada'));
    await expect(client.callTool('desk_shared')).rejects.toThrow('Unknown tool');
    await expect(client.readResource('desk://desk/link')).rejects.toThrow('Resource not found');
  });

  it('are left out if they are invalid, or if their source fails', async () => {
    const problems: string[] = [];
    const errors: unknown[] = [];
    const server = new McpServer({
      name: 'shop',
      version: '1',
      providers: [Plain],
      logger: SILENT,
      onError: (error) => errors.push(error),
    });
    const wrong = { entry: { name: 'a b', inputSchema }, run: () => ({ content: [] }) };
    const onInvalid = ({ message }: Error) => void problems.push(message);
    server.addLive({ kinds: ['tool'], list: () => [wrong], find: () => wrong }, { source: 'proxy(x)', onInvalid });
    const fail = () => {
      throw new Error('down');
    };
    server.addLive({ kinds: ['tool'], list: fail, find: fail });
    const client = await connect(server);
    expect((await client.listTools()).map(({ name }) => name)).toEqual(['own', 'desk_static']);
    await expect(client.callTool('a b')).rejects.toThrow('Unknown tool');
    expect(problems).toEqual([expect.stringContaining('proxy(x).run: "a b" is not a valid name')]);
    expect(errors).toEqual([new Error('down'), new Error('down')]);
  });
});
