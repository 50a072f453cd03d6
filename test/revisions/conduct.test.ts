// Cancellation, pings and progress.
import { describe, expect } from '@jest/globals';
import { type Context, type JsonObject, NoInput } from '@decorum/core';
import fc from 'fast-check';

import { overHttp, transportsOf } from '../support/http-transports.js';
import { type Message, overMemory, overStdio, RawClient, textOf } from '../support/raw-client.js';
import { eachRevision, eachSessionRevision, inStateless, type Revision, STATELESS } from '../support/requirements.js';
import { answerTo, messagesOf, postTo } from '../support/stateless-post.js';
import { deferred, serverOf, serverWith } from './servers.js';

/** A tool that runs until its signal aborts, with promises for its start and end. */
function endless() {
  const started = deferred<Context>();
  const ended = deferred<unknown>();
  const server = serverWith({
    async endless(context) {
      const aborted = new Promise((resolve) => context.signal.addEventListener('abort', resolve));
      started.resolve(context);
      await aborted;
      ended.resolve(context.signal.reason);
      return 'too late';
    },
    quick: () => 'quick',
  });
  return { server, started: started.promise, ended: ended.promise };
}

const call = (client: RawClient, id: unknown, name: string, meta?: JsonObject) =>
  client.buildMessage(id as string, 'tools/call', { name, ...(meta && { _meta: meta }) });

describe('a cancelled request', () => {
  eachRevision('CANC-02', 'ends without a response', async (revision) => {
    const { server, started, ended } = endless();
    const client = await RawClient.connect(server, { revision });
    const before = client.received.length;
    void client.send(call(client, 'slow', 'endless'));
    await started;
    await client.notify('notifications/cancelled', { requestId: 'slow', reason: 'The user is bored.' });
    expect(String(await ended)).toContain('The user is bored.');
    await client.settled();
    expect(client.received.slice(before).map(({ id }) => id)).not.toContain('slow');
  });

  eachRevision('CANC-03', 'is forgotten: unknown or answered requests cannot be cancelled', async (revision) => {
    const client = await RawClient.connect(endless().server, { revision });
    await client.send(call(client, 'done', 'quick'));
    const before = client.received.length;
    for (const requestId of ['never', 'done', 7]) await client.notify('notifications/cancelled', { requestId });
    expect(client.received.slice(before)).toEqual([]);
    expect(textOf(await client.call('quick'))).toBe('quick');
  });

  eachRevision('CANC-04', 'is answered at most once, no matter when it is cancelled', async (revision) => {
    const property = fc.asyncProperty(fc.array(fc.tuple(fc.nat(3), fc.nat(3)), { maxLength: 8 }), async (races) => {
      const turns = async (count: number) => {
        for (let turn = 0; turn < count; turn += 1) await Promise.resolve();
      };
      const server = serverWith({ work: (_context, { ticks }) => turns(ticks as number).then(() => 'done') });
      const client = await RawClient.connect(server, { revision });
      await Promise.all(
        races.map(async ([ticks, delay], id) => {
          const sent = client.send(client.buildMessage(id, 'tools/call', { name: 'work', arguments: { ticks } }));
          await turns(delay);
          await client.notify('notifications/cancelled', { requestId: id });
          await sent;
        }),
      );
      await client.settled();
      for (const id of races.keys()) {
        const answers = client.received.filter((message) => message.id === id);
        expect(answers.length).toBeLessThan(2);
        for (const { result } of answers) expect(result).toMatchObject({ content: [{ type: 'text', text: 'done' }] });
      }
      await client.close();
    });
    await fc.assert(property, { numRuns: 30 });
  });

  eachRevision('CANC-05', 'is not affected by a malformed notification', async (revision) => {
    const { server, started, ended } = endless();
    const client = await RawClient.connect(server, { revision });
    const before = client.received.length;
    void client.send(call(client, 1, 'endless'));
    const context = await started;
    const malformed = [undefined, {}, { requestId: null }, { requestId: ['1'] }, { requestId: '1' }, { requestId: {} }];
    for (const params of malformed) await client.notify('notifications/cancelled', params);
    expect(context.signal.aborted).toBe(false);
    expect(client.received.slice(before)).toEqual([]);
    await client.notify('notifications/cancelled', { requestId: 1 });
    await ended;
  });

  eachSessionRevision('CANC-08', 'is not "initialize"', async (revision) => {
    const client = await RawClient.connect(endless().server, { revision, begins: false });
    const params = { protocolVersion: revision, capabilities: {}, clientInfo: { name: 'raw', version: '1' } };
    void client.send({ jsonrpc: '2.0', id: 'hello', method: 'initialize', params });
    await client.notify('notifications/cancelled', { requestId: 'hello' });
    expect(await client.response('hello')).toMatchObject({ result: { protocolVersion: revision } });
    await client.notify('notifications/cancelled', { requestId: 'hello' });
    await client.notify('notifications/initialized');
    expect(textOf(await client.call('quick'))).toBe('quick');
  });

  eachSessionRevision('CANC-10', 'may be missing in the notification', async (revision) => {
    const { server, started, ended } = endless();
    const client = await RawClient.connect(server, { revision });
    void client.send(call(client, 1, 'endless'));
    const context = await started;
    await client.notify('notifications/cancelled', { reason: 'no request' });
    expect(context.signal.aborted).toBe(false);
    await client.notify('notifications/cancelled', { requestId: 1 });
    await ended;
  });

  eachRevision('CANC-14', 'aborts its signal, and so does the end of the session or the server', async (revision) => {
    for (const end of ['cancel', 'session', 'server'] as const) {
      const { server, started, ended } = endless();
      const client = await RawClient.connect(server, { revision });
      void client.send(call(client, 1, 'endless'));
      await started;
      if (end === 'cancel') await client.notify('notifications/cancelled', { requestId: 1 });
      if (end === 'session') await client.close();
      if (end === 'server') await server.close({ deadlineMs: 1 });
      expect(await ended).toMatchObject({ name: 'AbortError' });
    }
  });

  eachRevision('CANC-14', 'has an aborted signal, even if its handler first looks at it then', async (revision) => {
    for (const end of ['cancel', 'session', 'server'] as const) {
      const [started, go] = [deferred<Context>(), deferred()];
      const server = serverWith({
        busy(context) {
          started.resolve(context);
          return go.promise;
        },
      });
      const client = await RawClient.connect(server, { revision });
      void client.send(call(client, 1, 'busy'));
      const context = await started.promise;
      if (end === 'cancel') await client.notify('notifications/cancelled', { requestId: 1 });
      if (end === 'session') await client.close();
      if (end === 'server') await server.close({ deadlineMs: 1 });
      const { aborted, reason } = context.signal;
      expect([end, aborted, reason]).toMatchObject([end, true, { name: 'AbortError' }]);
      go.resolve();
    }
  });
});

