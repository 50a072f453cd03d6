// Cancelled requests, and questions that the server takes back.
import { describe, expect } from '@jest/globals';
import { type Context, type Interceptor, NoInput } from '@decorum/core';
import type { Plugin } from '@decorum/core/plugin';

import { transportsOf } from '../support/http-transports.js';
import { RawClient, type RawOptions } from '../support/raw-client.js';
import { eachRevision, inStateless, STATELESS } from '../support/requirements.js';
import { ASKING, membersOf, RUNNING, type Work } from './members.js';
import { listen } from './neutral.js';
import { deferred, serverOf } from './servers.js';
import { waysOf } from './ways.js';

describe('a cancelled request, however it has arrived,', () => {
  eachRevision(
    ['CANC-02', 'CANC-03', 'CANC-04', 'CANC-05'],
    'ends without a response, and no other cancellation has an effect',
    async (revision) => {
      let started = deferred<Context>();
      const endless = async (context: Context) => {
        const aborted = new Promise((resolve) => context.signal.addEventListener('abort', resolve));
        started.resolve(context);
        await aborted;
      };
      const ways = await waysOf(revision, ({ options, guard }) => {
        const server = serverOf({ providers: [membersOf(endless, guard)], ...options });
        server.addTool({ name: 'quick', input: NoInput, ...guard }, () => 'quick');
        return server;
      });
      for (const [turn, { name: way, client, isHttp, send, ask }] of ways.entries()) {
        // without a session, a question ends its request; over HTTP, the client expects all responses of a batch
        if ((client.stateless && way === 'after a question') || (isHttp && way === 'in a batch')) continue;
        for (const [index, id] of ['a', '', 0].entries()) {
          const [method, params] = RUNNING[(2 * index + turn) % RUNNING.length] as (typeof RUNNING)[number];
          started = deferred();
          void send(client.buildMessage(id, method, params));
          const { signal } = await started.promise;
          const others = [`${id} `, 1, null, [id], undefined];
          for (const requestId of others) await client.notify('notifications/cancelled', { requestId });
          await client.notify('notifications/cancelled');
          await client.settled();
          expect([way, id, signal.aborted]).toEqual([way, id, false]);
          await client.cancel(id, 'Enough.');
          await new Promise<unknown>((resolve) =>
            signal.aborted ? resolve(0) : signal.addEventListener('abort', resolve),
          );
          // again, and too late
          await client.notify('notifications/cancelled', { requestId: id });
          await client.settled();
          expect([way, client.received.filter((message) => message.id === id)]).toEqual([way, []]);
        }
        const { result } = await ask('tools/call', { name: 'quick' });
        const before = client.received.length;
        const answered = client.received.flatMap(({ id }) => (id === undefined || id === null ? [] : [id]));
        for (const requestId of answered.slice(-3)) await client.notify('notifications/cancelled', { requestId });
        await client.settled();
        // the response that "settled" waited for
        expect([way, result !== undefined, client.received.length - before]).toEqual([way, true, 1]);
      }
    },
  );

  eachRevision(
    ['CANC-02', 'CANC-04'],
    'never runs if it waits for a plugin, an access function or an interceptor, and has no response then either',
    async (revision) => {
      for (const [name, transport] of Object.entries(transportsOf(revision))) {
        for (const waiter of ['plugin', 'access', 'interceptor'] as const) {
          let [held, go] = [deferred(), deferred()];
          const wait = async () => {
            held.resolve();
            await go.promise;
          };
          const observe: Plugin['observe'] = async ({ method }, run) => {
            if (ASKING.some(([each]) => each === method)) await wait();
            return await run();
          };
          const access = async () => {
            await wait();
            return true;
          };
          const interceptor: Interceptor = async (_call, next) => {
            await wait();
            return await next();
          };
          const [guard, options] = {
            plugin: [{}, { plugins: [{ name: 'waiting', observe }] }],
            access: [{ access }, {}],
            interceptor: [{}, { interceptors: [interceptor] }],
          }[waiter];
          let runs = 0;
          const server = serverOf({ providers: [membersOf(() => (runs += 1), guard)], ...options });
          const client = await RawClient.connect(server, { revision }, transport);
          for (const [id, [method, params]] of ASKING.entries()) {
            [held, go] = [deferred(), deferred()];
            void client.send(client.buildMessage(id, method, params));
            await held.promise;
            await client.cancel(id);
            await client.settled();
            go.resolve();
            await client.settled();
            const answers = client.received.filter((message) => message.id === id);
            expect([name, waiter, method, answers]).toEqual([name, waiter, method, []]);
          }
          expect([name, waiter, runs]).toEqual([name, waiter, 0]);
        }
      }
    },
  );
});

const cancelledBy = (client: RawClient) =>
  client.of('notifications/cancelled').map(({ params }) => params?.['requestId']);
const questionsTo = (client: RawClient) => client.of('roots/list').map(({ id }) => id);
const capabilities = { roots: {} };
const none = { 'roots/list': () => undefined };

