// Cancelled requests, questions that the server takes back, and pings.
import { describe, expect, it, jest } from '@jest/globals';
import {
  Context,
  type Interceptor,
  type JsonObject,
  type McpServerOptions,
  NoInput,
  QuestionError,
} from '@decorum/core';
import type { Plugin } from '@decorum/core/plugin';
import fc from 'fast-check';

import { endpointOf, overHttp, transportsOf } from '../support/http-transports.js';
import { overMemory, overStdio, RawClient, textOf } from '../support/raw-client.js';
import { eachRevision, eachSessionRevision, inStateless, STATELESS } from '../support/requirements.js';
import { ASKING, membersOf, RUNNING, type Work } from './members.js';
import { listen } from './neutral.js';
import { deferred, type Handler, serverOf, serverWith } from './servers.js';
import { waysOf } from './ways.js';

describe('a cancelled request, however it has arrived,', () => {
  eachRevision(['CANC-02', 'CANC-03', 'CANC-04', 'CANC-05'], 'ends without a response', async (revision) => {
    let started = deferred<Context>();
    const wait = async (context: Context) => {
      const aborted = new Promise((resolve) => context.signal.addEventListener('abort', resolve));
      started.resolve(context);
      await aborted;
    };
    const ways = await waysOf(revision, ({ options, guard }) => {
      const server = serverOf({ providers: [membersOf(wait, guard)], ...options });
      server.addTool({ name: 'quick', input: NoInput, ...guard }, () => 'quick');
      return server;
    });
    for (const [turn, { name: way, client, isHttp, send, ask }] of ways.entries()) {
      // without a session, a question ends its request; over HTTP, the client expects all responses of a batch
      if ((client.stateless && way === 'after a question') || (isHttp && way === 'in a batch')) continue;
      for (const [index, id] of ['a', '', 0].entries()) {
        const [method, params] = RUNNING[(2 * index + turn) % RUNNING.length] as (typeof RUNNING)[number];
        started = deferred();
        void send(client.buildMessage(id, method, params));
        const { signal } = await started.promise;
        const others = [`${id} `, 1, null, [id], undefined];
        for (const requestId of others) await client.notify('notifications/cancelled', { requestId });
        await client.notify('notifications/cancelled');
        await client.settled();
        expect([way, id, signal.aborted]).toEqual([way, id, false]);
        await client.cancel(id, 'Enough.');
        await new Promise<unknown>((resolve) =>
          signal.aborted ? resolve(0) : signal.addEventListener('abort', resolve),
        );
        // again, and too late
        await client.notify('notifications/cancelled', { requestId: id });
        await client.settled();
        expect([way, client.received.filter((message) => message.id === id)]).toEqual([way, []]);
      }
      const { result } = await ask('tools/call', { name: 'quick' });
      const before = client.received.length;
      const answered = client.received.flatMap(({ id }) => (id === undefined || id === null ? [] : [id]));
      for (const requestId of answered.slice(-3)) await client.notify('notifications/cancelled', { requestId });
      await client.settled();
      // the response that "settled" waited for
      expect([way, result !== undefined, client.received.length - before]).toEqual([way, true, 1]);
    }
  });

  eachRevision(['CANC-02', 'CANC-04'], 'never runs if it still waits, and has no response', async (revision) => {
    for (const [name, transport] of Object.entries(transportsOf(revision))) {
      for (const waiter of ['plugin', 'access', 'interceptor'] as const) {
        let [held, go] = [deferred(), deferred()];
        const wait = async () => {
          held.resolve();
          await go.promise;
        };
        const observe: Plugin['observe'] = async ({ method }, run) => {
          if (ASKING.some(([each]) => each === method)) await wait();
          return await run();
        };
        const access = async () => {
          await wait();
          return true;
        };
        const interceptor: Interceptor = async (_call, next) => {
          await wait();
          return await next();
        };
        const [guard, options] = {
          plugin: [{}, { plugins: [{ name: 'waiting', observe }] }],
          access: [{ access }, {}],
          interceptor: [{}, { interceptors: [interceptor] }],
        }[waiter];
        let runs = 0;
        const server = serverOf({ providers: [membersOf(() => (runs += 1), guard)], ...options });
        const client = await RawClient.connect(server, { revision }, transport);
        for (const [id, [method, params]] of ASKING.entries()) {
          [held, go] = [deferred(), deferred()];
          void client.send(client.buildMessage(id, method, params));
          await held.promise;
          await client.cancel(id);
          await client.settled();
          go.resolve();
          await client.settled();
          const answers = client.received.filter((message) => message.id === id);
          expect([name, waiter, method, answers]).toEqual([name, waiter, method, []]);
        }
        expect([name, waiter, runs]).toEqual([name, waiter, 0]);
      }
    }
  });
});

