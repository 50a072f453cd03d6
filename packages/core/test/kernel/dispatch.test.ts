// What happens when the kernel gets a message: in the first turn of its handler, at once, and later.
import { createHook } from 'node:async_hooks';

import { Completion, Context, McpServer, NoInput, Prompt, Resource, Tool, toolResult } from '@decorum/core';
import type { Frame, SessionLink, SessionRecord } from '@decorum/core/transport';
import { connect } from '@decorum/testing';
import { afterEach, describe, expect, it } from '@jest/globals';
import { IsString } from 'class-validator';

import { ENVELOPE } from '../transports/pipe-client.js';
import { openSession } from './open-session.js';
import { said, SILENT, turn } from './serving.js';

class Place {
  @IsString() city!: string;
}

class Weather {
  server: McpServer | undefined;
  aborted: unknown;
  release: (() => void) | undefined;

  @Tool({ input: Place }) now({ city }: Place) {
    return `7 degrees in ${city}`;
  }

  @Tool() report(_: NoInput, ctx: Context) {
    ctx.progress(1);
    ctx.log.error('half');
    return 'done';
  }

  @Tool() async later() {
    await new Promise<void>((resolve) => (this.release = resolve));
    return 'at last';
  }

  @Tool() async leave() {
    void this.server?.close();
    await turn();
    return 'good bye';
  }

  @Tool() async long(_: NoInput, ctx: Context) {
    ctx.progress(1);
    await new Promise<void>((resolve) => {
      if (ctx.signal.aborted) resolve();
      ctx.signal.addEventListener('abort', () => resolve());
    });
    this.aborted = ctx.signal.aborted;
  }

  @Tool() asks(_: NoInput, ctx: Context) {
    for (let count = 0; count < 200; count += 1) ctx.confirm(`Question ${count}`).catch(() => {});
    return new Promise<void>(() => {});
  }

  @Resource('weather://{city}', { input: Place }) city({ city }: Place) {
    return `Weather in ${city}`;
  }

  @Prompt({ input: Place }) pack({ city }: Place) {
    return `Pack for ${city}`;
  }

  @Completion({ for: 'pack', argument: 'city' }) cities(typed: string) {
    return [`${typed}slo`];
  }
}

const servers: McpServer[] = [];

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close({ deadlineMs: 1 })));
});

function serve() {
  const weather = new Weather();
  weather.server = new McpServer({ name: 'weather', version: '1.0.0', providers: [weather], logger: SILENT });
  servers.push(weather.server);
  return { weather, server: weather.server };
}

const openBare = (link: Partial<SessionLink> = {}) => openSession(serve().server, link);

async function open(era: 'session' | 'stateless') {
  const { weather, server } = serve();
  const opened = await openSession(server);
  if (era === 'session') await opened.initialize();
  const meta = era === 'stateless' ? { ...ENVELOPE, 'io.modelcontextprotocol/logLevel': 'info' } : {};
  const handle = (method: string, params: object = {}, id = 1) =>
    opened.handle({ id, method, params: { ...params, _meta: { ...meta, progressToken: 1 } } });
  return { weather, server, ...opened, handle };
}

