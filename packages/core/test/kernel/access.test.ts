import { afterEach, describe, expect, it } from '@jest/globals';
import {
  type Access,
  connectMemory,
  type JsonObject,
  McpServer,
  type McpServerOptions,
  type Principal,
  Resource,
  Tool,
} from '@decorum/core';
import { connect, type TestClient } from '@decorum/testing';

import { ERAS, reporting, turn } from './serving.js';

const STAFF: Principal = { subject: 'ada', scopes: ['staff'] };
const GUEST: Principal = { subject: 'bob', scopes: [] };

const staff: Access = (principal) => principal?.scopes?.includes('staff') === true;

const serverOf = (...providers: object[]) => reporting({ providers }).server;

const namesOf = (entries: readonly { readonly name: string }[]) => entries.map(({ name }) => name);

describe.each(ERAS)('a member with access (%s)', (era) => {
  it('is rejected if the function throws or does not return true, and the error is reported', async () => {
    const methods: unknown[] = [];
    const fails: readonly Access[] = [
      () => {
        throw new Error('no directory');
      },
      () => Promise.reject(new Error('no directory')),
      // values that a JavaScript function may return
      (() => 'yes') as unknown as Access,
    ];
    const { server } = reporting({ onError: (_error, { method }) => methods.push(method) });
    for (const [index, access] of fails.entries()) server.addTool({ name: `tool${index}`, access }, () => 'ran');
    const client = await connect(server, { era, principal: STAFF });
    expect(await client.listTools()).toEqual([]);
    for (const index of fails.keys()) {
      await expect(client.callTool(`tool${index}`)).rejects.toMatchObject({ message: `Unknown tool: tool${index}` });
    }
    expect(methods).toEqual(['tools/list', 'tools/call'].flatMap((method) => fails.map(() => method)));
  });

  it('is checked once per request, even if several members share the function', async () => {
    let asked = 0;
    let isOpen = false;
    const server = serverOf();
    const access: Access = (_principal, { kind }) => {
      asked += 1;
      return isOpen && kind === 'memory';
    };
    for (const name of ['a', 'b', 'c']) server.addTool({ name, access }, () => name);
    const client = await connect(server, { era });
    expect(await client.listTools()).toEqual([]);
    expect(asked).toBe(1);
    isOpen = true;
    expect(namesOf(await client.listTools())).toEqual(['a', 'b', 'c']);
    expect((await client.callTool('a')).content).toEqual([{ type: 'text', text: 'a' }]);
    isOpen = false;
    await expect(client.callTool('a')).rejects.toThrow('Unknown tool: a');
  });
});

it('lists that depend on access distinguish many callers, also on interleaved pages', async () => {
  const { server } = reporting({ pageSize: 2 });
  const digits = Array.from({ length: 8 }, (_, bit) => bit);
  const sees = (subject: string, bit: number) => ((Number(subject) >> bit) & 1) === 1;
  for (const bit of digits) {
    server.addTool({ name: `t${bit}`, access: (principal) => sees(principal?.subject ?? '0', bit) }, () => '');
  }
  const subjects = Array.from({ length: 200 }, (_, index) => String(index));
  const lists = subjects.map(async (subject) => {
    const client = await connect(server, { era: 'stateless', principal: { subject } });
    return namesOf(await client.listTools());
  });
  const expected = subjects.map((subject) => digits.filter((bit) => sees(subject, bit)).map((bit) => `t${bit}`));
  expect(await Promise.all(lists)).toEqual(expected);
});

describe('subscribers of resources', () => {
  class Tree {
    @Resource('tree://root') root() {}
    @Resource('tree://root/open') open() {}
    @Resource('tree://root/closed', { access: staff }) closed() {}
  }

  const listen = async (server: McpServer, principal: Principal, uris: readonly string[]) => {
    const client = await connect(server, { era: 'stateless', principal });
    void client.request('subscriptions/listen', { notifications: { resourceSubscriptions: uris } }).catch(() => {});
    const { params } = await client.nextNotification('notifications/subscriptions/acknowledged');
    return { client, acknowledged: (params as { notifications: JsonObject }).notifications['resourceSubscriptions'] };
  };

  it('are acknowledged only resources that the server has, even if all are open to everybody', async () => {
    class Users {
      @Resource('users://{name}', { input: { type: 'object', properties: { name: { type: 'string' } } } }) user() {}
    }
    const server = serverOf(new Users());
    const uris = ['users://', 'users://ada', 'users://ada/', 'user://'];
    const { client, acknowledged } = await listen(server, GUEST, uris);
    expect(acknowledged).toEqual(['users://ada']);
    for (const uri of ['users://bob', 'users://ada/letters', 'users://ada']) server.notify.resourceUpdated(uri);
    const { params } = await client.nextNotification('notifications/resources/updated');
    expect(params).toMatchObject({ uri: 'users://ada' });
    await server.close();
  });

  it('get changes of parts only if they subscribe to these, or if the server names the whole', async () => {
    const server = serverOf(new Tree());
    const uris = ['tree://root', 'tree://root/closed'];
    const guest = await listen(server, GUEST, uris);
    const member = await listen(server, STAFF, uris);
    const session = await connect(server, { principal: GUEST });
    await session.subscribe('tree://root');
    server.notify.resourceUpdated('tree://root/closed');
    server.notify.resourceUpdated('tree://root/open', 'tree://root');
    const updates = async (client: TestClient, count: number) => {
      const told: unknown[] = [];
      while (told.length < count) {
        told.push((await client.nextNotification('notifications/resources/updated')).params?.['uri']);
      }
      return told;
    };
    expect(await updates(guest.client, 1)).toEqual(['tree://root/open']);
    expect(await updates(session, 1)).toEqual(['tree://root/open']);
    expect(await updates(member.client, 2)).toEqual(['tree://root/closed', 'tree://root/open']);
    await server.close();
  });

  it('are released when the server closes during an access check', async () => {
    let decide = (_admitted: boolean) => {};
    let asked = () => {};
    const waiting = new Promise<void>((resolve) => (asked = resolve));
    class Slow {
      @Resource('slow://a', {
        access: () => {
          asked();
          return new Promise<boolean>((resolve) => (decide = resolve));
        },
      })
      a() {}
    }
    const server = serverOf(new Slow());
    const client = await connect(server, { era: 'stateless' });
    const notifications = { resourceSubscriptions: ['slow://a'] };
    const listening = client.request('subscriptions/listen', { notifications });
    await waiting;
    const closed = server.close();
    decide(true);
    expect(await listening).toMatchObject({ resultType: 'complete' });
    await closed;
  });

  it('that disconnect take no subscription from others, even if the access check never ends', async () => {
    class Undecided {
      @Resource('slow://a', { access: () => new Promise<boolean>(() => {}) }) a() {}
    }
    const server = serverOf(new Undecided());
    const notifications = { resourceSubscriptions: ['slow://a'] };
    // up to the cap on subscriptions
    for (let index = 0; index < 1024; index += 1) {
      const client = await connect(server, { era: 'stateless' });
      void client.request('subscriptions/listen', { notifications }).catch(() => {});
      await client.close();
    }
    const client = await connect(server, { era: 'stateless' });
    void client.request('subscriptions/listen', { notifications: { resourcesListChanged: true } }).catch(() => {});
    await client.nextNotification('notifications/subscriptions/acknowledged');
    await server.close();
  });
});

