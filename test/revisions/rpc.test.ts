// Requests, responses, errors and notifications of JSON-RPC, over every transport.
import { describe, expect, it } from '@jest/globals';
import { Completion, type JsonObject, McpError, Prompt, Resource, Tool } from '@decorum/core';
import { listen as serve, MemorySessionStore } from '@decorum/http';
import { IsString } from 'class-validator';

import { EventReader } from '../../packages/http/test/events.js';
import { afterwards, json, post } from '../../packages/http/test/fixture.js';
import { HttpClient } from '../support/http-client.js';
import { endpointOf, transportsOf } from '../support/http-transports.js';
import { type Message, RAW_TRANSPORTS, RawClient, textOf } from '../support/raw-client.js';
import { eachRevision, eachSessionRevision, inStateless, type Revision, STATELESS } from '../support/requirements.js';
import { asked, called, declares, PREFIX, VERSION } from '../support/stateless-post.js';
import { membersOf, RUNNING } from './members.js';
import { echo, listen, probe, responseTo } from './neutral.js';
import { deferred, serverOf, serverWith } from './servers.js';

const open = (revision: Revision) => RawClient.connect(serverWith(echo), { revision });

class City {
  @IsString()
  city!: string;
}

/** One member of each kind. */
class Places {
  @Tool()
  tool({ city }: City) {
    return city;
  }

  @Prompt()
  pack({ city }: City) {
    return city;
  }

  @Resource('places://{city}')
  place({ city }: City) {
    return city;
  }

  @Completion({ for: ['pack', 'place'], argument: 'city' })
  cities() {
    return ['Oslo'];
  }
}

const LONG = `${'x'.repeat(5000)}\n    at secret (/app/server.js:1:1)`;
const argument = { name: 'city', value: '' };

/** Methods that are requests in other revisions only, or never. */
const NO_METHODS = ['tools/fly', '', 'toString', 'tasks/list', LONG, 'notifications/initialized'];
const [SESSION_METHODS, STATELESS_METHODS] = [
  ['ping', 'logging/setLevel', 'resources/subscribe', 'resources/unsubscribe'],
  ['server/discover', 'subscriptions/listen'],
];

/** Params that are invalid for a method. */
const INVALID: readonly (readonly [method: string, params: JsonObject])[] = [
  ['tools/call', { name: 'nothing' }],
  ['tools/call', { name: LONG }],
  ['tools/call', { name: 7 }],
  ['tools/call', {}],
  ['tools/call', { name: 'broken', arguments: 'none' }],
  ['tools/list', { cursor: 'none' }],
  ['tools/list', { _meta: { progressToken: null } }],
  ['prompts/get', { name: 'nothing' }],
  ['prompts/get', { name: LONG }],
  ['prompts/get', {}],
  ['prompts/get', { name: 'pack' }],
  ['resources/read', {}],
  ['completion/complete', { ref: { type: 'ref/prompt', name: LONG }, argument }],
  ['completion/complete', { ref: { type: 'ref/resource', uri: `x:${LONG.slice(0, 1000)}` }, argument }],
  ['completion/complete', { ref: { type: LONG }, argument }],
  ['completion/complete', { ref: { type: 'ref/prompt', name: 'pack' } }],
];

const UNSAFE: readonly JsonObject[] = [
  { requestState: LONG },
  { inputResponses: LONG },
  { _meta: { [`${PREFIX}logLevel`]: LONG } },
];

/** Messages for every JSON-RPC error code. */
const probes = (client: RawClient): readonly (readonly [code: number, message: object | string])[] => {
  const build = (method: string, params?: JsonObject) => client.buildMessage(`p${Math.random()}`, method, params);
  const absent = [...NO_METHODS, ...(client.stateless ? SESSION_METHODS : STATELESS_METHODS)];
  return [
    [-32700, '{'],
    [-32600, { jsonrpc: '1.0', id: 1, method: 'tools/list' }],
    ...absent.map((method) => [-32601, build(method)] as const),
    ...INVALID.map(([method, params]) => [-32602, build(method, params)] as const),
    ...(client.stateless
      ? UNSAFE.map((params) => [-32602, build('tools/call', { name: 'broken', ...params })] as const)
      : []),
    ...[[], [1], 7, 'none', null].map((params) => [-32602, { ...build('tools/list'), params }] as const),
    [-32603, build('tools/call', { name: 'broken' })],
    // an author's code that is not an integer
    ...['1.5', 'NaN', 'Infinity', '1e300'].map((name) => [-32603, build('tools/call', { name })] as const),
    // an author's data that is not JSON
    ...['bigint', 'cycle', 'late'].map((name) => [-32603, build('tools/call', { name })] as const),
  ];
};

