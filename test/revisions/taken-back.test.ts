// Cancellations that the server sends, and the reasons that clients give for theirs.
import { afterEach, describe, expect, jest } from '@jest/globals';
import { type Context, type JsonObject, NoInput, Prompt, Resource, Tool } from '@decorum/core';

import { transportsOf } from '../support/http-transports.js';
import { RAW_TRANSPORTS, RawClient, type RawOptions } from '../support/raw-client.js';
import { eachRevision, eachRevisionOf, inStateless, STATELESS } from '../support/requirements.js';
import { listening } from './listening.js';
import { listen } from './neutral.js';
import { deferred, serverOf } from './servers.js';

/** Asks the client, one handler of each kind. */
class Asking {
  constructor(private readonly ask: (context: Context) => Promise<unknown>) {}

  @Tool()
  async tool(_input: NoInput, context: Context) {
    return `${await this.ask(context)}`;
  }

  @Prompt({ input: NoInput })
  async prompt(_input: NoInput, context: Context) {
    return `${await this.ask(context)}`;
  }

  @Resource('docs://asking')
  async resource(_input: NoInput, context: Context) {
    return `${await this.ask(context)}`;
  }

  @Tool()
  quick() {
    return 'quick';
  }
}

const REQUESTS: readonly (readonly [method: string, params: JsonObject])[] = [
  ['tools/call', { name: 'tool' }],
  ['prompts/get', { name: 'prompt' }],
  ['resources/read', { uri: 'docs://asking' }],
];

const cancelledBy = (client: RawClient) =>
  client.of('notifications/cancelled').map(({ params }) => params?.['requestId']);
const questionsTo = (client: RawClient) => client.of('roots/list').map(({ id }) => id);

describe('a question that the server takes back', () => {
  eachRevisionOf(
    ['CANC-01', 'CANC-07'],
    'is named by its own id, once, and its late answers are dropped, over every transport',
    async (revision) => {
      const unasked = { 'roots/list': () => undefined };
      for (const [name, transport] of Object.entries(transportsOf(revision))) {
        const provider = new Asking(async (context) => (await context.roots({ timeoutMs: 5 })).length);
        const connection = { revision, capabilities: { roots: {} }, answers: unasked };
        const client = await RawClient.connect(serverOf({ providers: [provider] }), connection, transport);
        for (const [at, [method, params]] of REQUESTS.entries()) {
          await client.request(method, params);
          await client.settled();
          expect([name, method, cancelledBy(client)]).toEqual([name, method, questionsTo(client)]);
          expect(questionsTo(client)).toHaveLength(at + 1);
        }
        const before = client.received.length;
        for (const id of questionsTo(client)) {
          await client.send({ jsonrpc: '2.0', id, result: { roots: [] } });
          await client.send({ jsonrpc: '2.0', id, error: { code: -1, message: 'Too late.' } });
        }
        await client.settled();
        // the response that "settled" waited for
        expect([name, client.received.length - before]).toEqual([name, 1]);
        expect(await client.call('quick')).toMatchObject({ content: [{ text: 'quick' }] });
      }
    },
  );

  eachRevisionOf(
    ['CANC-01'],
    'belongs to the request that the client has cancelled, and no other question is taken back',
    async (revision) => {
      for (const [name, transport] of Object.entries(transportsOf(revision))) {
        const provider = new Asking(async (context) => (await context.roots()).length);
        const answers = { 'roots/list': () => undefined };
        const connection = { revision, capabilities: { roots: {} }, answers };
        const client = await RawClient.connect(serverOf({ providers: [provider] }), connection, transport);
        for (const [id, [method, params]] of REQUESTS.entries()) {
          void client.send(client.buildMessage(id, method, params));
          await client.find(() => questionsTo(client).length === id + 1);
        }
        const [first, second, third] = questionsTo(client);
        await client.cancel(1);
        await client.find(() => cancelledBy(client).length > 0);
        await client.settled();
        expect([name, cancelledBy(client)]).toEqual([name, [second]]);
        for (const [id, question] of [
          [0, first],
          [2, third],
        ] as const) {
          await client.send({ jsonrpc: '2.0', id: question, result: { roots: [] } });
          expect(await client.response(id)).toHaveProperty('result');
        }
        await client.settled();
        expect([name, cancelledBy(client), client.received.filter(({ id }) => id === 1)]).toEqual([name, [second], []]);
      }
    },
  );
});

