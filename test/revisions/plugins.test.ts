// Plugins around every message, in all revisions and over all transports.
import { AsyncLocalStorage } from 'node:async_hooks';

import { describe, expect, it } from '@jest/globals';
import { type Call, type JsonObject, McpServer, Tool, ToolError } from '@decorum/core';
import {
  definePlugin,
  type ObservedQuestion,
  type ObservedRequest,
  type Plugin,
  type QuestionOutcome,
  type RequestOutcome,
  type SessionInfo,
} from '@decorum/core/plugin';
import { connect } from '@decorum/testing';

import { endpointOf, transportsOf } from '../support/http-transports.js';
import { RawClient, type RawOptions, type RawTransport } from '../support/raw-client.js';
import { REVISIONS, STATELESS } from '../support/requirements.js';
import { listen } from './neutral.js';
import { deferred, type Handler, serverWith } from './servers.js';

/** Holds the current request. The plugin sets it around each request. */
const around = new AsyncLocalStorage<ObservedRequest>();

/** A request and its outcome. */
interface Seen {
  readonly request: ObservedRequest;
  outcome?: RequestOutcome;
}

/** The records of a witness. */
class Notes {
  readonly seen: Seen[] = [];
  readonly questions: { readonly question: ObservedQuestion; outcome?: QuestionOutcome; readonly inside: unknown }[] =
    [];
  readonly sessions: { readonly info: SessionInfo; ended: number }[] = [];
  readonly intercepted: { readonly call: string; readonly inside: unknown }[] = [];
  readonly hooks: unknown[] = [];

  /** `method target status` of each request and its outcome, in the order in which the requests began. */
  get lines(): string[] {
    return this.seen.map(({ request: { method, target }, outcome }) =>
      [method, target, outcome?.status, outcome?.code].filter((part) => part !== undefined).join(' '),
    );
  }

  /** The record of the first request of a method. */
  of(method: string): Seen | undefined {
    return this.seen.find(({ request }) => request.method === method);
  }
}

class Extra {
  @Tool({ description: 'Comes with the plugin' })
  extra() {
    return `extra inside ${around.getStore()?.method}`;
  }
}

/** Creates the plugin. */
const witness = definePlugin((notes: Notes) => ({
  name: 'witness',
  needs: ['companion'],
  providers: [Extra],
  interceptors: [
    async (call: Call, next) => {
      notes.intercepted.push({ call: call.name, inside: around.getStore()?.target });
      return await next();
    },
  ],
  extensions: [{ id: 'com.example/echo', methods: { 'echo/say': (params) => ({ said: params['text'] }) } }],
  async observe(request, run) {
    const seen: Seen = { request };
    notes.seen.push(seen);
    return await around.run(request, async () => (seen.outcome = await run()));
  },
  async ask(question, run) {
    const entry: Notes['questions'][number] = { question, inside: around.getStore()?.id };
    notes.questions.push(entry);
    question.meta['traceparent'] = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    return (entry.outcome = await run());
  },
  session(info) {
    const entry = { info, ended: 0 };
    notes.sessions.push(entry);
    return () => {
      entry.ended += 1;
    };
  },
  routes: [{ method: 'GET', path: '/witness', handle: () => ({ status: 200, body: `${notes.seen.length} requests` }) }],
  onStart(server: McpServer) {
    notes.hooks.push(['start', server.info.name]);
  },
  onClose() {
    notes.hooks.push('close');
  },
}));

/** The plugin that the witness needs. */
const companion = definePlugin(() => ({ name: 'companion' }));

const NAME = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } as const;

/** Each transport of one revision of each era, and one of each other revision. */
const WAYS = REVISIONS.flatMap((revision, index) =>
  Object.entries(transportsOf(revision)).flatMap(([medium, transport], at) =>
    ['2025-11-25', STATELESS].includes(revision) || at === index ? [[revision, medium, transport] as const] : [],
  ),
);

const observed = (notes: Notes, tools: Readonly<Record<string, Handler>>) =>
  serverWith(tools, { name: 'observed', plugins: [witness(notes), companion()] });

const open = (server: McpServer, [revision, , transport]: (typeof WAYS)[number], options: Partial<RawOptions> = {}) =>
  RawClient.connect(server, { revision, ...options }, transport as RawTransport);

/** Resolves once the outcome of everything that has begun is known. */
async function ended(notes: Notes): Promise<void> {
  while (notes.seen.some(({ outcome }) => outcome === undefined)) await new Promise(setImmediate);
}

