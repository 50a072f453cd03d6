// Synchronous responses, and the fate of requests that have to wait.
import { createHook } from 'node:async_hooks';

import { afterEach, describe, expect, it } from '@jest/globals';
import { Completion, Context, McpServer, type McpServerOptions, NoInput, Prompt, Resource, Tool } from '@decorum/core';
import type { Frame, Reply } from '@decorum/core/transport';
import { IsString } from 'class-validator';

import { ENVELOPE } from '../transports/pipe-client.js';
import { openSession } from './open-session.js';

class Place {
  @IsString() city!: string;
}

class Weather {
  release: (() => void) | undefined;

  @Tool({ description: 'Now', input: Place }) now({ city }: Place) {
    return `7 degrees in ${city}`;
  }

  @Tool({ description: 'Reports' }) report(_: NoInput, ctx: Context) {
    ctx.progress(1, 2);
    ctx.log.info('half');
    return 'done';
  }

  @Tool({ description: 'Later' }) async later() {
    await new Promise<void>((resolve) => {
      this.release = resolve;
    });
    return 'at last';
  }

  @Resource('weather://{city}', { name: 'city', input: Place }) city({ city }: Place) {
    return `Weather in ${city}`;
  }

  @Prompt({ description: 'Packing', input: Place }) pack({ city }: Place) {
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

async function open(era: 'session' | 'stateless', options: Partial<McpServerOptions> = {}) {
  const weather = new Weather();
  const server = new McpServer({ name: 'weather', version: '1.0.0', providers: [weather], ...options });
  servers.push(server);
  const opened = await openSession(server);
  if (era === 'session') await opened.initialize();
  const meta = era === 'stateless' ? { ...ENVELOPE, 'io.modelcontextprotocol/logLevel': 'info' } : {};
  const handle = (method: string, params: object = {}, id = 1) =>
    opened.handle({ id, method, params: { ...params, _meta: { ...meta, progressToken: 1 } } });
  return { weather, server, ...opened, handle };
}

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
    const { text } = (await handle('tools/call', { name: 'report', arguments: {} })) as Reply;
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
    const text = JSON.stringify({
      jsonrpc: '2.0',
      id: 7,
      error: { code: -32600, message: 'The session has ended.' },
    });
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
    expect(record).toEqual({
      revision: '2025-11-25',
      client: { info: { name: 'c', version: '1' }, capabilities: {} },
      logLevel: 'error',
      subscriptions: ['weather://Oslo'],
      createdAt: expect.any(Number),
      usedAt: expect.any(Number),
    });
    const pushed: Frame[] = [];
    const revived = kernel.openSession(
      { record: { ...record, joined: true } },
      { push: (frame) => void pushed.push(frame) },
    );
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
    const { kernel } = await open('session');
    const kept: unknown[] = [];
    const save = async (record: object) => {
      await new Promise(setImmediate);
      kept.push(JSON.parse(JSON.stringify(record)));
    };
    const session = kernel.openSession({}, { push() {}, save });
    const owner = {};
    const wire = { transport: { kind: 'memory' }, principal: undefined, owner, send() {} } as const;
    const send = (message: object) => kernel.handle({ jsonrpc: '2.0', ...message }, wire, session);
    await send({ id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {} } });
    await send({ method: 'notifications/initialized' });
    await send({ id: 2, method: 'logging/setLevel', params: { level: 'error' } });
    expect(kept).toMatchObject([{ joined: true }, { logLevel: 'error' }]);
  });
});
