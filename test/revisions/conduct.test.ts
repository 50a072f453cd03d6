// Cancellation and pings.
import { once } from 'node:events';

import { afterEach, describe, expect, it, jest } from '@jest/globals';
import {
  QuestionError,
  Completion,
  Context,
  type JsonObject,
  type McpServerOptions,
  NoInput,
  Prompt,
  Resource,
  Tool,
} from '@decorum/core';
import type { Plugin } from '@decorum/core/plugin';
import fc from 'fast-check';

import { endpointOf, overHttp, statelessHeaders, transportsOf } from '../support/http-transports.js';
import { type Message, overMemory, overStdio, RawClient, textOf } from '../support/raw-client.js';
import {
  eachRevision,
  eachSessionRevision,
  inStateless,
  SESSION_REVISIONS,
  STATELESS,
} from '../support/requirements.js';
import { answerTo, urlOf } from '../support/stateless-post.js';
import { listening } from './listening.js';
import { deferred, type Handler, serverOf, serverWith } from './servers.js';

afterEach(() => void jest.useRealTimers());

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

/** One handler of each kind. Each runs until its signal aborts. */
class Running {
  private started = deferred();
  private ended = deferred<unknown>();

  /** Promises for the start and the end of the next handler. */
  next() {
    [this.started, this.ended] = [deferred(), deferred()];
    return { started: this.started.promise, ended: this.ended.promise };
  }

  @Tool({ input: NoInput })
  tool(_input: NoInput, { signal }: Context) {
    return this.run(signal);
  }

  @Prompt({ input: NoInput })
  prompt(_input: NoInput, { signal }: Context) {
    return this.run(signal);
  }

  @Resource('run://{x}', { input: { type: 'object', properties: { x: { type: 'string' } } }, list: 'list' })
  resource(_input: object, { signal }: Context) {
    return this.run(signal);
  }

  async list({ signal }: Context) {
    return [await this.run(signal)];
  }

  @Completion({ for: 'resource', argument: 'x' })
  async complete(_value: string, { signal }: Context) {
    return [await this.run(signal)];
  }

  private async run(signal: AbortSignal): Promise<string> {
    const { started, ended } = this;
    const aborted = once(signal, 'abort');
    started.resolve();
    await aborted;
    ended.resolve(signal.reason);
    return 'too late';
  }
}

