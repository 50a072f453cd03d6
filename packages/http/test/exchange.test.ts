import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { describe, expect, it } from '@jest/globals';
import { type Context, NoInput } from '@decorum/core';
import { type Auth, type Denial, MemorySessionStore } from '@decorum/http';
import { fetchHandler } from '@decorum/http/fetch';
import { nodeHandler } from '@decorum/http/node';

import { EventReader, getStream } from './events.js';
import {
  afterwards,
  whenBegun,
  call,
  createServer,
  type Fields,
  INITIALIZE,
  json,
  kernelOf,
  modernCall,
  modernHeaders,
  openSession,
  post,
  Probe,
  request,
  serve,
  serveSession,
} from './fixture.js';

/** The sessions that the kernel tells of changes. */
interface Insides {
  readonly parts: { readonly events: { readonly listeners: { readonly size: number } } };
}

/** The streams of the session that a request in flight belongs to. */
interface InFlight {
  readonly exchanges: ReadonlySet<{
    readonly wire: { readonly owner: object; readonly session: { readonly streams: unknown[] | undefined } };
  }>;
}

const ADD = { a: 1, b: 2 };
const TOKEN = { progressToken: 1 };
const EVENTS = { accept: 'text/event-stream' };
const JSON_ONLY = { accept: 'application/json' };

describe('an error of the endpoint', () => {
  it('says what is wrong with the request', async () => {
    const { url, session } = await serveSession();
    const errorOf = async (...[message, headers]: [unknown, Record<string, string>?]) => {
      const response = await post(url, message, headers);
      return [response.status, (await json(response)).error?.message];
    };
    const response = { jsonrpc: '2.0', id: 1, result: {} };
    expect(await errorOf(request(1, 'ping'), { ...session, accept: 'image/png' })).toEqual([
      406,
      'The Accept header of a POST must allow application/json or text/event-stream.',
    ]);
    expect(await errorOf(response, modernHeaders('x'))).toEqual([400, 'A response is valid only within a session.']);
    expect(await errorOf(INITIALIZE, session)).toEqual([400, 'The session is already initialized.']);
    const missing = 'The Mcp-Session-Id header is missing. Send `initialize` to start a session.';
    expect(await errorOf(response)).toEqual([400, missing]);
    for (const body of ['1', '"text"', 'true', 'null']) {
      expect([body, ...(await errorOf(body))]).toEqual([body, 400, 'The message is not a JSON-RPC 2.0 object.']);
    }
    expect(await errorOf([response], modernHeaders('x'))).toEqual([400, 'The message is not a JSON-RPC 2.0 object.']);
  });
});

describe('a client that accepts', () => {
  it('only JSON still gets questions, on a stream', async () => {
    const { url } = await serve();
    const session = { ...(await openSession(url)), ...JSON_ONLY };
    const reader = new EventReader(await post(url, call(1, 'ask'), session));
    const { message } = await reader.message();
    expect(message).toMatchObject({ method: 'elicitation/create' });
    const answer = { jsonrpc: '2.0', id: message?.id, result: { action: 'decline' } };
    expect((await post(url, answer, session)).status).toBe(202);
    expect((await reader.message()).message).toMatchObject({ id: 1, result: { content: [{ text: 'decline' }] } });
  });
});

describe('the stream of a request', () => {
  it('ends without a response if the client cancels the request', async () => {
    const { url, probe, session } = await serveSession();
    const began = once(probe, 'began');
    const reader = new EventReader(await post(url, call(1, 'stream', {}, TOKEN), session));
    await began;
    expect(
      (await post(url, { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } }, session))
        .status,
    ).toBe(202);
    const sent = (await reader.rest()).flatMap(({ data, message }) => (data === '' ? [] : [message?.method]));
    expect(sent).toEqual(['notifications/progress']);
  });

  it('is forgotten by the session when it has ended', async () => {
    const { url, probe, server, session } = await serveSession();
    const [waiting] = await whenBegun(probe, post(url, call(1, 'wait'), session));
    const { exchanges } = (await kernelOf(server)).inFlight as unknown as InFlight;
    const streams = () => [...exchanges][0]?.wire.session.streams ?? [];
    for (const id of [2, 3]) await (await post(url, call(id, 'steps', {}, TOKEN), session)).text();
    expect(streams()).toEqual([]);
    const open = await getStream(url, session);
    expect(streams()).toHaveLength(1);
    await open.cancel();
    probe.emit('go');
    await waiting;
  });
});

