// What a request is to its handler: its metadata, its signal, its messages, and what stops them.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import { Context, McpError, type McpServer, type McpServerOptions, NoInput, Prompt, Tool } from '@decorum/core';
import { definePlugin } from '@decorum/core/plugin';
import type { Reply, Wire } from '@decorum/core/transport';
import { connect, type TestClient } from '@decorum/testing';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { IsBoolean, IsInt, IsOptional, IsString, Min } from 'class-validator';

import { ENVELOPE } from '../transports/pipe-client.js';
import { openSession } from './open-session.js';
import { ERAS, reporting, serveTool, turn } from './serving.js';

const NAME = { type: 'object', properties: { name: { type: 'string' } } } as const;
const CANCEL = { action: 'cancel' } as const;

/** A promise that the test resolves. */
function gate() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { open, opened };
}

const methodsOf = (client: TestClient) => client.notifications.map(({ method }) => method);

describe('the signal of a request', () => {
  it('is the same object each time, and is not aborted by the response', async () => {
    const signals: AbortSignal[] = [];
    const { client, call } = await serveTool((ctx) => void signals.push(ctx.signal, ctx.signal));
    await call();
    await client.close();
    expect(signals[0]).toBe(signals[1]);
    expect(signals[0]?.aborted).toBe(false);
  });

  it('has the reason of the client, or a default', async () => {
    const { client } = await serveTool((ctx) => {
      const aborted = new Promise((_resolve, reject) => {
        ctx.signal.addEventListener('abort', () => {
          seen.push(ctx.signal.reason);
          reject(ctx.signal.reason as Error);
        });
      });
      ctx.progress(1);
      return aborted;
    });
    const seen: unknown[] = [];
    for (const [requestId, reason] of [
      [2, 'changed my mind'],
      [4, undefined],
    ] as const) {
      const onProgress = () => void client.notify('notifications/cancelled', { requestId, reason });
      const call = client.request('tools/call', { name: 'tool' }, { onProgress });
      await expect(call).rejects.toThrow('without a response');
      expect(await client.request('ping')).toEqual({});
    }
    expect(seen).toMatchObject([
      { name: 'AbortError', message: 'changed my mind' },
      { name: 'AbortError', message: 'The request was cancelled.' },
    ]);
  });

  it('keeps its first reason', async () => {
    const began = gate();
    const end = gate();
    const reasons: string[] = [];
    const { client, server } = await serveTool(async (ctx) => {
      ctx.signal.addEventListener('abort', () => reasons.push((ctx.signal.reason as Error).message));
      began.open();
      await end.opened;
      reasons.push((ctx.signal.reason as Error).message);
    });
    const call = client.callTool('tool').catch((error: Error) => error.message);
    await began.opened;
    await client.close();
    expect(await call).toBe('The client is closed.');
    await server.close({ deadlineMs: 1 });
    end.open();
    await turn();
    expect(reasons).toEqual(['The session has ended.', 'The session has ended.']);
  });

  it('is aborted when the client must answer first, and nothing more is sent', async () => {
    const reasons: unknown[] = [];
    const { client, call } = await serveTool(
      async (ctx) => {
        ctx.signal.addEventListener('abort', () => {
          reasons.push(ctx.signal.reason);
          ctx.progress(2);
        });
        ctx.progress(1);
        return (await ctx.elicit(NAME, { message: 'Who?' })).action;
      },
      { era: 'stateless', onElicit: () => CANCEL },
    );
    expect(await call({ _meta: { progressToken: 'token' } })).toMatchObject({ resultType: 'input_required' });
    expect(reasons).toMatchObject([{ name: 'AbortError', message: 'The client must answer first.' }]);
    expect(client.notifications.map(({ params }) => params['progress'])).toEqual([1]);
  });

  it('is aborted by an aborted request of the test client, with its reason (#22)', async () => {
    const controller = new AbortController();
    const reason = gate();
    let seen: unknown;
    const { client } = await serveTool(async ({ signal }) => {
      signal.addEventListener('abort', () => ((seen = signal.reason), reason.open()));
      controller.abort();
      await reason.opened;
    });
    const call = client.callTool('tool', {}, { signal: controller.signal });
    await expect(call).rejects.toMatchObject({ name: 'AbortError' });
    await reason.opened;
    expect(seen).toMatchObject({ message: expect.stringContaining('AbortError') });
  });

  it('has its reason even if the handler reads the signal only afterwards', async () => {
    let late: Context | undefined;
    const { client, server } = await serveTool((ctx) => {
      late = ctx;
      return new Promise(() => {});
    });
    const call = client.callTool('tool').catch((error: Error) => error.message);
    await server.close({ deadlineMs: 1 });
    expect(await call).toBe('The server is closing.');
    expect(late?.signal.reason).toMatchObject({ name: 'AbortError', message: 'The server is closing.' });
  });

  it('tells that a client without a session has disconnected', async () => {
    let signal: AbortSignal | undefined;
    const { server } = await serveTool((ctx) => {
      ({ signal } = ctx);
      return new Promise(() => {});
    });
    const { owner } = await openSession(server);
    const { wire, leave } = leaving('http', owner);
    const params = { name: 'tool', _meta: ENVELOPE };
    const reply = owner.kernel.handle({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }, wire);
    await turn();
    leave();
    await reply;
    expect(signal?.reason).toMatchObject({ name: 'AbortError', message: 'The client disconnected.' });
    await server.close({ deadlineMs: 1 });
  });
});

