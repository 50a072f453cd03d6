import { describe, expect } from '@jest/globals';
import {
  type Annotations,
  audio,
  embedded,
  image,
  type JsonObject,
  link,
  NoInput,
  type SchemaSource,
  text,
  Tool,
  ToolError,
  toolResult,
} from '@decorum/core';
import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { z } from 'zod';

import { RawClient, textOf } from '../support/raw-client.js';
import { eachRevision, inStateless, type Revision, STATELESS } from '../support/requirements.js';
import { golden } from './golden-servers.js';
import { answersOnTwo, bare, followList } from './neutral.js';
import { type Handler, serverOf, serverWith } from './servers.js';

const DEGREES: JsonObject = { type: 'object', properties: { degrees: { type: 'number' } }, required: ['degrees'] };
const PRIMES: JsonObject = { type: 'array', items: { type: 'integer' } };
const PRIME: JsonObject = { type: 'integer' };
const DRAFT_07 = 'http://json-schema.org/draft-07/schema#';
const PAIR = { type: 'object', properties: { a: { type: 'string' }, b: { type: 'integer' } }, required: ['a'] };
const BYTES = Buffer.from([0, 127, 255]);

/** Calls a tool with this handler and returns the result. */
async function resultOf(revision: Revision, handler: Handler, output?: SchemaSource): Promise<JsonObject> {
  const client = await RawClient.connect(serverWith({ tool: handler }, output && { output }), { revision });
  return bare(await client.call('tool'));
}

async function toolsOf(revision: Revision): Promise<JsonObject[]> {
  const client = await RawClient.connect(golden('lists'), { revision });
  return (await client.result('tools/list'))['tools'] as JsonObject[];
}

const blocksOf = ({ content }: JsonObject) => content as JsonObject[];

