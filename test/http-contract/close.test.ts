// Closing an endpoint: calls in flight are answered, later requests are rejected, and streams end.
import { once } from 'node:events';
import { Agent, type IncomingMessage, request as httpRequest } from 'node:http';

import { expect, it } from '@jest/globals';
import { connectMemory } from '@decorum/core';

import { EventReader } from '../../packages/http/test/events.js';
import { afterwards, json, post } from '../../packages/http/test/fixture.js';
import { ADD, carried, HttpClient, initialize } from '../support/http-client.js';
import { REVISIONS } from '../support/requirements.js';
import { Connection } from './connection.js';
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
import type { HttpHost } from './hosts.js';

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
  inEveryRevision(
    'lets calls finish, and answers new requests with 503 meanwhile [HTTP-40] [HTTP-14] [HTTP-18]',
    async (revision) => {
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
    },
  );

  inEverySessionRevision('still accepts answers and cancellations for calls in flight', async (revision) => {
    const served = await connectTo(host, revision);
    const { client, server } = served;
    const asking = await client.stream(1, 'reach');
    await asking.message();
    const { message: question } = await asking.message();
    const { response } = await begin(served, 2, 'obey');
    const closing = server.close();
    const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 2 } };
    for (const message of [{ jsonrpc: '2.0', id: question?.id, result: {} }, cancel]) {
      expect((await client.post(message)).status).toBe(202);
    }
    expect((await asking.rest()).map(({ message }) => message)).toMatchObject([
      { id: 1, result: { content: [{ text: 'there' }] } },
    ]);
    expect(await (await response).text()).toBe('');
    await closing;
  });

  inEverySessionRevision('cancels calls of a session that ends, and reports it on their streams', async (revision) => {
    const served = await connectTo(host, revision);
    const streaming = new EventReader(await (await begin(served, 'streams', 'stream')).response);
    await streaming.message();
    expect(await served.client.end()).toBe(204);
    const error = { code: -32600, message: 'The session has ended.' };
    expect((await streaming.rest()).map(({ message }) => message)).toMatchObject([{ id: 'streams', error }]);
  });

  inEverySessionRevision('ends GET streams without an error [HTTP-32]', async (revision) => {
    const { client, server } = await connectTo(host, revision);
    const readers = [await client.listen(), await client.listen()];
    await server.close();
    for (const reader of readers) expect([carried(await reader.rest()), reader.ended]).toEqual([[], true]);
  });

  inTheStatelessRevision(
    'sends subscriptions their result, as the close of an endpoint does [SUB-06]',
    async (revision) => {
      for (const which of ['server', 'endpoint']) {
        const { client, server, close } = await connectTo(host, revision);
        const message = client.buildMessage('sub', 'subscriptions/listen', {
          notifications: { toolsListChanged: true },
        });
        const reader = new EventReader(await client.post(message));
        await reader.message();
        await (which === 'server' ? server.close() : close());
        expect((await reader.rest()).map(({ message: last }) => last)).toMatchObject([{ id: 'sub', result: {} }]);
      }
    },
  );

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
    const callers = [...clients, ...clients].map(callOnAndOn);
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