describe('the id of a session', () => {
  it('is sent with the response to initialize only', async () => {
    const { url, session } = await serveSession();
    for (const message of [call(1, 'add', ADD), call(2, 'steps', {}, TOKEN)]) {
      const response = await post(url, message, session);
      expect(response.headers.get('mcp-session-id')).toBeNull();
      await response.text();
    }
    const started = await post(url, INITIALIZE, EVENTS);
    expect(started.headers.get('content-type')).toBe('text/event-stream');
    expect(started.headers.get('mcp-session-id')).toMatch(/^[\x21-\x7e]+$/);
    await started.text();
  });

  it('is looked up only if a request names one, and its record is not written again', async () => {
    const ids: string[] = [];
    let writes = 0;
    class Store extends MemorySessionStore {
      override get(id: string) {
        ids.push(id);
        return super.get(id);
      }

      override set(...args: Parameters<MemorySessionStore['set']>) {
        writes += 1;
        super.set(...args);
      }
    }
    const { url, session } = await serveSession({ sessionStore: new Store() });
    writes = 0;
    await (await post(url, modernCall(1, 'add', ADD), modernHeaders('tools/call', 'add'))).text();
    await (await post(url, request(1, 'ping'), session)).text();
    expect(writes).toBe(0);
    expect(new Set(ids)).toEqual(new Set([session['mcp-session-id']]));
  });
});

describe('initialize', () => {
  it('leaves no session behind if it fails, or if the session cannot be stored [SESS-11]', async () => {
    let writes = 0;
    class Counting extends MemorySessionStore {
      override set(...args: Parameters<MemorySessionStore['set']>) {
        writes += 1;
        super.set(...args);
      }
    }
    const fails = () => {
      throw new Error('no store');
    };
    const failing = request(1, 'initialize', { capabilities: 7 });
    for (const [sessionStore, message] of [
      [new Counting(), failing],
      [Object.assign(new MemorySessionStore(), { set: fails }), INITIALIZE],
      [Object.assign(new MemorySessionStore(), { set: async () => fails() }), INITIALIZE],
    ] as const) {
      const { url, server } = await serve({ sessionStore });
      const kernel = (await kernelOf(server)) as unknown as Insides;
      const response = await post(url, message);
      expect(response.headers.get('mcp-session-id')).toBeNull();
      expect(await json(response)).toHaveProperty('error');
      expect(kernel.parts.events.listeners.size).toBe(0);
    }
    expect(writes).toBe(0);
    const { url, server } = await serve();
    await openSession(url);
    expect(((await kernelOf(server)) as unknown as Insides).parts.events.listeners.size).toBe(1);
  });

  it('is rejected as in the latest revision if it is malformed, without sessions too', async () => {
    const { url } = await serve({ sessions: false });
    const response = await post(url, { ...INITIALIZE, id: {} });
    expect([response.status, await json(response)]).toEqual([400, { jsonrpc: '2.0', error: expect.any(Object) }]);
  });

  it('negotiates the revision in its message, whatever MCP-Protocol-Version declares', async () => {
    for (const options of [{}, { sessions: false }] as const) {
      const { url } = await serve(options);
      for (const version of ['2024-11-05', '2025-11-25']) {
        const response = await post(url, INITIALIZE, { 'mcp-protocol-version': version });
        expect(await json(response)).toMatchObject({ result: { protocolVersion: '2025-11-25' } });
      }
    }
  });
});