const cancelledBy = (client: RawClient) =>
  client.of('notifications/cancelled').map(({ params }) => params?.['requestId']);
const questionsTo = (client: RawClient) => client.of('roots/list').map(({ id }) => id);
const capabilities = { roots: {} };
const none = { 'roots/list': () => undefined };

/** A server whose members ask, and which has a tool that does not. */
function asking(work: Work) {
  const server = serverOf({ providers: [membersOf(async (context, input) => String(await work(context, input)))] });
  server.addTool({ name: 'quick', input: NoInput }, () => 'quick');
  return server;
}

describe('a question that the server takes back', () => {
  eachRevision(['CANC-01', 'CANC-07'], 'is named once, by its own id, and late answers are lost', async (revision) => {
    for (const [name, transport] of Object.entries(transportsOf(revision))) {
      const server = asking(async (context) => (await context.roots({ timeoutMs: 5 })).length);
      const client = await RawClient.connect(server, { revision, capabilities, answers: none }, transport);
      for (const [at, [method, params]] of ASKING.entries()) {
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
  });

  eachRevision(['CANC-01', 'CANC-07'], 'belongs to the request that the client has cancelled', async (revision) => {
    for (const [name, transport] of Object.entries(transportsOf(revision))) {
      const server = asking(async (context) => (await context.roots()).length);
      const client = await RawClient.connect(server, { revision, capabilities, answers: none }, transport);
      for (const [id, [method, params]] of ASKING.entries()) {
        void client.send(client.buildMessage(id, method, params));
        await client.find(() => questionsTo(client).length === id + 1);
      }
      const questions = questionsTo(client);
      await client.cancel(1);
      await client.find(() => cancelledBy(client).length > 0);
      await client.settled();
      expect([name, cancelledBy(client)]).toEqual([name, [questions[1]]]);
      // nor is its late answer that of another one
      await client.send({ jsonrpc: '2.0', id: questions[1], result: { roots: [] } });
      await client.settled();
      expect(client.received.filter(({ id }) => [0, 1, 2, 3].includes(id as number))).toEqual([]);
      for (const id of [0, 2, 3]) {
        await client.send({ jsonrpc: '2.0', id: questions[id], result: { roots: [] } });
        expect(await client.response(id)).toHaveProperty('result');
      }
      await client.settled();
      expect([name, cancelledBy(client).length]).toEqual([name, 1]);
      expect(client.received.filter(({ id }) => id === 1)).toEqual([]);
    }
  });
});

describe('a stateless request', () => {
  const revision = STATELESS;

  inStateless('CANC-12', 'is never cancelled by the server, over any transport', async () => {
    for (const [name, transport] of Object.entries(transportsOf(revision))) {
      let started = deferred();
      const server = asking(async (context) => (await context.roots({ timeoutMs: 1 })).length);
      server.addTool({ name: 'endless', input: NoInput }, async (_input, { signal }) => {
        started.resolve();
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
      });
      const client = await RawClient.connect(server, { revision, capabilities }, transport);
      for (const id of ['kept', 'given up']) await listen(client, { toolsListChanged: true }, id);
      for (const [method, params] of ASKING) await client.request(method, params);
      for (const tool of ['quick', 'unknown']) await client.request('tools/call', { name: tool });
      for (const id of ['x', 'still runs']) {
        started = deferred();
        void client.send(client.buildMessage(id, 'tools/call', { name: 'endless' }));
        await started.promise;
      }
      for (const id of ['x', 'given up']) await client.cancel(id);
      await client.settled();
      expect([name, cancelledBy(client)]).toEqual([name, []]);
      await server.close({ deadlineMs: 1 });
      for (const id of ['kept', 'still runs']) await client.response(id);
      expect([name, cancelledBy(client).filter((id) => id !== 'kept')]).toEqual([name, []]);
    }
  });
});

/** A tool that runs until its signal aborts, with promises for its start and end. */
function endless(options: Partial<McpServerOptions> = {}) {
  const started = deferred<Context>();
  const ended = deferred<unknown>();
  const tools: Record<string, Handler> = {
    async endless(context) {
      const aborted = new Promise((resolve) => context.signal.addEventListener('abort', resolve));
      started.resolve(context);
      await aborted;
      ended.resolve(context.signal.reason);
      return 'too late';
    },
    quick: () => 'quick',
  };
  const server = serverWith(tools, options);
  return { server, started: started.promise, ended: ended.promise };
}

const call = (client: RawClient, id: unknown, name: string, meta?: JsonObject) =>
  client.buildMessage(id as string, 'tools/call', { name, ...(meta && { _meta: meta }) });

describe('a cancelled request', () => {
  eachRevision(
    ['CANC-03', 'CANC-05', 'CANC-10'],
    'is in flight, with this id, in the same session',
    async (revision) => {
      const ids = [null, ['1'], [1], [[1]], {}, { id: 1 }, true, 1.5].map((requestId) => ({ requestId }));
      const malformed = [undefined, {}, { id: 1 }, { reason: 'no request' }, ...ids];
      for (const [id, others] of [
        [1, ['1', '01', 1.5, 0, 'never']],
        ['1', [1, '01', '1 ', '']],
        [0, ['0', '', null, false]],
        ['', [0, null, ' ']],
      ] as const) {
        const { server, started, ended } = endless();
        const client = await RawClient.connect(server, { revision });
        const other = await RawClient.connect(server, { revision });
        await client.send(call(client, 'done', 'quick'));
        void client.send(call(client, id, 'endless'));
        const { signal } = await started;
        const before = client.received.length;
        const named = ['done', ...others].map((requestId) => ({ requestId }));
        for (const params of [...named, ...malformed]) await client.notify('notifications/cancelled', params);
        await other.notify('notifications/cancelled', { requestId: id });
        expect([id, signal.aborted, client.received.slice(before)]).toEqual([id, false, []]);
        await client.settled();
        await client.notify('notifications/cancelled', { requestId: id });
        await ended;
      }
    },
  );

  eachRevision('CANC-04', 'frees its id, and its end cancels no later request with that id', async (revision) => {
    const [signals, goes]: [AbortSignal[], (() => void)[]] = [[], []];
    const server = serverWith({
      stubborn({ signal }) {
        signals.push(signal);
        return new Promise<void>((resolve) => goes.push(resolve));
      },
    });
    const client = await RawClient.connect(server, { revision });
    void client.send(call(client, 1, 'stubborn'));
    await client.notify('notifications/cancelled', { requestId: 1 });
    void client.send(call(client, 1, 'stubborn'));
    goes[0]?.();
    await client.settled();
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, false]);
    await client.notify('notifications/cancelled', { requestId: 1 });
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
    goes[1]?.();
    await client.settled();
    expect(client.received.filter(({ id }) => id === 1)).toEqual([]);
  });

  eachRevision('CANC-04', 'is answered at most once, no matter when it is cancelled', async (revision) => {
    const property = fc.asyncProperty(fc.array(fc.tuple(fc.nat(3), fc.nat(3)), { maxLength: 8 }), async (races) => {
      const turns = async (count: number) => {
        for (let turn = 0; turn < count; turn += 1) await Promise.resolve();
      };
      const server = serverWith({ work: (_context, { ticks }) => turns(ticks as number).then(() => 'done') });
      const client = await RawClient.connect(server, { revision });
      await Promise.all(
        races.map(async ([ticks, delay], id) => {
          const sent = client.send(client.buildMessage(id, 'tools/call', { name: 'work', arguments: { ticks } }));
          await turns(delay);
          await client.notify('notifications/cancelled', { requestId: id });
          await sent;
        }),
      );
      await client.settled();
      for (const id of races.keys()) {
        const answers = client.received.filter((message) => message.id === id);
        expect(answers.length).toBeLessThan(2);
        for (const { result } of answers) expect(result).toMatchObject({ content: [{ type: 'text', text: 'done' }] });
      }
      await client.close();
    });
    await fc.assert(property, { numRuns: 15 });
  });

  eachSessionRevision('CANC-08', 'is not "initialize", even while it waits for a plugin', async (revision) => {
    // over HTTP, the client has no session to cancel it in
    const { HTTP: _sessionless, ...ways } = transportsOf(revision);
    for (const transport of Object.values(ways)) {
      const [waits, go] = [deferred(), deferred()];
      const waiting: Plugin = {
        name: 'waiting',
        async observe({ method }, run) {
          if (method === 'initialize') {
            waits.resolve();
            await go.promise;
          }
          return await run();
        },
      };
      for (const plugins of [[], [waiting]]) {
        const { server } = endless({ plugins });
        const client = await RawClient.connect(server, { revision, begins: false }, transport);
        const params = { protocolVersion: revision, capabilities: {}, clientInfo: { name: 'raw', version: '1' } };
        void client.send({ jsonrpc: '2.0', id: 'hello', method: 'initialize', params });
        if (plugins.length > 0) await waits.promise;
        await client.notify('notifications/cancelled', { requestId: 'hello' });
        go.resolve();
        expect(await client.response('hello')).toMatchObject({ result: { protocolVersion: revision } });
        await client.notify('notifications/cancelled', { requestId: 'hello' });
        await client.notify('notifications/initialized');
        expect(textOf(await client.call('quick'))).toBe('quick');
      }
    }
  });

  eachRevision('CANC-14', 'aborts its signal, as does the end of the session or the server', async (revision) => {
    for (const [name, transport] of Object.entries(transportsOf(revision))) {
      for (const end of ['cancel', 'session', 'server'] as const) {
        const { server, started, ended } = endless();
        // looks at its signal only after its end
        const [begun, go] = [deferred<Context>(), deferred()];
        server.addTool({ name: 'busy', input: NoInput }, (_input, context) => {
          begun.resolve(context);
          return go.promise;
        });
        const client = await RawClient.connect(server, { revision }, transport);
        void client.send(call(client, 1, 'endless'));
        void client.send(call(client, 2, 'busy'));
        const [, context] = await Promise.all([started, begun.promise]);
        if (end === 'cancel') await Promise.all([client.cancel(1), client.cancel(2)]);
        if (end === 'session') await client.close();
        if (end === 'server') await server.close({ deadlineMs: 1 });
        expect(await ended).toMatchObject({ name: 'AbortError' });
        // over HTTP, each request is told by its own stream, maybe later
        if (!name.startsWith('HTTP')) {
          const { aborted, reason } = context.signal;
          expect([end, aborted, reason]).toMatchObject([end, true, { name: 'AbortError' }]);
        }
        go.resolve();
      }
    }
  });

  eachRevision('CANC-06', 'has its reason in the log of the operator', async (revision) => {
    const debug = jest.fn();
    const logger = { warn: () => {}, error: () => {}, debug };
    const members = membersOf(() => new Promise(() => {}));
    const client = await RawClient.connect(serverOf({ logger, providers: [members] }), { revision });
    const long = 'x'.repeat(1000);
    for (const [index, [method, params]] of ASKING.entries()) {
      const id = ['w', 0, '', 7][index] as string | number;
      for (const [reason, logged] of [
        ['Escape\n"was" pressed: ü', 'Escape\n"was" pressed: ü'],
        ['', ''],
        [long, `${long.slice(0, 150)}…`],
        [7, undefined],
        [undefined, undefined],
      ]) {
        debug.mockClear();
        void client.send(client.buildMessage(id, method, params));
        await client.notify('notifications/cancelled', { requestId: id, reason });
        const details = { requestId: id, method, ...(logged !== undefined && { reason: logged }) };
        expect(debug.mock.calls).toEqual([[details, 'the client cancelled a request']]);
      }
    }
  });
});

