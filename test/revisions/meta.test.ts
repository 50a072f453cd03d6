import { readFileSync } from 'node:fs';

import { describe, expect } from '@jest/globals';
import { type Context, type JsonObject, NoInput, Prompt, Resource, text, Tool, toolResult, user } from '@decorum/core';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { IsEmail, IsInt, IsOptional, IsString, Matches, Min } from 'class-validator';

import { RawClient, textOf } from '../support/raw-client.js';
import { eachRevision, eachSessionRevision, type Revision } from '../support/requirements.js';
import { golden } from './golden-servers.js';
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

const SERVER_INFO = 'io.modelcontextprotocol/serverInfo';

/** The `_meta` objects with keys that are not the protocol's. */
const authored = (value: unknown) =>
  metasOf(value).filter((meta) => Object.keys(meta).some((key) => key !== SERVER_INFO));

/** The server info in a result. */
const identityOf = ({ serverInfo, _meta: meta }: JsonObject) => serverInfo ?? (meta as JsonObject)[SERVER_INFO];

const LABEL = '[A-Za-z](?:[A-Za-z0-9-]*[A-Za-z0-9])?';
const META_KEY = new RegExp(`^(?:${LABEL}(?:\\.${LABEL})*/)?(?:[A-Za-z0-9](?:[A-Za-z0-9_.-]*[A-Za-z0-9])?)?$`);

/** Creates a class with one tool, prompt and resource with these options. */
function provider(options: object) {
  class Provider {
    @Tool(options)
    tool() {}

    @Prompt(options)
    prompt() {
      return '';
    }

    @Resource('docs://one', options)
    resource() {
      return '';
    }

    @Resource('docs://{name}', options)
    template(_input: NoInput) {
      return '';
    }
  }
  return Provider;
}

/** Creates classes with one member each. Options that are invalid are so for each kind. */
function providersOf(options: object) {
  class WithTool {
    @Tool(options)
    tool() {}
  }
  class WithPrompt {
    @Prompt(options)
    prompt() {
      return '';
    }
  }
  class WithResource {
    @Resource('docs://one', options)
    resource() {
      return '';
    }
  }
  class WithTemplate {
    @Resource('docs://{name}', options)
    template(_input: NoInput) {
      return '';
    }
  }
  return [WithTool, WithPrompt, WithResource, WithTemplate];
}

/** Expects that no kind of member can have these options. */
function refused(options: object, ...words: readonly string[]) {
  for (const cls of providersOf(options)) {
    for (const word of words) expect(() => serverOf({ providers: [cls] })).toThrow(word);
  }
}