it('the report of a failure names the member, although it has asked the client', async () => {
  const origins: unknown[] = [];
  const { call } = await serveTool(
    async (ctx) => {
      await ctx.elicit(NAME, { message: 'Who?' });
      throw new Error('A bug.');
    },
    { onElicit: () => CANCEL },
    { onError: (_error, origin) => void origins.push(origin) },
  );
  await call();
  expect(origins).toMatchObject([{ method: 'tools/call', member: expect.stringContaining('tool') }]);
});

describe('ctx.elicit', () => {
  class Trip {
    @IsString() city!: string;
    @IsInt() @Min(1) days!: number;
    @IsOptional() @IsBoolean() pets?: boolean = false;
  }

  it('sends a flat form of the DTO, and returns a validated instance with defaults', async () => {
    let form: unknown;
    let answer: unknown;
    const onElicit = (params: unknown) => (
      (form = params),
      { action: 'accept', content: { city: 'Oslo', days: 3 } } as const
    );
    const ask = async (ctx: Context) => void (answer = await ctx.elicit(Trip, { message: 'Where to?' }));
    await (await serveTool(ask, { onElicit })).call();
    const content = Object.assign(new Trip(), { city: 'Oslo', days: 3, pets: false });
    expect(answer).toStrictEqual({ action: 'accept', content });
    const properties = {
      city: { type: 'string' },
      days: { type: 'integer', minimum: 1 },
      pets: expect.objectContaining({ default: false }),
    };
    const requestedSchema = { type: 'object', properties, required: ['city', 'days'] };
    expect(form).toEqual({ mode: 'form', message: 'Where to?', requestedSchema });
  });
});

describe('progress of a request', () => {
  const progress = (client: TestClient) =>
    client.notifications.flatMap(({ method, params }) => (method === 'notifications/progress' ? [params] : []));

  it.each([
    ['2024-11-05', { progressToken: 7, progress: 1 }],
    ['2025-03-26', { progressToken: 7, progress: 1, message: 'half' }],
  ])('is sent if the client asked for it, with a message if the revision has one: %s', async (revision, params) => {
    const { client, call } = await serveTool((ctx) => ctx.progress(1, undefined, 'half'), { revision });
    await call();
    await call({ _meta: { progressToken: 7 } });
    expect(progress(client)).toEqual([params]);
  });

  it('stops as soon as the client cancels the request', async () => {
    const { client } = await serveTool((ctx) => {
      for (const step of [1, 2, 3]) ctx.progress(step);
      ctx.log.error('over');
    });
    const onProgress = () => void client.notify('notifications/cancelled', { requestId: 2 });
    await client.request('tools/call', { name: 'tool' }, { onProgress }).catch(() => {});
    expect(progress(client)).toEqual([{ progressToken: 2, progress: 1 }]);
    expect(methodsOf(client)).toEqual(['notifications/progress']);
  });
});

