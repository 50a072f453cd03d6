import { once } from 'node:events';

import { describe, expect } from '@jest/globals';
import { type Context, McpError, McpServer, Resource } from '@decorum/core';
import { fetchHandler } from '@decorum/http/fetch';

import { EventReader, type ServerEvent } from '../../packages/http/test/events.js';
import { afterwards, call, createServer, json, Probe, request, serve } from '../../packages/http/test/fixture.js';
import { overHttp, statelessHeaders } from '../support/http-transports.js';
import { RawClient, textOf } from '../support/raw-client.js';
import { eachSessionRevision, inStateless, type Revision } from '../support/requirements.js';
import { called } from '../support/stateless-post.js';
import { ADD, carried, HttpClient, SseClient, TOKEN } from './http-client.js';
import { recorded } from './recorded.js';

const LET_GO = { result: { content: [{ text: 'let go' }] } };
const CHANGED = 'notifications/tools/list_changed';
const UPDATED = 'notifications/resources/updated';

/** Connects a client. In session revisions it is subscribed to a resource. */
async function connect(revision: Revision, options: Parameters<typeof serve>[0] = {}) {
  const served = await serve(options);
  const client = await HttpClient.open(served.url, revision);
  const update = () => served.server.notify.resourceUpdated('docs://guide');
  if (!client.stateless) {
    await (await client.post(client.buildMessage(0, 'resources/subscribe', { uri: 'docs://guide' }))).text();
  }
  return { ...served, client, update };
}

/** The notifications of a subscription. */
const WANTED = { toolsListChanged: true, resourceSubscriptions: ['docs://guide'] };

/** Opens the stream of a subscription. */
async function subscribe(client: HttpClient): Promise<EventReader> {
  const message = client.buildMessage('sub', 'subscriptions/listen', { notifications: WANTED });
  const reader = new EventReader(await client.post(message));
  expect((await reader.message()).message?.method).toBe('notifications/subscriptions/acknowledged');
  return reader;
}

