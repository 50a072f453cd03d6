// What a request is to its handler: its metadata, its signal, its messages, and what stops them.
import { describe, expect, it } from '@jest/globals';
import { connectMemory, type Context, type ErrorOrigin, McpServer, NoInput } from '@decorum/core';
import { connect, type ConnectOptions, type TestClient } from '@decorum/testing';
import { IsBoolean, IsInt, IsOptional, IsString, Min } from 'class-validator';

const NAME = { type: 'object', properties: { name: { type: 'string' } } } as const;
const ERAS = ['stateful', 'stateless'] as const;
const SILENT = { warn: () => {}, error: () => {} };

/** A promise that the test resolves. */
function gate() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
}

/** Connects a client to a server with one tool. */
async function serve(handler: (ctx: Context) => unknown, options: ConnectOptions = {}) {
  const errors: string[] = [];
  const onError = (error: unknown) => void errors.push(String(error));
  const server = new McpServer({ name: 'test', version: '1', logger: SILENT, onError });
  server.addTool({ name: 'tool', input: NoInput }, (_input, ctx) => handler(ctx));
  const client = await connect(server, options);
  const call = (more: object = {}) => client.request('tools/call', { name: 'tool', ...more });
  return { server, client, call, errors };
}

const methodsOf = (client: TestClient) => client.notifications.map(({ method }) => method);

