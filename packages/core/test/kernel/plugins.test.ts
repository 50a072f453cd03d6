import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import {
  Completion,
  connectMemory,
  type Context,
  type JsonObject,
  McpServer,
  type McpServerOptions,
  type Principal,
  Resource,
  Tool,
  ToolError,
} from '@decorum/core';
import { definePlugin, type Plugin, type RequestOutcome } from '@decorum/core/plugin';
import { connect } from '@decorum/testing';

import type { Received } from '../transports/pipe-client.js';
import { reporting, said, turn } from './serving.js';

const plugin = (parts: Partial<Plugin>): Plugin => definePlugin(() => ({ name: 'tested', ...parts }))();

/** A server with plugins, what it reports, and how often its tool has run. */
function serverWith(plugins: readonly Plugin[], options: Partial<McpServerOptions> = {}) {
  const reported: string[] = [];
  const logger = {
    warn: () => {},
    error: (details: object) => {
      const { err } = details as { err: Error };
      reported.push([err.message, (err.cause as Error | undefined)?.message].filter(Boolean).join(' ← '));
    },
  };
  const server = new McpServer({ name: 'core', version: '1.0.0', logger, plugins, ...options });
  const runs: unknown[] = [];
  server.addTool({ name: 'say' }, () => (runs.push('say'), 'said'));
  return { server, reported, runs };
}

/** A client in memory, with a session. */
async function clientOf(server: McpServer, answers?: (question: Received) => JsonObject, principal?: Principal) {
  const received: Received[] = [];
  const connection = await connectMemory(server, {
    ...(principal && { principal }),
    receive: (message) => {
      const got = message as unknown as Received;
      received.push(got);
      const { id, method } = got;
      if (method !== undefined && id !== undefined) void connection.send({ jsonrpc: '2.0', id, ...answers?.(got) });
    },
  });
  let last = 0;
  const send = async (message: object) => await connection.send({ jsonrpc: '2.0', ...message });
  const request = async (method: string, params: JsonObject = {}) => {
    last += 1;
    await send({ id: last, method, params });
    return received.find(({ id, method: asked }) => id === last && asked === undefined);
  };
  await request('initialize', { ...HELLO, capabilities: { elicitation: {} } });
  // nothing is asked before
  if (answers) await send({ method: 'notifications/initialized' });
  return { ...connection, send, request, received, call: (name: string) => request('tools/call', { name }) };
}

const HELLO = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'c', version: '1' } };
/** Opens a connection that nobody reads. */
const open = (server: McpServer) => connectMemory(server, { receive: () => {} });
const SAID = { content: said('said') };
const failedIn = (name: string, problem: string) =>
  `The plugin "tested" failed in \`${name}\`. The message isn't affected. Reported once per plugin and function. ← ${problem}`;
const never = () => new Promise<never>(() => {});
const fail = (message: string) => () => {
  throw new Error(message);
};

