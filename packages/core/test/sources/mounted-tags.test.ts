// Tags of mounted servers, which sessions of the server that mounts show and hide.
import { describe, expect, it } from '@jest/globals';
import { Context, McpServer, mount, NoInput, type Principal, Prompt, Tool } from '@decorum/core';
import { connect, type TestClient } from '@decorum/testing';

class Till {
  @Tool() count() {
    return 'counted';
  }

  @Tool({ tags: ['admin'] }) empty() {
    return 'emptied';
  }

  @Prompt({ tags: ['writing'] }) receipt() {
    return 'receipt';
  }

  @Tool() async unlock(_input: NoInput, { visibility }: Context) {
    await visibility.show('admin');
  }

  @Tool() async lock(_input: NoInput, { visibility }: Context) {
    await visibility.hide('till', 'writing');
  }
}

const tillOf = (hiddenTags: readonly string[] = []) =>
  new McpServer({ name: 'till', version: '1', providers: [Till], hiddenTags });

const shopOf = (till: McpServer, options: Parameters<typeof mount>[1] = {}, hiddenTags: readonly string[] = []) =>
  new McpServer({ name: 'shop', version: '1', providers: [mount(till, { prefix: 'till', ...options })], hiddenTags });

const namesOf = async (client: TestClient) => (await client.listTools()).map(({ name }) => name);

describe('members of a mounted server', () => {
  it.each([
    ['the server that mounts', [], ['admin']],
    ['the mounted server', ['admin'], []],
    ['both', ['admin'], ['admin']],
  ])('are hidden until a session shows them, if %s hides their tag', async (_which, inner, outer) => {
    const shop = shopOf(tillOf(inner), {}, outer);
    const client = await connect(shop);
    expect(await namesOf(client)).not.toContain('till_empty');
    await expect(client.callTool('till_empty')).rejects.toThrow('Unknown tool: till_empty');
    await client.callTool('till_unlock');
    await client.nextNotification('notifications/tools/list_changed');
    expect(await namesOf(client)).toContain('till_empty');
    expect((await client.callTool('till_empty')).content).toEqual([{ type: 'text', text: 'emptied' }]);
    expect(client.notifications.map(({ method }) => method)).toEqual(['notifications/tools/list_changed']);
    await shop.close();
  });

  it('have the tags of the mount, and stay as they are at home', async () => {
    const till = tillOf();
    const shop = shopOf(till, { tags: ['till'] });
    shop.addTool({ name: 'own' }, () => '');
    const [client, home] = [await connect(shop), await connect(till)];
    await client.callTool('till_lock');
    expect(await namesOf(client)).toEqual(['own']);
    expect(await client.listPrompts()).toEqual([]);
    expect([(await namesOf(home)).length, (await home.listPrompts()).length]).toEqual([4, 1]);
    await Promise.all([shop.close(), till.close()]);
  });

  it('pass the access of the mount and their own, which learn of the client', async () => {
    const asked: string[] = [];
    const till = tillOf();
    till.addTool(
      { name: 'drawer', access: (_principal, _transport, { client }) => client.info?.name === 'desk' },
      () => '',
    );
    const ada = (principal: Principal | undefined) => principal?.subject === 'ada';
    const shop = shopOf(till, {
      access: (principal, _transport, { revision }) => asked.push(revision) > 0 && ada(principal),
    });
    const names = async (subject: string, name: string) =>
      await namesOf(await connect(shop, { principal: { subject }, clientInfo: { name, version: '1' } }));
    expect(await names('bob', 'desk')).toEqual([]);
    expect(await names('ada', 'phone')).not.toContain('till_drawer');
    expect(await names('ada', 'desk')).toContain('till_drawer');
    // once for each request
    expect(asked).toHaveLength(3);
    await shop.close();
  });
});
