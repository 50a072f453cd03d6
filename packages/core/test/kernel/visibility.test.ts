// Members that sessions show and hide by their tags.
import { describe, expect, it } from '@jest/globals';
import { Completion, Context, McpServer, NoInput, type Principal, Prompt, Resource, Tool } from '@decorum/core';
import { connect, revisions, type TestClient } from '@decorum/testing';
import { IsString } from 'class-validator';

import { openSession } from './open-session.js';
import { reporting, textOf, turn } from './serving.js';

const SESSIONS = revisions.slice(0, -1);
const STATELESS = revisions.at(-1) as string;

class Topic {
  @IsString() topic!: string;
}

class Tags {
  @IsString({ each: true }) tags!: string[];
}

class Desk {
  @Tool() greet() {
    return 'Hello!';
  }

  @Tool({ tags: ['admin'] }) wipe() {
    return 'wiped';
  }

  @Prompt({ tags: ['writing'] }) letter({ topic }: Topic) {
    return topic;
  }

  @Completion({ for: 'letter', argument: 'topic' }) topics() {
    return ['tea'];
  }

  @Resource('desk://drawer/{topic}', { tags: ['writing', 'admin'] }) drawer({ topic }: Topic) {
    return topic;
  }

  @Tool() async show({ tags }: Tags, { visibility }: Context) {
    await visibility.show(...(tags as [string]));
  }

  @Tool() async hide({ tags }: Tags, { visibility }: Context) {
    await visibility.hide(...(tags as [string]));
  }

  @Tool() async reset(_input: NoInput, { visibility }: Context) {
    await visibility.reset();
  }
}

const deskOf = (options: object = { hiddenTags: ['admin'] }) => reporting({ providers: [Desk], ...options });

const OWN = ['greet', 'show', 'hide', 'reset'];
const toolsOf = async (client: TestClient) =>
  (await client.listTools()).map(({ name }) => name).filter((name) => !OWN.includes(name));

/** The lists whose change the client was told of, once the server has told everybody of `last`. */
async function told(server: McpServer, client: TestClient, last: 'tools' | 'prompts' | 'resources') {
  const before = client.notifications.length;
  server.notify[`${last}Changed`]();
  while (!client.notifications.slice(before).some(({ method }) => method.includes(last)))
    await client.nextNotification(`notifications/${last}/list_changed`);
  const lists = client.notifications.map(({ method }) => method.split('/')[1]);
  return lists.slice(0, -1);
}

const matrix = SESSIONS.flatMap((revision) =>
  (['memory', 'stdio', 'http'] as const).map((via) => [revision, via] as const),
);

describe.each(matrix)('a session of %s over %s', (revision, via) => {
  it('sees members with hidden tags once they are shown, and until they are hidden, and is told of it alone', async () => {
    const { server } = deskOf();
    const options = { revision, via };
    const client = await connect(server, options);
    const other = via === 'stdio' ? undefined : await connect(server, options);
    expect(await toolsOf(client)).toEqual([]);
    await expect(client.callTool('wipe')).rejects.toThrow('Unknown tool: wipe');
    await client.callTool('show', { tags: ['admin'] });
    await client.nextNotification('notifications/tools/list_changed');
    await client.nextNotification('notifications/resources/list_changed');
    expect(await toolsOf(client)).toEqual(['wipe']);
    expect(textOf(await client.callTool('wipe'))).toBe('wiped');
    expect(other && (await toolsOf(other))).toEqual(other && []);
    await client.callTool('hide', { tags: ['admin'] });
    await client.nextNotification('notifications/tools/list_changed');
    await expect(client.callTool('wipe')).rejects.toThrow('Unknown tool: wipe');
    expect(other?.notifications ?? []).toEqual([]);
    await server.close();
  });
});

