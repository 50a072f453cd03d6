import {
  Completion,
  Context,
  McpError,
  McpServer,
  type McpServerOptions,
  NoInput,
  Prompt,
  Resource,
  Tool,
} from '@decorum/core';
import { newestOf } from '@decorum/core/internal';
import {
  connect,
  type ConnectOptions,
  contract,
  type ElicitQuestion,
  elicits,
  type Rehearsal,
  type RehearseOptions,
  rehearse,
  revisions,
} from '@decorum/testing';
import { describe, expect, it } from '@jest/globals';
import { IsInt, IsString } from 'class-validator';

import { createServer } from './servers/weather.js';

class Sum {
  @IsInt() a!: number;
  @IsInt() b!: number;
}

class Place {
  @IsString() city!: string;
}

const CITIES = ['Oslo', 'Odense', 'Rome'];

class Provider {
  @Tool({ description: 'Adds' }) add({ a, b }: Sum) {
    return String(a + b);
  }

  @Tool({ description: 'Reports progress' }) async *steps() {
    yield { progress: 1, total: 2, message: 'half' };
    yield { progress: 2, total: 2 };
    return 'done';
  }

  @Tool({ description: 'Runs until it is cancelled' }) async forever(_input: NoInput, ctx: Context) {
    ctx.log.info('started');
    await new Promise((resolve) => ctx.signal.addEventListener('abort', resolve));
  }

  @Tool({ description: 'Speaks of its client' }) about(_input: NoInput, ctx: Context) {
    const { client, principal, revision, meta } = ctx;
    return JSON.stringify({ client, principal, revision, trace: meta?.['trace'] });
  }

  @Tool({ description: 'Asks everything there is to ask' }) async ask(_input: NoInput, ctx: Context) {
    await ctx.ping();
    const form = await ctx.elicit(Place, { message: 'Where?' });
    const city = form.action === 'accept' ? form.content.city : form.action;
    const sample = await ctx.sample({ messages: 'Hello', maxTokens: 5 });
    const roots = await ctx.roots();
    return `${city}, ${sample.text}, ${roots.map(({ uri }) => uri).join(' ')}`;
  }

  @Resource('weather://{city}', { list: 'stations' }) weather({ city }: Place) {
    return `Fine in ${city}`;
  }

  stations() {
    return CITIES.map((city) => ({ variables: { city }, name: city }));
  }

  @Prompt({ description: 'What to pack' }) pack({ city }: Place) {
    return `What do I need in ${city}?`;
  }

  @Completion({ for: 'pack', argument: 'city' }) city(typed: string) {
    return CITIES.filter((city) => city.startsWith(typed));
  }
}

const serverOf = (options: Partial<McpServerOptions> = {}) =>
  new McpServer({ name: 'test', version: '1.0.0', providers: [Provider], ...options });

const ERAS = [{ era: 'stateful' }, { era: 'stateless' }] as const satisfies readonly ConnectOptions[];

