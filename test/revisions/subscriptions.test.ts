// Subscriptions in the stateless revision.
import { describe, expect } from '@jest/globals';
import {
  type Access,
  type JsonObject,
  type McpServer,
  MemoryChangeBus,
  NoInput,
  Prompt,
  Resource,
  Tool,
} from '@decorum/core';
import { HOST } from '@decorum/core/transport';

import { transportsOf, overHttp } from '../support/http-transports.js';
import { type Message, overMemory, overStdio, RawClient, type RawOptions } from '../support/raw-client.js';
import { inStateless, STATELESS } from '../support/requirements.js';
import { deferred, serverOf, serverWith } from './servers.js';

const SUBSCRIPTION = 'io.modelcontextprotocol/subscriptionId';
const ACKNOWLEDGED = 'notifications/subscriptions/acknowledged';
const RAW_TRANSPORTS = Object.entries(transportsOf(STATELESS));

const ALL = {
  toolsListChanged: true,
  promptsListChanged: true,
  resourcesListChanged: true,
  resourceSubscriptions: ['docs://a', 'docs://b'],
};

class Shelf {
  @Tool()
  tool() {
    return 'tool';
  }

  @Prompt()
  prompt() {
    return 'prompt';
  }

  @Resource('docs://a')
  first() {
    return 'a';
  }

  @Resource('docs://b')
  second() {
    return 'b';
  }
}

const shelf = () => serverOf({ providers: [Shelf] });

const connect = (server: McpServer, transport = overMemory, options: Partial<RawOptions> = {}) =>
  RawClient.connect(server, { revision: STATELESS, ...options }, transport);

/** Sends a subscription without waiting: over some transports, the request stays in flight until it ends. */
function ask(client: RawClient, id: string | number, notifications?: unknown): void {
  const params = notifications === undefined ? {} : { notifications };
  void client.send(client.buildMessage(id, 'subscriptions/listen', params as JsonObject));
}

const subscriptionOf = ({ params, result }: Message): unknown =>
  ((params ?? result)?.['_meta'] as JsonObject | undefined)?.[SUBSCRIPTION];

/** The messages of one subscription. */
const heard = (client: RawClient, id: unknown) => client.received.filter((message) => subscriptionOf(message) === id);

const methodsOf = (messages: readonly Message[]) => messages.map(({ method }) => method);

/** Subscribes. Resolves with the acknowledged notifications. */
async function listen(client: RawClient, id: string | number, notifications: object): Promise<unknown> {
  ask(client, id, notifications);
  const fits = (message: Message) => message.method === ACKNOWLEDGED && subscriptionOf(message) === id;
  return (await client.find(fits)).params?.['notifications'];
}

/** Waits for message `count` of a subscription, starting at 0. */
async function nth(client: RawClient, id: unknown, count: number): Promise<Message> {
  return await client.find((message) => heard(client, id)[count] === message);
}

/** Changes everything. Resolves when a client with all subscriptions has received all changes. */
async function changeEverything(server: McpServer, witness: RawClient): Promise<void> {
  const before = heard(witness, 'witness').length;
  server.notify.toolsChanged();
  server.notify.promptsChanged();
  server.notify.resourcesChanged();
  for (const uri of ['docs://a', 'docs://b', 'docs://c']) server.notify.resourceUpdated(uri);
  // list changes are sent last, all in one turn
  await nth(witness, 'witness', before + 4);
  await witness.settled();
}

/** A client that subscribes to everything. */
async function witnessOf(server: McpServer): Promise<RawClient> {
  const witness = await connect(server);
  await listen(witness, 'witness', ALL);
  return witness;
}

