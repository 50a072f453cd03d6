// Ids, errors and notifications: what holds for every message, over every transport.
import { describe, expect } from '@jest/globals';
import { Completion, McpError, Prompt, Resource, Tool } from '@decorum/core';
import { IsString } from 'class-validator';

import { overHttp, transportsOf } from '../support/http-transports.js';
import { overMemory, overStdio, RAW_TRANSPORTS, RawClient, textOf } from '../support/raw-client.js';
import { eachRevision, eachSessionRevision, inStateless, STATELESS } from '../support/requirements.js';
import { asked, called, declares, PREFIX, VERSION } from '../support/stateless-post.js';
import { provoked } from './failing.js';
import { membersOf, RUNNING } from './members.js';
import { answerTo } from './probes.js';
import { deferred, serverOf, serverWith } from './servers.js';

class City {
  @IsString()
  city!: string;
}

describe('a question of the server', () => {
  eachSessionRevision(
    ['RPC-03', 'RPC-04'],
    'has an id of its own, however the earlier ones ended',
    async (revision) => {
      const server = serverWith({
        async ask(context) {
          const ends = await Promise.allSettled([
            context.ping({ timeoutMs: 5 }),
            context.roots({ timeoutMs: 5 }),
            context.sample({ messages: 'Hi', maxTokens: 1 }),
            context.ping(),
          ]);
          return ends.map(({ status }) => status).join();
        },
      });
      for (const transport of Object.values(transportsOf(revision))) {
        let pings = 0;
        const client = await RawClient.connect(
          server,
          {
            revision,
            capabilities: { sampling: {}, roots: {} },
            answers: {
              // every other ping is answered, the roots never, and sampling fails
              ping: () => ((pings += 1) % 2 === 0 ? { result: {} } : undefined),
              'sampling/createMessage': () => ({ error: { code: -1, message: 'No' } }),
            },
          },
          transport,
        );
        for (let call = 0; call < 4; call += 1) {
          expect(textOf(await client.call('ask'))).toBe('rejected,rejected,rejected,fulfilled');
        }
        const questions = client.received.filter(({ id: own, method }) => own !== undefined && method !== undefined);
        const ids = questions.map((question) => question.id);
        expect([ids.length, new Set(ids).size]).toEqual([16, 16]);
        for (const own of ids) expect(typeof own === 'string' || Number.isInteger(own)).toBe(true);
      }
    },
  );
});

describe('the id of a request', () => {
  inStateless('RPC-05', 'may be used again once its request has failed', async () => {
    const server = serverWith({
      now: () => {
        throw new Error('now');
      },
      later: async () => await Promise.reject(new McpError(4711, 'later')),
      quick: () => 'quick',
    });
    for (const transport of [overMemory, overStdio, overHttp]) {
      const client = await RawClient.connect(server, { revision: STATELESS }, transport);
      for (const id of [1, '1', 0, '']) {
        for (const [method, params] of [
          ['tools/call', { name: 'now' }],
          ['tools/call', { name: 'later' }],
          ['tools/call', { name: 'none' }],
          ['no/such', {}],
          ['tools/list', { cursor: 'none' }],
        ] as const) {
          expect((await answerTo(client, asked(id, method, params))).id).toBe(id);
          expect(await answerTo(client, called(id, 'quick'))).toMatchObject({
            id,
            result: { content: [{ text: 'quick' }] },
          });
        }
      }
    }
  });
});

/** Servers whose members throw an author's error with this code, at once or later. */
function throwing(code: number) {
  const fail = () => {
    throw new McpError(code, 'An error of the author.', { own: true });
  };
  const extensions = [{ id: 'com.example/x', methods: { 'x/fails': async () => fail() as never } }];
  const late = async () => await Promise.resolve().then(fail);
  return [fail, late].map((work) => serverOf({ providers: [membersOf(work)], extensions }));
}

/** Requests that run them. */
const FAILING = [...RUNNING, ['x/fails', {}] as const];

