// `_meta`, icons, annotations and titles.
import { describe, expect, it } from '@jest/globals';
import { type Context, type JsonObject, NoInput, Prompt, Resource, text, Tool, toolResult, user } from '@decorum/core';
import { definePlugin } from '@decorum/core/plugin';

import { cpuMs } from '../support/cpu.js';
import { transportsOf } from '../support/http-transports.js';
import { RawClient, textOf } from '../support/raw-client.js';
import { eachRevision, eachSessionRevision, inStateless, type Revision, STATELESS } from '../support/requirements.js';
import { answerTo, asked, declares } from '../support/stateless-post.js';
import { golden } from './golden-servers.js';
import { kindsOf } from './lists.js';
import { ASKING, membersOf, RUNNING } from './members.js';
import { listen } from './neutral.js';
import { ANSWERS } from './rounds.js';
import { serverOf, serverWith } from './servers.js';

const LISTS = ['tools/list', 'prompts/list', 'resources/list', 'resources/templates/list'] as const;

/** The entries of one list. */
const listed = (result: JsonObject) => Object.values(result).find((value) => Array.isArray(value)) as JsonObject[];

/** The entries of all lists of the golden server. */
async function entries(revision: Revision): Promise<JsonObject[]> {
  const client = await RawClient.connect(golden('lists'), { revision });
  const lists = await Promise.all(LISTS.map((method) => client.result(method)));
  return lists.flatMap(listed);
}

/** Finds all `_meta` objects in a value. */
function metasOf(value: unknown): JsonObject[] {
  if (typeof value !== 'object' || value === null) return [];
  const { _meta: own } = value as { _meta?: JsonObject };
  return [...(own ? [own] : []), ...Object.values(value).flatMap(metasOf)];
}

const ours = (name: string) => `io.modelcontextprotocol/${name}`;
const SERVER_INFO = ours('serverInfo');

/** The `_meta` objects with keys that are not the protocol's. */
const authored = (value: unknown) =>
  metasOf(value).filter((meta) => Object.keys(meta).some((key) => key !== SERVER_INFO));

/** The server info in a result. */
const identityOf = ({ serverInfo, _meta: meta }: JsonObject) => serverInfo ?? (meta as JsonObject)[SERVER_INFO];

const LABEL = '[A-Za-z](?:[A-Za-z0-9-]*[A-Za-z0-9])?';
const META_KEY = new RegExp(`^(?:${LABEL}(?:\\.${LABEL})*/)?(?:[A-Za-z0-9](?:[A-Za-z0-9_.-]*[A-Za-z0-9])?)?$`);

/** Expects that no kind of member can have these options. */
function refused(options: object, ...words: readonly string[]) {
  for (const cls of Object.values(kindsOf(options))) {
    for (const word of words) expect(() => serverOf({ providers: [cls] })).toThrow(word);
  }
}

/** Expects that members of all kinds can have this `_meta`, and that it is listed. */
async function accepted(revision: Revision, meta: JsonObject) {
  const client = await RawClient.connect(serverOf({ providers: Object.values(kindsOf({ _meta: meta })) }), {
    revision,
  });
  for (const method of LISTS) {
    const [entry] = listed(await client.result(method));
    // the first of these revisions have none in lists
    if (revision >= '2025-06-18') expect(entry).toMatchObject({ _meta: meta });
  }
}

