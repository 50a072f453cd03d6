// Connections: in what order they carry answers, what closes them, and clients that leave or do not read.
import { once } from 'node:events';
import { Agent, type IncomingMessage, request as httpRequest } from 'node:http';

import { expect, it } from '@jest/globals';
import { connectMemory, type McpServer } from '@decorum/core';

import { ADD, carried, HttpClient, initialize, TOKEN } from '../support/http-client.js';
import { Connection } from '../../packages/http/test/connection.js';
import {
  begin,
  connectTo,
  inEveryRevision,
  inEverySessionRevision,
  inTheStatelessRevision,
  LET_GO,
  overEveryHost,
  serveOn,
} from './contract.js';
import { EventReader } from '../../packages/http/test/events.js';
import { afterwards } from '../../packages/http/test/fixture.js';
import { cancelOf, type Fields, json } from '../../packages/http/test/messages.js';
import { post } from '../../packages/http/test/sending.js';
import { open } from '../../packages/http/test/paused.js';
import { REVISIONS } from '../support/requirements.js';
import type { HttpHost } from './hosts.js';
import type { Message } from '../support/raw-client.js';

/** A call as text, from a client with an old or unusual HTTP implementation. */
function callText(client: HttpClient, name: string, more: Fields = {}, version = '1.1'): string {
  const message = client.buildMessage(name, 'tools/call', { name, arguments: name === 'add' ? ADD : {}, _meta: TOKEN });
  const body = JSON.stringify(message);
  const { host } = new URL(client.url);
  const sized = { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) };
  const all = Object.entries({ host, ...sized, ...client.headersOf(message), ...more });
  return `POST /mcp HTTP/${version}\r\n${all.map(([header, value]) => `${header}: ${value}\r\n`).join('')}\r\n${body}`;
}

overEveryHost('a connection', (host) => {
  inEveryRevision('supports pipelining, and responses keep the order of requests', async (revision) => {
    const { client, probe } = await connectTo(host, revision);
    const connection = await Connection.open(client.url);
    const began = once(probe, 'began');
    const names = ['wait', 'add', 'steps', 'fail'];
    connection.socket.write(names.map((name) => callText(client, name)).join(''));
    await began;
    // the second request would have been answered by now
    expect(await client.status()).toBe(200);
    expect(connection.text).toBe('');
    probe.emit('go');
    const text = await connection.until(/"isError":true/);
    const ids = [...text.matchAll(/"id":"(wait|add|steps|fail)"/g)].map(([, id]) => id);
    expect(ids).toEqual(['wait', 'add', 'steps', 'fail']);
    expect(text.match(/HTTP\/1\.1 200 OK/g)).toHaveLength(4);
  });

  inEveryRevision('closes after the response if the client asks for it', async (revision) => {
    const { client } = await connectTo(host, revision);
    for (const name of ['add', 'steps']) {
      const connection = await Connection.open(client.url);
      connection.socket.write(callText(client, name, { connection: 'close' }));
      const text = await connection.closed();
      expect(text).toMatch(/^HTTP\/1\.1 200 [^]*\r\nconnection: close\r\n/i);
      expect(text).toContain(`"id":"${name}"`);
    }
  });

  inEveryRevision('may use HTTP/1.0, which has no chunks', async (revision) => {
    const { client } = await connectTo(host, revision);
    for (const name of ['add', 'steps']) {
      const connection = await Connection.open(client.url);
      connection.socket.write(callText(client, name, {}, '1.0'));
      const [head = '', body = ''] = (await connection.closed()).split('\r\n\r\n');
      expect(head).toMatch(/^HTTP\/1\.1 200 /);
      expect(head).not.toMatch(/transfer-encoding/i);
      expect(body).toMatch(name === 'add' ? /^\{.*\}$/ : /^(id|data): [^]*"result"[^]*\n\n$/);
    }
  });
});

overEveryHost('a body in several chunks', (host) => {
  it('is one message', async () => {
    const { url } = await serveOn(host);
    const connection = await Connection.open(url);
    const bytes = Buffer.from(JSON.stringify({ ...initialize('2025-11-25'), id: 'é€😀' }));
    connection.head('POST', { 'content-type': 'application/json' }, bytes.length);
    for (const byte of bytes) {
      connection.socket.write(Buffer.of(byte));
      if (byte > 127) await new Promise(setImmediate);
    }
    expect(await connection.until(/"result"/)).toMatch(/^HTTP\/1\.1 200 [^]*"id":"é€😀"/);
  });
});

const CLOSING = { jsonrpc: '2.0', error: { code: expect.any(Number), message: expect.any(String) } };

