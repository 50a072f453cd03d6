import { once } from 'node:events';

import { describe, expect, it } from '@jest/globals';

import { EventReader, getStream } from './events.js';
import { call, type Fields, json, modern, modernCall, openSession, post, request, serve } from './fixture.js';

const ADD = { a: 1, b: 2 };
const TOKEN = { progressToken: 1 };
const NOTE = { jsonrpc: '2.0', method: 'notifications/x' };
const OPENS = (url: string) => openSession(url, {}, '2025-03-26');
const OTHERS = ['2024-11-05', '2025-06-18', '2025-11-25'];

async function refusal(url: string, body: unknown, headers: Fields) {
  const response = await post(url, body, headers);
  const { error, ...rest } = await json(response);
  return [response.status, error?.code, rest.id];
}

describe('a batch over HTTP', () => {
  it('[RPC-16] of requests, notifications and answers returns one array of responses', async () => {
    const { url } = await serve();
    const late = { jsonrpc: '2.0', id: 's1', result: {} };
    const response = await post(
      url,
      [NOTE, call(1, 'add', ADD), late, request('2', 'no/method'), NOTE],
      await OPENS(url),
    );
    expect(response.headers.get('content-type')).toMatch(/^application\/json/);
    expect(await response.json()).toMatchObject([
      { id: 1, result: { content: [{ text: '3' }] } },
      { id: '2', error: { code: -32601 } },
    ]);
  });

  it('rejects stateless messages, because HTTP headers can describe only one message [HTTP-08] [HTTP-09]', async () => {
    const { url } = await serve();
    const session = await OPENS(url);
    const listening = modern(2, 'subscriptions/listen', { notifications: {} });
    for (const alone of [modernCall(1, 'add', ADD), listening]) {
      expect(await refusal(url, [call(3, 'add', ADD), alone], session)).toEqual([400, -32600, null]);
    }
    const { url: sessionless } = await serve({ sessions: false });
    const headers = { 'mcp-protocol-version': '2025-03-26' };
    expect(await refusal(sessionless, [listening], headers)).toEqual([400, -32600, null]);
    expect(await json(await post(url, [call(3, 'add', ADD)], session))).toMatchObject([{ id: 3 }]);
  });

  it('returns an array even for one request', async () => {
    const { url } = await serve();
    const response = await post(url, [request(1, 'ping')], await OPENS(url));
    expect([response.status, await response.json()]).toEqual([200, [{ jsonrpc: '2.0', id: 1, result: {} }]]);
  });

  it('[RPC-19] of notifications and answers only is answered with 202 and no body', async () => {
    const { url } = await serve();
    const response = await post(url, [NOTE, NOTE, { jsonrpc: '2.0', id: 's1', result: {} }], await OPENS(url));
    expect([response.status, await response.text(), response.headers.get('content-type')]).toEqual([202, '', null]);
  });

  it('[RPC-16] becomes a resumable stream whose last event has all responses', async () => {
    const { url, probe } = await serve();
    const session = await OPENS(url);
    const began = once(probe, 'began');
    const reader = new EventReader(await post(url, [call(1, 'stream', {}, TOKEN), call(2, 'add', ADD)], session));
    const first = await reader.message();
    expect(first).toMatchObject({ id: expect.any(String), message: { method: 'notifications/progress' } });
    await began;
    await reader.cancel();
    const back = await getStream(url, { ...session, 'last-event-id': first.id as string });
    probe.emit('go');
    expect((await back.rest()).map(({ message }) => message)).toMatchObject([[{ id: 1 }, { id: 2 }]]);
  });

  it('[RPC-18] is refused with 400 when it is empty, holds a batch, or holds initialize', async () => {
    const { url } = await serve();
    const session = await OPENS(url);
    const initialize = request(9, 'initialize', { protocolVersion: '2025-03-26', capabilities: {} });
    for (const body of [[], [[]], [request(1, 'ping'), [request(2, 'ping')]], [request(1, 'ping'), initialize]]) {
      expect([body, ...(await refusal(url, body, session))]).toEqual([body, 400, -32600, null]);
    }
  });

  it('answers each invalid message in it with a separate error', async () => {
    const { url } = await serve();
    const body = [1, null, 'x', {}, { jsonrpc: '1.0', id: 7, method: 'ping' }, request(8, 'ping')];
    const answers = (await (await post(url, body, await OPENS(url))).json()) as { id: unknown; error?: object }[];
    expect(answers.map(({ id, error }) => [id, error !== undefined])).toEqual([
      ...Array.from({ length: 4 }, () => [null, true]),
      [7, true],
      [8, false],
    ]);
  });

  it.each(OTHERS)('[RPC-21] is refused with 400 in %s', async (version) => {
    const { url } = await serve();
    const session = await openSession(url, {}, version);
    for (const body of [[], [NOTE], [request(1, 'ping')], [call(1, 'add', ADD), NOTE]]) {
      const [status, code] = await refusal(url, body, session);
      expect([body, status, code]).toEqual([body, 400, -32600]);
    }
  });
});
