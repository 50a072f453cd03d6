// The keys of `_meta`: those of the client, of the author and of plugins.
import { describe, expect } from '@jest/globals';
import {
  Completion,
  type Context,
  definePlugin,
  type JsonObject,
  NoInput,
  Prompt,
  Resource,
  text,
  Tool,
  toolResult,
} from '@decorum/core';
import { IsString } from 'class-validator';

import { transportsOf } from '../support/http-transports.js';
import { RawClient } from '../support/raw-client.js';
import { eachRevision, inStateless, type Revision, STATELESS } from '../support/requirements.js';
import { answerTo, asked, declares } from '../support/stateless-post.js';
import { serverOf } from './servers.js';

class City {
  @IsString()
  city!: string;
}

/** The `_meta` that handlers see. */
type Seen = (meta: JsonObject | undefined) => void;

/** One member of each kind. Each tells which `_meta` it sees. */
function seeing(seen: Seen) {
  class Seeing {
    @Tool()
    tool(_input: NoInput, { meta, log }: Context) {
      log.debug('seen');
      seen(meta);
      return 'tool';
    }

    @Prompt()
    prompt({ city }: City, { meta }: Context) {
      seen(meta);
      return city;
    }

    @Resource('meta://fixed')
    fixed(_input: NoInput, { meta }: Context) {
      seen(meta);
      return 'fixed';
    }

    @Resource('meta://of/{city}', { list: 'all' })
    template({ city }: City, { meta }: Context) {
      seen(meta);
      return city;
    }

    all({ meta }: Context) {
      seen(meta);
      return ['meta://of/Oslo'];
    }

    @Completion({ for: 'prompt', argument: 'city' })
    cities(_text: string, { meta }: Context) {
      seen(meta);
      return ['Oslo'];
    }
  }
  return Seeing;
}

const ref = { type: 'ref/prompt', name: 'prompt' };

/** Requests that run a handler of these. */
const RUNNING: readonly (readonly [method: string, params: JsonObject])[] = [
  ['tools/call', { name: 'tool' }],
  ['prompts/get', { name: 'prompt', arguments: { city: 'Oslo' } }],
  ['resources/read', { uri: 'meta://fixed' }],
  ['resources/read', { uri: 'meta://of/Oslo' }],
  ['resources/list', {}],
  ['completion/complete', { ref, argument: { name: 'city', value: '' } }],
];

/** The protocol's own keys, but for those that a request has in the revision. */
const reservedOf = (revision: Revision): readonly string[] => [
  'io.modelcontextprotocol/related-task',
  'io.modelcontextprotocol/subscriptionId',
  'io.modelcontextprotocol/serverInfo',
  'io.modelcontextprotocol/unheard-of',
  'modelcontextprotocol.io/x',
  'mcp.dev/x',
  ...(revision === STATELESS ? [] : ['logLevel', 'clientInfo', 'clientCapabilities'].map(ours)),
];

const ours = (name: string) => `io.modelcontextprotocol/${name}`;
const ODD: readonly unknown[] = ['', 'debug', 0, null, false, [], { a: [{}] }];

describe('a reserved key in the `_meta` of a request', () => {
  eachRevision('META-01', 'means nothing where the protocol does not define it', async (revision) => {
    for (const [name, transport] of Object.entries(transportsOf(revision))) {
      const seen: unknown[] = [];
      const server = serverOf({ providers: [seeing((meta) => seen.push(meta))], logLevel: 'error' });
      const client = await RawClient.connect(server, { revision }, transport);
      const plain: JsonObject[] = [];
      for (const [method, params] of RUNNING) plain.push(await client.result(method, params));
      seen.length = 0;
      for (const value of ODD) {
        const meta = Object.fromEntries(reservedOf(revision).map((key) => [key, value]));
        const expected = client.buildMessage('x', 'tools/call', { _meta: meta }).params?.['_meta'];
        for (const [index, [method, params]] of RUNNING.entries()) {
          const result = await client.result(method, { ...params, _meta: meta });
          expect([name, method, value, result]).toEqual([name, method, value, plain[index]]);
        }
        expect([name, seen.splice(0)]).toEqual([name, RUNNING.map(() => expected)]);
      }
      expect([name, client.received.filter(({ method }) => method !== undefined)]).toEqual([name, []]);
    }
  });
});