describe.each(WAYS)('A plugin, in %s over %s,', (...way) => {
  const [revision, medium] = way;
  const isStateless = revision === STATELESS;

  it('sees every request with its target and its outcome, and handlers run inside it', async () => {
    const notes = new Notes();
    const server = observed(notes, {
      where: () => `inside ${around.getStore()?.target}`,
      later: async () => await Promise.resolve(`inside ${around.getStore()?.target}`),
      boom: () => {
        throw new Error('secret');
      },
      sorry: () => {
        throw new ToolError('Not today.');
      },
    });
    const client = await open(server, way);
    expect(await client.call('where')).toMatchObject({ content: [{ text: 'inside where' }] });
    expect(await client.call('later')).toMatchObject({ content: [{ text: 'inside later' }] });
    expect(await client.call('extra')).toMatchObject({ content: [{ text: 'extra inside tools/call' }] });
    expect(await client.call('boom')).toMatchObject({ isError: true });
    expect(await client.call('sorry')).toMatchObject({ isError: true });
    const { code } = await client.error('tools/call', { name: 'invented' });
    await client.result('tools/list');
    await client.error('tools/invented', { name: 'invented' });
    await ended(notes);
    const calls = notes.lines.filter((line) => line.startsWith('tools/'));
    expect(calls).toEqual([
      'tools/call where ok',
      'tools/call later ok',
      'tools/call extra ok',
      'tools/call boom tool-error',
      'tools/call sorry tool-error',
      `tools/call error ${code}`,
      'tools/list ok',
      'tools/invented error -32601',
    ]);
    const errors = notes.seen.flatMap(({ outcome }) => (outcome?.error as Error | undefined)?.message ?? []);
    expect(errors).toEqual(['secret', 'Not today.', 'Unknown tool: invented', 'Method not found']);
    expect(notes.of('tools/invented')?.request.known).toBe(false);
    expect(notes.of('tools/call')?.request).toMatchObject({
      known: true,
      revision,
      era: isStateless ? 'stateless' : 'stateful',
      client: { name: 'raw', version: '1' },
      transport: medium.toLowerCase().startsWith('http') ? 'http' : medium,
    });
    expect(notes.intercepted).toContainEqual({ call: 'where', inside: 'where' });
    expect(notes.seen.every(({ outcome }) => (outcome?.milliseconds ?? -1) >= 0)).toBe(true);
    if (isStateless) return;
    expect(notes.lines.slice(0, 2)).toEqual(['initialize ok', 'notifications/initialized ok']);
    expect(notes.of('initialize')?.request).toMatchObject({ revision, client: { name: 'raw' } });
  });

  it('sees a cancelled request, and its cancellation', async () => {
    const notes = new Notes();
    const began = deferred();
    const server = observed(notes, {
      wait: async (ctx) => {
        began.resolve();
        await new Promise((resolve) => ctx.signal.addEventListener('abort', resolve));
        return 'late';
      },
    });
    const client = await open(server, way);
    void client.send(client.buildMessage('w', 'tools/call', { name: 'wait' }));
    await began.promise;
    await client.cancel('w');
    while (!notes.lines.includes('tools/call wait cancelled')) await new Promise(setImmediate);
    expect(notes.seen.filter(({ request }) => request.method === 'tools/call')).toHaveLength(1);
  });

  it('may wait before a call, which ends with its result even if the server closes meanwhile', async () => {
    const [held, released, begun, go] = [deferred(), deferred(), deferred(), deferred()];
    const waiting: Plugin = {
      name: 'waiting',
      async observe({ target }, run) {
        if (target === 'held') {
          held.resolve();
          await released.promise;
        }
        return await run();
      },
    };
    const running = async () => {
      begun.resolve();
      await go.promise;
      return 'ran';
    };
    const server = serverWith({ held: async () => await Promise.resolve('held'), running }, { plugins: [waiting] });
    const client = await open(server, way);
    for (const name of ['held', 'running']) void client.send(client.buildMessage(name, 'tools/call', { name }));
    await Promise.all([held.promise, begun.promise]);
    const closing = server.close();
    go.resolve();
    expect(await client.response('running')).toMatchObject({ result: { content: [{ text: 'ran' }] } });
    released.resolve();
    expect(await client.response('held')).toMatchObject({ result: { content: [{ text: 'held' }] } });
    await client.close();
    await closing;
  });

  it('is told when the session starts, and when it ends', async () => {
    const notes = new Notes();
    const server = observed(notes, {});
    const client = await open(server, way);
    await client.settled();
    expect(notes.hooks).toEqual([['start', 'observed']]);
    const expected = { revision, client: { name: 'raw', version: '1' }, continued: false };
    expect(notes.sessions).toMatchObject(isStateless ? [] : [{ info: expected, ended: 0 }]);
    await client.close();
    await server.close();
    expect(notes.sessions.map(({ ended: times }) => times)).toEqual(isStateless ? [] : [1]);
    expect(notes.hooks).toEqual([['start', 'observed'], 'close']);
  });

  it('sees messages that are malformed only if they are requests, and is not in the way', async () => {
    const notes = new Notes();
    const server = observed(notes, { fine: () => 'fine' });
    const client = await open(server, way);
    await client.send({ jsonrpc: '2.0', id: 'bad', method: 'tools/call', params: [] });
    await client.response('bad').catch(() => undefined);
    await client.error('tools/call', { name: 'fine', arguments: 'none', _meta: { progressToken: {} } });
    await client.call('fine');
    await ended(notes);
    const calls = notes.lines.filter((line) => line.startsWith('tools/call'));
    expect(calls.at(-1)).toBe('tools/call fine ok');
    expect(calls[0]).toMatch(/tools\/call (?:fine )?error -32602/);
  });
});