/** Checks the state of an endpoint after its server has closed, as declared by the host. */
async function seeClosed(host: HttpHost, client: HttpClient): Promise<void> {
  if (host.listener === 'host') await expect(client.status()).rejects.toThrow('fetch failed');
  else expect(await client.status()).toBe(503);
}

/** Calls `add` repeatedly over one connection until it is rejected. Yields the status of each response. */
async function* callOnAndOn(client: HttpClient): AsyncGenerator<number, void, void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  afterwards(() => agent.destroy());
  const message = client.buildMessage(1, 'tools/call', { name: 'add', arguments: ADD });
  const headers = { 'content-type': 'application/json', ...client.headersOf(message) };
  for (let status = 200; status === 200;) {
    const sent = httpRequest(client.url, { method: 'POST', headers, agent });
    sent.end(JSON.stringify(message));
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    const text = (await response.setEncoding('utf8').toArray()).join('');
    status = response.statusCode ?? 0;
    if (status === 200) expect(text).toContain('"3"');
    else expect(JSON.parse(text)).toMatchObject(CLOSING);
    yield status;
  }
}

overEveryHost('server.close()', (host) => {
  inEveryRevision('lets calls finish, and answers new requests with 503 meanwhile [HTTP-40]', async (revision) => {
    const served = await connectTo(host, revision);
    const { client, probe, server } = served;
    const plain = await begin(served, 'plain', 'wait');
    const streaming = new EventReader(await (await begin(served, 'streams', 'stream')).response);
    await streaming.message();
    const closing = server.close();
    if (host.listener === 'application')
      expect(await (await fetch(new URL('/health', client.url))).text()).toBe('healthy');
    const refused = await client.call('late', 'add', { args: ADD });
    expect([refused.status, await json(refused)]).toMatchObject([503, CLOSING]);
    if (!client.stateless) {
      expect((await post(client.url, initialize(revision))).status).toBe(503);
      expect((await client.get()).status).toBe(503);
    }
    probe.contexts[1]?.progress(2);
    probe.emit('go');
    const answer = await plain.response;
    expect([answer.status, await json(answer)]).toMatchObject([200, { id: 'plain', result: LET_GO }]);
    expect(carried(await streaming.rest())).toEqual([2, 'streams']);
    await closing;
    expect(probe.aborted).toBe(0);
    await seeClosed(host, client);
  });

  inEverySessionRevision('still accepts answers and cancellations for calls in flight', async (revision) => {
    const served = await connectTo(host, revision);
    const { client, server } = served;
    const asking = await client.stream(1, 'reach');
    await asking.message();
    const { message: question } = await asking.message();
    const { response } = await begin(served, 2, 'obey');
    const closing = server.close();
    for (const message of [{ jsonrpc: '2.0', id: question?.id, result: {} }, cancelOf(2)]) {
      expect((await client.post(message)).status).toBe(202);
    }
    const messages = (await asking.rest()).map(({ message }) => message);
    expect(messages).toMatchObject([{ id: 1, result: { content: [{ text: 'there' }] } }]);
    expect(await (await response).text()).toBe('');
    await closing;
  });

  inEverySessionRevision('ends GET streams without an error [HTTP-32]', async (revision) => {
    const { client, server } = await connectTo(host, revision);
    const readers = [await client.listen(), await client.listen()];
    await server.close();
    for (const reader of readers) expect([carried(await reader.rest()), reader.ended]).toEqual([[], true]);
  });

  inTheStatelessRevision('sends subscriptions their result, as the close of an endpoint does', async (revision) => {
    for (const which of ['server', 'endpoint']) {
      const { client, server, close } = await connectTo(host, revision);
      const wanted = { notifications: { toolsListChanged: true } };
      const reader = new EventReader(await client.post(client.buildMessage('sub', 'subscriptions/listen', wanted)));
      await reader.message();
      await (which === 'server' ? server.close() : close());
      expect((await reader.rest()).map(({ message }) => message)).toMatchObject([{ id: 'sub', result: {} }]);
    }
  });

  inEveryRevision('cancels calls that outlast the deadline and answers them with 503', async (revision) => {
    const served = await connectTo(host, revision);
    const { probe, server } = served;
    const waiting = await begin(served, 'waits', 'wait');
    const streaming = new EventReader(await (await begin(served, 'streams', 'stream')).response);
    await streaming.message();
    await server.close({ deadlineMs: 20 });
    const answer = await waiting.response;
    expect([answer.status, await json(answer)]).toMatchObject([503, { ...CLOSING, id: 'waits' }]);
    expect((await streaming.rest()).map(({ message }) => message)).toMatchObject([{ ...CLOSING, id: 'streams' }]);
    expect([probe.aborted, streaming.ended]).toEqual([2, true]);
  });

  // applications answer in their own words once they close
  const ways = ['listen', 'node:http'].includes(host.name) ? ['server', 'endpoint'] : ['server'];
  it.each(ways)('of the %s ends under steady load and answers every request', async (which) => {
    const served = await connectTo(host, '2025-11-25', { closeDeadlineMs: 20_000 });
    const { probe, server, url, errors, close } = served;
    const clients = await Promise.all(REVISIONS.map(async (revision) => await HttpClient.open(url, revision)));
    const longest = await begin(served, 'longest', 'wait');
    const callers = clients.map(callOnAndOn);
    for (const caller of callers) expect((await caller.next()).value).toBe(200);
    const load = callers.map(async (caller) => {
      const statuses = [];
      for await (const status of caller) statuses.push(status);
      return statuses;
    });
    for (const client of clients) expect(await client.status()).toBe(200);
    const closing = which === 'server' ? server.close() : close();
    for (const statuses of await Promise.all(load)) expect(statuses.at(-1)).toBe(503);
    probe.emit('go');
    expect((await longest.response).status).toBe(200);
    await closing;
    expect(errors).toEqual([]);
  });

  it('does not wait for bodies that never end', async () => {
    const { client, url, server } = await connectTo(host, '2025-11-25');
    const connection = (await Connection.open(url)).endless('POST', { 'content-type': 'application/json' });
    const headless = await Connection.open(url);
    expect(await client.status()).toBe(200);
    await server.close();
    if (host.listener === 'host') {
      expect(await connection.closed()).toMatch(/^HTTP\/1\.1 503 /);
      await headless.closed();
    }
  });
});