/** Creates a server with these keys in the `_meta` of a member of each kind. */
const serversWith = (_meta: JsonObject) => {
  class WithTool {
    @Tool({ _meta })
    tool() {}
  }
  class WithPrompt {
    @Prompt({ _meta })
    prompt() {
      return '';
    }
  }
  class WithResource {
    @Resource('docs://one', { _meta })
    resource() {
      return '';
    }
  }
  class WithTemplate {
    @Resource('docs://{name}', { _meta })
    template(_variables: NoInput) {
      return '';
    }
  }
  return [WithTool, WithPrompt, WithResource, WithTemplate].map((cls) => () => serverOf({ providers: [cls] }));
};

const RESERVED = [
  'modelcontextprotocol.io/x',
  'modelcontextprotocol.io/',
  'mcp.dev/x',
  'mcp.mcp/x',
  'io.modelcontextprotocol/x',
  'io.mcp/',
  'com.mcp.tools/x',
  // reserved only by 2025-06-18: any number of labels before, and one after
  'com.example.mcp.dev/x',
  'a.b.c.modelcontextprotocol.d.e/x',
];
const FREE = [
  'mcp/x',
  'modelcontextprotocol/x',
  'com.example.mcp/x',
  'com.mcpx/x',
  'x-mcp.dev/x',
  'mcp.dev',
  'com.example/mcp.dev',
];

/** Keys with a wrong prefix, and keys with a wrong name. */
const WRONG = [
  '1com',
  'com.1example',
  'com-',
  '-com',
  'com.',
  '.com',
  'com..x',
  'com.-x',
  'c_m',
  'cöm',
  '',
  'com.example/a',
  'com.example/',
  'com example',
].map((prefix) => `${prefix}/x`);
const WRONG_NAMES = ['-x', 'x-', '_x', 'x_', '.x', 'x.', 'x y', 'ü', 'x\n', ' x', 'x:y'];
const RIGHT = ['x', '0', 'X', 'a-b_c.d', 'a--b', 'com/', 'c/x', 'C0m.ex-ample/X', 'com.example/0', 'a.b.c.d.e/f'];

describe('a key in the `_meta` of a member', () => {
  eachRevision('META-02', 'follows the grammar, or stops the start', async (revision) => {
    for (const key of [...WRONG, ...WRONG_NAMES, ...WRONG_NAMES.map((name) => `com.example/${name}`)]) {
      for (const start of serversWith({ 'com.example/fine': 1, [key]: 1 })) {
        expect(start).toThrow(`has the key "${key}"`);
      }
    }
    const meta = Object.fromEntries(RIGHT.map((key) => [key, null]));
    for (const start of serversWith(meta)) expect(JSON.stringify(start())).toBeDefined();
    const client = await RawClient.connect((serversWith(meta)[0] as () => ReturnType<typeof serverOf>)(), { revision });
    expect(await client.result('tools/list')).toMatchObject({ tools: [{ _meta: meta }] });
  });

  eachRevision('META-03', 'has no prefix that any revision reserves', async (revision) => {
    for (const key of RESERVED) {
      for (const start of serversWith({ 'com.example/fine': 1, [key]: 1 })) {
        expect(start).toThrow(`has the key "${key}", which is reserved`);
      }
    }
    const meta = Object.fromEntries(FREE.map((key) => [key, 0]));
    for (const start of serversWith(meta)) expect(start).not.toThrow();
    const client = await RawClient.connect((serversWith(meta)[0] as () => ReturnType<typeof serverOf>)(), { revision });
    expect(await client.result('tools/list')).toMatchObject({ tools: [{ _meta: meta }] });
  });
});

const TRACE = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01', tracestate: 'a=1' };
const NO_TRACE = { traceparent: '00-0-0-01', tracestate: 'A=1', baggage: '' };