const ASKING = WAYS.filter(([revision]) => revision >= '2025-06-18');

describe.each(ASKING)('Questions, in %s over %s,', (...way) => {
  it('are observed, and carry what plugins set in `meta`', async () => {
    const notes = new Notes();
    const server = observed(notes, {
      ask: async (ctx) => {
        const { action } = await ctx.elicit(NAME, { message: 'Your name?' });
        return `${action} inside ${around.getStore()?.target}`;
      },
    });
    const metas: unknown[] = [];
    const elicit = ({ _meta }: JsonObject) => {
      metas.push(_meta);
      return { result: { action: 'accept', content: { name: 'Ada' } } };
    };
    const client = await open(server, way, {
      capabilities: { elicitation: {} },
      answers: { 'elicitation/create': elicit },
    });
    expect(await client.call('ask')).toMatchObject({ content: [{ text: 'accept inside ask' }] });
    await ended(notes);
    const isStateless = way[0] === STATELESS;
    expect(metas).toMatchObject([{ traceparent: expect.stringMatching(/^00-0af7/) }]);
    expect(notes.questions).toMatchObject([
      {
        question: { method: 'elicitation/create', request: { target: 'ask' } },
        outcome: { status: isStateless ? 'input-required' : 'ok' },
        inside: notes.of('tools/call')?.request.id,
      },
    ]);
    const rounds = notes.lines.filter((line) => line.startsWith('tools/call'));
    expect(rounds).toEqual([...(isStateless ? ['tools/call ask input-required'] : []), 'tools/call ask ok']);
  });
});

describe('A plugin', () => {
  it('sees each message of a batch', async () => {
    const notes = new Notes();
    const server = observed(notes, { say: async (_ctx) => await Promise.resolve('said') });
    const client = await RawClient.connect(server, { revision: '2025-03-26' });
    const call = (id: number) => ({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'say' } });
    await client.send([call(1), call(1), { jsonrpc: '2.0', method: 'notifications/nothing' }, call(2), 'nothing']);
    await ended(notes);
    expect(notes.lines.slice(2)).toEqual([
      'tools/call say ok',
      'tools/call error -32600',
      'notifications/nothing ok',
      'tools/call say ok',
    ]);
    expect(notes.of('notifications/nothing')?.request).toMatchObject({ known: false, id: undefined });
  });

  it('sees `subscriptions/listen` until it ends, and methods of extensions', async () => {
    const notes = new Notes();
    const server = observed(notes, { say: () => 'said' });
    const capabilities = { extensions: { 'com.example/echo': {} } };
    const client = await RawClient.connect(server, { revision: STATELESS });
    const connected = await connect(server, { revision: STATELESS, capabilities });
    await listen(client, { toolsListChanged: true });
    expect((await connected.request('echo/say', { text: 'hello' }))['said']).toBe('hello');
    expect(notes.of('subscriptions/listen')?.outcome).toBeUndefined();
    expect(notes.of('echo/say')?.request.known).toBe(true);
    await client.cancel('listening');
    await ended(notes);
    expect(notes.lines).toEqual(['subscriptions/listen ok', 'echo/say ok', 'notifications/cancelled ok']);
  });

  it('serves its routes beside the endpoint', async () => {
    const { url } = await endpointOf(observed(new Notes(), {}));
    const response = await fetch(new URL('/witness', url));
    expect([response.status, await response.text()]).toEqual([200, '0 requests']);
  });
});
