// Requests of the stateless revision, and what they say about themselves.
import { describe, expect } from '@jest/globals';
import {
  Completion,
  type Context,
  type Extension,
  type JsonObject,
  McpError,
  type McpServer,
  type McpServerOptions,
  Prompt,
  Resource,
} from '@decorum/core';
import { IsString } from 'class-validator';

import { overHttp, statelessHeaders, transportsOf } from '../support/http-transports.js';
import { type Message, overMemory, overStdio, RawClient, type RawTransport, textOf } from '../support/raw-client.js';
import { rawRequest } from '../support/raw-http.js';
import { eachRevision, inStateless, type Revision, SESSION_REVISIONS, STATELESS } from '../support/requirements.js';
import {
  answerTo,
  asked,
  called,
  CAPABILITIES,
  declares,
  metaOf,
  PREFIX,
  urlOf,
  VERSION,
} from '../support/stateless-post.js';
import { LISTS, many } from './lists.js';
import { ASKING, membersOf } from './members.js';
import { ACKNOWLEDGED, responseTo } from './neutral.js';
import { SAID } from './rounds.js';
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

class City {
  @IsString()
  city!: string;
}

/** Asks the client's model. */
const sample = async (context: Context) => (await context.sample({ messages: 'Hi', maxTokens: 1 })).text;

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

