// What clients are told of changes: by subscriptions without a session, and by sessions that follow a resource.
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

import { overHttp, transportsOf } from '../support/http-transports.js';
import { type Message, overMemory, overStdio, RawClient, type RawOptions } from '../support/raw-client.js';
import { eachRevision, inStateless, STATELESS } from '../support/requirements.js';
import { copies, kindsOf } from './lists.js';
import { ACKNOWLEDGED, followResource, listen, plain } from './neutral.js';
import { deferred, serverOf, serverWith } from './servers.js';
import { type Setting, waysOf } from './ways.js';

const SUBSCRIPTION = 'io.modelcontextprotocol/subscriptionId';
const UPDATED = 'notifications/resources/updated';
const PAGE: JsonObject = { type: 'object', properties: { at: { type: 'string' } } };

const shelf = ({ options = {}, guard = {} }: Partial<Setting> = {}) => {
  class Shelf {
    @Tool({ input: NoInput, ...guard })
    tool() {
      return 'tool';
    }

    @Prompt({ input: NoInput, ...guard })
    prompt() {
      return 'prompt';
    }

    @Resource('docs://a', guard)
    first() {
      return 'a';
    }

    @Resource('docs://b', guard)
    second() {
      return 'b';
    }

    @Resource('docs://pages/{at}', { input: PAGE, ...guard })
    page() {
      return 'page';
    }
  }
  return serverOf({ providers: [Shelf], ...options });
};

const subscriptionOf = ({ params, result }: Message): unknown =>
  ((params ?? result)?.['_meta'] as JsonObject | undefined)?.[SUBSCRIPTION];

/** The messages of one subscription. */
const messagesOf = (client: RawClient, id: unknown) =>
  client.received.filter((message) => subscriptionOf(message) === id);

const methodsOf = (messages: readonly Message[]) => messages.map(({ method }) => method);

/** Waits for message `count` of a subscription, starting at 0. */
async function nth(client: RawClient, id: unknown, count: number): Promise<Message> {
  return await client.find((message) => messagesOf(client, id)[count] === message);
}

/** The messages of each subscription: methods, with what else their params or results have. */
function heardBy(client: RawClient): Map<unknown, unknown[]> {
  const heard = new Map<unknown, unknown[]>();
  for (const { id, method, params, result } of client.received) {
    const { _meta = {}, ...rest } = (params ?? result ?? {}) as JsonObject;
    const key = (_meta as JsonObject)[SUBSCRIPTION];
    if (key === undefined) continue;
    if (method === undefined) expect(id).toBe(key);
    else expect(_meta).toEqual({ [SUBSCRIPTION]: key });
    heard.set(key, [...(heard.get(key) ?? []), [method ?? 'result', rest]]);
  }
  return heard;
}

const ALL = {
  toolsListChanged: true,
  promptsListChanged: true,
  resourcesListChanged: true,
  resourceSubscriptions: ['docs://a', 'docs://b'],
};

const listChanged = (list: string) => [`notifications/${list}/list_changed`, {}];
const updated = (uri: string) => [UPDATED, { uri }];
const acknowledged = (notifications: object) => [ACKNOWLEDGED, { notifications }];
const ENDED = ['result', { resultType: 'complete' }];

