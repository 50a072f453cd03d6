// Specific to the stateless revision: self-contained requests.
import { once } from 'node:events';
import { request as httpRequest } from 'node:http';

import { describe, expect } from '@jest/globals';
import { type Context, type Extension, type JsonObject, McpError, NoInput, Prompt, Resource } from '@decorum/core';

import { overHttp, statelessHeaders } from '../support/http-transports.js';
import { type RawTransport, type Message, overMemory, overStdio, RawClient, textOf } from '../support/raw-client.js';
import { inStateless, type Revision, SESSION_REVISIONS, STATELESS } from '../support/requirements.js';
import {
  answerTo,
  asked,
  CAPABILITIES,
  called,
  declares,
  metaOf,
  PREFIX,
  urlOf,
  VERSION,
} from '../support/stateless-post.js';
import { LISTS, many } from './lists.js';
import { failing, fails, provoked, reads, sample } from './failing.js';
import { deferred, serverOf, serverWith } from './servers.js';
import {
  beAsked,
  cancel,
  follow,
  hear,
  storyAnswers,
  storyCapabilities,
  storyServer,
  Storyteller,
  subscribe,
  use,
} from './story.js';

const revision: Revision = STATELESS;
const RAW_TRANSPORTS: readonly RawTransport[] = [overMemory, overStdio, overHttp];

/** Runs the whole story up to the close of the server. Returns the client with all received messages. */
async function tell(transport: RawTransport): Promise<RawClient> {
  const teller = new Storyteller();
  const server = storyServer(teller);
  const options = { revision, capabilities: storyCapabilities(revision), answers: storyAnswers(revision) };
  const client = await RawClient.connect(server, options, transport);
  await client.begin();
  await use(client);
  await beAsked(client);
  await hear(client);
  await follow(client, server);
  await cancel(client, teller);
  await subscribe(client, 'to the end');
  await server.close();
  await client.response('to the end');
  return client;
}

/** A server shared by several requests of a test. */
const FAILING = failing();

/** All received results. */
const resultsOf = ({ received }: RawClient) => received.flatMap(({ result }) => (result ? [result] : []));

const SAMPLED = { role: 'assistant', model: 'm', content: { type: 'text', text: 'Ho' } };

describe('results without a session', () => {
  inStateless('RPC-23', 'all have a type', async () => {
    for (const transport of RAW_TRANSPORTS) {
      const results = resultsOf(await tell(transport));
      expect(results.length).toBeGreaterThan(15);
      for (const { resultType } of results) expect(resultType).toEqual(expect.any(String));
    }
  });

  inStateless('RPC-24', 'are complete, or ask the client questions', async () => {
    for (const transport of RAW_TRANSPORTS) {
      const types = new Map<string, number>();
      for (const result of resultsOf(await tell(transport))) {
        const type = String(result['resultType']);
        types.set(type, (types.get(type) ?? 0) + 1);
        expect(type).toBe('inputRequests' in result ? 'input_required' : 'complete');
      }
      // sampling and roots in one round, a form in another
      expect([...types.keys()].sort()).toEqual(['complete', 'input_required']);
      expect(types.get('input_required')).toBe(2);
    }
  });

  const pending: Extension = {
    id: 'com.example/pending',
    methods: { 'pending/get': () => ({ resultType: 'com.example/pending' }) },
  };

  inStateless('RPC-25', 'have a type of an extension only if both sides support it', async () => {
    const server = serverWith(
      { task: () => ({ resultType: 'task', task: { taskId: '1' } }), result: () => ({ resultType: 'more' }) },
      { extensions: [pending] },
    );
    for (const name of ['task', 'result']) {
      expect(await answerTo(server, called(1, name))).toMatchObject([200, { result: { resultType: 'complete' } }]);
    }
    const both = asked(2, 'pending/get', {}, declares({ extensions: { [pending.id]: {} } }));
    expect(await answerTo(server, both)).toMatchObject([200, { result: { resultType: 'com.example/pending' } }]);
    expect(await answerTo(server, asked(3, 'pending/get'))).toMatchObject([400, { error: { code: -32021 } }]);
    expect(await answerTo(serverOf(), both)).toMatchObject([404, { error: { code: -32601 } }]);
  });

  inStateless('META-22', 'all have server info', async () => {
    for (const transport of RAW_TRANSPORTS) {
      for (const { _meta: meta } of resultsOf(await tell(transport))) {
        expect(meta).toMatchObject({ [`${PREFIX}serverInfo`]: { name: 'story', version: '1.0.0' } });
      }
    }
  });

  for (const [id, transports] of [
    ['RPC-26', RAW_TRANSPORTS],
    ['STDIO-09', [overStdio]],
  ] as const) {
    inStateless(id, 'and notifications are all that a client hears: nothing is asked by a request', async () => {
      for (const transport of transports) {
        const client = await tell(transport);
        expect(client.questions.map(({ method }) => method)).toEqual([
          'sampling/createMessage',
          'roots/list',
          'elicitation/create',
        ]);
        for (const message of client.received) expect('method' in message && 'id' in message).toBe(false);
      }
    });

    inStateless(id, 'has no pings, whichever kind of handler wants one', async () => {
      class Pinging {
        @Prompt()
        prompt(_input: NoInput, context: Context) {
          return context.ping().then(() => 'pong');
        }

        @Resource('ping://client')
        resource(_input: NoInput, context: Context) {
          return context.ping().then(() => 'pong');
        }
      }
      for (const transport of transports) {
        const server = serverWith({ tool: (context) => context.ping() }, { providers: [Pinging] });
        const capabilities = { roots: {}, sampling: {}, elicitation: {} };
        const client = await RawClient.connect(server, { revision, capabilities }, transport);
        for (const [method, params] of [
          ['tools/call', { name: 'tool' }],
          ['prompts/get', { name: 'prompt' }],
          ['resources/read', { uri: 'ping://client' }],
        ] as const) {
          const { result, error } = await client.request(method, params);
          expect([method, error !== undefined || result?.['isError']]).toEqual([method, true]);
        }
        expect(client.received.filter((message) => 'method' in message)).toEqual([]);
      }
    });
  }
});