describe('a client without a session', () => {
  const revision = STATELESS;

  inStateless('CANC-11', 'cancels over stdio by a notification, and over HTTP by closing the stream', async () => {
    for (const [transport, isDescribed] of [
      [overStdio, false],
      [overStdio, true],
      [overHttp, false],
    ] as const) {
      const { server, started, ended } = endless();
      const client = await RawClient.connect(server, { revision }, transport);
      void client.send(call(client, 'x', 'endless'));
      const { signal } = await started;
      if (transport === overHttp) {
        await client.notify('notifications/cancelled', { requestId: 'x' });
        await client.settled();
        expect(signal.aborted).toBe(false);
      }
      // the notification may describe the client, as requests do
      const { params } = client.buildMessage('unused', 'notifications/cancelled', { requestId: 'x' });
      await (isDescribed ? client.notify('notifications/cancelled', params) : client.cancel('x'));
      expect(await ended).toMatchObject({ name: 'AbortError' });
      await client.settled();
      expect(client.received.filter(({ id }) => id === 'x')).toEqual([]);
    }
  });

  inStateless('CANC-13', 'gets a result when the server ends its subscription', async () => {
    // https://github.com/modelcontextprotocol/modelcontextprotocol/issues/3348: the specification contradicts itself
    for (const transport of [overStdio, overHttp, overMemory]) {
      const server = serverWith({ quick: () => 'quick' });
      const client = await RawClient.connect(server, { revision }, transport);
      await listen(client, { toolsListChanged: true }, 'a');
      await listen(client, { toolsListChanged: true }, 0);
      // the whole server, or only one of its transports
      await (transport === overHttp ? (await endpointOf(server)).close() : server.close());
      for (const id of ['a', 0]) {
        const result = { resultType: 'complete', _meta: { 'io.modelcontextprotocol/subscriptionId': id } };
        expect(await client.response(id)).toMatchObject({ result });
      }
      expect(client.received).toHaveLength(4);
    }
    const client = await RawClient.connect(serverWith({ quick: () => 'quick' }), { revision }, overStdio);
    await listen(client, { toolsListChanged: true }, 'pipe');
    await client.close();
    expect(client.received.at(-1)).toMatchObject({ id: 'pipe', result: { resultType: 'complete' } });
  });
});