describe('a subscription, however it is requested,', () => {
  eachRevision(
    ['SUB-01', 'SUB-02', 'SUB-03', 'SUB-04', 'SUB-05', 'SUB-06', 'SUB-09', 'META-24'],
    'is acknowledged, gets what it asked for under its own id, and ends with a result',
    async (revision) => {
      const [a, page] = ['docs://a', 'docs://pages/1'];
      /** What is asked for, what is acknowledged, and what is heard then. */
      const cases: readonly (readonly [id: string | number, asked: JsonObject, honored: object, heard: unknown[]])[] = [
        [0, {}, {}, []],
        ['', { toolsListChanged: true }, { toolsListChanged: true }, [listChanged('tools')]],
        [
          '0',
          { promptsListChanged: true, toolsListChanged: false },
          { promptsListChanged: true },
          [listChanged('prompts')],
        ],
        [-1, { resourcesListChanged: true, tools: true }, { resourcesListChanged: true }, [listChanged('resources')]],
        ['a', { resourceSubscriptions: [a, 'docs://x'] }, { resourceSubscriptions: [a] }, [updated(a)]],
        [
          7,
          { resourceSubscriptions: ['docs://pages', page] },
          { resourceSubscriptions: [page] },
          [updated(page), updated(`${page}/x`)],
        ],
        ['7', { resourceSubscriptions: ['docs://x'] }, { resourceSubscriptions: [] }, []],
        ['odd', { toolsListChanged: 'true', promptsListChanged: 1, resourcesListChanged: null }, {}, []],
      ];
      for (const { name: way, client, server, send } of await waysOf(revision, shelf)) {
        for (const [id, notifications] of cases) {
          void send(client.buildMessage(id, 'subscriptions/listen', { notifications }));
          await client.find((message) => subscriptionOf(message) === id);
        }
        const all = { ...ALL, resourceSubscriptions: [page] };
        void send(client.buildMessage('all', 'subscriptions/listen', { notifications: all }));
        await client.find((message) => subscriptionOf(message) === 'all');
        for (const uri of [a, page, 'docs://b', 'docs://pages/2']) server.notify.resourceUpdated(uri);
        server.notify.resourceUpdated(`${page}/x`, page);
        const { toolsChanged, promptsChanged, resourcesChanged } = server.notify;
        for (const change of [toolsChanged, promptsChanged, resourcesChanged, toolsChanged]) change();
        await client.find(() => heardBy(client).get('all')?.length === 6);
        await client.settled();
        const closing = server.close();
        for (const [id] of cases) await client.response(id);
        await client.response('all');
        const heard = heardBy(client);
        for (const [id, , honored, told] of cases) {
          const [first, ...rest] = heard.get(id) ?? [];
          expect([way, id, first, rest.pop()]).toEqual([way, id, acknowledged(honored), ENDED]);
          // while an access function waits, an update of another resource may come first
          expect([way, id, rest.map(String).sort()]).toEqual([way, id, told.map(String).sort()]);
          expect(new Set(rest)).toEqual(new Set(told));
        }
        expect(heard.size).toBe(cases.length + 1);
        await client.close();
        await closing;
      }
    },
  );

  eachRevision(['SUB-02', 'SUB-03', 'SUB-07'], 'gets nothing before its acknowledgement', async (revision) => {
    for (const [name, transport] of Object.entries(transportsOf(revision))) {
      let [asked, answer] = [deferred(), deferred<boolean>()];
      const access: Access = async () => {
        asked.resolve();
        return await answer.promise;
      };
      const server = shelf({ guard: { access } });
      const client = await RawClient.connect(server, { revision }, transport);
      const changeAll = () => {
        server.notify.resourceUpdated('docs://a');
        server.notify.toolsChanged();
      };
      const notifications = { toolsListChanged: true, resourceSubscriptions: ['docs://a'] };
      const begin = async (id: string) => {
        [asked, answer] = [deferred(), deferred<boolean>()];
        void client.send(client.buildMessage(id, 'subscriptions/listen', { notifications }));
        await asked.promise;
        changeAll();
      };
      // frames of an earlier subscription may still arrive on their own stream
      const isTold = (id: string, which: string) => (message: Message) =>
        message.method === which && subscriptionOf(message) === id;
      await begin('given up');
      await client.cancel('given up');
      await client.settled();
      answer.resolve(true);
      await client.settled();
      changeAll();
      await client.settled();
      expect([name, heardBy(client)]).toEqual([name, new Map()]);
      for (const isAdmitted of [true, false]) {
        const id = `admitted: ${isAdmitted}`;
        client.received.length = 0;
        await begin(id);
        await client.settled();
        expect(heardBy(client).get(id)).toBeUndefined();
        answer.resolve(isAdmitted);
        await client.find(isTold(id, ACKNOWLEDGED));
        const resourceSubscriptions = isAdmitted ? ['docs://a'] : [];
        expect(heardBy(client).get(id)?.[0]).toEqual(acknowledged({ ...notifications, resourceSubscriptions }));
        server.notify.resourceUpdated('docs://a');
        if (isAdmitted) await client.find(isTold(id, UPDATED));
        await client.settled();
        const told = heardBy(client)
          .get(id)
          ?.filter((each) => (each as unknown[])[0] === UPDATED);
        expect([name, isAdmitted, told]).toEqual([name, isAdmitted, isAdmitted ? [updated('docs://a')] : []]);
        await client.cancel(id);
      }
    }
  });
});

