// Requests with several rounds, because the client has to answer questions first.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import { describe, expect, it, jest } from '@jest/globals';
import {
  connectMemory,
  type Context,
  type Extension,
  type JsonObject,
  type McpServerOptions,
  MemorySingleUse,
  needInput,
  NoInput,
  Prompt,
  Resource,
  Tool,
} from '@decorum/core';

import { overHttp } from '../support/http-transports.js';
import { overMemory, type RawOptions, textOf } from '../support/raw-client.js';
import { eachRevision, inStateless, STATELESS } from '../support/requirements.js';
import { ASKING, membersOf, RUNNING } from './members.js';
import {
  ADA,
  again,
  ANSWERS,
  asked,
  begin,
  CAPABILITIES,
  RAW_TRANSPORTS,
  connect,
  form,
  greet,
  HOME,
  INVALID,
  question,
  sample,
  SECRET,
  visit,
} from './rounds.js';
import { type Handler, serverOf, serverWith } from './servers.js';

const MODEL = { messages: [{ role: 'user', content: { type: 'text', text: 'Hi' } }], maxTokens: 5 };

describe('a request that cannot go on without the client', () => {
  eachRevision(
    ['MRTR-01', 'ROOT-06', 'SAMP-13'],
    'is answered with all questions, and no question is sent separately',
    async () => {
      const all: Handler = async (context) => {
        const [, , roots] = await Promise.all([form(context), sample(context), context.roots()]);
        await visit(context);
        return (await context.confirm('Sure?')) ? JSON.stringify(roots) : 'not done';
      };
      for (const [, transport] of RAW_TRANSPORTS) {
        const client = await connect(serverWith({ all }), { answers: ANSWERS }, transport);
        await client.notify('notifications/roots/list_changed');
        // nothing is cached that could have changed
        for (let call = 1; call <= 2; call += 1) {
          expect(textOf(await client.call('all'))).toBe(JSON.stringify(HOME.roots));
          expect(client.questions).toHaveLength(5 * call);
        }
        const [first, second, third, ...rest] = client.questions;
        expect(second).toMatchObject({ method: 'sampling/createMessage', params: MODEL });
        expect([first, third].map((each) => each?.method)).toEqual(['elicitation/create', 'roots/list']);
        expect(rest.slice(0, 2).map(({ method }) => method)).toEqual(['elicitation/create', 'elicitation/create']);
        for (const message of client.received) expect(Object.keys(message)).toEqual(['jsonrpc', 'id', 'result']);
      }
    },
  );

  eachRevision(
    ['MRTR-02', 'TOOL-30', 'PROMPT-14', 'RES-23'],
    'calls a tool, gets a prompt or reads a resource',
    async () => {
      const ways: readonly ((context: Context) => Promise<unknown>)[] = [
        form,
        visit,
        sample,
        (context) => context.roots(),
        (context) => context.confirm('Sure?'),
        (context) => context.requireUrl({ message: 'Please sign in', url: 'https://example.com/a' }),
      ];
      for (const way of ways) {
        const extension: Extension = {
          id: 'com.example/asking',
          methods: { 'asking/name': async (_params, context) => ({ name: String(await way(context)) }) },
        };
        const asking = async (context: Context) => `${JSON.stringify(await way(context))} answered`;
        const server = serverOf({ providers: [membersOf(asking)], extensions: [extension] });
        const capabilities = { ...CAPABILITIES, extensions: { [extension.id]: {} } };
        const client = await connect(server, { capabilities, answers: ANSWERS });
        for (const [method, params] of ASKING) {
          asked((await client.request(method, params)).result);
          expect(JSON.stringify(await client.result(method, params))).toContain('answered');
        }
        for (const [method, params] of [...RUNNING.slice(ASKING.length), ['asking/name', {}] as const]) {
          // unsolicited answers make no difference
          for (const more of [{}, { inputResponses: { '#1': ADA }, requestState: 'x' }]) {
            expect((await client.error(method, { ...params, ...more })).code).toBe(-32603);
          }
        }
      }
    },
  );

  inStateless('MRTR-04', 'has each question once, with a method and parameters', async () => {
    const all: Handler = async (context) => {
      const keyed = { name: { method: 'roots/list' }, '#1': { method: 'roots/list' } } as const;
      const first = await Promise.all([
        form(context),
        question(context, 'And you?'),
        context.sample({ ...HI, key: 'hello' }),
      ]);
      return context.answers ? `${first.length}` : needInput(keyed);
    };
    const HI = { messages: 'Hi', maxTokens: 5 };
    const client = await connect(serverWith({ all }), {}, overHttp);
    const { inputRequests } = await begin(client, 'all');
    expect(Object.keys(inputRequests)).toEqual(['#1', '#2', 'hello']);
    const kinds = ['elicitation/create', 'sampling/createMessage', 'roots/list'];
    for (const request of Object.values(inputRequests)) {
      expect(kinds).toContain(request.method);
      expect(Object.keys(request)).toEqual(['method', 'params']);
    }
    // checks the raw text, because a parser would hide duplicate keys
    for (const key of Object.keys(inputRequests)) expect(client.texts[0]!.split(`"${key}":`)).toHaveLength(2);
  });
});