const ACKNOWLEDGED = 'notifications/subscriptions/acknowledged';

/** Subscribes to tool list changes, and waits for the acknowledgement. */
async function listening(client: RawClient, id: string | number, meta: JsonObject = {}): Promise<void> {
  const params = { notifications: { toolsListChanged: true }, _meta: meta };
  void client.send(client.buildMessage(id, 'subscriptions/listen', params));
  const subscription = { 'io.modelcontextprotocol/subscriptionId': id };
  const fits = ({ method, params: { _meta } = {} }: Message) =>
    method === ACKNOWLEDGED && JSON.stringify(_meta) === JSON.stringify(subscription);
  await client.find(fits);
}

describe('a client without a session', () => {
  const revision = STATELESS;

  inStateless('CANC-11', 'cancels over stdio by a notification, and over HTTP by closing the stream', async () => {
    for (const transport of [overStdio, overHttp]) {
      const { server, started, ended } = endless();
      const client = await RawClient.connect(server, { revision }, transport);
      void client.send(call(client, 'x', 'endless'));
      const { signal } = await started;
      if (transport === overHttp) {
        await client.notify('notifications/cancelled', { requestId: 'x' });
        await client.settled();
        expect(signal.aborted).toBe(false);
      }
      await client.cancel('x');
      expect(await ended).toMatchObject({ name: 'AbortError' });
      await client.settled();
      expect(client.received.filter(({ id }) => id === 'x')).toEqual([]);
    }
  });

  inStateless('CANC-11', 'may describe itself in the notification as in a request', async () => {
    const { server, started, ended } = endless();
    const client = await RawClient.connect(server, { revision }, overStdio);
    void client.send(call(client, 'x', 'endless'));
    await started;
    const { params } = client.buildMessage('unused', 'notifications/cancelled', { requestId: 'x' });
    await client.notify('notifications/cancelled', params);
    expect(await ended).toMatchObject({ name: 'AbortError' });
    await client.settled();
    expect(client.received.filter(({ id }) => id === 'x')).toEqual([]);
  });

  inStateless('CANC-13', 'gets a result when the server ends its subscription', async () => {
    // https://github.com/modelcontextprotocol/modelcontextprotocol/issues/3348: the specification contradicts itself
    for (const transport of [overStdio, overHttp, overMemory]) {
      const server = serverWith({ quick: () => 'quick' });
      const client = await RawClient.connect(server, { revision }, transport);
      await listening(client, 'a');
      await listening(client, 0);
      await server.close();
      for (const id of ['a', 0]) {
        const result = { resultType: 'complete', _meta: { 'io.modelcontextprotocol/subscriptionId': id } };
        expect(await client.response(id)).toMatchObject({ result });
      }
      expect(client.received).toHaveLength(4);
    }
  });

  inStateless('CANC-12', 'gets no other cancellation, however a request ends', async () => {
    const { server, started } = endless();
    server.addTool({ name: 'fails', input: NoInput }, () => {
      throw new Error('fails');
    });
    server.addTool({ name: 'asks', input: NoInput }, (_input, ctx) =>
      ctx.sample({ messages: 'Hi', maxTokens: 1, timeoutMs: 1 }),
    );
    const client = await RawClient.connect(server, { revision, capabilities: { sampling: {} } }, overStdio);
    await listening(client, 'listening');
    await Promise.all(['quick', 'fails', 'asks'].map((name) => client.call(name)));
    void client.send(call(client, 'endless', 'endless'));
    await started;
    await server.close({ deadlineMs: 1 });
    await client.response('listening');
    await client.close();
    const cancelled = client.of('notifications/cancelled').map(({ params }) => params?.['requestId']);
    expect(cancelled.filter((id) => id !== 'listening')).toEqual([]);
    expect(client.received.length).toBeGreaterThan(4);
  });

  inStateless('PING-05', 'neither sends nor receives pings', async () => {
    const server = serverWith({ alive: (context) => context.ping() });
    for (const transport of [overStdio, overHttp, overMemory]) {
      const client = await RawClient.connect(server, { revision }, transport);
      expect(await client.error('ping')).toMatchObject({ code: -32601 });
      expect(await client.call('alive')).toMatchObject({ isError: true });
      expect(client.received.filter(({ method }) => method !== undefined)).toEqual([]);
      expect(client.questions).toEqual([]);
      // not even where a session has begun, which has pings
      if (transport !== overHttp) {
        const both = await RawClient.connect(server, { revision: '2025-11-25' }, transport);
        expect(await both.result('ping')).toEqual({});
        await both.send(client.buildMessage('modern', 'ping'));
        expect(await both.response('modern')).toMatchObject({ error: { code: -32601 } });
      }
      expect(await answerTo(server, client.buildMessage(1, 'ping'))).toMatchObject([
        404,
        { id: 1, error: { code: -32601 } },
      ]);
    }
  });
});

