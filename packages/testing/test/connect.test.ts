import { describe, expect, it } from '@jest/globals';

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
import { connect, type ConnectOptions } from '@decorum/testing';
import { IsInt, IsString } from 'class-validator';

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

  it('rejects with the error of the server', async () => {
    const client = await connect(serverOf(), options);
    const failure = client.request('tools/call', { name: 'nobody' });
    await expect(failure).rejects.toThrow(McpError);
    await expect(failure).rejects.toMatchObject({ code: -32602, message: 'Unknown tool: nobody' });
  });

  it('rejects with an error whose stack leads to the test', async () => {
    const client = await connect(serverOf(), options);
    const error = (await client.callTool('nobody').catch((failure: unknown) => failure)) as Error;
    expect(error.stack).toMatch(/^McpError: Unknown tool: nobody\n[^]*connect\.test\.ts/);
  });

  it('sends its client info, and passes on the principal and the meta of a request', async () => {
    const clientInfo = { name: 'me', version: '7' };
    const client = await connect(serverOf(), {
      ...options,
      clientInfo,
      principal: { subject: 'alice' },
      capabilities: { extensions: { 'example/x': {} } },
    });
    const { content } = await client.callTool('about', {}, { meta: { trace: 't1' } });
    expect(JSON.parse((content[0] as { text: string }).text)).toEqual({
      client: { info: clientInfo, capabilities: { extensions: { 'example/x': {} } } },
      principal: { subject: 'alice' },
      revision: client.revision,
      trace: 't1',
    });
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

  it('cancels a request when its signal aborts', async () => {
    const server = serverOf();
    const aborted = new Promise<unknown>((resolve) => {
      server.addTool({ name: 'report' }, async (_input, ctx) => {
        ctx.signal.addEventListener('abort', () => resolve(ctx.signal.aborted));
        ctx.log.info('started');
        await aborted;
      });
    });
    const client = await connect(server, options);
    await client.setLogLevel('info');
    const stop = new AbortController();
    const call = client.callTool('report', {}, { signal: stop.signal });
    const { params } = await client.nextNotification('notifications/message');
    expect(params).toMatchObject({ level: 'info', data: 'started' });
    stop.abort(new Error('enough'));
    await expect(call).rejects.toThrow('enough');
    expect(await aborted).toBe(true);
    await expect(client.callTool('add', {}, { signal: stop.signal })).rejects.toThrow('enough');
    expect(await client.callTool('add', { a: 1, b: 1 })).toMatchObject({ content: [{ text: '2' }] });
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

  it('rejects questions without a handler, and reports a failing handler', async () => {
    const none = await connect(serverOf());
    expect(await none.callTool('ask')).toMatchObject({
      isError: true,
      content: [{ text: 'The client does not support elicitation.' }],
    });
    const declared = await connect(serverOf(), { capabilities: { elicitation: {} } });
    expect(await declared.callTool('ask')).toMatchObject({
      isError: true,
      content: [{ text: expect.stringMatching('no handler for "elicitation/create"') }],
    });
    const failing = await connect(serverOf(), {
      onElicit: () => {
        throw new McpError(1234, 'No time');
      },
    });
    expect(await failing.callTool('ask')).toMatchObject({
      isError: true,
      content: [{ text: 'The client answered with an error: No time' }],
    });
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
    expect(await client.nextNotification('notifications/resources/updated')).toEqual({
      method: 'notifications/resources/updated',
      params: { uri: 'weather://Oslo' },
    });
    expect(client.notifications.map(({ method }) => method)).toEqual([
      'notifications/resources/updated',
      'notifications/tools/list_changed',
    ]);
  });

  it('closes at the end of an `await using` block', async () => {
    const client = await connect(serverOf());
    await client[Symbol.asyncDispose]();
    await expect(client.listTools()).rejects.toThrow('The client is closed.');
  });
});