describe('the `_meta` of a request', () => {
  const ODD: readonly unknown[] = ['', 0, null, false, [], 'debug', { a: [{}] }];

  /** The protocol's own keys, but for those that a request has in the revision. */
  const reservedOf = (revision: Revision): readonly string[] => [
    ...['related-task', 'subscriptionId', 'serverInfo', 'unheard-of'].map(ours),
    'modelcontextprotocol.io/x',
    'mcp.dev/x',
    ...(revision === STATELESS ? [] : ['logLevel', 'clientInfo', 'clientCapabilities'].map(ours)),
  ];

  eachRevision('META-01', 'is passed to all handlers, and its reserved keys mean nothing', async (revision) => {
    for (const [name, transport] of Object.entries(transportsOf(revision))) {
      const seen: unknown[] = [];
      const see = ({ meta, log }: Context) => {
        log.debug('seen');
        seen.push(meta);
        return 'seen';
      };
      const server = serverOf({ providers: [membersOf(see)], logLevel: 'error' });
      const client = await RawClient.connect(server, { revision }, transport);
      const plain: JsonObject[] = [];
      for (const [method, params] of RUNNING) plain.push(await client.result(method, params));
      seen.length = 0;
      for (const value of name === 'memory' ? ODD : ODD.slice(-2)) {
        const meta = { ...Object.fromEntries(reservedOf(revision).map((key) => [key, value])), 'example.com/x': 1 };
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

  eachRevision('META-01', 'is passed to handlers also after a question', async (revision) => {
    let seen: unknown[] = [];
    const see = async (context: Context) => {
      seen.push(context.meta);
      await context.sample({ messages: 'Hi', maxTokens: 1 });
      seen.push(context.meta);
      return 'seen';
    };
    const options = { revision, capabilities: { sampling: {} }, answers: ANSWERS };
    const client = await RawClient.connect(serverOf({ providers: [membersOf(see)] }), options);
    const meta = { [ours('unheard-of')]: { deep: [null] }, 'mcp.dev/x': null, '': false };
    for (const [method, params] of ASKING) {
      seen = [];
      const sent = client.buildMessage('x', method, { _meta: meta }).params?.['_meta'];
      await client.result(method, { ...params, _meta: meta });
      // without a session, the handler runs twice
      expect([method, seen]).toEqual([method, seen.map(() => sent)]);
      expect(seen).toHaveLength(client.stateless ? 3 : 2);
    }
  });
});

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
const FREE = 'mcp/x modelcontextprotocol/x com.example.mcp/x com.mcpx/x x-mcp.dev/x mcp.dev com.example/mcp.dev'.split(
  ' ',
);

/** Keys with a wrong prefix, and keys with a wrong name. */
const WRONG = [
  ...'1com com.1example com- -com com. .com com..x com.-x c_m cöm com.example/a com.example/'.split(' '),
  '',
  'com example',
].map((prefix) => `${prefix}/x`);
const WRONG_NAMES = ['-x', 'x-', '_x', 'x_', '.x', 'x.', 'x y', 'ü', 'x\n', ' x', 'x:y'];
const RIGHT = ['x', '0', 'X', 'a-b_c.d', 'a--b', 'com/', 'c/x', 'C0m.ex-ample/X', 'com.example/0', 'a.b.c.d.e/f'];

describe('a key in `_meta`', () => {
  eachRevision('META-02', 'is valid in all places', async (revision) => {
    const client = await RawClient.connect(golden('contents'), { revision });
    await client.call('everything');
    await client.call('complete');
    await client.result('prompts/get', { name: 'conversation' });
    await client.result('resources/read', { uri: 'docs://folder' });
    if (client.stateless) await listen(client, {});
    const keys = metasOf([client.received, await entries(revision)]).flatMap((meta) => Object.keys(meta));
    expect(keys.length).toBeGreaterThan(5);
    for (const key of keys) expect(key).toMatch(META_KEY);
  });

  eachRevision(['META-02', 'META-03'], 'of a member is valid and not reserved in any revision', async (revision) => {
    for (const key of [...WRONG, ...WRONG_NAMES, ...WRONG_NAMES.map((name) => `com.example/${name}`)]) {
      refused({ _meta: { 'com.example/fine': 1, [key]: 1 } }, `has the key "${key}"`);
    }
    for (const key of RESERVED) {
      refused({ _meta: { 'com.example/fine': 1, [key]: 1 } }, `has the key "${key}", which is reserved`);
    }
    await accepted(revision, Object.fromEntries([...RIGHT, ...FREE].map((key) => [key, null])));
  });
});

/** Examples of https://www.w3.org/TR/trace-context/ and https://www.w3.org/TR/baggage/. */
const TRACE = {
  traceparent: '00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01',
  tracestate: 'vendor=a, t61rcwkgmze@rojo=00f067aa0ba902b7',
  baggage: 'userId=alice,serverNode=DF%2028;ttl=1',
};
const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';
const WELL_FORMED: readonly JsonObject[] = [
  { traceparent: `00-${TRACE_ID}-${SPAN}-01` },
  { traceparent: `01-${TRACE_ID}-${SPAN}-ff` },
  { tracestate: 'rojo=00f067aa0ba902b7, congo=t61rcWkgMzE,tenant@system=1' },
  { tracestate: '' },
  { tracestate: 'a=1,,b=2' },
  { tracestate: Array.from({ length: 32 }, (_member, at) => `k${at}=1`).join() },
  { baggage: 'userId=alice,serverNode=DF%2028,isProduction=false' },
  { baggage: 'key1 = value1;property1;property2=x, key2=value2' },
  { 'example.com/traceparent': 'whatever' },
];
const MALFORMED: readonly JsonObject[] = [
  { traceparent: 'nonsense' },
  { traceparent: 1 },
  { traceparent: `00-${TRACE_ID.toUpperCase()}-${SPAN}-01` },
  { traceparent: `00-${'0'.repeat(32)}-${SPAN}-01` },
  { traceparent: `00-${TRACE_ID}-${'0'.repeat(16)}-01` },
  { traceparent: `ff-${TRACE_ID}-${SPAN}-01` },
  { traceparent: `00-${TRACE_ID}-${SPAN}` },
  { traceparent: `00-${TRACE_ID}-${SPAN}-01\n` },
  { tracestate: '=' },
  { tracestate: 'Rojo=1' },
  { tracestate: 'a=1,a=2' },
  { tracestate: 'a=b=c' },
  { tracestate: Array.from({ length: 33 }, (_member, at) => `k${at}=1`).join() },
  { tracestate: ['a=1'] },
  { baggage: '' },
  { baggage: 'no baggage' },
  { baggage: 'key=a b' },
  { baggage: 'key=a,' },
  { baggage: 'key=a\n' },
  { baggage: { key: 'a' } },
];

describe('the trace context in `_meta`', () => {
  eachRevision(['META-25', 'TRACE-01'], 'is sent as W3C writes it, or not at all', async (revision) => {
    for (const meta of MALFORMED) refused({ _meta: meta }, 'DECORUM_INVALID_OPTION', Object.keys(meta)[0] as string);
    for (const meta of WELL_FORMED) await accepted(revision, meta);
  });

  eachRevision(['META-25', 'TRACE-01'], 'of the client is passed on as it is, and fails for none', async (revision) => {
    const server = serverWith({ see: ({ meta }) => JSON.stringify(meta) });
    const client = await RawClient.connect(server, { revision });
    for (const meta of [TRACE, ...MALFORMED]) {
      const { isError, ...result } = await client.result('tools/call', { name: 'see', _meta: meta });
      expect(isError).toBeUndefined();
      expect(JSON.parse(textOf(result) as string)).toMatchObject(meta);
      // the keys of the request are not echoed
      expect(metasOf(result).flatMap((own) => Object.keys(own))).not.toContain(Object.keys(meta)[0]);
    }
  });

  it('names the place and the key', () => {
    expect(() => serverOf({ providers: Object.values(kindsOf({ _meta: { traceparent: 'nonsense' } })) })).toThrow(
      /^OneTool\.\w+: `_meta` has a "traceparent" that is not in its W3C format\. Correct or remove it\. \[DECORUM_INVALID_OPTION\]$/,
    );
  });

  it('is parsed in linear time', () => {
    const begun = cpuMs();
    for (const each of ['a=1;', ',', ' ', 'a=b;c=d', 'a@', 'a=; ', 'a\t']) {
      for (const key of ['traceparent', 'tracestate', 'baggage']) {
        const meta = { [key]: `x${each.repeat(100_000)}"` };
        expect(() => serverOf({ providers: Object.values(kindsOf({ _meta: meta })) })).toThrow('W3C');
      }
    }
    expect(cpuMs() - begun).toBeLessThan(2000);
  });
});

/** The `_meta` of all questions of a server whose plugin sets it. */
async function metaOfQuestions(revision: Revision, meta: JsonObject) {
  const setting = definePlugin(() => ({
    name: 'setting',
    async ask(question, run) {
      Object.assign(question.meta, meta);
      await run();
    },
  }));
  const tool = async (context: Context) => {
    await context.sample({ messages: 'Hi', maxTokens: 1 });
    await context.roots();
    return 'asked';
  };
  const options = { revision, capabilities: { sampling: {}, roots: {} }, answers: ANSWERS };
  const client = await RawClient.connect(serverWith({ tool }, { plugins: [setting()] }), options);
  expect(textOf(await client.call('tool'))).toBe('asked');
  return client.questions.map(({ params }) => params['_meta']);
}

describe('a key that a plugin sets in the `_meta` of a question', () => {
  eachRevision(['META-02', 'META-03'], 'is sent if it is valid and not reserved', async (revision) => {
    const wrong = [...WRONG, ...WRONG_NAMES, ...RESERVED, 'progressToken'];
    const right = Object.fromEntries([...FREE, ...RIGHT].filter((key) => !key.endsWith('/')).map((key) => [key, 0]));
    const all = { ...Object.fromEntries(wrong.map((key) => [key, 1])), ...right };
    expect(await metaOfQuestions(revision, all)).toEqual([right, right]);
  });

  eachRevision(['META-25', 'TRACE-01'], 'is no trace context of a form that W3C does not know', async (revision) => {
    const { baggage: _baggage, ...sent } = TRACE;
    expect(await metaOfQuestions(revision, { ...TRACE, baggage: 'no baggage' })).toEqual([sent, sent]);
    const wrong = { traceparent: '00-0-0-01', tracestate: 'A=1', baggage: '', 'com.example/x': 1 };
    expect(await metaOfQuestions(revision, wrong)).toEqual([{ 'com.example/x': 1 }, { 'com.example/x': 1 }]);
  });
});

describe('the `_meta` of a result', () => {
  eachRevision('META-05', 'is sent wherever the author sets it', async (revision) => {
    const [forecast, , prompt, resource, template] = await entries(revision);
    for (const entry of [forecast, prompt, resource, template]) {
      expect(entry).toMatchObject({ _meta: { 'example.com/team': 'weather' } });
    }
    const client = await RawClient.connect(golden('contents'), { revision });
    expect(authored(await client.call('everything'))).toHaveLength(5);
    expect(authored(await client.call('complete'))).toHaveLength(1);
    expect(authored(await client.result('prompts/get', { name: 'conversation' }))).toHaveLength(1);
    expect(authored(await client.result('resources/read', { uri: 'docs://folder' }))).toHaveLength(1);
    const own = { 'example.com/ours': { deep: [0, null, ''] } };
    const contents = [{ uri: 'docs://a', text: 'a', _meta: own }];
    const block = text('a', { _meta: own });
    class Marked {
      @Tool()
      tool() {
        return toolResult({ content: [block], _meta: own });
      }

      @Prompt()
      prompt() {
        return { messages: [user(block)], _meta: own };
      }

      @Resource('docs://a')
      resource() {
        return { contents, _meta: own };
      }
    }
    const marking = await RawClient.connect(serverOf({ providers: [Marked] }), { revision });
    const called = await marking.call('tool');
    expect(called).toMatchObject({ _meta: own, content: [{ _meta: own }] });
    const prompted = await marking.result('prompts/get', { name: 'prompt' });
    expect(prompted).toMatchObject({ _meta: own, messages: [{ content: { _meta: own } }] });
    expect(await marking.result('resources/read', { uri: 'docs://a' })).toMatchObject({ _meta: own, contents });
  });

  eachSessionRevision('META-06', 'is on results only, not on the objects in them', async (revision) => {
    expect(metasOf(await entries(revision))).toEqual([]);
    const client = await RawClient.connect(golden('contents'), { revision });
    for (const method of ['everything', 'nothing']) expect(metasOf(await client.call(method))).toEqual([]);
    expect(metasOf(await client.result('prompts/get', { name: 'conversation' }))).toEqual([]);
    expect(metasOf(await client.result('resources/read', { uri: 'docs://folder' }))).toEqual([]);
  });

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

describe('icons, annotations and titles', () => {
  const icon = { src: 'data:image/png;base64,UE5H', mimeType: 'image/png', sizes: ['any'], theme: 'dark' } as const;

  eachRevision('META-26', 'icons are sent for the server and for every list entry', async (revision) => {
    const full = { ...icon, sizes: ['16x16', '32x32'], theme: 'light' } as const;
    for (const icons of [[icon], [{ src: 'https://example.com/i' }, full, icon]]) {
      const server = serverOf({ providers: Object.values(kindsOf({ icons })), icons });
      const client = await RawClient.connect(server, { revision, begins: false });
      expect(identityOf(await client.begin())).toHaveProperty('icons', icons);
      for (const method of LISTS) expect(listed(await client.result(method))[0]?.['icons']).toEqual(icons);
    }
  });

  eachRevision('META-27', 'icons have https, http or data URLs', async (revision) => {
    const schemes = ['javascript:alert(1)', 'JavaScript:alert(1)', 'file:///icon.png', 'ftp://example.com/i.png'];
    for (const src of [...schemes, 'ws://example.com', 'httpx://example.com', '/icon.png', ' https://example.com']) {
      for (const icons of [[{ src }], [{ src: 'https://example.com/i.png' }, { src }]]) {
        refused({ icons }, src);
        expect(() => serverOf({ icons })).toThrow(src);
      }
    }
    const server = serverOf({ icons: [{ src: 'https://example.com/i.png' }] });
    const client = await RawClient.connect(server, { revision, begins: false });
    expect(identityOf(await client.begin())).toHaveProperty('icons');
  });

  eachRevision('META-28', 'annotations have a known audience and a priority from 0 to 1', async (revision) => {
    const annotations = { audience: ['assistant'], priority: 1 } as const;
    const { OneResource: Annotated } = kindsOf({ annotations });
    const server = serverOf({ providers: [Annotated] });
    server.addTool({ name: 'say', input: NoInput }, () => text('Hello', { annotations }));
    const client = await RawClient.connect(server, { revision });
    expect(await client.result('resources/list')).toMatchObject({ resources: [{ annotations }] });
    expect(await client.call('say')).toMatchObject({ content: [{ annotations }] });
    const wrong = [2, -0.1, 1.01, Number.NaN].map((priority) => ({ priority }));
    for (const invalid of [...wrong, { audience: ['user', 'nobody'] }, { audience: 'user' }]) {
      for (const cls of Object.values(kindsOf({ annotations: invalid })).slice(2)) {
        expect(() => serverOf({ providers: [cls] })).toThrow(Object.keys(invalid)[0]);
      }
    }
  });

  eachRevision(['META-28', 'META-29'], 'annotations are sent with resources and all blocks', async (revision) => {
    const [, , , resource, template] = await entries(revision);
    const client = await RawClient.connect(golden('contents'), { revision });
    const { content } = await client.call('everything');
    const annotated = [resource, template, ...(content as JsonObject[])].flatMap((each) => each?.['annotations'] ?? []);
    expect(annotated.length).toBeGreaterThan(5);
    const lastModified = revision >= '2025-06-18' && { lastModified: '2025-01-12T15:00:58Z' };
    for (const annotations of annotated) {
      expect(annotations).toEqual({ audience: ['user'], priority: 0.5, ...lastModified });
    }
  });

  eachRevision('META-30', 'titles are sent for the server, entries and arguments', async (revision) => {
    const [forecast, , prompt, resource, template] = await entries(revision);
    expect(forecast).toMatchObject({ name: 'forecast', title: 'Weather forecast' });
    expect(prompt).toMatchObject({
      name: 'pack',
      title: 'Pack a bag',
      arguments: [{ name: 'city', title: 'City' }, {}],
    });
    expect(resource).toMatchObject({ name: 'readme', title: 'Read me' });
    expect(template).toMatchObject({ name: 'weather', title: 'Weather by city' });
    const client = await RawClient.connect(golden('lists'), { revision, begins: false });
    expect(identityOf(await client.begin())).toMatchObject({ name: 'golden', title: 'Golden server' });
  });
});
