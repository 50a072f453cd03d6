// Messages in every revision, and questions to the client: what each is answered with.
import { expect, it } from '@jest/globals';
import type { Context, JsonObject, McpServer } from '@decorum/core';
import { definePlugin } from '@decorum/core/plugin';

import {
  call,
  type Fields,
  json,
  modernCall,
  request,
  cancelOf,
  INITIALIZED,
} from '../../packages/http/test/messages.js';
import { post } from '../../packages/http/test/sending.js';
import { ADD, HttpClient, initialize, SseClient, TOKEN } from '../support/http-client.js';
import {
  begin,
  connectTo,
  inEveryRevision,
  inEverySessionRevision,
  inTheStatelessRevision,
  LET_GO,
  overEveryBinding,
  overEveryHost,
  serveOn,
} from './contract.js';
import { EventReader } from '../../packages/http/test/events.js';
import { LateSessionStore } from '../support/late-stores.js';
import type { SessionRevision } from '../support/requirements.js';

const NOTICE = { jsonrpc: '2.0', method: 'notifications/whatever', params: {} };
const ANSWER = { jsonrpc: '2.0', id: 'nobody asked', result: {} };

/** Holds every message for a turn. */
const LATE = definePlugin(() => ({
  name: 'late',
  observe: async (_request, run) => {
    await Promise.resolve();
    await run();
  },
}))();

/** Posts a request and returns the status, content type and message of the response. */
async function ask(client: HttpClient, method: string, params: JsonObject = {}) {
  const response = await client.post(client.buildMessage(method, method, params));
  return { status: response.status, type: response.headers.get('content-type'), ...(await json(response)) };
}

const OK = { status: 200, type: expect.stringMatching(/^application\/json/) };

overEveryHost('a conversation', (host) => {
  inEverySessionRevision('starts with initialize, and the response has the session id [SESS-01]', async (revision) => {
    const { url } = await serveOn(host);
    const response = await post(url, initialize(revision));
    const id = response.headers.get('mcp-session-id');
    expect([response.status, id]).toEqual([200, expect.stringMatching(/^[\x21-\x7e]{20,}$/)]);
    expect(await json(response)).toMatchObject({ id: 'hello', result: { protocolVersion: revision } });
    const ready = await post(url, INITIALIZED, { 'mcp-session-id': id ?? '' });
    expect([ready.status, await ready.text()]).toEqual([202, '']);
    const other = await HttpClient.open(url, revision);
    expect(other.headers['mcp-session-id']).not.toBe(id);
  });

  inEveryRevision('is at one path, with any query [HTTP-01] [HTTP-02]', async (revision) => {
    const { url } = await connectTo(host, revision);
    for (const query of ['', '?', '?tenant=a&path=/other']) {
      const client = await HttpClient.open(`${url}${query}`, revision);
      expect((await json(await client.call(1, 'add', { args: ADD }))).result?.content?.[0]?.text).toBe('3');
      const got = await client.get();
      expect([query, got.status]).toEqual([query, client.stateless ? 405 : 200]);
      if (!client.stateless) expect(got.headers.get('content-type')).toBe('text/event-stream');
      expect([query, await client.end()]).toEqual([query, client.stateless ? 405 : 204]);
      await got.body?.cancel();
    }
  });

  inTheStatelessRevision('starts with any request and opens no session', async (revision) => {
    const { client } = await connectTo(host, revision);
    const response = await client.post(client.buildMessage(1, 'server/discover'));
    expect([response.status, response.headers.get('mcp-session-id')]).toEqual([200, null]);
    expect((await json(response)).result).toMatchObject({ supportedVersions: expect.arrayContaining([revision]) });
  });

  inEverySessionRevision('ends with DELETE; the session id is unknown from then on', async (revision) => {
    const { client, url } = await connectTo(host, revision);
    const other = await HttpClient.open(url, revision);
    expect([await client.end(), await client.status(), await client.end()]).toEqual([204, 404, 404]);
    expect((await client.get()).status).toBe(404);
    expect(await other.status()).toBe(200);
  });

  inEverySessionRevision('rejects a second initialize [SESS-12]', async (revision) => {
    const { client } = await connectTo(host, revision);
    const again = await client.post(initialize(revision));
    expect([again.status, (await json(again)).error?.code]).toEqual([400, -32600]);
    const { id: _id, ...notification } = initialize(revision);
    for (const other of [{ ...initialize(revision), id: 0 }, { ...initialize(revision), params: {} }, notification]) {
      expect((await client.post(other)).status).toBe(400);
    }
    expect(await client.status()).toBe(200);
  });

  inEverySessionRevision('works without a session id when sessions are off [HTTP-28]', async (revision) => {
    const { url } = await serveOn(host, { sessions: false });
    const hello = await post(url, initialize(revision));
    expect([hello.status, hello.headers.get('mcp-session-id')]).toEqual([200, null]);
    expect((await json(hello)).result).toMatchObject({ protocolVersion: revision });
    const client = HttpClient.alone(url, revision);
    expect((await json(await client.call(1, 'add', { args: ADD }))).result?.content?.[0]?.text).toBe('3');
    for (const method of ['GET', 'DELETE']) {
      const response = await fetch(url, { method, headers: { accept: 'text/event-stream', ...client.headers } });
      expect([method, response.status, response.headers.get('allow')]).toEqual([method, 405, 'POST']);
      await response.text();
    }
  });
});