describe('the list of tools', () => {
  eachRevision('TOOL-01', 'is declared if there are tools', async (revision) => {
    const capabilitiesOf = async (server: ReturnType<typeof serverOf>) => {
      const client = await RawClient.connect(server, { revision, begins: false });
      return (await client.begin())['capabilities'];
    };
    expect(await capabilitiesOf(serverWith({ tool: () => '' }))).toMatchObject({ tools: { listChanged: true } });
    const server = serverOf();
    expect(await capabilitiesOf(server)).not.toHaveProperty('tools');
    // also if they come later, and even if they go again
    const added = server.addTool({ name: 'tool', input: NoInput }, () => '');
    expect(await capabilitiesOf(server)).toMatchObject({ tools: { listChanged: true } });
    added.remove();
    expect(await capabilitiesOf(server)).toMatchObject({ tools: { listChanged: true } });
  });

  eachRevision('TOOL-02', 'has a name and an object schema for each tool', async (revision) => {
    for (const tool of await toolsOf(revision)) {
      expect(tool).toMatchObject({ name: expect.any(String), inputSchema: { type: 'object' } });
    }
    // whatever the schema of the author has at its root
    const properties = { a: { type: 'string' } };
    for (const input of [
      { type: 'object' },
      { properties },
      { $ref: '#/$defs/a', $defs: { a: { type: 'object', properties } } },
      { allOf: [{ type: 'object', properties }] },
      z.object({ a: z.string() }),
      z.union([z.object({ a: z.string() }), z.object({ b: z.string() })]),
    ] as SchemaSource[]) {
      let server;
      try {
        server = serverWith({ tool: () => '' }, { input });
      } catch (error) {
        // refused at startup instead
        expect(error).toMatchObject({ code: 'DECORUM_INVALID_SCHEMA' });
        continue;
      }
      const { tools } = await (await RawClient.connect(server, { revision })).result('tools/list');
      expect(tools).toMatchObject([{ name: 'tool', inputSchema: { type: 'object' } }]);
    }
  });

  eachRevision('TOOL-03', 'has a schema even for tools without arguments', async (revision) => {
    const client = await RawClient.connect(serverWith({ none: () => '' }), { revision });
    const { tools } = await client.result('tools/list');
    expect(tools).toMatchObject([{ inputSchema: { type: 'object', additionalProperties: false } }]);
  });

  eachRevision('TOOL-06', 'causes a notification when a tool is added or removed', async (revision) => {
    const server = serverWith({ first: () => '' });
    const client = await RawClient.connect(server, { revision });
    await followList(client, 'tools');
    const changed = async (times: number) => {
      await client.find(() => client.of('notifications/tools/list_changed').length === times);
      const { tools } = (await client.result('tools/list')) as { tools: { name: string }[] };
      return tools.map(({ name }) => name);
    };
    const added = server.addTool({ name: 'second', input: NoInput }, () => '');
    expect(await changed(1)).toEqual(['first', 'second']);
    added.remove();
    expect(await changed(2)).toEqual(['first']);
    // also right after another list has changed
    if (!client.stateless) server.notify.promptsChanged();
    server.addTool({ name: 'third', input: NoInput }, () => '').remove();
    expect(await changed(3)).toEqual(['first']);
  });

  eachRevision('TOOL-18', 'has the output schema, in sessions with an object at the root', async (revision) => {
    const [forecast, primes] = await toolsOf(revision);
    expect(forecast).toMatchObject({ outputSchema: DEGREES });
    const wrapped = { type: 'object', properties: { result: PRIMES } };
    expect(primes).toMatchObject({ outputSchema: revision === STATELESS ? PRIMES : wrapped });
  });

  /** Output schemas with all kinds of roots, and a value of each. */
  const ROOTS: readonly (readonly [output: JsonObject, value: unknown])[] = [
    [DEGREES, { degrees: 21 }],
    [PRIMES, [2, 3]],
    [{ type: 'string' }, 'two'],
    [{ type: ['string', 'null'] }, null],
    [{ anyOf: [DEGREES, PAIR] }, { a: 'x' }],
    [{ anyOf: [DEGREES, { type: 'null' }] }, null],
    [{ oneOf: [DEGREES, PRIMES] }, [2, 3]],
    [{ enum: [1, 'two'] }, 'two'],
    [{ const: true }, true],
    [{ $ref: '#/$defs/primes', $defs: { primes: PRIMES } }, [2, 3]],
    [{}, 'two'],
    // with references other than to `$defs`
    [{ type: 'array', items: { $ref: '#' } }, [[], [[]]]],
    [
      { $defs: { a: { anyOf: [{ type: 'integer' }, { $ref: '#' }] } }, type: 'array', items: { $ref: '#/$defs/a' } },
      [1, [2]],
    ],
    [
      { $schema: DRAFT_07, definitions: { prime: PRIME }, type: 'array', items: { $ref: '#/definitions/prime' } },
      [2, 3],
    ],
    [{ type: 'array', prefixItems: [PRIME], items: { $ref: '#/prefixItems/0' } }, [2, 3]],
    [{ $id: 'https://example.com/a', type: 'array', items: { $ref: '#/$defs/a' }, $defs: { a: PRIME } }, [2, 3]],
    [
      {
        type: 'array',
        items: {
          properties: { $ref: { const: { $ref: '#' } }, const: { $ref: '#/items/properties/$ref' } },
          type: 'object',
        },
      },
      [{ $ref: { $ref: '#' }, const: { $ref: '#' } }],
    ],
  ];

  eachRevision('TOOL-18', 'has output schemas that fit the results, whatever their root', async (revision) => {
    for (const [output, value] of ROOTS) {
      const client = await RawClient.connect(serverWith({ tool: () => value }, { output }), { revision });
      const [tool] = (await client.result('tools/list'))['tools'] as { outputSchema: JsonObject }[];
      const { structuredContent } = await client.call('tool');
      const { outputSchema } = tool!;
      const ajv = outputSchema['$schema'] === DRAFT_07 ? new Ajv() : new Ajv2020();
      const fits = ajv.compile(outputSchema);
      expect([output, fits(structuredContent), fits(revision === STATELESS ? {} : { result: {} })]).toEqual([
        output,
        true,
        Object.keys(output).length === 0,
      ]);
      if (revision === STATELESS) expect(structuredContent).toEqual(value);
      else expect([output, outputSchema['type']]).toEqual([output, 'object']);
    }
  });

  eachRevision('TOOL-24', 'has the hints and the title of each tool', async (revision) => {
    const [forecast] = await toolsOf(revision);
    const hints = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: true };
    const title = revision === '2025-03-26' ? { title: 'Weather forecast' } : {};
    expect(forecast).toMatchObject({ annotations: { ...hints, ...title } });
  });

  eachRevision('TOOL-24', 'has each hint alone too, whether it is true or false', async (revision) => {
    const names = ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'];
    const all: JsonObject[] = names.flatMap((name) => [{ [name]: true }, { [name]: false }]);
    const server = serverOf();
    for (const [at, annotations] of all.entries()) {
      server.addTool({ name: `tool-${at}`, input: NoInput, annotations }, () => '');
    }
    const client = await RawClient.connect(server, { revision });
    const { tools } = (await client.result('tools/list')) as { tools: JsonObject[] };
    expect(tools.map(({ annotations }) => annotations)).toEqual(all);
  });

  eachRevision('TOOL-25', 'has names that every client accepts', async (revision) => {
    for (const name of ['', 'with space', 'comma,', 'slash/', 'ümlaut', 'x'.repeat(129)]) {
      expect(() => serverWith({ [name]: () => '' })).toThrow('DECORUM_INVALID_NAME');
    }
    const names = ['getUser', 'GETUSER', 'DATA_EXPORT_v2', 'admin.tools-list', 'x'.repeat(128)];
    const server = serverWith(Object.fromEntries(names.map((name) => [name, () => name])));
    expect(() => server.addTool({ name: 'getUser', input: NoInput }, () => '')).toThrow('DECORUM_DUPLICATE_NAME');
    const client = await RawClient.connect(server, { revision });
    for (const name of names) expect(textOf(await client.call(name))).toBe(name);
  });

  inStateless('TOOL-04', 'is the same on every connection, regardless of earlier requests', async () => {
    const server = serverWith({ plain: () => 'yes', ask: (context) => context.confirm('Sure?') });
    const answers = await answersOnTwo(server, 'tools/list', async (client) => {
      for (const name of ['plain', 'ask', 'unknown']) await client.request('tools/call', { name });
    });
    for (const [one, other] of answers) {
      expect(one).toContain('"plain"');
      expect(other).toBe(one);
    }
  });

  inStateless('TOOL-05', 'has the same order each time', async () => {
    const names = ['m', 'z', '10', 'a', '2', 'Z'];
    const server = serverWith({});
    for (const name of names) server.addTool({ name, input: NoInput }, () => '');
    const client = await RawClient.connect(server, { revision: STATELESS });
    for (let time = 0; time < 100; time += 1) {
      const { tools } = (await client.result('tools/list')) as { tools: { name: string }[] };
      expect(tools.map(({ name }) => name)).toEqual(names);
    }
  });

  inStateless('TOOL-23', 'has schemas with all their definitions', async () => {
    const input = JSON.parse(`{
      "type": "object",
      "$defs": { "city": { "type": "string", "minLength": 1 } },
      "properties": { "city": { "$ref": "#/$defs/city" }, "zip": { "type": "string" } },
      "oneOf": [{ "required": ["city"] }, { "required": ["zip"] }],
      "if": { "required": ["zip"] },
      "then": { "properties": { "zip": { "pattern": "^[0-9]+$" } } },
      "dependentRequired": { "a": ["b"] }
    }`) as JsonObject;
    const client = await RawClient.connect(serverWith({ tool: () => 'taken' }, { input }), { revision: STATELESS });
    expect(await client.result('tools/list')).toMatchObject({ tools: [{ inputSchema: input }] });
    expect(textOf(await client.call('tool', { zip: '0150' }))).toBe('taken');
    for (const wrong of [{}, { city: 'Oslo', zip: '0150' }, { zip: 'x' }]) {
      expect(await client.call('tool', wrong)).toMatchObject({ isError: true });
    }
  });

  inStateless('TOOL-34', 'has unique names for the tools of several origins', async () => {
    class Upstream {
      constructor(private readonly origin: string) {}

      @Tool()
      search() {
        return this.origin;
      }
    }
    const providers = ['docs', 'mail'].map((origin) => ({ provider: new Upstream(origin), prefix: `${origin}.` }));
    const client = await RawClient.connect(serverOf({ providers }), { revision: STATELESS });
    const { tools } = (await client.result('tools/list')) as { tools: { name: string }[] };
    expect(tools.map(({ name }) => name)).toEqual(['docs.search', 'mail.search']);
    for (const origin of ['docs', 'mail']) expect(textOf(await client.call(`${origin}.search`))).toBe(origin);
    const colliding = [new Upstream('docs'), new Upstream('mail')];
    expect(() => serverOf({ providers: colliding })).toThrow('DECORUM_DUPLICATE_NAME');
  });
});

