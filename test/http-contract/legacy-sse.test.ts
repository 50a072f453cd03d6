// HTTP+SSE, the transport of 2024-11-05, beside Streamable HTTP.
import { once } from 'node:events';

import { describe, expect, it } from '@jest/globals';
import { type Auth, mcp } from '@decorum/http';
import { nodeHandler } from '@decorum/http/node';
import fastify from 'fastify';

import { afterwards, createServer, serveNode } from '../../packages/http/test/fixture.js';
import { call, cancelOf, INITIALIZED, json, modernCall, request } from '../../packages/http/test/messages.js';
import { post } from '../../packages/http/test/sending.js';
import { ADD, carried, HttpClient, initialize, SseClient, TOKEN } from '../support/http-client.js';
import { eachRevision, eachSessionRevision } from '../support/requirements.js';
import { Everything, inEveryRevision, inTheFirstRevision, LET_GO, overEveryHost, serveOn } from './contract.js';
import { type HostOptions, HOSTS, type HttpHost } from './hosts.js';

const GUIDE = 'docs://guide';

/** Serves both transports. Returns the URL of the HTTP+SSE stream too. */
async function serveOld(host: HttpHost, options: HostOptions = {}) {
  const served = await serveOn(host, { legacySse: true, ...options });
  return { ...served, sse: new URL('/sse', served.url).href };
}

overEveryHost('HTTP+SSE', (host) => {
  inEveryRevision('is off by default [SSE-06]', async (revision) => {
    const { url } = await serveOn(host);
    const stream = await fetch(new URL('/sse', url), { headers: { accept: 'text/event-stream' } });
    expect(stream.status).toBe(404);
    await stream.text();
    expect((await post(new URL('/messages', url).href, initialize('2024-11-05'))).status).toBe(404);
    expect(await (await HttpClient.open(url, revision)).status()).toBe(200);
  });

  inTheFirstRevision(
    'first sends the URL for messages, and answers on the stream [SSE-02] [SSE-01] [SSE-03]',
    async (revision) => {
      const { sse, url } = await serveOld(host);
      const client = await SseClient.connect(sse);
      expect(client.reader.response.headers.get('content-type')).toBe('text/event-stream');
      const data = expect.stringMatching(/^messages\?sessionId=[\w-]{32}$/);
      expect(client.first).toEqual({ event: 'endpoint', data });
      const posted = await client.send(initialize(revision));
      expect([posted.status, await posted.text(), posted.headers.get('mcp-session-id')]).toEqual([202, '', null]);
      const answer = await client.reader.next();
      expect(answer).toMatchObject({ event: 'message', message: { result: { protocolVersion: revision } } });
      await client.send(INITIALIZED);
      expect(await client.ask(call(1, 'add', ADD))).toMatchObject({ id: 1, result: { content: [{ text: '3' }] } });
      expect(await client.ask(call(2, 'fail'))).toMatchObject({ id: 2, result: { isError: true } });
      expect(await client.ask(request(3, 'no/method'))).toMatchObject({ id: 3, error: { code: -32601 } });
      expect(await client.ask(request(4, 'ping'))).toEqual({ jsonrpc: '2.0', id: 4, result: {} });
      // headers can't describe messages of the stateless revision
      expect((await client.send(modernCall(5, 'add', ADD))).status).toBe(400);
      expect(await (await HttpClient.open(url, revision)).status()).toBe(200);
    },
  );

  inTheFirstRevision('carries progress, changes and questions on one stream [SSE-03]', async () => {
    const { sse, server } = await serveOld(host);
    const client = await SseClient.open(sse);
    await client.send(call(1, 'steps', {}, TOKEN));
    const events = [];
    for (let n = 0; n < 4; n++) events.push(await client.reader.message());
    expect(carried(events)).toEqual([1, 2, 3, 1]);
    await client.ask(request(2, 'resources/subscribe', { uri: GUIDE }));
    server.notify.resourceUpdated(GUIDE);
    expect((await client.reader.message()).message).toMatchObject({ params: { uri: GUIDE } });
    const question = await client.ask(call(3, 'reach'));
    expect(question).toMatchObject({ method: 'ping' });
    const answer = { jsonrpc: '2.0', id: question?.id, result: {} };
    expect(await client.ask(answer)).toMatchObject({ id: 3, result: { content: [{ text: 'there' }] } });
  });

  inTheFirstRevision('rejects unknown session keys and invalid messages [SSE-07]', async () => {
    const { sse } = await serveOld(host);
    const client = await SseClient.open(sse);
    const { search } = new URL(client.target);
    expect((await SseClient.connect(sse)).target).not.toBe(client.target);
    const unknown = ['', '?sessionId=', '?sessionId=bogus', `${search}x`, search.slice(0, -1), '?sessionId=__proto__'];
    for (const key of [...unknown, `${search}&${search.slice(1)}`]) {
      const response = await post(new URL(`/messages${key}`, sse).href, request(1, 'ping'));
      expect([key, response.status, (await json(response)).error?.code]).toEqual([key, 404, -32600]);
    }
    for (const [body, code] of [
      ['{bad', -32700],
      ['', -32700],
      ['[]', -32600],
      ['{"jsonrpc":"2.0"}', -32600],
      [JSON.stringify([request(1, 'ping')]), -32600],
    ] as const) {
      const response = await client.send(body);
      expect([body, response.status, (await json(response)).error?.code]).toEqual([body, 400, code]);
    }
    expect((await client.send('{}', { 'content-type': 'text/plain' })).status).toBe(415);
    expect((await fetch(sse, { headers: { accept: 'application/json' } })).status).toBe(406);
    expect(await client.ask(request(1, 'ping'))).toMatchObject({ id: 1, result: {} });
  });

  inTheFirstRevision('ends the session with the stream: calls are cancelled and the key is unknown', async () => {
    const { sse, probe, errors } = await serveOld(host);
    const client = await SseClient.open(sse);
    const began = once(probe, 'began');
    await client.send(call(1, 'wait'));
    await began;
    const aborted = once(probe, 'aborted');
    await client.reader.cancel();
    await aborted;
    expect((await client.send(request(2, 'ping'))).status).toBe(404);
    expect(errors).toEqual([]);
  });

  inTheFirstRevision('binds a session to its principal', async () => {
    const authenticate: Auth['authenticate'] = ({ headers }) => {
      const subject = headers['x-user'];
      return subject === undefined ? { status: 401 } : { subject };
    };
    const { sse } = await serveOld(host, { auth: { authenticate } });
    expect((await fetch(sse)).status).toBe(401);
    const client = await SseClient.open(sse, { 'x-user': 'ann' });
    const question = call(1, 'who');
    expect((await client.send(question, { 'x-user': 'bob' })).status).toBe(404);
    const { result } = (await client.ask(question)) as { result: { content: [{ text: string }] } };
    expect(JSON.parse(result.content[0].text)).toMatchObject({ principal: { subject: 'ann' } });
  });

  inTheFirstRevision('lets calls finish when the server closes, and then ends', async () => {
    const { sse, probe, server } = await serveOld(host);
    const client = await SseClient.open(sse);
    const began = once(probe, 'began');
    await client.send(call(1, 'wait'));
    await began;
    const closing = server.close();
    expect((await client.send(request(2, 'ping'))).status).toBe(503);
    probe.emit('go');
    expect((await client.reader.rest()).map(({ message }) => message)).toMatchObject([{ id: 1, result: LET_GO }]);
    await closing;
  });
});