describe('`observe`', () => {
  const late: Plugin['observe'] = async (_request, run) => {
    await turn();
    return await run();
  };
  const MISBEHAVING: readonly (readonly [string, NonNullable<Plugin['observe']>, string | undefined])[] = [
    ['never calls run', async () => await Promise.resolve(undefined), 'It ended without calling run().'],
    ['returns without calling run', () => undefined, undefined],
    ['returns, and calls run later', (_request, run) => void turn().then(run), undefined],
    ['calls run twice', async (_request, run) => [await run(), await run()], undefined],
    ['calls run without waiting for it', (_request, run) => void run(), undefined],
    ['throws before', fail('before'), 'before'],
    ['rejects before', async () => fail('before')(), 'before'],
    ['throws after', async (_request, run) => (await run(), fail('after')()), 'after'],
    ['never ends', async (_request, run) => (await run(), await never()), undefined],
    ['returns another outcome', async (_request, run) => ({ ...(await run()), status: 'error' }), undefined],
    ['changes the outcome', async (_request, run) => Object.assign(await run(), { milliseconds: -1 }), undefined],
    ['waits before it calls run', late, undefined],
  ];

  it.each(MISBEHAVING)('that %s changes nothing', async (_what, observe, problem) => {
    const outcomes: RequestOutcome[] = [];
    const outer = plugin({ name: 'outer', observe: async (_request, run) => outcomes.push(await run()) });
    const inner = plugin({ name: 'late', observe: late });
    const { server, runs, reported } = serverWith([outer, plugin({ observe }), inner]);
    const client = await clientOf(server);
    expect((await client.call('say'))?.result).toEqual(SAID);
    expect((await client.call('say'))?.result).toEqual(SAID);
    expect(runs).toEqual(['say', 'say']);
    expect(reported).toEqual(problem === undefined ? [] : [failedIn('observe', problem)]);
    while (outcomes.length < 3) await turn();
    await server.close();
  });

  it('that changes what it gets of a request changes nothing', async () => {
    const observe: Plugin['observe'] = async (request, run) => {
      Object.assign(request, { method: 'ping' });
      Object.assign(request.meta, { tenant: 2 });
      Object.assign(request.meta['nested'] ?? {}, { tenant: 2 });
      Object.assign(request.client ?? {}, { name: 'changed' });
      Object.assign(request.arguments ?? {}, { a: 2 });
      return await run();
    };
    const session: Plugin['session'] = ({ client }) => void Object.assign(client ?? {}, { name: 'changed' });
    const { server } = serverWith([plugin({ observe, session })]);
    server.addTool({ name: 'echo', input: { type: 'object' } }, (input: JsonObject, ctx) =>
      JSON.stringify([input, ctx.meta, ctx.client.info?.name]),
    );
    const client = await clientOf(server);
    const meta = { tenant: 1, nested: { tenant: 1 } };
    const echoed = await client.request('tools/call', { name: 'echo', arguments: { a: 1 }, _meta: meta });
    const text = JSON.stringify([{ a: 1 }, meta, 'c']);
    expect(echoed?.result).toEqual({ content: [{ type: 'text', text }] });
  });

  it('that waits for ever leaves a request that can be cancelled, and that counts', async () => {
    const { server, runs } = serverWith(
      [plugin({ observe: async ({ target }, run) => (target === 'say' ? await new Promise(() => {}) : await run()) })],
      { limits: { maxOpenCalls: 1 } },
    );
    const client = await clientOf(server);
    const waiting = client.call('say');
    await turn();
    expect((await client.call('say'))?.error).toMatchObject({ code: -32603 });
    await client.send({ method: 'notifications/cancelled', params: { requestId: 2 } });
    await waiting;
    expect(client.received.filter(({ id }) => id === 2)).toEqual([]);
    expect((await client.request('ping'))?.result).toEqual({});
    expect(runs).toEqual([]);
    const stuck = client.call('say');
    await server.close({ deadlineMs: 1 });
    await stuck;
    expect(client.received.at(-1)?.error).toMatchObject({ message: 'The server is closing.' });
  });

  it('runs a request at most once if it is cancelled while a plugin waits', async () => {
    let go = () => {};
    const outcomes: string[] = [];
    const { server, runs } = serverWith([
      plugin({
        async observe({ target }, run) {
          if (target === 'say') await new Promise<void>((resolve) => (go = resolve));
          outcomes.push((await run()).status);
        },
      }),
    ]);
    const client = await clientOf(server);
    const waiting = client.call('say');
    await turn();
    await client.send({ method: 'notifications/cancelled', params: { requestId: 2 } });
    await waiting;
    go();
    await turn();
    expect([runs, outcomes]).toEqual([[], ['ok', 'ok', 'cancelled']]);
  });

  it('gets the error that was masked, the principal and the arguments', async () => {
    const seen: unknown[] = [];
    const { server } = serverWith([
      plugin({
        async observe(request, run) {
          const { principal, arguments: args } = request;
          const { error, status } = await run();
          seen.push([principal?.subject, args, status, error]);
        },
      }),
    ]);
    const [masked, shown] = [new Error('secret'), new ToolError('shown')];
    server.addTool({ name: 'boom', input: { type: 'object' } }, ({ kind }: JsonObject) => {
      throw kind === 'masked' ? masked : shown;
    });
    const client = await clientOf(server, undefined, { subject: 'ada' });
    await client.request('tools/call', { name: 'boom', arguments: { kind: 'masked' } });
    await client.request('tools/call', { name: 'boom', arguments: { kind: 'shown' } });
    expect(seen.slice(1)).toEqual([
      ['ada', { kind: 'masked' }, 'tool-error', masked],
      ['ada', { kind: 'shown' }, 'tool-error', shown],
    ]);
  });

  it('names the resource or template that is registered, never what a client invents', async () => {
    const seen: unknown[] = [];
    class Notes {
      @Resource('notes://index') index() {
        return 'all';
      }

      @Resource('notes://{id}', { input: { type: 'object', properties: { id: { type: 'string' } } } }) note() {
        return 'one';
      }

      @Completion({ for: 'note', argument: 'id' }) ids() {
        return ['7'];
      }
    }
    const observe: Plugin['observe'] = ({ method, target }, run) => (seen.push([method, target]), run());
    const { server } = serverWith([plugin({ observe })], { providers: [Notes] });
    const client = await clientOf(server);
    for (const uri of ['notes://7', 'notes://index', `notes:${'x'.repeat(100_000)}`, 'other://%E0%A4%A', 7]) {
      await client.request('resources/read', { uri });
    }
    await client.request('completion/complete', { ref: 'none' });
    await client.request('resources/subscribe', { uri: 'notes://7' });
    await client.request('completion/complete', {
      ref: { type: 'ref/resource', uri: 'notes://{id}' },
      argument: { name: 'id', value: '' },
    });
    expect(seen.slice(1)).toEqual([
      ['resources/read', 'notes://{id}'],
      ['resources/read', 'notes://index'],
      ['resources/read', undefined],
      ['resources/read', undefined],
      ['resources/read', undefined],
      ['completion/complete', undefined],
      ['resources/subscribe', 'notes://{id}'],
      ['completion/complete', 'notes://{id}'],
    ]);
  });
});

