// Event streams: of requests, of GETs, and resumed ones.
import { expect, it } from '@jest/globals';
import { McpError } from '@decorum/core';

import { EventReader } from '../../packages/http/test/events.js';
import { json } from '../../packages/http/test/messages.js';
import { carried, HttpClient, TOKEN } from '../support/http-client.js';
import {
  begin,
  connectTo,
  inEveryRevision,
  inEverySessionRevision,
  inTheStatelessRevision,
  LET_GO,
  overEveryBinding,
  overEveryHost,
  type Served,
} from './contract.js';

const GUIDE = 'docs://guide';
const UPDATED = { method: 'notifications/resources/updated', params: { uri: GUIDE } };
const CHANGED = 'notifications/tools/list_changed';
const ACKNOWLEDGED = 'notifications/subscriptions/acknowledged';
const WANTED = { toolsListChanged: true, resourceSubscriptions: [GUIDE] };

/** Errors that a handler may throw. Before a stream, each has an HTTP status of its own. */
const ERRORS = ['invalid-request', 'method-not-found', 'header-mismatch', 'internal-error', 'closing'] as const;

/** Opens the revision's stream for changes of a resource and of lists. */
async function follow(client: HttpClient): Promise<EventReader> {
  if (client.stateless) {
    const wanted = client.buildMessage('sub', 'subscriptions/listen', { notifications: WANTED });
    const reader = new EventReader(await client.post(wanted));
    expect((await reader.message()).message?.method).toBe(ACKNOWLEDGED);
    return reader;
  }
  await (await client.post(client.buildMessage(0, 'resources/subscribe', { uri: GUIDE }))).text();
  return await client.listen();
}

/** Changes the resource and a list, and expects both on a stream. */
async function seeChanges({ server }: Served, reader: EventReader): Promise<void> {
  server.notify.resourceUpdated(GUIDE);
  expect((await reader.message()).message).toMatchObject(UPDATED);
  server.notify.toolsChanged();
  expect((await reader.message()).message?.method).toBe(CHANGED);
}