describe('a request that has been answered', () => {
  it('leaves its stream alone when an open question times out', async () => {
    const { url, server } = await serve();
    let gaveUp: Promise<unknown> = Promise.resolve();
    server.addTool({ name: 'impatient', input: NoInput }, (_input, ctx) => {
      const question = { message: 'Who?', timeoutMs: 20 };
      gaveUp = ctx.elicit({ type: 'object', properties: {} }, question).catch((error: unknown) => String(error));
      return 'done';
    });
    const session = await openSession(url);
    const events = await new EventReader(await post(url, call(1, 'impatient'), session)).rest();
    expect(events.at(-1)?.message).toMatchObject({ id: 1 });
    expect(await gaveUp).toMatch('did not answer within 20 ms');
    const again = await getStream(url, { ...session, 'last-event-id': events.at(-1)?.id as string });
    expect((await again.rest()).flatMap(({ message }) => message ?? [])).toEqual([]);
  });

  it('can no longer close its stream', async () => {
    const { url, server } = await serve();
    let late: Context | undefined;
    server.addTool({ name: 'keep', input: NoInput }, (_input, ctx) => void (late = ctx));
    for (const [message, headers] of [
      [call(1, 'keep'), await openSession(url)],
      [modernCall(1, 'keep'), modernHeaders('tools/call', 'keep')],
    ] as const) {
      await (await post(url, message, headers)).text();
      expect(() => late?.closeStream()).not.toThrow();
    }
  });

  it('no longer waits for its client to disconnect', async () => {
    const { handler, probe } = handle();
    const abort = new AbortController();
    const listeners = new Set<unknown>();
    const { signal } = abort;
    const headers = { ...HEADERS, ...modernHeaders('tools/call', 'wait') };
    const message = new Request(URL, { method: 'POST', headers, signal, body: JSON.stringify(modernCall(1, 'wait')) });
    const [add, remove] = ['addEventListener', 'removeEventListener'] as const;
    const { [add]: adds, [remove]: removes } = message.signal;
    message.signal[add] = ((type: 'abort', callback: () => void, options: object) => {
      listeners.add(callback);
      adds.call(message.signal, type, callback, options);
    }) as typeof adds;
    message.signal[remove] = ((type: 'abort', callback: () => void) => {
      listeners.delete(callback);
      removes.call(message.signal, type, callback);
    }) as typeof removes;
    const began = once(probe, 'began');
    const response = handler(message);
    await began;
    const before = listeners.size;
    probe.emit('go');
    await (await response).text();
    expect([before > 0, listeners.size]).toEqual([true, 0]);
  });
});

const URL = 'http://localhost/mcp';
const HEADERS: Fields = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

/** An endpoint without a port, so that it can be reached while it closes. */
function handle() {
  const probe = new Probe();
  const { server, errors } = createServer(probe);
  const handler = fetchHandler(server, { closeDeadlineMs: 50 });
  afterwards(() => handler.close());
  const send = async (body: unknown, headers: Fields = {}, method = 'POST') =>
    await handler(
      new Request(URL, {
        method,
        headers: { ...HEADERS, ...headers },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }),
    );
  const open = async (version: string): Promise<Fields> => {
    const params = { protocolVersion: version, capabilities: {}, clientInfo: { name: 'test', version: '1' } };
    const response = await send(request(0, 'initialize', params));
    return { 'mcp-session-id': response.headers.get('mcp-session-id') as string };
  };
  const start = async (body: unknown, headers: Fields) => {
    const began = once(probe, 'began');
    const response = send(body, headers);
    await began;
    return { response };
  };
  return { handler, probe, server, errors, send, open, start };
}