describe('a ping', () => {
  eachSessionRevision('PING-01', 'is answered at once, even while as many tools run as may', async (revision) => {
    for (const transport of Object.values(transportsOf(revision))) {
      const { server, started, ended } = endless({ limits: { maxOpenCalls: 1 } });
      const client = await RawClient.connect(server, { revision }, transport);
      void client.send(call(client, 1, 'endless'));
      await started;
      expect(await client.result('ping')).toEqual({});
      // the tool still runs: the ping did not wait for it
      expect(client.received.map(({ id }) => id)).not.toContain(1);
      await client.cancel(1);
      await ended;
    }
  });

  eachSessionRevision('PING-02', 'is answered before the session and between its messages', async (revision) => {
    // over Streamable HTTP, there is no session to ping yet
    for (const [name, transport] of Object.entries(transportsOf(revision)).filter(([key]) => key !== 'HTTP')) {
      const client = await RawClient.connect(serverOf(), { revision, begins: false }, transport);
      const params = { protocolVersion: revision, capabilities: {}, clientInfo: { name: 'raw', version: '1' } };
      for (const step of ['ping', 'initialize', 'notifications/initialized']) {
        for (const [id, given] of [
          [`before ${step}`, undefined],
          [0, {}],
          ['', { _meta: { 'example.com/x': 1 } }],
          [-1, { foo: 1 }],
        ] as const) {
          expect([name, await client.request('ping', given, id)]).toEqual([name, { jsonrpc: '2.0', id, result: {} }]);
        }
        if (step === 'initialize')
          expect(await client.result(step, params)).toMatchObject({ protocolVersion: revision });
        if (step === 'notifications/initialized') await client.notify(step);
      }
      expect(await client.result('ping')).toEqual({});
    }
  });

  // no row: the server never pings by itself
  it('is sent each time a handler wants one, and fails without an answer', async () => {
    const revision = '2025-11-25';
    const server = serverWith({
      async watch(context) {
        for (const round of [1, 2]) {
          await context.ping();
          // the client answers every other ping
          const lost = await context.ping({ timeoutMs: 10 }).catch((error: unknown) => error);
          if (!(lost instanceof QuestionError)) return `The client seems to be there in round ${round}.`;
        }
        return 'lost twice';
      },
    });
    let pings = 0;
    const answers = { ping: () => ((pings += 1) % 2 === 1 ? { result: {} } : undefined) };
    for (const transport of Object.values(transportsOf(revision))) {
      const client = await RawClient.connect(server, { revision, answers }, transport);
      expect(textOf(await client.call('watch'))).toBe('lost twice');
      expect(client.of('ping')).toHaveLength(4);
    }
  });
});
