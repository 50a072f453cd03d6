import { describe, expect, it } from '@jest/globals';
import { Completion, McpError, type JsonObject, Prompt, Resource } from '@decorum/core';
import { listen, MemorySessionStore } from '@decorum/http';
import { IsString } from 'class-validator';

import { EventReader } from '../../packages/http/test/events.js';
import { afterwards, json, post } from '../../packages/http/test/fixture.js';
import { transportsOf, endpointOf } from '../support/http-transports.js';
import { type Message, RAW_TRANSPORTS, RawClient, textOf } from '../support/raw-client.js';
import {
  eachRevision,
  eachSessionRevision,
  itShows,
  type Revision,
  SESSION_REVISIONS,
} from '../support/requirements.js';
import { HttpClient } from './http-client.js';
import { answerTo, echo, probe } from './probes.js';
import { deferred, serverOf, serverWith } from './servers.js';

const open = (revision: Revision) => RawClient.connect(serverWith(echo), { revision });
const ping = (id: unknown) => ({ jsonrpc: '2.0', id, method: 'ping' });

class City {
  @IsString()
  city!: string;
}

/** One member of each kind. */
class Places {
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

const LONG = 'x'.repeat(5000);
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

/** Messages for every JSON-RPC error code. */
const probes = (client: RawClient): readonly (readonly [code: number, message: object | string])[] => {
  const build = (method: string, params?: JsonObject) => client.buildMessage(`p${Math.random()}`, method, params);
  const absent = [...NO_METHODS, ...(client.stateless ? SESSION_METHODS : STATELESS_METHODS)];
  return [
    [-32700, '{'],
    [-32600, { jsonrpc: '1.0', id: 1, method: 'tools/list' }],
    ...absent.map((method) => [-32601, build(method)] as const),
    ...INVALID.map(([method, params]) => [-32602, build(method, params)] as const),
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
    errors.push(await answerTo(client, message));
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
    for (const version of [{}, { jsonrpc: '1.0' }]) {
      const before = client.of('ping').length;
      const result = client.call('ask');
      await client.find(({ method, id }) => method === 'ping' && id === client.of('ping')[before]?.id);
      await client.send({ ...version, id: client.of('ping')[before]?.id, result: {} });
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
        expect([method, await answerTo(client, message)]).toMatchObject([method, { result: {} }]);
      }
    }
  });

  eachSessionRevision('RPC-33', 'may omit empty params', async (revision) => {
    const client = await RawClient.connect(serverWith(echo, { providers: [Places] }), { revision });
    for (const method of ['ping', 'tools/list', 'prompts/list', 'resources/list', 'resources/templates/list']) {
      expect([method, await answerTo(client, { jsonrpc: '2.0', id: method, method })]).toMatchObject([
        method,
        { result: {} },
      ]);
    }
  });
});