describe('a question that is cancelled', () => {
  const asking = () =>
    serverWith(
      {
        ask: (context) => context.sample({ messages: 'Hi', maxTokens: 1 }),
        quick: () => 'quick',
      },
      { questionTimeoutMs: 10 },
    );
  const answer = { role: 'assistant', model: 'm', content: { type: 'text', text: 'Late' } };

  eachSessionRevision('CANC-01', 'is the server’s own and in flight', async (revision) => {
    const client = await RawClient.connect(asking(), { revision, capabilities: { sampling: {} } });
    await Promise.all([client.call('ask'), client.call('ask'), client.call('quick')]);
    const asked = client.of('sampling/createMessage').map(({ id }) => id);
    const cancelled = client.of('notifications/cancelled').map(({ params }) => params?.['requestId']);
    expect(asked).toHaveLength(2);
    expect(cancelled.sort()).toEqual(asked.sort());
  });

  eachSessionRevision('CANC-07', 'may still be answered, and the answer is ignored', async (revision) => {
    const client = await RawClient.connect(asking(), { revision, capabilities: { sampling: {} } });
    expect(await client.call('ask')).toMatchObject({ isError: true });
    const [question] = client.of('sampling/createMessage') as [Message];
    const before = client.received.length;
    await client.send({ jsonrpc: '2.0', id: question.id, result: answer });
    await client.send({ jsonrpc: '2.0', id: question.id, error: { code: -1, message: 'No' } });
    expect(client.received.slice(before)).toEqual([]);
    expect(textOf(await client.call('quick'))).toBe('quick');
  });

  eachSessionRevision('CANC-07', 'does not answer another question when its answer is late', async (revision) => {
    const server = serverWith({
      hasty: (context) => context.sample({ messages: 'Hi', maxTokens: 1, timeoutMs: 10 }),
      patient: async (context) => (await context.sample({ messages: 'Hi', maxTokens: 1 })).text,
    });
    const client = await RawClient.connect(server, { revision, capabilities: { sampling: {} } });
    expect(await client.call('hasty')).toMatchObject({ isError: true });
    const waiting = client.call('patient');
    await client.find(() => client.of('sampling/createMessage').length === 2);
    const [late, open] = client.of('sampling/createMessage') as [Message, Message];
    for (const id of [late.id, 'never asked', 7]) {
      await client.send({ jsonrpc: '2.0', id, error: { code: -1, message: 'No' } });
      await client.send({ jsonrpc: '2.0', id, result: answer });
    }
    const timely = { ...answer, content: { type: 'text', text: 'Timely' } };
    await client.send({ jsonrpc: '2.0', id: open.id, result: timely });
    expect(textOf(await waiting)).toBe('Timely');
  });
});