overEveryHost('the stream of a request', (host) => {
  inEveryRevision('carries progress, then the response, and is not buffered by proxies [HTTP-26]', async (revision) => {
    const { client } = await connectTo(host, revision);
    const reader = await client.stream('steps', 'steps');
    const { status, headers } = reader.response;
    const fields = { 'cache-control': 'no-cache, no-transform', 'x-accel-buffering': 'no' };
    expect([status, Object.fromEntries(headers)]).toMatchObject([200, fields]);
    expect([carried(await reader.rest()), reader.ended]).toEqual([[1, 2, 3, 'steps'], true]);
  });

  inEveryRevision('ends with the response, even if that leaves its reader behind', async (revision) => {
    const { client, server } = await connectTo(host, revision);
    server.addTool({ name: 'large', input: { type: 'object' } }, (_input: object, context) => {
      context.progress(1);
      return 'x'.repeat(1_000_000);
    });
    const reader = await client.stream('large', 'large');
    expect([carried(await reader.rest()), reader.ended]).toEqual([[1, 'large'], true]);
  });

  inEveryRevision('ends with the response if that is an error, of any HTTP status (#22)', async (revision) => {
    const { client, server } = await connectTo(host, revision);
    const input = { type: 'object' } as const;
    for (const kind of ERRORS) {
      server.addTool({ name: kind, input }, async (_input: object, context) => {
        context.progress(1);
        await Promise.reject(new McpError(kind, 'No.'));
      });
    }
    server.addTool({ name: 'samples', input }, async (_input: object, context) => {
      context.progress(1);
      return (await context.sample({ messages: 'Hi', maxTokens: 5 })).text;
    });
    for (const name of [...ERRORS, 'samples']) {
      const reader = await client.stream(name, name);
      expect([carried(await reader.rest()), reader.ended]).toEqual([[1, name], true]);
    }
  });

  inEveryRevision('starts with comments if the handler sends nothing for a while', async (revision) => {
    const served = await connectTo(host, revision, { keepAliveMs: 10 });
    const quiet = await begin(served, 'json', 'wait', { headers: { accept: 'application/json' } });
    const { response } = await begin(served, 'streams', 'wait');
    const reader = new EventReader(await response);
    expect([reader.response.status, reader.response.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
    for (let event = await reader.next(); event?.comment !== 'keep-alive';) event = await reader.next();
    served.probe.emit('go');
    const messages = (await reader.rest()).flatMap(({ message }) => message ?? []);
    expect(messages).toMatchObject([{ id: 'streams', result: LET_GO }]);
    expect(await json(await quiet.response)).toMatchObject({ id: 'json', result: LET_GO });
  });

  inEveryRevision('sends progress as soon as it is reported', async (revision) => {
    const served = await connectTo(host, revision);
    const reader = await served.client.stream(1, 'stream');
    for (const step of [1, 2, 3]) {
      expect(carried([await reader.message()])).toEqual([step]);
      served.probe.contexts[0]?.progress(step + 1);
    }
    served.probe.emit('go');
    expect(carried(await reader.rest())).toEqual([4, 1]);
  });

  inEverySessionRevision('carries the question of a handler; another POST answers it', async (revision) => {
    const { client } = await connectTo(host, revision);
    const reader = await client.stream(5, 'reach');
    expect(carried([await reader.message()])).toEqual([1]);
    const { message: question } = await reader.message();
    expect(question).toMatchObject({ id: expect.anything(), method: 'ping' });
    const answered = await client.post({ jsonrpc: '2.0', id: question?.id, result: {} });
    expect([answered.status, await answered.text()]).toEqual([202, '']);
    expect((await reader.message()).message).toMatchObject({ id: 5, result: { content: [{ text: 'there' }] } });
    if (revision < '2025-06-18') return;
    const form = await client.stream(6, 'ask');
    const { message: asked } = await form.message();
    expect(asked).toMatchObject({ method: 'elicitation/create', params: { message: 'Your name?' } });
    await client.post({ jsonrpc: '2.0', id: asked?.id, result: { action: 'accept', content: { name: 'Ada' } } });
    expect((await form.message()).message).toMatchObject({ id: 6, result: { content: [{ text: 'Hello, Ada' }] } });
  });

  inTheStatelessRevision(
    'carries no questions: the result asks, and the next request answers [HTTP-25]',
    async (revision) => {
      const { client } = await connectTo(host, revision);
      const meta = { 'io.modelcontextprotocol/clientCapabilities': { elicitation: {} } };
      const first = await json(await client.call(1, 'ask', { meta }));
      expect(first.result).toMatchObject({ resultType: 'input_required', requestState: expect.any(String) });
      const [[key, question]] = Object.entries(first.result?.['inputRequests'] as object) as [[string, unknown]];
      expect(question).toMatchObject({ method: 'elicitation/create', params: { message: 'Your name?' } });
      const retry = client.buildMessage(2, 'tools/call', {
        name: 'ask',
        arguments: {},
        _meta: meta,
        requestState: first.result?.['requestState'],
        inputResponses: { [key]: { action: 'accept', content: { name: 'Ada' } } },
      });
      const { id, result } = await json(await client.post(retry));
      expect([id, result?.content?.[0]?.text]).toEqual([2, 'Hello, Ada']);
    },
  );

  it('carries all responses of a batch in one event', async () => {
    const { client } = await connectTo(host, '2025-03-26');
    const steps = { name: 'steps', _meta: TOKEN };
    const batch = [
      client.buildMessage('a', 'tools/call', steps),
      client.buildMessage('b', 'ping'),
      client.buildMessage('c', 'tools/call', steps),
    ];
    const events = await new EventReader(await client.post(batch)).rest();
    const all = [{ id: 'a' }, { id: 'b' }, { id: 'c' }];
    expect(events).toHaveLength(7);
    expect(events.at(-1)?.message).toMatchObject(all);
    expect((await (await client.listen(events.at(-2)?.id)).rest()).at(-1)?.message).toMatchObject(all);
  });
});

overEveryHost('the stream of changes', (host) => {
  inEveryRevision('carries changes of resources and lists [HTTP-28] [HTTP-29]', async (revision) => {
    const served = await connectTo(host, revision);
    const reader = await follow(served.client);
    expect([reader.response.status, reader.response.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
    for (let n = 0; n < 2; n++) await seeChanges(served, reader);
  });

  inEveryRevision('sends keep-alive comments [HTTP-27]', async (revision) => {
    const { client } = await connectTo(host, revision, { keepAliveMs: 10 });
    const reader = await follow(client);
    for (let event = await reader.next(); event?.comment !== 'keep-alive'; event = await reader.next()) {
      expect(event).not.toHaveProperty('message');
    }
  });

  inEverySessionRevision('can be one of several; each message goes to exactly one', async (revision) => {
    const { client, server } = await connectTo(host, revision);
    const other = await client.listen();
    const readers = [await follow(client), other];
    for (let n = 0; n < 3; n++) server.notify.resourceUpdated(GUIDE);
    expect(await client.end()).toBe(204);
    const all = await Promise.all(readers.map(async (reader) => carried(await reader.rest())));
    expect(all.flat()).toEqual([UPDATED.method, UPDATED.method, UPDATED.method]);
    expect(all.map(({ length }) => length).sort()).toEqual([0, 3]);
  });

  inEverySessionRevision('ends with its session, and so do the streams of requests [HTTP-44]', async (revision) => {
    const served = await connectTo(host, revision);
    const listening = await follow(served.client);
    const running = await served.client.stream(1, 'stream');
    await running.message();
    const { response } = await begin(served, 2, 'wait');
    expect(await served.client.end()).toBe(204);
    expect([carried(await listening.rest()), listening.ended]).toEqual([[], true]);
    const error = { code: -32600, message: 'The session has ended.' };
    expect((await running.rest()).map(({ message }) => message)).toMatchObject([{ id: 1, error }]);
    const given = await response;
    expect([given.status, await json(given)]).toMatchObject([404, { id: 2, error }]);
    expect(served.probe.contexts.map(({ signal }) => signal.aborted)).toEqual([true, true]);
  });

  inTheStatelessRevision('is a subscription: acknowledged first, answered last [SUB-02]', async (revision) => {
    const served = await connectTo(host, revision);
    const { client, server } = served;
    const message = client.buildMessage('sub', 'subscriptions/listen', { notifications: { toolsListChanged: true } });
    const reader = new EventReader(await client.post(message));
    const subscriptionId = { _meta: { 'io.modelcontextprotocol/subscriptionId': 'sub' } };
    expect((await reader.message()).message).toMatchObject({
      method: ACKNOWLEDGED,
      params: { notifications: { toolsListChanged: true }, ...subscriptionId },
    });
    server.notify.resourceUpdated(GUIDE);
    server.notify.toolsChanged();
    expect((await reader.message()).message).toMatchObject({ method: CHANGED, params: subscriptionId });
    const closing = server.close();
    expect((await reader.message()).message).toMatchObject({ id: 'sub', result: { resultType: 'complete' } });
    expect([await reader.rest(), reader.ended]).toEqual([[], true]);
    await closing;
  });

  inTheStatelessRevision('has no event ids and cannot be resumed [HTTP-36]', async (revision) => {
    const served = await connectTo(host, revision);
    const reader = await follow(served.client);
    served.server.notify.toolsChanged();
    for (const event of [await reader.message(), ...(await (await served.client.stream(1, 'steps')).rest())]) {
      expect(event).not.toHaveProperty('id');
    }
    expect((await served.client.get({ 'last-event-id': 'p00000000-1' })).status).toBe(405);
  });
});

overEveryBinding('a client that reconnects', (host) => {
  inEverySessionRevision(
    'gets the messages of a request it missed, then the rest, as often as it asks [RESUME-06]',
    async (revision) => {
      const served = await connectTo(host, revision);
      const { client, probe } = served;
      const lost = new EventReader(await (await begin(served, 9, 'stream')).response);
      const { id } = await lost.message();
      await lost.cancel();
      for (const step of [2, 3]) probe.contexts[0]?.progress(step);
      const back = await client.listen(id);
      expect(carried([await back.message(), await back.message()])).toEqual([2, 3]);
      probe.contexts[0]?.progress(4);
      expect(carried([await back.message()])).toEqual([4]);
      probe.emit('go');
      expect(carried(await back.rest())).toEqual([9]);
      expect(carried(await (await client.listen(id)).rest())).toEqual([2, 3, 4, 9]);
    },
  );

  inEverySessionRevision('gets the changes it missed, then the rest', async (revision) => {
    const served = await connectTo(host, revision);
    const lost = await follow(served.client);
    served.server.notify.resourceUpdated(GUIDE);
    const { id } = await lost.message();
    await lost.cancel();
    served.server.notify.resourceUpdated(GUIDE);
    const back = await served.client.listen(id);
    expect((await back.message()).message).toMatchObject(UPDATED);
    await seeChanges(served, back);
  });

  inEverySessionRevision('takes over from a connection that seems alive', async (revision) => {
    const served = await connectTo(host, revision);
    const old = new EventReader(await (await begin(served, 9, 'stream')).response);
    const { id } = await old.message();
    const back = await served.client.listen(id);
    expect(carried(await old.rest())).toEqual([]);
    served.probe.emit('go');
    expect((await back.message()).message).toMatchObject({ id: 9, result: LET_GO });
  });

  inEverySessionRevision('knows when to do so if the handler has closed the stream [RESUME-08]', async (revision) => {
    const served = await connectTo(host, revision);
    const { response } = await begin(served, 9, 'poll');
    if (revision !== '2025-11-25') {
      // older clients can't resume a stream without messages, so the response stays in one piece
      served.probe.emit('go');
      expect(await json(await response)).toMatchObject({ id: 9, result: LET_GO });
      return;
    }
    const events = await new EventReader(await response).rest();
    expect(events).toEqual([{ id: expect.any(String), data: '' }, { retry: '25' }]);
    const back = await served.client.listen(events[0]?.id);
    expect(await back.next()).toEqual(events[0]);
    served.probe.emit('go');
    expect((await back.message()).message).toMatchObject({ id: 9, result: LET_GO });
    expect(await (await served.client.listen()).next()).toEqual({ id: expect.any(String), data: '' });
  });
});
