// The contract of extensions: what clients see of one that uses all of it, over all transports.
import { describe, expect, it } from '@jest/globals';
import {
  type Context,
  type JsonObject,
  McpServer,
  MemoryChangeBus,
  type McpServerOptions,
  NoInput,
  ToolError,
} from '@decorum/core';
import { McpError } from '@decorum/core';
import { definePlugin } from '@decorum/core/plugin';
import { connect, type ConnectOptions } from '@decorum/testing';

import { inStateless, SESSION_REVISIONS, STATELESS } from '../support/requirements.js';
import { answerTo, asked, declares } from '../support/stateless-post.js';
import { DEFER, Deferring, Notes } from './deferring.js';
import { deferred, Log } from './servers.js';

const WITH = ['2025-11-25', STATELESS];
const VIAS = ['memory', 'stdio', 'http'] as const;
const capabilities = { extensions: { [DEFER]: {} } };

interface Served extends Partial<McpServerOptions> {
  readonly handler?: (ctx: Context) => unknown;
}

/** A server with the extension, and with one tool of each kind. */
function serve({ handler = () => 'done', ...options }: Served = {}) {
  const extension = new Notes();
  const log = new Log();
  const server = new McpServer({
    name: 'x',
    version: '1',
    extensions: [new Deferring(extension)],
    logger: log,
    ...options,
  });
  server.addTool({ name: 'late', input: NoInput, defer: 'too' }, (_input, ctx) => handler(ctx));
  server.addTool({ name: 'hidden', input: NoInput, defer: 'only' }, () => 'hidden');
  server.addTool({ name: 'plain', input: NoInput }, () => 'plain');
  return { extension, server, log };
}

/** Connects over each transport, in each revision with extensions. */
async function* clientsOf(served: Served = {}, options: ConnectOptions = {}) {
  for (const revision of WITH) {
    for (const via of VIAS) {
      const made = serve(served);
      const client = await connect(made.server, { revision, via, capabilities, ...options });
      const call = (name: string) => client.request('tools/call', { name });
      yield { ...made, client, call, revision };
      await client.close();
      await made.server.close();
    }
  }
}

const said = (text: string) => [{ type: 'text', text }];