describe('a subscription', () => {
  inStateless('SUB-01', 'has only the requested notifications', async () => {
    const updated = 'notifications/resources/updated';
    const cases: [asked: object, heard: string[]][] = [
      [{}, []],
      [{ toolsListChanged: false }, []],
      [{ toolsListChanged: true }, ['notifications/tools/list_changed']],
      [{ promptsListChanged: true }, ['notifications/prompts/list_changed']],
      [{ resourcesListChanged: true }, ['notifications/resources/list_changed']],
      [{ resourceSubscriptions: [] }, []],
      [{ resourceSubscriptions: ['docs://b'] }, [updated]],
      [
        ALL,
        [updated, updated, ...['tools', 'prompts', 'resources'].map((list) => `notifications/${list}/list_changed`)],
      ],
      [{ toolsListChanged: 1, promptsListChanged: 'true', resourcesListChanged: {} }, []],
      [{ toolsListChanged: null, promptsListChanged: false, resourceSubscriptions: ['docs://A'] }, []],
    ];
    for (const [, transport] of RAW_TRANSPORTS) {
      const server = shelf();
      const witness = await witnessOf(server);
      const client = await connect(server, transport);
      for (const [id, [asked]] of cases.entries()) await listen(client, id, asked);
      await changeEverything(server, witness);
      await client.settled();
      for (const [id, [, methods]] of cases.entries()) {
        await nth(client, id, methods.length);
        expect(methodsOf(heard(client, id).slice(1)).sort()).toEqual([...methods].sort());
      }
      const uris = heard(client, 6).map(({ params }) => params?.['uri']);
      expect(uris).toEqual([undefined, 'docs://b']);
    }
  });

  inStateless('SUB-02', 'starts with the acknowledgement, even during changes', async () => {
    for (const [, transport] of RAW_TRANSPORTS) {
      const server = shelf();
      const client = await connect(server, transport);
      const asks = Array.from({ length: 20 }, (_item, id) => {
        ask(client, id, ALL);
        server.notify.resourceUpdated('docs://a');
        server.notify.toolsChanged();
        return nth(client, id, 0);
      });
      const first = await Promise.all(asks);
      expect(methodsOf(first)).toEqual(first.map(() => ACKNOWLEDGED));
      server.notify.resourceUpdated('docs://a');
      for (let id = 0; id < 20; id += 1) {
        await nth(client, id, 1);
        expect(heard(client, id).filter(({ method }) => method === ACKNOWLEDGED)).toHaveLength(1);
      }
    }
  });

  inStateless('SUB-03', 'is acknowledged with the supported notifications', async () => {
    class OnlyPrompts {
      @Prompt()
      prompt() {
        return 'prompt';
      }
    }
    class OnlyResources {
      @Resource('docs://a')
      first() {
        return 'a';
      }

      @Resource('docs://b')
      second() {
        return 'b';
      }
    }
    const { toolsListChanged, promptsListChanged, ...resources } = ALL;
    for (const [, transport] of RAW_TRANSPORTS) {
      const tools = await connect(serverWith({ tool: () => '' }), transport);
      expect(await listen(tools, 1, ALL)).toEqual({ toolsListChanged });
      expect(await listen(tools, 2, { promptsListChanged: true })).toEqual({});
      const prompts = await connect(serverOf({ providers: [OnlyPrompts] }), transport);
      expect(await listen(prompts, 1, ALL)).toEqual({ promptsListChanged });
      const onlyResources = await connect(serverOf({ providers: [OnlyResources] }), transport);
      expect(await listen(onlyResources, 1, ALL)).toEqual(resources);
      const everything = await connect(shelf(), transport);
      expect(await listen(everything, 1, { ...ALL, tasksListChanged: true, more: ['x'] })).toEqual(ALL);
      const odd = {
        toolsListChanged: 1,
        promptsListChanged: 'true',
        resourcesListChanged: {},
        resourceSubscriptions: [],
      };
      expect(await listen(everything, 'odd', odd)).toEqual({});
      for (const one of Object.keys(ALL)) {
        const asks = { [one]: ALL[one as keyof typeof ALL] };
        expect(await listen(everything, one, asks)).toEqual(asks);
        if (one !== 'resourceSubscriptions')
          expect(await listen(everything, `no ${one}`, { [one]: false })).toEqual({});
      }
    }
  });

  inStateless('SUB-04', 'has the id of its request in all messages, with the same type', async () => {
    for (const [, transport] of RAW_TRANSPORTS) {
      const server = shelf();
      const client = await connect(server, transport);
      const ids = [1, '1', 0, '', 'a b', -7];
      for (const id of ids) await listen(client, id, { resourceSubscriptions: ['docs://a'] });
      server.notify.resourceUpdated('docs://a');
      await Promise.all(ids.map((id) => nth(client, id, 1)));
      const closing = server.close();
      await Promise.all(ids.map((id) => client.response(id)));
      for (const id of ids) {
        expect(methodsOf(heard(client, id))).toEqual([ACKNOWLEDGED, 'notifications/resources/updated', undefined]);
        expect(heard(client, id)[2]).toMatchObject({ id, result: { resultType: 'complete' } });
      }
      expect(client.received).toHaveLength(3 * ids.length);
      await client.close();
      await closing;
    }
  });

  for (const [name, transport] of [
    ['stdio', overStdio],
    ['HTTP', overHttp],
  ] as const) {
    inStateless('SUB-05', `is kept apart from others of the same client, over ${name}`, async () => {
      const server = shelf();
      const client = await connect(server, transport);
      await listen(client, 'a', { resourceSubscriptions: ['docs://a'] });
      await listen(client, 'b', { resourceSubscriptions: ['docs://b'], toolsListChanged: true });
      await listen(client, 'both', { resourceSubscriptions: ['docs://a', 'docs://b'] });
      for (let round = 0; round < 5; round += 1) {
        for (const uri of ['docs://a', 'docs://b', 'docs://a']) server.notify.resourceUpdated(uri);
      }
      server.notify.toolsChanged();
      await Promise.all([nth(client, 'a', 10), nth(client, 'b', 6), nth(client, 'both', 15)]);
      await client.settled();
      const uris = (id: string) => heard(client, id).map(({ params }) => params?.['uri'] ?? '-');
      const [a, b] = ['docs://a', 'docs://b'];
      expect(uris('a')).toEqual(['-', ...Array.from({ length: 10 }, () => a)]);
      expect(uris('b')).toEqual(['-', b, b, b, b, b, '-']);
      expect(uris('both')).toEqual(['-', ...Array.from({ length: 5 }, () => [a, b, a]).flat()]);
    });
  }

  inStateless('SUB-06', 'ends with a result when the server closes', async () => {
    for (const [, transport] of RAW_TRANSPORTS) {
      const server = shelf();
      const client = await connect(server, transport);
      for (const id of ['a', 7]) await listen(client, id, ALL);
      await listen(client, 'nothing', {});
      const closing = server.close();
      for (const id of ['a', 7, 'nothing']) {
        const result = { resultType: 'complete', _meta: { [SUBSCRIPTION]: id } };
        expect(await client.response(id)).toMatchObject({ jsonrpc: '2.0', id, result });
      }
      server.notify.resourceUpdated('docs://a');
      await closing;
      expect(client.received).toHaveLength(6);
    }
  });

  inStateless('SUB-07', 'ends at once when its client cancels it', async () => {
    for (const [name, transport] of RAW_TRANSPORTS.filter(([each]) => each !== 'memory')) {
      const server = shelf();
      const client = await connect(server, transport);
      await listen(client, 'given up', ALL);
      await listen(client, 'kept', ALL);
      await client.cancel('given up');
      // the server notices the disconnect only when it reads
      expect(await listeners(server, 1)).toBe(1);
      server.notify.resourceUpdated('docs://a');
      server.notify.toolsChanged();
      await nth(client, 'kept', 2);
      await client.settled();
      expect([name, methodsOf(heard(client, 'given up'))]).toEqual([name, [ACKNOWLEDGED]]);
      expect(client.received.filter(({ id }) => id === 'given up')).toEqual([]);
    }
  });

  inStateless(
    'SUB-01',
    'inherits nothing from an earlier one with its id, nor from that of another client (#22)',
    async () => {
      for (const [name, transport] of RAW_TRANSPORTS.filter(([each]) => each !== 'memory')) {
        const server = shelf();
        const witness = await witnessOf(server);
        const [client, other] = [await connect(server, transport), await connect(server, transport)];
        await listen(other, 'id', ALL);
        await listen(client, 'id', ALL);
        await client.cancel('id');
        expect(await listeners(server, 2)).toBe(2);
        const before = heard(client, 'id').length;
        ask(client, 'id', { promptsListChanged: true });
        const acknowledged = await nth(client, 'id', before);
        expect([name, acknowledged.params?.['notifications']]).toEqual([name, { promptsListChanged: true }]);
        await changeEverything(server, witness);
        await nth(client, 'id', before + 1);
        await client.settled();
        const told = methodsOf(heard(client, 'id').slice(before + 1));
        expect([name, told]).toEqual([name, ['notifications/prompts/list_changed']]);
      }
    },
  );

  inStateless('SUB-08', 'has no progress and no log messages', async () => {
    for (const [, transport] of RAW_TRANSPORTS) {
      const going = deferred();
      const server = serverWith({
        async work(context) {
          for (let step = 1; step <= 3; step += 1) {
            context.progress(step, 3);
            context.log.warning(`step ${step}`);
          }
          await going.promise;
          context.progress(4, 4);
          return 'done';
        },
      });
      const witness = await connect(server, transport, { logLevel: 'debug' });
      await listen(witness, 'witness', { toolsListChanged: true, progress: true, message: true, loggingMessage: true });
      const worker = await connect(server, transport, { logLevel: 'debug' });
      await listen(worker, 'own', { toolsListChanged: true });
      const tokened = { notifications: { toolsListChanged: true }, _meta: { progressToken: 'of listening' } };
      void witness.send(witness.buildMessage('tokened', 'subscriptions/listen', tokened));
      await nth(witness, 'tokened', 0);
      const work = worker.request('tools/call', { name: 'work', _meta: { progressToken: 'p' } });
      await worker.find(({ params }) => params?.['data'] === 'step 3');
      server.notify.toolsChanged();
      await Promise.all([nth(witness, 'witness', 1), nth(witness, 'tokened', 1), nth(worker, 'own', 1)]);
      going.resolve();
      await work;
      await witness.settled();
      const changed = 'notifications/tools/list_changed';
      expect(methodsOf(witness.received).filter((method) => method !== undefined)).toEqual([
        ACKNOWLEDGED,
        ACKNOWLEDGED,
        changed,
        changed,
      ]);
      expect(methodsOf(heard(worker, 'own'))).toEqual([ACKNOWLEDGED, 'notifications/tools/list_changed']);
      const spoken = [...worker.of('notifications/progress'), ...worker.of('notifications/message')];
      expect(spoken.map((message) => subscriptionOf(message))).toEqual(Array.from({ length: 7 }, () => undefined));
    }
  });

  inStateless('SUB-09', 'gets list changes', async () => {
    for (const [, transport] of RAW_TRANSPORTS) {
      const server = serverWith({ tool: () => '' });
      const [hears, other] = [await connect(server, transport), await connect(server, transport)];
      await listen(hears, 1, { toolsListChanged: true });
      await listen(other, 1, {});
      const added = server.addTool({ name: 'more', input: NoInput }, () => '');
      expect(await nth(hears, 1, 1)).toMatchObject({ method: 'notifications/tools/list_changed' });
      added.remove();
      await nth(hears, 1, 2);
      await other.settled();
      expect(methodsOf(other.received).filter((method) => method !== undefined)).toEqual([ACKNOWLEDGED]);
    }
  });

  inStateless('SUB-09', 'gets every list that changes, also several at once', async () => {
    const lists = ['tools', 'prompts', 'resources'];
    class More {
      @Tool()
      more() {}

      @Prompt({ name: 'more' })
      prompt() {
        return '';
      }

      @Resource('docs://more')
      resource() {
        return '';
      }
    }
    for (const [, transport] of RAW_TRANSPORTS) {
      const server = shelf();
      const client = await connect(server, transport);
      const { resourceSubscriptions: _none, ...all } = ALL;
      await listen(client, 'all', all);
      for (const list of lists) await listen(client, list, { [`${list}ListChanged`]: true });
      let times = 0;
      const told = async () => {
        times += 1;
        await Promise.all([nth(client, 'all', 3 * times), ...lists.map((list) => nth(client, list, times))]);
        await client.settled();
        const changes = lists.map((list) => `notifications/${list}/list_changed`);
        const heardOf = (id: string, count: number) => methodsOf(heard(client, id).slice(-count)).sort();
        expect(heardOf('all', 3)).toEqual([...changes].sort());
        for (const [index, list] of lists.entries()) expect(heardOf(list, 1)).toEqual([changes[index]]);
        expect(client.received.filter(({ method }) => method?.endsWith('list_changed'))).toHaveLength(6 * times);
      };
      const added = server.addProvider(More);
      await told();
      added.remove();
      await told();
      const { toolsChanged, promptsChanged, resourcesChanged } = server.notify;
      for (const change of [resourcesChanged, promptsChanged, toolsChanged, promptsChanged]) change();
      await told();
    }
  });

  inStateless('SUB-10', 'ends with its connection', async () => {
    for (const [, transport] of RAW_TRANSPORTS) {
      const server = shelf();
      const principal = { subject: 'ada' };
      const lost = await connect(server, transport, { principal });
      await listen(lost, 'sub', ALL);
      await lost.close();
      const witness = await witnessOf(server);
      const back = await connect(server, transport, { principal });
      await back.begin();
      expect(await listeners(server, 1)).toBe(1);
      await changeEverything(server, witness);
      await back.settled();
      expect(back.received.filter(({ method }) => method !== undefined)).toEqual([]);
      expect(methodsOf(heard(lost, 'sub').filter(({ method }) => method !== undefined))).toEqual([ACKNOWLEDGED]);
      // the id can be used again
      expect(await listen(back, 'sub', { toolsListChanged: true })).toEqual({ toolsListChanged: true });
    }
  });

  inStateless('SUB-11', 'is rejected if it requests no notifications', async () => {
    for (const [, transport] of RAW_TRANSPORTS) {
      const client = await connect(shelf(), transport);
      const wrong = [
        undefined,
        null,
        'all',
        [],
        7,
        { resourceSubscriptions: 'docs://a' },
        { resourceSubscriptions: [7] },
      ];
      for (const [id, notifications] of wrong.entries()) {
        ask(client, id, notifications);
        expect(await client.response(id)).toMatchObject({ error: { code: -32602 } });
      }
      expect(client.of(ACKNOWLEDGED)).toEqual([]);
    }
  });

  inStateless('SUB-12', 'is limited in number, and to resources that its user may read', async () => {
    const only =
      (subject: string): Access =>
      (principal) =>
        principal?.subject === subject;
    class Diaries {
      @Resource('diary://ada', { access: only('ada') })
      ada() {
        return '';
      }

      @Resource('diary://bob', { access: only('bob') })
      bob() {
        return '';
      }

      @Resource('letters://ada/{id}', { access: only('ada') })
      toAda(_variables: NoInput) {
        return '';
      }

      @Resource('letters://bob/{id}', { access: only('bob') })
      toBob(_variables: NoInput) {
        return '';
      }
    }
    const server = serverOf({ providers: [Diaries], limits: { maxOpenCalls: 2000 } });
    const ada = await connect(server, overHttp, { principal: { subject: 'ada' } });
    const [hers, his] = ['ada', 'bob'].map((name) => [`diary://${name}`, `letters://${name}/1`]) as [
      string[],
      string[],
    ];
    const resourceSubscriptions = [...hers, ...his];
    expect(await listen(ada, 'diaries', { resourceSubscriptions })).toEqual({ resourceSubscriptions: hers });
    for (const uri of [...his, ...hers]) server.notify.resourceUpdated(uri);
    await nth(ada, 'diaries', 2);
    await ada.settled();
    expect(heard(ada, 'diaries').map(({ params }) => params?.['uri'])).toEqual([undefined, ...hers]);
    const many = await connect(server);
    for (let id = 1; id < 1024; id += 1) ask(many, id, {});
    await nth(many, 1023, 0);
    ask(many, 'too many', {});
    expect(await many.response('too many')).toMatchObject({ error: { code: -32603 } });
    await many.cancel(1);
    expect(await listen(many, 'in its place', {})).toEqual({});
    await many.close();
    // nothing serves these, although they are the beginning of URIs that something serves
    const prefixes = ['diary://', 'diary://a', 'diary://ada/', 'none://at/all'];
    expect(await listen(ada, 'prefixes', { resourceSubscriptions: prefixes })).toEqual({ resourceSubscriptions: [] });
  });
});