describe('a call', () => {
  eachRevision('TOOL-07', 'of an unknown tool is a protocol error', async (revision) => {
    const client = await RawClient.connect(serverWith({ known: () => '' }), { revision });
    for (const name of ['unknown', 'Known', '', 'constructor', '__proto__']) {
      const message = expect.stringContaining('Unknown tool');
      expect(await client.error('tools/call', { name, arguments: {} })).toMatchObject({ code: -32602, message });
    }
  });

  eachRevision('TOOL-07', 'of a removed tool is the same error, even if it was the last', async (revision) => {
    const server = serverOf();
    const added = server.addTool({ name: 'known', input: NoInput }, () => 'here');
    const before = await RawClient.connect(server, { revision });
    expect(textOf(await before.call('known'))).toBe('here');
    added.remove();
    const message = expect.stringContaining('Unknown tool');
    for (const client of [before, await RawClient.connect(server, { revision })]) {
      expect(await client.error('tools/call', { name: 'known' })).toMatchObject({ code: -32602, message });
      expect(await client.result('tools/list')).toMatchObject({ tools: [] });
    }
  });

  eachRevision(
    'TOOL-08',
    'without an arguments object is rejected, and with invalid arguments it fails',
    async (revision) => {
      let runs = 0;
      const client = await RawClient.connect(serverWith({ tool: () => (runs += 1) }, { input: PAIR }), { revision });
      for (const malformed of [[], 'a', 7, null]) {
        const error = await client.error('tools/call', { name: 'tool', arguments: malformed });
        expect(error).toMatchObject({ code: -32602, message: expect.stringContaining('arguments') });
      }
      for (const invalid of [undefined, {}, { a: 7 }, { a: 'a', b: 'no' }]) {
        expect(await client.call('tool', invalid)).toMatchObject({ isError: true });
      }
      expect(runs).toBe(0);
    },
  );

  eachRevision(
    'TOOL-09',
    'with invalid arguments is an error for the model that names all of them',
    async (revision) => {
      const client = await RawClient.connect(serverWith({ tool: () => '' }, { input: PAIR }), { revision });
      const result = await client.call('tool', { b: 'no' });
      expect(result).toMatchObject({ isError: true });
      for (const name of ['a', 'b']) expect(textOf(result)).toMatch(new RegExp(`^- ${name}:`, 'm'));
      // also by rules that are checked later
      const later = z.object({ a: z.string().refine(async (a) => a === 'x', 'must be x') });
      const slow = await RawClient.connect(serverWith({ tool: () => 'ran' }, { input: later }), { revision });
      expect(textOf(await slow.call('tool', { a: 'x' }))).toBe('ran');
      const refused = await slow.call('tool', { a: 'y' });
      expect([refused['isError'], textOf(refused)]).toEqual([true, expect.stringContaining('must be x')]);
    },
  );

  eachRevision('TOOL-10', 'that is malformed is a protocol error', async (revision) => {
    const client = await RawClient.connect(serverWith({ tool: () => '' }), { revision });
    const malformed = [undefined, {}, { name: 7 }, { name: null }, { name: 'tool', arguments: [] }];
    for (const params of [...malformed, { name: 'tool', arguments: 'a' }, { name: 'tool', arguments: null }]) {
      expect(await client.error('tools/call', params)).toMatchObject({ code: -32602 });
    }
  });

  eachRevision('TOOL-11', 'that fails returns an error for the model', async (revision) => {
    const failing = (error: unknown) => () => {
      throw error;
    };
    expect(await resultOf(revision, failing(new ToolError('No weather today.')))).toEqual({
      content: [{ type: 'text', text: 'No weather today.' }],
      isError: true,
    });
    expect(await resultOf(revision, failing(new Error('secret')))).toMatchObject({ isError: true });
    expect(await resultOf(revision, failing('a string'))).toMatchObject({ isError: true });
    for (const handler of [() => new Error('secret'), async () => new Error('secret')]) {
      const returned = await resultOf(revision, handler);
      expect(returned).toMatchObject({ isError: true });
      expect(JSON.stringify(returned)).not.toContain('secret');
    }
    expect(await resultOf(revision, () => Promise.reject(new Error('secret')))).toMatchObject({ isError: true });
  });

  eachRevision('TOOL-26', 'reaches the handler only with valid arguments', async (revision) => {
    const input = {
      type: 'object',
      properties: { a: { type: 'integer', minimum: 0 }, b: { type: 'array', items: { enum: ['x', 'y'] } } },
      required: ['a'],
      additionalProperties: false,
    };
    const fits = new Ajv2020().compile(input);
    const value = fc.oneof(fc.integer({ min: -2, max: 2 }), fc.constantFrom('x', 'y', '1', null), fc.jsonValue());
    const args = fc.oneof(
      fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.oneof(value, fc.array(value, { maxLength: 3 }))),
      fc.dictionary(fc.string(), fc.jsonValue()),
    );
    let got: unknown;
    const server = serverWith({ tool: (_context, given) => ((got = given), 'taken') }, { input });
    const client = await RawClient.connect(server, { revision });
    // no arguments at all are not a way around the schema
    expect(await client.call('tool')).toMatchObject({ isError: true });
    expect(got).toBeUndefined();
    const property = fc.asyncProperty(args, async (generated) => {
      const given = JSON.parse(JSON.stringify(generated)) as JsonObject;
      // rejected in all messages before any tool runs
      fc.pre(!JSON.stringify(given).includes('__proto__'));
      got = undefined;
      const result = await client.call('tool', given);
      expect(result['isError'] === true).toBe(!fits(given));
      expect(got).toEqual(fits(given) ? given : undefined);
    });
    await fc.assert(property, { numRuns: 200 });
  });
});

