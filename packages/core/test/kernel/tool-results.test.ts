import { Readable } from 'node:stream';

import { describe, expect, it } from '@jest/globals';
import {
  audio,
  type Context,
  embedded,
  image,
  link,
  McpError,
  McpServer,
  NoInput,
  text,
  ToolError,
  toolResult,
} from '@decorum/core';
import { connect } from '@decorum/testing';

const PNG = Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const PNG_BLOCK = { type: 'image', mimeType: 'image/png', data: 'iVBORw0KGgo=' };
const said = (...texts: string[]) => texts.map((each) => ({ type: 'text', text: each }));

/** Calls a tool with this handler. Returns the warnings for its author too. */
async function call(handler: (ctx: Context) => unknown, output?: Record<string, unknown>) {
  const reported: Error[] = [];
  const server = new McpServer({
    name: 'test',
    version: '1',
    logger: { warn: () => {}, error: () => {} },
    onError: (error) => reported.push(error as Error),
  });
  const run = (_input: NoInput, ctx: Context) => handler(ctx);
  if (output) server.addTool({ name: 'tool', input: NoInput, output }, run);
  else server.addTool({ name: 'tool', input: NoInput }, run);
  const client = await connect(server);
  const progress: unknown[] = [];
  const result = await client.callTool('tool', {}, { onProgress: (...each) => progress.push(each) });
  return { result, progress, reported };
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
  const server = new McpServer({ name: 'test', version: '1' });
  server.addTool({ name: 'endless' }, make(step, closed));
  const client = await connect(server);
  await expect(client.callTool('endless', {}, { signal: controller.signal })).rejects.toThrow('aborted');
  await stopped;
  expect(steps).toBeLessThan(100);
}

class Sum {
  constructor(readonly sum: number) {}
}

class Point {
  #x = 1;
  get x() {
    return this.#x;
  }
}