describe('a cancelled request', () => {
  eachRevision('CANC-02', 'ends without a response', async (revision) => {
    for (const [name, transport] of Object.entries(transportsOf(revision))) {
      for (const id of ['slow', '', 0]) {
        const { server, started, ended } = endless();
        const client = await RawClient.connect(server, { revision }, transport);
        void client.send(call(client, id, 'endless'));
        await started;
        await client.cancel(id, 'The user is bored.');
        const isClosed = client.stateless && name === 'HTTP';
        expect(String(await ended)).toContain(isClosed ? 'The client disconnected.' : 'The user is bored.');
        await client.settled();
        expect([name, client.received.filter((message) => message.id === id)]).toEqual([name, []]);
      }
    }
  });

  eachRevision('CANC-02', 'ends whatever its method is', async (revision) => {
    for (const transport of Object.values(transportsOf(revision))) {
      const running = new Running();
      const client = await RawClient.connect(serverOf({ providers: [running] }), { revision }, transport);
      const requests: readonly (readonly [method: string, params: JsonObject])[] = [
        ['tools/call', { name: 'tool' }],
        ['prompts/get', { name: 'prompt' }],
        ['resources/read', { uri: 'run://x' }],
        ['resources/list', {}],
        [
          'completion/complete',
          { ref: { type: 'ref/resource', uri: 'run://{x}' }, argument: { name: 'x', value: '' } },
        ],
      ];
      for (const [method, params] of requests) {
        const { started, ended } = running.next();
        void client.send(client.buildMessage(method, method, params));
        await started;
        await client.cancel(method);
        expect([method, await ended]).toMatchObject([method, { name: 'AbortError' }]);
      }
      await client.settled();
      const ids = requests.map(([method]) => method);
      expect(client.received.filter(({ id }) => ids.includes(String(id)))).toEqual([]);
    }
  });

  eachRevision('CANC-03', 'is forgotten: unknown or answered requests cannot be cancelled', async (revision) => {
    const client = await RawClient.connect(endless().server, { revision });
    await client.send(call(client, 'done', 'quick'));
    const before = client.received.length;
    for (const requestId of ['never', 'done', 7, 0, '']) await client.notify('notifications/cancelled', { requestId });
    expect(client.received.slice(before)).toEqual([]);
    expect(textOf(await client.call('quick'))).toBe('quick');
  });

  eachRevision('CANC-03', 'has the same id, of the same type, in the same session', async (revision) => {
    for (const [id, others] of [
      [1, ['1', '01', 1.5, 0]],
      ['1', [1, '01', '1 ', '']],
      [0, ['0', '', null, false]],
      ['', [0, null, ' ']],
    ] as const) {
      const { server, started, ended } = endless();
      const [client, other] = [
        await RawClient.connect(server, { revision }),
        await RawClient.connect(server, { revision }),
      ];
      void client.send(call(client, id, 'endless'));
      const { signal } = await started;
      for (const requestId of others) await client.notify('notifications/cancelled', { requestId });
      await other.notify('notifications/cancelled', { requestId: id });
      await client.settled();
      expect([id, signal.aborted]).toEqual([id, false]);
      await client.notify('notifications/cancelled', { requestId: id });
      await ended;
    }
  });

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

  eachRevision('CANC-04', 'may be answered before its cancellation arrives', async (revision) => {
    for (const [name, transport] of Object.entries(transportsOf(revision))) {
      const client = await RawClient.connect(endless().server, { revision }, transport);
      for (const [id, tool] of [
        ['late', 'quick'],
        ['', 'missing'],
        [0, 'quick'],
      ] as const) {
        void client.send(call(client, id, tool));
        await client.response(id);
        const before = client.received.length;
        await client.notify('notifications/cancelled', { requestId: id });
        await client.settled();
        // the response that "settled" waited for
        expect([name, id, client.received.slice(before)]).toMatchObject([name, id, [{ result: {} }]]);
      }
      expect([name, textOf(await client.call('quick'))]).toEqual([name, 'quick']);
      await client.close();
    }
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
    await fc.assert(property, { numRuns: 30 });
  });

  eachRevision('CANC-05', 'is not affected by a malformed notification', async (revision) => {
    const { server, started, ended } = endless();
    const client = await RawClient.connect(server, { revision });
    const before = client.received.length;
    void client.send(call(client, 1, 'endless'));
    const context = await started;
    const ids = [null, ['1'], [1], [[1]], '1', {}, { id: 1 }, true, 1.5];
    const malformed = [undefined, {}, { id: 1 }, ...ids.map((requestId) => ({ requestId }))];
    for (const params of malformed) await client.notify('notifications/cancelled', params);
    expect(context.signal.aborted).toBe(false);
    expect(client.received.slice(before)).toEqual([]);
    await client.notify('notifications/cancelled', { requestId: 1 });
    await ended;
  });

  eachSessionRevision('CANC-08', 'is not "initialize"', async (revision) => {
    const client = await RawClient.connect(endless().server, { revision, begins: false });
    const params = { protocolVersion: revision, capabilities: {}, clientInfo: { name: 'raw', version: '1' } };
    void client.send({ jsonrpc: '2.0', id: 'hello', method: 'initialize', params });
    await client.notify('notifications/cancelled', { requestId: 'hello' });
    expect(await client.response('hello')).toMatchObject({ result: { protocolVersion: revision } });
    await client.notify('notifications/cancelled', { requestId: 'hello' });
    await client.notify('notifications/initialized');
    expect(textOf(await client.call('quick'))).toBe('quick');
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
      const { server } = endless({ plugins: [waiting] });
      const client = await RawClient.connect(server, { revision, begins: false }, transport);
      const params = { protocolVersion: revision, capabilities: {}, clientInfo: { name: 'raw', version: '1' } };
      void client.send({ jsonrpc: '2.0', id: 'hello', method: 'initialize', params });
      await waits.promise;
      await client.notify('notifications/cancelled', { requestId: 'hello' });
      go.resolve();
      expect(await client.response('hello')).toMatchObject({ result: { protocolVersion: revision } });
      await client.notify('notifications/initialized');
      expect(textOf(await client.call('quick'))).toBe('quick');
    }
  });

  eachSessionRevision('CANC-10', 'may be missing in the notification', async (revision) => {
    const { server, started, ended } = endless();
    const client = await RawClient.connect(server, { revision });
    void client.send(call(client, 1, 'endless'));
    const context = await started;
    await client.notify('notifications/cancelled', { reason: 'no request' });
    expect(context.signal.aborted).toBe(false);
    await client.notify('notifications/cancelled', { requestId: 1 });
    await ended;
  });

  eachRevision('CANC-14', 'aborts its signal, and so does the end of the session or the server', async (revision) => {
    for (const transport of Object.values(transportsOf(revision))) {
      for (const end of ['cancel', 'session', 'server'] as const) {
        const { server, started, ended } = endless();
        const client = await RawClient.connect(server, { revision }, transport);
        void client.send(call(client, 1, 'endless'));
        await started;
        if (end === 'cancel') await client.cancel(1);
        if (end === 'session') await client.close();
        if (end === 'server') await server.close({ deadlineMs: 1 });
        expect(await ended).toMatchObject({ name: 'AbortError' });
      }
    }
  });

  eachRevision('CANC-14', 'has an aborted signal, even if its handler first looks at it then', async (revision) => {
    for (const end of ['cancel', 'session', 'server'] as const) {
      const [started, go] = [deferred<Context>(), deferred()];
      const server = serverWith({
        busy(context) {
          started.resolve(context);
          return go.promise;
        },
      });
      const client = await RawClient.connect(server, { revision });
      void client.send(call(client, 1, 'busy'));
      const context = await started.promise;
      if (end === 'cancel') await client.notify('notifications/cancelled', { requestId: 1 });
      if (end === 'session') await client.close();
      if (end === 'server') await server.close({ deadlineMs: 1 });
      const { aborted, reason } = context.signal;
      expect([end, aborted, reason]).toMatchObject([end, true, { name: 'AbortError' }]);
      go.resolve();
    }
  });
});