describe('a result', () => {
  eachRevision('TOOL-12', 'always has content', async (revision) => {
    expect(await resultOf(revision, () => undefined)).toEqual({ content: [] });
    expect(await resultOf(revision, () => toolResult({ content: [] }))).toEqual({ content: [] });
    expect(await resultOf(revision, () => toolResult({ structuredContent: { a: 1 } }))).toMatchObject({
      content: [{ type: 'text', text: '{"a":1}' }],
    });
    expect(await resultOf(revision, () => toolResult({ isError: true }))).toEqual({ content: [], isError: true });
    // the text of structured content, even where the author wants none but the revision has nothing else
    for (const [handler, output] of [
      [() => ({ a: 1 }), {}],
      [() => null, {}],
      [() => toolResult({ structuredContent: { a: 1 } }), undefined],
      [() => toolResult({ structuredContent: { a: 1 }, isError: true }), undefined],
    ] as const) {
      const server = serverWith({ tool: handler }, { ...(output && { output }), text: false });
      const { content, isError } = await (await RawClient.connect(server, { revision })).call('tool');
      const count = isError || revision < '2025-06-18' ? 1 : 0;
      expect([String(handler), blocksOf({ content }).length]).toEqual([String(handler), count]);
    }
    for (const handler of [async () => undefined, () => null, function* () {}, async function* () {}]) {
      expect(Array.isArray((await resultOf(revision, handler))['content'])).toBe(true);
    }
  });

  eachRevision('TOOL-13', 'may contain images', async (revision) => {
    const [block] = blocksOf(await resultOf(revision, () => image(BYTES, 'image/png')));
    expect(block).toEqual({ type: 'image', mimeType: 'image/png', data: BYTES.toString('base64') });
  });

  eachRevision('TOOL-14', 'may contain audio', async (revision) => {
    const [block] = blocksOf(await resultOf(revision, () => audio(BYTES, 'audio/wav')));
    expect(block).toEqual({ type: 'audio', mimeType: 'audio/wav', data: BYTES.toString('base64') });
    const sound = audio(BYTES, 'audio/wav', { annotations: { priority: 1 } });
    const several = await resultOf(revision, () => [text('a'), sound, image(BYTES, 'image/png'), sound]);
    expect(blocksOf(several)).toEqual([text('a'), sound, image(BYTES, 'image/png'), sound]);
  });

  eachRevision('TOOL-15', 'may contain links', async (revision) => {
    const [block] = blocksOf(await resultOf(revision, () => link('docs://manual', { name: 'manual', size: 12 })));
    expect(block).toEqual({ type: 'resource_link', uri: 'docs://manual', name: 'manual', size: 12 });
    const annotations: Annotations = { audience: ['user'], priority: 0, lastModified: '2025-01-12T15:00:58Z' };
    const all = {
      name: 'm',
      title: 'T',
      description: '',
      mimeType: 'text/plain',
      size: 0,
      annotations,
      _meta: { a: 1 },
    };
    const [whole, plain] = blocksOf(await resultOf(revision, async () => [link('docs://a', all), link('docs://b')]));
    expect(whole).toEqual({ type: 'resource_link', uri: 'docs://a', ...all });
    expect(plain).toEqual({ type: 'resource_link', uri: 'docs://b', name: 'docs://b' });
  });

  eachRevision('TOOL-16', 'may contain resources', async (revision) => {
    const annotations: Annotations = { audience: ['user'], priority: 1 };
    const result = await resultOf(revision, () => [
      embedded({ uri: 'docs://a', mimeType: 'text/markdown', data: '# A', annotations }),
      embedded({ uri: 'docs://b', data: BYTES }),
    ]);
    expect(result['content']).toEqual([
      { type: 'resource', resource: { uri: 'docs://a', mimeType: 'text/markdown', text: '# A' }, annotations },
      {
        type: 'resource',
        resource: { uri: 'docs://b', mimeType: 'application/octet-stream', blob: BYTES.toString('base64') },
      },
    ]);
    // empty ones too
    const empty = await resultOf(revision, () => [
      embedded({ uri: 'docs://a', data: '' }),
      embedded({ uri: 'docs://b', data: new Uint8Array() }),
    ]);
    expect(blocksOf(empty).map(({ resource }) => resource)).toEqual([
      { uri: 'docs://a', mimeType: 'text/plain', text: '' },
      { uri: 'docs://b', mimeType: 'application/octet-stream', blob: '' },
    ]);
  });

  eachRevision('TOOL-19', 'has structured content that fits its schema, or is an error', async (revision) => {
    expect(await resultOf(revision, () => ({ degrees: 21 }), DEGREES)).toMatchObject({
      structuredContent: { degrees: 21 },
    });
    for (const wrong of [
      { degrees: 'warm' },
      {},
      undefined,
      'warm',
      toolResult({ structuredContent: { degrees: null } }),
      toolResult({ structuredContent: { degrees: null }, isError: false }),
      toolResult({ content: 'warm', structuredContent: {}, isError: false }),
      { content: [{ type: 'text', text: 'warm' }], structuredContent: { degrees: null }, isError: false },
    ]) {
      const result = await resultOf(revision, () => wrong, DEGREES);
      expect(result).toMatchObject({ isError: true });
      expect(result).not.toHaveProperty('structuredContent');
    }
    // with a rule that is checked asynchronously
    const cold = z.object({ degrees: z.number() }).refine(async ({ degrees }) => degrees < 5);
    for (const degrees of [4, 6]) {
      const content = [text('It is cold.')];
      for (const value of [
        { degrees },
        Promise.resolve({ degrees }),
        toolResult({ structuredContent: { degrees } }),
        { content, structuredContent: { degrees } },
      ]) {
        const result = await resultOf(revision, () => value, cold);
        expect([degrees, result['structuredContent'], result['isError']]).toEqual(
          degrees < 5 ? [degrees, { degrees }, undefined] : [degrees, undefined, true],
        );
      }
    }
  });

  eachRevision('TOOL-20', 'has its structured content as text too', async (revision) => {
    for (const handler of [() => ({ degrees: 21 }), () => toolResult({ structuredContent: { degrees: 21 } })]) {
      const result = await resultOf(revision, handler, DEGREES);
      expect(JSON.parse(textOf(result) as string)).toEqual(result['structuredContent']);
    }
  });

  eachRevision('TOOL-20', 'has empty and falsy structured content as text too', async (revision) => {
    for (const value of [0, -1, false, true, '', 'ä "b"', null, [], {}, [null], { a: [] }]) {
      for (const handler of [() => value, async () => value, () => toolResult({ structuredContent: value })]) {
        const { content } = await resultOf(revision, handler, {});
        expect([value, content]).toEqual([value, [{ type: 'text', text: JSON.stringify(value) }]]);
      }
    }
  });

  eachRevision('TOOL-21', 'has an object as structured content, whatever the tool returns', async (revision) => {
    for (const value of [[2, 3], 'two', 2, null, true, []]) {
      const result = await resultOf(revision, () => value, {});
      expect(result).toMatchObject({ structuredContent: { result: value } });
      const unlisted = await resultOf(revision, () => toolResult({ structuredContent: value }));
      expect(unlisted).toMatchObject({ structuredContent: { result: value } });
    }
  });

  inStateless('TOOL-22', 'has any structured content that the tool returns', async () => {
    for (const value of [[2, 3], 'two', 2, null, true, [], { a: 1 }, 0, '', false, {}]) {
      for (const handler of [() => value, async () => value, () => toolResult({ structuredContent: value })]) {
        const result = await resultOf(STATELESS, handler, {});
        expect(result).toHaveProperty('structuredContent', value);
        expect(textOf(result)).toBe(JSON.stringify(value));
      }
      const unlisted = await resultOf(STATELESS, () => toolResult({ structuredContent: value }));
      expect(unlisted).toHaveProperty('structuredContent', value);
    }
  });

  inStateless('TOOL-30', 'may be a question', async () => {
    const server = serverWith({ ask: async (context) => ((await context.confirm('Sure?')) ? 'sure' : 'no') });
    const accepted = () => ({ result: { action: 'accept', content: { confirmed: true } } });
    const options = { revision: STATELESS, capabilities: { elicitation: {} } } as const;
    const client = await RawClient.connect(server, { ...options, answers: { 'elicitation/create': accepted } });
    expect(textOf(await client.call('ask'))).toBe('sure');
    expect(client.received[0]?.result).toMatchObject({ resultType: 'input_required' });
    expect(client.questions).toMatchObject([{ params: { message: 'Sure?' } }]);
  });

  eachRevision('TOOL-32', 'that is an error needs no structured content', async (revision) => {
    const failing = () => {
      throw new ToolError('No weather today.');
    };
    const content = [{ type: 'text', text: 'No weather today.' }];
    expect(await resultOf(revision, failing, DEGREES)).toEqual({ content, isError: true });
    const declared = () => toolResult({ content: 'No weather today.', isError: true });
    expect(await resultOf(revision, declared, DEGREES)).toEqual({ content, isError: true });
    // nor does any that it has need to fit the schema
    for (const structuredContent of [{}, { degrees: 'unknown' }, undefined]) {
      const partly = () => toolResult({ content: 'No weather today.', structuredContent, isError: true });
      const result = await resultOf(revision, partly, DEGREES);
      expect([blocksOf(result)[0], result['isError']]).toEqual([content[0], true]);
    }
  });
});

