// What an exchange does with requests, in sessions and without, while it closes, and in rounds of questions.
import { EventEmitter, getEventListeners, once } from 'node:events';

import { describe, expect, it, jest } from '@jest/globals';
import {
  type Context,
  type Interceptor,
  type JsonObject,
  McpServer,
  type McpServerOptions,
  MemorySingleUse,
  NoInput,
} from '@decorum/core';
import { listen, MemorySessionStore, type SessionStore } from '@decorum/http';
import { fetchHandler } from '@decorum/http/fetch';
import { nodeHandler } from '@decorum/http/node';
import fc from 'fast-check';

import { decodeHeader } from '../src/endpoint/headers.js';
import { EventReader, getStream } from './events.js';
import {
  afterwards,
  createServer,
  kernelOf,
  listenersOf,
  Probe,
  serve,
  serveNode,
  serveSession,
  whenBegun,
} from './fixture.js';
import {
  ADD,
  call,
  calling,
  cancelOf,
  type Fields,
  INITIALIZE,
  INITIALIZED,
  json,
  modern,
  modernCall,
  modernHeaders,
  request,
  SUM,
  TOKEN,
  WAIT,
} from './messages.js';
import { openSession, post, posted, statusOf } from './sending.js';

/** The streams of the session that a request in flight belongs to. */
interface InFlight {
  readonly exchanges: ReadonlySet<{
    readonly wire: { readonly owner: object; readonly session: { readonly streams: { readonly all: unknown } } };
  }>;
}

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
    expect(await errorOf(INITIALIZE, { 'content-type': 'text/plain' })).toEqual([
      415,
      'The Content-Type must be application/json.',
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
    const session = { ...(await openSession(url)), accept: 'application/json' };
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
    expect(await statusOf(url, session, cancelOf(1))).toBe(202);
    const sent = (await reader.rest()).flatMap(({ data, message }) => (data === '' ? [] : [message?.method]));
    expect(sent).toEqual(['notifications/progress']);
  });
});

describe('the id of a session', () => {
  it('is looked up only if a request names one, and its record is not written again', async () => {
    const get = jest.spyOn(MemorySessionStore.prototype, 'get');
    const set = jest.spyOn(MemorySessionStore.prototype, 'set');
    afterwards(() => jest.restoreAllMocks());
    const { url, session } = await serveSession({ sessionStore: new MemorySessionStore() });
    set.mockClear();
    await (await post(url, ...ADD)).text();
    await (await post(url, request(1, 'ping'), session)).text();
    expect(set).not.toHaveBeenCalled();
    expect(new Set(get.mock.calls.flat())).toEqual(new Set([session['mcp-session-id']]));
  });
});