describe('the GET stream', () => {
  eachSessionRevision('HTTP-28', 'is an event stream, or 405 if there is none', async (revision) => {
    const { client } = await connect(revision);
    const { response } = await client.listen();
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
    for (const [accept, status] of [
      ['*/*', 200],
      ['Text/*', 200],
      ['application/json;q=0, text/event-stream;q=0.1', 200],
      ['application/json', 406],
      ['text/event-stream;q=0', 406],
      ['', 406],
    ] as const) {
      const got = await client.get({ accept });
      expect([accept, got.status]).toEqual([accept, status]);
      await got.body?.cancel();
    }
    const without = HttpClient.alone((await serve({ sessions: false })).url, revision);
    const refused = await without.get();
    expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'POST']);
  });

  eachSessionRevision('HTTP-29', 'has the messages that belong to no request', async (revision) => {
    const { client, server, update } = await connect(revision);
    const listening = await client.listen();
    update();
    expect((await listening.message()).message?.method).toBe(UPDATED);
    server.notify.toolsChanged();
    expect((await listening.message()).message?.method).toBe(CHANGED);
    const { toolsChanged, promptsChanged, resourcesChanged } = server.notify;
    for (const [change, method] of [
      [promptsChanged, 'notifications/prompts/list_changed'],
      [resourcesChanged, 'notifications/resources/list_changed'],
      [toolsChanged, CHANGED],
      [update, UPDATED],
    ] as const) {
      change();
      expect((await listening.message()).message?.method).toBe(method);
    }
  });

  eachSessionRevision('HTTP-30', 'has no messages that belong to a request', async (revision) => {
    const { client, server, probe } = await connect(revision);
    const listening = await client.listen();
    const began = once(probe, 'began');
    const lost = new AbortController();
    const running = await client.stream('lost', 'stream', { signal: lost.signal });
    await began;
    expect(carried([await running.message()])).toEqual([1]);
    // not even without a reader for the stream of the request
    lost.abort();
    probe.contexts[0]?.progress(2);
    probe.contexts[0]?.log.error('unheard');
    void probe.contexts[0]?.ping().catch(() => {});
    expect(carried(await (await client.stream(5, 'steps')).rest())).toEqual([1, 2, 3, 5]);
    // nor once the server has noticed it
    for (let turn = 0; turn < 3; turn += 1) {
      expect(await client.status()).toBe(200);
      probe.contexts[0]?.progress(3 + turn);
      probe.contexts[0]?.log.error('unheard');
    }
    server.addTool(
      { name: 'reach', input: { type: 'object' } },
      async (_input: object, context) => await context.ping(),
    );
    expect((await listening.message()).message?.method).toBe(CHANGED);
    const asking = await client.stream(6, 'reach');
    const { message: question } = await asking.message();
    expect(question).toMatchObject({ method: 'ping', id: expect.anything() });
    probe.emit('go');
    server.notify.toolsChanged();
    expect((await listening.message()).message?.method).toBe(CHANGED);
    expect(await client.end()).toBe(204);
    expect(carried(await listening.rest())).toEqual([]);
  });

  eachSessionRevision('HTTP-31', 'has no responses, except on a resumed stream', async (revision) => {
    const { client, server, probe } = await connect(revision);
    const listening = await client.listen();
    const began = once(probe, 'began');
    const controller = new AbortController();
    const lost = await client.stream('lost', 'stream', { signal: controller.signal });
    await began;
    const { id } = await lost.message();
    controller.abort();
    expect((await json(await client.call('json', 'add', { args: ADD }))).id).toBe('json');
    expect(carried(await (await client.stream('events', 'steps')).rest()).at(-1)).toBe('events');
    probe.emit('go');
    const resumed = await client.listen(id);
    expect((await resumed.message()).message).toMatchObject({ id: 'lost', ...LET_GO });
    server.notify.toolsChanged();
    expect(await listening.message()).toMatchObject({ message: { method: CHANGED } });
    expect(await client.end()).toBe(204);
    expect(carried(await listening.rest())).toEqual([]);
  });

  eachSessionRevision('HTTP-32', 'may be ended by the server, without an error', async (revision) => {
    const { client, close } = await connect(revision);
    const listening = await client.listen();
    await close();
    expect([carried(await listening.rest()), listening.ended]).toEqual([[], true]);
  });

  eachSessionRevision(
    'HTTP-33',
    'may exist several times, and each message is sent on exactly one',
    async (revision) => {
      const { client, server, update } = await connect(revision);
      const other = await HttpClient.open(client.url, revision);
      const [first, second] = [await client.listen(), await client.listen()];
      const others = await other.listen();
      for (let n = 0; n < 3; n++) {
        update();
        server.notify.toolsChanged();
        // simultaneous changes are coalesced
        expect((await others.message()).message?.method).toBe(CHANGED);
      }
      expect(await client.end()).toBe(204);
      const all = [...carried(await first.rest()), ...carried(await second.rest())];
      const one = Array.from({ length: 3 }, () => [UPDATED, CHANGED]).flat();
      expect(all).toEqual(one);
    },
  );
});

describe('a GET stream that was lost', () => {
  eachSessionRevision('HTTP-33', 'has none of the messages that another one has', async (revision) => {
    const { client, server, update } = await connect(revision);
    const lost = await client.listen();
    update();
    const { id } = await lost.message();
    await lost.cancel();
    const other = await client.listen();
    let sent = 0;
    const heard: ServerEvent[] = [];
    const hearing = other.message().then((event) => heard.push(event));
    // until the server has noticed that the first stream is lost
    for (; heard.length === 0; await new Promise(setImmediate)) {
      update();
      sent += 1;
    }
    await hearing;
    const back = await client.listen(id);
    server.notify.toolsChanged();
    let replayed = 0;
    while ((await back.message()).message?.method === UPDATED) replayed += 1;
    expect(await client.end()).toBe(204);
    const rest = [...carried(await other.rest()), ...carried(await back.rest())];
    // the other stream repeats what its reader has
    expect(replayed + heard.length + rest.length).toBe(sent);
  });
});