describe('a ping', () => {
  eachSessionRevision('PING-01', 'is answered at once, even while a tool runs', async (revision) => {
    for (const transport of Object.values(transportsOf(revision))) {
      const { server, started, ended } = endless();
      const client = await RawClient.connect(server, { revision }, transport);
      void client.send(call(client, 1, 'endless'));
      await started;
      expect(await client.result('ping')).toEqual({});
      // the tool still runs: the ping did not wait for it
      expect(client.received.map(({ id }) => id)).not.toContain(1);
      await client.cancel(1);
      await ended;
    }
  });

  eachSessionRevision('PING-02', 'is answered before the session begins', async (revision) => {
    const client = await RawClient.connect(serverOf(), { revision, begins: false });
    expect(await client.result('ping')).toEqual({});
  });
});

/** The progress notifications that a client receives from a tool. */
async function progressOf(revision: Revision, report: (context: Context) => void, token?: unknown) {
  const client = await RawClient.connect(serverWith({ report }), { revision }, overMemory);
  await client.send(call(client, 'call', 'report', token === undefined ? undefined : { progressToken: token }));
  expect(await client.response('call')).toHaveProperty('result.content');
  return client.of('notifications/progress').map(({ params }) => params);
}

describe('progress', () => {
  eachRevision('PROG-01', 'is sent only on request and while the call is in flight', async (revision) => {
    expect(await progressOf(revision, (context) => context.progress(1))).toEqual([]);
    let late: Context | undefined;
    const server = serverWith({
      work(context) {
        late = context;
        context.progress(1);
      },
    });
    const client = await RawClient.connect(server, { revision });
    await client.send(call(client, 1, 'work', { progressToken: 't' }));
    late?.progress(2);
    await client.settled();
    expect(client.of('notifications/progress')).toHaveLength(1);
    expect(client.received.findIndex(({ method }) => method === 'notifications/progress')).toBeLessThan(
      client.received.findIndex(({ id }) => id === 1),
    );
  });

  eachRevision('PROG-02', 'grows', async (revision) => {
    const values = [1, 1, 0.5, 2, Number.NaN, 1.5, 2.5, Number.NEGATIVE_INFINITY, 2.5, 3];
    const told = await progressOf(revision, (context) => values.forEach((value) => context.progress(value)), 't');
    expect(told.map((params) => params?.['progress'])).toEqual([1, 2, 2.5, 3]);
  });

  eachRevision('PROG-03', 'stops when the request is answered', async (revision) => {
    for (const transport of Object.values(transportsOf(revision))) {
      const working = deferred<Context>();
      const server = serverWith({
        work(context) {
          context.progress(1);
          working.resolve(context);
        },
      });
      const client = await RawClient.connect(server, { revision }, transport);
      void client.send(call(client, 1, 'work', { progressToken: 't' }));
      const late = await working.promise;
      expect(await client.response(1)).not.toHaveProperty('result.isError');
      for (const progress of [2, 3]) late.progress(progress);
      await client.settled();
      late.progress(4);
      await client.settled();
      expect(client.of('notifications/progress').map(({ params }) => params?.['progress'])).toEqual([1]);
    }
  });

  eachRevision('PROG-04', 'has the unchanged token', async (revision) => {
    for (const token of ['abc', '', '0', 0, 1, -1, Number.MAX_SAFE_INTEGER]) {
      const told = await progressOf(revision, (context) => context.progress(1), token);
      expect(told).toEqual([{ progressToken: token, progress: 1 }]);
    }
  });

  eachRevision('PROG-05', 'may be a fraction, of an unknown total', async (revision) => {
    const report = (context: Context) => {
      context.progress(0.25);
      context.progress(0.5, 0.75);
    };
    expect(await progressOf(revision, report, 't')).toEqual([
      { progressToken: 't', progress: 0.25 },
      { progressToken: 't', progress: 0.5, total: 0.75 },
    ]);
  });

  eachRevision('PROG-06', 'has a message for users', async (revision) => {
    const told = await progressOf(revision, (context) => context.progress(1, 2, 'Half way'), 't');
    expect(told).toEqual([{ progressToken: 't', progress: 1, total: 2, message: 'Half way' }]);
  });

  eachRevision('PROG-08', 'is optional', async (revision) => {
    for (const transport of Object.values(transportsOf(revision))) {
      const client = await RawClient.connect(serverWith({ rest: () => 'rested' }), { revision }, transport);
      const result = await client.result('tools/call', { name: 'rest', _meta: { progressToken: 't' } });
      expect(textOf(result)).toBe('rested');
      await client.settled();
      expect(client.of('notifications/progress')).toEqual([]);
    }
  });
});