/** Sends all of them. Returns the responses and the expected codes. */
async function provoke(revision: Revision): Promise<{ codes: readonly number[]; errors: Message[] }> {
  const broken = () => {
    throw new McpError('internal-error', 'The database is down.');
  };
  const odd = (code: string) => () => {
    throw new McpError(Number(code), 'An odd code.');
  };
  const odds = Object.fromEntries(['1.5', 'NaN', 'Infinity', '1e300'].map((code) => [code, odd(code)]));
  const cycle: { self?: unknown } = {};
  cycle.self = cycle;
  const lost = (data: unknown) => () => {
    throw new McpError('invalid-params', 'Lost.', data);
  };
  const unwritable = { bigint: lost({ at: 1n }), cycle: lost(cycle), late: async () => lost(cycle)() };
  const server = serverWith({ broken, ...odds, ...unwritable }, { providers: [Places] });
  const client = await RawClient.connect(server, { revision });
  const errors: Message[] = [];
  const codes: number[] = [];
  for (const [code, message] of probes(client)) {
    codes.push(code);
    errors.push(await responseTo(client, message));
  }
  return { codes, errors };
}

describe('messages', () => {
  eachRevision('RPC-01', 'are JSON-RPC 2.0, and anything else is rejected', async (revision) => {
    const client = await open(revision);
    const wrong = ['1.0', '2', '2.00', ' 2.0', '', 2, null, true, ['2.0'], undefined];
    for (const [id, jsonrpc] of wrong.entries()) {
      await client.send({ jsonrpc, id, method: 'ping' });
      expect([jsonrpc, (await client.response(id)).error]).toMatchObject([jsonrpc, { code: -32600 }]);
    }
    await client.result('tools/list');
    expect(client.received.length).toBeGreaterThan(2);
    for (const { jsonrpc } of client.received) expect(jsonrpc).toBe('2.0');
  });

  eachRevision('RPC-01', 'of another version of JSON-RPC have no effect', async (revision) => {
    const done = deferred();
    const server = serverWith({
      slow: () => done.promise.then(() => 'slow'),
      ask: (context) => context.ping().catch((error: Error) => error.message),
    });
    const client = await RawClient.connect(server, { revision });
    const notice = { method: 'notifications/cancelled', params: { requestId: 'slow' } };
    void client.send(client.buildMessage('slow', 'tools/call', { name: 'slow' }));
    for (const version of [{}, { jsonrpc: '1.0' }, { jsonrpc: 2 }]) await client.send({ ...version, ...notice });
    done.resolve();
    expect(await client.response('slow')).toMatchObject({ result: { content: [{ text: 'slow' }] } });
    if (client.stateless) return;
    // nor do answers without a version or a result
    for (const answer of [{ result: {} }, { jsonrpc: '1.0', result: {} }, { jsonrpc: '2.0' }]) {
      const before = client.of('ping').length;
      const result = client.call('ask');
      const question = await client.find((message) => message === client.of('ping')[before]);
      await client.send({ ...answer, id: question.id });
      expect(await result).toMatchObject({ content: [{ text: 'The client sent an invalid answer.' }] });
    }
  });

  eachRevision('RPC-02', 'preserve any text', async (revision) => {
    const texts = ['🦉 日本語 e\u0301 \u0000 \u2028 "\\"', 'größe ÿ', '\u0080 only ASCII but for a control'];
    const ways = Object.values(transportsOf(revision)).flatMap((way) => texts.map((text) => [way, text] as const));
    for (const [transport, text] of ways) {
      const client = await RawClient.connect(serverWith(echo), { revision }, transport);
      // with progress, HTTP answers with a stream
      for (const [id, _meta] of [
        [text, {}],
        [text.repeat(3), { progressToken: text }],
      ] as const) {
        const { result } = await client.request('tools/call', { name: 'echo', arguments: { text }, _meta }, id);
        expect(Buffer.from(textOf(result as JsonObject) as string)).toEqual(Buffer.from(text));
      }
      const message = revision === '2024-11-05' ? {} : { message: text };
      expect(client.of('notifications/progress').map(({ params }) => params)).toEqual([
        { progressToken: text, progress: 1, total: 1, ...message },
      ]);
      // also at the end of a long text, in a response and in a stream
      const long = `${'a'.repeat(70_000)}${text}`;
      for (const [id, _meta] of [
        ['long', {}],
        ['streamed', { progressToken: 1 }],
      ] as const) {
        const { result } = await client.request('tools/call', { name: 'echo', arguments: { text: long }, _meta }, id);
        expect([id, textOf(result as JsonObject) === long]).toEqual([id, true]);
      }
    }
  });

  eachRevision('RPC-32', 'may have unknown params', async (revision) => {
    const client = await RawClient.connect(serverWith(echo, { providers: [Places] }), { revision });
    for (const [method, params] of [
      ['tools/list', {}],
      ['tools/call', { name: 'echo', arguments: { text: 'a' } }],
      ['prompts/list', {}],
      ['prompts/get', { name: 'pack', arguments: { city: 'Oslo' } }],
      ['resources/list', {}],
      ['resources/templates/list', {}],
      ['resources/read', { uri: 'places://Oslo' }],
      ['completion/complete', { ref: { type: 'ref/prompt', name: 'pack' }, argument: { ...argument, foo: 1 } }],
      ...(client.stateless
        ? ([['server/discover', {}]] as const)
        : ([
            ['ping', {}],
            ['logging/setLevel', { level: 'error' }],
            ['resources/subscribe', { uri: 'places://Oslo' }],
            ['resources/unsubscribe', { uri: 'places://Oslo' }],
          ] as const)),
    ] as const) {
      for (const foo of [{ bar: 1 }, [1], null, false]) {
        const message = { ...client.buildMessage(method, method, { ...params, foo }), foo };
        expect([method, await responseTo(client, message)]).toMatchObject([method, { result: {} }]);
      }
    }
  });

  eachSessionRevision('RPC-33', 'may omit empty params', async (revision) => {
    const client = await RawClient.connect(serverWith(echo, { providers: [Places] }), { revision });
    for (const method of ['ping', 'tools/list', 'prompts/list', 'resources/list', 'resources/templates/list']) {
      expect([method, await responseTo(client, { jsonrpc: '2.0', id: method, method })]).toMatchObject([
        method,
        { result: {} },
      ]);
    }
  });
});