describe('The first turn of a handler', () => {
  it.each(['2025-11-25', '2026-07-28'])('may close the server, and is answered (%s)', async (revision) => {
    const { server } = serve();
    const client = await connect(server, { revision });
    expect((await client.callTool('leave')).content).toMatchObject([{ text: 'good bye' }]);
  });

  it('may be cancelled in response to its own messages', async () => {
    const { server, weather } = serve();
    const client = await connect(server);
    const stop = new AbortController();
    const options = { signal: stop.signal, onProgress: () => stop.abort(new Error('enough')) };
    await expect(client.callTool('long', {}, options)).rejects.toThrow('enough');
    await turn();
    expect(weather.aborted).toBe(true);
  });

  it.each([
    ['is cancelled and ends in this turn', () => {}],
    ['is cancelled, and then loses its session, in this turn', (end: () => void) => end()],
  ])('has no reply if it %s', async (_how, then) => {
    const { kernel, wire, initialize } = await openBare();
    const session = kernel.openSession({}, { push() {} });
    await initialize();
    const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } };
    const send = () => {
      void kernel.handle(cancel, wire, session);
      then(() => kernel.closeSession(session));
    };
    const params = { name: 'report', _meta: { progressToken: 1, ...ENVELOPE } };
    const request = { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
    expect(kernel.handle(request, { ...wire, send }, session)).toEqual({ text: undefined, cancelled: 'client' });
  });

  it('fails if it asks endlessly', async () => {
    const { handle } = await openBare();
    const meta = { ...ENVELOPE, 'io.modelcontextprotocol/clientCapabilities': { elicitation: {} } };
    const reply = await handle({ id: 1, method: 'tools/call', params: { name: 'asks', _meta: meta } });
    expect(reply.failure).toMatchObject({ kind: 'internal-error' });
  });
});

describe('Kernel.handle', () => {
  it.each([[{ toString: 1 }], [['initialize']], [{ toString: 1, valueOf: 1 }]] as [unknown][])(
    'does not throw for a batch with the method %j',
    async (method) => {
      const { handle, initialize } = await openBare();
      await initialize('2025-03-26');
      const { text } = await handle([{ jsonrpc: '2.0', id: 4, method }]);
      expect(JSON.parse(text as string)).toMatchObject([{ id: 4, error: { code: -32600 } }]);
    },
  );

  it('does not throw if a session cannot be stored', async () => {
    const save = () => {
      throw new Error('no store');
    };
    const { handle, initialize } = await openBare({ save });
    await initialize();
    const failure = { kind: 'internal-error' };
    expect(handle({ method: 'notifications/initialized' })).toMatchObject({ failure });
  });

  // RPC proxies return such objects
  // oxlint-disable-next-line no-thenable
  const rpc = Object.assign(() => {}, { then: (resolve: (rows: string) => void) => resolve('from afar') });
  const nothing = { toJSON: () => undefined };
  it.each<[string, unknown, object]>([
    ['a function that is a promise', rpc, { content: said('from afar') }],
    ['nothing', toolResult({ content: 'text', structuredContent: nothing }), { content: said('text') }],
    ['no error', toolResult({ content: 'text', isError: false }), { content: said('text'), isError: false }],
  ])('writes the JSON form of a result: %s', async (_what, made, result) => {
    const { server } = serve();
    server.addTool({ name: 'made' }, () => made);
    const { handle, initialize } = await openSession(server);
    await initialize();
    const { text } = await handle({ id: 1, method: 'tools/call', params: { name: 'made' } });
    expect(JSON.parse(text as string)).toEqual({ jsonrpc: '2.0', id: 1, result });
  });
});

const REQUESTS: readonly (readonly [method: string, params: object])[] = [
  ['tools/list', {}],
  ['tools/call', { name: 'now', arguments: { city: 'Oslo' } }],
  ['tools/call', { name: 'now', arguments: {} }],
  ['prompts/list', {}],
  ['prompts/get', { name: 'pack', arguments: { city: 'Oslo' } }],
  ['resources/templates/list', {}],
  ['resources/read', { uri: 'weather://Oslo' }],
  ['completion/complete', { ref: { type: 'ref/prompt', name: 'pack' }, argument: { name: 'city', value: 'O' } }],
];

describe.each(['session', 'stateless'] as const)('A request with a synchronous handler (%s)', (era) => {
  it.each(REQUESTS)('is answered synchronously without promises: %s %j', async (method, params) => {
    const { handle } = await open(era);
    handle(method, params);
    let promises = 0;
    const hook = createHook({ init: (_id, type) => void (promises += type === 'PROMISE' ? 1 : 0) }).enable();
    const reply = handle(method, params);
    hook.disable();
    expect(reply).toMatchObject({ text: expect.stringContaining('"result":{') });
    expect(promises).toBe(0);
  });

  it('sends its progress and its log before the reply', async () => {
    const { handle, sent } = await open(era);
    const { text } = await handle('tools/call', { name: 'report', arguments: {} });
    expect(text).toContain('done');
    expect(sent.map(({ kind }) => kind)).toEqual(['progress', 'log']);
  });
});

