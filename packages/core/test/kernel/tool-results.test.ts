import { Readable } from 'node:stream';

import {
  audio,
  type Context,
  embedded,
  image,
  type JsonObject,
  link,
  McpError,
  type McpServerOptions,
  NoInput,
  type SchemaSource,
  text,
  ToolError,
  toolResult,
} from '@decorum/core';
import { connect, type ConnectOptions } from '@decorum/testing';
import { describe, expect, it } from '@jest/globals';
import { Type } from 'class-transformer';
import { IsDate, IsNumber, IsOptional, IsString, ValidateNested } from 'class-validator';
import { z } from 'zod';

import { reporting, said, serveTool } from './serving.js';

const PNG = Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const PNG_BLOCK = { type: 'image', mimeType: 'image/png', data: 'iVBORw0KGgo=' };

/** Calls a tool with this handler. */
async function call(handler: (ctx: Context) => unknown, output?: Record<string, unknown>) {
  const { server, errors } = reporting();
  const run = (_input: NoInput, ctx: Context) => handler(ctx);
  if (output) server.addTool({ name: 'tool', input: NoInput, output }, run);
  else server.addTool({ name: 'tool', input: NoInput }, run);
  const progress: unknown[] = [];
  const onProgress = (...each: unknown[]) => progress.push(each);
  return { result: await (await connect(server)).callTool('tool', {}, { onProgress }), progress, reported: errors };
}

const contentOf = async (handler: (ctx: Context) => unknown) => (await call(handler)).result.content;
const failureOf = async (handler: (ctx: Context) => unknown) => {
  const { result, reported } = await call(handler);
  expect(result).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('Internal error') }] });
  return reported[0]?.message;
};

/** Cancels a call when its third step begins, and expects that nothing continues after it. */
async function expectToStop(make: (step: () => number, closed: () => void) => () => unknown): Promise<void> {
  const controller = new AbortController();
  let steps = 0;
  let closed = () => {};
  const stopped = new Promise<void>((resolve) => (closed = resolve));
  const step = () => {
    if (++steps === 3) controller.abort();
    return steps;
  };
  const { client } = await serveTool(make(step, closed));
  await expect(client.callTool('tool', {}, { signal: controller.signal })).rejects.toThrow('aborted');
  await stopped;
  expect(steps).toBeLessThan(100);
}

class Point {
  #x = 1;
  get x() {
    return this.#x;
  }
}

const OTHER_BYTES = { uri: 'cid:content@message', mimeType: 'application/octet-stream', blob: 'YWJj' };
const CYCLE: { self?: unknown } = {};
CYCLE.self = CYCLE;

it.each<[string, () => unknown, unknown[]]>([
  ['text', () => 'text', said('text')],
  ['a promise of text', async () => 'later', said('later')],
  ['text between the blocks of a result', () => ({ content: [text('a'), 'b'] }), said('a', 'b')],
  ['bytes beside text', () => ['The chart:', PNG], [...said('The chart:'), PNG_BLOCK]],
  ['blocks beside text', () => ['The chart:', text('b')], said('The chart:', 'b')],
  ['a Response without a body', () => new Response(null, { status: 204 }), said('')],
  ['a number', () => 42, said('42')],
  ['a boolean', () => false, said('false')],
  ['a bigint', () => 10n, said('10')],
  ['an object', () => ({ a: 1 }), said('{"a":1}')],
  ['a list', () => [1, 2], said('[1,2]')],
  ['an instance', () => Object.assign(new (class Sum {})(), { sum: 3 }), said('{"sum":3}')],
  ['an object like a block', () => ({ type: 'text', words: 3 }), said('{"type":"text","words":3}')],
  ['null', () => null, said('null')],
  ['nothing', () => undefined, []],
  ['an image', () => PNG, [PNG_BLOCK]],
  ['a block', () => image(PNG, 'image/png'), [PNG_BLOCK]],
  ['other bytes', () => Buffer.from('abc'), [{ type: 'resource', resource: OTHER_BYTES }]],
  [
    'blocks',
    () => [text('a'), audio('AAAA', 'audio/wav'), link('x://a'), embedded({ uri: 'x://b', data: 'b' })],
    [
      { type: 'text', text: 'a' },
      { type: 'audio', data: 'AAAA', mimeType: 'audio/wav' },
      { type: 'resource_link', uri: 'x://a', name: 'x://a' },
      { type: 'resource', resource: { uri: 'x://b', mimeType: 'text/plain', text: 'b' } },
    ],
  ],
  // oxlint-disable-next-line unicorn/no-thenable -- query builders look like this
  ['a thenable', () => ({ sql: 'secret', then: (resolve: (rows: string) => void) => resolve('rows') }), said('rows')],
  [
    'any async iterable',
    () => ({
      async *[Symbol.asyncIterator]() {
        yield 'one';
        yield 'two';
      },
    }),
    said('one', 'two'),
  ],
])('what a tool returns becomes content %s', async (_name, make, content) => {
  expect(await contentOf(make)).toEqual(content);
});

