// Requests with several rounds, because the client has to answer questions first.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import { describe, expect, it, jest } from '@jest/globals';
import {
  connectMemory,
  type Context,
  type Extension,
  type JsonObject,
  MemorySingleUse,
  needInput,
} from '@decorum/core';

import { overHttp } from '../support/http-transports.js';
import { overMemory, type RawClient, type RawTransport, textOf } from '../support/raw-client.js';
import { eachRevision, inStateless, STATELESS } from '../support/requirements.js';
import { ASKING, membersOf, returned, RUNNING, type Work } from './members.js';
import {
  ADA,
  again,
  ANSWERS,
  asked,
  begin,
  CAPABILITIES,
  connect,
  form,
  greet,
  INVALID,
  NAME,
  question,
  RAW_TRANSPORTS,
  sample,
  SECRET,
  visit,
} from './rounds.js';
import { type Handler, serverOf, serverWith } from './servers.js';

describe('a request that cannot go on without the client', () => {
  eachRevision(['MRTR-02', 'TOOL-30', 'PROMPT-14', 'RES-23'], 'calls a tool, gets a prompt or reads', async () => {
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
  });

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
    // keeping just the requests would take twice as much
    expect(after - before).toBeLessThan((flows * bytes) / 2);
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

  inStateless('MRTR-17', 'repeats all arguments, or the URI of a resource', async () => {
    const plan: Work = async (context, { at }) => `${String(at)}: ${(await form(context)).action}`;
    const client = await connect(serverOf({ providers: [membersOf(plan)] }));
    const named = (name: string, args?: object) => ({ name, ...(args && { arguments: args }) });
    const wrong = [{ at: 'Rome' }, { at: 'Oslo', more: '1' }, { at: 7 }, {}, undefined];
    const requests: readonly (readonly [method: string, right: JsonObject, wrong: readonly JsonObject[]])[] = [
      ['tools/call', named('tool', { at: 'Oslo' }), wrong.map((args) => named('tool', args))],
      ['prompts/get', named('prompt', { at: 'Oslo' }), wrong.map((args) => named('prompt', args))],
      ['resources/read', { uri: 'docs://Oslo' }, [{ uri: 'docs://Rome' }, { uri: 'docs://oslo' }]],
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

describe('the state', () => {
  const inputResponses = { '#1': ADA };

  inStateless('SEC-10', 'is random, and shows nothing of what it contains', async () => {
    const client = await connect(serverWith({ greet }), { principal: { subject: 'ada' } }, overHttp);
    const begun = await Promise.all(Array.from({ length: 20 }, () => begin(client, 'greet')));
    const states = new Set(begun.map(({ requestState }) => requestState));
    expect(states.size).toBe(20);
    for (const state of states) {
      expect(state).toMatch(/^[\w-]{64,}$/);
      expect(Buffer.from(state, 'base64url').toString('latin1')).not.toMatch(/ada|answers|expires/);
    }
  });

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
      // keeping all of them would take twice as much
      expect(process.memoryUsage().heapUsed - before).toBeLessThan(5_000_000);
      expect(store.claim('id 99999', 100)).toBe(false);
    } finally {
      Date.now = now;
    }
  });
});

type Ask = (context: Context, question: string) => Promise<{ action: string } | boolean>;

/** A server whose members ask the same questions, which may change between rounds. */
function deskThat(ask: Ask = (context, message) => context.elicit(NAME, { message })) {
  const desk = { ask, questions: ['Pay 5?', 'Are you sure?'], done: [] as string[] };
  const work = async (context: Context) => {
    for (const message of desk.questions) await desk.ask(context, message);
    desk.done.push(desk.questions.join(' '));
    return 'done';
  };
  return { desk, server: serverOf({ providers: [membersOf(work)] }) };
}

type Request = (typeof ASKING)[number];

const TRANSPORTS: readonly RawTransport[] = [overMemory, overHttp];

/** Sends a request. With the result of an earlier round, it answers the questions of that round. */
async function round(client: RawClient, [method, params]: Request, earlier?: JsonObject) {
  if (earlier === undefined) return await client.request(method, params);
  const { inputRequests, requestState } = asked(earlier);
  const inputResponses = Object.fromEntries(Object.keys(inputRequests).map((key) => [key, ADA]));
  return await client.request(method, { ...params, requestState, inputResponses });
}

/** The questions in a result. */
const questionsIn = (result: JsonObject | undefined) => JSON.stringify(Object.values(asked(result).inputRequests));

describe('a question', () => {
  const limited = (limit: number) =>
    ({ type: 'object', properties: { limit: { type: 'number', maximum: limit } } }) as const;
  const WAYS: readonly Ask[] = [
    (context, message) => context.elicit(NAME, { message }),
    (context, message) => context.elicit(NAME, { message, key: message.slice(0, 3) }),
    (context, text) => context.elicit(limited(Number(/\d+/.exec(text)?.[0] ?? 1)), { message: 'How much?' }),
  ];

  inStateless('MRTR-15', 'that has changed since an earlier round is asked again, however it is known', async () => {
    for (const ask of WAYS) {
      for (const transport of TRANSPORTS) {
        for (const request of ASKING) {
          const { desk, server } = deskThat(ask);
          const client = await connect(server, {}, transport);
          const { result: first } = await round(client, request);
          const { result: second } = await round(client, request, first);
          expect(questionsIn(second)).not.toContain('5');
          desk.questions[0] = 'Pay 5000?';
          // the yes to "Pay 5?" is none to "Pay 5000?", whether it was given now or in an earlier round
          for (const old of [first, second]) {
            const { result } = await round(client, request, old);
            expect(questionsIn(result)).toContain('5000');
          }
          expect(desk.done).toEqual([]);
          // only the answer to the new question counts
          let { result } = await round(client, request, second);
          while (result?.['resultType'] === 'input_required') ({ result } = await round(client, request, result));
          desk.questions[0] = 'Pay 5?';
          expect((await round(client, request, second)).result).toMatchObject({ resultType: 'complete' });
          expect(desk.done).toEqual(['Pay 5000? Are you sure?', 'Pay 5? Are you sure?']);
        }
      }
    }
  });

  inStateless('MRTR-15', 'that is asked of another party is asked again, even with the same key', async () => {
    for (const request of ASKING) {
      const { desk, server } = deskThat();
      desk.ask = (context, message) => context.elicit(NAME, { message, key: message });
      const client = await connect(server);
      const { result: first } = await round(client, request);
      const { result: second } = await round(client, request, first);
      desk.ask = async (context, message) => ({
        action: (await context.sample({ messages: message, maxTokens: 5, key: message })).text,
      });
      for (const old of [first, second]) {
        const { result } = await round(client, request, old);
        expect(asked(result).inputRequests).toMatchObject({ 'Pay 5?': { method: 'sampling/createMessage' } });
      }
      expect(desk.done).toEqual([]);
    }
  });
});

describe('a question with all its options', () => {
  const messages = [{ role: 'user' as const, content: { type: 'text' as const, text: 'Hi' } }];
  const model = {
    maxTokens: 5,
    systemPrompt: 'Be brief.',
    temperature: 0,
    stopSequences: ['.'],
    metadata: { a: 1 },
    modelPreferences: { costPriority: 1 },
    includeContext: 'none' as const,
  };
  const own = { key: 'own', timeoutMs: 1 };
  const options = { ...own, acceptUnsolicited: true };
  const there = { message: 'Please', url: 'https://example.com/' };
  const WAYS: Readonly<Record<string, readonly Work[]>> = {
    'elicitation/create': [
      (context) => context.elicit(NAME, { message: 'Who?', ...options }),
      (context) => context.confirm('Sure?', own),
      (context) => context.elicitUrl({ ...there, ...options }),
      (context) => context.requireUrl({ ...there, ...options, url: () => 'https://example.com/' }).then(() => 'there'),
      returned('elicitation/create', { mode: 'url', ...there, elicitationId: 'own' }),
      returned('elicitation/create', { message: 'Who?', requestedSchema: NAME }),
    ],
    'sampling/createMessage': [
      (context) => context.sample({ messages, ...model, ...options }),
      (context) => context.sample({ messages: 'Hi', ...model }),
      returned('sampling/createMessage', { messages, ...model }),
    ],
    'roots/list': [(context) => context.roots(options), returned('roots/list')],
  };
  inStateless(['MRTR-01', 'SAMP-13', 'ROOT-06', 'ELIC-12'], 'is in the result and nowhere else', async () => {
    for (const transport of TRANSPORTS) {
      for (const [method, all] of Object.entries(WAYS)) {
        for (const way of all) {
          const client = await connect(serverWith({ ask: way }), { answers: ANSWERS }, transport);
          // nothing is kept for the next request
          for (let call = 0; call < 2; call += 1) {
            expect(await client.call('ask')).toMatchObject({ resultType: 'complete' });
            await client.notify('notifications/roots/list_changed');
          }
          expect(client.questions.map((each) => each.method)).toEqual([method, method]);
          const { params = {} } = client.questions[0] ?? {};
          expect(params).not.toHaveProperty('elicitationId');
          if (params['mode'] === 'url') expect(Object.keys(params).sort()).toEqual(['message', 'mode', 'url']);
          for (const message of client.received) expect(Object.keys(message)).toEqual(['jsonrpc', 'id', 'result']);
        }
      }
    }
  });

  inStateless('MRTR-20', 'is answered by a refusal too, which counts in every later round', async () => {
    for (const action of ['decline', 'cancel']) {
      const seen: unknown[] = [];
      const server = serverWith({
        async ask(context) {
          const answers = [
            await context.elicit(NAME, { message: 'Who?' }),
            await context.confirm('Sure?'),
            await context.elicitUrl({ message: 'Please', url: 'https://example.com/' }),
            await context.requireUrl({ message: 'Go', url: 'https://example.com/' }).catch(() => 'refused'),
          ];
          seen.push(answers);
          return 'done';
        },
      });
      const client = await connect(server, { answers: { 'elicitation/create': () => ({ result: { action } }) } });
      expect(textOf(await client.call('ask'))).toBe('done');
      // also where the handler swallows what interrupts it
      expect(seen.at(-1)).toEqual([{ action }, false, { action }, 'refused']);
      expect(client.questions).toHaveLength(4);
    }
  });
});
