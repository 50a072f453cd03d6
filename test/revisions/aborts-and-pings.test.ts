// Which requests a cancellation aborts, and pings.
import { describe, expect, it, jest } from '@jest/globals';
import { QuestionError, Context, type JsonObject, type McpServerOptions, NoInput } from '@decorum/core';
import type { Plugin } from '@decorum/core/plugin';
import fc from 'fast-check';

import { endpointOf, overHttp, transportsOf } from '../support/http-transports.js';
import { type Message, overMemory, overStdio, RawClient, textOf } from '../support/raw-client.js';
import { eachRevision, eachSessionRevision, inStateless, STATELESS } from '../support/requirements.js';
import { answerTo } from '../support/stateless-post.js';
import { listening } from './listening.js';
import { ASKING, membersOf } from './members.js';
import { deferred, type Handler, serverOf, serverWith } from './servers.js';

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
    'CANC-03',
    'is in flight, and has the same id, of the same type, in the same session',
    async (revision) => {
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
        for (const requestId of ['done', ...others]) await client.notify('notifications/cancelled', { requestId });
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

  eachRevision(
    ['CANC-05', 'CANC-10'],
    'is not affected by a notification that is malformed or names none',
    async (revision) => {
      const { server, started, ended } = endless();
      const client = await RawClient.connect(server, { revision });
      const before = client.received.length;
      void client.send(call(client, 1, 'endless'));
      const context = await started;
      const ids = [null, ['1'], [1], [[1]], '1', {}, { id: 1 }, true, 1.5];
      const malformed = [
        undefined,
        {},
        { id: 1 },
        { reason: 'no request' },
        ...ids.map((requestId) => ({ requestId })),
      ];
      for (const params of malformed) await client.notify('notifications/cancelled', params);
      expect(context.signal.aborted).toBe(false);
      expect(client.received.slice(before)).toEqual([]);
      await client.notify('notifications/cancelled', { requestId: 1 });
      await ended;
    },
  );

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
      await listening(client, 'a');
      await listening(client, 0);
      // the whole server, or only one of its transports
      await (transport === overHttp ? (await endpointOf(server)).close() : server.close());
      for (const id of ['a', 0]) {
        const result = { resultType: 'complete', _meta: { 'io.modelcontextprotocol/subscriptionId': id } };
        expect(await client.response(id)).toMatchObject({ result });
      }
      expect(client.received).toHaveLength(4);
    }
    const client = await RawClient.connect(serverWith({ quick: () => 'quick' }), { revision }, overStdio);
    await listening(client, 'pipe');
    await client.close();
    expect(client.received.at(-1)).toMatchObject({ id: 'pipe', result: { resultType: 'complete' } });
  });

  inStateless('PING-05', 'neither sends nor receives pings', async () => {
    const server = serverWith({ alive: (context) => context.ping() });
    for (const transport of [overStdio, overHttp, overMemory]) {
      const client = await RawClient.connect(server, { revision }, transport);
      expect(await client.error('ping')).toMatchObject({ code: -32601 });
      expect(await client.call('alive')).toMatchObject({ isError: true });
      expect(client.received.filter(({ method }) => method !== undefined)).toEqual([]);
      expect(client.questions).toEqual([]);
      // not even where a session has begun, which has pings
      if (transport !== overHttp) {
        const both = await RawClient.connect(server, { revision: '2025-11-25' }, transport);
        expect(await both.result('ping')).toEqual({});
        await both.send(client.buildMessage('modern', 'ping'));
        expect(await both.response('modern')).toMatchObject({ error: { code: -32601 } });
      }
      expect(await answerTo(server, client.buildMessage(1, 'ping'))).toMatchObject([
        404,
        { id: 1, error: { code: -32601 } },
      ]);
    }
  });
});

describe('a question that is cancelled', () => {
  const answer = { role: 'assistant', model: 'm', content: { type: 'text', text: 'Late' } };

  eachSessionRevision('CANC-07', 'does not answer another question when its answer is late', async (revision) => {
    const server = serverWith({
      hasty: (context) => context.sample({ messages: 'Hi', maxTokens: 1, timeoutMs: 10 }),
      patient: async (context) => (await context.sample({ messages: 'Hi', maxTokens: 1 })).text,
    });
    const client = await RawClient.connect(server, { revision, capabilities: { sampling: {} } });
    expect(await client.call('hasty')).toMatchObject({ isError: true });
    const waiting = client.call('patient');
    await client.find(() => client.of('sampling/createMessage').length === 2);
    const [late, open] = client.of('sampling/createMessage') as [Message, Message];
    const before = client.received.length;
    for (const id of [late.id, 'never asked', 7]) {
      await client.send({ jsonrpc: '2.0', id, error: { code: -1, message: 'No' } });
      await client.send({ jsonrpc: '2.0', id, result: answer });
    }
    expect(client.received.slice(before)).toEqual([]);
    const timely = { ...answer, content: { type: 'text', text: 'Timely' } };
    await client.send({ jsonrpc: '2.0', id: open.id, result: timely });
    expect(textOf(await waiting)).toBe('Timely');
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

  eachSessionRevision(
    'PING-02',
    'is answered before the session begins, and between its first messages',
    async (revision) => {
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
    },
  );

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
