import { once } from 'node:events';

import { describe, expect, it } from '@jest/globals';

import type { Context } from '@decorum/core';

import { EventReader } from './events.js';
import { whenBegun, call, INITIALIZE, json, kernelOf, post, request, serve } from './fixture.js';

const ADD = { a: 1, b: 2 };
const TOKEN = { progressToken: 1 };
const version = (id: string) => ({ 'mcp-protocol-version': id });
const LATEST = version('2025-11-25');

/** The state that the kernel holds for clients. */
interface Insides {
  readonly parts: { readonly events: { readonly listeners: { readonly size: number } } };
}

describe('an endpoint without sessions', () => {
  it('serves each request in the revision of its header', async () => {
    const { url, server } = await serve({ sessions: false });
    server.addTool(
      { name: 'titled', title: 'Titled', description: 'Has a title', input: { type: 'object' } },
      () => '',
    );
    const titleIn = async (headers: Record<string, string>) => {
      const { result } = await json(await post(url, request(1, 'tools/list'), headers));
      return (result?.['tools'] as { name: string; title?: string }[] | undefined)?.find(
        ({ name }) => name === 'titled',
      )?.title;
    };
    expect(await titleIn(LATEST)).toBe('Titled');
    expect(await titleIn(version('2025-06-18'))).toBe('Titled');
    expect(await titleIn(version('2025-03-26'))).toBeUndefined();
    expect((await post(url, request(1, 'ping'), version('1999-01-01'))).status).toBe(400);
  });

  it('ignores Mcp-Session-Id', async () => {
    const { url } = await serve({ sessions: false });
    expect((await post(url, call(1, 'add', ADD), { ...LATEST, 'mcp-session-id': 'of another server' })).status).toBe(
      200,
    );
    expect((await post(url, INITIALIZE, { 'mcp-session-id': 'of another server' })).status).toBe(200);
  });

  it('keeps a response together when a handler closes its stream, because nobody could resume it [HTTP-18]', async () => {
    const { url, probe } = await serve({ sessions: false });
    const [response] = await whenBegun(probe, post(url, call(1, 'poll'), LATEST));
    probe.emit('go');
    expect(await json(await response)).toMatchObject({ id: 1, result: { content: [{ text: 'let go' }] } });
  });

  it('streams the notifications of a request without event ids', async () => {
    const { url } = await serve({ sessions: false });
    const events = await new EventReader(await post(url, call(1, 'steps', {}, TOKEN), LATEST)).rest();
    expect(events.map(({ message }) => message?.method ?? message?.id)).toEqual([
      ...Array(3).fill('notifications/progress'),
      1,
    ]);
    for (const event of events) expect(event).not.toHaveProperty('id');
  });

  it('cannot ask its clients questions, whatever they declared in initialize', async () => {
    const { url, server } = await serve({ sessions: false });
    server.addTool(
      { name: 'reach', description: 'Pings', input: { type: 'object' } },
      async (_input: object, ctx: Context) => {
        await ctx.ping();
        return 'there';
      },
    );
    await (await post(url, INITIALIZE)).text();
    expect(await json(await post(url, call(1, 'reach'), LATEST))).toMatchObject({
      result: { isError: true, content: [{ text: expect.stringContaining('keeps no sessions') }] },
    });
    const { result } = await json(await post(url, call(1, 'ask'), LATEST));
    expect(result).toMatchObject({ isError: true, content: [{ text: 'The client does not support elicitation.' }] });
  });

  it('declares only capabilities that work within one request', async () => {
    const { url } = await serve({ sessions: false });
    const capabilities = async (at: string) => (await json(await post(at, INITIALIZE))).result?.['capabilities'];
    expect(await capabilities(url)).toEqual({ tools: {}, prompts: {}, resources: {} });
    const { url: other } = await serve();
    expect(await capabilities(other)).toEqual({
      tools: { listChanged: true },
      prompts: { listChanged: true },
      resources: { listChanged: true, subscribe: true },
      logging: {},
    });
  });

  it.each(['resources/subscribe', 'resources/unsubscribe', 'logging/setLevel'])('has no %s', async (method) => {
    const { url } = await serve({ sessions: false });
    const params = { uri: 'docs://guide', level: 'debug' };
    for (const id of ['2025-03-26', '2025-06-18', '2025-11-25']) {
      const response = await post(url, request(1, method, params), version(id));
      expect([response.status, (await json(response)).error?.code]).toEqual([200, -32601]);
    }
  });

  it('sends no log messages, because no client can request them', async () => {
    const { url, server } = await serve({ sessions: false });
    server.addTool(
      { name: 'speak', description: 'Logs', input: { type: 'object' } },
      (_input: object, ctx: Context) => {
        ctx.log.emergency('fire');
        return 'said';
      },
    );
    const response = await post(url, call(1, 'speak'), LATEST);
    expect(response.headers.get('content-type')).toMatch('application/json');
    expect(await json(response)).toMatchObject({ id: 1, result: { content: [{ text: 'said' }] } });
  });

  it('serves concurrent requests with the same id, and cancels none of them', async () => {
    const { url, probe } = await serve({ sessions: false });
    const pending = [];
    for (let n = 0; n < 2; n++) {
      const began = once(probe, 'began');
      pending.push(post(url, call(1, 'wait'), LATEST));
      await began;
    }
    const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } };
    expect((await post(url, cancel, LATEST)).status).toBe(202);
    probe.emit('go');
    for (const response of await Promise.all(pending)) expect(response.status).toBe(200);
    expect(probe.contexts.map(({ sessionId }) => sessionId)).toEqual([undefined, undefined]);
  });

  it('keeps no state of clients', async () => {
    const { url, server } = await serve({ sessions: false });
    const kernel = (await kernelOf(server)) as unknown as Insides;
    for (const message of [
      INITIALIZE,
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      request(1, 'resources/subscribe', { uri: 'docs://guide' }),
    ]) {
      await (await post(url, message)).text();
      expect(kernel.parts.events.listeners.size).toBe(0);
    }
  });
});