describe.each(ERAS)('A test client of the $era era', (options) => {
  it('uses the newest revision of its era by default', async () => {
    const client = await connect(serverOf(), options);
    expect(client.revision).toBe(newestOf(options.era).id);
    const { content } = await client.callTool('about');
    expect(content).toEqual([{ type: 'text', text: expect.stringContaining(`"revision":"${client.revision}"`) }]);
  });

  it('collects lists from all pages', async () => {
    const client = await connect(serverOf({ pageSize: 2 }), options);
    const names = (entries: readonly { readonly name: string }[]) => entries.map(({ name }) => name);
    expect(names(await client.listTools())).toEqual(['add', 'steps', 'forever', 'about', 'ask']);
    expect(names(await client.listResources())).toEqual(CITIES);
    expect(await client.listResourceTemplates()).toMatchObject([{ uriTemplate: 'weather://{city}' }]);
    expect(await client.listPrompts()).toMatchObject([{ name: 'pack', arguments: [{ name: 'city', required: true }] }]);
  });

  it('calls tools, reads resources, gets prompts and completes arguments', async () => {
    const client = await connect(serverOf(), options);
    expect(await client.callTool('add', { a: 1, b: 2 })).toMatchObject({ content: [{ type: 'text', text: '3' }] });
    expect(await client.callTool('add', { a: 'x' })).toMatchObject({ isError: true });
    expect(await client.readResource('weather://Oslo')).toMatchObject({ contents: [{ text: 'Fine in Oslo' }] });
    const prompt = await client.getPrompt('pack', { city: 'Rome' });
    expect(prompt.messages).toMatchObject([{ role: 'user', content: { text: 'What do I need in Rome?' } }]);
    const completion = await client.complete({ prompt: 'pack' }, { name: 'city', value: 'O' });
    expect(completion.values).toEqual(['Oslo', 'Odense']);
  });

  it('rejects with the error of the server, whose stack leads to the test', async () => {
    const client = await connect(serverOf(), options);
    const error = (await client.callTool('nobody').catch((failure: unknown) => failure)) as McpError;
    expect(error).toBeInstanceOf(McpError);
    expect(error).toMatchObject({ code: -32602, message: 'Unknown tool: nobody' });
    expect(error.stack).toMatch(/^McpError: Unknown tool: nobody\n[^]*connect\.test\.ts/);
  });

  it('sends its client info, and passes on the principal and the meta of a request', async () => {
    const [info, principal] = [{ name: 'me', version: '7' }, { subject: 'alice' }];
    const capabilities = { extensions: { 'example/x': {} } };
    const client = await connect(serverOf(), { ...options, clientInfo: info, principal, capabilities });
    const { content } = await client.callTool('about', {}, { meta: { trace: 't1' } });
    const about = { client: { info, capabilities }, principal, revision: client.revision, trace: 't1' };
    expect(content).toEqual([{ type: 'text', text: JSON.stringify(about) }]);
  });

  it('delivers progress to the request that asked for it', async () => {
    const client = await connect(serverOf(), options);
    const heard: unknown[] = [];
    await client.callTool('steps', {}, { onProgress: (...progress) => heard.push(progress) });
    expect(heard).toEqual([
      [1, 2, 'half'],
      [2, 2, undefined],
    ]);
    await client.callTool('steps');
    expect(heard).toHaveLength(2);
  });

  it('sends no request if its signal has aborted', async () => {
    const client = await connect(serverOf(), options);
    const before = client.frames.length;
    const call = client.callTool('add', { a: 1, b: 1 }, { signal: AbortSignal.abort(new Error('enough')) });
    await expect(call).rejects.toThrow('enough');
    expect(client.frames).toHaveLength(before);
  });

  it('rejects pending requests when the client or the server closes', async () => {
    const server = serverOf();
    const [first, second] = [await connect(server, options), await connect(server, options)];
    const calls = [first.callTool('forever'), second.callTool('forever')].map((call) => call.catch(String));
    const notification = first.nextNotification('notifications/none').catch(String);
    await first.close();
    await server.close({ deadlineMs: 1 });
    expect(await Promise.all(calls)).toEqual(['Error: The client is closed.', 'McpError: The server is closing.']);
    expect(await notification).toBe('Error: The client is closed.');
    await expect(first.listTools()).rejects.toThrow('The client is closed.');
  });
});