describe('a request that has ended', () => {
  it.each(ERAS)('sends and asks nothing more: %s', async (era) => {
    let late: Context | undefined;
    const { client, call } = await serveTool((ctx) => void (late = ctx), { era, onElicit: () => CANCEL });
    await call({ _meta: { progressToken: 1, 'io.modelcontextprotocol/logLevel': 'debug' } });
    late?.progress(1);
    late?.log.error('late');
    await expect(late?.elicit(NAME, { message: 'Who?' })).rejects.toThrow(
      'The request has ended, so the client can no longer be asked.',
    );
    expect(methodsOf(client)).toEqual([]);
  });

  it('cancels only the questions that are open', async () => {
    const began = gate();
    const answers = [CANCEL];
    const { client, call } = await serveTool(
      async (ctx) => {
        await ctx.elicit(NAME, { message: 'First?' });
        const open = Promise.allSettled(['Second?', 'Third?'].map((message) => ctx.elicit(NAME, { message })));
        began.open();
        await open;
      },
      { onElicit: () => answers.shift() ?? new Promise<never>(() => {}) },
    );
    const cancelled = call().catch(() => {});
    await began.opened;
    await client.notify('notifications/cancelled', { requestId: 2 });
    await cancelled;
    const sent = client.notifications.filter(({ method }) => method === 'notifications/cancelled');
    expect(sent.map(({ params }) => params['requestId'])).toEqual(['s2', 's3']);
  });
});

it('a request that fails more than once reports its first failure', async () => {
  const seen: string[] = [];
  const ended = gate();
  const { call, errors } = await serveTool(
    async (ctx) => {
      const keys = ['one', 'one', 'two', 'two'];
      const outcomes = await Promise.allSettled(keys.map((key) => ctx.elicit(NAME, { message: 'Who?', key })));
      seen.push(...outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? String(outcome.reason) : [])));
      ended.open();
      return 'done';
    },
    { era: 'stateless', onElicit: () => CANCEL },
  );
  await expect(call()).rejects.toMatchObject({ code: -32603 });
  const failure = (key: string) => `Error: Two questions of one handler have the key "${key}". Give each a unique key.`;
  expect(errors.map(String)).toEqual([failure('one')]);
  await ended.opened;
  expect(seen.filter((text) => text.includes('unique'))).toEqual([failure('one'), failure('two')]);
});

const slow = definePlugin(() => ({
  name: 'slow',
  observe: async (_request, run) => {
    await turn();
    await run();
  },
}));

it.each([
  ['in a plain server', {}],
  ['after a plugin has waited', { plugins: [slow()] }],
])('a request that has failed is reported once, although its handler fails too: %s', async (_name, options) => {
  const { call, errors } = await serveTool(
    (ctx) => {
      const asked = ['one', 'one'].map((key) => ctx.elicit(NAME, { message: 'Who?', key }));
      for (const answer of asked) answer.catch(() => {});
      throw new Error('A bug.');
    },
    { era: 'stateless', onElicit: () => CANCEL },
    options,
  );
  await expect(call()).rejects.toMatchObject({ code: -32603 });
  await turn();
  expect(errors).toHaveLength(1);
});

describe('the metadata of a request', () => {
  it('is undefined unless it is an object', async () => {
    const seen: unknown[] = [];
    const { server } = await serveTool((ctx) => void seen.push(ctx.meta));
    const { initialize, handle } = await openSession(server);
    await initialize();
    for (const more of [{}, { _meta: { 'com.example/trace': 1 } }, { _meta: 'text' }, { _meta: ['list'] }]) {
      await handle({ id: 1, method: 'tools/call', params: { name: 'tool', ...more } });
    }
    expect(seen).toEqual([undefined, { 'com.example/trace': 1 }, undefined, undefined]);
  });

  it('has a progress token that is a short string or an integer', async () => {
    const { call } = await serveTool(() => 'done');
    const message = 'The progressToken is neither a string of up to 256 characters nor an integer.';
    for (const progressToken of [{}, 0.5, null, 'x'.repeat(257)]) {
      await expect(call({ _meta: { progressToken } })).rejects.toMatchObject({ code: -32602, message });
    }
    expect(await call({ _meta: { progressToken: 'x'.repeat(256) } })).toMatchObject({ content: [{ text: 'done' }] });
  });
});

setFlagsFromString('--expose-gc');
const gc = runInNewContext('gc') as () => void;

class Worker {
  readonly ends = new Map<unknown, () => void>();
  late: Context | undefined;
  /** How the client's answer failed. */
  unanswered: unknown;
  onNested = () => {};