describe('GET and DELETE', () => {
  inStateless('HTTP-34', 'are answered with 405', async () => {
    for (const sessions of [true, false]) {
      const { client } = await connect('2026-07-28', { sessions });
      for (const method of ['GET', 'DELETE']) {
        const headers = { accept: 'text/event-stream', ...client.headers };
        for (const all of [headers, { ...headers, 'mcp-session-id': 'any', 'last-event-id': 'any' }]) {
          const response = await fetch(client.url, { method, headers: all });
          expect([method, response.status, response.headers.get('allow')]).toEqual([method, 405, 'POST']);
        }
      }
    }
    // not even the id of a session makes a difference, and nothing happens to the session
    const { client, url } = await connect('2025-11-25');
    for (const method of ['GET', 'DELETE']) {
      const headers = { accept: 'text/event-stream', ...client.headers, 'mcp-protocol-version': '2026-07-28' };
      expect([method, (await fetch(url, { method, headers })).status]).toEqual([method, 405]);
    }
    expect(await client.status()).toBe(200);
  });

  inStateless('HTTP-35', 'are not used, and neither are session ids and Last-Event-ID', async () => {
    const { client, url } = await connect('2026-07-28');
    const session = await HttpClient.open(url, '2025-11-25');
    for (const id of ['nonsense', session.headers['mcp-session-id'] as string]) {
      const headers = { 'mcp-session-id': id, 'last-event-id': 'nonsense' };
      for (const name of ['add', 'steps']) {
        const response = await client.call(1, name, { args: name === 'add' ? ADD : {}, meta: TOKEN, headers });
        expect([response.status, response.headers.get('mcp-session-id')]).toEqual([200, null]);
        expect(await response.text()).toContain('"resultType":"complete"');
      }
      const listening = await client.post(
        client.buildMessage('sub', 'subscriptions/listen', { notifications: WANTED }),
        headers,
      );
      expect([listening.status, listening.headers.get('mcp-session-id')]).toEqual([200, null]);
      await listening.body?.cancel();
    }
  });
});