describe('`ended`', () => {
  it('gets each message and its outcome, before the client has the answer', async () => {
    const seen: unknown[] = [];
    const told = plugin({
      ended({ method, target, id }, { status, code, result }) {
        seen.push([method, target, id, status, code, result]);
      },
    });
    const { server } = serverWith([told]);
    server.addTool({ name: 'later' }, async () => (await turn(), 'said'));
    const client = await clientOf(server);
    await client.send({ method: 'notifications/initialized' });
    await client.call('say');
    await client.call('later');
    await client.call('none');
    await client.request('invented');
    expect(seen.slice(1)).toEqual([
      ['notifications/initialized', undefined, undefined, 'ok', undefined, undefined],
      ['tools/call', 'say', 2, 'ok', undefined, SAID],
      ['tools/call', 'later', 3, 'ok', undefined, SAID],
      ['tools/call', undefined, 4, 'error', -32602, undefined],
      ['invented', undefined, 5, 'error', -32601, undefined],
    ]);
  });

  it('gets the outcome that observers get, also of a request that one of them delays', async () => {
    const outcomes: [RequestOutcome[], RequestOutcome[]] = [[], []];
    const delays = plugin({
      name: 'delays',
      async observe({ method }, run) {
        if (method === 'tools/call') await turn();
        outcomes[0].push(await run());
      },
    });
    const { server } = serverWith([delays, plugin({ ended: (_request, outcome) => outcomes[1].push(outcome) })]);
    const client = await clientOf(server);
    await client.call('say');
    await client.call('say');
    expect(outcomes[0]).toHaveLength(3);
    expect(outcomes[1].every((outcome, at) => outcome === outcomes[0][at])).toBe(true);
  });

  it.each<readonly [string, NonNullable<Plugin['ended']>]>([
    ['throws', fail('broken')],
    ['rejects', async () => fail('broken')()],
  ])('that %s is reported once, and changes nothing', async (_what, ended) => {
    const seen: string[] = [];
    const after = plugin({ name: 'after', ended: ({ method }) => void seen.push(method) });
    const { server, reported } = serverWith([plugin({ ended }), after]);
    const client = await clientOf(server);
    expect((await client.call('say'))?.result).toEqual(SAID);
    expect((await client.call('say'))?.result).toEqual(SAID);
    expect(seen).toEqual(['initialize', 'tools/call', 'tools/call']);
    expect(reported).toEqual([failedIn('ended', 'broken')]);
  });
});