describe('results without a session', () => {
  eachRevision(['RPC-23', 'RPC-24', 'RPC-26', 'META-22', 'STDIO-09'], 'have a type and the server info', async () => {
    for (const transport of RAW_TRANSPORTS) {
      const client = await tell(transport);
      const results = client.received.flatMap(({ result }) => (result ? [result] : []));
      expect(results.length).toBeGreaterThan(15);
      for (const result of results) {
        expect(result['resultType']).toBe('inputRequests' in result ? 'input_required' : 'complete');
        expect(result['_meta']).toMatchObject({ [`${PREFIX}serverInfo`]: { name: 'story', version: '1.0.0' } });
      }
      // sampling and roots in one round, a form in another
      expect(results.filter(({ resultType }) => resultType === 'input_required')).toHaveLength(2);
      expect(client.questions.map(({ method }) => method)).toEqual([
        'sampling/createMessage',
        'roots/list',
        'elicitation/create',
      ]);
      for (const message of client.received) expect('method' in message && 'id' in message).toBe(false);
    }
  });

  eachRevision(['RPC-26', 'STDIO-09', 'PING-05'], 'are no pings, whichever kind of handler wants one', async () => {
    const server = serverOf({ providers: [membersOf((context) => context.ping().then(() => 'pong'))] });
    const capabilities = { roots: {}, sampling: {}, elicitation: {} };
    for (const transport of RAW_TRANSPORTS) {
      const client = await RawClient.connect(server, { revision, capabilities }, transport);
      for (const [method, params] of ASKING) {
        const { result, error } = await client.request(method, params);
        expect([method, error !== undefined || result?.['isError']]).toEqual([method, true]);
      }
      expect(client.received.filter((message) => 'method' in message)).toEqual([]);
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
});

describe('a request without a session', () => {
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

  eachRevision(['RPC-36', 'RPC-38'], 'refers to shared state only by its params, and interleaves', async () => {
    const carts = new Map<unknown, number>();
    const server = serverWith({
      add(_context, { cart }) {
        carts.set(cart, (carts.get(cart) ?? 0) + 1);
        return String(carts.get(cart));
      },
      async talk(context, { who }) {
        const first = (await context.sample({ messages: `1 ${String(who)}`, maxTokens: 1 })).text;
        const second = (await context.sample({ messages: `2 ${String(who)}`, maxTokens: 1 })).text;
        return `${first}, ${second}`;
      },
    });
    const options = { revision, capabilities: { sampling: {} } };
    const one = await RawClient.connect(server, options, overStdio);
    const other = await RawClient.connect(server, options, overStdio);
    for (const [client, cart, count] of [
      [one, 'a', '1'],
      [other, 'a', '2'],
      [one, 'b', '1'],
    ] as const) {
      expect(textOf(await client.call('add', { cart }))).toBe(count);
    }
    const talks: { readonly who: string; given: JsonObject }[] = ['ada', 'bob'].map((who) => ({ who, given: {} }));
    for (const round of [1, 2]) {
      const client = round === 1 ? one : other;
      const asking = talks.map(({ who, given }) =>
        client.result('tools/call', { name: 'talk', arguments: { who }, ...given }),
      );
      for (const [index, { inputRequests, requestState }] of (await Promise.all(asking)).entries()) {
        const talk = talks[index]!;
        const [[key, question]] = Object.entries(inputRequests as object) as [[string, unknown]];
        expect(JSON.stringify(question)).toContain(`${round} ${talk.who}`);
        const answer = { ...SAID, content: { type: 'text', text: `${talk.who} ${round}` } };
        talk.given = { inputResponses: { [key]: answer }, requestState };
      }
    }
    for (const { who, given } of talks.reverse()) {
      const result = await one.result('tools/call', { name: 'talk', arguments: { who }, ...given });
      expect(textOf(result)).toBe(`${who} 1, ${who} 2`);
      // a call without state starts anew
      expect(await other.call('talk', { who })).toMatchObject({ resultType: 'input_required' });
    }
  });

  inStateless('RPC-37', 'may use its own connection', async () => {
    const overNew = async (message: Message, server: McpServer): Promise<Message> => {
      const accept = 'application/json, text/event-stream';
      const headers = { 'content-type': 'application/json', accept, ...statelessHeaders(message) };
      // each has a connection of its own
      const { body } = await rawRequest(await urlOf(server), { headers, body: JSON.stringify(message) });
      return JSON.parse(body) as Message;
    };
    const server = serverWith({ sample });
    expect(await overNew(asked(1, 'server/discover'), server)).toHaveProperty('result.supportedVersions');
    const ask = called(1, 'sample', declares({ sampling: {} }));
    const { inputRequests, requestState } = (await overNew(ask, server)).result as JsonObject;
    const [key] = Object.keys(inputRequests as object);
    const given = { inputResponses: { [key as string]: SAID }, requestState };
    expect(await overNew({ ...ask, params: { ...ask.params, ...given } }, server)).toMatchObject({
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
  });

  inStateless('RPC-05', 'may reuse the id of one that has ended, but not of one in flight', async () => {
    const fails = () => {
      throw new McpError(4711, 'No.');
    };
    const quick = { result: { content: [{ text: 'quick' }] } };
    for (const transport of RAW_TRANSPORTS) {
      let began = deferred();
      const go = deferred<string>();
      const slow = () => {
        began.resolve();
        return go.promise;
      };
      const tools = { quick: () => 'quick', slow, fails, rejects: async () => fails() };
      const client = await RawClient.connect(serverWith(tools), { revision }, transport);
      const begin = async (id: string | number) => {
        began = deferred();
        void client.send(called(id, 'slow'));
        await began.promise;
      };
      for (const id of ['1', 1, 0, '']) {
        await begin(id);
        // even while its handler runs
        await client.cancel(id);
        const failing = ['fails', 'rejects', 'none'].map((name) => called(id, name));
        for (const message of [...failing, asked(id, 'no/such'), asked(id, 'tools/list', { cursor: 'none' })]) {
          expect(await responseTo(client, called(id, 'quick'))).toMatchObject({ id, ...quick });
          expect((await responseTo(client, message)).id).toBe(id);
        }
        expect(await responseTo(client, called(id, 'quick'))).toMatchObject({ id, ...quick });
      }
      if (transport === overHttp) continue;
      await begin(2);
      const refused = await responseTo(client, called(2, 'quick'));
      expect([refused.id, refused.error]).toMatchObject([undefined, { code: -32600 }]);
      go.resolve('slow');
      expect(await client.response(2)).toMatchObject({ result: { content: [{ text: 'slow' }] } });
    }
  });

  inStateless(['LIFE-20', 'DISC-08'], 'may be the first message', async () => {
    for (const transport of RAW_TRANSPORTS) {
      const [client, other] = await Promise.all(
        [1, 2].map(() => RawClient.connect(serverWith({ hi: () => 'hi' }), { revision }, transport)),
      );
      expect(textOf(await client!.call('hi'))).toBe('hi');
      expect(await other!.result('server/discover')).toMatchObject({ supportedVersions: expect.any(Array) });
      expect([client!.received.length, other!.received.length]).toEqual([1, 1]);
    }
  });

  // a session cannot be declared by a request
  const UNKNOWN = ['v999.0.0', '', '2026-07-29', `${STATELESS}T00:00:00Z`, '__proto__', ...SESSION_REVISIONS];
  const SPACED = [` ${STATELESS}`, `${STATELESS} `];

  eachRevision(['LIFE-21', 'LIFE-22'], 'is rejected if its revision is unknown, whatever its method', async () => {
    const server = storyServer();
    const methods = ['tools/list', 'tools/call', 'server/discover', 'resources/read', 'subscriptions/listen', 'no'];
    const accepts = ['application/json, text/event-stream', 'application/json', 'text/event-stream', '*/*'];
    const clients = [overMemory, overStdio].map((transport) => RawClient.connect(server, { revision }, transport));
    for (const [at, requested] of [...UNKNOWN, ...SPACED].entries()) {
      const error = { code: -32022, data: { supported: expect.arrayContaining([STATELESS]), requested } };
      for (const [index, method] of methods.entries()) {
        const message = asked('x', method, { name: 'x', uri: 'docs://a' }, { [VERSION]: requested });
        const accept = accepts[(at + index) % accepts.length] as string;
        if (!SPACED.includes(requested)) {
          const answer = await answerTo(server, message, { 'mcp-protocol-version': requested, accept });
          expect([method, requested, ...answer]).toMatchObject([method, requested, 400, { id: 'x', error }]);
        }
        const client = await clients[(at + index) % 2]!;
        const id = `${at} ${method}`;
        await client.send({ ...message, id });
        expect([method, requested, await client.response(id)]).toMatchObject([method, requested, { error }]);
      }
    }
    for (const client of await Promise.all(clients)) {
      expect(await client.result('server/discover')).toHaveProperty('supportedVersions');
    }
  });

  inStateless(['LIFE-23', 'PING-05'], 'cannot use session methods, even where a session has begun', async () => {
    const server = storyServer();
    const pipes = [RawClient.connect(server, { revision }, overStdio)];
    for (const transport of [overMemory, overStdio]) {
      pipes.push(RawClient.connect(server, { revision: '2025-11-25' }, transport));
    }
    const requests = ['initialize', 'ping', 'logging/setLevel', 'resources/subscribe', 'resources/unsubscribe'];
    const others = ['notifications/initialized', 'notifications/roots/list_changed', 'tasks/result', 'tasks/list'];
    for (const method of [...requests, ...others]) {
      const hello = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } };
      const message = asked(method, method, { ...hello, level: 'info', uri: 'docs://a', taskId: '1' });
      expect(await answerTo(server, message)).toMatchObject([404, { id: method, error: { code: -32601 } }]);
      for (const client of await Promise.all(pipes)) {
        await client.send(message);
        expect([method, await client.response(method)]).toMatchObject([method, { error: { code: -32601 } }]);
      }
    }
    for (const client of (await Promise.all(pipes)).slice(1)) expect(await client.result('ping')).toEqual({});
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

const TRANSPORTS = Object.values(transportsOf(revision));

const extension: Extension = { id: 'com.example/x', methods: { 'x/y': () => ({}) } };

/** One member of each kind, and nothing that asks who the client is. */
class Anyone {
  @Prompt()
  pack({ city }: City) {
    return city;
  }

  @Resource('docs://{city}')
  docs({ city }: City) {
    return city;
  }

  @Completion({ for: 'pack', argument: 'city' })
  cities() {
    return ['Oslo'];
  }
}

/** A server with these members and the tool `who`. */
function anyone(options: Partial<McpServerOptions> = {}, who: () => unknown = () => '') {
  return serverWith({ who }, { providers: [Anyone], ...options });
}

/** A request of each method that a server with all kinds of members and an extension has. */
const REQUESTS: readonly (readonly [method: string, params: JsonObject])[] = [
  ['server/discover', {}],
  ['tools/list', {}],
  ['tools/call', { name: 'who' }],
  ['prompts/list', {}],
  ['prompts/get', { name: 'pack', arguments: { city: 'Oslo' } }],
  ['resources/list', {}],
  ['resources/templates/list', {}],
  ['resources/read', { uri: 'docs://Oslo' }],
  ['completion/complete', { ref: { type: 'ref/prompt', name: 'pack' }, argument: { name: 'city', value: '' } }],
  ['subscriptions/listen', { notifications: {} }],
  ['x/y', {}],
  ['no/such', {}],
];

/** A valid request with a part of its envelope replaced. Undefined removes the part. */
function without(key: string, value: unknown, [method, params]: (typeof REQUESTS)[number]): Message {
  const { [key]: _removed, ...rest } = metaOf(asked(1, method));
  return {
    jsonrpc: '2.0',
    id: method,
    method,
    params: { ...params, _meta: { ...rest, ...(value !== undefined && { [key]: value }) } },
  };
}

describe('an incomplete envelope', () => {
  inStateless(['META-18', 'META-19', 'RPC-34'], 'is rejected with 400, whatever the method', async () => {
    const server = anyone({ extensions: [extension] });
    for (const request of REQUESTS) {
      for (const params of [undefined, {}]) {
        const answer = await answerTo(server, { jsonrpc: '2.0', id: 1, method: request[0], params });
        expect([request[0], ...answer]).toMatchObject([request[0], 400, { id: 1, error: { code: -32602 } }]);
      }
      for (const key of [VERSION, CAPABILITIES]) {
        for (const value of [undefined, null, 0, false, [], ...(key === VERSION ? [{}] : ['', '{}'])]) {
          const answer = await answerTo(server, without(key, value, request));
          const expected = [400, { id: request[0], error: { code: -32602 } }];
          expect([request[0], key, value, ...answer]).toMatchObject([request[0], key, value, ...expected]);
          expect(answer[1]).not.toHaveProperty('result');
        }
      }
    }
  });
});

/** Those that are answered at once, with a result. */
const SERVED = REQUESTS.slice(0, -3);

describe('the client info of a request', () => {
  inStateless(['META-20', 'META-23'], 'is optional, and makes no difference to the response', async () => {
    const infos = [
      undefined,
      { name: 'a', version: '1' },
      { name: 'claude-ai', version: '0.1' },
      { name: 7 },
      'nobody',
    ];
    const ran: unknown[] = [];
    for (const transport of TRANSPORTS) {
      const server = anyone({ instructions: 'Ask first.', title: 'Anyone' }, () => void ran.push('anyone'));
      for (const [method, params] of [...SERVED, ['tools/fly', {}] as const]) {
        const answers = [];
        for (const info of infos) {
          const client = await RawClient.connect(server, { revision }, transport);
          const message = asked(1, method, params, info === undefined ? {} : { [`${PREFIX}clientInfo`]: info });
          if (info === undefined) expect(metaOf(message)).not.toHaveProperty([`${PREFIX}clientInfo`]);
          void client.send(message);
          answers.push(await client.response(1));
        }
        expect(answers[0]).toHaveProperty(method === 'tools/fly' ? 'error' : 'result.resultType');
        for (const answer of answers) expect(answer).toEqual(answers[0]);
      }
    }
    expect(ran).toHaveLength(infos.length * TRANSPORTS.length);
    const listener = await RawClient.connect(anyone(), { revision });
    void listener.send(asked(1, 'subscriptions/listen', { notifications: {} }));
    await listener.find(({ method }) => method === ACKNOWLEDGED);
  });
});

describe('a question', () => {
  inStateless('META-21', 'asks only what its own request declares', async () => {
    const server = serverOf({ providers: [membersOf(async (context) => String((await context.roots()).length))] });
    for (const [method, params] of ASKING) {
      const round = (more: JsonObject, capabilities: JsonObject) =>
        answerTo(server, asked(1, method, { ...params, ...more }, declares(capabilities)));
      for (const capabilities of [{}, { sampling: {} }, { roots: false }]) {
        const [status, { error, result }] = await round({}, capabilities);
        expect([method, status, error?.code, result]).toEqual([method, 400, -32021, undefined]);
        expect(error?.data).toEqual({ requiredCapabilities: { roots: {} } });
      }
      const [, first] = await round({}, { roots: {} });
      expect(first).toMatchObject({ result: { resultType: 'input_required' } });
    }
  });
});