const between = (code: number | undefined, low: number, high: number) =>
  code !== undefined && code >= low && code <= high;

describe('errors without a session', () => {
  inStateless('RPC-27', 'use the codes of the specification for their purpose only', async () => {
    for (const { code, error } of await provoked()) {
      expect(error).toMatchObject({ code });
      if (!between(error?.code, -32099, -32020)) continue;
      const data = {
        '-32020': undefined,
        '-32021': { requiredCapabilities: expect.any(Object) },
        '-32022': { supported: expect.arrayContaining([revision]), requested: 'v999.0.0' },
      }[String(error?.code)];
      expect(error?.data).toEqual(data);
    }
  });

  inStateless('RPC-28', 'use no removed codes: the client is asked instead', async () => {
    for (const { error } of await provoked()) expect([-32002, -32042]).not.toContain(error?.code);
    const [status, { error }] = await answerTo(failing(), reads('docs:missing'));
    expect([status, error]).toMatchObject([200, { code: -32602, data: { uri: 'docs:missing' } }]);
    for (const how of ['url', 'sign in']) {
      const [, { result }] = await answerTo(failing(), fails(how, declares({ elicitation: { url: {} } })));
      expect(result).toMatchObject({ resultType: 'input_required' });
      expect(Object.values(result?.['inputRequests'] as object)).toMatchObject([
        { method: 'elicitation/create', params: { mode: 'url' } },
      ]);
    }
  });

  inStateless('RPC-29', 'use no codes that implementations once invented', async () => {
    for (const { error } of await provoked()) expect(between(error?.code, -32019, -32000)).toBe(false);
    const [, { error }] = await answerTo(failing(), asked(1, 'tools/list'), { 'mcp-session-id': 'gone' });
    expect(error).toBeUndefined();
    const server = failing();
    for (let code = -32019; code <= -32000; code += 1) {
      for (const message of [
        reads(`docs://${code}`),
        asked(1, 'prompts/get', { name: 'pack', arguments: { city: `${code}` } }),
        fails(`${code}`),
      ]) {
        const [, { error: chosen }] = await answerTo(server, message);
        expect([code, between(chosen?.code, -32019, -32000)]).toEqual([code, false]);
      }
    }
  });

  inStateless('RPC-30', 'use the code of the author outside of the reserved range', async () => {
    class OutOfStock extends McpError {
      constructor() {
        super(4711, 'Out of stock.', { until: 'Monday' });
      }
    }
    const server = serverOf();
    server.addTool({ name: 'buy', input: NoInput }, () => {
      throw new OutOfStock();
    });
    const [, { error }] = await answerTo(server, called(1, 'buy'));
    expect(error).toEqual({ code: 4711, message: 'Out of stock.', data: { until: 'Monday' } });
    for (const code of [0, 1, -1, -31_999, -32_769, -40_000, Number.MAX_SAFE_INTEGER]) {
      for (const message of [reads(`docs://${code}`), fails(`${code}`)]) {
        expect((await answerTo(FAILING, message))[1].error?.code).toBe(code);
      }
    }
    for (const reserved of [-32000, -32019, -32050]) {
      const [, answer] = await answerTo(failing(), reads(`docs://${reserved}`));
      expect(answer.error?.code).toBe(-32603);
    }
  });

  inStateless('RPC-31', 'of the client have no meaning by their codes', async () => {
    const began = deferred<Context>();
    const go = deferred();
    const server = serverWith({
      async wait(context) {
        began.resolve(context);
        await go.promise;
        return 'waited';
      },
    });
    const client = await RawClient.connect(server, { revision }, overStdio);
    void client.send(called('x', 'wait'));
    const { signal } = await began.promise;
    for (let code = -32019; code <= -32000; code += 1) {
      for (const id of ['x', 's1', 1]) await client.send({ jsonrpc: '2.0', id, error: { code, message: 'No' } });
    }
    await client.settled();
    expect([signal.aborted, client.received.length]).toEqual([false, 1]);
    go.resolve();
    expect(await client.response('x')).toMatchObject({ result: { content: [{ text: 'waited' }] } });
  });
});

