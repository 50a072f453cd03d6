// A call through `call_tool`, which is judged, observed and answered as a call of its target.
import { EventEmitter, once } from 'node:events';

import { afterEach, describe, expect, it } from '@jest/globals';

import { type Context, type Interceptor, McpServer, NoInput, rateLimit, ToolError } from '@decorum/core';
import { definePlugin } from '@decorum/core/plugin';
import { search } from '@decorum/search';
import { revisions } from '@decorum/testing';

import { callOf, clientOf, closeAll, found, textOf } from './clients.js';
import { AUTH, senderTo } from './sender.js';
import { shop } from './shop.js';

afterEach(closeAll);

/** What a promise of a request ends with. */
const endOf = (running: Promise<unknown>): Promise<unknown> =>
  running.catch(({ code, message, data }: { code: number; message: string; data: unknown }) => [code, message, data]);

describe.each(revisions)('a call through call_tool, in %s', (revision) => {
  it('has arguments validated by the schema of the target', async () => {
    const client = await clientOf(shop(), { revision });
    const direct = await client.callTool('cancelOrder', { orders: 7 });
    expect(direct.isError).toBe(true);
    expect(await callOf(client, 'cancelOrder', { orders: 7 })).toEqual(direct);
  });

  it('fails like a direct call, for a name or arguments of the wrong type and for unknown names', async () => {
    const client = await clientOf(shop(), { revision });
    const same: readonly (readonly [unknown, unknown])[] = [
      ['nothing', {}],
      ['__proto__', {}],
      ['constructor', {}],
      [7, {}],
      [null, {}],
      [{ toString: 'x' }, {}],
      ['track_parcel', 'parcel'],
      ['track_parcel', null],
      ['track_parcel', [1]],
    ];
    for (const [name, args] of same) {
      const direct = await endOf(client.request('tools/call', { name, arguments: args }));
      const through = { name: 'call_tool', arguments: { name, arguments: args } };
      expect([name, args, await endOf(client.request('tools/call', through))]).toEqual([name, args, direct]);
    }
    const nameless = await endOf(client.request('tools/call', { arguments: {} }));
    expect(await endOf(client.request('tools/call', { name: 'call_tool', arguments: {} }))).toEqual(nameless);
  });

  it('may be a search, and can not be another one', async () => {
    const client = await clientOf(shop(), { revision });
    const direct = await client.callTool('search_tools', { query: 'parcel' });
    expect(await callOf(client, 'search_tools', { query: 'parcel' })).toEqual(direct);
    const unknown = await endOf(client.callTool('nothing', {}));
    const itself = await endOf(callOf(client, 'call_tool', { name: 'track_parcel', arguments: { parcel: '9' } }));
    expect(unknown).toMatchObject([-32602, 'Unknown tool: nothing']);
    expect(itself).toMatchObject([-32602, 'Unknown tool: call_tool']);
  });

  it('tells the model of arguments in the wrong place, and does not call without them', async () => {
    const server = shop();
    const input = { type: 'object', properties: { only: { type: 'string' } } } as const;
    server.addTool({ name: 'cancel_all', input }, () => 'Cancelled all.');
    const client = await clientOf(server, { revision });
    const result = await client.callTool('call_tool', { name: 'cancel_all', only: 'lost' });
    expect([result.isError, textOf(result)]).toEqual([true, expect.stringContaining('- only:')]);
  });

  it('is seen by interceptors, rate limits and plugins as a call of the target', async () => {
    const seen: unknown[] = [];
    const watching: Interceptor = async ({ name, args }, next) => {
      seen.push(['interceptor', name, args]);
      return await next();
    };
    const audit = definePlugin(() => ({
      name: 'audit',
      async observe({ method, target, arguments: args }, run) {
        const { status } = await run();
        if (method === 'tools/call') seen.push(['plugin', target, args, status]);
      },
    }));
    const limiter = {
      consume: async (key: string) => {
        seen.push(['limit', key]);
        await Promise.resolve();
      },
    };
    const interceptors = [watching, rateLimit(limiter, { of: ({ name }) => name })];
    const client = await clientOf(shop({}, { interceptors, plugins: [search({ above: 3 }), audit()] }), { revision });
    await callOf(client, 'track_parcel', { parcel: '9' });
    expect(seen).toEqual([
      ['interceptor', 'track_parcel', { parcel: '9' }],
      ['limit', 'track_parcel'],
      ['plugin', 'track_parcel', { parcel: '9' }, 'ok'],
    ]);
  });

  it('reports progress, and can be cancelled', async () => {
    const events = new EventEmitter();
    const server = shop();
    server.addTool({ name: 'count', input: NoInput }, async (_input, ctx: Context) => {
      ctx.progress(1, 2, 'half');
      events.emit('running');
      const [reason] = (await once(ctx.signal, 'abort')) as unknown[];
      events.emit('aborted', reason);
    });
    const client = await clientOf(server, { revision });
    const controller = new AbortController();
    const aborted = once(events, 'aborted');
    const told: unknown[] = [];
    const running = once(events, 'running');
    const calling = client
      .callTool(
        'call_tool',
        { name: 'count', arguments: {} },
        { signal: controller.signal, onProgress: (...progress) => void told.push(progress) },
      )
      .catch((error: unknown) => error);
    await running;
    controller.abort();
    await Promise.all([aborted, calling]);
    expect(told).toEqual(revision < '2025-03-26' ? [[1, 2]] : [[1, 2, 'half']]);
  });

  it('may ask, and goes on with the answer', async () => {
    const server = shop();
    server.addTool({ name: 'refund', input: NoInput }, async (_input, ctx: Context) =>
      (await ctx.confirm('Refund it?')) ? 'Refunded.' : 'Kept.',
    );
    const client = await clientOf(server, {
      revision,
      onElicit: () => ({ action: 'accept', content: { confirmed: true } }),
    });
    const result = callOf(client, 'refund', {});
    // the first two revisions have no questions
    if (revision < '2025-06-18') expect((await result).isError).toBe(true);
    else expect(textOf(await result)).toBe('Refunded.');
  });
});