describe('a client that disconnects', () => {
  eachSessionRevision(
    'HTTP-21',
    'cancels nothing: the handler completes, and its response is kept',
    async (revision) => {
      const { client, probe } = await connect(revision);
      for (const name of ['wait', 'stream']) {
        const controller = new AbortController();
        const began = once(probe, 'began');
        const pending = client.call(name, name, { meta: TOKEN, signal: controller.signal });
        await began;
        const reader = name === 'stream' ? new EventReader(await pending) : undefined;
        const last = await reader?.message();
        controller.abort();
        if (!reader) await expect(pending).rejects.toThrow('aborted');
        // on new connections, because the earlier ones are closed
        for (let n = 0; n < 3; n++) expect(await client.status()).toBe(200);
        expect(probe.contexts.at(-1)?.signal.aborted).toBe(false);
        probe.emit('go');
        if (last)
          expect((await (await client.listen(last.id)).message()).message).toMatchObject({ id: name, ...LET_GO });
      }
      expect(probe.aborted).toBe(0);
    },
  );

  eachSessionRevision('HTTP-21', 'cancels nothing if the server keeps no sessions either', async (revision) => {
    const { url, probe } = await serve({ sessions: false });
    const client = HttpClient.alone(url, revision);
    for (const name of ['wait', 'stream']) {
      const controller = new AbortController();
      const began = once(probe, 'began');
      const pending = client.call(name, name, { meta: TOKEN, signal: controller.signal });
      await began;
      if (name === 'stream') await pending;
      controller.abort();
      await pending.catch(() => {});
      for (let n = 0; n < 3; n++) expect((await client.post(client.buildMessage(n, 'ping'))).status).toBe(200);
      expect([name, probe.contexts.at(-1)?.signal.aborted, probe.aborted]).toEqual([name, false, 0]);
    }
    probe.emit('go');
  });

  /** Starts a call and drops its connection. Resolves when the handler is aborted. */
  async function dropped(client: HttpClient, probe: Probe, name: string): Promise<{ context: Context; ms: number }> {
    const controller = new AbortController();
    const began = once(probe, 'began');
    const pending = client.call(name, name, { meta: TOKEN, signal: controller.signal });
    await began;
    if (name === 'stream') await new EventReader(await pending).message();
    const aborted = once(probe, 'aborted');
    const since = performance.now();
    controller.abort();
    await pending.catch(() => {});
    await aborted;
    return { context: probe.contexts.at(-1) as Context, ms: performance.now() - since };
  }

  inStateless('HTTP-22', 'cancels its request and no other', async () => {
    const { client, probe } = await connect('2026-07-28');
    const began = once(probe, 'began');
    const staying = client.call('stays', 'wait');
    await began;
    for (const name of ['wait', 'stream']) {
      expect((await dropped(client, probe, name)).context.signal.aborted).toBe(true);
    }
    expect(probe.contexts.map(({ signal }) => signal.aborted)).toEqual([false, true, true]);
    probe.emit('go');
    expect(await json(await staying)).toMatchObject({ id: 'stays', ...LET_GO });
  });

  inStateless('HTTP-22', 'cancels its request, however a host of web requests tells it', async () => {
    const probe = new Probe();
    const { server } = createServer(probe);
    const handler = fetchHandler(server);
    afterwards(async () => {
      await handler.close();
      await server.close();
    });
    const message = called(1, 'stream', TOKEN);
    const headers = { 'content-type': 'application/json', accept: 'text/event-stream', ...statelessHeaders(message) };
    const waiting = called(2, 'wait');
    const plain = { ...headers, accept: 'application/json, text/event-stream', ...statelessHeaders(waiting) };
    const leaving = new AbortController();
    const posted = { method: 'POST', headers: plain, body: JSON.stringify(waiting), signal: leaving.signal };
    const [began, ended] = [once(probe, 'began'), once(probe, 'aborted')];
    void handler(new Request('http://localhost/mcp', posted));
    await began;
    leaving.abort();
    await ended;
    for (const leave of ['aborts the request', 'cancels the response'] as const) {
      const controller = new AbortController();
      const init = { method: 'POST', headers, body: JSON.stringify(message), signal: controller.signal };
      const { body } = await handler(new Request('http://localhost/mcp', init));
      const { signal } = probe.contexts.at(-1) as Context;
      expect(signal.aborted).toBe(false);
      const aborted = once(probe, 'aborted');
      if (leave === 'aborts the request') controller.abort();
      else await body?.cancel();
      await aborted;
      expect([leave, signal.aborted]).toEqual([leave, true]);
    }
    probe.emit('go');
  });

  inStateless('HTTP-23', 'gets nothing more', async () => {
    const probe = new Probe();
    const { server, errors } = createServer(probe);
    const { url, written } = await recorded(server);
    const client = await HttpClient.open(url, '2026-07-28');
    for (const name of ['wait', 'stream']) {
      const { context } = await dropped(client, probe, name);
      const before = written.length;
      for (const step of [2, 3]) context.progress(step);
      context.log.error('too late');
      probe.emit('go');
      // once a later request has ended, this one has too
      await json(await client.call('next', 'add', { args: ADD }));
      const after = written.slice(before).join('\n');
      expect(after).not.toMatch(/progress|too late|let go/);
      expect(after).not.toContain(`"id":"${name}"`);
      expect(written.at(-1)).toContain('"next"');
      // nor has it got a response as it was cancelled
      expect(written.join('\n')).not.toContain(`"id":"${name}"`);
    }
    expect(errors).toEqual([]);
  });

  inStateless('HTTP-23', 'gets nothing more, although a host of web requests waits for a response', async () => {
    const probe = new Probe();
    const { server } = createServer(probe);
    const handler = fetchHandler(server);
    afterwards(async () => {
      await handler.close();
      await server.close();
    });
    for (const meta of [undefined, TOKEN]) {
      const message = called(1, 'wait', meta);
      const accept = 'application/json, text/event-stream';
      const headers = { 'content-type': 'application/json', accept, ...statelessHeaders(message) };
      const controller = new AbortController();
      const init = { method: 'POST', headers, body: JSON.stringify(message), signal: controller.signal };
      const [began, aborted] = [once(probe, 'began'), once(probe, 'aborted')];
      const answering = handler(new Request('http://localhost/mcp', init));
      await began;
      controller.abort();
      await aborted;
      probe.contexts.at(-1)?.progress(2);
      probe.emit('go');
      expect(await (await answering).text()).toBe('');
    }
  });

  inStateless('HTTP-24', 'stops its handler at once', async () => {
    const { client, probe } = await connect('2026-07-28');
    for (const name of ['wait', 'stream']) expect((await dropped(client, probe, name)).ms).toBeLessThan(1000);
  });
});

