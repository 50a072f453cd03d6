import { Readable } from 'node:stream';

import { describe, expect, it } from '@jest/globals';
import { type Context, McpError, McpServer, NoInput, Resource, text, ToolError, toolResult } from '@decorum/core';
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

class Point {
  #x = 1;
  get x() {
    return this.#x;
  }
}

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
    const controller = new AbortController();
    let chunks = 0;
    let closed: () => void = () => {};
    const stopped = new Promise<void>((resolve) => {
      closed = resolve;
    });
    const endless = new ReadableStream({
      pull(stream) {
        if (++chunks === 3) controller.abort();
        stream.enqueue(PNG);
      },
      cancel: () => closed(),
    });
    const server = new McpServer({ name: 'test', version: '1' });
    server.addTool({ name: 'endless' }, () => endless);
    const client = await connect(server);
    await expect(client.callTool('endless', {}, { signal: controller.signal })).rejects.toThrow('aborted');
    await stopped;
    expect(chunks).toBeLessThan(100);
  });

  it('of a Response that failed are not sent', async () => {
    expect(await failureOf(() => new Response('secret', { status: 404 }))).toMatch(/status 404/);
  });
});

describe('a sync generator', () => {
  it('reports what it yields, and returns its result', async () => {
    const { result, progress } = await call(function* () {
      yield 1;
      yield { progress: 2, total: 3, message: 'nearly' };
      return 'done';
    });
    expect(result.content).toEqual(said('done'));
    expect(progress).toEqual([
      [1, undefined, undefined],
      [2, 3, 'nearly'],
    ]);
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

  it('without end is stopped when it is cancelled', async () => {
    let steps = 0;
    let closed: () => void = () => {};
    const stopped = new Promise<void>((resolve) => {
      closed = resolve;
    });
    const controller = new AbortController();
    const server = new McpServer({ name: 'test', version: '1' });
    server.addTool({ name: 'endless' }, function* () {
      try {
        for (;;) {
          if (++steps === 3) controller.abort();
          yield steps;
        }
      } finally {
        closed();
      }
    });
    const client = await connect(server);
    await expect(client.callTool('endless', {}, { signal: controller.signal })).rejects.toThrow('aborted');
    await stopped;
    expect(steps).toBeLessThan(100);
  });
});

describe('a resource', () => {
  const values: Record<string, () => unknown> = {
    map: () => new Map([['a', 1]]),
    buffer: () => PNG.buffer,
    blob: () => new Blob(['grüße'], { type: 'text/markdown' }),
    response: () => Response.json({ a: 1 }),
    stream: () => Readable.from([Buffer.from('a'), Buffer.from('b')]),
    async *lines() {
      yield 'a\n';
      yield 'b\n';
    },
    url: () => new URL('https://example.com/'),
    data: () => ({ contents: ['a', 'b'] }),
    whole: () => ({ contents: [{ uri: 'r://other', text: 'a' }] }),
    nothing: () => undefined,
    none: () => null,
    error: () => new McpError(4711, 'Pay'),
    point: () => new Point(),
  };

  class Shelf {
    @Resource('r://{+name}', { input: { type: 'object', properties: { name: { type: 'string' } } } })
    read({ name }: { name: string }) {
      return values[name]?.();
    }

    @Resource('text://note', { mimeType: 'text/markdown' })
    note() {
      return Buffer.from('# Grüße');
    }

    @Resource('text://broken', { mimeType: 'text/markdown' })
    broken() {
      return Buffer.from([0xff]);
    }
  }

  const read = async (uri: string) => {
    const reported: Error[] = [];
    const logger = { warn: () => {}, error: () => {} };
    const onError = (error: unknown) => reported.push(error as Error);
    const client = await connect(new McpServer({ name: 'test', version: '1', providers: [Shelf], logger, onError }));
    const result = await client.readResource(uri).catch((error: unknown) => error as McpError);
    return 'contents' in result ? result.contents[0] : { code: result.code, reported: reported[0]?.message };
  };

  it.each([
    ['r://map', { mimeType: 'application/json', text: '{"a":1}' }],
    ['r://buffer', { mimeType: 'application/octet-stream', blob: 'iVBORw0KGgo=' }],
    ['r://blob', { mimeType: 'text/markdown', text: 'grüße' }],
    ['r://response', { mimeType: 'application/json', text: '{"a":1}' }],
    ['r://stream', { blob: 'YWI=' }],
    ['r://lines', { mimeType: 'text/plain', text: 'a\nb\n' }],
    ['r://url', { mimeType: 'text/plain', text: 'https://example.com/' }],
    ['r://data', { mimeType: 'application/json', text: '{"contents":["a","b"]}' }],
    ['r://whole', { uri: 'r://other', text: 'a' }],
    ['text://note', { mimeType: 'text/markdown', text: '# Grüße' }],
    ['text://broken', { mimeType: 'text/markdown', blob: '/w==' }],
  ])('sends what its handler returned: %s [RES-14]', async (uri, contents) => {
    expect(await read(uri)).toMatchObject(contents);
  });

  it('that returns null is not found, as with undefined', async () => {
    expect(await read('r://none')).toMatchObject({ code: -32002 });
    expect(await read('r://nothing')).toMatchObject({ code: -32002 });
  });

  it('that returns an error has thrown it', async () => {
    expect(await read('r://error')).toMatchObject({ code: 4711 });
  });

  it('that returns what cannot be sent says who did', async () => {
    expect(await read('r://point')).toMatchObject({
      code: -32603,
      reported: expect.stringMatching(/^Shelf\.read .*an instance of Point/),
    });
  });
});