describe('a resource that a client follows', () => {
  eachRevision(['RES-19', 'RES-20', 'RES-21'], 'is followed by one session, over any transport', async (revision) => {
    const [a, b, page, end] = ['docs://a', 'docs://b', 'docs://pages/1', 'docs://pages/end'];
    for (const transport of Object.values(transportsOf(revision))) {
      const server = shelf();
      const open = () => RawClient.connect(server, { revision }, transport);
      const [one, other] = [await open(), await open()];
      const send = async (client: RawClient, verb: string, ...uris: string[]) => {
        for (const uri of uris) expect(await client.result(`resources/${verb}`, { uri })).toEqual({});
      };
      /** What a client is told of some updates, up to one that it always follows. */
      const updates = async (client: RawClient, ...changed: (readonly [uri: string, within?: string])[]) => {
        const before = client.of(UPDATED).length;
        const told = () =>
          client
            .of(UPDATED)
            .slice(before)
            .map(({ params }) => params);
        for (const [uri, within] of [...changed, [end] as const]) server.notify.resourceUpdated(uri, within);
        await client.find(() => told().some((params) => params?.['uri'] === end));
        await client.settled();
        expect(told().at(-1)).toEqual({ uri: end });
        return told().slice(0, -1);
      };
      for (const client of [one, other]) await send(client, 'subscribe', end);
      expect(await updates(one, [a], [page])).toEqual([]);
      await send(one, 'subscribe', a, page, page);
      await send(other, 'subscribe', a);
      for (const uri of ['docs://c', 'docs://pages', 'docs://pages/', 'other://a']) {
        expect(await one.error('resources/subscribe', { uri })).toMatchObject({ code: -32002, data: { uri } });
      }
      expect(await updates(one, [a], [b], [page], ['docs://pages/2'], ['docs://c'])).toEqual([
        { uri: a },
        { uri: page },
      ]);
      expect(await updates(one, [a], [a])).toEqual([{ uri: a }, { uri: a }]);
      // inside two that are followed, but told once
      expect(await updates(one, [page, a], [`${a}/x`, a], [`${b}/x`, b], [a, b])).toEqual(
        [page, `${a}/x`, a].map((uri) => ({ uri })),
      );
      server.addProvider(copies('more'));
      // one URI is the beginning of the other
      await send(one, 'subscribe', `${page}0`);
      await send(one, 'unsubscribe', b, page, 'other://a');
      expect(await updates(one, [a], [page], [`${page}0`])).toEqual([{ uri: a }, { uri: `${page}0` }]);
      await send(one, 'unsubscribe', `${page}0`, a, a);
      expect(await updates(one, [a], [page], [`${a}/x`, a])).toEqual([]);
      expect(await updates(other, [a], [page])).toEqual([{ uri: a }]);
      await send(one, 'subscribe', page);
      await other.close();
      const [before, next] = [other.received.length, await open()];
      expect(await updates(one, [a], [page])).toEqual([{ uri: page }]);
      await next.settled();
      expect([next.of(UPDATED), other.received.length]).toEqual([[], before]);
      for (const client of [one, next]) await client.close();
    }
  });

  eachRevision('RES-25', 'includes changes inside it that the server names, and no others', async (revision) => {
    const server = shelf();
    const client = await RawClient.connect(server, { revision });
    await followResource(client, 'docs://a');
    server.notify.resourceUpdated('docs://a/ada');
    server.notify.resourceUpdated('docs://a/x', 'docs://a');
    server.notify.resourceUpdated('docs://a/b', 'docs://as');
    server.notify.resourceUpdated('docs://as');
    server.notify.resourceUpdated('docs://a');
    await client.settled();
    expect(client.of(UPDATED).map(({ params }) => plain(params))).toEqual([{ uri: 'docs://a/x' }, { uri: 'docs://a' }]);
  });
});

describe('a removed member', () => {
  eachRevision(['TOOL-07', 'PROMPT-04'], 'is unknown, even if it was the last', async (revision) => {
    const server = serverOf();
    const added = server.addProvider(copies('n'));
    const before = await RawClient.connect(server, { revision });
    for (const method of ['tools/call', 'prompts/get']) await before.result(method, { name: 'n' });
    added.remove();
    for (const client of [before, await RawClient.connect(server, { revision })]) {
      for (const [method, list, member] of [
        ['tools/call', 'tools/list', 'tools'],
        ['prompts/get', 'prompts/list', 'prompts'],
      ] as const) {
        const message = expect.stringContaining('nknown');
        expect(await client.error(method, { name: 'n' })).toMatchObject({ code: -32602, message });
        expect(await client.result(list)).toMatchObject({ [member]: [] });
      }
    }
  });
});

const TRANSPORTS = Object.values(transportsOf(STATELESS));