describe('an error', () => {
  inStateless(
    ['RPC-27', 'RPC-28', 'RPC-29'],
    'of an author never has a code that is reserved, whichever member throws it',
    async () => {
      const capabilities = declares({ extensions: { 'com.example/x': {} } });
      const codes = [-32000, -32001, -32002, -32019, -32020, -32021, -32022, -32023, -32042, -32050, -32098, -32099];
      for (const code of codes) {
        for (const server of throwing(code)) {
          const client = await RawClient.connect(server, { revision: STATELESS });
          for (const [method, params] of FAILING) {
            const { error, result } = await answerTo(client, asked(method, method, params, capabilities));
            const chosen = error?.code ?? 0;
            expect([method, code, chosen >= -32099 && chosen <= -32000]).toEqual([method, code, false]);
            expect(error !== undefined || result?.['isError'] === true).toBe(true);
          }
        }
      }
    },
  );

  inStateless('RPC-29', 'of a closing server has the code of an internal error, over any transport', async () => {
    for (const [name, transport] of Object.entries(transportsOf(STATELESS))) {
      const started = deferred();
      const server = serverWith({
        async endless() {
          started.resolve();
          await new Promise(() => {});
        },
      });
      const client = await RawClient.connect(server, { revision: STATELESS }, transport);
      void client.send(called('late', 'endless'));
      await started.promise;
      await server.close({ deadlineMs: 1 });
      const { error } = await client.response('late');
      expect([name, error]).toEqual([name, { code: -32603, message: 'The server is closing.' }]);
    }
  });

  eachRevision('RPC-09', 'quotes only the start of a value, whatever its type', async (revision) => {
    class Places {
      @Prompt()
      pack({ city }: City) {
        return city;
      }

      @Tool()
      tool({ city }: City) {
        return city;
      }

      @Resource('places://{city}')
      place({ city }: City) {
        return city;
      }

      @Completion({ for: 'pack', argument: 'city' })
      cities() {
        return [];
      }
    }
    const client = await RawClient.connect(serverOf({ providers: [Places] }), { revision });
    const long = 'x'.repeat(5000);
    for (const value of [long, { [long]: long }, [long, long], [{ deep: [long] }], Array(5000).fill(7)]) {
      const level = client.stateless
        ? (['tools/list', { _meta: { [`${PREFIX}logLevel`]: value } }] as const)
        : (['logging/setLevel', { level: value }] as const);
      for (const [method, params] of [
        level,
        ['tools/call', { name: value }],
        ['prompts/get', { name: value }],
        ['prompts/get', { name: 'pack', arguments: { city: value } }],
        ['resources/read', { uri: value }],
        ['completion/complete', { ref: { type: value } }],
        ['completion/complete', { ref: { type: 'ref/prompt', name: 'pack' }, argument: { name: value, value } }],
      ] as const) {
        const response = await client.request(method, params);
        expect([method, JSON.stringify(response.error ?? '').length < 1000]).toEqual([method, true]);
      }
      const { error, result } = await client.request('tools/call', { name: 'tool', arguments: { [long]: value } });
      expect(JSON.stringify(error ?? result).length).toBeLessThan(1000);
      const [method, params] = level;
      expect((await client.request(method, params)).error).toMatchObject({ code: -32602 });
    }
  });

  inStateless('RPC-30', 'of an author has its own code outside of that range, whichever member throws it', async () => {
    const capabilities = declares({ extensions: { 'com.example/x': {} } });
    for (const code of [4711, -1, -31_999, -32_100, -32_769]) {
      for (const server of throwing(code)) {
        const client = await RawClient.connect(server, { revision: STATELESS });
        for (const [method, params] of FAILING) {
          const { error } = await answerTo(client, asked(method, method, params, capabilities));
          expect([method, error]).toMatchObject([method, { code, data: { own: true } }]);
        }
      }
    }
  });

  inStateless(['RPC-08', 'RPC-09'], 'is one line with an integer code, whatever the client sends', async () => {
    const text = `${'x'.repeat(5000)}\n    at secret (/app/server.js:1:1)`;
    const errors = (await provoked()).map(({ error }) => error);
    const client = await RawClient.connect(serverWith({ tool: () => '' }), { revision: STATELESS });
    for (const message of [
      asked(1, text),
      asked(1, 'tools/call', { name: text }),
      asked(1, 'tools/list', {}, { [VERSION]: text }),
      asked(1, 'tools/list', {}, { [`${PREFIX}logLevel`]: text }),
      asked(1, 'tools/list', { cursor: text }),
      asked(1, 'tools/call', { name: 'tool', requestState: text }),
      asked(1, 'tools/call', { name: 'tool', inputResponses: text }),
    ]) {
      errors.push((await answerTo(client, message)).error);
    }
    for (const error of errors) {
      expect(Number.isInteger(error?.code)).toBe(true);
      expect(error?.message).toMatch(/^[^\n]{1,400}$/);
      expect(JSON.stringify(error?.data ?? '').length).toBeLessThan(1000);
      expect(error?.message).not.toMatch(/\.[jt]s:\d/);
    }
  });
});