describe('a change', () => {
  inStateless('SUB-13', 'reaches the clients of all servers on one bus, even from one without clients', async () => {
    for (const [, transport] of RAW_TRANSPORTS) {
      const changeBus = new MemoryChangeBus();
      const open = () => serverOf({ providers: [Shelf], changeBus });
      const clients = [await connect(open(), transport), await connect(open(), transport)];
      for (const client of clients) await listen(client, 'all', ALL);
      // such as a worker that only writes
      const { notify } = open();
      const changes = [
        [() => notify.resourceUpdated('docs://a'), 'resources/updated'],
        [() => notify.toolsChanged(), 'tools/list_changed'],
        [() => notify.promptsChanged(), 'prompts/list_changed'],
        [() => notify.resourcesChanged(), 'resources/list_changed'],
      ] as const;
      for (const [index, [change, method]] of changes.entries()) {
        change();
        for (const client of clients) {
          expect(await nth(client, 'all', index + 1)).toMatchObject({ method: `notifications/${method}` });
        }
      }
      for (const client of clients) {
        await client.settled();
        expect(heard(client, 'all')).toHaveLength(changes.length + 1);
      }
    }
  });
});

/** Waits for the expected number of subscriptions. */
async function listeners(server: McpServer, expected: number): Promise<number> {
  const { kernel } = await server[HOST].open((opened) => ({ kernel: opened, stop() {}, close() {} }));
  const insides = kernel as unknown as {
    readonly parts: { readonly events: { readonly listeners: { readonly size: number } } };
  };
  const { listeners: all } = insides.parts.events;
  for (let turn = 0; turn < 1000 && all.size !== expected; turn += 1) await new Promise(setImmediate);
  return all.size;
}