overEveryHost('the close of an endpoint', (host) => {
  inEveryRevision('lets calls finish, and leaves the server open to others', async (revision) => {
    const served = await connectTo(host, revision);
    const { probe, server, close } = served;
    const listening = served.client.stateless ? undefined : await served.client.listen();
    const plain = await begin(served, 'plain', 'wait');
    const streaming = new EventReader(await (await begin(served, 'streams', 'stream')).response);
    const closing = close();
    if (listening) expect([carried(await listening.rest()), listening.ended]).toEqual([[], true]);
    probe.emit('go');
    expect(await json(await plain.response)).toMatchObject({ id: 'plain', result: LET_GO });
    expect(carried(await streaming.rest())).toEqual([1, 'streams']);
    await closing;
    await expect(served.client.status()).rejects.toThrow('fetch failed');
    const memory = await connectMemory(server, { receive: () => {} });
    memory.close();
    const again = await host.serve(server, {});
    afterwards(() => again.close());
    expect(await (await HttpClient.open(again.url, revision)).status()).toBe(200);
  });

  it('waits no longer than closeDeadlineMs', async () => {
    const served = await connectTo(host, '2025-11-25', { closeDeadlineMs: 20 });
    const { response } = await begin(served, 'waits', 'wait');
    await served.close();
    expect([(await response).status, await json(await response)]).toMatchObject([503, { ...CLOSING, id: 'waits' }]);
    expect(served.probe.aborted).toBe(1);
  });

  it('can be called twice, and after server.close()', async () => {
    const { close, server } = await serveOn(host);
    await server.close();
    await Promise.all([close(), close()]);
    await close();
    await expect(host.serve(server, {})).rejects.toMatchObject({ code: 'DECORUM_SERVER_CLOSED' });
  });
});

const GUIDE = 'docs://guide';
const SUBSCRIPTION = 'io.modelcontextprotocol/subscriptionId';
/** Large enough that 300 of these overflow the socket buffers. */
const LARGE = 'x'.repeat(50_000);
const PARTS = ['a', 'b', 'c'].map((part) => `${GUIDE}/${part}`);

/** Sends a POST, or a GET for a stream, on a separate connection, and reads only the head of the response. */
async function openUnread(client: HttpClient, message?: Message): Promise<IncomingMessage> {
  return await open(client.url, message ? client.headersOf(message) : client.headers, message);
}

