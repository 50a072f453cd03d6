import { once } from 'node:events';

import { describe, expect, it } from '@jest/globals';

import type { Context } from '@decorum/core';

import { EventReader } from './events.js';
import { call, INITIALIZE, json, kernelOf, modernCall, modernHeaders, post, request, serve } from './fixture.js';

const ADD = { a: 1, b: 2 };
const TOKEN = { progressToken: 1 };
const version = (id: string) => ({ 'mcp-protocol-version': id });
const LATEST = version('2025-11-25');

/** The state that the kernel holds for clients. */
interface Insides {
  readonly parts: { readonly events: { readonly listeners: { readonly size: number } } };
}

describe('an endpoint without sessions', () => {
  it('answers initialize without a session id, and serves each request on its own [SESS-11]', async () => {
    const { url } = await serve({ sessions: false });
    const response = await post(url, INITIALIZE);
    expect([response.status, response.headers.get('mcp-session-id')]).toEqual([200, null]);
    expect(await json(response)).toMatchObject({ id: 0, result: { protocolVersion: '2025-11-25' } });
    expect((await post(url, { jsonrpc: '2.0', method: 'notifications/initialized' }, LATEST)).status).toBe(202);
    const answer = await post(url, call(1, 'add', ADD), LATEST);
    expect([answer.status, answer.headers.get('mcp-session-id')]).toEqual([200, null]);
    expect(await json(answer)).toMatchObject({ id: 1, result: { content: [{ text: '3' }] } });
    expect((await post(url, { jsonrpc: '2.0', id: 's1', result: {} }, LATEST)).status).toBe(202);
  });

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

  it('assumes the revision with batches if there is no header [HTTP-38]', async () => {
    const { url } = await serve({ sessions: false });
    const batch = [call(1, 'add', ADD), { jsonrpc: '2.0', method: 'notifications/x' }, request(2, 'ping')];
    const response = await post(url, batch);
    expect(response.status).toBe(200);
    expect(((await response.json()) as { id: unknown }[]).map(({ id }) => id)).toEqual([1, 2]);
    expect((await post(url, batch, version('2025-03-26'))).status).toBe(200);
    for (const id of ['2024-11-05', '2025-06-18', '2025-11-25', '2026-07-28']) {
      expect([id, (await post(url, batch, version(id))).status]).toEqual([id, 400]);
    }
  });

  it('has neither GET nor DELETE: 405 [HTTP-28] [HTTP-34]', async () => {
    const { url } = await serve({ sessions: false });
    for (const method of ['GET', 'DELETE']) {
      for (const headers of [LATEST, { ...LATEST, 'mcp-session-id': 'x' }]) {
        const response = await fetch(url, { method, headers: { accept: 'text/event-stream', ...headers } });
        expect([method, response.status, response.headers.get('allow')]).toEqual([method, 405, 'POST']);
        await response.text();
      }
    }
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
    const began = once(probe, 'began');
    const response = post(url, call(1, 'poll'), LATEST);
    await began;
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

  it('serves the stateless era as usual', async () => {
    const { url } = await serve({ sessions: false });
    const response = await post(url, modernCall(1, 'add', ADD), modernHeaders('tools/call', 'add'));
    expect(await json(response)).toMatchObject({ id: 1, result: { content: [{ text: '3' }] } });
  });
});