describe('requests of the server', () => {
  it('do not repeat an id when another process takes over the session', async () => {
    const sessionStore = new MemorySessionStore();
    const urls: string[] = [];
    for (let process = 0; process < 3; process += 1) {
      const server = serverWith({ ask: async (context) => void (await context.ping()) });
      const listening = await serve(server, { port: 0, sessionStore, closeDeadlineMs: 50 });
      afterwards(() => server.close());
      urls.push(listening.url);
    }
    const client = await HttpClient.open(urls[0] as string, '2025-11-25');
    const ids = new Set<unknown>();
    for (const url of urls) {
      const { headers } = client;
      const message = client.buildMessage('call', 'tools/call', { name: 'ask' });
      const reader = new EventReader(await post(url, message, headers));
      const { message: question } = await reader.message();
      expect(question).toMatchObject({ method: 'ping' });
      ids.add(question?.id);
      expect((await post(url, { jsonrpc: '2.0', id: question?.id, result: {} }, headers)).status).toBe(202);
      expect((await reader.message()).message).toMatchObject({ id: 'call', result: { content: [] } });
    }
    expect(ids.size).toBe(3);
  });
});

describe('responses', () => {
  const IDS = [0, '0', '', 'a-b', '"\\'];
  const UUID = 'a5c8c0f4-6a0c-4a5e-9a43-7b8c6f3f2d11';
  const MORE = [-1, UUID, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, 'x'.repeat(256), '🦉'.repeat(128)];

  eachRevision(['RPC-06', 'RPC-12'], 'have the id of their request, of its type', async (revision) => {
    const tools = { now: () => 'now', later: async () => await Promise.resolve('later'), ...echo };
    for (const [name, transport] of Object.entries(transportsOf(revision))) {
      const client = await RawClient.connect(serverWith(tools), { revision }, transport);
      for (const [at, id] of [...IDS, ...MORE].entries()) {
        const call = { name: at % 2 ? 'now' : 'later' };
        for (const message of [probe(client, id), client.buildMessage(id, 'tools/call', call)]) {
          expect([name, await responseTo(client, message)]).toMatchObject([name, { id, result: {} }]);
        }
      }
      for (const id of [...IDS, 'x'.repeat(256)]) {
        for (const message of [
          client.buildMessage(id, 'tools/fly'),
          client.buildMessage(id, 'tools/call', { name: 'nothing' }),
          { ...client.buildMessage(id, 'tools/list'), params: [] },
          // HTTP+SSE refuses such a message instead of answering it on the stream
          ...(name === 'HTTP+SSE' ? [] : [{ ...client.buildMessage(id, 'tools/list'), jsonrpc: '1.0' }]),
        ]) {
          expect([name, message, (await responseTo(client, message)).id]).toEqual([name, message, id]);
        }
      }
    }
  });

  eachRevision('RPC-06', 'have the id of a request that HTTP, a limit or a state refuses', async (revision) => {
    const done = deferred();
    const server = serverWith({ slow: () => done.promise.then(() => 'slow') }, { limits: { maxOpenCalls: 1 } });
    const http = await HttpClient.open((await endpointOf(server)).url, revision);
    const client = await RawClient.connect(server, { revision });
    void client.send(client.buildMessage('first', 'tools/call', { name: 'slow' }));
    for (const id of IDS) {
      const refused = await responseTo(client, client.buildMessage(id, 'tools/list'));
      expect(refused).toMatchObject({ id, error: { code: -32603 } });
      const message = http.buildMessage(id, 'tools/list');
      for (const headers of [{ accept: 'text/html' }, ...(http.stateless ? [] : [{ 'mcp-session-id': 'none' }])]) {
        expect((await json(await http.post(message, headers))).id).toBe(id);
      }
    }
    done.resolve();
    await client.response('first');
    if (!client.stateless) return;
    for (const id of IDS) {
      const message = client.buildMessage(id, 'tools/call', { name: 'slow', requestState: 'forged' });
      expect(await responseTo(client, message)).toMatchObject({ id, error: { code: -32602 } });
    }
  });

  eachRevision('RPC-06', 'are not taken for those of other requests in flight', async (revision) => {
    const done = deferred();
    const client = await RawClient.connect(serverWith({ slow: () => done.promise.then(() => 'slow') }), { revision });
    const slow = (id: string | number) => client.buildMessage(id, 'tools/call', { name: 'slow' });
    for (const id of [0, '0', '']) void client.send(slow(id));
    await client.notify('notifications/cancelled', { requestId: 0 });
    // a second one with an id in flight, or a malformed one
    const none = revision >= '2025-11-25' ? undefined : null;
    for (const [message, code] of [
      [slow('0'), -32600],
      [{ ...slow('0'), params: [] }, -32602],
    ] as const) {
      await client.send(message);
      const { id, error } = client.received.at(-1) as Message;
      expect([id, error]).toMatchObject([none, { code }]);
    }
    done.resolve();
    for (const id of ['0', '']) {
      expect(await client.response(id)).toMatchObject({ result: { content: [{ text: 'slow' }] } });
    }
    expect(client.received.map(({ id }) => id)).not.toContain(0);
  });

  eachRevision(['RPC-07', 'RPC-08', 'RPC-09', 'RPC-13'], 'have a result or an error of one line', async (revision) => {
    const { codes, errors } = await provoke(revision);
    expect(errors.map(({ error }) => error?.code)).toEqual(codes);
    for (const { result, error } of errors) {
      expect([result, Number.isInteger(error?.code)]).toEqual([undefined, true]);
      expect(error?.message).toMatch(/^[^\n]{1,400}$/);
      expect(JSON.stringify(error)).not.toMatch(/\bat .+:\d+:\d+|\.[jt]s\b/);
    }
    const client = await open(revision);
    for (const method of [probe(client, 0).method as string, 'tools/list', 'tools/call']) {
      expect(Object.keys(await client.request(method, { name: 'echo' })).sort()).toEqual(['id', 'jsonrpc', 'result']);
    }
  });

  eachRevision('RPC-09', 'do not quote a message that is not JSON, over any transport', async (revision) => {
    const server = serverWith(echo);
    const { url } = await endpointOf(server);
    const http = await HttpClient.open(url, revision);
    const senders = [async (text: string) => (await json(await http.post(text))).error];
    for (const transport of Object.values(RAW_TRANSPORTS)) {
      const client = await RawClient.connect(server, { revision }, transport);
      senders.push(async (text) => (await responseTo(client, text)).error);
    }
    for (const send of senders) {
      for (const text of [
        'secret',
        '"secret',
        '["secret"',
        '{"password": secret}',
        '{"password":"secret"}secret',
        '{"secret":"\t"}',
        `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":secret,"more":"${LONG}"}`,
      ]) {
        const error = await send(text);
        expect([text, error?.code, error?.message]).toEqual([text, -32700, expect.stringMatching(/^[^\n.]+\.$/)]);
        expect(JSON.stringify(error)).not.toContain('secret');
      }
    }
  });

  /** Requests with an id that is neither a string of up to 256 characters nor an integer. */
  const UNREADABLE = [
    ...['{}', '[]', '[1]', 'null', 'true', '1.5', '1e400', '9007199254740992', `"${'x'.repeat(257)}"`].map(
      (id) => `{"jsonrpc":"2.0","id":${id},"method":"ping"}`,
    ),
    // without a method, another request may have the id
    ...['"2.0"', '"1.0"'].map((version) => `{"jsonrpc":${version},"id":5}`),
    '{"jsonrpc":"2.0","id":5,"params":{}}',
  ];

  eachRevision(['RPC-14', 'RPC-15'], 'have no id if the id cannot be read', async (revision) => {
    const none = revision >= '2025-11-25' ? undefined : null;
    for (const transport of Object.values(RAW_TRANSPORTS)) {
      const client = await RawClient.connect(serverWith(echo), { revision }, transport);
      const long = transport === RAW_TRANSPORTS.stdio ? ['x'.repeat(5_000_000)] : [];
      for (const text of ['{', '7', ...long, ...UNREADABLE]) {
        const { id, error } = await responseTo(client, text);
        expect([text.slice(0, 80), id, error]).toMatchObject([
          text.slice(0, 80),
          none,
          { code: text === '{' ? -32700 : -32600 },
        ]);
      }
      expect(await client.result('tools/list')).toHaveProperty('tools');
    }
  });
});