describe('a call that was cancelled, and whose handler still runs', () => {
  it('gets no stream from the keep-alive timer', async () => {
    const { server, send, open, start } = handle();
    const session = await open('2025-11-25');
    const { response } = await start(call(1, 'wait'), session);
    const { inFlight } = await kernelOf(server);
    const [exchange] = (inFlight as unknown as InFlight).exchanges;
    await send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } }, session);
    expect((await response).status).toBe(202);
    for (let count = 0; count < 3; count += 1) inFlight.keepAlive(exchange?.wire.owner as object);
    expect(exchange?.wire.session.streams ?? []).toEqual([]);
  });
});

describe('an endpoint that is closing', () => {
  it('rejects requests, and accepts answers and notifications until its requests have ended', async () => {
    const { handler, probe, send, open, start } = handle();
    const session = await open('2025-11-25');
    const batching = await open('2025-03-26');
    const { response } = await start(call(1, 'wait'), session);
    const closing = handler.close();
    expect((await send([request(4, 'ping')], batching)).status).toBe(503);
    const refused = await send(request(2, 'ping'), session);
    expect([refused.status, (await json(refused)).error?.message]).toEqual([503, 'The server is closing.']);
    // not 404: the session may live in another process
    expect((await send(request(3, 'ping'), { 'mcp-session-id': 'unknown' })).status).toBe(503);
    expect((await send({ jsonrpc: '2.0', method: 'notifications/x' }, session)).status).toBe(202);
    expect((await send({ jsonrpc: '2.0', id: 's1', result: {} }, session)).status).toBe(202);
    for (const body of [1, null]) expect([body, (await send(body, session)).status]).toEqual([body, 400]);
    probe.emit('go');
    expect((await response).status).toBe(200);
    await closing;
    expect((await send({ jsonrpc: '2.0', method: 'notifications/x' }, session)).status).toBe(503);
  });

  it('asks clients to drop the connection with the answer, so that it is not cut between two requests', async () => {
    const probe = new Probe();
    const handler = nodeHandler(createServer(probe).server);
    const listener = createHttpServer(handler);
    listener.listen(0, '127.0.0.1');
    await once(listener, 'listening');
    afterwards(() => void listener.close());
    const url = `http://127.0.0.1:${(listener.address() as AddressInfo).port}`;
    for (const before of [
      await post(url, INITIALIZE),
      await post(url, modernCall(1, 'add', ADD), modernHeaders('tools/call', 'add')),
    ]) {
      expect([before.status, before.headers.get('connection')]).toEqual([200, 'keep-alive']);
      await before.text();
    }
    const [pending] = await whenBegun(probe, post(url, modernCall(1, 'wait'), modernHeaders('tools/call', 'wait')));
    const closing = handler.close();
    probe.emit('go');
    expect([(await pending).status, (await pending).headers.get('connection')]).toEqual([200, 'close']);
    await closing;
  });

  it('answers a batch in flight with 503', async () => {
    const { handler, open, start } = handle();
    const { response } = await start([call(1, 'wait'), request(2, 'ping')], await open('2025-03-26'));
    await handler.close();
    expect((await response).status).toBe(503);
  });
});

describe('a session that ends', () => {
  it.each([
    ['a request', '2025-11-25', call(1, 'wait')],
    ['a batch', '2025-03-26', [call(1, 'wait'), request(2, 'ping')]],
  ])('answers %s in flight with 404', async (_name, version, body) => {
    const { send, open, start } = handle();
    const session = await open(version);
    const { response } = await start(body, session);
    expect((await send(undefined, session, 'DELETE')).status).toBe(204);
    expect((await response).status).toBe(404);
    expect(JSON.stringify(await (await response).json())).toContain('The session has ended.');
  });
});