describe('a session', () => {
  it('is told only of the lists that it sees differently', async () => {
    const { server } = deskOf();
    const client = await connect(server);
    await client.callTool('show', { tags: ['writing', 'unknown'] });
    await client.callTool('hide', { tags: ['unknown'] });
    expect(await told(server, client, 'tools')).toEqual([]);
    // another tag still hides the resource with this one
    await client.callTool('hide', { tags: ['writing'] });
    expect(await told(server, client, 'tools')).toEqual(['tools', 'prompts']);
    await client.callTool('reset');
    expect(await told(server, client, 'tools')).toEqual(['tools', 'prompts', 'tools', 'prompts']);
  });

  it('is not told of members that it may not see anyway', async () => {
    const ada = (principal: Principal | undefined) => principal?.subject === 'ada';
    const { server } = deskOf({});
    server.addTool({ name: 'first', tags: ['more'], access: ada }, () => '');
    const change = async (client: TestClient) => {
      await client.callTool('hide', { tags: ['more'] });
      return await told(server, client, 'prompts');
    };
    const principals = [{ subject: 'ada' }, { subject: 'bob' }];
    const clients = await Promise.all(principals.map((principal) => connect(server, { principal })));
    const lists = [];
    for (const client of clients) lists.push(await change(client));
    // each of them gets the changes of prompts that the test announces
    expect(lists).toEqual([['tools'], ['prompts']]);
  });

  it('hides tags although the server hides none, as it hid none before', async () => {
    const { server } = deskOf({});
    const [client, other] = await Promise.all([connect(server), connect(server)]);
    expect(await toolsOf(client)).toEqual(['wipe']);
    await client.callTool('hide', { tags: ['admin', 'writing'] });
    expect([await toolsOf(client), await toolsOf(other)]).toEqual([[], ['wipe']]);
    expect([await client.listPrompts(), await client.listResourceTemplates()]).toEqual([[], []]);
    await expect(client.getPrompt('letter', { topic: 'tea' })).rejects.toThrow('Unknown prompt: letter');
    await expect(client.readResource('desk://drawer/tea')).rejects.toThrow('Resource not found');
    await expect(client.subscribe('desk://drawer/tea')).rejects.toThrow('Resource not found');
    await expect(client.complete({ prompt: 'letter' }, { name: 'topic', value: 't' })).rejects.toThrow(
      'Unknown prompt: letter',
    );
    expect((await other.complete({ prompt: 'letter' }, { name: 'topic', value: 't' })).values).toEqual(['tea']);
    await client.callTool('reset');
    expect(await toolsOf(client)).toEqual(['wipe']);
  });

  it('gets no updates of a resource that is hidden after it has subscribed', async () => {
    const { server } = deskOf({});
    const client = await connect(server);
    await client.subscribe('desk://drawer/tea');
    await client.callTool('hide', { tags: ['writing'] });
    server.notify.resourceUpdated('desk://drawer/tea');
    expect(await told(server, client, 'tools')).toEqual(['prompts', 'resources']);
    await client.callTool('show', { tags: ['writing'] });
    server.notify.resourceUpdated('desk://drawer/tea');
    await client.nextNotification('notifications/resources/updated');
  });

  it('hears of new members only if it sees their tags', async () => {
    const { server } = deskOf();
    const [client, other] = await Promise.all([connect(server), connect(server)]);
    await client.callTool('show', { tags: ['admin'] });
    const { remove } = server.addMembers(
      [{ kind: 'prompt', key: 'audit', options: { tags: ['more'] } }],
      { audit: () => 'audit' },
      { tags: ['admin'] },
    );
    await client.nextNotification('notifications/prompts/list_changed');
    expect((await client.listPrompts()).map(({ name }) => name)).toEqual(['letter', 'audit']);
    expect(await told(server, other, 'tools')).toEqual([]);
    remove();
    await client.nextNotification('notifications/prompts/list_changed');
    expect(await told(server, other, 'tools')).toEqual(['tools']);
  });

  it('keeps its tags together if they are changed at the same time', async () => {
    const { server } = deskOf({ hiddenTags: ['admin', 'writing'] });
    const client = await connect(server);
    const all = ['admin', 'writing', 'a', 'b'].map((tag) => client.callTool('show', { tags: [tag] }));
    await Promise.all([...all, client.callTool('hide', { tags: ['c'] })]);
    expect([(await client.listPrompts()).length, (await client.listResourceTemplates()).length]).toEqual([1, 1]);
  });

  it('keeps at most 100 tags of up to 64 characters', async () => {
    const { server, errors } = deskOf();
    const client = await connect(server);
    const many = Array.from({ length: 100 }, (_, index) => `tag ${index}`);
    await client.callTool('show', { tags: many });
    const fails = [['admin'], [''], ['x'.repeat(65)]];
    for (const tags of fails) expect((await client.callTool('show', { tags })).isError).toBe(true);
    expect(errors.map(({ message }) => message)).toEqual([
      'A session shows and hides at most 100 tags.',
      'A tag is a string of 1 to 64 characters.',
      'A tag is a string of 1 to 64 characters.',
    ]);
    expect(await toolsOf(client)).toEqual([]);
    await client.callTool('hide', { tags: many });
    await client.callTool('reset');
    await client.callTool('show', { tags: ['admin'] });
    expect(await toolsOf(client)).toEqual(['wipe']);
  });

  it('goes on with a call whose member it hides, and is told only after `initialized`', async () => {
    const { server } = reporting({ hiddenTags: ['admin'] });
    server.addTool({ name: 'leave', tags: ['user'], input: NoInput }, async (_input, { visibility }) => {
      await visibility.hide('user');
      return 'left';
    });
    const { handle, initialize, sent } = await openSession(server);
    await initialize();
    const call = { id: 1, method: 'tools/call', params: { name: 'leave' } };
    expect((await handle(call)).text).toContain('left');
    expect((await handle({ ...call, id: 2 })).text).toContain('Unknown tool');
    await turn();
    expect(sent).toEqual([]);
  });

  it('keeps what is hidden when a principal adopts it, but not what is shown', async () => {
    const { server } = deskOf({ hiddenTags: ['admin'] });
    server.addTool({ name: 'more', tags: ['more'] }, () => '');
    const { handle, initialize, session } = await openSession(server);
    await initialize();
    const call = (name: string, tag: string) =>
      handle({ id: 1, method: 'tools/call', params: { name, arguments: { tags: [tag] } } });
    await call('show', 'admin');
    await call('hide', 'more');
    session.adopt({ subject: 'ada' });
    const { text } = await handle({ id: 2, method: 'tools/list' });
    expect([text?.includes('"wipe"'), text?.includes('"more"'), text?.includes('"greet"')]).toEqual([
      false,
      false,
      true,
    ]);
  });
});

