// Members that `access` hides from a client: no notification and no completion tells the client of them.
import { Completion, McpServer, type McpServerOptions, type Principal, Prompt, Resource, Tool } from '@decorum/core';
import { connect } from '@decorum/testing';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { IsString } from 'class-validator';

const ADMIN: Principal = { subject: 'admin', scopes: ['admin'] };
const isAdmin = (principal: Principal | undefined) => principal?.subject === 'admin';

class Order {
  @IsString() id!: string;
}

class Shop {
  @Tool() greet() {
    return 'Hello!';
  }

  @Resource('orders://all') orders() {
    return 'all';
  }

  @Resource('orders://secret', { access: isAdmin }) secret() {
    return 'secret';
  }

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
  @Prompt({ access: isAdmin }) review() {
    return 'review';
  }
  @Resource('orders://hidden', { access: isAdmin }) hidden() {
    return 'hidden';
  }
}

class Open {
  @Tool() count() {}
}

const serverWith = (options: Partial<McpServerOptions> = {}) =>
  new McpServer({ name: 'shop', version: '1.0.0', providers: [Shop], ...options });

beforeEach(() => void jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate', 'performance'] }));
afterEach(() => void jest.useRealTimers());

/** A client and the notifications that it has got. */
async function listening(server: McpServer, era: 'stateful' | 'stateless', principal?: Principal) {
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

describe.each(['stateful', 'stateless'] as const)('a client in a %s revision', (era) => {
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
    const errors: unknown[] = [];
    const server = serverWith({ onError: (error) => errors.push(error), logger: { warn() {}, error() {} } });
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
    const pairs = [
      [{ prompt: 'sumUp' }, { prompt: 'none' }],
      [{ resource: 'orders://{id}' }, { resource: 'none://{id}' }],
      [{ resource: 'orders://secret' }, { resource: 'none://secret' }],
      [{ resource: 'orders://o-1' }, { resource: 'none://o-1' }],
    ];
    for (const [hidden, missing] of pairs as [{ prompt: string }, { prompt: string }][]) {
      const [left, right] = [Object.values(hidden)[0] as string, Object.values(missing)[0] as string];
      expect(await errorOf(hidden, left)).toEqual(await errorOf(missing, right));
      expect((await errorOf(hidden, left)).code).toBe(-32602);
    }
    const admin = await connect(server, { era, principal: ADMIN });
    expect((await admin.complete({ prompt: 'sumUp' }, { name: 'id', value: '' })).values).toEqual(['o-1']);
    await server.close();
  });
});