describe('calls through call_tool in a batch', () => {
  const through = (name: string) => ({ name: 'call_tool', arguments: { name, arguments: { order: '7' } } });
  const batched = { revision: '2025-03-26', batch: [through('cancelOrder'), through('refund')] };
  const served = () => {
    const server = shop({}, { tools: { refund: ['Refunds an order', ['order'], { scopes: ['refunds'] }] } });
    return senderTo(server, { auth: AUTH });
  };

  it('are answered, each as its target', async () => {
    const send = await served();
    const { status, text } = await send('tools/call', {}, { ...batched, token: 'ann refunds' });
    expect(status).toBe(200);
    expect(JSON.parse(text)).toMatchObject([
      { result: { content: [{ text: 'cancelOrder {"order":"7"}' }] } },
      { result: { content: [{ text: 'refund {"order":"7"}' }] } },
    ]);
  });

  it('are refused together if one of the targets needs a scope', async () => {
    const send = await served();
    const { status, challenge } = await send('tools/call', {}, { ...batched, token: 'ann' });
    expect([status, challenge]).toEqual([403, expect.stringContaining('refunds')]);
  });
});

describe('the state of a question through call_tool', () => {
  it('belongs to the target and its arguments', async () => {
    const server = shop();
    const input = { type: 'object', properties: { order: { type: 'string' } } } as const;
    const ask = async (_input: unknown, ctx: Context) => String(await ctx.confirm('Sure?'));
    server.addTool({ name: 'refund', input }, ask);
    server.addTool({ name: 'void', input }, ask);
    const send = await senderTo(server);
    const call = (name: string, order: string, more: object = {}) =>
      send('tools/call', { name: 'call_tool', arguments: { name, arguments: { order } }, ...more });
    const asked = (await call('refund', '7')).result as { requestState: string; inputRequests: object };
    const [id = ''] = Object.keys(asked.inputRequests);
    const answer = {
      requestState: asked.requestState,
      inputResponses: { [id]: { action: 'accept', content: { confirmed: true } } },
    };
    expect(await call('void', '7', answer)).toMatchObject({ status: 400, error: { code: -32602 } });
    expect(await call('refund', '8', answer)).toMatchObject({ status: 400, error: { code: -32602 } });
    expect((await call('refund', '7', answer)).result).toMatchObject({ content: [{ text: 'true' }] });
  });
});