describe('a client without a session', () => {
  const revision = STATELESS;

  inStateless('CANC-11', 'cancels over stdio by a notification, and over HTTP by closing the stream', async () => {
    for (const transport of [overStdio, overHttp]) {
      const { server, started, ended } = endless();
      const client = await RawClient.connect(server, { revision }, transport);
      void client.send(call(client, 'x', 'endless'));
      const { signal } = await started;
      if (transport === overHttp) {
        await client.notify('notifications/cancelled', { requestId: 'x' });
        await client.settled();
        expect(signal.aborted).toBe(false);
      }
      await client.cancel('x');
      expect(await ended).toMatchObject({ name: 'AbortError' });
      await client.settled();
      expect(client.received.filter(({ id }) => id === 'x')).toEqual([]);
    }
  });

  inStateless('CANC-11', 'cancels by disconnecting, whatever kind of response it accepts', async () => {
    for (const accept of ['application/json', 'text/event-stream', '*/*']) {
      const { server, started, ended } = endless();
      const client = await RawClient.connect(server, { revision });
      const message = call(client, 'x', 'endless');
      const headers = { 'content-type': 'application/json', accept, ...statelessHeaders(message) };
      const controller = new AbortController();
      const posted = fetch(await urlOf(server), {
        method: 'POST',
        headers,
        body: JSON.stringify(message),
        signal: controller.signal,
      });
      posted.catch(() => {});
      await started;
      controller.abort();
      expect([accept, await ended]).toMatchObject([accept, { name: 'AbortError' }]);
    }
  });

  inStateless('CANC-11', 'may describe itself in the notification as in a request', async () => {
    const { server, started, ended } = endless();
    const client = await RawClient.connect(server, { revision }, overStdio);
    void client.send(call(client, 'x', 'endless'));
    await started;
    const { params } = client.buildMessage('unused', 'notifications/cancelled', { requestId: 'x' });
    await client.notify('notifications/cancelled', params);
    expect(await ended).toMatchObject({ name: 'AbortError' });
    await client.settled();
    expect(client.received.filter(({ id }) => id === 'x')).toEqual([]);
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

  inStateless('CANC-12', 'gets no other cancellation, however a request ends', async () => {
    const { server, started } = endless();
    server.addTool({ name: 'fails', input: NoInput }, () => {
      throw new Error('fails');
    });
    server.addTool({ name: 'asks', input: NoInput }, (_input, ctx) =>
      ctx.sample({ messages: 'Hi', maxTokens: 1, timeoutMs: 1 }),
    );
    const client = await RawClient.connect(server, { revision, capabilities: { sampling: {} } }, overStdio);
    await listening(client, 'listening');
    await Promise.all(['quick', 'fails', 'asks'].map((name) => client.call(name)));
    void client.send(call(client, 'endless', 'endless'));
    await started;
    await server.close({ deadlineMs: 1 });
    await client.response('listening');
    await client.close();
    const cancelled = client.of('notifications/cancelled').map(({ params }) => params?.['requestId']);
    expect(cancelled.filter((id) => id !== 'listening')).toEqual([]);
    expect(client.received.length).toBeGreaterThan(4);
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
  const asking = () =>
    serverWith(
      {
        ask: (context) => context.sample({ messages: 'Hi', maxTokens: 1 }),
        quick: () => 'quick',
      },
      { questionTimeoutMs: 10 },
    );
  const answer = { role: 'assistant', model: 'm', content: { type: 'text', text: 'Late' } };

  eachSessionRevision('CANC-01', 'is the server’s own and in flight', async (revision) => {
    const client = await RawClient.connect(asking(), { revision, capabilities: { sampling: {} } });
    await Promise.all([client.call('ask'), client.call('ask'), client.call('quick')]);
    const asked = client.of('sampling/createMessage').map(({ id }) => id);
    const cancelled = client.of('notifications/cancelled').map(({ params }) => params?.['requestId']);
    expect(asked).toHaveLength(2);
    expect(cancelled.sort()).toEqual(asked.sort());
  });

  eachSessionRevision('CANC-01', 'is neither one that was answered, nor another that waits', async (revision) => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask', 'Date', 'performance'] });
    const ask = (context: Context, timeoutMs: number) => context.sample({ messages: 'Hi', maxTokens: 1, timeoutMs });
    const server = serverWith({
      async ask(context) {
        await ask(context, 50);
        await Promise.allSettled([ask(context, 60), ask(context, 70)]);
      },
    });
    let answers = 1;
    const client = await RawClient.connect(server, {
      revision,
      capabilities: { sampling: {} },
      answers: { 'sampling/createMessage': () => (answers-- > 0 ? { result: answer } : undefined) },
    });
    void client.send(call(client, 'asks', 'ask'));
    await client.find(() => client.questions.length === 3);
    const cancelled = () => client.of('notifications/cancelled').map(({ params }) => params?.['requestId']);
    const [, hasty, patient] = client.of('sampling/createMessage').map(({ id }) => id);
    jest.advanceTimersByTime(65);
    await client.settled();
    expect(cancelled()).toEqual([hasty]);
    await client.cancel('asks');
    await client.settled();
    expect(cancelled()).toEqual([hasty, patient]);
    jest.advanceTimersByTime(100);
    await client.settled();
    expect(cancelled()).toHaveLength(2);
  });

  eachSessionRevision('CANC-07', 'may still be answered, and the answer is ignored', async (revision) => {
    const client = await RawClient.connect(asking(), { revision, capabilities: { sampling: {} } });
    expect(await client.call('ask')).toMatchObject({ isError: true });
    const [question] = client.of('sampling/createMessage') as [Message];
    const before = client.received.length;
    await client.send({ jsonrpc: '2.0', id: question.id, result: answer });
    await client.send({ jsonrpc: '2.0', id: question.id, error: { code: -1, message: 'No' } });
    expect(client.received.slice(before)).toEqual([]);
    expect(textOf(await client.call('quick'))).toBe('quick');
  });

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
    for (const id of [late.id, 'never asked', 7]) {
      await client.send({ jsonrpc: '2.0', id, error: { code: -1, message: 'No' } });
      await client.send({ jsonrpc: '2.0', id, result: answer });
    }
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

  eachSessionRevision('PING-02', 'is answered before the session begins', async (revision) => {
    // over Streamable HTTP, there is no session to ping yet
    for (const [name, transport] of Object.entries(transportsOf(revision)).filter(([key]) => key !== 'HTTP')) {
      const client = await RawClient.connect(serverOf(), { revision, begins: false }, transport);
      for (const id of ['ping', 0, '']) {
        expect([name, await client.request('ping', {}, id)]).toEqual([name, { jsonrpc: '2.0', id, result: {} }]);
      }
      expect(await client.begin()).toMatchObject({ protocolVersion: revision });
      expect(await client.result('ping')).toEqual({});
    }
  });

  // no row: the server never pings by itself
  it.each(SESSION_REVISIONS)(
    'is sent each time a handler wants one, and fails without an answer (%s)',
    async (revision) => {
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
    },
  );
});
