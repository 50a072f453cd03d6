// What handlers tell the client while they run, and cancellations, in every way that a request can take.
import { describe, expect } from '@jest/globals';
import {
  Completion,
  type Context,
  type Interceptor,
  type JsonObject,
  NoInput,
  type Plugin,
  Prompt,
  Resource,
  Tool,
} from '@decorum/core';

import { transportsOf } from '../support/http-transports.js';
import { RawClient } from '../support/raw-client.js';
import { eachRevisionOf } from '../support/requirements.js';
import { deferred, serverOf } from './servers.js';
import { type Setting, waysOf } from './ways.js';

const ANY: JsonObject = { type: 'object', properties: { at: {} } };
const LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'] as const;
const LEVEL = 'io.modelcontextprotocol/logLevel';

/** One handler of each kind, some of them asynchronous. All do the same. */
function membersOf(work: (context: Context) => unknown, late: (context: Context) => Promise<unknown>) {
  return ({ options, guard }: Setting) => {
    class Members {
      @Tool({ input: ANY, ...guard })
      tool(_input: object, context: Context) {
        work(context);
        return 'done';
      }

      @Tool({ input: ANY, ...guard })
      async later(_input: object, context: Context) {
        await late(context);
        return 'done';
      }

      @Tool({ input: ANY, ...guard })
      *steps(_input: object, context: Context) {
        work(context);
        yield 'step';
        return 'done';
      }

      @Prompt({ input: ANY, ...guard })
      async prompt(_input: object, context: Context) {
        await late(context);
        return 'done';
      }

      @Resource('docs://{at}', { input: ANY, ...guard })
      page(_input: object, context: Context) {
        work(context);
        return 'done';
      }

      @Resource('fixed://page', guard)
      async fixed(_input: NoInput, context: Context) {
        await late(context);
        return 'done';
      }

      @Completion({ for: 'page', argument: 'at' })
      async ats(_at: string, context: Context) {
        await late(context);
        return ['done'];
      }
    }
    return serverOf({ providers: [Members], ...options });
  };
}

const REQUESTS: readonly (readonly [method: string, params: JsonObject])[] = [
  ['tools/call', { name: 'tool' }],
  ['tools/call', { name: 'later' }],
  ['tools/call', { name: 'steps' }],
  ['prompts/get', { name: 'prompt', arguments: {} }],
  ['resources/read', { uri: 'docs://a' }],
  ['resources/read', { uri: 'fixed://page' }],
  ['completion/complete', { ref: { type: 'ref/resource', uri: 'docs://{at}' }, argument: { name: 'at', value: '' } }],
];

describe('a log message, however its request arrives,', () => {
  eachRevisionOf(
    ['LOG-02', 'LOG-03', 'LOG-05', 'LOG-06', 'LOG-08', 'LOG-09'],
    'is sent at the level that the client wants, before the response',
    async (revision) => {
      const talk = ({ log }: Context) =>
        LEVELS.forEach((level, at) => log.write(level, at, at % 2 ? level : undefined));
      const spoken = LEVELS.map((level, at) => ({ level, data: at, ...(at % 2 && { logger: level }) }));
      const build = membersOf(talk, async (context) => await Promise.resolve(context).then(talk));
      const messages = (client: RawClient) => client.of('notifications/message');
      for (const { name: way, client, ask } of await waysOf(revision, build)) {
        const setLevel = async (level: unknown) =>
          client.stateless ? { result: {} } : await ask('logging/setLevel', { level } as JsonObject);
        for (const [at, level] of [
          [4, 'error'],
          [7, 'emergency'],
        ] as const) {
          expect(await setLevel(level)).toMatchObject({ result: {} });
          for (const [method, params] of REQUESTS) {
            const before = messages(client).length;
            const { error } = await ask(method, { ...params, ...(client.stateless && { _meta: { [LEVEL]: level } }) });
            // they have arrived before the response
            const told = messages(client).slice(before);
            expect([way, method, error, told.map((message) => message.params)]).toEqual([
              way,
              method,
              undefined,
              spoken.slice(at),
            ]);
          }
        }
        const before = messages(client).length;
        for (const [index, wrong] of ['loud', 'ERROR', '', 3, 0, null, ['error'], false].entries()) {
          const [method, params] = REQUESTS[index % REQUESTS.length] as (typeof REQUESTS)[0];
          const { error } = client.stateless
            ? await ask(method, { ...params, _meta: { [LEVEL]: wrong } })
            : await ask('logging/setLevel', { level: wrong });
          expect([way, wrong, error?.code]).toEqual([way, wrong, -32602]);
        }
        // a refused level changes nothing, and a stateless request without a level gets nothing
        for (const [method, params] of REQUESTS.slice(-2)) await ask(method, params);
        await client.settled();
        const told = messages(client).slice(before);
        const last = client.stateless ? [] : [spoken[7], spoken[7]];
        expect([way, told.map((message) => message.params)]).toEqual([way, last]);
      }
    },
  );
});