describe('an extension', () => {
  inStateless('EXT-06', 'has methods, a type of results and notifications of its own', async () => {
    const held = deferred();
    const handler = async (ctx: Context) => {
      ctx.progress(1, 2, 'Half');
      ctx.log.info('working');
      await held.promise;
      return `done in ${ctx.revision} as ${ctx.requestId}`;
    };
    for await (const { client, call, extension, revision } of clientsOf({ handler })) {
      if (revision === STATELESS) {
        void client.request('subscriptions/listen', { notifications: { tickets: true } }).catch(() => {});
        const { params } = await client.nextNotification('notifications/subscriptions/acknowledged');
        expect(params).toMatchObject({ notifications: { tickets: 'all' } });
      }
      expect(await call('late')).toMatchObject({
        resultType: 'ticket',
        ticket: 't1',
        _meta: { 'com.example/deferred': true },
      });
      expect(extension.reports).toEqual([
        [1, 2, 'Half'],
        ['notifications/message', 'working'],
      ]);
      held.resolve();
      const result = { content: said(`done in ${revision} as t1`) };
      expect(await client.request('defer/read', { ticket: 't1' })).toMatchObject({ result });
      const { params } = await client.nextNotification('notifications/tickets');
      expect(params).toMatchObject({ ticket: 't1', state: 'done' });
      await expect(client.request('defer/read', { ticket: 't2' })).rejects.toMatchObject({ code: -32602 });
      expect(extension.heard).toEqual([{ ticket: 't1', state: 'done' }]);
    }
  });

  it('has methods only in its revisions', async () => {
    for (const revision of SESSION_REVISIONS.filter((each) => !WITH.includes(each))) {
      const client = await connect(serve().server, { revision, capabilities });
      for (const method of ['defer/read', 'defer/list', 'defer/drop'])
        await expect(client.request(method, {})).rejects.toMatchObject({ code: -32601 });
      expect(await client.request('tools/call', { name: 'late' })).toMatchObject({ content: said('done') });
      expect(client.initialized?.capabilities).not.toHaveProperty('extensions');
    }
    for await (const { client, revision } of clientsOf()) {
      const listing = client.request('defer/list');
      if (revision === STATELESS) await expect(listing).rejects.toMatchObject({ code: -32601 });
      else expect(await listing).toMatchObject({ tickets: [] });
    }
  });

  it('answers with an error if its method returns no object', async () => {
    const returned: unknown[] = [undefined, null, 5, [1], { big: 1n }];
    const methods = Object.fromEntries(returned.map((each, at) => [`x/${at}`, () => each as JsonObject]));
    for (const revision of WITH) {
      const errors: string[] = [];
      const onError = (error: unknown) => void errors.push((error as Error).message);
      const extensions = [{ id: 'com.example/x', callers: 'all', methods }] as const;
      const server = new McpServer({ name: 'x', version: '1', extensions, onError, logger: new Log() });
      const client = await connect(server, { revision });
      for (const method of Object.keys(methods))
        await expect(client.request(method, {})).rejects.toMatchObject({ code: -32603 });
      expect(errors[3]).toBe('The method "x/3" of the extension "com.example/x" returned no object. Return one.');
      expect(errors).toHaveLength(returned.length);
      await client.close();
    }
  });

  inStateless('EXT-04', 'leaves calls to the handler and rejects its methods if the client lacks it', async () => {
    for (const extensions of [{}, { [DEFER]: { off: true } }]) {
      for await (const { client, call, revision } of clientsOf({}, { capabilities: { extensions } })) {
        expect(await call('late')).toMatchObject({ content: said('done') });
        const code = revision === STATELESS ? -32021 : -32603;
        await expect(client.request('defer/read', { ticket: 't1' })).rejects.toMatchObject({ code });
        // a method of its own may be for all
        if (revision !== STATELESS) expect(await client.request('defer/list')).toMatchObject({ tickets: [] });
        else
          await expect(
            client.request('subscriptions/listen', { notifications: { tickets: true } }),
          ).rejects.toMatchObject({ code, data: { requiredCapabilities: { extensions: { [DEFER]: {} } } } });
      }
    }
  });

  it('declares capabilities that depend on the caller, which shared caches must not keep', async () => {
    const { server } = serve({ cache: { ttlMs: 1000, scope: 'public' } });
    for (const principal of [undefined, { subject: 'ada' }]) {
      const known = principal !== undefined;
      const options = { capabilities, ...(principal && { principal }) };
      const session = await connect(server, options);
      expect(session.initialized?.capabilities).toMatchObject({
        extensions: { [DEFER]: { revision: WITH[0], known } },
      });
      const client = await connect(server, { era: 'stateless', ...options });
      const declared = { extensions: { [DEFER]: { revision: STATELESS, known } } };
      expect(await client.request('server/discover')).toMatchObject({ capabilities: declared, cacheScope: 'private' });
    }
  });

  it('has the subject of a method mirrored in a header', async () => {
    const { server, extension } = serve();
    const headers = (ticket: string) => ({ 'mcp-name': ticket });
    const meta = declares(capabilities);
    await answerTo(server, asked(1, 'tools/call', { name: 'late' }, meta));
    const drop = asked(2, 'defer/drop', { ticket: 't1' }, meta);
    for (const wrong of [{}, headers('t2')]) {
      expect(await answerTo(server, drop, wrong)).toMatchObject([400, { error: { code: -32020 } }]);
    }
    expect(await answerTo(server, drop, headers('t1'))).toMatchObject([200, { result: { resultType: 'dropped' } }]);
    await expect(extension.run('t1').result).resolves.toMatchObject({ content: said('done') });
  });

  it('writes a list of its own for clients that declare it, on each page', async () => {
    const lists = new Map<boolean, unknown>();
    for (const declared of [true, false, true]) {
      const client = await connect(shared.server, {
        era: 'stateless',
        capabilities: declared ? capabilities : {},
      });
      expect(await client.request('tools/list')).toMatchObject({ cacheScope: 'private' });
      const tools = (await client.listTools()).map(({ name, _meta }) => [name, _meta?.['com.example/defer']]);
      lists.set(declared, tools);
    }
    expect(lists.get(true)).toEqual([
      ['late', 'too'],
      ['hidden', 'only'],
      ['plain', undefined],
    ]);
    expect(lists.get(false)).toEqual([
      ['late', undefined],
      ['plain', undefined],
    ]);
  });

  const shared = serve({ pageSize: 1 });

  it('tells clients of what it publishes in order, also those of another server on the same bus', async () => {
    const changeBus = new MemoryChangeBus();
    const [here, there] = [serve({ changeBus }), serve({ changeBus })];
    const listening = await connect(there.server, { era: 'stateless', capabilities });
    void listening.request('subscriptions/listen', { notifications: { tickets: true } }).catch(() => {});
    await listening.nextNotification('notifications/subscriptions/acknowledged');
    const session = await connect(there.server, { capabilities });
    const other = await connect(here.server, { capabilities });
    changeBus.publish({ kind: 'extension', id: 'com.example/other', data: { state: 'of another' } });
    for (const each of [{ state: 'slow' }, { secret: true }, { state: 'last' }]) here.extension.host.publish(each);
    for (const client of [listening, session, other]) {
      const states = [];
      for (let count = 0; count < 2; count += 1)
        states.push((await client.nextNotification('notifications/tickets')).params?.['state']);
      expect(states).toEqual(['slow', 'last']);
    }
    // a listener that throws keeps nothing from the others
    expect(there.extension.heard).toHaveLength(3);
    expect(there.log.entries.length).toBeGreaterThanOrEqual(3);
    expect(there.extension.calls[0]).toMatchObject({ name: 'session', given: { revision: WITH[0] } });
  });
});