describe('A test client', () => {
  it('keeps the response to initialize', async () => {
    const client = await connect(serverOf({ instructions: 'Be kind.' }));
    expect(client.initialized).toMatchObject({
      protocolVersion: newestOf('stateful').id,
      capabilities: { tools: {} },
      serverInfo: { name: 'test', version: '1.0.0' },
      instructions: 'Be kind.',
    });
    expect((await connect(serverOf(), { era: 'stateless' })).initialized).toBeUndefined();
  });

  it('may request a revision that does not exist', async () => {
    const revision = '1999-12-31';
    expect((await connect(serverOf(), { revision })).revision).toBe(newestOf('stateful').id);
    const client = await connect(serverOf(), { revision, era: 'stateless' });
    await expect(client.listTools()).rejects.toMatchObject({ code: -32022, data: { requested: revision } });
  });

  it('answers the questions of the server with its handlers', async () => {
    const client = await connect(serverOf(), {
      onElicit: ({ message, requestedSchema }) => {
        expect([message, Object.keys(requestedSchema['properties'] as object)]).toEqual(['Where?', ['city']]);
        return { action: 'accept', content: { city: 'Oslo' } };
      },
      onSample: async ({ messages }) => `to ${messages.length}`,
      onRoots: () => [{ uri: 'file:///a' }],
    });
    expect(await client.callTool('ask')).toMatchObject({ content: [{ text: 'Oslo, to 1, file:///a' }] });
  });

  const onElicit = () => {
    throw new McpError(1234, 'No time');
  };
  it.each<[string, ConnectOptions, unknown]>([
    ['none', {}, 'The client does not support elicitation.'],
    [
      'only a capability',
      { capabilities: { elicitation: {} } },
      expect.stringMatching('no handler for "elicitation/create"'),
    ],
    ['one that throws', { onElicit }, 'The client answered with an error: No time'],
  ])('rejects questions without a handler that works: %s', async (_what, options, text) => {
    const client = await connect(serverOf(), options);
    expect(await client.callTool('ask')).toMatchObject({ isError: true, content: [{ text }] });
  });

  it('gets each change once and in order', async () => {
    const server = serverOf();
    const client = await connect(server);
    await client.subscribe('weather://Oslo');
    server.notify.resourceUpdated('weather://Oslo');
    server.notify.resourceUpdated('weather://Rome');
    await client.unsubscribe('weather://Oslo');
    server.notify.resourceUpdated('weather://Oslo');
    server.notify.toolsChanged();
    await client.nextNotification('notifications/tools/list_changed');
    const updated = { method: 'notifications/resources/updated', params: { uri: 'weather://Oslo' } };
    expect(await client.nextNotification(updated.method)).toEqual(updated);
    const methods = client.notifications.map(({ method }) => method);
    expect(methods).toEqual([updated.method, 'notifications/tools/list_changed']);
  });

  it('closes at the end of an `await using` block', async () => {
    const client = await connect(serverOf());
    await client[Symbol.asyncDispose]();
    await expect(client.listTools()).rejects.toThrow('The client is closed.');
  });
});

const contractOf = async (server: McpServer, options: ConnectOptions = {}) => {
  await using client = await connect(server, options);
  return await contract(client);
};

describe.each(revisions)('the contract that a client of %s sees', (revision) => {
  it('has the revision, the server, its capabilities and its sorted entries', async () => {
    const seen = await contractOf(createServer({ instructions: 'Ask for a city.' }), { revision });
    expect(seen).toMatchObject({
      revision,
      server: { name: 'weather' },
      instructions: 'Ask for a city.',
      capabilities: { tools: {}, resources: {}, prompts: {} },
      resources: [{ uri: 'weather://today' }],
      resourceTemplates: [{ uriTemplate: 'weather://{city}/station' }],
      prompts: [{ name: 'pack' }],
    });
    const names = seen.tools.map(({ name }) => name);
    expect(names).toEqual(['book', 'caller', 'forecast', 'guess', 'hours', 'map', 'route']);
    expect(Object.keys(seen.tools[2] ?? {})).toEqual(Object.keys(seen.tools[2] ?? {}).toSorted());
  });

  it('stays the same over another transport, in another version and another order', async () => {
    const toolsIn = (version: string, order: string) => {
      const server = new McpServer({ name: 'x', version });
      for (const name of order) server.addTool({ name, description: `Does ${name}` }, () => name);
      return server;
    };
    const one = await contractOf(toolsIn('1.0.0', 'ba'), { revision });
    const other = await contractOf(toolsIn('2.0.0', 'ab'), { revision, via: 'http' });
    expect(JSON.stringify(other)).toBe(JSON.stringify(one));
    expect(one).toMatchObject({ resources: [], resourceTemplates: [], prompts: [] });
  });
});

const BY_URL = { elicitation: { form: {}, url: {} } };
const ADA = { subject: 'ada' };

/** Builds servers with one tool without input, named `tool`. */
const serverWith =
  (handler: (ctx: Context, record: Rehearsal['record']) => unknown) =>
  ({ record, secret }: Rehearsal) => {
    const server = new McpServer({ name: 'test', version: '1', secret, logger: { warn() {}, error() {} } });
    server.addTool({ name: 'tool' }, (_input, ctx) => handler(ctx, record));
    return server;
  };

const said = (text: string) => [{ type: 'text', text }];