describe('a stream without a session', () => {
  inStateless('HTTP-25', 'has no requests to the client, although it is asked questions', async () => {
    const server = new McpServer({ name: 'asking', version: '1' });
    server.addTool({ name: 'ask', input: { type: 'object' } }, async (_input: object, context) => {
      const schema = { type: 'object', properties: { name: { type: 'string' } } };
      context.progress(1);
      const { action } = await context.elicit(schema, { message: 'Your name?' });
      const roots = await context.roots();
      return `${action} ${roots.length}`;
    });
    const answers = {
      'elicitation/create': () => ({ result: { action: 'accept', content: { name: 'Ada' } } }),
      'roots/list': () => ({ result: { roots: [] } }),
    };
    const capabilities = { elicitation: {}, roots: {} };
    const client = await RawClient.connect(server, { revision: '2026-07-28', answers, capabilities }, overHttp);
    const result = await client.result('tools/call', { name: 'ask', arguments: {}, _meta: TOKEN });
    expect(textOf(result)).toBe('accept 0');
    expect(client.questions.map(({ method }) => method)).toEqual(['elicitation/create', 'roots/list']);
    expect(client.of('notifications/progress').length).toBeGreaterThan(0);
    for (const message of client.received) expect('method' in message && 'id' in message).toBe(false);
    await server.close();
  });

  inStateless('HTTP-26', 'is not buffered by proxies', async () => {
    const { client } = await connect('2026-07-28');
    const { response } = await client.stream(1, 'steps');
    for (const { headers } of [response, (await subscribe(client)).response]) {
      expect(headers.get('x-accel-buffering')).toBe('no');
      expect(headers.get('cache-control')).toBe('no-cache, no-transform');
    }
  });

  inStateless('HTTP-27', 'has keep-alive comments', async () => {
    const { client } = await connect('2026-07-28', { keepAliveMs: 10 });
    const reader = await subscribe(client);
    for (let n = 0; n < 2; n++) expect((await reader.next())?.comment).toBe('keep-alive');
    // also during a call, before and after it has sent something
    const { client: other, probe } = await connect('2026-07-28', { keepAliveMs: 10 });
    const calling = await other.stream('calls', 'stream');
    await calling.message();
    for (let n = 0; n < 2; n++) expect((await calling.next())?.comment).toBe('keep-alive');
    const silent = new EventReader(await other.call('waits', 'wait'));
    for (let n = 0; n < 2; n++) expect((await silent.next())?.comment).toBe('keep-alive');
    probe.emit('go');
    expect((await silent.message()).message).toMatchObject({ id: 'waits', ...LET_GO });
  });

  inStateless('HTTP-36', 'has no event ids, and cannot be resumed', async () => {
    const { client, server, probe } = await connect('2026-07-28');
    const subscription = await subscribe(client);
    server.notify.toolsChanged();
    const began = once(probe, 'began');
    const polled = client.call('poll', 'poll', { meta: TOKEN });
    await began;
    const steps = await (await client.stream('steps', 'steps')).rest();
    probe.emit('go');
    expect(await json(await polled)).toMatchObject({ id: 'poll', ...LET_GO });
    for (const event of [await subscription.message(), ...steps]) {
      expect(Object.keys(event)).toEqual(expect.arrayContaining(['data']));
      expect(event).not.toHaveProperty('id');
      expect(event).not.toHaveProperty('retry');
    }
    expect((await client.get({ 'last-event-id': 'p00000000-1' })).status).toBe(405);
  });

  inStateless('HTTP-43', 'or with one: errors of handlers are answered with 200', async () => {
    const { client } = await connect('2026-07-28');
    const unknown = await client.call(1, 'no-such-tool');
    expect([unknown.status, (await json(unknown)).error?.code]).toEqual([200, -32602]);
    const failed = await client.call(2, 'fail');
    expect([failed.status, (await json(failed)).result?.isError]).toEqual([200, true]);
  });

  inStateless('HTTP-43', 'has 200 for every error that a handler chooses, at once or later', async () => {
    const { client, server } = await connect('2026-07-28');
    const kinds = ['parse-error', 'invalid-request', 'method-not-found', 'invalid-params', 'internal-error'] as const;
    const more = ['unknown-tool', 'unknown-resource', 'invalid-cursor', 'unsupported-version', 'closing'] as const;
    for (const kind of [...kinds, ...more, 'too-many-requests', 4711, -32700, -32601, -32603] as const) {
      const deny = (): string => {
        throw new McpError(kind, 'No.');
      };
      const input = { type: 'object' } as const;
      server.addTool({ name: `${kind}`, input }, deny);
      server.addTool({ name: `${kind}-later`, input }, async () => await Promise.resolve().then(deny));
      class Denied {
        @Resource(`deny://${kind}`)
        resource() {
          return deny();
        }
      }
      server.addProvider(Denied);
      for (const message of [
        client.buildMessage(1, 'tools/call', { name: `${kind}` }),
        client.buildMessage(0, 'tools/call', { name: `${kind}-later` }),
        client.buildMessage('', 'resources/read', { uri: `deny://${kind}` }),
      ]) {
        const response = await client.post(message);
        expect([kind, response.status, await json(response)]).toMatchObject([kind, 200, { id: message.id, error: {} }]);
      }
    }
  });
});