describe('a call that an extension may start', () => {
  it('asks within its request until it is started, and keeps its effects and their keys', async () => {
    const effects: unknown[] = [];
    const ran = (name: string) => (key: string) => void effects.push([name, key]);
    const handler = async (ctx: Context) => {
      await ctx.once('first', ran('first'));
      if (!(await ctx.confirm('Go on?'))) return 'stopped';
      await ctx.once('second', ran('second'));
      return 'went on';
    };
    const onElicit = () => ({ action: 'accept', content: { confirmed: true } }) as const;
    for await (const { client, extension } of clientsOf({ handler }, { onElicit })) {
      effects.length = 0;
      expect(await client.callTool('late')).toMatchObject({ resultType: 'ticket', ticket: 't1' });
      expect(await client.request('defer/read', { ticket: 't1' })).toMatchObject({
        result: { content: said('went on') },
      });
      expect(effects).toEqual([
        ['first', expect.stringMatching(/^[\w-]{43}$/)],
        ['second', expect.any(String)],
      ]);
      expect(client.questions).toHaveLength(1);
      expect(extension.reports).toEqual([['first'], ['second']]);
    }
  });

  it.each([
    ['an McpError', () => new McpError('invalid-params', 'No.'), { code: -32602 }],
    ['a ToolError', () => new ToolError('Not today.'), { isError: true, content: said('Not today.') }],
    [
      'another error',
      () => new Error('a secret'),
      { isError: true, content: [{ text: expect.stringMatching(/^Internal error/) }] },
    ],
  ])('fails alike, whenever the hook throws %s', async (_name, create, expected) => {
    for await (const { extension, call } of clientsOf()) {
      for (const begin of [
        () => {
          throw create();
        },
        async () => await Promise.reject(create()),
      ]) {
        extension.begin = begin as () => Promise<JsonObject>;
        const outcome = await call('late').catch((error: unknown) => error);
        expect(outcome).toMatchObject(expected);
      }
    }
  });

  it('sends the question that the hook leaves to the client', async () => {
    const onElicit = () => ({ action: 'accept', content: { confirmed: true } }) as const;
    for await (const { extension, client } of clientsOf({}, { onElicit })) {
      extension.begin = async ({ ctx }) => ({ content: said(`${await ctx.confirm('Really?')}`) });
      expect(await client.callTool('late')).toMatchObject({ content: said('true') });
    }
  });

  it('never reaches the hook without access, or with arguments that its headers contradict', async () => {
    const { server, extension } = serve();
    server.addTool({ name: 'shut', input: NoInput, defer: 'too', access: async () => false }, () => '');
    const region = { type: 'object', properties: { region: { type: 'string', 'x-mcp-header': 'Region' } } } as const;
    server.addTool({ name: 'routed', input: region, defer: 'too' }, () => 'routed');
    const meta = declares(capabilities);
    const shut = await answerTo(server, asked(1, 'tools/call', { name: 'shut' }, meta));
    const unknown = await answerTo(server, asked(1, 'tools/call', { name: 'gone' }, meta));
    expect(JSON.stringify(shut)).toBe(JSON.stringify(unknown).replace('gone', 'shut'));
    const routed = asked(1, 'tools/call', { name: 'routed', arguments: { region: 'eu' } }, meta);
    for (const headers of [{}, { 'mcp-param-region': 'us' }] as Record<string, string>[])
      expect(await answerTo(server, routed, headers)).toMatchObject([400, { error: { code: -32020 } }]);
    expect(extension.seen).toEqual([]);
    expect(await answerTo(server, routed, { 'mcp-param-region': 'eu' })).toMatchObject([
      200,
      { result: { ticket: 't1' } },
    ]);
  });

  it('never reaches the hook if it is cancelled while access is asked', async () => {
    const [asking, answer] = [deferred(), deferred()];
    const { server, extension } = serve();
    const access = async () => {
      asking.resolve();
      await answer.promise;
      return true;
    };
    server.addTool({ name: 'guarded', input: NoInput, defer: 'too', access }, () => '');
    const client = await connect(server, { capabilities });
    const controller = new AbortController();
    const calling = client.request('tools/call', { name: 'guarded' }, { signal: controller.signal });
    await asking.promise;
    controller.abort();
    await expect(calling).rejects.toThrow('abort');
    await client.request('ping');
    answer.resolve();
    await client.request('ping');
    expect(extension.seen).toEqual([]);
  });

  it('is seen by plugins as what the client gets', async () => {
    const seen: string[] = [];
    const watch = definePlugin(() => ({
      name: 'watch',
      ended: ({ method, target }, { status }) => void (method === 'tools/call' && seen.push(`${target} ${status}`)),
    }));
    const handler = async (ctx: Context) => ((await ctx.confirm('Go on?')) ? 'yes' : 'no');
    const { server, extension } = serve({ plugins: [watch()], handler });
    const onElicit = () => ({ action: 'accept', content: { confirmed: true } }) as const;
    const client = await connect(server, { era: 'stateless', capabilities, onElicit });
    await client.callTool('late');
    extension.begin = async () => ({ isError: true, content: [] });
    await client.callTool('late');
    extension.begin = async () => await Promise.reject(new ToolError('no'));
    await client.callTool('late');
    extension.begin = () => undefined;
    await client.callTool('hidden');
    expect(seen).toEqual(['late input-required', 'late ok', 'late tool-error', 'late tool-error', 'hidden ok']);
  });
});
