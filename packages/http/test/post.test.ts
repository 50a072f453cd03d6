import { once } from 'node:events';

import { describe, expect, it } from '@jest/globals';

import { EventReader } from './events.js';
import {
  call,
  INITIALIZE,
  json,
  modern,
  modernCall,
  modernHeaders,
  openSession,
  post,
  raw,
  request,
  serve,
} from './fixture.js';

const ADD = { a: 1, b: 2 };
const TOKEN = { progressToken: 0 };

describe('a POST of a session', () => {
  it('is answered with JSON if only the response is sent', async () => {
    const { url } = await serve();
    const response = await post(url, call(7, 'add', ADD), await openSession(url));
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toMatch(/^application\/json/);
    expect(response.headers.get('content-length')).toMatch(/^\d+$/);
    expect(await json(response)).toEqual({ jsonrpc: '2.0', id: 7, result: { content: [{ type: 'text', text: '3' }] } });
  });

  it('becomes a stream that ends with the response if the handler sends notifications [HTTP-14] [HTTP-19]', async () => {
    const { url } = await serve();
    const response = await post(url, call(7, 'steps', {}, TOKEN), await openSession(url));
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    const messages = (await new EventReader(response).rest()).flatMap(({ message }) => message ?? []);
    expect(messages.map(({ method, id }) => method ?? id)).toEqual([
      'notifications/progress',
      'notifications/progress',
      'notifications/progress',
      7,
    ]);
    expect(messages.slice(0, 3).map(({ params }) => params?.['progress'])).toEqual([1, 2, 3]);
  });

  it('tells proxies not to cache, buffer or transform the stream', async () => {
    const { url } = await serve();
    const response = await post(url, call(7, 'steps', {}, TOKEN), await openSession(url));
    expect(response.headers.get('x-accel-buffering')).toBe('no');
    expect(response.headers.get('cache-control')).toBe('no-cache, no-transform');
    await response.text();
  });

  it('keeps its stream open until the response [HTTP-18]', async () => {
    const { url, probe } = await serve();
    const began = once(probe, 'began');
    const reader = new EventReader(await post(url, call(7, 'stream', {}, TOKEN), await openSession(url)));
    await began;
    expect((await reader.message()).message?.method).toBe('notifications/progress');
    const next = reader.message();
    probe.emit('go');
    expect((await next).message).toMatchObject({ id: 7, result: { content: [{ text: 'let go' }] } });
    expect(await reader.next()).toBeUndefined();
  });

  it('answers notifications and responses with 202 and no body [HTTP-10]', async () => {
    const { url } = await serve();
    const session = await openSession(url);
    for (const message of [
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      { jsonrpc: '2.0', method: 'notifications/whatever', params: {} },
      { jsonrpc: '2.0', id: 'nobody asked', result: {} },
    ]) {
      const response = await post(url, message, session);
      expect(response.status).toBe(202);
      expect(await response.text()).toBe('');
      expect(response.headers.get('content-type')).toBeNull();
    }
  });

  it('sends a question to the client and accepts the answer in another POST', async () => {
    const { url } = await serve();
    const session = await openSession(url);
    const reader = new EventReader(await post(url, call(7, 'ask'), session));
    const question = (await reader.message()).message;
    expect(question).toMatchObject({ method: 'elicitation/create', params: { message: 'Your name?' } });
    const answer = { jsonrpc: '2.0', id: question?.id, result: { action: 'accept', content: { name: 'Ada' } } };
    expect((await post(url, answer, session)).status).toBe(202);
    expect((await reader.message()).message).toMatchObject({ id: 7, result: { content: [{ text: 'Hello, Ada' }] } });
  });

  it('ignores an answer to the question of another session', async () => {
    const { url } = await serve();
    const [alice, bob] = [await openSession(url), await openSession(url)];
    const reader = new EventReader(await post(url, call(7, 'ask'), alice));
    const id = (await reader.message()).message?.id;
    const answer = (name: string) => ({ jsonrpc: '2.0', id, result: { action: 'accept', content: { name } } });
    expect((await post(url, answer('Mallory'), bob)).status).toBe(202);
    expect((await post(url, answer('Ada'), alice)).status).toBe(202);
    expect((await reader.message()).message).toMatchObject({ result: { content: [{ text: 'Hello, Ada' }] } });
  });

  it('is answered with 202 and no body if the client cancels it', async () => {
    const { url, probe } = await serve();
    const session = await openSession(url);
    const began = once(probe, 'began');
    const pending = post(url, call(7, 'wait'), session);
    await began;
    const aborted = once(probe, 'aborted');
    await post(url, { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7 } }, session);
    await aborted;
    probe.emit('go');
    const response = await pending;
    expect([response.status, await response.text()]).toEqual([202, '']);
  });

  it('rejects the id of a request in flight with 400, and answers the first request', async () => {
    const { url, probe } = await serve();
    const session = await openSession(url);
    const began = once(probe, 'began');
    const first = post(url, call(777, 'wait'), session);
    await began;
    expect((await post(url, call(777, 'add', ADD), session)).status).toBe(400);
    probe.emit('go');
    expect((await json(await first)).result?.content?.[0]?.text).toBe('let go');
  });

  it('answers errors of handlers and unknown methods with 200', async () => {
    const { url } = await serve();
    const session = await openSession(url);
    const failed = await post(url, call(1, 'fail'), session);
    expect(failed.status).toBe(200);
    const text = await failed.text();
    expect(text).toContain('"isError":true');
    expect(text).not.toMatch(/secret|passwd|\.ts/);
    const unknown = await post(url, request(2, 'no/such'), session);
    expect([unknown.status, (await json(unknown)).error?.code]).toEqual([200, -32601]);
  });

  it('keeps the answers of 4 sessions with 40 interleaved requests each apart', async () => {
    const { url } = await serve();
    const sessions = await Promise.all([0, 1, 2, 3].map(() => openSession(url)));
    const answers = await Promise.all(
      Array.from({ length: 160 }, async (_, n) => {
        const [id, who] = [Math.floor(n / 4), n % 4];
        const slow = id % 5 === 0 ? TOKEN : undefined;
        const message = slow ? call(id, 'steps', {}, slow) : call(id, 'add', { a: id, b: who * 1000 });
        const response = await post(url, message, sessions[who]);
        const last = slow ? (await new EventReader(response).rest()).at(-1)?.message : await json(response);
        const { content } = (last?.result ?? {}) as { content?: { text: string }[] };
        return [last?.id, content?.[0]?.text, slow ? 'done' : String(id + who * 1000), id];
      }),
    );
    for (const [id, text, expectedText, expectedId] of answers) expect([id, text]).toEqual([expectedId, expectedText]);
  });
});