overEveryHost('a request', (host) => {
  inEveryRevision('gets JSON: a list, a resource, a prompt, a completion', async (revision) => {
    const { client } = await connectTo(host, revision);
    const tools = await ask(client, 'tools/list');
    expect(tools).toMatchObject({ ...OK, id: 'tools/list' });
    expect(tools.result?.['tools']).toContainEqual(expect.objectContaining({ name: 'add' }));
    expect(await ask(client, 'resources/read', { uri: 'docs://guide' })).toMatchObject({
      ...OK,
      result: { contents: [{ uri: 'docs://guide', text: 'large' }] },
    });
    expect(await ask(client, 'prompts/get', { name: 'pack', arguments: { city: 'Oslo' } })).toMatchObject({
      ...OK,
      result: { messages: [{ content: { text: 'What do I need in Oslo?' } }] },
    });
    const ref = { type: 'ref/prompt', name: 'pack' };
    expect(await ask(client, 'completion/complete', { ref, argument: { name: 'city', value: 'O' } })).toMatchObject({
      ...OK,
      result: { completion: { values: ['Oslo', 'Odense'] } },
    });
  });

  inEveryRevision('gets the result of a tool: synchronous, asynchronous or failed', async (revision) => {
    const served = await connectTo(host, revision);
    const { client, probe, errors } = served;
    const now = await client.call('now', 'add', { args: ADD });
    expect([now.status, await json(now)]).toMatchObject([200, { id: 'now', result: { content: [{ text: '3' }] } }]);
    expect(now.headers.get('mcp-session-id')).toBeNull();
    const later = await begin(served, 'later', 'wait');
    // of its own session
    expect(probe.contexts[0]?.sessionId).toBe(client.headers['mcp-session-id']);
    probe.emit('go');
    expect(await json(await later.response)).toMatchObject({ id: 'later', result: LET_GO });
    const failed = await client.call('fails', 'fail');
    const text = await failed.text();
    expect([failed.status, JSON.parse(text)]).toMatchObject([200, { id: 'fails', result: { isError: true } }]);
    expect(text).not.toContain('secret');
    expect(errors).toEqual([expect.objectContaining({ message: 'a secret at /etc/passwd' })]);
  });

  inEveryRevision('gets an error for an unknown method or tool, with the status of its revision', async (revision) => {
    const { client } = await connectTo(host, revision);
    const status = client.stateless ? 404 : 200;
    expect(await ask(client, 'no/method')).toMatchObject({ status, id: 'no/method', error: { code: -32601 } });
    expect(await ask(client, 'tools/call', { name: 'none' })).toMatchObject({ status: 200, error: { code: -32602 } });
  });

  inEveryRevision('passes its headers and address to the handler, but no credentials', async (revision) => {
    const { client } = await connectTo(host, revision, { credentialHeaders: ['X-My-Token'] });
    const names = ['authorization', 'cookie', 'X-API-Key', 'x-auth-token', 'x-amz-security-token', 'x-my-token'];
    const headers = { ...Object.fromEntries(names.map((name) => [name, 'secret'])), 'x-custom': 'yes' };
    const { result } = await json(await client.call(1, 'who', { headers }));
    const { transport } = JSON.parse(result?.content?.[0]?.text ?? '') as { transport: { headers: object } };
    expect(transport).toMatchObject({ kind: 'http', remoteAddress: '127.0.0.1', headers: { 'x-custom': 'yes' } });
    expect(Object.keys(transport.headers).join()).not.toContain(':');
    expect(Object.values(transport.headers)).not.toContain('secret');
  });

  inEveryRevision('gets its own response when many are in flight', async (revision) => {
    const { client } = await connectTo(host, revision);
    const ids = Array.from({ length: 20 }, (_, id) => id);
    const calls = ids.map((id) => client.call(id, 'add', { args: { a: id, b: 1 } }));
    const answers = await Promise.all(calls.map(async (sent) => await json(await sent)));
    const sums = answers.map(({ id, result }) => [id, result?.content?.[0]?.text]);
    expect(sums).toEqual(ids.map((id) => [id, String(id + 1)]));
  });
});