/** A server whose plugin sets this `_meta` of each question, and whose members ask. */
function asking(meta: JsonObject) {
  const setting = definePlugin(() => ({
    name: 'setting',
    async ask(question, run) {
      Object.assign(question.meta, meta);
      await run();
    },
  }));
  class Asking {
    @Tool()
    async tool(_input: NoInput, context: Context) {
      await context.sample({ messages: 'Hi', maxTokens: 1 });
      await context.roots();
      return 'asked';
    }
  }
  return serverOf({ providers: [Asking], plugins: [setting()] });
}

/** The `_meta` of all questions of the server. */
async function metaOfQuestions(revision: Revision, meta: JsonObject) {
  const client = await RawClient.connect(asking(meta), {
    revision,
    capabilities: { sampling: {}, roots: {} },
    answers: {
      'sampling/createMessage': () => ({
        result: { role: 'assistant', model: 'm', content: { type: 'text', text: 'Ho' } },
      }),
      'roots/list': () => ({ result: { roots: [] } }),
    },
  });
  expect(await client.call('tool')).toMatchObject({ content: [{ text: 'asked' }] });
  return client.questions.map(({ params }) => params['_meta']);
}

describe('a key in the `_meta` of a question', () => {
  for (const id of ['META-02', 'META-03'] as const) {
    eachRevision(id, 'of a plugin is sent if it is valid and not reserved', async (revision) => {
      const wrong = [...WRONG, ...WRONG_NAMES, ...RESERVED, 'progressToken'];
      const right = Object.fromEntries([...FREE, ...RIGHT].filter((key) => !key.endsWith('/')).map((key) => [key, 0]));
      const all = { ...Object.fromEntries(wrong.map((key) => [key, 1])), ...right };
      expect(await metaOfQuestions(revision, all)).toEqual([right, right]);
    });
  }

  for (const id of ['META-25', 'TRACE-01'] as const) {
    eachRevision(id, 'of a plugin is no trace context of a form that W3C does not know', async (revision) => {
      expect(await metaOfQuestions(revision, { ...TRACE, baggage: 'no baggage' })).toEqual([TRACE, TRACE]);
      expect(await metaOfQuestions(revision, { ...NO_TRACE, 'com.example/x': 1 })).toEqual([
        { 'com.example/x': 1 },
        { 'com.example/x': 1 },
      ]);
    });
  }
});

describe('the server info in a result', () => {
  inStateless('META-22', 'is that of the server, whatever a handler returns', async () => {
    const forged = { [ours('serverInfo')]: { name: 'forged', version: '0' }, 'com.example/x': 1 };
    const right = { [ours('serverInfo')]: { name: 'revisions', version: '1.0.0' } };
    class Forging {
      @Tool()
      tool() {
        return toolResult({ content: [text('a')], _meta: forged });
      }

      @Tool()
      fails() {
        return toolResult({ content: [text('a')], isError: true, _meta: forged });
      }

      @Tool({ output: { type: 'object' } })
      structured() {
        return { _meta: forged };
      }

      @Prompt()
      prompt() {
        return { messages: [], _meta: forged };
      }

      @Resource('docs://one')
      async resource() {
        return { contents: [{ uri: 'docs://one', text: 'a' }], _meta: forged };
      }
    }
    const id = 'com.example/forging';
    const methods = { 'forging/get': () => ({ _meta: forged }), 'forging/none': async () => ({}) };
    const server = serverOf({ providers: [Forging], extensions: [{ id, methods }] });
    for (const transport of Object.values(transportsOf(STATELESS))) {
      const client = await RawClient.connect(server, { revision: STATELESS }, transport);
      for (const [method, params] of [
        ['tools/call', { name: 'tool' }],
        ['tools/call', { name: 'fails' }],
        ['tools/call', { name: 'structured' }],
        ['prompts/get', { name: 'prompt' }],
        ['resources/read', { uri: 'docs://one' }],
        ['resources/list', {}],
        ['tools/list', {}],
      ] as const) {
        expect([method, await client.result(method, params)]).toMatchObject([method, { _meta: right }]);
      }
    }
    for (const method of Object.keys(methods)) {
      const message = asked(method, method, {}, declares({ extensions: { [id]: {} } }));
      expect(await answerTo(server, message)).toMatchObject([200, { id: method, result: { _meta: right } }]);
    }
  });
});