it('access is kept by overrides and other options, and replaced if it is set again', async () => {
  class Guarded {
    @Tool({ description: 'guarded', access: staff }) act() {}
  }
  class Quiet extends Guarded {
    override act() {}
  }
  class Renamed extends Guarded {
    @Tool({ name: 'renamed' }) override act() {}
  }
  class Opened extends Guarded {
    @Tool({ access: () => true }) override act() {}
  }
  for (const cls of [Quiet, Renamed, Opened, Guarded]) {
    const member = cls === Renamed ? 'renamed' : 'act';
    const guest = cls === Opened ? ['act'] : [];
    const seenBy = async (principal: Principal) =>
      namesOf(await (await connect(serverOf(new cls()), { principal })).listTools());
    expect([cls.name, await seenBy(STAFF), await seenBy(GUEST)]).toEqual([cls.name, [member], guest]);
  }
});

describe('access functions that answer later', () => {
  const ADA = { subject: 'ada', scopes: ['pay'] };
  const HELLO = { capabilities: {}, clientInfo: { name: 'c', version: '1' } };

  const call = (id: number, name: string) => ({ jsonrpc: '2.0', id, method: 'tools/call', params: { name } });

  /** Answers access functions when the test says so. */
  class Gate {
    asked = 0;
    letIn = (_isIn: boolean) => {};

    readonly access = async () => {
      this.asked += 1;
      return await new Promise<boolean>((resolve) => (this.letIn = resolve));
    };
  }

  let gate = new Gate();

  class Till {
    readonly ran: string[] = [];

    @Tool({ scopes: ['pay'], access: () => gate.access() }) pay() {
      this.ran.push('pay');
    }

    @Tool() count() {
      this.ran.push('count');
    }

    @Resource('till://today', { scopes: ['audit'], access: () => gate.access() }) today() {}
  }

  const servers: McpServer[] = [];

  function serve(options: Partial<McpServerOptions> = {}) {
    gate = new Gate();
    const till = new Till();
    const { server } = reporting({ providers: [till], ...options });
    servers.push(server);
    return { server, till };
  }

  afterEach(async () => {
    await Promise.all(servers.splice(0).map((server) => server.close({ deadlineMs: 1 })));
  });

  it.each([
    ['alone', '2025-11-25', call(2, 'pay'), []],
    ['in a batch with it', '2025-03-26', [call(2, 'count'), call(3, 'pay')], ['pay']],
  ])('never let a request run that its client cancels meanwhile, %s (#22)', async (_how, revision, message, ran) => {
    const { server, till } = serve();
    const { send } = await connectMemory(server, { principal: ADA, receive() {} });
    await send({ jsonrpc: '2.0', id: 1, method: 'initialize', params: { ...HELLO, protocolVersion: revision } });
    const called = send(message);
    await send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 2 } });
    gate.letIn(true);
    await called;
    await turn();
    expect([gate.asked, till.ran]).toEqual([1, ran]);
  });

  it('do not let a request with an invalid state run, even if its handler never asks (#22)', async () => {
    const { server, till } = serve();
    const client = await connect(server, { era: 'stateless', principal: ADA });
    const called = client.request('tools/call', { name: 'pay', requestState: 'forged' });
    await turn();
    gate.letIn(true);
    const message = 'The requestState is invalid for this request, or has expired.';
    await expect(called).rejects.toMatchObject({ code: -32602, message });
    expect(till.ran).toEqual([]);
  });

  it('are not asked about too many URIs of `subscriptions/listen` (#22)', async () => {
    const { server } = serve({ limits: { maxSubscriptions: 1 } });
    const client = await connect(server, { era: 'stateless', principal: ADA });
    const notifications = { resourceSubscriptions: ['till://today', 'till://today'] };
    await expect(client.request('subscriptions/listen', { notifications })).rejects.toThrow(/at most 1/i);
    expect(gate.asked).toBe(0);
  });
});