describe('initialize', () => {
  it('leaves no session behind if it fails, or if the session cannot be stored [SESS-11]', async () => {
    let writes = 0;
    const storing = (set: SessionStore['set']) => Object.assign(new MemorySessionStore(), { set });
    const fails = () => {
      throw new Error('no store');
    };
    for (const [sessionStore, message] of [
      [storing(() => void (writes += 1)), request(1, 'initialize', { capabilities: 7 })],
      [storing(fails), INITIALIZE],
      [storing(async () => fails()), INITIALIZE],
    ] as const) {
      const { url, server } = await serve({ sessionStore });
      const response = await post(url, message);
      expect(response.headers.get('mcp-session-id')).toBeNull();
      expect(await json(response)).toHaveProperty('error');
      expect([await listenersOf(server), writes]).toEqual([0, 0]);
    }
    const { url, server } = await serve();
    await openSession(url);
    expect(await listenersOf(server)).toBe(1);
  });

  it('takes no place if it fails, or if an application has answered it first', async () => {
    let set: SessionStore['set'] = () => {
      throw new Error('no store');
    };
    const sessionStore = Object.assign(new MemorySessionStore(), {
      set: (...all: Parameters<typeof set>) => set(...all),
    });
    const { server, hits, errors } = createServer(new Probe());
    const handler = nodeHandler(server, { sessionStore, limits: { maxSessions: 1 } });
    afterwards(() => handler.close());
    let isLate = false;
    const url = await serveNode((incoming, response) => {
      if (isLate) response.writeHead(504).end('too late');
      handler(incoming, response);
    });
    expect(await statusOf(url, {}, INITIALIZE)).toBe(503);
    set = () => {};
    isLate = true;
    expect(await statusOf(url, {}, INITIALIZE)).toBe(504);
    while (errors.length < 2) await new Promise(setImmediate);
    isLate = false;
    expect([await statusOf(url, {}, INITIALIZE), hits]).toEqual([200, []]);
    // at last there is one that has to make room
    expect([await statusOf(url, {}, INITIALIZE), hits.length]).toEqual([200, 1]);
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

describe('a request that is refused late', () => {
  it('has the status and id of one that is refused at once', async () => {
    const { url, server, session } = await serveSession();
    const access = async () => await Promise.resolve(false);
    server.addTool({ name: 'hidden', input: NoInput, access }, () => 'seen');
    for (const name of ['hidden', 'missing']) {
      const response = await post(url, call(7, name), session);
      expect([response.status, await json(response)]).toMatchObject([200, { id: 7, error: { code: -32602 } }]);
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
    for (const [message, headers] of [[call(1, 'keep'), await openSession(url)], calling('keep')] as const) {
      await (await post(url, message, headers)).text();
      expect(() => late?.closeStream()).not.toThrow();
    }
  });

  it('no longer waits for its client to disconnect', async () => {
    const { handler, probe } = handle();
    const message = posted(...WAIT, { signal: new AbortController().signal });
    const waiting = () => getEventListeners(message.signal, 'abort').length;
    const [response] = await whenBegun(probe, handler(message));
    expect(waiting()).toBeGreaterThan(0);
    probe.emit('go');
    await (await response).text();
    expect(waiting()).toBe(0);
  });
});

/** An endpoint without a port, so that it can be reached while it closes. */
function handle() {
  const probe = new Probe();
  const { server } = createServer(probe);
  const handler = fetchHandler(server, { closeDeadlineMs: 50 });
  afterwards(() => handler.close());
  const send = async (body: unknown, headers: Fields = {}) => await handler(posted(body, headers));
  const open = async (version: string): Promise<Fields> => {
    const params = { protocolVersion: version, capabilities: {}, clientInfo: { name: 'test', version: '1' } };
    const response = await send(request(0, 'initialize', params));
    return { 'mcp-session-id': response.headers.get('mcp-session-id') as string };
  };
  const start = async (body: unknown, headers: Fields) => await whenBegun(probe, send(body, headers));
  return { handler, probe, server, send, open, start };
}

describe('a call that was cancelled, and whose handler still runs', () => {
  it('gets no stream from the keep-alive timer', async () => {
    const { server, send, open, start } = handle();
    const session = await open('2025-11-25');
    const [response] = await start(call(1, 'wait'), session);
    const { inFlight } = await kernelOf(server);
    const [exchange] = (inFlight as unknown as InFlight).exchanges;
    await send(cancelOf(1), session);
    expect((await response).status).toBe(202);
    for (let count = 0; count < 3; count += 1) inFlight.keepAlive(exchange?.wire.owner as object);
    expect(exchange?.wire.session.streams.all).toBeUndefined();
  });
});

const BATCH = [call(1, 'wait'), request(2, 'ping')];

describe('an endpoint that is closing', () => {
  it('rejects requests, and accepts answers and notifications until its requests have ended', async () => {
    const { handler, probe, send, open, start } = handle();
    const session = await open('2025-11-25');
    const batching = await open('2025-03-26');
    const [response] = await start(call(1, 'wait'), session);
    const closing = handler.close();
    const notice = { jsonrpc: '2.0', method: 'notifications/x' };
    for (const [body, headers, status] of [
      [[request(4, 'ping')], batching, 503],
      [request(2, 'ping'), session, 503],
      // not 404: the session may live in another process
      [request(3, 'ping'), { 'mcp-session-id': 'unknown' }, 503],
      [notice, session, 202],
      [{ jsonrpc: '2.0', id: 's1', result: {} }, session, 202],
      [1, session, 400],
      [null, session, 400],
    ] as const) {
      expect([body, (await send(body, headers)).status]).toEqual([body, status]);
    }
    probe.emit('go');
    expect((await response).status).toBe(200);
    await closing;
    expect((await send(notice, session)).status).toBe(503);
  });

  it('asks clients to drop the connection with the answer, so that it is not cut between two requests', async () => {
    const probe = new Probe();
    const handler = nodeHandler(createServer(probe).server);
    const url = await serveNode(handler);
    for (const before of [await post(url, INITIALIZE), await post(url, ...ADD)]) {
      expect([before.status, before.headers.get('connection')]).toEqual([200, 'keep-alive']);
      await before.text();
    }
    const [pending] = await whenBegun(probe, post(url, ...WAIT));
    const closing = handler.close();
    probe.emit('go');
    expect([(await pending).status, (await pending).headers.get('connection')]).toEqual([200, 'close']);
    await closing;
  });

  it('answers a batch in flight with 503', async () => {
    const { handler, open, start } = handle();
    const [response] = await start(BATCH, await open('2025-03-26'));
    await handler.close();
    expect((await response).status).toBe(503);
  });
});

describe('a session that ends', () => {
  it('answers a batch in flight with 404', async () => {
    const { handler, open, start } = handle();
    const headers = await open('2025-03-26');
    const [response] = await start(BATCH, headers);
    const ended = await handler(new Request('http://localhost:3000/mcp', { method: 'DELETE', headers }));
    expect([ended.status, (await response).status]).toEqual([204, 404]);
    expect(JSON.stringify(await (await response).json())).toContain('The session has ended.');
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
    server.addTool({ name: 'burst', input: NoInput }, async (_input, ctx) => {
      for (const n of [1, 2, 3]) {
        ctx.progress(n);
        await Promise.resolve();
      }
      return 'done';
    });
    const response = await post(url, ...calling('burst', {}, TOKEN));
    const chunk = await response.body?.getReader().read();
    expect(new TextDecoder().decode(chunk?.value).match(/^data: /gm)).toHaveLength(4);
  });

  it('escape line breaks and markup', async () => {
    const { url, server } = await serve();
    const text = 'a\r\ndata: {"jsonrpc":"2.0"}\n\nid: 1\n<script>\u2028';
    server.addTool({ name: 'evil', input: NoInput }, (_input, ctx) => {
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

const ofRevision = (id: string) => ({ 'mcp-protocol-version': id });
const LATEST = ofRevision('2025-11-25');

describe('an endpoint without sessions', () => {
  const start = async () => await serve({ sessions: false });

  it('serves each request in the revision of its header', async () => {
    const { url, server } = await start();
    server.addTool({ name: 'titled', title: 'Titled', input: NoInput }, () => '');
    const titleIn = async (id: string) => {
      const { result } = await json(await post(url, request(1, 'tools/list'), ofRevision(id)));
      const tools = result?.['tools'] as { name: string; title?: string }[];
      return tools.find(({ name }) => name === 'titled')?.title;
    };
    const titles = await Promise.all(['2025-11-25', '2025-06-18', '2025-03-26'].map(titleIn));
    expect(titles).toEqual(['Titled', 'Titled', undefined]);
  });

  it('ignores Mcp-Session-Id', async () => {
    const { url } = await start();
    const foreign = { 'mcp-session-id': 'of another server' };
    expect(await statusOf(url, { ...LATEST, ...foreign }, call(1, 'add', SUM))).toBe(200);
    expect(await statusOf(url, foreign, INITIALIZE)).toBe(200);
  });

  it('keeps a response together when a handler closes its stream, because nobody could resume it', async () => {
    const { url, probe } = await start();
    const [response] = await whenBegun(probe, post(url, call(1, 'poll'), LATEST));
    probe.emit('go');
    expect(await json(await response)).toMatchObject({ id: 1, result: { content: [{ text: 'let go' }] } });
  });

  it('streams the notifications of a request without event ids', async () => {
    const { url } = await start();
    const events = await new EventReader(await post(url, call(1, 'steps', {}, TOKEN), LATEST)).rest();
    const progress = 'notifications/progress';
    expect(events.map(({ message }) => message?.method ?? message?.id)).toEqual([progress, progress, progress, 1]);
    for (const event of events) expect(event).not.toHaveProperty('id');
  });

  it('cannot ask its clients questions, whatever they declared in initialize', async () => {
    const { url, server } = await start();
    server.addTool({ name: 'reach', input: NoInput }, async (_input, ctx) => {
      await ctx.ping();
      return 'there';
    });
    await (await post(url, INITIALIZE)).text();
    const text = 'The client cannot be asked: the server keeps no sessions.';
    for (const name of ['reach', 'ask']) {
      const { result } = await json(await post(url, call(1, name), LATEST));
      expect([name, result]).toMatchObject([name, { isError: true, content: [{ text }] }]);
    }
  });

  it('declares only capabilities that work within one request', async () => {
    const capabilities = async (at: string) => (await json(await post(at, INITIALIZE))).result?.['capabilities'];
    expect(await capabilities((await start()).url)).toEqual({ tools: {}, prompts: {}, resources: {} });
    expect(await capabilities((await serve()).url)).toEqual({
      tools: { listChanged: true },
      prompts: { listChanged: true },
      resources: { listChanged: true, subscribe: true },
      logging: {},
    });
  });

  it.each(['resources/subscribe', 'resources/unsubscribe', 'logging/setLevel'])('has no %s', async (method) => {
    const { url } = await start();
    const params = { uri: 'docs://guide', level: 'debug' };
    for (const id of ['2025-03-26', '2025-06-18', '2025-11-25']) {
      const response = await post(url, request(1, method, params), ofRevision(id));
      expect([response.status, (await json(response)).error?.code]).toEqual([200, -32601]);
    }
  });

  it('sends no log messages, because no client can request them', async () => {
    const { url, server } = await start();
    server.addTool({ name: 'speak', input: NoInput }, (_input, ctx) => {
      ctx.log.emergency('fire');
      return 'said';
    });
    const response = await post(url, call(1, 'speak'), LATEST);
    expect(response.headers.get('content-type')).toMatch('application/json');
    expect(await json(response)).toMatchObject({ id: 1, result: { content: [{ text: 'said' }] } });
  });

  it('serves concurrent requests with the same id, and cancels none of them', async () => {
    const { url, probe } = await start();
    const pending: Promise<Response>[] = [];
    for (let n = 0; n < 2; n++) pending.push(...(await whenBegun(probe, post(url, call(1, 'wait'), LATEST))));
    expect(await statusOf(url, LATEST, cancelOf(1))).toBe(202);
    probe.emit('go');
    expect((await Promise.all(pending)).map(({ status }) => status)).toEqual([200, 200]);
    expect(probe.contexts.map(({ sessionId }) => sessionId)).toEqual([undefined, undefined]);
  });

  it('keeps no state of clients', async () => {
    const { url, server } = await start();
    for (const message of [INITIALIZE, INITIALIZED, request(1, 'resources/subscribe', { uri: 'docs://guide' })]) {
      await (await post(url, message)).text();
      expect(await listenersOf(server)).toBe(0);
    }
  });
});

const CAPABILITIES = { 'io.modelcontextprotocol/clientCapabilities': { elicitation: {} } };
const REGION = { type: 'object', properties: { region: { type: 'string', 'x-mcp-header': 'Region' } } };

/** Serves a tool that asks a question. Returns a function that calls it with extra params and headers. */
async function asking(options: Partial<McpServerOptions> = {}, access = () => true) {
  const ran: string[] = [];
  const logger = { warn: () => {}, error: () => {} };
  const server = new McpServer({ name: 'test', version: '1', secret: 'x'.repeat(32), logger, ...options });
  server.addTool({ name: 'ask', input: REGION, access }, async (_input, ctx) => {
    const sure = await ctx.confirm('Sure?');
    ran.push(`sure: ${sure}`);
    return 'done';
  });
  const { url, close } = await listen(server, { port: 0, signals: false });
  afterwards(close);
  const ask = async (more: JsonObject = {}, headers: Fields = {}, signal?: AbortSignal) => {
    const params = { name: 'ask', arguments: { region: 'eu' }, ...more };
    const fields = { ...modernHeaders('tools/call', 'ask'), 'mcp-param-region': 'eu', ...headers };
    const response = await post(url, modern('x', 'tools/call', params, CAPABILITIES), fields, signal);
    const { result, error } = await json(response);
    return { status: response.status, result, error };
  };
  return { server, ask, ran };
}

describe('a state', () => {
  it('for one use is used up by a call that runs, and rejected with 400 then, as a foreign one is', async () => {
    let [admits, allows] = [true, true];
    const busy: Interceptor = async (_call, next) => {
      if (!allows) throw new Error('busy');
      return await next();
    };
    const singleUse = new MemorySingleUse();
    const { ask, ran } = await asking({ singleUse, interceptors: [busy] }, () => admits);
    const requestState = String((await ask()).result?.['requestState']);
    const retry = { requestState, inputResponses: { '#1': { action: 'accept' } } };
    expect((await ask(retry, { 'mcp-param-region': 'us' })).error).toMatchObject({ code: -32020 });
    admits = false;
    expect((await ask(retry)).error).toMatchObject({ code: -32602 });
    admits = true;
    allows = false;
    expect((await ask(retry)).result).toMatchObject({ isError: true });
    allows = true;
    expect((await ask(retry)).result).toMatchObject({ content: [{ text: 'done' }] });
    expect(ran).toEqual(['sure: true']);
    for (const state of [requestState, `${requestState}A`])
      expect(await ask({ ...retry, requestState: state })).toMatchObject({ status: 400, error: { code: -32602 } });
  });
});

describe('an effect that never ends', () => {
  it('is not waited for once the client has disconnected', async () => {
    const begun = new EventEmitter();
    const { server, ask } = await asking();
    server.addTool({ name: 'stuck', input: REGION }, async (_input, ctx) => {
      const effect = () => {
        // emitted in the next turn, when the handler has asked its question
        setImmediate(() => begun.emit('effect'));
        return new Promise<void>(() => {});
      };
      await Promise.all([ctx.once('stuck', effect), ctx.confirm('Sure?')]);
      return 'never';
    });
    const gone = new AbortController();
    const stuck = ask({ name: 'stuck' }, { 'mcp-name': 'stuck' }, gone.signal);
    await Promise.all([once(begun, 'effect').then(() => gone.abort()), expect(stuck).rejects.toThrow('aborted')]);
    const since = performance.now();
    await server.close({ deadlineMs: 20_000 });
    expect(performance.now() - since).toBeLessThan(10_000);
  });
});

const base64 = (text: string) => `=?base64?${Buffer.from(text).toString('base64')}?=`;

describe('an error about a header', () => {
  it('says which header is wrong, and what it has to match', async () => {
    const { url } = await serve();
    const [message, { 'mcp-protocol-version': version = '', ...undeclared }] = ADD;
    const headers = { ...undeclared, 'mcp-protocol-version': version };
    const messageOf = async (of: Fields) => (await json(await post(url, message, of))).error?.message;
    expect(await messageOf(undeclared)).toBe('The MCP-Protocol-Version header is missing.');
    expect(await messageOf({ ...headers, 'mcp-protocol-version': 'v'.repeat(300) })).toMatch(
      /^The MCP-Protocol-Version header is v+…, but the message has 2026-07-28\.$/,
    );
    const differs = 'The Mcp-Method header does not match the message.';
    expect(await messageOf({ ...headers, 'mcp-method': 'x' })).toBe(differs);
    const misnamed = 'The Mcp-Name header does not match the "name" of the message.';
    expect(await messageOf({ ...headers, 'mcp-name': 'x' })).toBe(misnamed);
    const unknown = { ...(await openSession(url)), 'mcp-protocol-version': 'v999.0.0' };
    const answer = await json(await post(url, call('x', 'add', SUM), unknown));
    expect(answer.error?.message).toBe('The MCP-Protocol-Version is not supported.');
  });
});

describe('Mcp-Param-* headers', () => {
  const city = { type: 'string', 'x-mcp-header': 'City' };
  const input = { type: 'object', properties: { place: { type: 'object', properties: { city } } } };

  it('are named in the error, with the path of their argument', async () => {
    const { url, server } = await serve();
    server.addTool({ name: 'mirror', input }, () => 'ok');
    const { error } = await json(await post(url, ...calling('mirror', { place: { city: 'Oslo' } })));
    expect(error?.message).toBe('The mcp-param-city header does not match the argument "place.city".');
  });

  it('are not compared with what every object inherits', async () => {
    const { url, server } = await serve();
    const properties = { constructor: { type: 'string', 'x-mcp-header': 'Maker' } };
    server.addTool({ name: 'make', input: { type: 'object', properties } }, () => 'made');
    expect(await json(await post(url, ...calling('make')))).toMatchObject({ result: { content: [{ text: 'made' }] } });
  });

  it('are ignored in sessions, whose revisions do not have them', async () => {
    const { url, server } = await serve();
    server.addTool({ name: 'mirror', input }, () => 'ok');
    const headers = { ...(await openSession(url)), 'mcp-param-city': 'Bergen' };
    const response = await post(url, call(1, 'mirror', { place: { city: 'Oslo' } }), headers);
    expect(await json(response)).toMatchObject({ result: { content: [{ text: 'ok' }] } });
  });
});

describe('decodeHeader', () => {
  it('decodes any text encoded as base64 [HDR-09]', () => {
    fc.assert(fc.property(fc.string({ unit: 'grapheme' }), (text) => decodeHeader(base64(text)) === text));
  });

  it('ignores the space around a value, which hosts without a parser of their own may pass on', () => {
    for (const value of [' add', 'add\t', ` ${base64('add')} `]) expect(decodeHeader(value)).toBe('add');
  });
});