describe('a result as users of the official SDK write it', () => {
  it.each([
    { content: [{ type: 'text', text: 'hello' }] },
    { content: [{ type: 'text', text: 'no such city' }], isError: true },
    { content: [{ type: 'text', text: '1' }], structuredContent: { sum: 1 } },
    { content: [{ type: 'image', data: 'AAAA', mimeType: 'image/png' }], _meta: { 'example.com/a': 1 } },
    { content: [] },
  ])('is sent as it is: %j', async (result) => {
    expect((await call(() => result)).result).toEqual(result);
  });

  it.each([
    { type: 'doc', content: [{ type: 'text', text: 'a paragraph' }] },
    { content: ['a', 'b'] },
    { content: [{ type: 'text', words: 3 }] },
    { content: [{ type: 'image', data: 'AAAA' }] },
    { content: [{ type: 'resource', resource: { uri: 'x://a' } }] },
    { content: 'text' },
    { content: [{ type: 'text', text: 'a' }], isError: 'no' },
  ])('is not what only has a list called content: %j', async (data) => {
    expect(await contentOf(() => data)).toEqual(said(JSON.stringify(data)));
  });

  it('is checked against the output schema where the tool has one', async () => {
    const output = { type: 'object', properties: { sum: { type: 'number' } }, required: ['sum'] };
    const good = { content: [text('one')], structuredContent: { sum: 1 } };
    expect((await call(() => good, output)).result).toEqual(good);
    const failed = { content: [text('no sum today')], isError: true };
    expect((await call(() => failed, output)).result).toEqual(failed);
    const bad = await call(() => ({ content: [text('one')], structuredContent: { sum: 'one' } }), output);
    expect(bad.reported[0]?.message).toMatch(/addTool\.tool.*output schema.*sum/);
    const data = await call(() => ({ content: [text('one')] }), output);
    expect(data.reported[0]?.message).toMatch(/sum/);
  });

  it('is data where the output schema describes an object with content', async () => {
    const output = { type: 'object', properties: { content: { type: 'array' } }, required: ['content'] };
    const data = { content: [{ type: 'text', text: 'a' }] };
    expect((await call(() => data, output)).result.structuredContent).toEqual(data);
  });
});

it('an error that is returned is treated as thrown, with an output schema too', async () => {
  expect(await failureOf(() => new Error('secret'))).toBe('secret');
  expect(await failureOf(async () => new TypeError('secret'))).toBe('secret');
  const shown = { content: said('Another'), isError: true };
  expect((await call(() => new ToolError('Another'))).result).toEqual(shown);
  await expect(call(() => new McpError(4711, 'Pay'))).rejects.toMatchObject({ code: 4711 });
  const { result } = await call(() => new ToolError('No'), { type: 'object' });
  expect(result).toEqual({ content: said('No'), isError: true });
});