describe('`ask`', () => {
  const schema = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } as const;
  const accept = () => ({ result: { action: 'accept', content: { name: 'Ada' } } });

  function asking(ask: NonNullable<Plugin['ask']>) {
    const made = serverWith([plugin({ ask })]);
    const handler = async (_input: unknown, ctx: Context) => (await ctx.elicit(schema, { message: 'Name?' })).action;
    made.server.addTool({ name: 'ask' }, handler);
    return made;
  }
  const questionOf = (received: readonly Received[]) => received.find(({ method }) => method === 'elicitation/create');

  it.each<readonly [string, NonNullable<Plugin['ask']>, number]>([
    ['never calls run', async () => await Promise.resolve(undefined), 1],
    ['returns without calling run', () => undefined, 0],
    ['throws', fail('before'), 1],
    ['calls run twice', async (_question, run) => [await run(), await run()], 0],
    ['never ends', async (_question, run) => (await run(), await never()), 0],
    ['waits before', async (_question, run) => (await turn(), await run()), 0],
  ])('that %s changes nothing', async (_what, ask, problems) => {
    const { server, reported } = asking(ask);
    const client = await clientOf(server, accept);
    expect((await client.call('ask'))?.result).toMatchObject({ content: [{ text: 'accept' }] });
    expect(client.received.filter(({ method }) => method === 'elicitation/create')).toHaveLength(1);
    expect(reported).toHaveLength(problems);
  });

  it('cannot change the answer (#22)', async () => {
    const { server } = asking(
      async (_question, run) => void Object.assign((await run()).result ?? {}, { action: 'decline' }),
    );
    const client = await clientOf(server, accept);
    expect((await client.call('ask'))?.result).toMatchObject({ content: [{ text: 'accept' }] });
  });

  it('learns that the request of its question was cancelled (#22)', async () => {
    const ends: string[] = [];
    let asked = () => {};
    const waiting = new Promise<void>((resolve) => (asked = resolve));
    const { server } = asking(async (_question, run) => {
      const end = run();
      asked();
      ends.push((await end).status);
    });
    const client = await clientOf(server, () => ({ error: { code: -1, message: 'late' } }));
    void client.call('ask');
    await waiting;
    await client.send({ method: 'notifications/cancelled', params: { requestId: 2 } });
    await turn();
    expect(ends).toEqual(['cancelled']);
  });

  it('sends what it sets in `meta`, without reserved keys and within a limit, and reports the rest once (#22)', async () => {
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01';
    const trace = { traceparent, 'com.example/tenant': { id: 7 } };
    const tests: readonly (readonly [JsonObject, JsonObject | undefined, string?])[] = [
      [trace, trace],
      [
        { progressToken: 1, 'io.modelcontextprotocol/x': 1, 'dev.mcp.tools/x': 1, '': 1, ok: 1 },
        { ok: 1 },
        'The key "progressToken" is reserved or invalid.',
      ],
      [{ huge: 'x'.repeat(10_000) }, undefined, 'It has more than 8192 characters as JSON.'],
      [{ big: 1n }, undefined, 'Do not know how to serialize a BigInt'],
      [{ nothing: undefined }, undefined],
    ];
    for (const [set, sent, problem] of tests) {
      const { server, reported } = asking((question, run) => (Object.assign(question.meta, set), run()));
      const client = await clientOf(server, accept);
      await client.call('ask');
      await client.call('ask');
      expect(questionOf(client.received)?.params?.['_meta']).toEqual(sent);
      // of two equal questions, only the first is reported
      const report = `A plugin has set a \`_meta\` that is not sent. Reported once. ← ${problem}`;
      expect(reported).toEqual(problem === undefined ? [] : [report]);
    }
  });

  it('gets how the question ended', async () => {
    const outcomes: unknown[] = [];
    const { server } = asking(async ({ method, request }, run) => {
      const { status, code, result } = await run();
      outcomes.push([method, request.target, status, code, result]);
    });
    const answered = await clientOf(server, accept);
    await answered.call('ask');
    const refusing = await clientOf(server, () => ({ error: { code: -42, message: 'No' } }));
    await refusing.call('ask');
    expect(outcomes).toEqual([
      ['elicitation/create', 'ask', 'ok', undefined, { action: 'accept', content: { name: 'Ada' } }],
      ['elicitation/create', 'ask', 'error', -42, undefined],
    ]);
  });
});