  /** Runs until the test ends it. */
  @Tool() async work(_: NoInput, ctx: Context) {
    await new Promise<void>((resolve) => this.ends.set(ctx.requestId, resolve));
    return 'done';
  }

  @Tool() returns(_: NoInput, ctx: Context) {
    this.late = ctx;
  }

  /** Asks the client, and doesn't wait for the answer. */
  @Tool() asks(_: NoInput, ctx: Context) {
    void ctx.ping({ timeoutMs: 60_000 }).catch((error: Error) => (this.unanswered = error.message));
    return 'asked';
  }

  @Prompt() plan() {}

  /** Calls back before its first turn ends. */
  @Tool() async nested(_: NoInput, ctx: Context) {
    this.onNested();
    await turn();
    return ctx.signal.aborted;
  }
}

const servers: McpServer[] = [];

function serve(options: Partial<McpServerOptions> = {}) {
  const worker = new Worker();
  const { server } = reporting({ providers: [worker], ...options });
  servers.push(server);
  return { worker, server };
}

/** The wire of a client that disconnects when the test says so. */
function leaving(kind: 'memory' | 'http', owner: Wire['owner']) {
  let leave = () => {};
  const onDisconnect = (callback: () => void) => void (leave = callback);
  const wire: Wire = { transport: { kind }, principal: undefined, owner, send() {}, onDisconnect };
  return { wire, leave: () => leave() };
}

const fakeTimers = () => jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });

/** Opens a session without a client, so that a test decides when each message arrives. */
async function openWorker() {
  const { worker, server } = serve();
  const opened = await openSession(server);
  await opened.initialize();
  const call = (id: number, name: string, meta = {}) =>
    opened.handle({ id, method: 'tools/call', params: { name, _meta: meta } }) as Promise<Reply>;
  return { worker, server, call, ...opened };
}

afterEach(async () => {
  jest.useRealTimers();
  await Promise.all(servers.splice(0).map((server) => server.close({ deadlineMs: 1 })));
});

describe('A request that has ended', () => {
  it('sends no more progress and no more log messages, however its handler ends (#22)', async () => {
    const { server, sent, call } = await openWorker();
    const ends = {
      succeeds: () => 'done',
      breaks: () => {
        throw new Error('broken');
      },
      refuses: () => {
        throw new McpError('invalid-params', 'No such day.');
      },
    };
    let late: Context | undefined;
    for (const [name, end] of Object.entries(ends)) {
      server.addTool({ name }, (_input, ctx) => ((late = ctx), end()));
      server.addTool({ name: `${name}_later` }, async (_input, ctx) => ((late = ctx), await turn(), end()));
    }
    const names = Object.keys(ends).flatMap((each) => [each, `${each}_later`]);
    for (const [id, name] of names.entries()) {
      await call(id + 1, name, { progressToken: 1 });
      late?.progress(1);
      late?.log.error('late');
      expect([name, sent.filter(({ kind }) => kind !== 'change')]).toEqual([name, []]);
    }
  });

  it('frees its id for another request while others are in flight (#22)', async () => {
    const { worker, call } = await openWorker();
    const first = call(1, 'work');
    const second = call(2, 'work');
    worker.ends.get(2)?.();
    expect((await second).text).toContain('done');
    const again = call(2, 'work');
    worker.ends.get(2)?.();
    worker.ends.get(1)?.();
    expect((await again).text).toContain('done');
    expect((await first).text).toContain('done');
  });

  it('is forgotten with its conversation (#22)', async () => {
    const { worker, kernel, call } = await openWorker();
    const running = call(1, 'work');
    expect(kernel.inFlight.busy).toBe(1);
    worker.ends.get(1)?.();
    await running;
    expect(kernel.inFlight.busy).toBe(0);
    await call(2, 'returns');
    expect(kernel.inFlight.starting).toBeUndefined();
    expect(kernel.inFlight.startingIn).toBeUndefined();
  });

  it.each([
    [1, 2, 3],
    [2, 3, 1],
    [3, 2, 1],
  ])('does not keep the server from closing, if requests end in the order %i, %i, %i (#22)', async (...order) => {
    const { worker, server, call } = await openWorker();
    const running = [1, 2, 3].map((id) => call(id, 'work'));
    for (const id of order) {
      worker.ends.get(id)?.();
      await running[id - 1];
    }
    fakeTimers();
    // the deadline never comes
    await server.close({ deadlineMs: 60_000 });
    expect(jest.getTimerCount()).toBe(0);
  });

  it('leaves no timer behind if the server was waiting for it (#22)', async () => {
    const { worker, server, call } = await openWorker();
    const running = call(1, 'work');
    fakeTimers();
    const closed = server.close({ deadlineMs: 60_000 });
    await turn();
    // its process would live until the deadline
    expect(jest.getTimerCount()).toBe(1);
    worker.ends.get(1)?.();
    expect((await running).text).toContain('done');
    await closed;
    expect(jest.getTimerCount()).toBe(0);
  });
});