/** HTTP+SSE, the other transport of 2024-11-05: its stream is the connection. */
async function oldStreamEnds(): Promise<void> {
  const { url, probe, close } = await serve({ legacySse: true });
  const [gone, client] = [
    await SseClient.open(new URL('/sse', url).href),
    await SseClient.open(new URL('/sse', url).href),
  ];
  // the client closes, and its requests are cancelled
  const first = once(probe, 'began');
  await gone.send(call('first', 'wait'));
  await first;
  const aborted = once(probe, 'aborted');
  await gone.reader.cancel();
  await aborted;
  expect((await gone.send(request(1, 'ping'))).status).toBe(404);
  // the server closes
  const began = once(probe, 'began');
  await client.send(call('last', 'wait'));
  await began;
  const closing = close();
  probe.emit('go');
  expect((await client.reader.rest()).map(({ message }) => message)).toMatchObject([{ id: 'last', ...LET_GO }]);
  await closing;
  await expect(client.send(request(1, 'ping'))).rejects.toThrow('fetch failed');
}

describe('the end of a server', () => {
  eachSessionRevision('HTTP-40', 'waits for requests in flight, and then closes every connection', async (revision) => {
    const { client, probe, close } = await connect(revision);
    const listening = await client.listen();
    const began = once(probe, 'began');
    const pending = client.call('last', 'wait');
    await began;
    const closing = close();
    expect([carried(await listening.rest()), listening.ended]).toEqual([[], true]);
    probe.emit('go');
    expect(await json(await pending)).toMatchObject({ id: 'last', ...LET_GO });
    await closing;
    await expect(client.status()).rejects.toThrow('fetch failed');
    if (revision === '2024-11-05') await oldStreamEnds();
  });

  eachSessionRevision('HTTP-44', 'or of a session ends its streams early', async (revision) => {
    const { client, probe } = await connect(revision);
    const began = once(probe, 'began');
    const reader = await client.stream(1, 'stream');
    await began;
    const { id } = await reader.message();
    expect(await client.end()).toBe(204);
    const rest = await reader.rest();
    expect([carried(rest), reader.ended]).toEqual([[1], true]);
    expect(rest.at(-1)?.message).toMatchObject({ id: 1, error: { code: -32600 } });
    expect(probe.aborted).toBe(1);
    expect((await client.get({ 'last-event-id': id as string })).status).toBe(404);
  });
});