describe('`session`', () => {
  it.each<readonly [string, NonNullable<Plugin['session']>, string]>([
    ['throws at the end', () => fail('at the end'), 'at the end'],
    ['rejects at the end', () => async () => fail('too late')(), 'too late'],
    ['returns anything but a function', () => 'ended' as never, 'It did not return a function, or nothing.'],
  ])('reports what %s once, and ends the session anyway (#22)', async (_what, session, problem) => {
    const ended: unknown[] = [];
    const other = plugin({ name: 'other', session: () => () => void ended.push('other') });
    const { server, reported } = serverWith([plugin({ session }), other]);
    for (let times = 0; times < 2; times += 1) (await clientOf(server)).close();
    await turn();
    expect(ended).toEqual(['other', 'other']);
    expect(reported).toEqual([
      `The plugin "tested" failed in \`session\`. The session isn't affected. Reported once. ← ${problem}`,
    ]);
  });

  it('is not called for a session that did not start', async () => {
    const started: unknown[] = [];
    const { server } = serverWith([plugin({ session: (info) => void started.push(info) })]);
    const connection = await open(server);
    await connection.send({ jsonrpc: '2.0', id: 1, method: 'initialize', params: {} });
    await connection.send({ jsonrpc: '2.0', id: 2, method: 'ping' });
    connection.close();
    expect(started).toEqual([]);
  });
});

describe('A plugin', () => {
  it('may be shared by two servers', async () => {
    const calls: unknown[] = [];
    const shared = plugin({
      onStart: (server) => void calls.push(['start', server.info.name]),
      observe: ({ method }, run) => (calls.push(method), run()),
      onClose: () => void calls.push('close'),
    });
    for (const name of ['one', 'two']) {
      const { server } = serverWith([shared], { name });
      await clientOf(server);
      await server.close();
    }
    expect(calls).toEqual([['start', 'one'], 'initialize', 'close', ['start', 'two'], 'initialize', 'close']);
  });

  it('starts in the listed order before providers, and closes after them', async () => {
    const order: string[] = [];
    const hooks = (name: string) => ({
      onStart: () => void order.push(`${name} starts`),
      onClose: () => void order.push(`${name} closes`),
    });
    class Own extends McpServer {
      onStart = hooks('server').onStart;
      onClose = hooks('server').onClose;
    }
    const plugins = ['one', 'two'].map((name) => plugin({ name, ...hooks(name) }));
    const server = new Own({ name: 'own', version: '1', plugins });
    await open(server);
    await server.close();
    expect(order).toEqual(['one starts', 'two starts', 'server starts', 'server closes', 'two closes', 'one closes']);
  });

  it('may add a provider when it starts, whose hooks run once', async () => {
    const calls: string[] = [];
    const extra = { onStart: () => void calls.push('starts'), onClose: () => void calls.push('closes') };
    class Extra {
      @Tool() hello() {}
    }
    const { server } = serverWith([
      plugin({
        async onStart(started) {
          await turn();
          started.addProvider(Object.assign(new Extra(), extra));
        },
      }),
    ]);
    await open(server);
    await server.close();
    expect(calls).toEqual(['starts', 'closes']);
  });

  it('runs no hooks of providers that are removed or added after the server has closed', async () => {
    const calls: string[] = [];
    class Extra {
      @Tool() hello() {}
      onStart = () => void calls.push('starts');
      onClose = () => void calls.push('closes');
    }
    const { server } = serverWith([]);
    const registration = server.addProvider(new Extra());
    await open(server);
    await server.close();
    registration.remove();
    server.addProvider(new Extra());
    expect(calls).toEqual(['starts', 'closes']);
  });

  it('does not close if it has not started, because one before it has failed', async () => {
    const calls: string[] = [];
    const named = (name: string, onStart: () => void) =>
      plugin({ name, onStart, onClose: () => void calls.push(`${name} closes`) });
    const third = named('three', () => void calls.push('three starts'));
    const { server } = serverWith([named('one', () => {}), named('two', fail('no disk')), third]);
    await expect(open(server)).rejects.toMatchObject({
      code: 'DECORUM_PLUGIN_FAILED',
      cause: new Error('no disk'),
      message: expect.stringMatching(/"two".*no disk/),
    });
    await server.close();
    expect(calls).toEqual(['two closes', 'one closes']);
  });

  it('whose `onStart` never ends does not keep the server from closing, nor others start then', async () => {
    const calls: string[] = [];
    let go = () => {};
    const hangs = plugin({ onStart: () => new Promise<void>((resolve) => (go = resolve)) });
    const other = plugin({ name: 'other', onStart: () => void calls.push('starts') });
    const { server } = serverWith([hangs, other]);
    const opening = open(server).catch((error: unknown) => error);
    await turn();
    await server.close();
    expect(await opening).toMatchObject({ code: 'DECORUM_SERVER_CLOSED' });
    go();
    await turn();
    expect(calls).toEqual([]);
  });

  it('is named by the error of its `onClose`, and the others close', async () => {
    const closed: string[] = [];
    const fails = plugin({ onClose: () => Promise.reject(new Error('no disk')) });
    const other = plugin({ name: 'other', onClose: () => void closed.push('other') });
    const { server } = serverWith([other, fails]);
    await open(server);
    await expect(server.close()).rejects.toThrow('The plugin "tested" failed in `onClose`.');
    expect(closed).toEqual(['other']);
  });
});