describe('HTTP+SSE over `listen`', () => {
  const listening = HOSTS[0] as HttpHost;

  eachRevision('SSE-05', 'is beside Streamable HTTP, and shares no sessions with it', async (revision) => {
    for (const legacySse of [
      { path: '/sse', messagesPath: '/messages' },
      { path: '/mcp/sse', messagesPath: '/mcp/messages' },
    ]) {
      const { url, probe } = await serveOn(listening, { legacySse });
      const client = await HttpClient.open(url, revision);
      const old = await SseClient.open(new URL(legacySse.path, url).href);
      const target = new URL(old.target);
      expect(target.pathname).toBe(legacySse.messagesPath);
      expect(await old.ask(call(1, 'add', ADD))).toMatchObject({ id: 1, result: { content: [{ text: '3' }] } });
      const { result } = await json(await client.call(2, 'add', { args: ADD }));
      expect(result).toMatchObject({ content: [{ text: '3' }] });
      const key = target.searchParams.get('sessionId') as string;
      expect((await post(url, call(3, 'add', ADD), { 'mcp-session-id': key })).status).toBe(404);
      const began = once(probe, 'began');
      expect((await old.send(call(3, 'wait'))).status).toBe(202);
      await began;
      // the id that handlers see is no key either
      for (const id of [client.headers['mcp-session-id'] ?? 'none', probe.contexts[0]?.sessionId as string]) {
        target.searchParams.set('sessionId', id);
        expect((await post(target.href, call(3, 'add', ADD))).status).toBe(404);
      }
    }
  });

  eachSessionRevision('SSE-08', 'works under a prefix and behind a proxy that rewrites paths', async () => {
    const { server } = createServer(new Everything());
    // like a proxy that maps /outside/… to /inside/…
    const rewriteUrl = ({ url = '' }) => url.replace('/outside/', '/inside/');
    const app = fastify({ forceCloseConnections: true, rewriteUrl });
    await app.register(mcp, { server, prefix: '/inside', legacySse: true });
    afterwards(async () => {
      await app.close();
      await server.close();
    });
    const base = await app.listen({ port: 0, host: '127.0.0.1' });
    for (const path of ['inside', 'outside']) {
      const client = await SseClient.open(`${base}/${path}/sse`);
      expect(client.first.data).not.toMatch(/^(\w+:|\/\/)/);
      expect(new URL(client.target).pathname).toBe(`/${path}/messages`);
      expect(await client.ask(call(1, 'add', ADD))).toMatchObject({ id: 1 });
    }
  });

  it.each([
    ['/sse', '/messages/'],
    ['/sse', '/'],
    ['/old/sse', '/old'],
    ['/old/sse', '/old/'],
    ['/old/sse', '/in/messages'],
  ])('sends a relative URL for messages: from %s to %s', async (path, messagesPath) => {
    const { url } = await serveOn(listening, { legacySse: { path, messagesPath } });
    const client = await SseClient.connect(new URL(path, url).href);
    expect(new URL(client.target).pathname).toBe(messagesPath);
  });

  it('sends more than the buffer limit at once, as long as the client reads', async () => {
    const { sse, server } = await serveOld(listening, { limits: { maxBufferedBytes: 1000 } });
    server.addTool({ name: 'large', description: 'Says a lot' }, () => 'x'.repeat(5_000_000));
    const client = await SseClient.open(sse);
    await Promise.all([client.send(call(1, 'large')), client.send(call(2, 'add', ADD))]);
    const ids = [await client.reader.message(), await client.reader.message()].map(({ message }) => message?.id);
    expect(ids.sort()).toEqual([1, 2]);
  });

  it('sends keep-alive comments', async () => {
    const { sse } = await serveOld(listening, { keepAliveMs: 10 });
    expect((await (await SseClient.open(sse)).reader.next())?.comment).toBe('keep-alive');
  });

  it('cancels a request on notifications/cancelled', async () => {
    const { sse, probe } = await serveOld(listening);
    const client = await SseClient.open(sse);
    const [began, aborted] = [once(probe, 'began'), once(probe, 'aborted')];
    await client.send(call(1, 'wait'));
    await began;
    await client.send(cancelOf(1));
    await aborted;
    probe.emit('go');
    // the first response is to the second request
    expect(await client.ask(request(2, 'ping'))).toMatchObject({ id: 2 });
  });

  it('evicts first a session that was never initialized', async () => {
    const { sse } = await serveOld(listening, { limits: { maxSessions: 2 } });
    const silent = await SseClient.connect(sse);
    const used = await SseClient.open(sse);
    const next = await SseClient.open(sse);
    expect(await silent.reader.rest()).toEqual([]);
    expect((await silent.send(initialize('2024-11-05'))).status).toBe(404);
    for (const client of [used, next]) expect(await client.ask(request(1, 'ping'))).toMatchObject({ id: 1 });
  });

  it('sends errors for requests that do not end before its deadline', async () => {
    const { sse, probe, close } = await serveOld(listening, { closeDeadlineMs: 20 });
    const client = await SseClient.open(sse);
    const began = once(probe, 'began');
    await client.send(call(1, 'wait'));
    await began;
    await close();
    const messages = (await client.reader.rest()).map(({ message }) => message);
    expect(messages).toMatchObject([{ id: 1, error: { code: -32603, message: 'The server is closing.' } }]);
    expect(probe.aborted).toBe(1);
  });

  it('sends nothing more of a call that something else has answered', async () => {
    const handler = nodeHandler(createServer(new Everything()).server, { path: '/mcp', legacySse: true });
    afterwards(() => handler.close());
    const url = await serveNode((incoming, outgoing) => {
      if (incoming.headers['x-late'] !== undefined) outgoing.writeHead(503).flushHeaders();
      handler(incoming, outgoing);
    });
    const client = await SseClient.open(`${url}/sse`);
    const late = await client.send(call(1, 'steps', {}, TOKEN), { 'x-late': 'true' });
    expect(late.status).toBe(503);
    await expect(late.text()).rejects.toThrow('terminated');
    // it was sent before the answer
    expect((await client.reader.message()).message).toMatchObject({ params: { progress: 1 } });
    expect(await client.ask(request(2, 'ping'))).toMatchObject({ id: 2 });
  });
});