describe('the headers of a call through call_tool', () => {
  const body = { name: 'call_tool', arguments: { name: 'ship', arguments: { region: 'eu' } } };
  const served = async () => {
    const server = shop();
    const region = { type: 'string', 'x-mcp-header': 'Region' };
    const input = { type: 'object', properties: { region }, required: ['region'] } as const;
    server.addTool({ name: 'ship', input }, () => 'Shipped.');
    return await senderTo(server);
  };

  it('name call_tool, as the message does', async () => {
    const send = await served();
    expect((await send('tools/call', body)).result).toMatchObject({ content: [{ text: 'Shipped.' }] });
    const wrong = await send('tools/call', body, { headers: { 'mcp-name': 'ship' } });
    expect(wrong).toMatchObject({ status: 400, error: { message: expect.stringContaining('Mcp-Name') } });
  });

  it('may lack the arguments that the target mirrors, and must not contradict them', async () => {
    const send = await served();
    const sent = async (region: string) => await send('tools/call', body, { headers: { 'mcp-param-region': region } });
    expect((await sent('eu')).result).toMatchObject({ content: [{ text: 'Shipped.' }] });
    expect(await sent('us')).toMatchObject({
      status: 400,
      error: { message: expect.stringContaining('mcp-param-region') },
    });
    // a client that names the tool knows what it mirrors
    const direct = await send('tools/call', { name: 'ship', arguments: { region: 'eu' } });
    expect(direct).toMatchObject({ status: 400 });
  });
});

describe('the scopes of a target', () => {
  it.each(revisions)('are asked for with the same challenge as by a direct call, in %s', async (revision) => {
    const server = shop({}, { tools: { refund: ['Refunds an order', [], { scopes: ['refunds'] }] } });
    const send = await senderTo(server, { auth: AUTH });
    const direct = await send('tools/call', { name: 'refund', arguments: {} }, { revision, token: 'ann' });
    expect(direct.status).toBe(403);
    const through = { name: 'call_tool', arguments: { name: 'refund', arguments: {} } };
    expect(await send('tools/call', through, { revision, token: 'ann' })).toEqual(direct);
    expect(await send('tools/call', through, { revision, token: 'ann refunds' })).toMatchObject({ status: 200 });
    expect((await send('tools/call', through, { revision })).status).toBe(401);
  });

  it('let anybody call a public tool, and nothing else', async () => {
    const server = shop({}, { tools: { hours: ['Tells when the shop is open', [], { public: true }] } });
    const send = await senderTo(server, { auth: AUTH });
    const call = (name: string) => send('tools/call', { name: 'call_tool', arguments: { name, arguments: {} } });
    expect((await call('hours')).status).toBe(200);
    expect((await call('track_parcel')).status).toBe(401);
  });
});

describe('an error of a target', () => {
  it('has its message and its member in the log', async () => {
    const logged: unknown[] = [];
    const logger = { warn() {}, error: (fields: unknown) => void logged.push(fields) };
    const server = new McpServer({ name: 'shop', version: '1.0.0', logger, plugins: [search({ above: 0 })] });
    server.addTool({ name: 'pay', input: NoInput }, () => {
      throw new Error('the card is 4711');
    });
    server.addTool({ name: 'refuse', input: NoInput }, () => {
      throw new ToolError('We are closed.');
    });
    const client = await clientOf(server);
    expect(textOf(await callOf(client, 'refuse', {}))).toBe('We are closed.');
    expect(textOf(await callOf(client, 'pay', {}))).not.toContain('4711');
    expect(JSON.stringify(logged)).toContain('"pay"');
    expect(await found(client, 'pay')).toEqual(['pay']);
  });
});