describe('notifications', () => {
  eachRevision('RPC-11', 'of the server have no id', async (revision) => {
    const server = serverWith({
      async tell(context) {
        context.log.error('no');
        context.progress(1);
        await context.ping({ timeoutMs: 1 }).catch(() => {});
      },
    });
    const client = await RawClient.connect(server, { revision, logLevel: 'error' });
    if (client.stateless) await listen(client, { toolsListChanged: true });
    await client.result('tools/call', { name: 'tell', _meta: { progressToken: 1 } });
    server.notify.toolsChanged();
    await client.find(({ method }) => method === 'notifications/tools/list_changed');
    const told = client.received.filter(({ method }) => method?.startsWith('notifications/'));
    // a session also hears that the ping is cancelled
    expect(told).toHaveLength(4);
    for (const notification of told) expect(notification).not.toHaveProperty('id');
  });
});

describe('a question of the server', () => {
  eachSessionRevision(['RPC-03', 'RPC-04'], 'has its own id, however the earlier ones ended', async (revision) => {
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
  inStateless(['RPC-27', 'RPC-28', 'RPC-29', 'RPC-30'], 'of an author has its code unless it is reserved', async () => {
    const capabilities = declares({ extensions: { 'com.example/x': {} } });
    const free = [4711, -1, -31_999, -32_100, -32_769];
    const reserved = [0, 1, 2, 19, 20, 21, 22, 23, 42, 50, 98, 99].map((number) => -32_000 - number);
    for (const code of [...free, ...reserved]) {
      for (const server of throwing(code)) {
        const client = await RawClient.connect(server, { revision: STATELESS });
        for (const [method, params] of FAILING) {
          const { error, result } = await responseTo(client, asked(method, method, params, capabilities));
          if (free.includes(code)) expect([method, error]).toMatchObject([method, { code, data: { own: true } }]);
          const chosen = error?.code ?? 0;
          expect([method, code, chosen >= -32099 && chosen <= -32000]).toEqual([method, code, false]);
          expect(error !== undefined || result?.['isError'] === true).toBe(true);
        }
      }
    }
  });

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
    const client = await RawClient.connect(serverOf({ providers: [Places] }), { revision });
    for (const value of [LONG, { [LONG]: LONG }, [LONG, LONG], [{ deep: [LONG] }], Array(5000).fill(7)]) {
      const level = client.stateless
        ? (['tools/list', { _meta: { [`${PREFIX}logLevel`]: value } }] as const)
        : (['logging/setLevel', { level: value }] as const);
      for (const [method, params] of [
        level,
        ['tools/list', { _meta: { [VERSION]: value } }],
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
      const { error, result } = await client.request('tools/call', { name: 'tool', arguments: { [LONG]: value } });
      expect(JSON.stringify(error ?? result).length).toBeLessThan(1000);
      const [method, params] = level;
      expect((await client.request(method, params)).error).toMatchObject({ code: -32602 });
    }
  });
});

describe('a notification', () => {
  const deep = JSON.parse(`${'{"a":'.repeat(11)}1${'}'.repeat(11)}`) as JsonObject;
  const long = { a: Array.from({ length: 101 }, () => 0) };

  /** Notifications that are unknown, invalid, beyond a limit, or named like requests. */
  const notes = (revision: string): readonly (object | string)[] => [
    ...['initialize', 'ping', 'tools/list', 'tools/call', 'server/discover', 'subscriptions/listen', ''].map(
      (method) => ({
        jsonrpc: '2.0',
        method,
        params: { name: 'hi', notifications: {}, protocolVersion: revision },
      }),
    ),
    ...['notifications/nothing', 'notifications/cancelled', 'tools/list'].flatMap((method) =>
      [undefined, { deep: [1] }, deep, long].map((params) => ({ jsonrpc: '2.0', method, params })),
    ),
    { jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: 'unknown' } },
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
    ...[0, '', null, [], { no: 'id' }, 'x'.repeat(300)].map((requestId) => ({
      jsonrpc: '2.0',
      method: 'notifications/cancelled',
      params: { requestId, reason: 7 },
    })),
  ];

  eachRevision('RPC-10', 'is never answered and runs nothing, also without a session', async (revision) => {
    for (const [name, transport] of Object.entries(RAW_TRANSPORTS)) {
      const done = deferred();
      let runs = 0;
      const tools = { slow: () => done.promise.then(() => 'slow'), hi: () => void (runs += 1) };
      const server = serverWith(tools, { limits: { maxDepth: 10, maxValues: 100 } });
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
      expect(await responseTo(client, client.buildMessage('late', 'tools/list'))).toMatchObject({
        id: 'late',
        error: client.stateless ? closed : { code: expect.any(Number) },
      });
      done.resolve();
      expect(await client.response('slow')).toMatchObject({ result: { content: [{ text: 'slow' }] } });
      await closing;
      expect([name, client.received.slice(before).map(({ id }) => id)]).toEqual([name, ['settled', 'late', 'slow']]);
      expect(runs).toBe(0);
    }
  });
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