/** Reads the messages of a stream that was not read until now. */
async function messagesOf(response: IncomingMessage): Promise<Message[]> {
  const text = (await response.setEncoding('utf8').toArray()).join('');
  return [...text.matchAll(/^data: (\{.*)$/gm)].map(([, data]) => JSON.parse(data as string) as Message);
}

/** Sends changes of different resources until the sockets are full. Later messages are buffered at the server. */
async function backUp({ notify }: McpServer): Promise<void> {
  for (let n = 0; n < 300; n++) {
    notify.resourceUpdated(`${GUIDE}/${n}/${LARGE}`, GUIDE);
    if (n % 20 === 0) await new Promise(setImmediate);
  }
}

overEveryHost('a client that disconnects', (host) => {
  inTheStatelessRevision('cancels its request and no other', async (revision) => {
    const served = await connectTo(host, revision);
    const { client, probe, errors } = served;
    const staying = await begin(served, 'stays', 'wait');
    for (const name of ['wait', 'stream']) {
      const connection = await Connection.open(client.url);
      const began = once(probe, 'began');
      const message = client.buildMessage(name, 'tools/call', { name, arguments: {}, _meta: TOKEN });
      connection.post(message, client.headersOf(message));
      await began;
      if (name === 'stream') expect(await connection.until(/progress/)).toMatch(/^HTTP\/1\.1 200 /);
      const aborted = once(probe, 'aborted');
      connection.leave();
      await aborted;
      // dropped without side effects
      for (const step of [2, 3]) probe.contexts.at(-1)?.progress(step);
    }
    expect(probe.contexts.map(({ signal }) => signal.aborted)).toEqual([false, true, true]);
    probe.emit('go');
    expect(await json(await staying.response)).toMatchObject({ id: 'stays', result: LET_GO });
    expect(errors).toEqual([]);
  });

  inTheStatelessRevision('ends its subscription, which frees its place, and no other [SUB-07]', async (revision) => {
    const { client, server, errors } = await connectTo(host, revision, { limits: { maxListenStreams: 2 } });
    const listenAs = (id: string) =>
      client.buildMessage(id, 'subscriptions/listen', { notifications: { toolsListChanged: true } });
    const staying = new EventReader(await client.post(listenAs('stays')));
    await staying.message();
    const connection = await Connection.open(client.url);
    connection.post(listenAs('leaves'), client.headersOf(listenAs('leaves')));
    expect(await connection.until(/acknowledged/)).toMatch(/^HTTP\/1\.1 200 /);
    const refused = await client.post(listenAs('too many'));
    expect([refused.status, await json(refused)]).toMatchObject([503, { id: 'too many' }]);
    connection.leave();
    let next = await client.post(listenAs('next'));
    // until the server has noticed
    for (; next.status === 503; next = await client.post(listenAs('next'))) await next.text();
    const following = new EventReader(next);
    expect((await following.message()).message).toMatchObject({
      params: { _meta: { [SUBSCRIPTION]: 'next' } },
    });
    server.notify.toolsChanged();
    const { message } = await staying.message();
    const subscription = { [SUBSCRIPTION]: 'stays' };
    expect(message).toMatchObject({ method: 'notifications/tools/list_changed', params: { _meta: subscription } });
    for (const reader of [staying, following]) await reader.cancel();
    expect(errors).toEqual([]);
  });

  inTheStatelessRevision('cancels no request that was already answered', async (revision) => {
    const served = await connectTo(host, revision);
    const { client, probe } = served;
    const connection = await Connection.open(client.url);
    const message = client.buildMessage(1, 'tools/call', { name: 'wait', arguments: {} });
    const began = once(probe, 'began');
    connection.post(message, client.headersOf(message));
    await began;
    probe.emit('go');
    expect(await connection.until(/let go/)).toMatch(/^HTTP\/1\.1 200 /);
    connection.leave();
    expect(await client.status()).toBe(200);
    expect([probe.aborted, probe.contexts[0]?.signal.aborted]).toEqual([0, false]);
  });

  inEverySessionRevision('cancels nothing: the handler finishes, and its response can be resumed', async (revision) => {
    const served = await connectTo(host, revision);
    const { client, probe, errors } = served;
    for (const name of ['wait', 'stream']) {
      const controller = new AbortController();
      const { response } = await begin(served, name, name, { signal: controller.signal });
      const last = name === 'stream' ? await new EventReader(await response).message() : undefined;
      controller.abort();
      await response.catch(() => {});
      // on other connections, because the earlier ones are closed
      for (let n = 0; n < 3; n++) expect(await client.status()).toBe(200);
      expect(probe.contexts.at(-1)?.signal.aborted).toBe(false);
      probe.emit('go');
      if (last)
        expect((await (await client.listen(last.id)).message()).message).toMatchObject({ id: name, result: LET_GO });
    }
    expect([probe.aborted, errors]).toEqual([0, []]);
  });

  inEveryRevision('mid-body causes no error and blocks nobody', async (revision) => {
    const { client, close, errors } = await connectTo(host, revision);
    const message = client.buildMessage(1, 'tools/call', { name: 'add', arguments: ADD });
    const headers = { 'content-type': 'application/json', ...client.headersOf(message) };
    for (const length of [1000, undefined]) {
      const connection = await Connection.open(client.url);
      connection.head('POST', headers, length, length === undefined ? '1\r\n{\r\n' : '{');
      // earlier messages have been handled when this is answered
      expect(await client.status()).toBe(200);
      connection.leave();
    }
    expect((await json(await client.call(1, 'add', { args: ADD }))).result?.content?.[0]?.text).toBe('3');
    await close();
    expect(errors).toEqual([]);
  });
});

overEveryHost('a client that does not read', (host) => {
  inEveryRevision('misses progress beyond maxBufferedBytes, but never the response', async (revision) => {
    const { client, server, hits } = await connectTo(host, revision, { limits: { maxBufferedBytes: 50_000 } });
    let sent = 0;
    const flooded = new Promise<void>((resolve) => {
      server.addTool({ name: 'pour', description: 'Sends a lot', input: { type: 'object' } }, async (_input, ctx) => {
        // until the sockets are full, and a little more
        for (let more = 40; more > 0 && sent < 1000; more -= hits.length > 0 ? 1 : 0) {
          ctx.progress((sent += 1));
          ctx.log.error(LARGE);
          await new Promise(setImmediate);
        }
        resolve();
        return 'poured';
      });
    });
    const params = { name: 'pour', arguments: {}, _meta: { ...TOKEN, 'io.modelcontextprotocol/logLevel': 'error' } };
    const response = await openUnread(client, client.buildMessage('pours', 'tools/call', params));
    await flooded;
    const messages = await messagesOf(response);
    expect(messages.length).toBeLessThan(2 * sent);
    // not for every message that it misses
    expect(hits[0]).toEqual({ limit: 'maxBufferedBytes' });
    expect(hits.length).toBeLessThan(2 * sent - messages.length);
    expect(messages.at(-1)).toMatchObject({ id: 'pours', result: { content: [{ text: 'poured' }] } });
    const steps = messages.flatMap(({ params: got }) => got?.['progress'] ?? []) as number[];
    expect(steps).toEqual([...steps].sort((a, b) => a - b));
  });

  inEveryRevision('gets repeated changes coalesced, and none is lost', async (revision) => {
    const { client, server, close } = await connectTo(host, revision);
    const notifications = { toolsListChanged: true, resourceSubscriptions: [GUIDE] };
    if (!client.stateless)
      await (await client.post(client.buildMessage(0, 'resources/subscribe', { uri: GUIDE }))).text();
    const response = await openUnread(
      client,
      client.stateless ? client.buildMessage('sub', 'subscriptions/listen', { notifications }) : undefined,
    );
    await backUp(server);
    for (let n = 0; n < 3000; n++) server.notify.resourceUpdated(PARTS[n % PARTS.length] as string, GUIDE);
    expect((await client.call(1, 'add', { args: ADD })).status).toBe(200);
    const messages = messagesOf(response);
    await close();
    const uris = (await messages).flatMap(({ params }) => params?.['uri'] ?? []);
    for (const part of PARTS) expect(uris).toContain(part);
    expect(uris.filter((uri) => PARTS.includes(uri as string)).length).toBeLessThan(100);
  });

  it('does not stop the endpoint from closing', async () => {
    const { client, server, close } = await connectTo(host, '2025-11-25', { closeDeadlineMs: 50 });
    await (await client.post(client.buildMessage(0, 'resources/subscribe', { uri: GUIDE }))).text();
    const response = await openUnread(client);
    await backUp(server);
    const ended = new Promise((resolve) => response.once('close', resolve));
    await close();
    response.resume();
    await ended;
  });
});

overEveryHost('a call with lots of progress', (host) => {
  inEveryRevision('loses nothing while the client reads', async (revision) => {
    const { client, server } = await connectTo(host, revision);
    server.addTool({ name: 'count', description: 'Counts', input: { type: 'object' } }, async (_input, ctx) => {
      for (let step = 1; step <= 1000; step++) {
        ctx.progress(step);
        if (step % 100 === 0) await new Promise(setImmediate);
      }
      return 'counted';
    });
    const events = carried(await (await client.stream('counts', 'count')).rest());
    expect(events).toEqual([...Array.from({ length: 1000 }, (_, at) => at + 1), 'counts']);
  });
});
