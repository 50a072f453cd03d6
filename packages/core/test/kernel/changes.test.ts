// Changes: the bus between servers, and what clients hear of members that `access` hides from them.
import { setImmediate as turn } from 'node:timers/promises';

import {
  type Change,
  type ChangeBus,
  Completion,
  type Extension,
  McpServer,
  type McpServerOptions,
  MemoryChangeBus,
  type Principal,
  Prompt,
  Resource,
  Tool,
} from '@decorum/core';
import { connect } from '@decorum/testing';
import { changeBusContract } from '@decorum/testing/contracts';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { IsString } from 'class-validator';

import { ERAS, reporting } from './serving.js';

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

it.each(changeBusContract)('MemoryChangeBus %s', async (_rule, check) => {
  const bus = new MemoryChangeBus();
  await check({ near: bus, far: bus });
});

it.each(changeBusContract)('an asynchronous bus %s', async (_rule, check) => {
  const bus = new MemoryChangeBus();
  await check({ near: delayed(bus), far: delayed(bus) });
});

class Docs {
  @Resource('docs://guide', { name: 'guide' }) guide() {}
  @Tool({ description: 'Does nothing' }) idle() {}
}

describe('Two servers on one change bus', () => {
  const servers: McpServer[] = [];
  const serve = (changeBus: ChangeBus) => {
    const logged: unknown[] = [];
    const logger = { warn() {}, error: (details: object) => void logged.push(details) };
    const { server } = reporting({ providers: [Docs], changeBus, logger });
    servers.push(server);
    return { server, logged };
  };

  afterEach(async () => {
    await Promise.all(servers.splice(0).map((server) => server.close()));
  });

  it.each(['at once', 'later'])('notify each other’s clients if the bus delivers changes %s', async (when) => {
    const memory = new MemoryChangeBus();
    const bus = when === 'at once' ? memory : delayed(memory);
    const [{ server: near }, { server: far }] = [serve(bus), serve(bus)];
    const client = await connect(far);
    await client.subscribe('docs://guide');
    near.notify.resourceUpdated('docs://guide');
    expect((await client.nextNotification('notifications/resources/updated')).params).toEqual({ uri: 'docs://guide' });
    near.notify.toolsChanged();
    await client.nextNotification('notifications/tools/list_changed');
  });

  it('report errors of the bus and keep serving', async () => {
    const fail = () => {
      throw new Error('no broker');
    };
    const { server, logged } = serve({ publish: async () => fail(), subscribe: fail });
    const client = await connect(server);
    server.notify.toolsChanged();
    await turn();
    expect(logged).toHaveLength(2);
    expect((await client.callTool('idle')).content).toEqual([]);
  });

  it('ignore what processes of another version publish', async () => {
    const bus = new MemoryChangeBus();
    const { server, logged } = serve(bus);
    const heard: unknown[] = [];
    const extension: Extension = {
      id: 'com.example/x',
      open: (host) => void host.subscribe((published) => void heard.push(published)),
    };
    await connect(new McpServer({ name: 'other', version: '1', extensions: [extension], changeBus: bus }));
    const client = await connect(server);
    for (const change of [{ kind: 'later' }, { kind: 'extension', id: 'com.example/x' }]) bus.publish(change as Change);
    server.notify.toolsChanged();
    await client.nextNotification('notifications/tools/list_changed');
    expect([logged, heard]).toEqual([[], []]);
  });

  it('subscribe again with the next client if the bus has failed', async () => {
    const bus = new MemoryChangeBus();
    let refusals = 1;
    const subscribe: ChangeBus['subscribe'] = async (listener) => {
      if (refusals-- > 0) throw new Error('no broker');
      return bus.subscribe(listener);
    };
    const { server } = serve({ publish: (change) => bus.publish(change), subscribe });
    await connect(server);
    const client = await connect(server);
    server.notify.toolsChanged();
    await client.nextNotification('notifications/tools/list_changed');
  });
});

const ADMIN: Principal = { subject: 'admin', scopes: ['admin'] };
const isAdmin = (principal: Principal | undefined) => principal?.subject === 'admin';

class Order {
  @IsString() id!: string;
}

class Shop {
  @Tool() greet() {}
  @Resource('orders://all') orders() {}
  @Resource('orders://secret', { access: isAdmin }) secret() {}

  @Resource('orders://{id}', { access: isAdmin }) order({ id }: Order) {
    return id;
  }

  @Prompt({ access: isAdmin }) sumUp({ id }: Order) {
    return id;
  }

  @Completion({ for: ['sumUp', 'order'], argument: 'id' }) ids() {
    return ['o-1'];
  }
}