describe('_meta', () => {
  eachRevision('META-01', 'is passed to handlers with all keys, including reserved ones', async (revision) => {
    const server = serverWith({ see: ({ meta }) => JSON.stringify(meta) });
    const client = await RawClient.connect(server, { revision });
    const meta = { 'io.modelcontextprotocol/unheard-of': { deep: [null] }, 'example.com/x': 1 };
    const params = { name: 'see', _meta: meta };
    const sent = client.buildMessage('x', 'tools/call', params).params?.['_meta'];
    expect(JSON.parse(textOf(await client.result('tools/call', params)) as string)).toEqual(sent);
    expect(sent).toMatchObject(meta);
  });

  eachRevision('META-01', 'is passed to every kind of handler, also after a question', async (revision) => {
    const SAMPLED = { role: 'assistant', model: 'm', content: { type: 'text', text: 'Ho' } };
    const see = async (context: Context) => {
      const before = JSON.stringify(context.meta);
      await context.sample({ messages: 'Hi', maxTokens: 1 });
      return JSON.stringify([before, JSON.stringify(context.meta)]);
    };
    class Seeing {
      @Tool()
      tool(_input: NoInput, context: Context) {
        return see(context);
      }

      @Prompt()
      prompt(_input: NoInput, context: Context) {
        return see(context);
      }

      @Resource('meta://seen')
      resource(_input: NoInput, context: Context) {
        return see(context);
      }
    }
    const client = await RawClient.connect(serverOf({ providers: [Seeing] }), {
      revision,
      capabilities: { sampling: {} },
      answers: { 'sampling/createMessage': () => ({ result: SAMPLED }) },
    });
    const meta = { 'io.modelcontextprotocol/unheard-of': { deep: [null] }, 'mcp.dev/x': null, '': false };
    for (const [method, params] of [
      ['tools/call', { name: 'tool' }],
      ['prompts/get', { name: 'prompt' }],
      ['resources/read', { uri: 'meta://seen' }],
    ] as const) {
      const sent = client.buildMessage('x', method, { _meta: meta }).params?.['_meta'];
      const result = await client.result(method, { ...params, _meta: meta });
      const [, seen = '[]'] = /"text":("(?:[^"\\]|\\.)*")/.exec(JSON.stringify(result)) ?? [];
      const metas = JSON.parse(JSON.parse(seen) as string) as string[];
      expect([method, metas.map((each) => JSON.parse(each) as unknown)]).toEqual([method, [sent, sent]]);
    }
  });

  eachRevision('META-02', 'has valid keys in all places', async (revision) => {
    const client = await RawClient.connect(golden('contents'), { revision });
    await client.call('everything');
    await client.call('complete');
    await client.result('prompts/get', { name: 'conversation' });
    await client.result('resources/read', { uri: 'docs://folder' });
    if (client.stateless) {
      void client.send(client.buildMessage('listening', 'subscriptions/listen', { notifications: {} }));
      await client.find(({ method }) => method !== undefined);
    }
    const keys = metasOf([client.received, await entries(revision)]).flatMap((meta) => Object.keys(meta));
    expect(keys.length).toBeGreaterThan(5);
    for (const key of keys) expect(key).toMatch(META_KEY);
    for (const key of ['-bad key/ !', '', '1.example/x', 'com.example-/x', 'a/b/c', 'a b', '_x', 'com..example/x']) {
      refused({ _meta: { [key]: 1 } }, 'has the key');
    }
  });

  eachRevision('META-03', 'cannot have reserved keys', async (revision) => {
    // 2025-06-18 reserves different prefixes than later revisions, and a server serves all revisions
    for (const prefix of ['modelcontextprotocol.io', 'mcp.dev', 'io.modelcontextprotocol', 'io.mcp', 'com.mcp.tools']) {
      refused({ _meta: { [`${prefix}/x`]: 1 } }, `${prefix}/x`);
    }
    refused({ _meta: { 'example.com/x': 1, 'api.modelcontextprotocol.org/': 1 } }, 'api.modelcontextprotocol.org/');
    const server = serverOf({ providers: [provider({ _meta: { 'com.example.mcp/x': 1 } })] });
    const client = await RawClient.connect(server, { revision });
    expect(authored(await client.result('tools/list'))).toEqual([{ 'com.example.mcp/x': 1 }]);
  });

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
    const ours = { 'example.com/ours': { deep: [0, null, ''] } };
    const contents = [{ uri: 'docs://a', text: 'a', _meta: ours }];
    const block = text('a', { _meta: ours });
    class Marked {
      @Tool()
      tool() {
        return toolResult({ content: [block], _meta: ours });
      }

      @Prompt()
      prompt() {
        return { messages: [user(block)], _meta: ours };
      }

      @Resource('docs://a')
      resource() {
        return { contents, _meta: ours };
      }
    }
    const marking = await RawClient.connect(serverOf({ providers: [Marked] }), { revision });
    const called = await marking.call('tool');
    expect(called).toMatchObject({ _meta: ours, content: [{ _meta: ours }] });
    const prompted = await marking.result('prompts/get', { name: 'prompt' });
    expect(prompted).toMatchObject({ _meta: ours, messages: [{ content: { _meta: ours } }] });
    expect(await marking.result('resources/read', { uri: 'docs://a' })).toMatchObject({ _meta: ours, contents });
  });

  eachSessionRevision('META-06', 'is on results only, not on the objects in them', async (revision) => {
    expect(metasOf(await entries(revision))).toEqual([]);
    const client = await RawClient.connect(golden('contents'), { revision });
    for (const method of ['everything', 'nothing']) expect(metasOf(await client.call(method))).toEqual([]);
    expect(metasOf(await client.result('prompts/get', { name: 'conversation' }))).toEqual([]);
    expect(metasOf(await client.result('resources/read', { uri: 'docs://folder' }))).toEqual([]);
  });

  /** Examples of https://www.w3.org/TR/trace-context/ and https://www.w3.org/TR/baggage/. */
  const TRACE = {
    traceparent: '00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01',
    tracestate: 'vendor=a, t61rcwkgmze@rojo=00f067aa0ba902b7',
    baggage: 'userId=alice,serverNode=DF%2028;ttl=1',
  };
  const MALFORMED = {
    traceparent: ['', 'nonsense', `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`, TRACE.traceparent.toUpperCase(), 1],
    tracestate: ['=', 'a=1,a=2', 'UPPER=1', {}],
    baggage: ['', 'no baggage', 'a=b c', ['a=b']],
  };

  for (const id of ['META-25', 'TRACE-01']) {
    eachRevision(id, 'has no trace context of a form that W3C does not know', async (revision) => {
      for (const [key, values] of Object.entries(MALFORMED)) {
        for (const value of values) refused({ _meta: { [key]: value } }, 'DECORUM_INVALID_OPTION', key);
      }
      const client = await RawClient.connect(serverOf({ providers: [provider({ _meta: TRACE })] }), { revision });
      for (const method of LISTS) expect(authored(await client.result(method))).toEqual([TRACE]);
    });

    eachRevision(id, 'brings the trace context of the client as it is, and fails for none', async (revision) => {
      const server = serverWith({ see: ({ meta }) => JSON.stringify(meta) });
      const client = await RawClient.connect(server, { revision });
      const malformed = Object.entries(MALFORMED).flatMap(([key, values]) => values.map((value) => ({ [key]: value })));
      for (const meta of [TRACE, ...malformed]) {
        const { isError, ...result } = await client.result('tools/call', { name: 'see', _meta: meta });
        expect(isError).toBeUndefined();
        expect(JSON.parse(textOf(result) as string)).toMatchObject(meta);
        // the keys of the request are not echoed
        expect(metasOf(result).flatMap((own) => Object.keys(own))).not.toContain(Object.keys(meta)[0]);
      }
    });
  }
});