/** Runs the garbage collector and returns the bytes in use. */
async function collected(): Promise<number> {
  setFlagsFromString('--expose-gc');
  const gc = runInNewContext('gc') as () => void;
  for (let turn = 0; turn < 3; turn += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    gc();
  }
  return process.memoryUsage().heapUsed;
}

const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;

describe('a client that never retries', () => {
  inStateless('MRTR-11', 'leaves no state behind', async () => {
    const [flows, bytes] = [600, 10_000];
    const held: WeakRef<object>[] = [];
    const server = serverWith({
      async wait(context, input) {
        held.push(new WeakRef(context), new WeakRef(input), new WeakRef(context.signal));
        context.signal.addEventListener('abort', () => {});
        await Promise.all([form(context), context.roots(), context.once('x', () => 'done')]);
      },
    });
    let answers = 0;
    const connection = await connectMemory(server, {
      receive: (message) => void (answers += isAsked(message) ? 1 : 0),
    });
    const meta = {
      'io.modelcontextprotocol/protocolVersion': STATELESS,
      'io.modelcontextprotocol/clientCapabilities': CAPABILITIES,
    };
    const abandon = async (id: number) => {
      const params = { name: 'wait', arguments: { text: `${id} `.padEnd(bytes, 'x') }, _meta: meta };
      await connection.send({ jsonrpc: '2.0', id, method: 'tools/call', params });
    };
    for (let id = 0; id < 50; id += 1) await abandon(id);
    const [before, running] = [await collected(), timers()];
    for (let id = 50; id < flows; id += 1) await abandon(id);
    const after = await collected();
    expect([answers, held.length]).toEqual([flows, 3 * flows]);
    expect(held.filter((each) => each.deref() !== undefined)).toHaveLength(0);
    // earlier connections may still have timers
    expect(timers() - running).toBeLessThan(flows / 10);
    // keeping just the requests would take ten times as much
    expect(after - before).toBeLessThan((flows * bytes) / 10);
    await connection.close();
  });
});

const isAsked = (message: unknown) => JSON.stringify(message).includes('"input_required"');

describe('a retry', () => {
  inStateless('MRTR-12', 'may be answered with another question many times, and every answer is kept', async () => {
    const names = Array.from({ length: 12 }, (_item, index) => `name ${index}`);
    const many: Handler = async (context) => {
      const said: string[] = [];
      for (const name of names) {
        const { content } = (await question(context, `${name}?`)) as { content?: { name: string } };
        said.push(content?.name ?? 'nobody');
      }
      return said.join();
    };
    const elicited = ({ message }: JsonObject) => ({
      result: { action: 'accept', content: { name: String(message).slice(0, -1) } },
    });
    for (const [, transport] of RAW_TRANSPORTS) {
      const client = await connect(serverWith({ many }), { answers: { 'elicitation/create': elicited } }, transport);
      expect(textOf(await client.call('many'))).toBe(names.join());
      expect(client.questions.map(({ params }) => params['message'])).toEqual(names.map((name) => `${name}?`));
    }
  });

  inStateless('MRTR-17', 'repeats all arguments, or the URI of a resource, which are checked again', async () => {
    const input = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] } as const;
    const plan = async (city: unknown, context: Context) => `${String(city)}: ${(await form(context)).action}`;
    class Guide {
      @Tool({ input })
      async tool({ city }: { city: string }, context: Context) {
        return await plan(city, context);
      }

      @Prompt({ input })
      async prompt({ city }: { city: string }, context: Context) {
        return await plan(city, context);
      }

      @Resource('guide://{city}', { input })
      async page({ city }: { city: string }, context: Context) {
        return await plan(city, context);
      }
    }
    const client = await connect(serverOf({ providers: [Guide] }));
    const named = (name: string, args?: object) => ({ name, ...(args && { arguments: args }) });
    const wrong = [{ city: 'Rome' }, { city: 'Oslo', more: '1' }, { city: 7 }, {}, undefined];
    const requests: readonly (readonly [method: string, right: JsonObject, wrong: readonly JsonObject[]])[] = [
      ['tools/call', named('tool', { city: 'Oslo' }), wrong.map((args) => named('tool', args))],
      ['prompts/get', named('prompt', { city: 'Oslo' }), wrong.map((args) => named('prompt', args))],
      ['resources/read', { uri: 'guide://Oslo' }, [{ uri: 'guide://Rome' }, { uri: 'guide://oslo' }]],
    ];
    for (const [method, right, others] of requests) {
      const { requestState } = asked((await client.request(method, right)).result);
      const retry = (params: JsonObject) =>
        client.request(method, { ...params, requestState, inputResponses: { '#1': ADA } });
      for (const params of others) expect([params, await retry(params)]).toMatchObject([params, INVALID]);
      expect(JSON.stringify(await retry(right))).toContain('Oslo: accept');
    }
  });
});