describe('a batch', () => {
  const batch = [call(1, 'add', ADD), { jsonrpc: '2.0', method: 'notifications/x' }, request(2, 'ping'), { bad: true }];

  it('is accepted in a session of a revision with batches, with or without the header [HTTP-08]', async () => {
    const { url } = await serve();
    const { 'mcp-protocol-version': version, ...session } = await openSession(url, {}, '2025-03-26');
    for (const headers of [session, { ...session, 'mcp-protocol-version': version as string }]) {
      const response = await post(url, batch, headers);
      expect(response.status).toBe(200);
      const answers = (await response.json()) as { id: unknown }[];
      expect(answers.map(({ id }) => id).sort()).toEqual([1, 2, null]);
    }
  });

  it('without a request is answered with 202 and no body [HTTP-10]', async () => {
    const { url } = await serve();
    const response = await post(url, [batch[1]], await openSession(url, {}, '2025-03-26'));
    expect([response.status, await response.text()]).toEqual([202, '']);
  });

  it('becomes a stream with all responses if a handler sends notifications [HTTP-14]', async () => {
    const { url } = await serve();
    const both = [call(1, 'steps', {}, TOKEN), call(2, 'add', ADD)];
    const response = await post(url, both, await openSession(url, {}, '2025-03-26'));
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    const messages = (await new EventReader(response).rest()).flatMap(({ message }) => message ?? []);
    expect(messages.flat().flatMap((message) => (message.id === undefined ? [] : [message.id]))).toEqual([1, 2]);
  });

  it('is rejected with 400 in revisions without batches and without a session', async () => {
    const { url } = await serve();
    const both = [await openSession(url), await openSession(url, {}, '2025-06-18'), {}];
    for (const headers of [...both, { 'mcp-protocol-version': '2026-07-28' }]) {
      const response = await post(url, batch, headers);
      expect([response.status, (await json(response)).error?.code]).toEqual([400, -32600]);
    }
  });

  it('of 1900 pings is refused with 400', async () => {
    const { url } = await serve();
    const pings = Array.from({ length: 1900 }, (_, id) => request(id, 'ping'));
    const response = await post(url, pings, await openSession(url, {}, '2025-03-26'));
    expect([response.status, (await json(response)).error?.code]).toEqual([400, -32600]);
  });
});