/** Whether a tool with this schema accepts the arguments. */
async function takes(revision: Revision, input: JsonObject, args: JsonObject): Promise<boolean> {
  const client = await RawClient.connect(serverWith({ tool: () => 'taken' }, { input }), { revision });
  return (await client.call('tool', args))['isError'] !== true;
}

/** Whether a tool with this output schema may return the value. */
async function gives(revision: Revision, output: JsonObject, value: unknown): Promise<boolean> {
  const client = await RawClient.connect(serverWith({ tool: () => value }, { output }), { revision });
  return (await client.call('tool'))['isError'] !== true;
}

describe('the JSON Schema of a tool', () => {
  eachRevision('META-07', 'is 2020-12 by default', async (revision) => {
    const pair = { type: 'array', prefixItems: [{ type: 'integer' }, { type: 'string' }], items: false };
    const schema = { type: 'object', properties: { pair } };
    expect(await takes(revision, schema, { pair: [1, 'a'] })).toBe(true);
    expect(await takes(revision, schema, { pair: ['a', 1] })).toBe(false);
    expect(await takes(revision, schema, { pair: [1, 'a', 2] })).toBe(false);
    expect(await gives(revision, schema, { pair: [1, 'a'] })).toBe(true);
    expect(await gives(revision, schema, { pair: [1, 'a', 2] })).toBe(false);
  });

  eachRevision('META-08', 'may use keywords of 2020-12', async (revision) => {
    const named = { properties: { name: { type: 'string' } }, required: ['name'] };
    const schema = { type: 'object', allOf: [named], unevaluatedProperties: false };
    expect(await takes(revision, schema, { name: 'Ada' })).toBe(true);
    expect(await takes(revision, schema, { name: 'Ada', age: 36 })).toBe(false);
    const tree = {
      $id: 'https://example.com/tree',
      $dynamicAnchor: 'node',
      type: 'object',
      properties: { children: { type: 'array', items: { $dynamicRef: '#node' } }, value: { type: 'integer' } },
    };
    expect(await takes(revision, tree, { children: [{ value: 1, children: [] }] })).toBe(true);
    expect(await takes(revision, tree, { children: [{ value: 'one' }] })).toBe(false);
  });

  /** Properties with keywords of 2020-12: values that match, and values that do not. */
  const KEYWORDS: readonly (readonly [schema: JsonObject, right: unknown, wrong: unknown])[] = [
    [{ prefixItems: [{ type: 'integer' }] }, [1], ['one']],
    [{ prefixItems: [{ type: 'integer' }], items: { type: 'string' } }, [1, 'two'], [1, 2]],
    [{ allOf: [{ prefixItems: [{ type: 'integer' }] }], unevaluatedItems: false }, [1], [1, 2]],
    [{ contains: { type: 'integer' }, minContains: 2, maxContains: 2 }, [1, 2, 'three'], [1, 'two']],
    [{ contains: { type: 'integer' }, minContains: 0, maxContains: 1 }, ['one'], [1, 2]],
    [
      { properties: { a: {} }, unevaluatedProperties: { type: 'string' } },
      { a: 1, b: 'b' },
      { a: 1, b: 2 },
    ],
    [{ dependentRequired: { card: ['name'] } }, { card: 1, name: 'Ada' }, { card: 1 }],
    [{ dependentSchemas: { card: { required: ['name'] } } }, { card: 1, name: 'Ada' }, { card: 1 }],
    [{ $defs: { one: { $anchor: 'one', const: 1 } }, $ref: '#/properties/value/$defs/one' }, 1, 2],
    [{ $ref: '#/properties/value/$defs/one', minimum: 5, $defs: { one: { type: 'integer' } } }, 7, 3],
  ];

  eachRevision('META-08', 'may use each keyword of 2020-12, for arguments and for results', async (revision) => {
    for (const [value, right, wrong] of KEYWORDS) {
      // `definitions` is the word of draft-07, and does not choose it
      for (const dialect of [{}, { $schema: 'https://json-schema.org/draft/2020-12/schema' }, { definitions: {} }]) {
        const schema = { ...dialect, type: 'object', properties: { value } };
        for (const accepts of [takes, gives]) {
          const judged = [
            await accepts(revision, schema, { value: right }),
            await accepts(revision, schema, { value: wrong }),
          ];
          expect([value, judged]).toEqual([value, [true, false]]);
        }
      }
    }
  });

  eachRevision('META-09', 'may be draft-07', async (revision) => {
    const pair = { type: 'array', items: [{ type: 'integer' }, { type: 'string' }], additionalItems: false };
    const schema = { $schema: 'http://json-schema.org/draft-07/schema#', type: 'object', properties: { pair } };
    expect(await takes(revision, schema, { pair: [1, 'a'] })).toBe(true);
    expect(await takes(revision, schema, { pair: ['a', 1] })).toBe(false);
    expect(await takes(revision, schema, { pair: [1, 'a', 2] })).toBe(false);
    expect(await gives(revision, schema, { pair: [1, 'a'] })).toBe(true);
    expect(await gives(revision, schema, { pair: ['a', 1] })).toBe(false);
    expect(await gives(revision, schema, { pair: [1, 'a', 2] })).toBe(false);
  });

  eachRevision('META-09', 'may be draft-07, and refer to itself', async (revision) => {
    const pair = { type: 'array', items: [{ type: 'integer' }, { type: 'string' }], additionalItems: false };
    const named = { $id: 'https://example.com/pairs', properties: { pair, next: { $ref: '#/properties/pair' } } };
    const recursive = { properties: { pair, next: { $ref: '#' } } };
    for (const [keywords, nextOf] of [
      [named, (value: unknown) => value],
      [recursive, (value: unknown) => ({ pair: value })],
    ] as const) {
      const schema = { $schema: 'http://json-schema.org/draft-07/schema#', type: 'object', ...keywords };
      const judged = (value: unknown) =>
        Promise.all([takes(revision, schema, { pair: value }), takes(revision, schema, { next: nextOf(value) })]);
      expect(await judged([1, 'a'])).toEqual([true, true]);
      expect(await judged(['a', 1])).toEqual([false, false]);
      expect(await judged([1, 'a', 2])).toEqual([false, false]);
    }
  });

  eachRevision('META-10', 'cannot use an unsupported dialect', (revision) => {
    for (const dialect of [
      'http://json-schema.org/draft-04/schema#',
      'http://json-schema.org/draft-06/schema#',
      'https://json-schema.org/draft/2019-09/schema',
      'https://example.com/a-dialect-of-our-own',
    ]) {
      const schema = { $schema: dialect, type: 'object', properties: {} };
      for (const schemas of [{ input: schema }, { output: schema }]) {
        const start = () => serverWith({ [revision]: () => '' }, schemas);
        expect(start).toThrow('DECORUM_INVALID_SCHEMA');
        expect(start).toThrow('not supported');
        expect(start).toThrow(dialect);
      }
    }
  });

  eachRevision('META-10', 'is validated by its dialect, or by 2020-12 if it names none', async (revision) => {
    const first = [{ type: 'integer' }];
    const draft7 = { type: 'array', items: first, additionalItems: false };
    const draft2020 = { type: 'array', prefixItems: first, items: false };
    const wrong = { pair: ['a', 'b'] };
    const judged = (properties: JsonObject, $schema?: string) =>
      takes(revision, { ...($schema !== undefined && { $schema }), type: 'object', properties }, wrong);
    const [DRAFT_7, DRAFT_2020] = [
      'http://json-schema.org/draft-07/schema#',
      'https://json-schema.org/draft/2020-12/schema',
    ];
    expect(await judged({ pair: draft7 }, DRAFT_7)).toBe(false);
    expect(await judged({ pair: draft2020 }, DRAFT_2020)).toBe(false);
    expect(await judged({ pair: draft2020 })).toBe(false);
    // a keyword of the other dialect is ignored or an error
    expect(await judged({ pair: { type: 'array', prefixItems: first } }, DRAFT_7)).toBe(true);
    for (const $schema of [DRAFT_2020, undefined]) {
      await expect(judged({ pair: draft7 }, $schema)).rejects.toThrow('DECORUM_INVALID_SCHEMA');
    }
  });

  eachRevision('META-11', 'has exactly the documented dialects', async (revision) => {
    const page = readFileSync(new URL('../../docs/schemas.md', import.meta.url), 'utf8');
    const [, ...documented] = /The dialect is (\S+), or (\S+) if `\$schema` says so\./.exec(page) ?? [];
    const dialects = {
      'draft-04': 'http://json-schema.org/draft-04/schema#',
      'draft-06': 'http://json-schema.org/draft-06/schema#',
      'draft-07': 'http://json-schema.org/draft-07/schema#',
      '2019-09': 'https://json-schema.org/draft/2019-09/schema',
      '2020-12': 'https://json-schema.org/draft/2020-12/schema',
    };
    const supported: string[] = [];
    for (const [dialect, $schema] of Object.entries(dialects)) {
      const schema = { $schema, type: 'object', properties: { name: { type: 'string' } } };
      const [right, wrong] = [{ name: 'Ada' }, { name: 7 }].map((args) => takes(revision, schema, args));
      const judged = await Promise.allSettled([right, wrong]);
      if (judged.every(({ status }) => status === 'rejected')) continue;
      expect(judged).toMatchObject([{ value: true }, { value: false }]);
      supported.push(dialect);
    }
    expect(supported.sort()).toEqual(documented.sort());
  });

  eachRevision('META-12', 'is valid in its dialect, whatever its source', async (revision) => {
    class Dto {
      @IsString()
      @Matches(/^[a-z]+$/)
      name!: string;

      @IsOptional()
      @IsInt()
      @Min(1)
      count?: number;

      @IsEmail()
      mail!: string;
    }
    const server = serverWith({ dto: () => '' }, { input: Dto });
    server.addTool({ name: 'none', input: NoInput, output: { type: 'array', items: { type: 'string' } } }, () => []);
    const client = await RawClient.connect(server, { revision });
    const { tools } = (await client.result('tools/list')) as { tools: JsonObject[] };
    const published = [...tools, ...(await entries(revision))].flatMap(({ inputSchema, outputSchema }) =>
      [inputSchema, outputSchema].filter((schema) => schema !== undefined),
    );
    expect(published.length).toBeGreaterThan(5);
    const ajv = new Ajv2020({ strict: false });
    for (const schema of published) expect([schema, ajv.validateSchema(schema as JsonObject)]).toEqual([schema, true]);
  });

  eachRevision(
    'META-12',
    'has references that lead to the same place as in the schema of the author',
    async (revision) => {
      if (revision < '2025-06-18') return;
      const words = { type: 'string' };
      const items = (ref: string) => ({ type: 'array', items: { $ref: ref } });
      const ref = { $ref: '#/items' };
      const recursive = { anyOf: [words, items('#')] };
      const outputs: readonly (readonly [output: JsonObject, right: unknown, wrong: unknown])[] = [
        [items('#'), [[], [[]]], [['a']]],
        [recursive, ['a', ['b']], [1]],
        [{ ...items('#/$defs/a'), $defs: { a: words } }, ['a'], [1]],
        [{ ...items('#/definitions/a'), definitions: { a: words } }, ['a'], [1]],
        [{ ...items('#/$defs/a'), $defs: { a: { anyOf: [words, { $ref: '#' }] } } }, ['a', ['b']], [1]],
        [{ anyOf: [words, { type: 'array', items: { $ref: '#/anyOf/0' } }] }, ['a'], [1]],
        [{ $id: 'https://example.com/a', ...items('#/$defs/a'), $defs: { a: words } }, ['a'], [1]],
        [{ ...items('#a'), $defs: { a: { $anchor: 'a', ...words } } }, ['a'], [1]],
        // data and names that look like references
        [{ type: 'array', items: { enum: [ref, { $defs: ref }] } }, [ref], [{ $ref: '#/properties/result/items' }]],
        [{ type: 'array', items: { type: 'object', properties: { $ref: words } } }, [{ $ref: '#' }], [{ $ref: 1 }]],
        [{ type: 'object', properties: { a: { $ref: '#' } }, additionalProperties: false }, { a: {} }, { a: { b: 1 } }],
      ];
      for (const [output, right, wrong] of outputs) {
        const client = await RawClient.connect(serverWith({ tool: () => right }, { output }), { revision });
        const { tools } = (await client.result('tools/list')) as { tools: [{ outputSchema: JsonObject }] };
        const check = new Ajv2020({ strict: false }).compile(tools[0].outputSchema);
        const { structuredContent: sent } = await client.call('tool');
        const isWrapped = JSON.stringify(sent) !== JSON.stringify(right);
        expect([output, sent, check(sent)]).toEqual([output, isWrapped ? { result: right } : right, true]);
        expect([output, check(isWrapped ? { result: wrong } : wrong)]).toEqual([output, false]);
      }
    },
  );
});