describe('questions in place of a result', () => {
  inStateless('MRTR-18', 'are not cacheable in any round', async () => {
    class Forms {
      @Resource('forms://two', { cache: { ttlMs: 1000, scope: 'public' } })
      async two(_input: NoInput, context: Context) {
        for (const message of ['First?', 'Second?', 'Third?']) await question(context, message);
        return 'done';
      }
    }
    const client = await connect(serverOf({ providers: [Forms], cache: { ttlMs: 1000, scope: 'public' } }));
    let more: JsonObject = {};
    for (const key of ['#1', '#2', '#3']) {
      const { result } = await client.request('resources/read', { uri: 'forms://two', ...more });
      const { requestState, inputRequests } = asked(result);
      expect(Object.keys(inputRequests)).toEqual([key]);
      for (const member of ['ttlMs', 'cacheScope', 'contents']) expect(result).not.toHaveProperty(member);
      more = { requestState, inputResponses: { [key]: ADA } };
    }
    const { result } = await client.request('resources/read', { uri: 'forms://two', ...more });
    expect(result).toMatchObject({ contents: [{ text: 'done' }], ttlMs: 0, cacheScope: 'private' });
  });
});

describe('the state', () => {
  const inputResponses = { '#1': ADA };

  /** A call in flight, and the effects of its handler. */
  async function startCall(
    options: Partial<McpServerOptions> = {},
    client?: Partial<RawOptions>,
    transport = overMemory,
  ) {
    const effects: string[] = [];
    const pay: Handler = async (context, { amount = 1 }) => {
      const answer = await form(context);
      if (answer.action === 'accept') effects.push(`${String(amount)} by ${JSON.stringify(answer.content)}`);
      return answer.action;
    };
    const server = serverWith({ pay, greet }, { secret: SECRET, ...options });
    const payer = await connect(server, client, transport);
    const { requestState } = await begin(payer, 'pay', { amount: 7 });
    const retry = (more: JsonObject, by = payer) =>
      again(by, 'pay', { arguments: { amount: 7 }, requestState, inputResponses, ...more });
    return { server, client: payer, effects, requestState, retry };
  }

  eachRevision(
    ['MRTR-09', 'SEC-09', 'SEC-10'],
    'is random, and valid for one user, one request and a limited time',
    async () => {
      const { server, client, requestState, retry, effects } = await startCall(
        { requestStateTtlMs: 60_000 },
        { principal: { subject: 'ada' } },
        overHttp,
      );
      const bob = await connect(server, { principal: { subject: 'bob' } }, overHttp);
      const nobody = await connect(server, {}, overHttp);
      const refused = [
        await retry({}, bob),
        await retry({}, nobody),
        await retry({ arguments: { amount: 8 } }),
        await retry({ arguments: { amount: 7, more: 1 } }),
        await again(client, 'pay', { requestState, inputResponses }),
        await again(client, 'greet', { arguments: { amount: 7 }, requestState, inputResponses }),
      ];
      const now = jest.spyOn(Date, 'now').mockReturnValue(Date.now() + 60_100);
      try {
        refused.push(await retry({}));
      } finally {
        now.mockRestore();
      }
      for (const answer of refused) expect(answer).toMatchObject(INVALID);
      expect(effects).toEqual([]);
      const others = await Promise.all(Array.from({ length: 20 }, () => begin(client, 'pay', { amount: 7 })));
      const states = [requestState, ...others.map((other) => other.requestState)];
      expect(new Set(states).size).toBe(21);
      // the contents are encrypted
      for (const state of states) {
        expect(state).toMatch(/^[\w-]{64,}$/);
        expect(Buffer.from(state, 'base64url').toString('latin1')).not.toMatch(/ada|answers|expires/);
      }
      expect((await retry({})).result).toMatchObject({ content: [{ text: 'accept' }] });
    },
  );

  inStateless('MRTR-17', 'is valid for the same arguments, of any order, and not for any others', async () => {
    const weigh: Handler = async (context, { n }) =>
      `${(await form(context)).action} ${Object.is(n, -0) ? '-0' : JSON.stringify(n)}`;
    const client = await connect(serverWith({ weigh }));
    let sent = 0;
    // as text: JSON.stringify writes -0 as 0
    const call = async (args: string, more: JsonObject = {}) => {
      const id = (sent += 1);
      const params = { name: 'weigh', arguments: 'ARGUMENTS', ...more };
      const message = client.buildMessage(id, 'tools/call', params as JsonObject);
      await client.send(JSON.stringify(message).replace('"ARGUMENTS"', args));
      return await client.response(id);
    };
    const values = ['0', '-0', '1', '"0"', '"-0"', 'null', 'false', '[]', '{}', '[0]', '[-0]', '{"n":0}', '{"n":-0}'];
    for (const sealed of values) {
      const { result } = await call(`{"n":${sealed},"m":1}`);
      const retry = { requestState: result?.['requestState'], inputResponses };
      for (const value of values) {
        const answer = await call(`{"m":1,"n":${value}}`, retry);
        if (value === sealed) expect(textOf(answer.result as JsonObject)).toContain('accept');
        else expect([sealed, value, answer]).toMatchObject([sealed, value, INVALID]);
      }
    }
  });
});