it('a request without a session sees no hidden tags, and can neither show nor hide any', async () => {
  const { server, errors } = deskOf();
  const client = await connect(server, { revision: STATELESS });
  expect(await toolsOf(client)).toEqual([]);
  await expect(client.callTool('wipe')).rejects.toThrow('Unknown tool: wipe');
  for (const name of ['show', 'hide', 'reset'])
    expect((await client.callTool(name, { ...(name !== 'reset' && { tags: ['admin'] }) })).isError).toBe(true);
  expect(new Set(errors.map(({ message }) => message))).toEqual(
    new Set([
      '`ctx.visibility` belongs to a session, and this request has none: its revision is stateless, or the server keeps no sessions. Let `access` decide, which is asked in each request.',
    ]),
  );
});

it('tags of a provider belong to each of its members, also if it is listed with more', async () => {
  const { server } = deskOf({
    hiddenTags: ['beta'],
    providers: [Desk, { provider: { provider: Desk, tags: ['beta'] }, prefix: 'b_', uriPrefix: 'b+', tags: ['more'] }],
  });
  const client = await connect(server);
  expect(await toolsOf(client)).toEqual(['wipe']);
  await client.callTool('show', { tags: ['beta'] });
  expect(await toolsOf(client)).toEqual(['wipe', 'b_greet', 'b_wipe', 'b_show', 'b_hide', 'b_reset']);
  await client.callTool('hide', { tags: ['more'] });
  expect(await toolsOf(client)).toEqual(['wipe']);
});

it('a hidden tag that looks like a slip of the pen is warned of when the server opens', async () => {
  const { server, warnings } = deskOf({ hiddenTags: ['admim', 'later', 'writing'] });
  expect(warnings).toEqual([]);
  await connect(server);
  expect(warnings).toEqual(['`hiddenTags` has "admim", which no member has so far. If you mean "admin", correct it.']);
});
