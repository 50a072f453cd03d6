// Requests with several rounds, because the client has to answer questions first.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import { describe, expect } from '@jest/globals';
import {
  Completion,
  type CompletionContext,
  connectMemory,
  type Context,
  type Extension,
  type InputRequest,
  type JsonObject,
  McpError,
  needInput,
  NoInput,
  Prompt,
  Resource,
  Tool,
} from '@decorum/core';
import { IsString } from 'class-validator';

import { overHttp } from '../support/http-transports.js';
import { textOf } from '../support/raw-client.js';
import { inStateless, STATELESS } from '../support/requirements.js';
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
  NAME,
  question,
  SAID,
  sample,
  SECRET,
  visit,
} from './rounds.js';
import { type Handler, serverOf, serverWith } from './servers.js';

describe('roots', () => {
  inStateless('ROOT-06', 'are requested in place of the result, without change notifications', async () => {
    for (const [, transport] of RAW_TRANSPORTS) {
      const server = serverWith({ where: async (context) => JSON.stringify(await context.roots()) });
      const client = await connect(server, { answers: ANSWERS }, transport);
      const { inputRequests } = await begin(client, 'where');
      expect(Object.values(inputRequests)).toMatchObject([{ method: 'roots/list' }]);
      await client.notify('notifications/roots/list_changed');
      // nothing is cached that could have changed
      for (let call = 1; call <= 2; call += 1) {
        expect(textOf(await client.call('where'))).toBe(JSON.stringify(HOME.roots));
        expect(client.questions).toHaveLength(call);
      }
      expect(client.received.filter(({ method }) => method !== undefined)).toEqual([]);
    }
  });
});

describe('sampling', () => {
  inStateless('SAMP-13', 'is requested in place of the result', async () => {
    for (const [, transport] of RAW_TRANSPORTS) {
      const server = serverWith({ say: async (context) => (await sample(context)).text });
      const client = await connect(server, { answers: ANSWERS }, transport);
      const { inputRequests } = await begin(client, 'say');
      expect(Object.values(inputRequests)).toMatchObject([
        { method: 'sampling/createMessage', params: { messages: [{ role: 'user' }], maxTokens: 5 } },
      ]);
      expect(textOf(await client.call('say'))).toBe('Ho');
      expect(client.received.filter(({ method }) => method !== undefined)).toEqual([]);
    }
  });
});

class Desk {
  constructor(readonly ask: (context: Context) => unknown = (context) => greet(context, {})) {}

  @Prompt()
  async prompt(_input: NoInput, context: Context) {
    return await this.tool(context);
  }

  @Resource('desk://name', { cache: { ttlMs: 1000, scope: 'private' } })
  async resource(_input: NoInput, context: Context) {
    return await this.tool(context);
  }

  async tool(context: Context) {
    return String(await this.ask(context));
  }

  @Resource('desk://{id}', { list: 'listed', input: { type: 'object', properties: { id: { type: 'string' } } } })
  drawer({ id }: { id?: string }) {
    return id;
  }

  async *listed(context: Context) {
    yield { uri: `desk://${String(await this.ask(context))}`, name: 'drawer' };
  }

  @Completion({ for: 'drawer', argument: 'id' })
  async complete(_value: string, context: CompletionContext) {
    return [String(await this.ask(context))];
  }
}