overEveryHost('a notification or a response', (host) => {
  inEveryRevision('gets 202 and no body', async (revision) => {
    const { client } = await connectTo(host, revision);
    for (const message of client.stateless ? [NOTICE] : [NOTICE, ANSWER]) {
      const response = await client.post(message);
      expect([response.status, await response.text(), response.headers.get('content-type')]).toEqual([202, '', null]);
    }
    if (client.stateless) expect((await client.post(ANSWER)).status).toBe(400);
  });

  inEverySessionRevision('can cancel a request, which then gets no response', async (revision) => {
    const served = await connectTo(host, revision);
    const { response } = await begin(served, 1, 'obey');
    expect((await served.client.post(cancelOf(1))).status).toBe(202);
    const cancelled = await response;
    expect([cancelled.status, await cancelled.text()]).toEqual([202, '']);
  });
});

overEveryBinding('a batch', (host) => {
  inEveryRevision('gets an array of responses in 2025-03-26, and 400 in all others [HTTP-08]', async (revision) => {
    const { client } = await connectTo(host, revision);
    const batch = [client.buildMessage(1, 'tools/list'), NOTICE, client.buildMessage(2, 'no/method'), ANSWER];
    const response = await client.post(batch);
    if (revision !== '2025-03-26') {
      expect([response.status, await json(response)]).toMatchObject([400, { error: { code: -32600 } }]);
      return;
    }
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject([
      { id: 1, result: {} },
      { id: 2, error: { code: -32601 } },
    ]);
    const silent = await client.post([NOTICE, ANSWER]);
    expect([silent.status, await silent.text()]).toEqual([202, '']);
    // headers can describe only one message of the stateless revision
    const modern = [request(1, 'ping'), modernCall(2, 'add', ADD)];
    for (const bad of [[], [[]], [initialize(revision), request(1, 'ping')], modern])
      expect((await client.post(bad)).status).toBe(400);
  });
});

overEveryBinding('a batch without requests', (host) => {
  const SILENT = [202, ''];
  const answersOf = async (responses: readonly Response[]) =>
    await Promise.all(responses.map(async (response) => [response.status, await response.text()]));

  it('gets 202 and no body, even if its handling has to wait for a store (#22)', async () => {
    const { url } = await serveOn(host, { sessionStore: new LateSessionStore() });
    for (const others of [[], [NOTICE, ANSWER]]) {
      const begun = await post(url, initialize('2025-03-26'));
      await begun.text();
      const session = { 'mcp-session-id': begun.headers.get('mcp-session-id') as string };
      // the first of its kind is stored
      const silent = await post(url, [...others, INITIALIZED], session);
      const late = await post(url, [INITIALIZED, ...others], session);
      expect(await answersOf([silent, late])).toEqual([SILENT, SILENT]);
    }
  });

  it('gets 202 and no body, even if its handling has to wait for a plugin (#22)', async () => {
    const { url } = await serveOn(host, { legacySse: true }, { plugins: [LATE] });
    const client = await HttpClient.open(url, '2025-03-26');
    const old = await SseClient.open(new URL('/sse', url).href, {}, '2025-03-26');
    const batch = [NOTICE, ANSWER, INITIALIZED];
    expect(await answersOf([await client.post(batch), await old.send(batch)])).toEqual([SILENT, SILENT]);
    // nothing is on the stream before the answer to the next request, not even an empty array
    expect(await old.ask(request(7, 'ping'))).toMatchObject({ id: 7, result: {} });
  });
});

