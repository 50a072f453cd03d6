// Clients that disconnect, and clients that do not read.
import { once } from 'node:events';
import { type IncomingMessage, request as httpRequest } from 'node:http';

import { expect, it } from '@jest/globals';
import type { McpServer } from '@decorum/core';

import { EventReader } from '../../packages/http/test/events.js';
import { afterwards, json } from '../../packages/http/test/fixture.js';
import { ADD, carried, type HttpClient, TOKEN } from '../support/http-client.js';
import type { Message } from '../support/raw-client.js';
import { Connection } from './connection.js';
import {
  begin,
  connectTo,
  inEveryRevision,
  inEverySessionRevision,
  inTheStatelessRevision,
  LET_GO,
  overEveryHost,
} from './contract.js';

const GUIDE = 'docs://guide';
const SUBSCRIPTION = 'io.modelcontextprotocol/subscriptionId';
/** Large enough that 300 of these overflow the socket buffers. */
const LARGE = 'x'.repeat(50_000);
const PARTS = ['a', 'b', 'c'].map((part) => `${GUIDE}/${part}`);

/** Sends a request on a separate connection, and reads only the head of the response. */
async function openUnread(client: HttpClient, message?: Message): Promise<IncomingMessage> {
  const headers = message
    ? {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...client.headersOf(message),
      }
    : { accept: 'text/event-stream', ...client.headers };
  const sent = httpRequest(client.url, { method: message ? 'POST' : 'GET', headers, agent: false });
  afterwards(() => sent.destroy());
  sent.end(message && JSON.stringify(message));
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  response.on('error', () => {});
  return response.pause();
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
  inTheStatelessRevision('cancels its request and no other [HTTP-22]', async (revision) => {
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

  inEverySessionRevision(
    'cancels nothing: the handler finishes, and its response can be resumed [HTTP-21]',
    async (revision) => {
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
    },
  );

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
    const { client, server } = await connectTo(host, revision, { limits: { maxBufferedBytes: 50_000 } });
    const count = 300;
    const flooded = new Promise<void>((resolve) => {
      server.addTool({ name: 'pour', description: 'Sends a lot', input: { type: 'object' } }, async (_input, ctx) => {
        for (let step = 1; step <= count; step++) {
          ctx.progress(step, count);
          ctx.log.error(LARGE);
          if (step % 20 === 0) await new Promise(setImmediate);
        }
        resolve();
        return 'poured';
      });
    });
    const params = { name: 'pour', arguments: {}, _meta: { ...TOKEN, 'io.modelcontextprotocol/logLevel': 'error' } };
    const response = await openUnread(client, client.buildMessage('pours', 'tools/call', params));
    await flooded;
    const messages = await messagesOf(response);
    expect(messages.length).toBeLessThan(2 * count);
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
    for (let n = 0; n < 3000; n++) {
      server.notify.resourceUpdated(PARTS[n % PARTS.length] as string, GUIDE);
      if (n % 1000 === 0) await new Promise(setImmediate);
    }
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