describe('A request with an asynchronous handler', () => {
  it('is in flight until its handler ends, and is answered at once if it is cancelled', async () => {
    const { handle, kernel, session, weather } = await open('session');
    const reply = handle('tools/call', { name: 'later' }, 7);
    expect([...kernel.inFlight.requestsOf(session)].map(({ id }) => id)).toEqual([7]);
    kernel.closeSession(session);
    const error = { code: -32600, message: 'The session has ended.' };
    const text = JSON.stringify({ jsonrpc: '2.0', id: 7, error });
    expect(await reply).toEqual({ text, cancelled: 'session' });
    expect([...kernel.inFlight.requestsOf(session)]).toEqual([]);
    weather.release?.();
  });

  it('is rejected once intake has stopped, while requests in flight are answered', async () => {
    const { handle, server, weather } = await open('session');
    const running = handle('tools/call', { name: 'later' }, 1);
    const closed = server.close();
    const refused = await handle('tools/call', { name: 'now', arguments: { city: 'Oslo' } }, 2);
    expect(refused.failure).toMatchObject({ kind: 'closing', code: -32603 });
    weather.release?.();
    expect((await running).text).toContain('at last');
    await closed;
  });
});

describe('A session', () => {
  it('can be restored elsewhere from its JSON record', async () => {
    const { handle, session, kernel } = await open('session');
    await handle('resources/subscribe', { uri: 'weather://Oslo' });
    await handle('logging/setLevel', { level: 'error' });
    const record = JSON.parse(JSON.stringify(session.record)) as typeof session.record;
    const client = { info: { name: 'c', version: '1' }, capabilities: {} };
    const times = { createdAt: expect.any(Number), usedAt: expect.any(Number) };
    const subscriptions = ['weather://Oslo'];
    expect(record).toEqual({ revision: '2025-11-25', client, logLevel: 'error', subscriptions, ...times });
    const pushed: Frame[] = [];
    const push = (frame: Frame) => void pushed.push(frame);
    const revived = kernel.openSession({ record: { ...record, joined: true } }, { push });
    expect([revived.revision.id, revived.logLevel, revived.initialized]).toEqual(['2025-11-25', 'error', true]);
    servers[0]?.notify.resourceUpdated('weather://Oslo');
    expect(pushed).toMatchObject([{ kind: 'change' }]);
  });

  it('gets changes if the client was initialized in another process', async () => {
    const { kernel } = await open('session');
    const pushed: Frame[] = [];
    const record = { revision: '2025-11-25', subscriptions: ['weather://Oslo'], createdAt: 1, usedAt: 1 };
    const session = kernel.openSession({ record }, { push: (frame) => void pushed.push(frame) });
    session.refresh({ ...record, joined: true });
    servers[0]?.notify.resourceUpdated('weather://Oslo');
    expect(pushed).toMatchObject([{ kind: 'change' }]);
    expect(session.record.joined).toBe(true);
  });

  it('is stored before the request that changed it is answered', async () => {
    const kept: unknown[] = [];
    const save = async (change: (record: SessionRecord) => void) => {
      const record = { createdAt: 1, usedAt: 1 };
      change(record);
      await turn();
      kept.push(record);
    };
    const { handle, initialize } = await openBare({ save });
    await initialize();
    await handle({ method: 'notifications/initialized' });
    await handle({ id: 2, method: 'logging/setLevel', params: { level: 'error' } });
    expect(kept).toMatchObject([{ joined: true }, { logLevel: 'error' }]);
  });
});