overEveryHost('an answer', (host) => {
  inEveryRevision('is JSON or an event stream, depending on Accept', async (revision) => {
    const { client } = await connectTo(host, revision);
    const kinds = [
      ['application/json', 'application/json'],
      ['text/event-stream', 'text/event-stream'],
      ['*/*', 'application/json'],
    ] as const;
    for (const [accept, type] of kinds) {
      const response = await client.call(1, 'add', { args: ADD, headers: { accept } });
      const found = response.headers.get('content-type')?.split(';')[0];
      expect([accept, response.status, found]).toEqual([accept, 200, type]);
      expect(await response.text()).toContain('"result"');
    }
    const quiet = await client.call(1, 'steps', { meta: TOKEN, headers: { accept: 'application/json' } });
    expect(await json(quiet)).toMatchObject({ id: 1, result: { content: [{ text: 'done' }] } });
  });

  inEveryRevision('is JSON if the request is rejected', async (revision) => {
    const { client, url } = await connectTo(host, revision, { limits: { maxSessions: 1 } });
    const list = client.buildMessage(1, 'tools/list');
    const rejected: (readonly [status: number, response: Response])[] = [
      [400, await client.post('{bad')],
      [403, await client.post(list, { origin: 'http://evil.example' })],
      [406, await client.post(list, { accept: 'text/html' })],
      [415, await client.post(list, { 'content-type': 'text/plain' })],
    ];
    if (!client.stateless) {
      await client.listen();
      rejected.push([404, await client.post(list, { 'mcp-session-id': 'unknown' })]);
      rejected.push([503, await post(url, initialize(revision))]);
    }
    for (const [status, response] of rejected) {
      const type = response.headers.get('content-type')?.split(';')[0];
      expect([status, response.status, type]).toEqual([status, status, 'application/json']);
      expect(await json(response)).toHaveProperty('error.code');
    }
  });

  inEveryRevision('can be large', async (revision) => {
    const { client, server } = await connectTo(host, revision);
    const text = 'é'.repeat(1_000_000);
    server.addTool({ name: 'large', description: 'Says a lot', input: { type: 'object' } }, () => text);
    expect((await json(await client.call(1, 'large'))).result?.content?.[0]?.text).toBe(text);
  });
});

const SAID = { role: 'assistant', model: 'm-1', content: { type: 'text', text: 'Ho' } };

/** Opens a session whose client declares sampling. Returns the headers of its requests. */
async function open(url: string, revision: SessionRevision): Promise<Fields> {
  const hello = initialize(revision);
  const response = await post(url, { ...hello, params: { ...hello.params, capabilities: { sampling: {} } } });
  await response.text();
  const headers = {
    'mcp-session-id': response.headers.get('mcp-session-id') as string,
    ...(revision >= '2025-06-18' && { 'mcp-protocol-version': revision }),
  };
  expect((await post(url, INITIALIZED, headers)).status).toBe(202);
  return headers;
}

function addThinking(server: McpServer): void {
  const input = { type: 'object', properties: { about: { type: 'string' } } } as const;
  server.addTool({ name: 'think', input }, async ({ about }, context: Context) => {
    const said = [];
    for (const time of [1, 2]) {
      said.push((await context.sample({ messages: `${String(about)} ${time}`, maxTokens: 5 })).text);
      context.progress(time);
    }
    return `${String(about)}: ${said.join()}`;
  });
}

overEveryBinding('a request to the model', (host) => {
  inEverySessionRevision('is on the stream of its own request, and on no other [SAMP-12]', async (revision) => {
    const { url, server } = await serveOn(host);
    addThinking(server);
    const headers = await open(url, revision);
    const listening = new EventReader(await fetch(url, { headers: { accept: 'text/event-stream', ...headers } }));
    const topics = ['cats', 'dogs'];
    const streams = await Promise.all(
      topics.map(async (about, id) => new EventReader(await post(url, call(id, 'think', { about }), headers))),
    );
    for (const time of [1, 2]) {
      // both wait at once, and are answered in the other order
      const questions = [];
      for (const [id, stream] of streams.entries()) {
        const { message } = await stream.message();
        const text = `${topics[id]} ${time}`;
        const messages = [{ role: 'user', content: { type: 'text', text } }];
        expect(message).toMatchObject({ method: 'sampling/createMessage', params: { messages } });
        questions.push(message?.id);
      }
      expect(new Set(questions).size).toBe(2);
      for (const id of questions.reverse()) {
        expect((await post(url, { jsonrpc: '2.0', id, result: SAID }, headers)).status).toBe(202);
      }
    }
    for (const [id, stream] of streams.entries()) {
      const text = `${topics[id]}: Ho,Ho`;
      expect((await stream.rest()).at(-1)?.message).toMatchObject({ id, result: { content: [{ text }] } });
    }
    // the first message of the other stream is one that belongs to no request
    server.notify.toolsChanged();
    expect((await listening.message()).message?.method).toBe('notifications/tools/list_changed');
  });
});