describe('the signal of a request', () => {
  it('is the same object each time, and is not aborted by the response', async () => {
    const signals: AbortSignal[] = [];
    const { client, call } = await serve((ctx) => void signals.push(ctx.signal, ctx.signal));
    await call();
    await client.close();
    expect(signals[0]).toBe(signals[1]);
    expect(signals[0]?.aborted).toBe(false);
  });

  it('has the reason of the client, or a default', async () => {
    const { client } = await serve((ctx) => {
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
      await expect(client.request('tools/call', { name: 'tool' }, { onProgress })).rejects.toThrow(
        'without a response',
      );
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
    const { client, server } = await serve(async (ctx) => {
      ctx.signal.addEventListener('abort', () => reasons.push((ctx.signal.reason as Error).message));
      began.open();
      await end.opened;
      reasons.push((ctx.signal.reason as Error).message);
    });
    const call = client.callTool('tool').catch((error: Error) => error.message);
    await began.opened;
    await client.close();
    expect(await call).toBe('The client is closed.');
    const closed = server.close({ deadlineMs: 1 });
    await closed;
    end.open();
    await new Promise(setImmediate);
    expect(reasons).toEqual(['The session has ended.', 'The session has ended.']);
  });

  it('is aborted when the client must answer first, and nothing more is sent', async () => {
    const reasons: unknown[] = [];
    const { client, call } = await serve(
      async (ctx) => {
        ctx.signal.addEventListener('abort', () => {
          reasons.push(ctx.signal.reason);
          ctx.progress(2);
        });
        ctx.progress(1);
        return (await ctx.elicit(NAME, { message: 'Who?' })).action;
      },
      { era: 'stateless', onElicit: () => ({ action: 'cancel' }) },
    );
    expect(await call({ _meta: { progressToken: 'token' } })).toMatchObject({ resultType: 'input_required' });
    expect(reasons).toMatchObject([{ name: 'AbortError', message: 'The client must answer first.' }]);
    expect(client.notifications.map(({ params }) => params['progress'])).toEqual([1]);
  });
});

describe('the cancellation of a request', () => {
  it('by an aborted request of the client reaches the handler (#22)', async () => {
    const controller = new AbortController();
    const aborted = gate();
    let reason: unknown;
    const { client } = await serve(async ({ signal }) => {
      signal.addEventListener('abort', aborted.open);
      controller.abort();
      await aborted.opened;
      reason = signal.reason;
    });
    const call = client.callTool('tool', {}, { signal: controller.signal });
    await expect(call).rejects.toMatchObject({ name: 'AbortError' });
    await aborted.opened;
    await new Promise(setImmediate);
    expect(reason).toMatchObject({ message: expect.stringContaining('AbortError') });
  });

  it('has its reason even if the handler reads the signal only afterwards', async () => {
    let late: Context | undefined;
    const { client, server } = await serve((ctx) => {
      late = ctx;
      return new Promise(() => {});
    });
    const call = client.callTool('tool').catch((error: Error) => error.message);
    await server.close({ deadlineMs: 1 });
    expect(await call).toBe('The server is closing.');
    expect(late?.signal.reason).toMatchObject({ name: 'AbortError', message: 'The server is closing.' });
  });
});

describe('ctx.elicit', () => {
  class Trip {
    @IsString() city!: string;
    @IsInt() @Min(1) days!: number;
    @IsOptional() @IsBoolean() pets?: boolean = false;
  }

  it('sends a flat form of the DTO, and returns a validated instance with defaults', async () => {
    let form: unknown;
    const trips: unknown[] = [];
    const { call } = await serve(
      async (ctx) => {
        const answer = await ctx.elicit(Trip, { message: 'Where to?' });
        if (answer.action === 'accept') trips.push(answer.content);
      },
      { onElicit: (params) => ((form = params), { action: 'accept', content: { city: 'Oslo', days: 3 } }) },
    );
    await call();
    expect(trips).toEqual([Object.assign(new Trip(), { city: 'Oslo', days: 3, pets: false })]);
    expect(trips[0]).toBeInstanceOf(Trip);
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

  it('is dropped without an error if the client did not ask for it', async () => {
    const { client, call } = await serve((ctx) => (ctx.progress(1), 'done'));
    expect(await call()).toEqual({ content: [{ type: 'text', text: 'done' }] });
    expect(progress(client)).toEqual([]);
  });

  it.each([
    ['2024-11-05', { progressToken: 7, progress: 1 }],
    ['2025-03-26', { progressToken: 7, progress: 1, message: 'half' }],
  ])('has a message if the revision has one: %s', async (revision, params) => {
    const { client, call } = await serve((ctx) => ctx.progress(1, undefined, 'half'), { revision });
    await call({ _meta: { progressToken: 7 } });
    expect(progress(client)).toEqual([params]);
  });

  it('stops as soon as the client cancels the request', async () => {
    const { client } = await serve((ctx) => {
      for (const step of [1, 2, 3]) ctx.progress(step);
      ctx.log.error('over');
    });
    const onProgress = () => void client.notify('notifications/cancelled', { requestId: 2 });
    await client.request('tools/call', { name: 'tool' }, { onProgress }).catch(() => {});
    expect(progress(client)).toEqual([{ progressToken: 2, progress: 1 }]);
    expect(methodsOf(client)).toEqual(['notifications/progress']);
  });
});

describe('messages of a request', () => {
  it('are sent at or above the level of the session', async () => {
    const { client, call } = await serve((ctx) => {
      ctx.log.info('chatter');
      ctx.log.error('trouble');
    });
    await call();
    await client.setLogLevel('error');
    await call();
    expect(client.notifications.map(({ params }) => params['data'])).toEqual(['chatter', 'trouble', 'trouble']);
  });

  it('tell the operator its member, also after a question', async () => {
    const members: unknown[] = [];
    const onError = (_error: unknown, { member }: ErrorOrigin) => void members.push(member);
    const server = new McpServer({ name: 'test', version: '1', logger: SILENT, onError });
    server.addTool({ name: 'tool' }, async (_input, ctx) => {
      await ctx.elicit(NAME, { message: 'Who?' });
      throw new Error('broken');
    });
    await (await connect(server, { onElicit: () => ({ action: 'cancel' }) })).callTool('tool');
    expect(members).toEqual(['tool']);
  });
});

describe('a request that has ended', () => {
  it.each(ERAS)('sends and asks nothing more: %s', async (era) => {
    let late: Context | undefined;
    const { client, call } = await serve((ctx) => void (late = ctx), { era, onElicit: () => ({ action: 'cancel' }) });
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
    const answers = [{ action: 'cancel' } as const];
    const { client, call } = await serve(
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

describe('a request that fails more than once', () => {
  it('reports its first failure', async () => {
    const seen: string[] = [];
    const ended = gate();
    const { call, errors } = await serve(
      async (ctx) => {
        const keys = ['one', 'one', 'two', 'two'];
        const outcomes = await Promise.allSettled(keys.map((key) => ctx.elicit(NAME, { message: 'Who?', key })));
        seen.push(...outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? String(outcome.reason) : [])));
        ended.open();
        return 'done';
      },
      { era: 'stateless', onElicit: () => ({ action: 'cancel' }) },
    );
    await expect(call()).rejects.toMatchObject({ code: -32603 });
    const failure = (key: string) =>
      `Error: Two questions of one handler have the key "${key}". Give each a unique key.`;
    expect(errors).toEqual([failure('one')]);
    await ended.opened;
    expect(seen.filter((text) => text.includes('unique'))).toEqual([failure('one'), failure('two')]);
  });
});

describe('the metadata of a request', () => {
  it('is undefined unless it is an object', async () => {
    const seen: unknown[] = [];
    const { server } = await serve((ctx) => void seen.push(ctx.meta));
    const connection = await connectMemory(server, { receive: () => {} });
    const send = (method: string, params: object) => connection.send({ jsonrpc: '2.0', id: method, method, params });
    await send('initialize', {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'a', version: '1' },
    });
    for (const more of [{}, { _meta: { 'com.example/trace': 1 } }, { _meta: 'text' }, { _meta: ['list'] }]) {
      await send('tools/call', { name: 'tool', ...more });
    }
    expect(seen).toEqual([undefined, { 'com.example/trace': 1 }, undefined, undefined]);
  });

  it('has a progress token that is a short string or an integer', async () => {
    const { call } = await serve(() => 'done');
    const message = 'The progressToken is neither a string of up to 256 characters nor an integer.';
    for (const progressToken of [{}, 0.5, null, 'x'.repeat(257)]) {
      await expect(call({ _meta: { progressToken } })).rejects.toMatchObject({ code: -32602, message });
    }
    expect(await call({ _meta: { progressToken: 'x'.repeat(256) } })).toMatchObject({ content: [{ text: 'done' }] });
  });
});