describe('progress, however its request arrives,', () => {
  eachRevisionOf(
    ['PROG-01', 'PROG-02', 'PROG-03', 'PROG-04', 'PROG-06'],
    'grows, has the token of its request, and ends with it',
    async (revision) => {
      let contexts: Context[] = [];
      const report = (context: Context) => {
        contexts.push(context);
        for (const value of [2, 2, 1, -3, Number.NaN, 2.5, 2.5, 4]) context.progress(value, 5, `at ${value}`);
      };
      const build = membersOf(report, async (context) => await Promise.resolve(context).then(report));
      const message = (value: number) => (revision === '2024-11-05' ? {} : { message: `at ${value}` });
      for (const [turn, { name: way, client, ask }] of (await waysOf(revision, build)).entries()) {
        // what the way itself reports is left out
        const told = () => client.of('notifications/progress').filter(({ params }) => params?.['progress'] !== 1);
        for (const [index, progressToken] of [0, '', '0', 7, 'a', -1, 'b'].entries()) {
          const [method, params] = REQUESTS[(index + turn) % REQUESTS.length] as (typeof REQUESTS)[0];
          contexts = [];
          const before = told().length;
          await ask(method, { ...params, _meta: { progressToken } });
          const expected = [2, 2.5, 4].map((progress) => ({ progressToken, progress, total: 5, ...message(progress) }));
          expect([
            way,
            method,
            told()
              .slice(before)
              .map((each) => each.params),
          ]).toEqual([way, method, expected]);
          for (const context of contexts) context.progress(9);
          await client.settled();
          expect(told()).toHaveLength(before + 3);
        }
        const before = told().length;
        for (const [index, [method, params]] of REQUESTS.entries()) {
          await ask(method, params);
          const progressToken = [null, 1.5, true, {}, ['a'], [], false][index];
          const { error } = await ask(method, { ...params, _meta: { progressToken } });
          expect([way, progressToken, error?.code]).toEqual([way, progressToken, -32602]);
        }
        await client.settled();
        const later = told().slice(before);
        // only the way with a token of its own reports anything
        expect([way, later.filter((each) => each.params?.['progressToken'] !== 'way')]).toEqual([way, []]);
      }
    },
  );
});

describe('a cancelled request, however it has arrived,', () => {
  eachRevisionOf(
    ['CANC-02', 'CANC-03', 'CANC-04', 'CANC-05'],
    'ends without a response, and no other cancellation has an effect',
    async (revision) => {
      let started = deferred<Context>();
      const endless = async (context: Context) => {
        const aborted = new Promise((resolve) => context.signal.addEventListener('abort', resolve));
        started.resolve(context);
        await aborted;
      };
      const build = membersOf(() => {}, endless);
      for (const { name: way, client, isHttp, send, ask } of await waysOf(revision, build)) {
        // without a session, a question ends its request; over HTTP, the client expects all responses of a batch
        if ((client.stateless && way === 'after a question') || (isHttp && way === 'in a batch')) continue;
        const running = REQUESTS.filter(
          ([_method, params]) => !['tool', 'steps'].includes(String(params['name'])) && params['uri'] !== 'docs://a',
        );
        for (const [index, id] of ['a', '', 0].entries()) {
          const [method, params] = running[index % running.length] as (typeof REQUESTS)[0];
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
        const { result } = await ask('tools/call', { name: 'tool' });
        const before = client.received.length;
        const answered = client.received.flatMap(({ id }) => (id === undefined || id === null ? [] : [id]));
        for (const requestId of answered.slice(-3)) await client.notify('notifications/cancelled', { requestId });
        await client.settled();
        // the response that "settled" waited for
        expect([way, result !== undefined, client.received.length - before]).toEqual([way, true, 1]);
      }
    },
  );

  eachRevisionOf(
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
            if (REQUESTS.some(([each]) => each === method)) await wait();
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
          const setting = {
            plugin: { options: { plugins: [{ name: 'waiting', observe }] }, guard: {} },
            access: { options: {}, guard: { access } },
            interceptor: { options: { interceptors: [interceptor] }, guard: {} },
          }[waiter];
          let runs = 0;
          const work = async () => void (runs += 1);
          const server = membersOf(() => void (runs += 1), work)(setting);
          const client = await RawClient.connect(server, { revision }, transport);
          for (const [id, [method, params]] of REQUESTS.entries()) {
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
