// HTTP+SSE, the transport of 2024-11-05, beside Streamable HTTP.
import { once } from 'node:events';

import { expect } from '@jest/globals';
import type { Auth } from '@decorum/http';

import { call, json, post, request } from '../../packages/http/test/fixture.js';
import { ADD, carried, HttpClient, initialize, SseClient, TOKEN } from '../revisions/http-client.js';
import { inEveryRevision, inTheFirstRevision, LET_GO, overEveryHost, serveOn } from './contract.js';
import type { HostOptions, HttpHost } from './hosts.js';

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
      expect(client.first).toEqual({
        event: 'endpoint',
        data: expect.stringMatching(/^messages\?sessionId=[\w-]{32}$/),
      });
      const posted = await client.send(initialize(revision));
      expect([posted.status, await posted.text(), posted.headers.get('mcp-session-id')]).toEqual([202, '', null]);
      const answer = await client.reader.next();
      expect(answer).toMatchObject({ event: 'message', message: { result: { protocolVersion: revision } } });
      await client.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
      expect(await client.ask(call(1, 'add', ADD))).toMatchObject({ id: 1, result: { content: [{ text: '3' }] } });
      expect(await client.ask(call(2, 'fail'))).toMatchObject({ id: 2, result: { isError: true } });
      expect(await client.ask(request(3, 'no/method'))).toMatchObject({ id: 3, error: { code: -32601 } });
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
    for (const key of ['', '?sessionId=', '?sessionId=bogus', '?sessionId=a&sessionId=b']) {
      const response = await post(new URL(`/messages${key}`, sse).href, request(1, 'ping'));
      expect([key, response.status, (await json(response)).error?.code]).toEqual([key, 404, -32600]);
    }
    for (const [body, code] of [
      ['{bad', -32700],
      ['[]', -32600],
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