describe('a POST of the stateless era', () => {
  it('is answered without a session', async () => {
    const { url } = await serve();
    const response = await post(url, modernCall('x', 'add', ADD), modernHeaders('tools/call', 'add'));
    expect(response.status).toBe(200);
    expect(await json(response)).toMatchObject({
      id: 'x',
      result: { resultType: 'complete', content: [{ text: '3' }] },
    });
  });

  it('streams notifications of the request without event ids, up to the response [HTTP-17] [HTTP-20] [HTTP-36]', async () => {
    const { url } = await serve();
    const message = modernCall(1, 'steps', {}, TOKEN);
    const response = await post(url, message, modernHeaders('tools/call', 'steps'));
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    const events = await new EventReader(response).rest();
    expect(events.map(({ message: sent }) => sent?.method ?? 'response')).toEqual([
      'notifications/progress',
      'notifications/progress',
      'notifications/progress',
      'response',
    ]);
    for (const { id, message: sent } of events) {
      expect(id).toBeUndefined();
      expect(sent?.method !== undefined && 'id' in sent).toBe(false);
    }
  });

  it('ignores session ids and Last-Event-ID, and creates none [HTTP-35]', async () => {
    const { url } = await serve();
    const headers = {
      ...modernHeaders('tools/call', 'add'),
      'mcp-session-id': 'nonsense',
      'last-event-id': 'nonsense',
    };
    const response = await post(url, modernCall(1, 'add', ADD), headers);
    expect(response.status).toBe(200);
    expect(response.headers.get('mcp-session-id')).toBeNull();
    await response.text();
  });

  it('refuses a posted response with 400 [HTTP-09]', async () => {
    const { url } = await serve();
    const headers = { 'mcp-protocol-version': '2026-07-28' };
    const response = await post(url, { jsonrpc: '2.0', id: 1, result: {} }, headers);
    expect([response.status, (await json(response)).error?.code]).toEqual([400, -32600]);
  });

  it('accepts notifications without the headers of requests [HTTP-10]', async () => {
    const { url } = await serve();
    const { params } = modern(1, 'x');
    const response = await post(url, { jsonrpc: '2.0', method: 'notifications/cancelled', params });
    expect([response.status, await response.text()]).toEqual([202, '']);
  });

  it('answers errors of handlers with 200', async () => {
    const { url } = await serve();
    const response = await post(url, modernCall(1, 'no-such-tool'), modernHeaders('tools/call', 'no-such-tool'));
    expect([response.status, (await json(response)).error?.code]).toEqual([200, -32602]);
  });

  it('can share a connection with a session', async () => {
    const { url } = await serve();
    const session = await openSession(url);
    const [old, young] = await Promise.all([
      post(url, call(1, 'add', ADD), session),
      post(url, modernCall(1, 'add', ADD), modernHeaders('tools/call', 'add')),
    ]);
    expect((await json(old)).result).not.toHaveProperty('resultType');
    expect((await json(young)).result).toHaveProperty('resultType', 'complete');
  });
});