describe('a challenge', () => {
  it('is in a session if the request names one, or would if sessions were kept, but not if it starts one', async () => {
    const denials: Denial[] = [];
    const auth: Auth = {
      scopes: ['mcp'],
      authenticate: ({ headers: { 'x-scopes': scopes = '' } }) => ({ subject: 'ann', scopes: scopes.split(' ') }),
      challenge: (denial) => ({ status: 400 + denials.push(denial), headers: {} }),
    };
    const write = async (sessions: boolean) => {
      const { url, server } = await serve({ auth, sessions });
      server.addTool({ name: 'write', scopes: ['files:write'], input: NoInput }, () => 'written');
      return url;
    };
    const [url, alone] = [await write(true), await write(false)];
    const session = await openSession(url, { 'x-scopes': 'mcp' });
    const started = await post(url, INITIALIZE, { 'x-scopes': 'other' });
    expect([started.status, started.headers.get('mcp-session-id')]).toEqual([401, null]);
    await post(url, call(1, 'write'), session);
    await post(url, modernCall(1, 'write'), { ...modernHeaders('tools/call', 'write'), 'x-scopes': 'mcp' });
    await post(alone, call(1, 'write'), { 'x-scopes': 'mcp', 'mcp-protocol-version': '2025-11-25' });
    expect(denials.map(({ inSession }) => inSession)).toEqual([false, true, false, true]);
  });
});

describe('an invalid POST', () => {
  it('that is not UTF-8 is rejected with 400, even if a lenient decoder would accept it [HTTP-11]', async () => {
    const { url } = await serve();
    const before = Buffer.from('{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"');
    for (const bytes of [[0xff], [0xf0, 0x9f, 0x98], [0xc0, 0xaf], [0xed, 0xa0, 0x80]]) {
      const response = await post(url, Buffer.concat([before, Buffer.from(bytes), Buffer.from('"}}')]));
      expect([response.status, (await json(response)).error?.code]).toEqual([400, -32700]);
    }
    expect((await post(url, Buffer.from('{"jsonrpc":"2.0"}', 'utf16le'))).status).toBe(400);
  });

  it('is quoted with at most 200 characters in the error', async () => {
    const { url } = await serve();
    const name = 'n'.repeat(90_000);
    const response = await post(url, call(1, name), await openSession(url));
    expect((await response.text()).length).toBeLessThan(1000);
  });

  it('cannot pollute prototypes with __proto__', async () => {
    const { url, session } = await serveSession();
    expect((await json(await post(url, call('__proto__', '__proto__'), session))).error?.code).toBe(-32602);
    const poisoned =
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","__proto__":{"polluted":1}}}';
    expect((await post(url, poisoned, session)).status).toBe(400);
    expect(Object.keys(Object.prototype)).toEqual([]);
  });
});

describe('frames of one tick', () => {
  it('are written together with the response', async () => {
    const { url, server } = await serve();
    server.addTool(
      { name: 'burst', description: 'Reports at once', input: NoInput },
      async (_input: NoInput, ctx: Context) => {
        for (const n of [1, 2, 3]) {
          ctx.progress(n);
          await Promise.resolve();
        }
        return 'done';
      },
    );
    const headers = { 'content-type': 'application/json', ...modernHeaders('tools/call', 'burst') };
    const response = await fetch(url, {
      method: 'POST',
      headers,
      body: JSON.stringify(modernCall(1, 'burst', {}, TOKEN)),
    });
    const chunk = await response.body?.getReader().read();
    expect(new TextDecoder().decode(chunk?.value).match(/^data: /gm)).toHaveLength(4);
  });

  it('escape line breaks and markup', async () => {
    const { url, server } = await serve();
    const text = 'a\r\ndata: {"jsonrpc":"2.0"}\n\nid: 1\n<script>\u2028';
    server.addTool({ name: 'evil', description: 'Breaks lines', input: NoInput }, (_input: NoInput, ctx: Context) => {
      ctx.progress(1, 2, text);
      return text;
    });
    const response = await post(url, modernCall(text, 'evil', {}, TOKEN), modernHeaders('tools/call', 'evil'));
    const events = await new EventReader(response).rest();
    expect(events).toHaveLength(2);
    expect(events[0]?.message?.params).toMatchObject({ message: text });
    expect(events[1]?.message).toMatchObject({ id: text, result: { content: [{ text }] } });
  });
});