describe('what JSON.stringify would lose', () => {
  it.each<[string, () => unknown, string]>([
    ['a Map', () => new Map([['a', 1]]), '{"a":1}'],
    ['an empty Map', () => new Map(), '{}'],
    ['a Map with other keys', () => new Map([[1, 'a']]), '[[1,"a"]]'],
    ['a Set', () => new Set([1, 2]), '[1,2]'],
    ['an iterator', () => new Map([[1, 'a']]).keys(), '[1]'],
    [
      'a Map in a list',
      () => [{ tags: new Set(['a']), by: new Map([['x', new Date(0)]]) }],
      '[{"tags":["a"],"by":{"x":"1970-01-01T00:00:00.000Z"}}]',
    ],
    ['bytes in an object', () => ({ hash: Buffer.from('abc') }), '{"hash":"YWJj"}'],
    ['a vector', () => ({ vector: Float32Array.of(1, 2) }), '{"vector":[1,2]}'],
    ['a vector alone', () => Float32Array.of(1, 2), '[1,2]'],
    ['a bigint inside', () => ({ id: 2n ** 64n }), '{"id":"18446744073709551616"}'],
    ['a URL', () => new URL('https://example.com/a'), 'https://example.com/a'],
    ['a Date', () => new Date(0), '1970-01-01T00:00:00.000Z'],
    ['an empty object', () => ({ a: {} }), '{"a":{}}'],
  ])('is sent: %s', async (_name, make, json) => {
    expect(await contentOf(make)).toEqual(said(json));
  });

  it.each<[string, () => unknown, RegExp]>([
    [
      'private state',
      () => new Point(),
      /^addTool\.tool returned a value that cannot be sent.* an instance of Point\. .*toJSON/,
    ],
    ['private state inside', () => ({ at: [new Point()] }), /an instance of Point \(in "at"\)/],
    ['a promise inside', () => ({ user: Promise.resolve(1) }), /a promise \(in "user"\)\. Await it/],
    [
      'a promise with members inside',
      () => ({ query: Object.assign(Promise.resolve(1), { sql: 'SELECT 1' }) }),
      /must not contain a promise \(in "query"\)\. Await it/,
    ],
    ['an error inside', () => [{ reason: new Error('x') }], /an error \(Error\) \(in "reason"\)/],
    ['a stream inside', () => ({ body: new ReadableStream() }), /an instance of ReadableStream \(in "body"\)/],
    ['a Blob inside', () => ({ file: new Blob(['x']) }), /an instance of Blob \(in "file"\)/],
    ['a regular expression', () => /x/, /an instance of RegExp/],
    ['a WeakMap', () => new WeakMap(), /an instance of WeakMap/],
    ['a function', () => () => 1, /a function/],
    ['a Response that failed', () => new Response('secret', { status: 404 }), /status 404/],
    ['a symbol', () => Symbol('x'), /a symbol/],
    ['an object of functions', () => ({ next() {} }), /functions/],
    ['a cycle', () => CYCLE, /circular/],
    ['structured content', () => toolResult({ structuredContent: { at: new Point() } }), /an instance of Point/],
  ])('is an error that says what and where: %s', async (_name, make, message) => {
    expect(await failureOf(make)).toMatch(message);
  });

  it('is converted before it is checked against an output schema', async () => {
    const output = { type: 'object', additionalProperties: { type: 'array', items: { type: 'number' } } };
    const { result } = await call(() => new Map([['a', new Set([1])]]), output);
    expect(result.structuredContent).toEqual({ a: [1] });
  });
});

describe('bytes', () => {
  it.each<[string, () => unknown]>([
    ['an ArrayBuffer', () => PNG.buffer],
    ['a DataView', () => new DataView(PNG.buffer)],
    ['a Blob with a type', () => new Blob([PNG], { type: 'image/png' })],
    ['a Blob without a type', () => new Blob([PNG])],
    ['a Response', () => new Response(PNG, { headers: { 'content-type': 'image/png' } })],
    ['a ReadableStream', () => new Blob([PNG]).stream()],
    ['a stream of Node', () => Readable.from([Buffer.from(PNG.subarray(0, 3)), Buffer.from(PNG.subarray(3))])],
  ])('are an image, from %s', async (_name, make) => {
    expect(await contentOf(make)).toEqual([PNG_BLOCK]);
  });

  it('are text where their type says so, and stay a resource where it is neither', async () => {
    expect(await contentOf(() => new Blob(['grüße'], { type: 'text/plain' }))).toEqual(said('grüße'));
    expect(await contentOf(() => Response.json({ a: 1 }))).toEqual(said('{"a":1}'));
    expect(await contentOf(() => Readable.from(['a', 'b']))).toEqual(said('ab'));
    const zip = new Blob(['abc'], { type: 'application/zip' });
    expect(await contentOf(() => zip)).toMatchObject([{ resource: { mimeType: 'application/zip', blob: 'YWJj' } }]);
  });

  it('that are JSON are parsed where the tool has an output schema', async () => {
    const output = { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] };
    expect((await call(() => Response.json({ a: 1 }), output)).result.structuredContent).toEqual({ a: 1 });
    const { reported } = await call(() => Response.json({ a: 'one' }), output);
    expect(reported[0]?.message).toMatch(/output schema.*a /);
  });

  it('of a stream without end are not read on when the call is cancelled', async () => {
    await expectToStop((step, closed) => {
      const pull = (stream: ReadableStreamDefaultController) => {
        step();
        stream.enqueue(PNG);
      };
      const endless = new ReadableStream({ pull, cancel: closed });
      return () => endless;
    });
  });
});