describe('an invalid POST', () => {
  it('that is not JSON is answered with 400 and a JSON-RPC error without details [HTTP-11]', async () => {
    const { url } = await serve();
    for (const body of ['{bad', '', '[1,', '\uFEFF{}']) {
      const response = await post(url, body);
      expect(response.status).toBe(400);
      expect(await response.json()).toEqual({
        jsonrpc: '2.0',
        error: { code: -32700, message: 'The message is not JSON.' },
      });
    }
  });

  it('that is not UTF-8 is rejected with 400, even if a lenient decoder would accept it [HTTP-11]', async () => {
    const { url } = await serve();
    const before = Buffer.from('{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"');
    for (const bytes of [[0xff], [0xf0, 0x9f, 0x98], [0xc0, 0xaf], [0xed, 0xa0, 0x80]]) {
      const response = await post(url, Buffer.concat([before, Buffer.from(bytes), Buffer.from('"}}')]));
      expect([response.status, (await json(response)).error?.code]).toEqual([400, -32700]);
    }
    expect((await post(url, Buffer.from('{"jsonrpc":"2.0"}', 'utf16le'))).status).toBe(400);
  });

  it('that is not a message is rejected with 400 and -32600 [HTTP-11]', async () => {
    const { url } = await serve();
    for (const body of ['1', 'null', '"x"', '[]', '[{"jsonrpc":"2.0","id":1,"method":"ping"}]']) {
      const response = await post(url, body);
      expect([response.status, (await json(response)).error?.code]).toEqual([400, -32600]);
    }
  });

  it('with 12,000 levels of nesting is rejected with 400', async () => {
    const { url } = await serve();
    const deep = `${'{"a":'.repeat(12_000)}1${'}'.repeat(12_000)}`;
    const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","arguments":${deep}}}`;
    const response = await post(url, body, await openSession(url));
    expect([response.status, (await json(response)).error?.code]).toEqual([400, -32600]);
  });

  it('with a malformed notification is rejected with 400 [HTTP-11]', async () => {
    const { url } = await serve();
    const response = await post(url, { jsonrpc: '2.0', method: 'x', params: [1] }, await openSession(url));
    expect([response.status, (await json(response)).error?.code]).toEqual([400, -32602]);
  });

  it('with another content type is rejected with 415', async () => {
    const { url } = await serve();
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'application/xml',
    ]) {
      const response = await post(url, INITIALIZE, { 'content-type': type });
      expect([response.status, (await json(response)).error?.code]).toEqual([415, -32600]);
    }
    const [none] = await raw(url, 'POST', {}, JSON.stringify(INITIALIZE));
    expect(none.statusCode).toBe(415);
    expect((await post(url, INITIALIZE, { 'content-type': 'application/json; charset=utf-8' })).status).toBe(200);
  });

  it('above the body limit is rejected with 413, with or without a Content-Length', async () => {
    const { url } = await serve({ limits: { bodyLimit: 1000 } });
    const body = JSON.stringify(call(1, 'add', { a: 'x'.repeat(1000) }));
    const response = await post(url, body);
    expect([response.status, (await json(response)).error?.code]).toEqual([413, -32600]);
    const headers = { 'content-type': 'application/json', 'transfer-encoding': 'chunked' };
    expect((await raw(url, 'POST', headers, body))[0].statusCode).toBe(413);
  });

  it('that accepts neither JSON nor event streams is rejected with 406, but one of them is enough', async () => {
    const { url } = await serve();
    for (const accept of ['text/html', 'image/*', 'application/json;q=0', '']) {
      const response = await post(url, INITIALIZE, { accept });
      expect([accept, response.status]).toEqual([accept, 406]);
    }
    for (const accept of [
      '*/*',
      'application/json',
      'text/event-stream, application/json',
      'Application/*',
      'a/b, */*;q=0.1',
    ]) {
      expect((await post(url, INITIALIZE, { accept })).status).toBe(200);
    }
    const [none] = await raw(url, 'POST', { 'content-type': 'application/json' }, JSON.stringify(INITIALIZE));
    expect(none.statusCode).toBe(200);
  });

  it('does not include one that accepts only streams: even a lone response is streamed [HTTP-12]', async () => {
    const { url } = await serve();
    const session = await openSession(url);
    const response = await post(url, call(1, 'add', ADD), { ...session, accept: 'text/event-stream' });
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    expect((await new EventReader(response).rest()).at(-1)?.message).toMatchObject({ id: 1 });
  });

  it('does not include one that accepts only JSON: its notifications are dropped [HTTP-12]', async () => {
    const { url } = await serve();
    const session = await openSession(url);
    const response = await post(url, call(1, 'steps', {}, TOKEN), { ...session, accept: 'application/json' });
    expect(await json(response)).toMatchObject({ id: 1, result: { content: [{ text: 'done' }] } });
  });

  it('with an unsupported MCP-Protocol-Version is rejected with 400 [HTTP-37]', async () => {
    const { url } = await serve();
    const session = await openSession(url);
    for (const version of ['1.0', '2025-13-01', '__proto__', '2025-11-25, 2025-11-25']) {
      const response = await post(url, request(1, 'ping'), { ...session, 'mcp-protocol-version': version });
      expect([response.status, (await json(response)).error?.code]).toEqual([400, -32600]);
    }
  });

  it('does not include one without MCP-Protocol-Version: a session keeps its revision', async () => {
    const { url } = await serve();
    const { 'mcp-session-id': id } = await openSession(url);
    const response = await post(url, request(1, 'ping'), { 'mcp-session-id': id as string });
    expect([response.status, await json(response)]).toEqual([200, { jsonrpc: '2.0', id: 1, result: {} }]);
  });

  it('is quoted with at most 200 characters in the error', async () => {
    const { url } = await serve();
    const name = 'n'.repeat(90_000);
    const response = await post(url, call(1, name), await openSession(url));
    expect((await response.text()).length).toBeLessThan(1000);
  });

  it('cannot pollute prototypes with __proto__', async () => {
    const { url } = await serve();
    const session = await openSession(url);
    expect((await json(await post(url, call('__proto__', '__proto__'), session))).error?.code).toBe(-32602);
    const poisoned =
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","__proto__":{"polluted":1}}}';
    expect((await post(url, poisoned, session)).status).toBe(400);
    expect(Object.keys(Object.prototype)).toEqual([]);
  });

  it('with an id but no method is rejected with 400 and no id [HTTP-11]', async () => {
    const { url } = await serve();
    const latest = await openSession(url);
    const older = await openSession(url, {}, '2025-06-18');
    for (const [headers, id] of [
      [modernHeaders('ping'), undefined],
      [latest, undefined],
      [older, null],
    ] as const) {
      const response = await post(url, { jsonrpc: '2.0', id: 5 }, headers);
      const { error, ...rest } = await json(response);
      expect([response.status, error?.code, rest.id]).toEqual([400, -32600, id]);
    }
  });
});