describe('icons, annotations and titles', () => {
  const icon = { src: 'data:image/png;base64,UE5H', mimeType: 'image/png', sizes: ['any'], theme: 'dark' } as const;

  eachRevision('META-26', 'icons are sent for the server and for every list entry', async (revision) => {
    const server = serverOf({ providers: [provider({ icons: [icon] })], icons: [icon] });
    const client = await RawClient.connect(server, { revision, begins: false });
    expect(identityOf(await client.begin())).toMatchObject({ icons: [icon] });
    for (const method of LISTS) {
      expect(listed(await client.result(method))).toMatchObject([{ icons: [icon] }]);
    }
    // several, with few and with all fields
    const icons = [
      { src: 'https://example.com/i' },
      { ...icon, sizes: ['16x16', '32x32'], theme: 'light' },
      icon,
    ] as const;
    const several = await RawClient.connect(serverOf({ providers: [provider({ icons })], icons }), {
      revision,
      begins: false,
    });
    expect(identityOf(await several.begin())).toHaveProperty('icons', icons);
    for (const method of LISTS) expect(listed(await several.result(method))[0]?.['icons']).toEqual(icons);
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

  eachRevision('META-28', 'annotations have an audience and a priority', async (revision) => {
    const annotations = { audience: ['assistant'], priority: 1 } as const;
    class Annotated {
      @Resource('docs://one', { annotations })
      one() {
        return '';
      }

      @Tool()
      say() {
        return text('Hello', { annotations });
      }
    }
    const client = await RawClient.connect(serverOf({ providers: [Annotated] }), { revision });
    expect(await client.result('resources/list')).toMatchObject({ resources: [{ annotations }] });
    expect(await client.call('say')).toMatchObject({ content: [{ annotations }] });
    const wrong = [2, -0.1, 1.01, Number.NaN].map((priority) => ({ priority }));
    for (const invalid of [...wrong, { audience: ['user', 'nobody'] }, { audience: 'user' }]) {
      const [, , ...resources] = providersOf({ annotations: invalid });
      for (const cls of resources) {
        expect(() => serverOf({ providers: [cls] })).toThrow(Object.keys(invalid)[0]);
      }
    }
  });

  /** The annotations of a resource, a template and one block of each kind. */
  const allAnnotations = async (revision: Revision) => {
    const [, , , resource, template] = await entries(revision);
    const client = await RawClient.connect(golden('contents'), { revision });
    const { content } = await client.call('everything');
    const annotated = [resource, template, ...(content as JsonObject[])].filter((each) => each?.['annotations']);
    expect(annotated.length).toBeGreaterThan(5);
    return annotated.map((each) => each?.['annotations']);
  };

  eachRevision(
    'META-28',
    'annotations are sent with resources, templates and blocks of all kinds',
    async (revision) => {
      for (const annotations of await allAnnotations(revision)) {
        expect(annotations).toMatchObject({ audience: ['user'], priority: 0.5 });
        if (revision < '2025-06-18') expect(annotations).not.toHaveProperty('lastModified');
      }
    },
  );

  eachRevision('META-29', 'annotations have a time of the last change', async (revision) => {
    for (const annotations of await allAnnotations(revision)) {
      expect(annotations).toMatchObject({ lastModified: '2025-01-12T15:00:58Z' });
    }
  });

  eachRevision(
    'META-30',
    'titles are sent for the server, entries and arguments, beside their names',
    async (revision) => {
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
    },
  );
});