describe('a stateless request', () => {
  inStateless('CANC-12', 'is never cancelled by the server, over any transport', async () => {
    const revision = STATELESS;
    for (const [name, transport] of Object.entries(transportsOf(revision))) {
      const started = deferred();
      const server = serverOf({
        providers: [new Asking(async (context) => (await context.roots({ timeoutMs: 1 })).length)],
      });
      server.addTool({ name: 'endless', input: NoInput }, async (_input, { signal }) => {
        started.resolve();
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
      });
      const client = await RawClient.connect(server, { revision, capabilities: { roots: {} } }, transport);
      for (const id of ['kept', 'given up']) await listen(client, { toolsListChanged: true }, id);
      for (const [method, params] of REQUESTS) await client.request(method, params);
      for (const tool of ['quick', 'unknown']) await client.request('tools/call', { name: tool });
      void client.send(client.buildMessage('x', 'tools/call', { name: 'endless' }));
      await started.promise;
      for (const id of ['x', 'given up']) await client.cancel(id);
      await client.settled();
      expect([name, cancelledBy(client)]).toEqual([name, []]);
      await server.close({ deadlineMs: 1 });
      await client.response('kept');
      expect([name, cancelledBy(client).filter((id) => id !== 'kept')]).toEqual([name, []]);
    }
  });
});

/** Handlers that ask with the same key twice. */
const TWICE: Readonly<Record<string, (context: Context) => Promise<unknown>>> = {
  async 'in turn'(context) {
    await context.roots({ key: 'same' });
    await context.roots({ key: 'same' });
  },
  async 'at once'(context) {
    await Promise.all([context.roots({ key: 'same' }), context.roots({ key: 'same' })]);
  },
  async 'after a failure'(context) {
    await context.roots({ key: 'same' }).catch(() => {});
    await context.roots({ key: 'same' }).catch(() => {});
  },
};

describe('a question whose key was used before', () => {
  inStateless('CANC-12', 'fails its request, and nothing is cancelled, over any transport', async () => {
    const answers = { 'roots/list': () => ({ result: { roots: [] } }) };
    const connection: RawOptions = { revision: STATELESS, capabilities: { roots: {} }, answers };
    for (const [name, transport] of Object.entries(transportsOf(STATELESS))) {
      for (const [how, ask] of Object.entries(TWICE)) {
        const client = await RawClient.connect(serverOf({ providers: [new Asking(ask)] }), connection, transport);
        await listen(client, { toolsListChanged: true }, 'kept');
        for (const [method, params] of REQUESTS) {
          const failed = client.result(method, params).then(({ isError }) => isError);
          expect([how, await failed.catch(() => true)]).toEqual([how, true]);
        }
        await client.settled();
        const told = client.received.flatMap(({ method }) => method ?? []);
        expect([name, how, told]).toEqual([name, how, ['notifications/subscriptions/acknowledged']]);
      }
    }
  });
});

describe('a subscription', () => {
  afterEach(() => void jest.useRealTimers());

  inStateless('CANC-13', 'ends with a result when the credentials of its connection expire', async () => {
    for (const [name, transport] of Object.entries(RAW_TRANSPORTS)) {
      jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask', 'performance'] });
      const principal = { subject: 'ada', expiresAt: Date.now() + 60_000 };
      const client = await RawClient.connect(serverOf(), { revision: STATELESS, principal }, transport);
      for (const id of ['a', 0]) await listening(client, id);
      const before = client.received.length;
      jest.advanceTimersByTime(60_000);
      for (const id of ['a', 0]) {
        const result = { resultType: 'complete', _meta: { 'io.modelcontextprotocol/subscriptionId': id } };
        expect([name, await client.response(id)]).toMatchObject([name, { result }]);
      }
      expect([name, client.received.length - before]).toEqual([name, 2]);
      jest.useRealTimers();
    }
  });
});

describe('the reason of a cancellation', () => {
  eachRevision('CANC-06', 'is logged as it is, or cut if it is long', async (revision) => {
    for (const transport of Object.values(RAW_TRANSPORTS)) {
      const debug = jest.fn();
      const logger = { warn: () => {}, error: () => {}, debug };
      const provider = new Asking(() => new Promise(() => {}));
      const client = await RawClient.connect(serverOf({ logger, providers: [provider] }), { revision }, transport);
      const long = 'x'.repeat(1000);
      for (const [reason, logged] of [
        ['Escape\n"was" pressed: ü', 'Escape\n"was" pressed: ü'],
        ['0', '0'],
        ['', ''],
        [long, `${long.slice(0, 150)}…`],
        [7, undefined],
        [null, undefined],
        [undefined, undefined],
      ]) {
        debug.mockClear();
        void client.send(client.buildMessage(7, 'tools/call', { name: 'tool' }));
        await client.notify('notifications/cancelled', { requestId: 7, reason });
        await client.settled();
        const details = { requestId: 7, method: 'tools/call', ...(logged !== undefined && { reason: logged }) };
        expect(debug.mock.calls).toEqual([[details, 'the client cancelled a request']]);
        expect(client.received.filter(({ id }) => id === 7)).toEqual([]);
      }
    }
  });
});