/** A bank whose accounts are linked on a web page, outside of all servers. */
function bank(action: 'accept' | 'decline' = 'accept') {
  const accounts = { stateful: new Set<unknown>(), stateless: new Set<unknown>() };
  let linked = accounts.stateful;
  const asked: ElicitQuestion[] = [];
  const build = serverWith(async (ctx, record) => {
    const subject = ctx.principal?.subject;
    const visit = { message: 'Link your account', url: `https://bank.example/${subject}` };
    if (!linked.has(subject)) await ctx.requireUrl(visit);
    await ctx.once('paid', () => record(`paid by ${subject}`));
    return 'paid';
  });
  const server = (rehearsal: Rehearsal) => {
    linked = accounts[rehearsal.era];
    return build(rehearsal);
  };
  const onElicit = (question: ElicitQuestion) => {
    asked.push(question);
    if (action === 'accept') linked.add('ada');
    return { action };
  };
  return { asked, options: { server, tool: 'tool', capabilities: BY_URL, principal: ADA, onElicit } };
}

/** Rehearses a tool, and expects this text in both eras. */
async function expectInBoth(text: string, handler: (ctx: Context) => unknown, options: Partial<RehearseOptions> = {}) {
  const { session, replay } = await rehearse({ server: serverWith(handler), tool: 'tool', ...options });
  expect([session.result.content, replay.result.content]).toEqual([said(text), said(text)]);
}

describe('rehearse', () => {
  it('passes the principal and the capabilities in both eras', async () => {
    const capabilities = { sampling: { tools: {} } };
    const tell = (ctx: Context) => JSON.stringify([ctx.principal, ctx.client.capabilities]);
    await expectInBoth(JSON.stringify([ADA, capabilities]), tell, { capabilities, principal: ADA });
  });

  it('takes a script of answers, and fails if some are left', async () => {
    const ask = async (ctx: Context) => String(await ctx.confirm('Sure?'));
    await expectInBoth('true', ask, { onElicit: elicits('accept') });
    const left = expectInBoth('true', ask, { onElicit: elicits('accept', 'decline') });
    await expect(left).rejects.toThrow('elicits(…) has 2 answers, but 1 was not used');
  });

  it('asks by URL', async () => {
    const asked: unknown[] = [];
    const visit = { message: 'Sign in', url: 'https://example.com/sign-in' };
    const onElicit = ({ mode, url }: ElicitQuestion) => (asked.push([mode, url]), { action: 'accept' } as const);
    const ask = async (ctx: Context) => (await ctx.elicitUrl(visit)).action;
    await expectInBoth('accept', ask, { capabilities: BY_URL, onElicit });
    expect(asked.flat()).toEqual(['url', visit.url, 'url', visit.url]);
  });

  it('calls again in a session after the user has visited the required URL', async () => {
    const { asked, options } = bank();
    const { session, replay } = await rehearse(options);
    const question = { mode: 'url', message: 'Link your account', url: 'https://bank.example/ada' };
    expect(asked).toMatchObject([question, question]);
    const outcome = { result: { content: said('paid') }, effects: ['paid by ada'], rounds: 2 };
    expect([session, replay]).toMatchObject([outcome, outcome]);
  });

  it('fails with the error of the server if the user does not visit the URL', async () => {
    await expect(rehearse(bank('decline').options)).rejects.toMatchObject({ code: -32042 });
  });

  it('lets the model use tools', async () => {
    const tools = [{ name: 'add', inputSchema: { type: 'object' } }];
    const use = { type: 'tool_use', id: '1', name: 'add', input: { a: 1, b: 2 } } as const;
    const offered: unknown[] = [];
    const sample = async (ctx: Context) => {
      const { content, stopReason } = await ctx.sample({ messages: '1 + 2?', maxTokens: 10, tools });
      return JSON.stringify([content, stopReason]);
    };
    const onSample: RehearseOptions['onSample'] = (request) => {
      offered.push(request.tools?.[0]?.['name']);
      return { content: [use], stopReason: 'toolUse' };
    };
    const capabilities = { sampling: { tools: {} } };
    await expectInBoth(JSON.stringify([[use], 'toolUse']), sample, { capabilities, onSample });
    expect(offered).toEqual(['add', 'add']);
  });
});