describe('a request that cannot go on without the client', () => {
  inStateless('MRTR-01', 'is answered with all questions, and no question is sent separately', async () => {
    const all: Handler = async (context) => {
      await Promise.all([form(context), sample(context), context.roots()]);
      await visit(context);
      return (await context.confirm('Sure?')) ? 'done' : 'not done';
    };
    for (const [, transport] of RAW_TRANSPORTS) {
      const client = await connect(serverWith({ all }), { answers: ANSWERS }, transport);
      expect(textOf(await client.call('all'))).toBe('done');
      expect(client.questions.map(({ method }) => method)).toEqual([
        'elicitation/create',
        'sampling/createMessage',
        'roots/list',
        'elicitation/create',
        'elicitation/create',
      ]);
      for (const message of client.received) expect(Object.keys(message)).toEqual(['jsonrpc', 'id', 'result']);
    }
  });

  inStateless('MRTR-02', 'calls a tool, gets a prompt or reads a resource', async () => {
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
      const server = serverOf({ providers: [new Desk(way)], extensions: [extension] });
      server.addTool({ name: 'tool', input: NoInput }, async (_input, context) => String(await way(context)));
      const capabilities = { ...CAPABILITIES, extensions: { [extension.id]: {} } };
      const client = await connect(server, { capabilities });
      const asking = [
        ['tools/call', { name: 'tool' }],
        ['prompts/get', { name: 'prompt' }],
        ['resources/read', { uri: 'desk://name' }],
      ] as const;
      for (const [method, params] of asking) asked((await client.request(method, params)).result);
      const ref = { type: 'ref/resource', uri: 'desk://{id}' };
      const others = [
        ['resources/list', {}],
        ['completion/complete', { ref, argument: { name: 'id', value: '' } }],
        ['asking/name', {}],
      ] as const;
      for (const [method, params] of others) {
        expect((await client.error(method, params)).code).toBe(-32603);
        // unsolicited answers make no difference
        const more = { inputResponses: { '#1': ADA }, requestState: 'x' };
        expect((await client.error(method, { ...params, ...more })).code).toBe(-32603);
      }
    }
  });

  inStateless('MRTR-03', 'is always answered with a question or a state', async () => {
    class Empty {
      @Tool()
      tool() {
        return needInput({}) as never;
      }

      @Prompt()
      prompt() {
        return needInput({}, { a: 1 }) as never;
      }

      @Resource('x://empty')
      resource() {
        return needInput({}) as never;
      }
    }
    const client = await connect(serverOf({ providers: [Empty] }));
    expect(await client.call('tool')).toMatchObject({ isError: true, resultType: 'complete' });
    expect((await client.error('prompts/get', { name: 'prompt' })).code).toBe(-32603);
    expect((await client.error('resources/read', { uri: 'x://empty' })).code).toBe(-32603);
    const asking = await connect(serverWith({ greet }));
    const { requestState, inputRequests } = await begin(asking, 'greet');
    expect([requestState.length > 0, Object.keys(inputRequests)]).toEqual([true, ['#1']]);
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

const raw = (method: InputRequest['method'], params?: JsonObject): Handler => {
  const requests = { asked: { method, ...(params && { params }) } };
  return (context) => (context.answers ? 'answered' : needInput(requests));
};

describe('a question', () => {
  const FORM = { mode: 'form', message: 'Who?', requestedSchema: NAME };
  const URL = { mode: 'url', message: 'Please', url: 'https://example.com/' };
  const MODEL = { messages: [{ role: 'user', content: { type: 'text', text: 'Hi' } }], maxTokens: 5 };
  const TOOLS = [{ name: 'weather', inputSchema: { type: 'object' } }];
  const includeContext = 'thisServer';

  inStateless('MRTR-05', 'that the client does not support fails the whole request', async () => {
    const both: Handler = (context) =>
      context.answers
        ? 'answered'
        : needInput({ a: { method: 'roots/list' }, b: { method: 'sampling/createMessage', params: MODEL } });
    const cases: [declared: JsonObject, handlers: Handler[], required: JsonObject][] = [
      [{}, [(context) => context.roots(), raw('roots/list')], { roots: {} }],
      [{ roots: {} }, [sample, raw('sampling/createMessage', MODEL), both], { sampling: {} }],
      [
        { sampling: {} },
        [
          (context) => context.sample({ messages: 'Hi', maxTokens: 5, tools: TOOLS }),
          raw('sampling/createMessage', { ...MODEL, tools: TOOLS }),
        ],
        { sampling: { tools: {} } },
      ],
      [
        { sampling: { tools: {} } },
        [
          (context) => context.sample({ messages: 'Hi', maxTokens: 5, includeContext }),
          raw('sampling/createMessage', { ...MODEL, includeContext }),
        ],
        { sampling: { context: {} } },
      ],
      [
        { roots: {} },
        [form, (context) => context.confirm('Sure?'), raw('elicitation/create', FORM)],
        { elicitation: {} },
      ],
      [{ elicitation: {} }, [visit, raw('elicitation/create', URL)], { elicitation: { url: {} } }],
      [{ elicitation: { form: {} } }, [visit, raw('elicitation/create', URL)], { elicitation: { url: {} } }],
      [{ elicitation: { url: {} } }, [form, raw('elicitation/create', FORM)], { elicitation: { form: {} } }],
    ];
    for (const [capabilities, handlers, requiredCapabilities] of cases) {
      for (const handler of handlers) {
        const client = await connect(
          serverWith({ ask: (context) => handler(context, {}) }),
          { capabilities },
          overHttp,
        );
        const error = await client.error('tools/call', { name: 'ask' });
        expect(error).toMatchObject({ code: -32021, data: { requiredCapabilities } });
      }
    }
    for (const handler of [form, visit, sample, raw('elicitation/create', URL), raw('roots/list')]) {
      await begin(await connect(serverWith({ ask: (context) => handler(context, {} as never) })), 'ask');
    }
  });

  inStateless('MRTR-06', 'is answered by a bare result', async () => {
    const client = await connect(serverWith({ greet }));
    const { requestState } = await begin(client, 'greet');
    for (const wrapped of [{ method: 'elicitation/create', result: ADA }, { result: ADA }, { response: ADA }]) {
      asked((await again(client, 'greet', { requestState, inputResponses: { '#1': wrapped } })).result);
    }
    const { result } = await again(client, 'greet', { requestState, inputResponses: { '#1': ADA } });
    expect(textOf(result!)).toBe('Hello, Ada');
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
    const [flows, bytes] = [2000, 10_000];
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
  const three: Handler = async (context) => {
    const names: string[] = [];
    for (const message of ['First?', 'Second?', 'Third?']) {
      const { action, content } = (await question(context, message)) as { action: string; content?: { name: string } };
      names.push(content?.name ?? action);
    }
    return names.join(', ');
  };

  inStateless('MRTR-12', 'may be answered with another question', async () => {
    const names = ['Ada', 'Grace', 'Jean'];
    for (const [, transport] of RAW_TRANSPORTS) {
      const left = [...names];
      const elicited = () => ({ result: { action: 'accept', content: { name: left.shift() } } });
      const client = await connect(serverWith({ three }), { answers: { 'elicitation/create': elicited } }, transport);
      expect(textOf(await client.call('three'))).toBe('Ada, Grace, Jean');
      expect(client.questions.map(({ params }) => params['message'])).toEqual(['First?', 'Second?', 'Third?']);
      expect(client.received).toHaveLength(4);
    }
  });

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
    const client = await connect(serverWith({ many }), { answers: { 'elicitation/create': elicited } });
    expect(textOf(await client.call('many'))).toBe(names.join());
    expect(client.questions.map(({ params }) => params['message'])).toEqual(names.map((name) => `${name}?`));
  });

  inStateless('MRTR-13', 'with answers that are not an object is an error', async () => {
    const client = await connect(serverWith({ greet }));
    const { requestState } = await begin(client, 'greet');
    for (const inputResponses of ['x', 7, null, true, [], [ADA]]) {
      const retry = await again(client, 'greet', { requestState, inputResponses: inputResponses as never });
      expect([inputResponses, retry]).toMatchObject([inputResponses, INVALID]);
    }
  });

  inStateless('MRTR-14', 'may have unsolicited answers, which are ignored', async () => {
    const client = await connect(serverWith({ greet, three }));
    const more = { '#9': ADA, other: { action: 'decline' }, constructor: ADA, '': {}, '#01': 7, '#10': null };
    const { requestState } = await begin(client, 'greet');
    const retry = (inputResponses: JsonObject) => again(client, 'greet', { requestState, inputResponses });
    // they neither fail the request nor answer its question
    expect(asked((await retry(more)).result).inputRequests).toHaveProperty('#1');
    // a member called __proto__ (a literal would set the prototype) is refused, and answers nothing either
    const evil = Object.defineProperty({ ...more }, '__proto__', { value: { '#1': ADA }, enumerable: true });
    expect(JSON.stringify(evil)).toContain('"__proto__":{"#1"');
    expect(await retry(evil)).toMatchObject({ error: { code: -32600 } });
    expect(textOf((await retry({ ...more, '#1': ADA })).result!)).toBe('Hello, Ada');
    // not even if they are asked for later
    const first = await begin(client, 'three');
    const early = { '#1': ADA, '#2': ADA, '#3': ADA };
    const second = await again(client, 'three', { requestState: first.requestState, inputResponses: early });
    expect(asked(second.result).inputRequests).toMatchObject({ '#2': { params: { message: 'Second?' } } });
  });

  inStateless('MRTR-15', 'without the answer gets the question again', async () => {
    const client = await connect(serverWith({ greet }));
    const first = await begin(client, 'greet');
    let { requestState } = first;
    for (const given of [{}, { inputResponses: {} }, { inputResponses: { other: ADA } }]) {
      const next = asked((await again(client, 'greet', { requestState, ...given })).result);
      expect(next.inputRequests).toEqual(first.inputRequests);
      ({ requestState } = next);
    }
    const { result } = await again(client, 'greet', { requestState, inputResponses: { '#1': ADA } });
    expect(textOf(result!)).toBe('Hello, Ada');
  });

  inStateless('MRTR-16', 'reaches any server with the same secret, under any id', async () => {
    const done: string[] = [];
    const nodes = ['a', 'b', 'c'].map((node) => {
      const reserve: Handler = async (context) => {
        const hold = await context.once('hold', () => {
          done.push(node);
          return `held by ${node}`;
        });
        return `${hold}: ${String(await three(context, {}))}`;
      };
      return serverWith({ reserve }, { secret: SECRET });
    });
    let more: JsonObject = {};
    for (const node of [nodes[0]!, nodes[1]!, nodes[2]!]) {
      const client = await connect(node, {}, overHttp);
      const { inputRequests, requestState } = asked((await again(client, 'reserve', more)).result);
      const [key] = Object.keys(inputRequests);
      more = { requestState, inputResponses: { [key!]: ADA } };
      // the original client may be gone
      await client.close();
    }
    const last = await connect(nodes[0]!, {}, overHttp);
    const { result } = await last.request('tools/call', { name: 'reserve', ...more }, 4711);
    expect(textOf(result!)).toBe('held by a: Ada, Ada, Ada');
    expect(done).toEqual(['a']);
  });

  inStateless('MRTR-17', 'repeats all arguments, which are checked again', async () => {
    const input = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] } as const;
    const plan: Handler = async (context, { city }) => `${String(city)}: ${(await form(context)).action}`;
    const client = await connect(serverWith({ plan }, { input }));
    const { requestState } = await begin(client, 'plan', { city: 'Oslo' });
    const retry = { requestState, inputResponses: { '#1': ADA } };
    for (const args of [undefined, {}, { city: 'Rome' }, { city: 7 }]) {
      expect(await again(client, 'plan', { ...retry, ...(args && { arguments: args }) })).toMatchObject(INVALID);
    }
    const { result } = await again(client, 'plan', { ...retry, arguments: { city: 'Oslo' } });
    expect(textOf(result!)).toBe('Oslo: accept');
  });

  class City {
    @IsString()
    city!: string;
  }

  class Guide {
    @Prompt()
    plan({ city }: City, context: Context) {
      return form(context).then(({ action }) => `${city}: ${action}`);
    }

    @Resource('guide://{city}')
    page({ city }: City, context: Context) {
      return form(context).then(({ action }) => `${city}: ${action}`);
    }
  }

  inStateless('MRTR-17', 'repeats the arguments of a prompt, and the URI of a resource', async () => {
    const client = await connect(serverOf({ providers: [Guide] }));
    const prompt = (args?: object) => ({ name: 'plan', ...(args && { arguments: args }) });
    const requests: readonly (readonly [method: string, right: JsonObject, wrong: readonly JsonObject[]])[] = [
      [
        'prompts/get',
        prompt({ city: 'Oslo' }),
        [{ city: 'Rome' }, { city: 'Oslo', more: '1' }, {}, undefined].map(prompt),
      ],
      ['resources/read', { uri: 'guide://Oslo' }, [{ uri: 'guide://Rome' }, { uri: 'guide://oslo' }]],
    ];
    for (const [method, right, wrong] of requests) {
      const { requestState } = asked((await client.request(method, right)).result);
      const retry = (params: JsonObject) =>
        client.request(method, { ...params, requestState, inputResponses: { '#1': ADA } });
      for (const params of wrong) expect([params, await retry(params)]).toMatchObject([params, INVALID]);
      expect(JSON.stringify(await retry(right))).toContain('Oslo: accept');
    }
  });
});

describe('questions in place of a result', () => {
  inStateless('MRTR-18', 'are not cacheable', async () => {
    const client = await connect(serverOf({ providers: [Desk], cache: { ttlMs: 1000, scope: 'public' } }));
    const { result } = await client.request('resources/read', { uri: 'desk://name' });
    asked(result);
    for (const member of ['ttlMs', 'cacheScope', 'contents']) expect(result).not.toHaveProperty(member);
    const read = await client.request('resources/read', {
      uri: 'desk://name',
      requestState: asked(result).requestState,
      inputResponses: { '#1': ADA },
    });
    expect(read.result).toMatchObject({ contents: [{ text: 'Hello, Ada' }] });
  });

  inStateless('MRTR-18', 'are not cacheable in a later round either', async () => {
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

  inStateless('MRTR-20', 'may be declined or left unanswered', async () => {
    const both: Handler = async (context) => {
      const [name, said] = await Promise.all([form(context), sample(context)]);
      return `${name.action} ${said.text}`;
    };
    const client = await connect(serverWith({ both }));
    const { requestState } = await begin(client, 'both');
    const declined = await again(client, 'both', { requestState, inputResponses: { '#1': { action: 'decline' } } });
    const left = asked(declined.result);
    expect(Object.keys(left.inputRequests)).toEqual(['#2']);
    const inputResponses = { '#2': SAID };
    const { result } = await again(client, 'both', { requestState: left.requestState, inputResponses });
    expect(textOf(result!)).toBe('decline Ho');
  });
});

describe('session-only features', () => {
  inStateless('ELIC-19', 'are never sent: the URL error and the completion notification', async () => {
    const ids: string[] = [];
    const url = ({ id }: { id: string }) => `https://example.com/${(ids.push(id), id)}`;
    const server = serverWith({
      require: async (context) => {
        await context.requireUrl({ message: 'Please sign in', url });
        return 'been there';
      },
      throws: () => {
        throw new McpError(-32042, 'Please sign in', { elicitations: [] });
      },
    });
    for (const [, transport] of RAW_TRANSPORTS) {
      const client = await connect(
        server,
        { answers: { 'elicitation/create': () => ({ result: { action: 'accept' } }) } },
        transport,
      );
      const { inputRequests } = await begin(client, 'require');
      expect(inputRequests).toEqual({
        '#1': {
          method: 'elicitation/create',
          params: { mode: 'url', message: 'Please sign in', url: expect.any(String) },
        },
      });
      expect(textOf(await client.call('require'))).toBe('been there');
      await client.request('tools/call', { name: 'throws' });
      void client.send(
        client.buildMessage('sub', 'subscriptions/listen', { notifications: { toolsListChanged: true } }),
      );
      await client.find(({ method }) => method === 'notifications/subscriptions/acknowledged');
      for (const id of ids) server.notify.elicitationCompleted(id);
      await client.settled();
      expect(ids.length).toBeGreaterThan(1);
      expect(client.texts.join()).not.toMatch(/-32042|elicitation\/complete|elicitationId/);
    }
  });
});