describe('requests of the server', () => {
  const asking = () => serverWith({ ask: async (context) => void (await context.ping()) });

  eachSessionRevision('RPC-03', 'have a string or an integer as id', async (revision) => {
    const client = await RawClient.connect(asking(), { revision, answers: { ping: () => ({ result: {} }) } });
    await client.call('ask');
    const [question] = client.of('ping');
    expect(['string', 'number']).toContain(typeof question?.id);
  });

  eachSessionRevision('RPC-04', 'never have the same id twice in a session', async (revision) => {
    const server = serverWith({
      ask: async (context) => void (await Promise.all(Array.from({ length: 250 }, () => context.ping()))),
    });
    const client = await RawClient.connect(server, { revision, answers: { ping: () => ({ result: {} }) } });
    for (let call = 0; call < 4; call += 1) await client.call('ask');
    const ids = client.of('ping').map(({ id }) => id);
    expect([ids.length, new Set(ids).size]).toEqual([1000, 1000]);
  });

  eachSessionRevision('RPC-04', 'do not repeat an id when another process takes over the session', async (revision) => {
    const sessionStore = new MemorySessionStore();
    const urls: string[] = [];
    for (let process = 0; process < 3; process += 1) {
      const server = asking();
      const listening = await listen(server, { port: 0, sessionStore, closeDeadlineMs: 50 });
      afterwards(() => server.close());
      urls.push(listening.url);
    }
    const client = await HttpClient.open(urls[0] as string, revision);
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
  const MORE = [-1, 1, '1', UUID, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, 'x'.repeat(256), '🦉'.repeat(128)];
  const tools = { now: () => 'now', later: async () => await Promise.resolve('later'), ...echo };

  /** A request that is answered with a result, at once or later. */
  const valid = (client: RawClient, id: string | number) => [
    probe(client, id),
    ...['now', 'later'].map((name) => client.buildMessage(id, 'tools/call', { name })),
    client.buildMessage(id, 'tools/call', { name: 'echo', arguments: { text: '' }, _meta: { progressToken: id } }),
  ];

  eachRevision('RPC-06', 'have the id of their request, of the same type', async (revision) => {
    for (const [name, transport] of Object.entries(transportsOf(revision))) {
      const client = await RawClient.connect(serverWith(tools), { revision }, transport);
      for (const id of [...IDS, 'x'.repeat(256)]) {
        const wrong = [
          client.buildMessage(id, 'tools/fly'),
          client.buildMessage(id, 'tools/call', { name: 'nothing' }),
          { ...client.buildMessage(id, 'tools/list'), params: [] },
          // HTTP+SSE refuses such a message instead of answering it on the stream
          ...(name === 'HTTP+SSE' ? [] : [{ ...client.buildMessage(id, 'tools/list'), jsonrpc: '1.0' }]),
        ];
        for (const message of [...valid(client, id).slice(0, 3), ...wrong]) {
          expect([name, message, (await answerTo(client, message)).id]).toEqual([name, message, id]);
        }
      }
    }
  });

  eachRevision('RPC-06', 'have the id of their request even if HTTP refuses it', async (revision) => {
    const client = await HttpClient.open((await endpointOf(serverWith(tools))).url, revision);
    for (const id of IDS) {
      const message = client.buildMessage(id, 'tools/list');
      for (const headers of [{ accept: 'text/html' }, ...(client.stateless ? [] : [{ 'mcp-session-id': 'none' }])]) {
        expect((await json(await client.post(message, headers))).id).toBe(id);
      }
    }
  });

  eachRevision('RPC-06', 'tell ids of different types apart while both are in flight', async (revision) => {
    const done = deferred();
    const client = await RawClient.connect(serverWith({ slow: () => done.promise.then(() => 'slow') }), { revision });
    for (const id of [0, '0', '']) void client.send(client.buildMessage(id, 'tools/call', { name: 'slow' }));
    await client.notify('notifications/cancelled', { requestId: 0 });
    done.resolve();
    for (const id of ['0', '']) expect(await client.response(id)).toHaveProperty('result');
    expect(client.received.map(({ id }) => id)).not.toContain(0);
  });

  eachRevision('RPC-06', 'have the id of a request that is one too many, or has an invalid state', async (revision) => {
    const done = deferred();
    const server = serverWith({ slow: () => done.promise.then(() => 'slow') }, { limits: { maxOpenCalls: 1 } });
    const client = await RawClient.connect(server, { revision });
    void client.send(client.buildMessage('first', 'tools/call', { name: 'slow' }));
    for (const id of IDS) {
      const refused = await answerTo(client, client.buildMessage(id, 'tools/list'));
      expect(refused).toMatchObject({ id, error: { code: -32603 } });
    }
    done.resolve();
    await client.response('first');
    if (!client.stateless) return;
    for (const id of IDS) {
      const message = client.buildMessage(id, 'tools/call', { name: 'slow', requestState: 'forged' });
      expect(await answerTo(client, message)).toMatchObject({ id, error: { code: -32602 } });
    }
  });

  eachRevision('RPC-12', 'are sent for every string or integer id', async (revision) => {
    for (const [name, transport] of Object.entries(transportsOf(revision))) {
      const client = await RawClient.connect(serverWith(tools), { revision }, transport);
      for (const id of [...IDS, ...MORE]) {
        const [quick, now, later] = valid(client, id) as [Message, Message, Message];
        for (const message of [quick, now, later]) {
          expect([name, await answerTo(client, message)]).toMatchObject([name, { id, result: {} }]);
        }
      }
    }
  });

  eachRevision('RPC-07', 'have either a result or an error', async (revision) => {
    const { errors } = await provoke(revision);
    for (const message of errors) expect([message.result, typeof message.error]).toEqual([undefined, 'object']);
    const client = await open(revision);
    for (const method of [probe(client, 0).method as string, 'tools/list', 'tools/call']) {
      expect(Object.keys(await client.request(method, { name: 'echo' })).sort()).toEqual(['id', 'jsonrpc', 'result']);
    }
  });

  eachRevision('RPC-08', 'have an integer code and a message if they are errors', async (revision) => {
    for (const { error } of (await provoke(revision)).errors) {
      expect(Number.isInteger(error?.code)).toBe(true);
      expect(error?.message).toEqual(expect.any(String));
    }
  });

  eachRevision('RPC-09', 'explain the error in one line, without a stack', async (revision) => {
    for (const { error } of (await provoke(revision)).errors) {
      expect(error?.message).toMatch(/^[^\n]{1,250}$/);
      expect(JSON.stringify(error)).not.toMatch(/\bat .+:\d+:\d+|\.[jt]s\b/);
    }
  });

  eachRevision('RPC-09', 'do not quote a message that is not JSON, over any transport', async (revision) => {
    const server = serverWith(echo);
    const { url } = await endpointOf(server);
    const http = await HttpClient.open(url, revision);
    const senders = [async (text: string) => (await json(await http.post(text))).error];
    for (const transport of Object.values(RAW_TRANSPORTS)) {
      const client = await RawClient.connect(server, { revision }, transport);
      senders.push(async (text) => (await answerTo(client, text)).error);
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

  eachRevision('RPC-13', 'have JSON-RPC error codes', async (revision) => {
    const { codes, errors } = await provoke(revision);
    expect(errors.map(({ error }) => error?.code)).toEqual(codes);
  });

  /** Requests with an id that is neither a string of up to 256 characters nor an integer. */
  const UNREADABLE = [
    '{}',
    '[]',
    '[1]',
    'null',
    'true',
    '1.5',
    '1e400',
    '9007199254740992',
    `"${'x'.repeat(257)}"`,
  ].map((id) => `{"jsonrpc":"2.0","id":${id},"method":"ping"}`);

  eachSessionRevision('RPC-14', 'have null as id if the id cannot be read', async (revision) => {
    const client = await open(revision);
    for (const text of ['{', '7', ...UNREADABLE]) {
      await client.send(text);
      expect(client.received.at(-1)).toMatchObject({ id: null, error: { code: text === '{' ? -32700 : -32600 } });
    }
    expect(await client.result('ping')).toEqual({});
    const pipe = await RawClient.connect(serverWith(echo), { revision }, RAW_TRANSPORTS.stdio);
    for (const text of ['{', '7', 'x'.repeat(5_000_000), ...UNREADABLE]) {
      expect(await answerTo(pipe, text)).toMatchObject({ id: null, error: { code: expect.any(Number) } });
    }
    expect(await pipe.result('ping')).toEqual({});
  });

  eachRevision('RPC-15', 'have no id if the id cannot be read', async (revision) => {
    const client = await open(revision);
    for (const text of ['{', '7', ...UNREADABLE]) {
      await client.send(text);
      expect(client.received.at(-1)).not.toHaveProperty('id');
      expect(client.received.at(-1)).toMatchObject({ error: { code: text === '{' ? -32700 : -32600 } });
    }
    expect(await client.result('tools/list')).toHaveProperty('tools');
  });
});

describe('a second request with the id of one in flight', () => {
  it.each(SESSION_REVISIONS)(
    'is rejected with an error that cannot be mistaken for the first response (%s)',
    async (revision) => {
      const done = deferred();
      const client = await RawClient.connect(serverWith({ slow: () => done.promise.then(() => 'slow') }), { revision });
      const slow = { jsonrpc: '2.0', id: 'same', method: 'tools/call', params: { name: 'slow' } };
      void client.send(slow);
      await client.send(slow);
      expect(client.received.at(-1)).toMatchObject({ error: { code: -32600 } });
      expect(client.received.at(-1)?.id).toBe(revision === '2025-11-25' ? undefined : null);
      done.resolve();
      expect(await client.response('same')).toMatchObject({ result: { content: [{ text: 'slow' }] } });
    },
  );
});

describe('a message with an id but no method', () => {
  eachRevision(
    'RPC-14',
    'is not a request: the error has no id, because another request may have it',
    async (revision) => {
      const client = await open(revision);
      for (const message of [{ id: 5 }, { id: 5, params: {} }, { jsonrpc: '1.0', id: 5 }]) {
        await client.send({ jsonrpc: '2.0', ...message });
        const { id, error } = client.received.at(-1) as Message;
        expect([id ?? undefined, error]).toMatchObject([undefined, { code: -32600 }]);
      }
    },
  );

  it.each(SESSION_REVISIONS)('ends a question that has this id (%s)', async (revision) => {
    const server = serverWith({
      ask: async (context): Promise<unknown> => await context.ping().catch((error: Error) => error.message),
    });
    const client = await RawClient.connect(server, { revision });
    void client.send({ jsonrpc: '2.0', id: 'call', method: 'tools/call', params: { name: 'ask' } });
    const { id } = await client.find(({ method }) => method === 'ping');
    await client.send({ jsonrpc: '2.0', id });
    const content = [{ text: 'The client sent an invalid answer.' }];
    expect(await client.response('call')).toMatchObject({ result: { content } });
  });
});

describe('a malformed request with the id of one in flight', () => {
  eachRevision('RPC-06', 'is rejected without the id', async (revision) => {
    const done = deferred();
    const client = await RawClient.connect(serverWith({ slow: () => done.promise.then(() => 'slow') }), { revision });
    void client.send(client.buildMessage('same', 'tools/call', { name: 'slow' }));
    await client.send({ jsonrpc: '2.0', id: 'same', method: 'tools/call', params: [] });
    expect(client.received.at(-1)).toMatchObject({ error: { code: -32602 } });
    expect(client.received.at(-1)?.id ?? undefined).toBe(undefined);
    done.resolve();
    expect(await client.response('same')).toMatchObject({ result: { content: [{ text: 'slow' }] } });
  });
});

describe('notifications', () => {
  eachRevision('RPC-10', 'are never answered, whether known or valid or not', async (revision) => {
    const client = await open(revision);
    const before = client.received.length;
    await client.notify('notifications/nothing', { deep: [1] });
    await client.notify('tools/list');
    await client.notify('notifications/cancelled');
    await client.notify('notifications/cancelled', { requestId: { no: 'id' } });
    await client.notify('notifications/progress', { progressToken: 'unknown' });
    await client.send({ jsonrpc: '2.0', method: 'notifications/nothing', params: [1] });
    await client.settled();
    expect(client.received.slice(before)).toEqual([
      { jsonrpc: '2.0', id: expect.anything(), result: expect.any(Object) },
    ]);
  });

  eachRevision('RPC-10', 'are not answered beyond a limit either', async (revision) => {
    const server = serverWith(echo, { limits: { maxDepth: 10, maxValues: 100 } });
    const deep = `${'{"a":'.repeat(11)}1${'}'.repeat(11)}`;
    const long = JSON.stringify({ a: Array.from({ length: 101 }, () => 0) });
    for (const transport of Object.values(RAW_TRANSPORTS)) {
      const client = await RawClient.connect(server, { revision }, transport);
      const before = client.received.length;
      for (const params of [deep, long]) {
        for (const method of ['notifications/nothing', 'notifications/cancelled', 'tools/list']) {
          await client.send(`{"jsonrpc":"2.0","method":"${method}","params":${params}}`);
        }
      }
      await client.settled();
      expect(client.received.slice(before)).toMatchObject([{ result: expect.any(Object) }]);
    }
  });

  itShows([['RPC-10', '2025-03-26']], 'are not answered in a batch either', async () => {
    const revision = '2025-03-26';
    const notes = [
      { jsonrpc: '2.0', method: 'notifications/nothing', params: [1] },
      { jsonrpc: '1.0', method: 'notifications/nothing' },
      { jsonrpc: '2.0', method: 'tools/list', params: 7 },
      { jsonrpc: '2.0', result: {}, error: {} },
    ];
    for (const transport of Object.values(transportsOf(revision))) {
      const client = await RawClient.connect(serverWith(echo), { revision }, transport);
      for (const batch of [
        [...notes, ping('all')],
        [ping('all'), ...notes],
      ]) {
        const from = client.received.length;
        await client.send(batch);
        await client.at(from);
        await client.settled();
        expect(client.received.slice(from).map(({ id }) => id)).toEqual(['all', expect.stringMatching(/^r/)]);
      }
    }
  });

  eachRevision('RPC-11', 'of the server have no id', async (revision) => {
    const server = serverWith({
      async tell(context) {
        context.log.error('no');
        context.progress(1);
        await context.ping({ timeoutMs: 1 }).catch(() => {});
      },
    });
    const client = await RawClient.connect(server, { revision, logLevel: 'error' });
    if (client.stateless) {
      const notifications = { toolsListChanged: true };
      void client.send(client.buildMessage('listening', 'subscriptions/listen', { notifications }));
      await client.find(({ method }) => method === 'notifications/subscriptions/acknowledged');
    }
    await client.result('tools/call', { name: 'tell', _meta: { progressToken: 1 } });
    server.notify.toolsChanged();
    await client.find(({ method }) => method === 'notifications/tools/list_changed');
    const told = client.received.filter(({ method }) => method?.startsWith('notifications/'));
    // a session also hears that the ping is cancelled
    expect(told).toHaveLength(4);
    for (const notification of told) expect(notification).not.toHaveProperty('id');
  });
});

describe('a server that offers nothing', () => {
  eachRevision('RPC-39', 'still identifies itself and responds', async (revision) => {
    const client = await RawClient.connect(serverOf(), { revision, begins: false });
    const { protocolVersion, supportedVersions = [protocolVersion] } = await client.begin();
    expect(supportedVersions).toContain(revision);
    await client.settled();
    expect(await client.error('tools/list')).toMatchObject({ code: -32601 });
  });
});