describe('what a tool returns becomes content', () => {
  it.each<[string, () => unknown, unknown[]]>([
    ['text', () => 'text', said('text')],
    ['a promise of text', async () => 'later', said('later')],
    ['text between the blocks of a result', () => ({ content: [text('a'), 'b'] }), said('a', 'b')],
    ['a Response without a body', () => new Response(null, { status: 204 }), said('')],
    ['a number', () => 42, said('42')],
    ['a boolean', () => false, said('false')],
    ['a bigint', () => 10n, said('10')],
    ['an object', () => ({ a: 1 }), said('{"a":1}')],
    ['a list', () => [1, 2], said('[1,2]')],
    ['an instance', () => new Sum(3), said('{"sum":3}')],
    ['an object like a block', () => ({ type: 'text', words: 3 }), said('{"type":"text","words":3}')],
    ['null', () => null, said('null')],
    ['nothing', () => undefined, []],
    ['an image', () => PNG, [PNG_BLOCK]],
    ['a block', () => image(PNG, 'image/png'), [PNG_BLOCK]],
    [
      'other bytes',
      () => Buffer.from('abc'),
      [
        {
          type: 'resource',
          resource: { uri: 'cid:content@message', mimeType: 'application/octet-stream', blob: 'YWJj' },
        },
      ],
    ],
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
  ])('%s', async (_name, make, content) => {
    expect(await contentOf(make)).toEqual(content);
  });
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

describe('an error that is returned', () => {
  it('is treated as thrown', async () => {
    expect(await failureOf(() => new Error('secret'))).toBe('secret');
    expect(await failureOf(async () => new TypeError('secret'))).toBe('secret');
    expect((await call(() => new ToolError('Try another city'))).result).toEqual({
      content: said('Try another city'),
      isError: true,
    });
    await expect(call(() => new McpError(4711, 'Pay'))).rejects.toMatchObject({ code: 4711 });
  });

  it('is treated as thrown with an output schema too', async () => {
    const { result } = await call(() => new ToolError('No'), { type: 'object' });
    expect(result).toEqual({ content: said('No'), isError: true });
  });
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
    ['a symbol', () => Symbol('x'), /a symbol/],
    ['an object of functions', () => ({ next() {} }), /functions/],
    [
      'a cycle',
      () => {
        const a: { self?: unknown } = {};
        a.self = a;
        return a;
      },
      /circular/,
    ],
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

  it('are text where their type says so', async () => {
    expect(await contentOf(() => new Blob(['grüße'], { type: 'text/plain' }))).toEqual(said('grüße'));
    expect(await contentOf(() => Response.json({ a: 1 }))).toEqual(said('{"a":1}'));
    expect(await contentOf(() => Readable.from(['a', 'b']))).toEqual(said('ab'));
  });

  it('stay a resource where their type is neither', async () => {
    const zip = new Blob(['abc'], { type: 'application/zip' });
    expect(await contentOf(() => zip)).toMatchObject([{ resource: { mimeType: 'application/zip', blob: 'YWJj' } }]);
  });

  it('stand beside text in a list', async () => {
    expect(await contentOf(() => ['The chart:', PNG])).toEqual([...said('The chart:'), PNG_BLOCK]);
    expect(await contentOf(() => ['The chart:', text('b')])).toEqual(said('The chart:', 'b'));
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

  it('of a Response that failed are not sent', async () => {
    expect(await failureOf(() => new Response('secret', { status: 404 }))).toMatch(/status 404/);
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

  it('that returns nothing has said what it yielded', async () => {
    expect(
      await contentOf(function* () {
        yield 'one';
        yield PNG;
      }),
    ).toEqual([...said('one'), PNG_BLOCK]);
  });

  it('may end in anything that a tool may return', async () => {
    expect(
      await contentOf(function* () {
        yield 1;
        return new Blob(['later'], { type: 'text/plain' });
      }),
    ).toEqual(said('later'));
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
    expect(
      await failureOf(async function* () {
        yield* rows();
      }),
    ).toMatch(/neither progress nor content/);
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

describe('an error with members of its own', () => {
  const failed = Object.assign(new Error('open /etc/secret'), { code: 'ENOENT', path: '/etc/secret' });

  it.each<[string, () => unknown]>([
    ['in a list', () => [failed]],
    ['in an object', () => ({ done: ['a'], error: failed })],
    ['beside text', () => [text('done'), failed]],
    ['as the reason of a promise', () => Promise.allSettled([Promise.reject(failed)])],
  ])('is not sent as these members alone: %s', async (_name, returned) => {
    expect(await failureOf(returned)).toMatch(/^addTool\.tool .*must not contain an error \(Error\).*Throw it/);
  });

  it('may define its own JSON', async () => {
    const error = Object.assign(new Error('x'), { code: 1, toJSON: () => 'no such id' });
    expect(await contentOf(() => ({ error }))).toEqual(said('{"error":"no such id"}'));
  });
});

describe('a block that lacks something', () => {
  const bytes = Buffer.from('x');
  const mimeType = 'image/png';

  it.each<[string, () => unknown, RegExp]>([
    [
      'with bytes',
      () => ({ type: 'image', data: bytes, mimeType }),
      /"image" without `data` as base64.*image\(bytes, /,
    ],
    ['in a result', () => ({ content: [{ type: 'audio', data: bytes, mimeType }] }), /"audio" without `data`/],
    ['among others', () => [text('a'), { type: 'image', data: 'AAAA' }], /"image" without .*`mimeType`/],
    ['in a result with others', () => ({ content: [text('a'), { type: 'text' }] }), /"text" without `text`/],
    [
      'in a toolResult',
      () => toolResult({ content: [{ type: 'resource_link' }] as never }),
      /without `uri` and `name`/,
    ],
    [
      'with a resource of bytes',
      () => ({ content: [{ type: 'resource', resource: { uri: 'x://a', blob: bytes } }] }),
      /"resource" without .*base64 `blob`.*embedded/,
    ],
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