describe('A server that is closing', () => {
  it('lets requests run until the deadline, and cancels them then (#22)', async () => {
    const { server, call } = await openWorker();
    let reply: Reply | undefined;
    const running = call(1, 'work').then((given) => (reply = given));
    fakeTimers();
    const closed = server.close({ deadlineMs: 60_000 });
    await turn();
    await jest.advanceTimersByTimeAsync(59_999);
    expect(reply).toBeUndefined();
    await jest.advanceTimersByTimeAsync(1);
    await running;
    expect(reply).toMatchObject({ cancelled: 'closing', text: expect.stringContaining('The server is closing.') });
    await closed;
  });

  it('unsubscribes from the change bus (#22)', async () => {
    let subscriptions = 0;
    const subscribe = () => ((subscriptions += 1), () => void (subscriptions -= 1));
    const { server } = serve({ changeBus: { publish() {}, subscribe } });
    await connect(server);
    expect(subscriptions).toBe(1);
    await server.close();
    expect(subscriptions).toBe(0);
  });
});

it('A handler whose first step makes the client send a message can still be cancelled after that message was handled (#22)', async () => {
  const { worker, handle, call } = await openWorker();
  worker.onNested = () => {
    void call(2, 'returns');
    void handle({ method: 'notifications/cancelled', params: { requestId: 1 } });
  };
  expect(await call(1, 'nested')).toMatchObject({ cancelled: 'client', text: undefined });
});

describe('A subscriber that is gone', () => {
  it('gets no more notifications once its session is closed (#22)', async () => {
    const { kernel, server, session, sent, handle } = await openWorker();
    await handle({ method: 'notifications/initialized' });
    const other = await connect(server);
    kernel.closeSession(session);
    server.notify.toolsChanged();
    await other.nextNotification('notifications/tools/list_changed');
    expect(sent).toEqual([]);
  });

  it('is forgotten once its `subscriptions/listen` is cancelled (#22)', async () => {
    const { kernel, owner } = await openWorker();
    const listen = async () => {
      const { wire, leave } = leaving('memory', owner);
      const params = { notifications: { toolsListChanged: true }, _meta: ENVELOPE };
      const listening = kernel.handle({ jsonrpc: '2.0', id: 1, method: 'subscriptions/listen', params }, wire);
      await turn();
      leave();
      expect(await listening).toMatchObject({ cancelled: 'gone' });
      return new WeakRef(wire);
    };
    const wire = await listen();
    for (let round = 0; round < 5; round += 1) {
      await turn();
      gc();
    }
    expect(wire.deref()).toBeUndefined();
  });
});

it('A question that outlives its request ends with the session (#22)', async () => {
  const { worker, kernel, session, sent, call } = await openWorker();
  await call(1, 'asks');
  await turn();
  expect(sent).toMatchObject([{ kind: 'question' }]);
  kernel.closeSession(session);
  await turn();
  expect(worker.unanswered).toBe('The session has ended.');
});

it('A request without a session that a plugin holds ends once its client disconnects (#22)', async () => {
  const plugins = [definePlugin(() => ({ name: 'stuck', observe: () => new Promise<never>(() => {}) }))()];
  const { worker, server } = serve({ plugins });
  const { owner } = await openSession(server);
  const { wire, leave } = leaving('http', owner);
  const params = { name: 'returns', _meta: ENVELOPE };
  const reply = owner.kernel.handle({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }, wire);
  leave();
  expect(await Promise.race([reply, turn()])).toEqual({ text: undefined, cancelled: 'gone' });
  expect(worker.late).toBeUndefined();
});