describe('a notification', () => {
  /** Notifications that are invalid, or named like requests. */
  const notes = (revision: string): readonly (object | string)[] => [
    ...['initialize', 'ping', 'tools/list', 'tools/call', 'server/discover', 'subscriptions/listen', ''].map(
      (method) => ({
        jsonrpc: '2.0',
        method,
        params: { name: 'hi', notifications: {}, protocolVersion: revision },
      }),
    ),
    { jsonrpc: '1.0', method: 'notifications/nothing' },
    { method: 'tools/call', params: { name: 'hi' } },
    ...[[], 7, 'none', null].map((params) => ({ jsonrpc: '2.0', method: 'tools/call', params })),
    '{"jsonrpc":"2.0","method":"notifications/nothing","params":{"__proto__":{}}}',
    '{"jsonrpc":"2.0","method":"tools/call","params":{"name":"hi","arguments":1e999}}',
    ...['v999.0.0', '2025-11-25', STATELESS, 7].map((version) => ({
      jsonrpc: '2.0',
      method: 'notifications/nothing',
      params: { _meta: { [VERSION]: version, progressToken: {} } },
    })),
    ...[0, '', null, [], 'x'.repeat(300)].map((requestId) => ({
      jsonrpc: '2.0',
      method: 'notifications/cancelled',
      params: { requestId, reason: 7 },
    })),
  ];

  eachRevision(
    'RPC-10',
    'is never answered and runs nothing, also before a session and at its end',
    async (revision) => {
      for (const [name, transport] of Object.entries(RAW_TRANSPORTS)) {
        const done = deferred();
        let runs = 0;
        const server = serverWith({ slow: () => done.promise.then(() => 'slow'), hi: () => void (runs += 1) });
        const client = await RawClient.connect(server, { revision, begins: false }, transport);
        for (const note of notes(revision)) await client.send(note);
        await client.begin();
        const before = client.received.length;
        for (const note of notes(revision)) await client.send(note);
        void client.send(client.buildMessage('slow', 'tools/call', { name: 'slow' }));
        await client.request(client.stateless ? 'server/discover' : 'ping', {}, 'settled');
        const closing = server.close();
        for (const note of notes(revision)) await client.send(note);
        const closed = { code: -32603, message: 'The server is closing.' };
        expect(await answerTo(client, client.buildMessage('late', 'tools/list'))).toMatchObject({
          id: 'late',
          error: client.stateless ? closed : { code: expect.any(Number) },
        });
        done.resolve();
        expect(await client.response('slow')).toMatchObject({ result: { content: [{ text: 'slow' }] } });
        await closing;
        expect([name, client.received.slice(before).map(({ id }) => id)]).toEqual([name, ['settled', 'late', 'slow']]);
        expect(runs).toBe(0);
      }
    },
  );
});

describe('a server that offers nothing', () => {
  eachRevision('RPC-39', 'still identifies itself and responds over every transport', async (revision) => {
    for (const [name, transport] of Object.entries(transportsOf(revision))) {
      const client = await RawClient.connect(serverOf(), { revision, begins: false }, transport);
      const { protocolVersion, supportedVersions = [protocolVersion] } = await client.begin();
      expect([name, supportedVersions]).toEqual([name, expect.arrayContaining([revision])]);
      await client.settled();
      for (const method of ['tools/call', 'prompts/list', 'resources/read', 'completion/complete']) {
        expect([name, await client.error(method, { name: 'x', uri: 'x:y' })]).toMatchObject([name, { code: -32601 }]);
      }
    }
  });
});