describe('a generator', () => {
  it('reports what it yields, and returns its result', async () => {
    const steps = function* () {
      yield 1;
      yield { progress: 2, total: 3, message: 'nearly' };
      yield 'done soon';
      return 'done';
    };
    const later = async function* () {
      return yield* steps();
    };
    for (const generator of [steps, later]) {
      const { result, progress } = await call(generator);
      expect(result.content).toEqual(said('done'));
      expect(progress).toEqual([
        [1, undefined, undefined],
        [2, 3, 'nearly'],
        [3, undefined, 'done soon'],
      ]);
    }
  });

  it('that returns nothing has said what it yielded, and may else end in anything that a tool may return', async () => {
    const blocks = function* () {
      yield 'one';
      yield PNG;
    };
    expect(await contentOf(blocks)).toEqual([...said('one'), PNG_BLOCK]);
    const blob = function* () {
      yield 1;
      return new Blob(['later'], { type: 'text/plain' });
    };
    expect(await contentOf(blob)).toEqual(said('later'));
  });

  it('that yields what is neither progress nor content is an error, and is closed', async () => {
    let closed = 0;
    const rows = function* () {
      try {
        yield { id: 1 };
      } finally {
        closed += 1;
      }
    };
    expect(await failureOf(rows)).toMatch(/neither progress nor content/);
    const later = async function* () {
      yield* rows();
    };
    expect(await failureOf(later)).toMatch(/neither progress nor content/);
    expect(closed).toBe(2);
  });

  it('without end is stopped when it is cancelled, if it is asynchronous too', async () => {
    await expectToStop(
      (step, closed) =>
        function* () {
          try {
            for (;;) yield step();
          } finally {
            closed();
          }
        },
    );
    await expectToStop(
      (step, closed) =>
        async function* () {
          try {
            for (;;) yield await Promise.resolve(step());
          } finally {
            closed();
          }
        },
    );
  });
});

it('an error with members of its own is not sent as these members alone, but may define its own JSON', async () => {
  const failed = Object.assign(new Error('open /etc/secret'), { code: 'ENOENT', path: '/etc/secret' });
  const settled = () => Promise.allSettled([Promise.reject(failed)]);
  for (const made of [() => [failed], () => ({ done: ['a'], failed }), () => [text('done'), failed], settled]) {
    expect(await failureOf(made)).toMatch(/^addTool\.tool .*must not contain an error \(Error\).*Throw it/);
  }
  const error = Object.assign(new Error('x'), { code: 1, toJSON: () => 'no such id' });
  expect(await contentOf(() => ({ error }))).toEqual(said('{"error":"no such id"}'));
});

