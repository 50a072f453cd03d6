import { describe, expect, it } from '@jest/globals';
import {
  type Annotations,
  audio,
  embedded,
  image,
  type JsonObject,
  link,
  NoInput,
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
import { bare } from './neutral.js';
import { type Handler, serverOf, serverWith } from './servers.js';
import { answersAlike, type Probe, type Setting, waysOf } from './ways.js';

const DEGREES: JsonObject = {
  type: 'object',
  properties: { degrees: { type: 'number' } },
  required: ['degrees'],
  additionalProperties: false,
};
const PRIMES: JsonObject = { type: 'array', items: { type: 'integer' } };
const PAIR: JsonObject = {
  type: 'object',
  properties: { a: { type: 'string' }, b: { type: 'integer' } },
  required: ['a'],
  additionalProperties: false,
};
const ANY: JsonObject = { type: 'object' };
const DRAFT_07 = 'http://json-schema.org/draft-07/schema#';
const BYTES = Buffer.from([0, 127, 255]);
const DATA = BYTES.toString('base64');

/** Calls a tool with this handler and returns the result. */
async function resultOf(revision: Revision, handler: Handler, options: object = {}): Promise<JsonObject> {
  const client = await RawClient.connect(serverWith({ tool: handler }, options), { revision });
  return bare(await client.call('tool'));
}

const listOf = async (client: RawClient) => (await client.result('tools/list'))['tools'] as JsonObject[];
const goldenTools = async (revision: Revision) => await listOf(await RawClient.connect(golden('lists'), { revision }));

describe('the list of tools', () => {
  const words = { type: 'string' };
  const items = (ref: string) => ({ type: 'array', items: { $ref: ref } });
  const ref = { $ref: '#/items' };

  /** Output schemas with all kinds of roots and references, and a value that fits and one that does not. */
  const ROOTS: readonly (readonly [output: JsonObject, right: unknown, wrong: unknown])[] = [
    [DEGREES, { degrees: 21 }, {}],
    [PRIMES, [2, 3], ['two']],
    [{ type: ['string', 'null'] }, null, 2],
    [{ anyOf: [DEGREES, PAIR] }, { a: 'x' }, {}],
    [{ anyOf: [DEGREES, { type: 'null' }] }, null, 1],
    [{ oneOf: [DEGREES, PRIMES] }, [2, 3], 'two'],
    [{ enum: [1, 'two'] }, 'two', 2],
    [{ const: true }, true, false],
    [{ $ref: '#/$defs/primes', $defs: { primes: PRIMES } }, [2, 3], 2],
    [items('#'), [[], [[]]], [['a']]],
    [{ anyOf: [words, items('#')] }, ['a', ['b']], [1]],
    [{ ...items('#/definitions/a'), definitions: { a: words } }, ['a'], [1]],
    [{ $schema: DRAFT_07, ...items('#/definitions/a'), definitions: { a: words } }, ['a'], [1]],
    [{ ...items('#/$defs/a'), $defs: { a: { anyOf: [words, { $ref: '#' }] } } }, ['a', ['b']], [1]],
    [{ anyOf: [words, { type: 'array', items: { $ref: '#/anyOf/0' } }] }, ['a'], [1]],
    [{ type: 'array', prefixItems: [words], items: { $ref: '#/prefixItems/0' } }, ['a', 'b'], [1]],
    [{ $id: 'https://example.com/a', ...items('#/$defs/a'), $defs: { a: words } }, ['a'], [1]],
    [{ ...items('#a'), $defs: { a: { $anchor: 'a', ...words } } }, ['a'], [1]],
    [{ type: 'object', properties: { a: { $ref: '#' } }, additionalProperties: false }, { a: {} }, { a: { b: 1 } }],
    // data and names that look like references
    [{ type: 'array', items: { enum: [ref, { $defs: ref }] } }, [ref], [{ $ref: '#/properties/result/items' }]],
    [{ type: 'array', items: { type: 'object', properties: { $ref: words } } }, [{ $ref: '#' }], [{ $ref: 1 }]],
    [
      { type: 'array', items: { properties: { $ref: { const: ref }, const: { $ref: '#/items/properties/$ref' } } } },
      [{ $ref: ref, const: ref }],
      [{ const: 1 }],
    ],
  ];

  eachRevision(['TOOL-18', 'META-12'], 'has output schemas that fit, and are objects in sessions', async (revision) => {
    const [forecast, primes] = await goldenTools(revision);
    const { additionalProperties: _none, ...degrees } = DEGREES;
    const wrapped = { type: 'object', properties: { result: PRIMES } };
    expect(forecast).toMatchObject({ outputSchema: degrees });
    expect(primes).toMatchObject({ outputSchema: revision === STATELESS ? PRIMES : wrapped });
    for (const [output, right, wrong] of ROOTS) {
      const client = await RawClient.connect(serverWith({ tool: () => right }, { output }), { revision });
      const [{ outputSchema }] = (await listOf(client)) as [{ outputSchema: JsonObject }];
      const ajv = outputSchema['$schema'] === DRAFT_07 ? new Ajv() : new Ajv2020({ strict: false });
      const check = ajv.compile(outputSchema);
      const { structuredContent: sent } = await client.call('tool');
      const isWrapped = JSON.stringify(sent) !== JSON.stringify(right);
      expect([output, sent, check(sent)]).toEqual([output, isWrapped ? { result: right } : right, true]);
      expect([output, check(isWrapped ? { result: wrong } : wrong)]).toEqual([output, false]);
      if (revision === STATELESS) expect(isWrapped).toBe(false);
      else expect([output, outputSchema['type']]).toEqual([output, 'object']);
    }
  });

  eachRevision('TOOL-24', 'has the hints and the title of each tool, and each hint alone', async (revision) => {
    const [forecast] = await goldenTools(revision);
    const hints = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: true };
    const title = revision === '2025-03-26' ? { title: 'Weather forecast' } : {};
    expect(forecast).toMatchObject({ annotations: { ...hints, ...title } });
    const all: JsonObject[] = Object.keys(hints).flatMap((name) => [{ [name]: true }, { [name]: false }]);
    const server = serverOf();
    for (const [at, annotations] of all.entries()) {
      server.addTool({ name: `tool-${at}`, input: NoInput, annotations }, () => '');
    }
    const tools = await listOf(await RawClient.connect(server, { revision }));
    expect(tools.map(({ annotations }) => annotations)).toEqual(all);
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

const call = (name: unknown, args?: unknown): [method: string, params: JsonObject] => [
  'tools/call',
  { name, ...(args !== undefined && { arguments: args }) },
];
const failure = (said: unknown) => ({ content: [{ type: 'text', text: said }], isError: true });

/** The kinds of handlers that return a value. */
const RETURNING = {
  now: (value: unknown) => value,
  later: async (value: unknown) => await Promise.resolve(value),
  *steps(value: unknown) {
    yield { progress: 2 };
    return value;
  },
  async *stream(value: unknown) {
    yield { progress: 2 };
    return await Promise.resolve(value);
  },
} as const;

/** The kinds of handlers that fail with an error. */
const FAILING = {
  now(cause: unknown) {
    throw cause;
  },
  later: async (cause: unknown) => await Promise.reject(cause),
  *steps(cause: unknown) {
    yield { progress: 2 };
    throw cause;
  },
  async *stream(cause: unknown) {
    yield { progress: 2 };
    throw await Promise.resolve(cause);
  },
} as const;

describe('a tool call, however it arrives,', () => {
  eachRevision(
    ['TOOL-07', 'TOOL-10', 'TOOL-08', 'TOOL-09', 'TOOL-26'],
    'names a tool, and has valid arguments',
    async (revision) => {
      const given: unknown[] = [];
      const take = (input: unknown) => (given.push(input), 'ran');
      const build = ({ options, guard }: Setting) => {
        const server = serverOf(options);
        server.addTool({ name: 'pair', input: PAIR, ...guard }, take);
        server.addTool({ name: 'none', input: NoInput, ...guard }, take);
        server.addTool({ name: 'late', input: PAIR, ...guard }, async (input) => await Promise.resolve(take(input)));
        return server;
      };
      const ways = await waysOf(revision, build);
      const unknown = ['unknown', 'PAIR', 'pair ', '', '0', 'toString', '__proto__'];
      const nameless = [undefined, 7, 0, null, false, [], ['pair'], {}];
      const malformed = [[], [{ a: 'x' }], 'a', '', 0, 7, null, false, true];
      const a = 'x';
      const invalid = [undefined, {}, { a: null }, { a: 0 }, { a: [a] }, { a, b: '1' }, { a, b: 1.5 }, { a, b: null }];
      await answersAlike(ways, [
        ['tools/call', undefined, -32602],
        ...unknown.flatMap((name) => [undefined, { a }, {}].map((args): Probe => [...call(name, args), -32602])),
        ...nameless.map((name): Probe => [...call(name, { a }), -32602]),
        ...['pair', 'none', 'late'].flatMap((name) => malformed.map((args): Probe => [...call(name, args), -32602])),
        ...['pair', 'late'].flatMap((name) =>
          [...invalid, { a, c: 1 }].map((args): Probe => [
            ...call(name, args),
            failure(expect.stringMatching('not valid')),
          ]),
        ),
        [...call('none', { a }), failure(expect.stringMatching('not valid'))],
      ]);
      expect(given).toEqual([]);
      for (const { ask } of ways) {
        const { error } = await ask(...call('Pair'));
        expect(error?.message).toBe('Unknown tool: Pair');
        for (const [name, args] of [
          ['pair', { a: '' }],
          ['late', { a: '0', b: -1 }],
          ['none', {}],
        ] as const) {
          expect((await ask(...call(name, args))).result).toMatchObject({ content: [{ text: 'ran' }] });
          expect({ ...(given.pop() as object) }).toEqual(args);
        }
      }
      expect(given).toEqual([]);
    },
  );

  eachRevision(['TOOL-11', 'TOOL-32'], 'shows the model in its result that the tool has failed', async (revision) => {
    const coded = Object.assign(new Error('secret'), { code: -32000 });
    const returned = [new TypeError('secret'), coded];
    const odd = [{ code: -32602 }, 'secret', '', 0, false, null, undefined];
    const thrown = [...returned, new ToolError('No.'), new ToolError(''), ...odd];
    const fail = ({ kind, at }: JsonObject) => FAILING[kind as keyof typeof FAILING](thrown[at as number]);
    const ways = await waysOf(revision, ({ options, guard }) => {
      const server = serverOf(options);
      server.addTool({ name: 'plain', input: ANY, ...guard }, fail);
      server.addTool({ name: 'structured', input: ANY, output: DEGREES, ...guard }, fail as never);
      server.addTool({ name: 'returns', input: ANY, ...guard }, ({ kind, at }: JsonObject) =>
        RETURNING[kind as keyof typeof RETURNING](returned[at as number]),
      );
      return server;
    });
    const masked = expect.stringMatching(/^(?!.*secret)./);
    const probes = Object.keys(FAILING).flatMap((kind) => [
      ...thrown.flatMap((error, at) =>
        ['plain', 'structured'].map((name): Probe => {
          return [...call(name, { kind, at }), failure(error instanceof ToolError ? error.message : masked)];
        }),
      ),
      ...returned.map((_error, at): Probe => [...call('returns', { kind, at }), failure(masked)]),
    ]);
    await answersAlike(ways, probes);
  });

  eachRevision(
    ['TOOL-19', 'TOOL-20', 'TOOL-21', 'TOOL-22', 'TOOL-12'],
    'has a structured result that fits',
    async (revision) => {
      const list: JsonObject = { type: 'array', items: { type: 'integer' } };
      const outputs: Record<string, JsonObject> = {
        degrees: DEGREES,
        list,
        number: { type: 'integer' },
        text: { type: 'string' },
        flag: { type: 'boolean' },
        nothing: { type: ['null', 'string'] },
        object: { type: 'object' },
        any: {},
      };
      const odd = [{ degrees: '1' }, { degrees: null }, { degrees: 1, more: 1 }, { degrees: Number.NaN }];
      const wrong = [null, undefined, 0, '', false, [], {}, [{ degrees: 1 }], ...odd];
      const right: readonly (readonly [output: string, value: unknown])[] = [
        ['degrees', { degrees: 0 }],
        ['list', []],
        ['list', [0, 1]],
        ['number', 0],
        ['text', ''],
        ['flag', false],
        ['nothing', null],
        ['object', {}],
        ['any', [null]],
        ['any', 'ä "b"'],
      ];
      const sent = (output: string, value: unknown) => {
        if (revision < '2025-06-18') return {};
        return { structuredContent: revision === STATELESS || isObject(output) ? value : { result: value } };
      };
      const isObject = (output: string) => outputs[output]?.['type'] === 'object';
      const whole = (structuredContent: unknown) => toolResult({ content: 'So.', structuredContent });
      const fits = right.map(([, value]) => value);
      const fitsWhole = fits.map((structuredContent) => toolResult({ structuredContent }));
      const values = [...wrong, ...wrong.map(whole), ...fits, ...fitsWhole];
      const ways = await waysOf(revision, ({ options, guard }) => {
        const server = serverOf(options);
        for (const [name, output] of Object.entries(outputs)) {
          const run = ({ kind, at }: JsonObject) => RETURNING[kind as keyof typeof RETURNING](values[at as number]);
          server.addTool({ name, output, input: ANY, ...guard }, run as never);
        }
        return server;
      });
      const probes = Object.keys(RETURNING).flatMap((kind) => [
        ...Array.from({ length: 2 * wrong.length }, (_value, at): Probe => {
          return [...call('degrees', { kind, at }), failure(expect.stringMatching(/./))];
        }),
        ...[...right, ...right].map(([output, value], at): Probe => {
          const result = { content: [{ type: 'text', text: JSON.stringify(value) }], ...sent(output, value) };
          return [...call(output, { kind, at: 2 * wrong.length + at }), result];
        }),
      ]);
      await answersAlike(ways, probes);
    },
  );
});

describe('the arguments of a call', () => {
  eachRevision('TOOL-09', 'are checked by all rules, and the error names all that are wrong', async (revision) => {
    const client = await RawClient.connect(serverWith({ tool: () => '' }, { input: PAIR }), { revision });
    const result = await client.call('tool', { b: 'no' });
    for (const name of ['a', 'b']) expect(textOf(result)).toMatch(new RegExp(`^- ${name}:`, 'm'));
    // also by rules that are checked later
    const later = z.object({ a: z.string().refine(async (a) => a === 'x', 'must be x') });
    const slow = await RawClient.connect(serverWith({ tool: () => 'ran' }, { input: later }), { revision });
    expect(textOf(await slow.call('tool', { a: 'x' }))).toBe('ran');
    const refused = await slow.call('tool', { a: 'y' });
    expect([refused['isError'], textOf(refused)]).toEqual([true, expect.stringContaining('must be x')]);
  });

  it.each(['2025-11-25', STATELESS] as const)(
    'reach the handler only if they fit the schema (%s)',
    async (revision) => {
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
      const property = fc.asyncProperty(args, async (generated) => {
        const given = JSON.parse(JSON.stringify(generated)) as JsonObject;
        // rejected in all messages before any tool runs
        fc.pre(!JSON.stringify(given).includes('__proto__'));
        got = undefined;
        const result = await client.call('tool', given);
        expect(result['isError'] === true).toBe(!fits(given));
        expect(got).toEqual(fits(given) ? given : undefined);
      });
      await fc.assert(property, { numRuns: 100 });
    },
  );
});

describe('a result', () => {
  eachRevision('TOOL-12', 'always has content', async (revision) => {
    for (const handler of [() => undefined, async () => undefined, function* () {}, async function* () {}]) {
      expect(await resultOf(revision, handler)).toEqual({ content: [] });
    }
    expect(await resultOf(revision, () => toolResult({ content: [] }))).toEqual({ content: [] });
    expect(await resultOf(revision, () => toolResult({ isError: true }))).toEqual({ content: [], isError: true });
    // the text of structured content, even where the author wants none but the revision has nothing else
    for (const [handler, output] of [
      [() => ({ a: 1 }), {}],
      [() => null, {}],
      [() => toolResult({ structuredContent: { a: 1 } }), undefined],
      [() => toolResult({ structuredContent: { a: 1 }, isError: true }), undefined],
    ] as const) {
      const { content, isError } = await resultOf(revision, handler, { ...(output && { output }), text: false });
      const count = isError || revision < '2025-06-18' ? 1 : 0;
      expect([String(handler), (content as unknown[]).length]).toEqual([String(handler), count]);
    }
  });

  eachRevision(
    ['TOOL-13', 'TOOL-14', 'TOOL-15', 'TOOL-16'],
    'may contain images, audio and links',
    async (revision) => {
      const annotations: Annotations = { audience: ['user'], priority: 0 };
      const uri = 'docs://a';
      const all = { name: 'm', description: '', mimeType: 'text/plain', size: 0, annotations };
      const [markdown, binary] = [
        { uri, mimeType: 'text/markdown' },
        { uri, mimeType: 'application/octet-stream' },
      ];
      const blocks: readonly (readonly [since: string, sent: unknown, received: object])[] = [
        ['2024-11-05', image(BYTES, 'image/png'), { type: 'image', mimeType: 'image/png', data: DATA }],
        [
          '2025-03-26',
          audio(BYTES, 'audio/wav', { annotations }),
          { type: 'audio', mimeType: 'audio/wav', data: DATA, annotations },
        ],
        ['2025-06-18', link(uri), { type: 'resource_link', uri, name: uri }],
        ['2025-06-18', link(uri, { ...all, title: 'T' }), { type: 'resource_link', uri, ...all, title: 'T' }],
        [
          '2024-11-05',
          embedded({ ...markdown, data: '# A', annotations }),
          { type: 'resource', resource: { ...markdown, text: '# A' }, annotations },
        ],
        ['2024-11-05', embedded({ uri, data: BYTES }), { type: 'resource', resource: { ...binary, blob: DATA } }],
        [
          '2024-11-05',
          embedded({ uri, data: '' }),
          { type: 'resource', resource: { uri, mimeType: 'text/plain', text: '' } },
        ],
        [
          '2024-11-05',
          embedded({ uri, data: new Uint8Array() }),
          { type: 'resource', resource: { ...binary, blob: '' } },
        ],
      ];
      const known = blocks.filter(([since]) => since <= revision);
      for (const [, sent, received] of known) {
        expect(await resultOf(revision, () => sent)).toEqual({ content: [received] });
      }
      const several = await resultOf(revision, async () => known.map(([, sent]) => sent));
      expect(several).toEqual({ content: known.map(([, , received]) => received) });
    },
  );

  eachRevision('TOOL-19', 'has structured content that fits its schema, or is an error', async (revision) => {
    // with a rule that is checked asynchronously
    const output = z.object({ degrees: z.number() }).refine(async ({ degrees }) => degrees < 5);
    for (const degrees of [4, 6]) {
      for (const value of [
        { degrees },
        Promise.resolve({ degrees }),
        toolResult({ structuredContent: { degrees } }),
        { content: [text('It is cold.')], structuredContent: { degrees } },
      ]) {
        const result = await resultOf(revision, () => value, { output });
        expect([degrees, result['structuredContent'], result['isError']]).toEqual(
          degrees < 5 ? [degrees, { degrees }, undefined] : [degrees, undefined, true],
        );
      }
    }
  });

  eachRevision('TOOL-32', 'that is an error needs no structured content, and none that fits', async (revision) => {
    const content = 'No weather today.';
    for (const structuredContent of [{}, { degrees: 'unknown' }, undefined]) {
      const partly = () => toolResult({ content, structuredContent, isError: true });
      const result = await resultOf(revision, partly, { output: DEGREES });
      expect(result).toMatchObject({ content: expect.arrayContaining([text(content)]), isError: true });
    }
    const failed = await resultOf(revision, () => toolResult({ content, isError: true }), { output: DEGREES });
    expect(failed).toEqual({ content: [text(content)], isError: true });
  });

  const everything = [
    text('a', { _meta: { a: 1 } }),
    image(BYTES, 'image/png'),
    audio(BYTES, 'audio/wav', { annotations: { lastModified: '2025-01-12T15:00:58Z' } }),
    link('docs://a', { icons: [{ src: 'https://example.com/a.png' }], _meta: { a: 1 } }),
    embedded({ uri: 'docs://a', data: 'a', _meta: { a: 1 } }),
  ];

  eachRevision('LIFE-29', 'has content that is encoded for the revision in every combination', async (revision) => {
    const some: Handler = (_context, { pick, ...more }) =>
      toolResult({ content: (pick as number[]).map((index) => everything[index]!), ...more });
    const client = await RawClient.connect(serverWith({ some }), { revision });
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
    await fc.assert(property, { numRuns: 20 });
  });
});