describe('the content of a result', () => {
  const everything = [
    text('a', { _meta: { a: 1 } }),
    image(BYTES, 'image/png'),
    audio(BYTES, 'audio/wav', { annotations: { lastModified: '2025-01-12T15:00:58Z' } }),
    link('docs://a', { icons: [{ src: 'https://example.com/a.png' }], _meta: { a: 1 } }),
    embedded({ uri: 'docs://a', data: 'a', _meta: { a: 1 } }),
  ];

  class Everything {
    @Tool({
      input: {
        type: 'object',
        properties: { pick: { type: 'array', items: { type: 'integer' } }, isError: { type: 'boolean' } },
      },
    })
    some({ pick = [], isError }: { pick?: number[]; isError?: boolean }) {
      const content = pick.map((index) => everything[index % everything.length] as (typeof everything)[0]);
      return toolResult({ content, ...(isError !== undefined && { isError }) });
    }
  }

  eachRevision('LIFE-29', 'is encoded for the revision in every combination', async (revision) => {
    const client = await RawClient.connect(serverOf({ providers: [Everything] }), { revision });
    const property = fc.asyncProperty(
      fc.array(fc.nat(everything.length - 1), { minLength: 1, maxLength: 6 }),
      fc.constantFrom({}, { isError: false }, { isError: true }),
      async (pick, more) => {
        const content = pick.map(() => expect.anything());
        expect(await client.call('some', { pick, ...more })).toMatchObject({ content, ...more });
        // RawClient validates every message
        expect(client.problems).toEqual([]);
      },
    );
    await fc.assert(property, { numRuns: 100 });
  });
});