describe('a request without a session', () => {
  /** Requests with an incomplete envelope. */
  const incomplete = (method: string): readonly Message[] => {
    const { [CAPABILITIES]: _capabilities, ...noCapabilities } = metaOf(asked(1, method));
    const { [VERSION]: _version, ...noVersion } = metaOf(asked(1, method));
    const message = { jsonrpc: '2.0', id: 1, method } as const;
    return [
      message,
      { ...message, params: {} },
      { ...message, params: { _meta: noVersion } },
      { ...message, params: { _meta: noCapabilities } },
      ...['all', null, [], true, 0].map((capabilities) => ({
        ...message,
        params: { _meta: { ...noCapabilities, [CAPABILITIES]: capabilities } },
      })),
      ...[1, null, [STATELESS]].map((version) => ({
        ...message,
        params: { _meta: { ...noVersion, [VERSION]: version } },
      })),
      ...([null, [], 'all', 0].map((_meta) => ({ ...message, params: { _meta } })) as Message[]),
    ];
  };

  inStateless('RPC-34', 'has params with an envelope', async () => {
    const server = failing();
    for (const method of [
      'server/discover',
      'tools/list',
      'tools/call',
      'prompts/list',
      'prompts/get',
      'resources/list',
      'resources/templates/list',
      'resources/read',
      'completion/complete',
      'subscriptions/listen',
      'x/y',
    ]) {
      for (const params of [undefined, {}]) {
        const answer = await answerTo(server, { jsonrpc: '2.0', id: 1, method, ...(params && { params }) });
        expect([method, ...answer]).toMatchObject([method, 400, { id: 1, error: { code: -32602 } }]);
      }
    }
  });

  inStateless('META-18', 'names its revision and the client’s capabilities', async () => {
    for (const method of ['tools/list', 'server/discover', 'tools/call', 'subscriptions/listen']) {
      for (const message of incomplete(method)) {
        const [, { id, error }] = await answerTo(serverWith({ tool: () => '' }), message);
        expect([id, error]).toMatchObject([1, { code: -32602 }]);
      }
    }
    const client = await RawClient.connect(serverOf(), { revision }, overStdio);
    // a message that names no revision belongs to a session
    for (const [id, message] of incomplete('tools/list').entries()) {
      void client.send({ ...message, id });
      const named = VERSION in Object(message.params?.['_meta']);
      expect([message, await client.response(id)]).toMatchObject([
        message,
        { error: { code: named ? -32602 : -32600 } },
      ]);
    }
  });

  inStateless('META-19', 'is rejected with 400 without these', async () => {
    const server = serverWith({ tool: () => '' });
    for (const method of ['tools/list', 'server/discover', 'tools/call', 'subscriptions/listen', 'no/such']) {
      for (const message of incomplete(method)) expect((await answerTo(server, message))[0]).toBe(400);
    }
    for (const id of [0, '', 'x']) {
      for (const accept of ['text/event-stream', 'application/json']) {
        const [message] = incomplete('tools/list');
        const answer = await answerTo(server, { ...message, id }, { accept });
        expect(answer).toMatchObject([400, { id, error: { code: -32602 } }]);
      }
    }
  });

  inStateless('META-21', 'gets only questions that its client supports', async () => {
    const server = failing();
    for (const [how, required, declared] of [
      ['sample', { sampling: {} }, { elicitation: {}, roots: {} }],
      ['roots', { roots: {} }, { sampling: {} }],
      ['form', { elicitation: {} }, { sampling: {} }],
      ['url', { elicitation: { url: {} } }, { elicitation: {} }],
      ['form', { elicitation: { form: {} } }, { elicitation: { url: {} } }],
      ['confirm', { elicitation: {} }, { sampling: {} }],
      ['confirm', { elicitation: { form: {} } }, { elicitation: { url: {} } }],
      ['use', { sampling: { tools: {} } }, { sampling: { context: {} } }],
      ['context', { sampling: { context: {} } }, { sampling: { tools: {} } }],
      // nothing but an object declares a capability
      ['url', { elicitation: { url: {} } }, { elicitation: { url: false } }],
      ['form', { elicitation: {} }, { elicitation: false }],
      ['use', { sampling: { tools: {} } }, { sampling: { tools: null } }],
      ['context', { sampling: { context: {} } }, { sampling: { context: true } }],
      ['roots', { roots: {} }, { roots: [] }],
    ] as const) {
      const meta = declares(declared);
      for (const message of [
        ...('form' in (required.elicitation ?? {}) ? [] : [fails(how)]),
        fails(how, meta),
        asked(0, 'prompts/get', { name: 'pack', arguments: { city: how } }, meta),
        asked('', 'resources/read', { uri: `docs://${how}` }, meta),
      ]) {
        const [status, { id, error, result }] = await answerTo(server, message);
        expect([how, status, id, error, result]).toMatchObject([how, 400, message.id, { code: -32021 }, undefined]);
        expect(error?.data).toMatchObject({ requiredCapabilities: required });
      }
    }
  });

  inStateless('RPC-35', 'inherits nothing from earlier requests', async () => {
    const tools = {
      sample,
      log: (context: Context) => void context.log.error('heard'),
      who: ({ client, meta }: Context) => JSON.stringify([client.info, Object.keys(meta ?? {}).length]),
    };
    for (const transport of RAW_TRANSPORTS) {
      const client = await RawClient.connect(serverWith(tools), { revision }, transport);
      const rich = {
        ...declares({ sampling: {} }),
        [`${PREFIX}logLevel`]: 'debug',
        [`${PREFIX}clientInfo`]: { name: 'a', version: '1' },
      };
      const send = async (message: Message) => {
        void client.send(message);
        return await client.response(message.id);
      };
      expect(await send(called('rich', 'sample', rich))).toMatchObject({ result: { resultType: 'input_required' } });
      expect(await send(called('poor', 'sample'))).toMatchObject({ error: { code: -32021 } });
      await send(called('loud', 'log', rich));
      await send(called('quiet', 'log'));
      expect(client.of('notifications/message')).toHaveLength(1);
      await send(called('known', 'who', rich));
      const { result } = await send(called('unknown', 'who'));
      expect(textOf(result as JsonObject)).toBe('[null,2]');
      const { [VERSION]: _version, ...rest } = metaOf(asked('', ''));
      void client.send({ jsonrpc: '2.0', id: 'nameless', method: 'tools/list', params: { _meta: rest } });
      expect(await client.response('nameless')).toHaveProperty('error');
    }
  });

  inStateless('RPC-36', 'refers to shared state only by its own params', async () => {
    const carts = new Map<string, number>();
    const add = (_context: Context, { cart }: JsonObject) => {
      carts.set(cart as string, (carts.get(cart as string) ?? 0) + 1);
      return String(carts.get(cart as string));
    };
    const server = serverWith({ add });
    server.addTool({ name: 'ask', input: NoInput }, (_input, context) => sample(context));
    const options = { revision, capabilities: { sampling: {} } };
    const [one, other] = await Promise.all([1, 2].map(() => RawClient.connect(server, options, overStdio)));
    expect(textOf(await (one as RawClient).call('add', { cart: 'a' }))).toBe('1');
    expect(textOf(await (other as RawClient).call('add', { cart: 'a' }))).toBe('2');
    expect(textOf(await (one as RawClient).call('add', { cart: 'b' }))).toBe('1');
    const { inputRequests, requestState } = await (one as RawClient).call('ask');
    const [key] = Object.keys(inputRequests as object);
    const given = { inputResponses: { [key as string]: SAMPLED }, requestState };
    const ended = await (other as RawClient).result('tools/call', { name: 'ask', ...given });
    expect(textOf(ended)).toBe('Ho');
    // a call without state starts anew, even on the first server
    expect(await (one as RawClient).call('ask')).toMatchObject({ resultType: 'input_required' });
  });

  inStateless('RPC-37', 'may use its own connection', async () => {
    const ports = new Set<unknown>();
    const overNew = async (message: Message, server = FAILING): Promise<Message> => {
      const url = await urlOf(server);
      const accept = 'application/json, text/event-stream';
      const headers = { 'content-type': 'application/json', accept, ...statelessHeaders(message) };
      const sent = httpRequest(url, { method: 'POST', agent: false, headers });
      sent.on('socket', (socket) => socket.on('connect', () => ports.add(socket.localPort)));
      sent.end(JSON.stringify(message));
      const [response] = (await once(sent, 'response')) as [AsyncIterable<Buffer>];
      const chunks: Buffer[] = [];
      for await (const chunk of response) chunks.push(chunk);
      return JSON.parse(Buffer.concat(chunks).toString()) as Message;
    };
    expect(await overNew(asked(1, 'server/discover'))).toHaveProperty('result.supportedVersions');
    expect(await overNew(asked(1, 'tools/list'))).toHaveProperty('result.tools');
    const ask = fails('sample', declares({ sampling: {} }));
    const { inputRequests, requestState } = (await overNew(ask)).result as JsonObject;
    const [key] = Object.keys(inputRequests as object);
    const given = { inputResponses: { [key as string]: SAMPLED }, requestState };
    expect(await overNew({ ...ask, params: { ...ask.params, ...given } })).toMatchObject({
      result: { content: [{ text: 'Ho' }] },
    });
    // all pages of a list
    const library = many(3, 1);
    for (const [method, members] of LISTS) {
      let cursor: unknown;
      for (const more of [true, true, false]) {
        const { result = {} } = await overNew(asked(1, method, cursor === undefined ? {} : { cursor }), library);
        cursor = result['nextCursor'];
        expect([method, (result[members] as unknown[]).length, cursor !== undefined]).toEqual([method, 1, more]);
      }
    }
    expect(ports.size).toBe(4 + LISTS.length * 3);
  });

  inStateless('RPC-38', 'may be interleaved with other conversations', async () => {
    const server = serverWith({
      async talk(context, { who }) {
        const first = (await context.sample({ messages: `1 ${String(who)}`, maxTokens: 1 })).text;
        const second = (await context.sample({ messages: `2 ${String(who)}`, maxTokens: 1 })).text;
        return `${first}, ${second}`;
      },
    });
    const client = await RawClient.connect(server, { revision, capabilities: { sampling: {} } }, overStdio);
    type Talk = { readonly who: string; given: JsonObject };
    const talks: Talk[] = [
      { who: 'ada', given: {} },
      { who: 'bob', given: {} },
    ];
    for (const round of [1, 2]) {
      const asking = talks.map((talk) =>
        client.result('tools/call', { name: 'talk', arguments: { who: talk.who }, ...talk.given }),
      );
      for (const [index, { inputRequests, requestState }] of (await Promise.all(asking)).entries()) {
        const talk = talks[index] as Talk;
        const [[key, question]] = Object.entries(inputRequests as object) as [[string, unknown]];
        expect(JSON.stringify(question)).toContain(`${round} ${talk.who}`);
        const answer = { ...SAMPLED, content: { type: 'text', text: `${talk.who} ${round}` } };
        talk.given = { inputResponses: { [key]: answer }, requestState };
      }
    }
    for (const { who, given } of talks.reverse()) {
      const result = await client.result('tools/call', { name: 'talk', arguments: { who }, ...given });
      expect(textOf(result)).toBe(`${who} 1, ${who} 2`);
    }
  });

  inStateless('RPC-05', 'may reuse the id of a finished request, but not of one in flight', async () => {
    const go = deferred();
    const server = serverWith({ quick: () => 'quick', slow: () => go.promise.then(() => 'slow') });
    const client = await RawClient.connect(server, { revision }, overStdio);
    for (const count of [1, 2, 3]) {
      await client.send(called(1, 'quick'));
      await client.at(count - 1);
    }
    expect(client.received).toMatchObject(Array.from({ length: 3 }, () => ({ id: 1, result: { content: [{}] } })));
    await client.send(called(2, 'slow'));
    await client.send(called(2, 'quick'));
    expect(await client.at(3)).toMatchObject({ error: { code: -32600 } });
    expect(client.received[3]).not.toHaveProperty('id');
    go.resolve();
    expect(await client.response(2)).toMatchObject({ result: { content: [{ text: 'slow' }] } });
  });

  inStateless('RPC-05', 'may reuse the id of a cancelled request, even while its handler runs', async () => {
    for (const transport of RAW_TRANSPORTS) {
      let began = deferred();
      const go = deferred();
      const slow = () => {
        began.resolve();
        return go.promise;
      };
      const client = await RawClient.connect(serverWith({ quick: () => 'quick', slow }), { revision }, transport);
      for (const id of ['same', 1, 0, '']) {
        began = deferred();
        void client.send(called(id, 'slow'));
        await began.promise;
        await client.cancel(id);
        const count = client.received.length;
        void client.send(called(id, 'quick'));
        expect(await client.at(count)).toMatchObject({ id, result: { content: [{ text: 'quick' }] } });
      }
      go.resolve();
    }
  });

  inStateless('LIFE-20', 'may be the first message', async () => {
    for (const transport of RAW_TRANSPORTS) {
      const client = await RawClient.connect(serverWith({ hi: () => 'hi' }), { revision }, transport);
      expect(textOf(await client.call('hi'))).toBe('hi');
      expect(client.received).toHaveLength(1);
    }
  });

  // a session cannot be declared by a request
  const UNKNOWN = ['v999.0.0', '1999-01-01', '', '2026-07-29', ...SESSION_REVISIONS];

  inStateless('LIFE-21', 'is rejected if its revision is unknown', async () => {
    for (const transport of [overMemory, overStdio]) {
      const client = await RawClient.connect(serverOf(), { revision }, transport);
      for (const requested of UNKNOWN) {
        const { code, data } = await client.error('tools/list', { _meta: { [VERSION]: requested } });
        expect([code, data]).toEqual([-32022, { supported: expect.arrayContaining([revision]), requested }]);
      }
      expect(await client.result('server/discover')).toHaveProperty('supportedVersions');
    }
  });

  inStateless('LIFE-22', 'is then rejected with 400', async () => {
    const server = serverOf();
    for (const requested of ['v999.0.0', '2026-07-29', '2025-11-25', '2024-11-05']) {
      for (const accept of ['application/json, text/event-stream', 'application/json', 'text/event-stream', '*/*']) {
        for (const method of ['tools/list', 'server/discover', 'subscriptions/listen', 'no/such']) {
          const message = asked('x', method, {}, { [VERSION]: requested });
          const answer = await answerTo(server, message, { 'mcp-protocol-version': requested, accept });
          expect(answer).toMatchObject([400, { id: 'x', error: { code: -32022, data: { requested } } }]);
        }
      }
    }
  });

  inStateless('LIFE-23', 'cannot use session methods', async () => {
    const methods = [
      'initialize',
      'notifications/initialized',
      'ping',
      'logging/setLevel',
      'resources/subscribe',
      'resources/unsubscribe',
      'notifications/roots/list_changed',
      'tasks/result',
      'tasks/list',
    ];
    for (const method of methods) {
      const message = asked(1, method, { level: 'info', uri: 'docs://a', taskId: '1' });
      expect(await answerTo(storyServer(), message)).toMatchObject([404, { id: 1, error: { code: -32601 } }]);
      const client = await RawClient.connect(storyServer(), { revision }, overStdio);
      await client.send(message);
      expect(await client.response(1)).toMatchObject({ error: { code: -32601 } });
    }
  });

  inStateless('LIFE-26', 'cannot start a session, and learns the alternatives', async () => {
    const hello = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'old', version: '1' } };
    // with an envelope, or only with the headers of the revision
    for (const params of [asked(1, '').params, { ...asked(1, '').params, ...hello }, hello]) {
      const [status, { error }] = await answerTo(serverOf(), { jsonrpc: '2.0', id: 1, method: 'initialize', params });
      expect([status, error?.code]).toEqual([404, -32601]);
      expect(error?.data).toMatchObject({ supported: expect.arrayContaining([revision]) });
    }
  });
});
