// `listed: false` and `deprecated`: what lists say of members, and leave out.
import { Completion, McpServer, mount, Prompt, Resource, Tool } from '@decorum/core';
import { connect, revisions, type TestClient } from '@decorum/testing';
import { describe, expect, it } from '@jest/globals';
import { IsString } from 'class-validator';

import { reporting, textOf } from './serving.js';

class Id {
  @IsString() id!: string;
}

class Desk {
  @Tool() shown() {
    return 'shown';
  }
  @Tool({ listed: false }) kept() {
    return 'kept';
  }
  @Prompt({ listed: false }) letter({ id }: Id) {
    return id;
  }
  @Completion({ for: ['letter', 'drawer'], argument: 'id' }) ids() {
    return ['7'];
  }
  @Resource('desk://note', { listed: false }) note() {
    return 'note';
  }
  @Resource('desk://drawers/{id}', { listed: false, list: 'all' }) drawer({ id }: Id) {
    return id;
  }
  @Resource('desk://{+id}', { list: 'all' }) anything({ id }: Id) {
    return id;
  }
  all() {
    return ['desk://drawers/7', 'desk://note', 'desk://pen'];
  }
}

const namesOf = (entries: readonly object[]) =>
  (entries as readonly { name: string; uri?: string; uriTemplate?: string }[]).map(
    ({ name, uri, uriTemplate }) => uri ?? uriTemplate ?? name,
  );

const listsOf = async (client: TestClient) => [
  namesOf(await client.listTools()),
  namesOf(await client.listPrompts()),
  namesOf(await client.listResources()),
  namesOf(await client.listResourceTemplates()),
];

const matrix = revisions.flatMap((revision) =>
  (['memory', 'stdio', 'http'] as const).flatMap((via) =>
    [false, true].map((isMounted) => [revision, via, isMounted] as const),
  ),
);

describe.each(matrix)('an unlisted member in %s over %s (mounted: %s)', (revision, via, isMounted) => {
  it('is on no list, and can be used, read, completed and followed', async () => {
    const { server: own } = reporting({ providers: [Desk] });
    const server = isMounted ? new McpServer({ name: 'outer', version: '1', providers: [mount(own)] }) : own;
    const client = await connect(server, { revision, via });
    expect(await listsOf(client)).toEqual([['shown'], [], ['desk://pen'], ['desk://{+id}']]);
    expect(textOf(await client.callTool('kept'))).toBe('kept');
    expect((await client.getPrompt('letter', { id: '7' })).messages).toHaveLength(1);
    for (const uri of ['desk://note', 'desk://drawers/7'])
      expect((await client.readResource(uri)).contents).toHaveLength(1);
    expect((await client.complete({ prompt: 'letter' }, { name: 'id', value: '' })).values).toEqual(['7']);
    if (revision !== revisions.at(-1)) await client.request('resources/subscribe', { uri: 'desk://note' });
    await client.close();
  });
});

describe('an unlisted member', () => {
  it('changes no list when it comes or goes', async () => {
    const { server } = reporting({ providers: [Desk] });
    const client = await connect(server, { revision: '2025-11-25' });
    const { remove } = server.addTool({ name: 'secret', listed: false }, () => '');
    remove();
    server.addTool({ name: 'hidden', listed: false, access: () => true }, () => '');
    server.notify.promptsChanged();
    await client.nextNotification('notifications/prompts/list_changed');
    expect(client.notifications).toHaveLength(1);
    await client.close();
  });

  it('is followed by clients that listen', async () => {
    const { server } = reporting({ providers: [Desk] });
    const client = await connect(server, { revision: revisions.at(-1) as string });
    client
      .request('subscriptions/listen', { notifications: { resourceSubscriptions: ['desk://note'] } })
      .catch(() => {});
    const { params } = await client.nextNotification('notifications/subscriptions/acknowledged');
    expect(params).toMatchObject({ notifications: { resourceSubscriptions: ['desk://note'] } });
    server.notify.resourceUpdated('desk://note');
    await client.nextNotification('notifications/resources/updated');
    await client.close();
  });

  it('still needs its access, and is listed again by a subclass that says so', async () => {
    class Open extends Desk {
      @Tool({ listed: true }) override kept() {
        return 'open';
      }
    }
    const server = reporting({ providers: [Open] }).server;
    server.addTool({ name: 'closed', listed: false, access: () => false }, () => '');
    const client = await connect(server, {});
    expect(namesOf(await client.listTools())).toEqual(['shown', 'kept']);
    await expect(client.callTool('closed')).rejects.toThrow('Unknown tool: closed');
    await client.close();
  });

  it('keeps the capability of its kind', async () => {
    const server = reporting({}).server;
    server.addTool({ name: 'only', listed: false }, () => '');
    const client = await connect(server, { revision: '2025-11-25' });
    expect(client.initialized?.capabilities.tools).toBeDefined();
    expect(await client.listTools()).toEqual([]);
    await client.close();
  });
});

class Old {
  @Tool({ description: 'Lists invoices', deprecated: 'Use search_invoices.', _meta: { 'example.com/a': 1 } })
  invoices() {
    return '';
  }
  @Prompt({ deprecated: 'Use ask.' }) remind() {
    return '';
  }
  @Resource('old://one', { description: 'One', deprecated: 'Use new://one.' }) one() {
    return '';
  }
  @Resource('old://{id}', { description: 'Some', deprecated: 'Use new://{id}.' }) some({ id }: Id) {
    return id;
  }
}

const KEY = 'dev.decorum/deprecated';

describe.each(revisions)('a deprecated member in %s', (revision) => {
  const open = async (options: object) => await connect(reporting(options).server, { revision });
  const hasMeta = revision >= '2025-06-18';

  it('says so first in its description, and in `_meta`', async () => {
    const client = await open({ providers: [Old] });
    const entries = [
      ...(await client.listTools()),
      ...(await client.listPrompts()),
      ...(await client.listResources()),
      ...(await client.listResourceTemplates()),
    ] as readonly { description?: string; _meta?: object }[];
    expect(entries.map(({ description }) => description)).toEqual([
      'Deprecated: Use search_invoices.\n\nLists invoices',
      'Deprecated: Use ask.',
      'Deprecated: Use new://one.\n\nOne',
      'Deprecated: Use new://{id}.\n\nSome',
    ]);
    expect(entries.map(({ _meta }) => _meta)).toEqual(
      hasMeta
        ? [
            { 'example.com/a': 1, [KEY]: 'Use search_invoices.' },
            { [KEY]: 'Use ask.' },
            { [KEY]: 'Use new://one.' },
            { [KEY]: 'Use new://{id}.' },
          ]
        : [undefined, undefined, undefined, undefined],
    );
    await client.close();
  });

  it('keeps saying so with a new description and name', async () => {
    const transform = { invoices: { name: 'bills', description: 'Lists bills' } };
    const client = await open({ providers: [{ provider: Old, transform }] });
    const [tool] = await client.listTools();
    expect(tool).toMatchObject({ name: 'bills', description: 'Deprecated: Use search_invoices.\n\nLists bills' });
    await client.close();
  });

  it.each([false, undefined])('is not deprecated in a subclass with %s', async (deprecated) => {
    class Revived extends Old {
      @Tool({ deprecated } as object) override invoices() {
        return '';
      }
    }
    const client = await open({ providers: [Revived] });
    const [tool] = await client.listTools();
    expect(tool?.description).toBe('Lists invoices');
    expect(tool?.['_meta']).toEqual(hasMeta ? { 'example.com/a': 1 } : undefined);
    await client.close();
  });
});