describe('plugins and hooks that never settle', () => {
  beforeEach(
    () => void jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate', 'performance'] }),
  );
  afterEach(() => void jest.useRealTimers());

  function stuckServer(parts: Partial<Plugin>, providers: object[] = []) {
    const { server, errors } = reporting({ providers, plugins: [plugin({ name: 'stuck', ...parts })] });
    server.addTool({ name: 'greet' }, () => 'Hello!');
    return { server, messages: () => errors.map(({ message, cause }) => `${message} ${String(cause)}`) };
  }

  it('a plugin whose `observe` never settles delays `initialize` and calls by a second at most (#22)', async () => {
    const { server, messages } = stuckServer({ observe: never });
    const answers: unknown[] = [];
    const connection = await connectMemory(server, { receive: (message) => answers.push(message) });
    void connection.send({ jsonrpc: '2.0', id: 1, method: 'initialize', params: HELLO });
    await jest.advanceTimersByTimeAsync(999);
    expect(answers).toEqual([]);
    await jest.advanceTimersByTimeAsync(1);
    expect(answers).toMatchObject([{ id: 1, result: { serverInfo: { name: 'test' } } }]);
    void connection.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
    void connection.send({ jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'greet' } });
    await jest.advanceTimersByTimeAsync(1000);
    expect(answers).toMatchObject([{ id: 1 }, { id: 2, result: { content: [{ text: 'Hello!' }] } }]);
    expect(messages()).toEqual([
      expect.stringMatching(/"stuck" failed in `observe`.*not called run\(\) within 1000 ms/s),
    ]);
    await server.close();
  });

  it('a plugin whose `observe` never settles delays `close` by a second at most (#22)', async () => {
    const { server } = stuckServer({ observe: never });
    const answers: unknown[] = [];
    const connection = await connectMemory(server, { receive: (message) => answers.push(message) });
    void connection.send({ jsonrpc: '2.0', id: 1, method: 'initialize', params: HELLO });
    let isClosed = false;
    void server.close({ deadlineMs: 60_000 }).then(() => (isClosed = true));
    await jest.advanceTimersByTimeAsync(1000);
    await turn();
    await jest.advanceTimersByTimeAsync(0);
    expect({ isClosed, answers }).toMatchObject({ isClosed: true, answers: [{ id: 1 }] });
  });

  it('a plugin whose `ask` never settles delays a question by a second at most (#22)', async () => {
    const { server, messages } = stuckServer({ ask: never });
    server.addTool({ name: 'book' }, async (_input, ctx) => String(await ctx.confirm('Book?')));
    const onElicit = () => ({ action: 'accept' as const, content: { answer: true } });
    const client = await connect(server, { era: 'stateful', onElicit });
    const booked = client.callTool('book');
    await jest.advanceTimersByTimeAsync(1000);
    expect(await booked).toMatchObject({ content: [{ text: 'true' }] });
    expect(messages()).toEqual([expect.stringContaining('"stuck" failed in `ask`')]);
    await server.close();
  });

  it('a hook that never ends delays `close` by half a minute at most, and the other hooks run (#22)', async () => {
    const closed: string[] = [];
    class First {
      @Tool() first() {}
      onClose() {
        closed.push('first');
      }
    }
    class Stuck {
      @Tool() wait() {}
      onClose() {
        closed.push('stuck');
        return never();
      }
    }
    const { server, messages } = stuckServer({ onClose: never }, [new First(), new Stuck()]);
    await connect(server, { era: 'stateless' });
    const closing = server.close().catch((error: Error) => error.message);
    await jest.advanceTimersByTimeAsync(29_999);
    expect(closed).toEqual(['stuck']);
    await jest.advanceTimersByTimeAsync(30_001);
    expect(closed).toEqual(['stuck', 'first']);
    expect(await closing).toBe('`onClose` of Stuck has not ended within 30000 ms.');
    expect(messages()).toEqual([
      expect.stringContaining('`onClose` of the plugin "stuck" has not ended within 30000 ms.'),
    ]);
  });
});