describe('a block that lacks something', () => {
  const bytes = Buffer.from('x');
  const mimeType = 'image/png';

  const half = (...content: object[]) => ({ content });
  const bare = { type: 'image', data: bytes, mimeType };
  const blob = { type: 'resource', resource: { uri: 'x://a', blob: bytes } };
  const linked = () => toolResult({ content: [{ type: 'resource_link' }] as never });

  it.each<[string, () => unknown, RegExp]>([
    ['with bytes', () => bare, /"image" without `data` as base64.*image\(bytes, /],
    ['in a result', () => half({ ...bare, type: 'audio' }), /"audio" without `data`/],
    ['among others', () => [text('a'), { type: 'image', data: 'AAAA' }], /"image" without .*`mimeType`/],
    ['in a result with others', () => half(text('a'), { type: 'text' }), /"text" without `text`/],
    ['in a toolResult', linked, /without `uri` and `name`/],
    ['with a resource of bytes', () => half(blob), /"resource" without .*base64 `blob`.*embedded/],
  ])('is an error that says what to write: %s', async (_name, returned, message) => {
    expect(await failureOf(returned)).toMatch(message);
  });

  it.each([
    ['a path', () => image('./logo.png', mimeType)],
    ['a data URL', () => image('data:image/png;base64,AAAA', mimeType)],
    ['text', () => audio('la la la, la', 'audio/wav')],
  ])('is not made of what is not base64: %s', async (_name, make) => {
    expect(await failureOf(make)).toMatch(/^".*…" is not base64\. Pass bytes/);
  });
});

class Sum {
  @IsNumber() sum!: number;
}

const good = () => ({ sum: 3 });
const JSON_TEXT = '{"sum":3}';

function adders(options: Partial<McpServerOptions> = {}) {
  const made = reporting(options);
  const add = (name: string, more: object, handler: () => unknown = good) =>
    made.server.addTool({ name, input: NoInput, output: Sum, ...more }, handler as never);
  add('byDefault', {});
  add('silent', { text: false });
  add('json', { text: true });
  add('fixed', { text: 'Added.' });
  add('said', { text: ({ sum }: Sum) => `The sum is ${sum}.` });
  add('explicit', { text: false }, () => toolResult({ structuredContent: good(), content: 'mine' }));
  add('structured', { text: 'Added.' }, () => toolResult({ structuredContent: good() }));
  const overflow = () => toolResult({ structuredContent: { why: 'overflow' }, isError: true });
  add('failed', { text: ({ sum }: Sum) => sum.toFixed() }, overflow);
  add('wrong', { text: () => Promise.resolve('later') });
  made.server.addTool({ name: 'plain' }, () => 'text');
  return made;
}

const serve = async (options: Partial<McpServerOptions> = {}, client: ConnectOptions = {}) =>
  await connect(adders(options).server, client);

describe('the text beside structured content', () => {
  it.each([
    ['byDefault', [JSON_TEXT]],
    ['json', [JSON_TEXT]],
    ['silent', []],
    ['fixed', ['Added.']],
    ['said', ['The sum is 3.']],
    ['explicit', ['mine']],
    ['structured', ['Added.']],
  ])('comes from the tool: %s', async (name, words) => {
    expect(await (await serve()).callTool(name)).toEqual({ content: said(...words), structuredContent: good() });
  });

  it.each<[NonNullable<McpServerOptions['text']>, string[]]>([
    [false, []],
    ['See the data.', ['See the data.']],
    [(value) => `${Object.keys(value as object).join()}!`, ['sum!']],
  ])('comes from the server if the tool sets none: %s', async (option, words) => {
    const client = await serve({ text: option });
    expect((await client.callTool('byDefault')).content).toEqual(said(...words));
    expect((await client.callTool('json')).content).toEqual(said(JSON_TEXT));
    expect((await client.callTool('fixed')).content).toEqual(said('Added.'));
    expect((await client.callTool('plain')).content).toEqual(said('text'));
  });

  it.each(['2024-11-05', '2025-03-26'])(
    'is always the JSON for clients without structured content: %s',
    async (version) => {
      const client = await serve({ text: false }, { revision: version });
      expect(await client.callTool('byDefault')).toEqual({ content: said(JSON_TEXT) });
      expect(await client.callTool('silent')).toEqual({ content: said(JSON_TEXT) });
      expect(await client.callTool('fixed')).toEqual({ content: said('Added.', JSON_TEXT) });
    },
  );

  it('is omitted for stateless clients too', async () => {
    const client = await serve({}, { era: 'stateless' });
    expect(await client.callTool('silent')).toMatchObject({ content: [], structuredContent: good() });
  });

  it('is the JSON of the structured content of an error, which has no schema', async () => {
    for (const client of [await serve(), await serve({ text: false })]) {
      expect(await client.callTool('failed')).toMatchObject({ isError: true, content: said('{"why":"overflow"}') });
    }
  });

  it('must be text: anything else is an error of the author', async () => {
    const { server, errors } = adders();
    expect(await (await connect(server)).callTool('wrong')).toMatchObject({ isError: true });
    expect(errors[0]?.message).toBe('addTool.wrong: its `text` function returned a promise. Return a string.');
  });
});

class Address {
  @IsString() city!: string;
}

class Person {
  @IsString() name!: string;
  @IsDate() @Type(() => Date) born!: Date;
  @ValidateNested() @Type(() => Address) home!: Address;
  @ValidateNested({ each: true }) @Type(() => Person) @IsOptional() children?: Person[];
}

const born = '1815-12-10T00:00:00.000Z';
const ROW = {
  id: 7,
  name: 'Ada',
  born: new Date(born),
  home: { city: 'London', geo: 'secret' },
  children: [{ name: 'Byron', born: new Date(born), home: { city: 'Paris', geo: 'secret' }, password: 'secret' }],
  password: 'secret',
};
const KEPT = {
  name: 'Ada',
  born,
  home: { city: 'London' },
  children: [{ name: 'Byron', born, home: { city: 'Paris' } }],
};

/** What a tool with this output sends for a value, and what its author reads. */
async function send(output: SchemaSource, value: unknown, extraOutput?: 'drop' | 'reject') {
  const { server, errors } = reporting();
  server.addTool({ name: 'find', input: NoInput, output, ...(extraOutput && { extraOutput }) }, () => value as never);
  const { structuredContent, isError } = await (await connect(server)).callTool('find');
  return { structuredContent, isError, reported: errors.map(({ message }) => message) };
}

const closed = (properties: object) => ({ type: 'object', properties, additionalProperties: false });

describe("a tool with `extraOutput: 'drop'`", () => {
  it('leaves out the fields that its DTO does not have, at every level (#23)', async () => {
    const row = structuredClone(ROW);
    expect(await send(Person, row, 'drop')).toEqual({ structuredContent: KEPT, isError: undefined, reported: [] });
    // the handler may still use it
    expect(row).toEqual(ROW);
    const instance = Object.assign(new Person(), ROW);
    expect((await send(Person, instance, 'drop')).structuredContent).toEqual(KEPT);
    expect((await send(Person, toolResult({ structuredContent: ROW }), 'drop')).structuredContent).toEqual(KEPT);
  });

  it('leaves them out for strict Standard Schemas, too (#23)', async () => {
    const strict = z.strictObject({ name: z.string(), tags: z.array(z.strictObject({ id: z.int() })) });
    const row = { id: 1, name: 'Ada', tags: [{ id: 1, by: 'me' }] };
    expect(await send(strict, row, 'drop')).toMatchObject({ structuredContent: { name: 'Ada', tags: [{ id: 1 }] } });
    expect(await send(strict, row)).toMatchObject({ isError: true });
  });

  const any = { type: 'object', properties: { open: { type: 'object' }, any: {} } };
  const everything = { open: { a: 1 }, any: { b: [{ c: 1 }] }, d: 1 };
  const tuple = closed({ list: { type: 'array', prefixItems: [closed({ a: {} })], items: closed({ b: {} }) } });
  const pattern = { type: 'object', patternProperties: { '^x-': {} }, properties: { a: {} } };
  const records = { type: 'object', additionalProperties: closed({ a: {} }) };
  const either = { type: 'object', anyOf: [closed({ a: {} }), closed({ b: {} }), { type: 'null' }] };
  const both = { a: 1, b: 1 };
  it.each<[string, object, object, object]>([
    ['follows references', closed({ next: { $ref: '#' } }), { next: { next: {}, b: 1 } }, { next: { next: {} } }],
    ['keeps what an alternative has', either, { b: 1, c: 2 }, { b: 1 }],
    ['keeps what the schema leaves open', any, everything, everything],
    ['goes into records', records, { x: both, constructor: { b: 1 } }, { x: { a: 1 }, constructor: {} }],
    ['goes into tuples', tuple, { list: [both, both] }, { list: [{ a: 1 }, { b: 1 }] }],
    ['keeps fields that match a pattern', pattern, { a: 1, 'x-b': 1 }, { a: 1, 'x-b': 1 }],
  ])('%s (#23)', async (_, output, value, sent) => {
    expect(await send(output as JsonObject, value, 'drop')).toEqual({
      structuredContent: sent,
      isError: undefined,
      reported: [],
    });
  });

  it('still rejects values that do not fit (#23)', async () => {
    const { isError, reported } = await send(Person, { ...ROW, name: 7 }, 'drop');
    expect([isError, reported[0]]).toEqual([true, expect.stringContaining('name must be a string')]);
  });
});

it('a tool without `extraOutput` tells its author the paths of extra fields, and the option that drops them (#23)', async () => {
  const problem = expect.stringMatching(/home\.geo is not a known field.*set `extraOutput: 'drop'`/);
  for (const extraOutput of [undefined, 'reject'] as const) {
    expect(await send(Person, ROW, extraOutput)).toMatchObject({ isError: true, reported: [problem] });
  }
});