/** A server whose members ask, and which has a tool that does not. */
function asking(work: Work) {
  const server = serverOf({ providers: [membersOf(async (context, input) => String(await work(context, input)))] });
  server.addTool({ name: 'quick', input: NoInput }, () => 'quick');
  return server;
}

describe('a question that the server takes back', () => {
  eachRevision(
    ['CANC-01', 'CANC-07'],
    'is named by its own id, once, and its late answers are dropped, over every transport',
    async (revision) => {
      for (const [name, transport] of Object.entries(transportsOf(revision))) {
        const server = asking(async (context) => (await context.roots({ timeoutMs: 5 })).length);
        const client = await RawClient.connect(server, { revision, capabilities, answers: none }, transport);
        for (const [at, [method, params]] of ASKING.entries()) {
          await client.request(method, params);
          await client.settled();
          expect([name, method, cancelledBy(client)]).toEqual([name, method, questionsTo(client)]);
          expect(questionsTo(client)).toHaveLength(at + 1);
        }
        const before = client.received.length;
        for (const id of questionsTo(client)) {
          await client.send({ jsonrpc: '2.0', id, result: { roots: [] } });
          await client.send({ jsonrpc: '2.0', id, error: { code: -1, message: 'Too late.' } });
        }
        await client.settled();
        // the response that "settled" waited for
        expect([name, client.received.length - before]).toEqual([name, 1]);
        expect(await client.call('quick')).toMatchObject({ content: [{ text: 'quick' }] });
      }
    },
  );

  eachRevision(
    'CANC-01',
    'belongs to the request that the client has cancelled, and no other question is taken back',
    async (revision) => {
      for (const [name, transport] of Object.entries(transportsOf(revision))) {
        const server = asking(async (context) => (await context.roots()).length);
        const client = await RawClient.connect(server, { revision, capabilities, answers: none }, transport);
        for (const [id, [method, params]] of ASKING.entries()) {
          void client.send(client.buildMessage(id, method, params));
          await client.find(() => questionsTo(client).length === id + 1);
        }
        const questions = questionsTo(client);
        await client.cancel(1);
        await client.find(() => cancelledBy(client).length > 0);
        await client.settled();
        expect([name, cancelledBy(client)]).toEqual([name, [questions[1]]]);
        for (const id of [0, 2, 3]) {
          await client.send({ jsonrpc: '2.0', id: questions[id], result: { roots: [] } });
          expect(await client.response(id)).toHaveProperty('result');
        }
        await client.settled();
        expect([name, cancelledBy(client).length]).toEqual([name, 1]);
        expect(client.received.filter(({ id }) => id === 1)).toEqual([]);
      }
    },
  );
});

describe('a stateless request', () => {
  const revision = STATELESS;

  inStateless('CANC-12', 'is never cancelled by the server, over any transport', async () => {
    for (const [name, transport] of Object.entries(transportsOf(revision))) {
      const started = deferred();
      const server = asking(async (context) => (await context.roots({ timeoutMs: 1 })).length);
      server.addTool({ name: 'endless', input: NoInput }, async (_input, { signal }) => {
        started.resolve();
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
      });
      const client = await RawClient.connect(server, { revision, capabilities }, transport);
      for (const id of ['kept', 'given up']) await listen(client, { toolsListChanged: true }, id);
      for (const [method, params] of ASKING) await client.request(method, params);
      for (const tool of ['quick', 'unknown']) await client.request('tools/call', { name: tool });
      void client.send(client.buildMessage('x', 'tools/call', { name: 'endless' }));
      await started.promise;
      for (const id of ['x', 'given up']) await client.cancel(id);
      await client.settled();
      expect([name, cancelledBy(client)]).toEqual([name, []]);
      await server.close({ deadlineMs: 1 });
      await client.response('kept');
      expect([name, cancelledBy(client).filter((id) => id !== 'kept')]).toEqual([name, []]);
    }
  });

  const same = { key: 'same' };

  /** Handlers that ask with the same key twice. */
  const TWICE: Readonly<Record<string, Work>> = {
    'in turn': async (context) => [await context.roots(same), await context.roots(same)],
    'at once': (context) => Promise.all([context.roots(same), context.roots(same)]),
    async 'after a failure'(context) {
      await context.roots(same).catch(() => {});
      await context.roots(same).catch(() => {});
    },
  };

  inStateless('CANC-12', 'fails if it uses a key of a question twice, and nothing is cancelled', async () => {
    const answers = { 'roots/list': () => ({ result: { roots: [] } }) };
    const options: RawOptions = { revision, capabilities, answers };
    for (const [name, transport] of Object.entries(transportsOf(revision))) {
      for (const [how, work] of Object.entries(TWICE)) {
        const client = await RawClient.connect(asking(work), options, transport);
        await listen(client, { toolsListChanged: true }, 'kept');
        for (const [method, params] of ASKING) {
          const failed = client.result(method, params).then(({ isError }) => isError);
          expect([how, await failed.catch(() => true)]).toEqual([how, true]);
        }
        await client.settled();
        const told = client.received.flatMap(({ method }) => method ?? []);
        expect([name, how, told]).toEqual([name, how, ['notifications/subscriptions/acknowledged']]);
      }
    }
  });
});