class Hidden {
  @Tool({ access: isAdmin }) purge() {}
  @Prompt({ access: isAdmin }) review() {}
  @Resource('orders://hidden', { access: isAdmin }) hidden() {}
}

class Open {
  @Tool() count() {}
}

const serverWith = (options: Partial<McpServerOptions> = {}) =>
  new McpServer({ name: 'shop', version: '1.0.0', providers: [Shop], ...options });

/** A client and the notifications that it has got. */
async function listening(server: McpServer, era: (typeof ERAS)[number], principal?: Principal) {
  const client = await connect(server, { era, ...(principal && { principal }) });
  if (era === 'stateless') {
    const notifications = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true };
    void client.request('subscriptions/listen', { notifications }).catch(() => {});
    await client.nextNotification('notifications/subscriptions/acknowledged');
  }
  let seen = 0;
  const got = async () => {
    await jest.advanceTimersByTimeAsync(20);
    const fresh = client.notifications.slice(seen);
    seen += fresh.length;
    return fresh.map(({ method }) => method);
  };
  await got();
  return { client, got };
}

describe.each(ERAS)('a client in a %s revision', (era) => {
  beforeEach(
    () => void jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate', 'performance'] }),
  );
  afterEach(() => void jest.useRealTimers());

  it('is not notified when members are added or removed that it cannot see (#22)', async () => {
    const server = serverWith();
    const guest = await listening(server, era);
    const admin = await listening(server, era, ADMIN);
    const changes = ['tools', 'prompts', 'resources'].map((list) => `notifications/${list}/list_changed`);
    const registration = server.addProvider(Hidden);
    expect([await guest.got(), await admin.got()]).toEqual([[], changes]);
    registration.remove();
    expect([await guest.got(), await admin.got()]).toEqual([[], changes]);
    server.addProvider(Open);
    expect([await guest.got(), await admin.got()]).toEqual([changes.slice(0, 1), changes.slice(0, 1)]);
    await server.close();
  });

  it('gets one notification when hidden and visible members change together (#22)', async () => {
    const server = serverWith();
    const { got } = await listening(server, era, ADMIN);
    server.addTool({ name: 'purge', access: isAdmin }, () => {});
    server.addTool({ name: 'count' }, () => {});
    expect(await got()).toEqual(['notifications/tools/list_changed']);
    await server.close();
  });

  it('is notified by the answer that `access` gives now, and not if `access` fails (#22)', async () => {
    let isOpen: () => boolean = () => false;
    const { server, errors } = reporting({ providers: [Shop] });
    const { got } = await listening(server, era);
    const add = (name: string) => server.addTool({ name, access: () => isOpen() }, () => {});
    add('a');
    expect(await got()).toEqual([]);
    isOpen = () => true;
    add('b');
    expect(await got()).toEqual(['notifications/tools/list_changed']);
    isOpen = () => {
      throw new Error('no answer');
    };
    add('c');
    expect(await got()).toEqual([]);
    expect(errors).toEqual([new Error('no answer')]);
    await server.close();
  });

  it('with `listing: usable` is not notified of members that it lacks the scopes for (#22)', async () => {
    const server = serverWith({ listing: 'usable' });
    const guest = await listening(server, era);
    const admin = await listening(server, era, ADMIN);
    server.addTool({ name: 'purge', scopes: ['admin'] }, () => {});
    expect([await guest.got(), await admin.got()]).toEqual([[], ['notifications/tools/list_changed']]);
    await server.close();
  });

  it('gets the same answer for completions of hidden members as for those that do not exist (#22)', async () => {
    const server = serverWith();
    const client = await connect(server, { era });
    const errorOf = async (ref: { prompt: string } | { resource: string }, name: string) => {
      const error: unknown = await client.complete(ref, { name: 'id', value: '' }).catch((thrown: unknown) => thrown);
      const { code, message } = error as { code: number; message: string };
      return { code, message: message.replace(name, '…') };
    };
    expect(await errorOf({ prompt: 'sumUp' }, 'sumUp')).toEqual(await errorOf({ prompt: 'none' }, 'none'));
    for (const path of ['{id}', 'secret', 'o-1']) {
      const [hidden, missing] = [`orders://${path}`, `none://${path}`];
      const error = await errorOf({ resource: hidden }, hidden);
      expect(error).toEqual(await errorOf({ resource: missing }, missing));
      expect(error.code).toBe(-32602);
    }
    const admin = await connect(server, { era, principal: ADMIN });
    expect((await admin.complete({ prompt: 'sumUp' }, { name: 'id', value: '' })).values).toEqual(['o-1']);
    await server.close();
  });
});
