import { McpServer, Tool } from '@decorum/core';
import { listen } from '@decorum/http';
import { connect } from '@decorum/testing';
import { expect, it } from '@jest/globals';

class Shop {
  @Tool() greet() {}
}

it.each(['stateful', 'stateless'] as const)(
  'a client in a %s revision is notified of hidden members by the headers of its own stream (#22)',
  async (era) => {
    const server = new McpServer({ name: 'shop', version: '1.0.0', providers: [Shop] });
    const { url, close } = await listen(server, { port: 0 });
    const clients = await Promise.all(
      ['guest', 'admin'].map((role) => connect(url, { era, headers: { 'x-role': role } })),
    );
    for (const client of clients) {
      if (era === 'stateful') continue;
      void client.request('subscriptions/listen', { notifications: { toolsListChanged: true } }).catch(() => {});
      await client.nextNotification('notifications/subscriptions/acknowledged');
    }
    const [guest, admin] = clients as [(typeof clients)[0], (typeof clients)[0]];
    server.addTool({ name: 'purge', access: (_, { headers }) => headers?.['x-role'] === 'admin' }, () => {});
    await admin.nextNotification('notifications/tools/list_changed');
    // what is announced to everybody comes next
    server.addTool({ name: 'count' }, () => {});
    await admin.nextNotification('notifications/tools/list_changed');
    await guest.nextNotification('notifications/tools/list_changed');
    const changes = clients.map(({ notifications }) =>
      notifications.filter(({ method }) => method.endsWith('list_changed')),
    );
    expect(changes.map(({ length }) => length)).toEqual([1, 2]);
    for (const client of clients) await client.close();
    await close();
  },
);