describe('used ids in memory', () => {
  it('are forgotten when they expire, and kept until then', () => {
    const start = Date.now();
    const now = jest.spyOn(Date, 'now').mockReturnValue(start);
    try {
      const store = new MemorySingleUse();
      expect([store.claim('a', 100), store.claim('a', 100)]).toEqual([true, false]);
      now.mockReturnValue(start + 99);
      expect([store.claim('a', 100), store.claim('b', 100)]).toEqual([false, true]);
      now.mockReturnValue(start + 100);
      expect([store.claim('a', 100), store.claim('b', 100)]).toEqual([true, false]);
    } finally {
      now.mockRestore();
    }
  });

  it('are refused beyond the cap, rather than forgotten too early', async () => {
    const server = serverWith({ greet }, { secret: SECRET, singleUse: new MemorySingleUse({ maxIds: 1 }) });
    const client = await connect(server);
    const [first, second] = [await begin(client, 'greet'), await begin(client, 'greet')];
    const answer = ({ requestState }: { readonly requestState?: unknown }) =>
      again(client, 'greet', { requestState, inputResponses: { '#1': ADA } });
    expect((await answer(first)).error).toBeUndefined();
    expect(await answer(second)).toMatchObject({ error: { code: -32603 } });
    expect(await answer(first)).toMatchObject(INVALID);
    expect(() => new MemorySingleUse({ maxIds: Number.NaN })).toThrow(/MemorySingleUse: `maxIds` is NaN/);
  });

  it('leave no memory behind', () => {
    setFlagsFromString('--expose-gc');
    const gc = runInNewContext('gc') as () => void;
    // not a mock of jest, which remembers every call
    const { now } = Date;
    let time = now();
    Date.now = () => time;
    try {
      const store = new MemorySingleUse();
      gc();
      const before = process.memoryUsage().heapUsed;
      for (let id = 0; id < 100_000; id += 1) {
        time += 1;
        store.claim(`id ${id}`, 100);
      }
      gc();
      // keeping all of them would take ten times as much
      expect(process.memoryUsage().heapUsed - before).toBeLessThan(1_000_000);
      expect(store.claim('id 99999', 100)).toBe(false);
    } finally {
      Date.now = now;
    }
  });
});
