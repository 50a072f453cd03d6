import { setImmediate as turn } from 'node:timers/promises';

import { afterEach, describe, expect, it } from '@jest/globals';
import { type Change, type ChangeBus, McpServer, MemoryChangeBus, Resource, Tool } from '@decorum/core';
import { connect } from '@decorum/testing';

import { changeBusContract } from '../../../../test/support/change-bus-contract.js';

/** Simulates a network: delays everything and serializes it as JSON. */
function delayed(bus: ChangeBus): ChangeBus {
  return {
    async publish(change) {
      await turn();
      await bus.publish(JSON.parse(JSON.stringify(change)) as Change);
    },
    async subscribe(listener) {
      await turn();
      return await bus.subscribe(listener);
    },
  };
}

changeBusContract('MemoryChangeBus', () => {
  const bus = new MemoryChangeBus();
  return { near: bus, far: bus, settled: async () => {} };
});
changeBusContract('an asynchronous bus', () => {
  const bus = new MemoryChangeBus();
  return { near: delayed(bus), far: delayed(bus), settled: () => turn() };
});

class Docs {
  @Resource('docs://guide', { name: 'guide' }) guide() {
    return 'text';
  }

  @Tool({ description: 'Does nothing' }) idle() {}
}

describe('Two servers on one change bus', () => {
  const servers: McpServer[] = [];
  const serve = (changeBus: ChangeBus, errors: unknown[] = []) => {
    const logger = { warn: () => {}, error: (details: object) => void errors.push(details) };
    const server = new McpServer({ name: 'docs', version: '1.0.0', providers: [Docs], changeBus, logger });
    servers.push(server);
    return server;
  };

  afterEach(async () => {
    await Promise.all(servers.splice(0).map((server) => server.close()));
  });

  it.each(['at once', 'later'])('notify each other’s clients if the bus delivers changes %s', async (when) => {
    const memory = new MemoryChangeBus();
    const bus = when === 'at once' ? memory : delayed(memory);
    const [near, far] = [serve(bus), serve(bus)];
    const client = await connect(far);
    await client.subscribe('docs://guide');
    near.notify.resourceUpdated('docs://guide');
    expect((await client.nextNotification('notifications/resources/updated')).params).toEqual({ uri: 'docs://guide' });
    near.notify.toolsChanged();
    await client.nextNotification('notifications/tools/list_changed');
  });

  it('report errors of the bus and keep serving', async () => {
    const errors: unknown[] = [];
    const server = serve(
      {
        publish: () => Promise.reject(new Error('no broker')),
        subscribe: () => {
          throw new Error('no broker');
        },
      },
      errors,
    );
    const client = await connect(server);
    server.notify.toolsChanged();
    await turn();
    expect(errors).toHaveLength(2);
    expect((await client.callTool('idle')).content).toEqual([]);
  });

  it('subscribe again with the next client if the bus has failed', async () => {
    const bus = new MemoryChangeBus();
    let refusals = 1;
    const subscribe: ChangeBus['subscribe'] = async (listener) => {
      if (refusals-- > 0) throw new Error('no broker');
      return bus.subscribe(listener);
    };
    const server = serve({ publish: (change) => bus.publish(change), subscribe });
    await connect(server);
    const client = await connect(server);
    server.notify.toolsChanged();
    await client.nextNotification('notifications/tools/list_changed');
  });
});