const connect = (server: McpServer, transport = overMemory, options: Partial<RawOptions> = {}) =>
  RawClient.connect(server, { revision: STATELESS, ...options }, transport);

/** Sends a subscription without waiting: over some transports, the request stays in flight until it ends. */
function ask(client: RawClient, id: string | number, notifications?: unknown): void {
  const params = notifications === undefined ? {} : { notifications };
  void client.send(client.buildMessage(id, 'subscriptions/listen', params as JsonObject));
}

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

describe('a subscription', () => {
  inStateless('SUB-03', 'is acknowledged with the supported notifications', async () => {
    const { OneTool, OnePrompt, OneResource } = kindsOf();
    const { toolsListChanged, promptsListChanged, resourcesListChanged } = ALL;
    const resourceSubscriptions = ['docs://one'];
    const wanted = { ...ALL, resourceSubscriptions: ['docs://one', 'docs://two'] };
    for (const transport of TRANSPORTS) {
      for (const [provider, honored] of [
        [OneTool, { toolsListChanged }],
        [OnePrompt, { promptsListChanged }],
        [OneResource, { resourcesListChanged, resourceSubscriptions }],
      ] as const) {
        const client = await connect(serverOf({ providers: [provider] }), transport);
        expect(await listen(client, wanted, 1)).toEqual(honored);
      }
    }
  });

  eachRevision(['SUB-01', 'SUB-07'], 'ends when cancelled, and a later one with its id is new (#22)', async () => {
    for (const transport of [overStdio, overHttp]) {
      const server = shelf();
      const [client, other] = [await connect(server, transport), await connect(server, transport)];
      for (const each of [client, other]) await listen(each, ALL, 'id');
      await listen(client, ALL, 'kept');
      await client.cancel('id');
      // the server notices the disconnect only when it reads
      expect(await listeners(server, 2)).toBe(2);
      const change = () => {
        server.notify.resourceUpdated('docs://a');
        server.notify.toolsChanged();
        server.notify.promptsChanged();
      };
      change();
      await nth(client, 'kept', 3);
      await client.settled();
      expect(methodsOf(messagesOf(client, 'id'))).toEqual([ACKNOWLEDGED]);
      expect(client.received.filter(({ id }) => id === 'id')).toEqual([]);
      ask(client, 'id', { promptsListChanged: true });
      const again = await nth(client, 'id', 1);
      expect(again.params?.['notifications']).toEqual({ promptsListChanged: true });
      change();
      await nth(client, 'kept', 6);
      await nth(client, 'id', 2);
      await client.settled();
      expect(methodsOf(messagesOf(client, 'id').slice(2))).toEqual(['notifications/prompts/list_changed']);
    }
  });

  eachRevision(['SUB-08', 'PROG-10'], 'has no progress and no log messages', async () => {
    for (const transport of TRANSPORTS) {
      const going = deferred();
      const server = serverWith({
        async work(context) {
          context.progress(1, 3);
          context.log.warning('step 1');
          await going.promise;
          context.progress(4, 4);
          return 'done';
        },
      });
      const witness = await connect(server, transport, { logLevel: 'debug' });
      await listen(witness, { toolsListChanged: true, progress: true, message: true, loggingMessage: true }, 'witness');
      const worker = await connect(server, transport, { logLevel: 'debug' });
      await listen(worker, { toolsListChanged: true }, 'own');
      const tokened = { notifications: { toolsListChanged: true }, _meta: { progressToken: 'of listening' } };
      void witness.send(witness.buildMessage('tokened', 'subscriptions/listen', tokened));
      await nth(witness, 'tokened', 0);
      const work = worker.request('tools/call', { name: 'work', _meta: { progressToken: 'p' } });
      await worker.find(({ params }) => params?.['data'] === 'step 1');
      server.notify.toolsChanged();
      await Promise.all([nth(witness, 'witness', 1), nth(witness, 'tokened', 1), nth(worker, 'own', 1)]);
      going.resolve();
      await work;
      await witness.settled();
      const changed = 'notifications/tools/list_changed';
      for (const [client, id] of [
        [witness, 'witness'],
        [witness, 'tokened'],
        [worker, 'own'],
      ] as const) {
        expect([id, methodsOf(messagesOf(client, id))]).toEqual([id, [ACKNOWLEDGED, changed]]);
      }
      expect(witness.received.filter(({ method }) => method !== undefined)).toHaveLength(4);
      const spoken = [...worker.of('notifications/progress'), ...worker.of('notifications/message')];
      expect(spoken.map((message) => subscriptionOf(message))).toEqual([undefined, undefined, undefined]);
    }
  });

  inStateless('SUB-10', 'ends with its connection', async () => {
    for (const transport of TRANSPORTS) {
      const server = shelf();
      const principal = { subject: 'ada' };
      const lost = await connect(server, transport, { principal });
      await listen(lost, ALL, 'sub');
      await lost.close();
      const back = await connect(server, transport, { principal });
      await back.begin();
      expect(await listeners(server, 0)).toBe(0);
      server.notify.toolsChanged();
      server.notify.resourceUpdated('docs://a');
      await back.settled();
      expect(back.received.filter(({ method }) => method !== undefined)).toEqual([]);
      expect(methodsOf(messagesOf(lost, 'sub').filter(({ method }) => method !== undefined))).toEqual([ACKNOWLEDGED]);
      // the id can be used again
      expect(await listen(back, { toolsListChanged: true }, 'sub')).toEqual({ toolsListChanged: true });
    }
  });

  inStateless('SUB-11', 'is rejected if it requests no notifications', async () => {
    for (const transport of TRANSPORTS) {
      const client = await connect(shelf(), transport);
      const odd = ['docs://a', [7]].map((resourceSubscriptions) => ({ resourceSubscriptions }));
      for (const [id, notifications] of [undefined, null, 'all', [], 7, ...odd].entries()) {
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
    expect(await listen(ada, { resourceSubscriptions }, 'diaries')).toEqual({ resourceSubscriptions: hers });
    for (const uri of [...his, ...hers]) server.notify.resourceUpdated(uri);
    await nth(ada, 'diaries', 2);
    await ada.settled();
    expect(messagesOf(ada, 'diaries').map(({ params }) => params?.['uri'])).toEqual([undefined, ...hers]);
    const many = await connect(server);
    for (let id = 1; id < 1024; id += 1) ask(many, id, {});
    await nth(many, 1023, 0);
    ask(many, 'too many', {});
    expect(await many.response('too many')).toMatchObject({ error: { code: -32603 } });
    await many.cancel(1);
    expect(await listen(many, {}, 'in its place')).toEqual({});
    await many.close();
    // nothing serves these, although they are the beginning of URIs that something serves
    const prefixes = ['diary://', 'diary://a', 'diary://ada/', 'none://at/all'];
    expect(await listen(ada, { resourceSubscriptions: prefixes }, 'prefixes')).toEqual({ resourceSubscriptions: [] });
  });

  inStateless('RES-22', 'is a listen request, and nobody else gets its updates', async () => {
    for (const transport of TRANSPORTS) {
      const server = shelf();
      const [follower, lister, other] = [
        await connect(server, transport),
        await connect(server, transport),
        await connect(server, transport, { logLevel: 'debug' }),
      ];
      const [resourceSubscriptions, changed] = [['docs://a'], 'notifications/resources/list_changed'];
      expect(await listen(follower, { resourceSubscriptions }, 'mine')).toEqual({ resourceSubscriptions });
      await listen(lister, { resourcesListChanged: true }, 'lists');
      await other.call('tool');
      for (const uri of ['docs://a', 'docs://b']) server.notify.resourceUpdated(uri);
      server.notify.resourcesChanged();
      await lister.find(({ method }) => method === changed);
      await Promise.all([follower.settled(), other.settled()]);
      const told = [follower, lister, other].map(({ received }) =>
        received.filter(({ method }) => method !== undefined),
      );
      expect(told.map(methodsOf)).toEqual([[ACKNOWLEDGED, UPDATED], [ACKNOWLEDGED, changed], []]);
      expect(told[0]?.[1]?.params).toEqual({ uri: 'docs://a', _meta: { [SUBSCRIPTION]: 'mine' } });
      for (const method of ['resources/subscribe', 'resources/unsubscribe']) {
        expect(await other.error(method, { uri: 'docs://a' })).toMatchObject({ code: -32601 });
      }
    }
  });
});

describe('a change', () => {
  inStateless('SUB-13', 'reaches the clients of all servers on one bus, even from one without clients', async () => {
    for (const transport of TRANSPORTS) {
      const changeBus = new MemoryChangeBus();
      const open = () => shelf({ options: { changeBus } });
      const clients = [await connect(open(), transport), await connect(open(), transport)];
      for (const client of clients) await listen(client, ALL, 'all');
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
        expect(messagesOf(client, 'all')).toHaveLength(changes.length + 1);
      }
    }
  });
});