describe('progress without a session', () => {
  const revision = STATELESS;
  const working = () => serverWith({ work: (context) => context.progress(1, 2), rest: () => 'rested' });
  const PROGRESS = 'notifications/progress';

  inStateless('PROG-10', 'is never sent on a subscription', async () => {
    for (const transport of [overStdio, overMemory, overHttp]) {
      const server = working();
      const client = await RawClient.connect(server, { revision }, transport);
      await listening(client, 'listening', { progressToken: 'of listening' });
      await client.send(call(client, 'x', 'work', { progressToken: 'of work' }));
      await client.response('x');
      server.notify.toolsChanged();
      await client.find(({ method }) => method === 'notifications/tools/list_changed');
      expect(client.of(PROGRESS).map(({ params }) => params)).toEqual([
        { progressToken: 'of work', progress: 1, total: 2 },
      ]);
    }
    const server = working();
    const client = await RawClient.connect(server, { revision });
    const params = { notifications: { toolsListChanged: true }, _meta: { progressToken: 'same' } };
    const stream = await postTo(server, client.buildMessage(1, 'subscriptions/listen', params));
    await (await postTo(server, call(client, 2, 'work', { progressToken: 'same' }))).text();
    await server.close();
    const methods = (await messagesOf(stream)).map(({ method = 'response' }) => method);
    expect(methods).toEqual([ACKNOWLEDGED, 'response']);
  });

  inStateless('PROG-11', 'turns the response to its request into a stream', async () => {
    const server = working();
    const client = await RawClient.connect(server, { revision });
    const typeOf = (response: Response) => response.headers.get('content-type');
    const stream = await postTo(server, call(client, 'x', 'work', { progressToken: 0 }));
    expect(typeOf(stream)).toBe('text/event-stream');
    expect(await messagesOf(stream)).toMatchObject([
      { method: PROGRESS, params: { progressToken: 0, progress: 1, total: 2 } },
      { id: 'x', result: { resultType: 'complete' } },
    ]);
    for (const message of [call(client, 1, 'work'), call(client, 2, 'rest', { progressToken: 0 })]) {
      const response = await postTo(server, message);
      expect(typeOf(response)).toMatch(/^application\/json/);
      expect(await response.json()).toHaveProperty('result');
    }
  });
});
