// NaN and infinities, which JSON would turn into null.
import { Readable } from 'node:stream';

import {
  assistant,
  Completion,
  Context,
  embedded,
  type JsonObject,
  McpError,
  NoInput,
  Prompt,
  Resource,
  type ResourceListing,
  text,
  Tool,
  toolResult,
  user,
} from '@decorum/core';
import type { RequestOutcome } from '@decorum/core/plugin';
import { connect, type ConnectOptions, type TestClient } from '@decorum/testing';
import { describe, expect, it } from '@jest/globals';
import { IsString } from 'class-validator';

import { reporting, textOf } from './serving.js';

const NAME = { type: 'object', properties: { name: { type: 'string' } } } as const;
const ID = { type: 'object', properties: { id: { type: 'string' } } } as const;
const PNG = Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/** Connects to a server with these providers. */
async function serve(...providers: object[]) {
  const { server, warnings, errors } = reporting({ providers });
  return { client: await connect(server), warned: warnings, reported: errors };
}

describe('a method that enumerates a template', () => {
  const listing = async (entries: () => unknown) => {
    class Shelf {
      @Resource('shelf://{id}', { list: 'all', mimeType: 'text/markdown', input: ID }) read() {}
      all() {
        return entries();
      }
    }
    class Other {
      @Resource('other://{id}', { list: 'all', input: ID }) read() {}
      all(): ResourceListing[] {
        return [{ uri: 'other://1' }];
      }
    }
    const { client, ...told } = await serve(new Shelf(), new Other());
    return { listed: await client.listResources().catch((error: unknown) => error as McpError), ...told };
  };
  const OTHER = { uri: 'other://1', name: 'other://1' };
  const shared = { mimeType: 'text/markdown' };

  it('may return variables, whole entries and URIs', async () => {
    const { listed, warned } = await listing(() => [
      { variables: { id: '1' }, title: 'One' },
      { uri: 'shelf://2', name: 'two', mimeType: 'text/plain' },
      'shelf://3',
      new URL('shelf://4'),
      { uri: new URL('shelf://5'), name: 'five' },
    ]);
    expect(listed).toEqual([
      { uri: 'shelf://1', name: 'shelf://1', title: 'One', ...shared },
      { uri: 'shelf://2', name: 'two', mimeType: 'text/plain' },
      { uri: 'shelf://3', name: 'shelf://3', ...shared },
      { uri: 'shelf://4', name: 'shelf://4', ...shared },
      { uri: 'shelf://5', name: 'five', ...shared },
      OTHER,
    ]);
    expect(warned).toEqual([]);
  });

  it('may yield them, and return them as a set', async () => {
    const one = [{ uri: 'shelf://1', name: 'shelf://1', ...shared }, OTHER];
    const generator = function* () {
      yield 'shelf://1';
    };
    for (const made of [generator, () => new Set(['shelf://1'])]) expect((await listing(made)).listed).toEqual(one);
  });

  const one = (more: object) => ({ uri: 'shelf://1', ...more });
  const NEITHER = /Shelf\.all .*neither `uri` nor `variables`/;

  it.each<[string, unknown, RegExp]>([
    ['nothing', undefined, NEITHER],
    ['null', null, NEITHER],
    ['a number', 1, NEITHER],
    ['an id in place of a URI', 'one', /Shelf\.all .*"?one"? does not match the template/],
    ['a URI of another scheme', { uri: 'x://1' }, /Shelf\.all .*x:\/\/1 does not match/],
    ['variables that the template does not have', { variables: { isbn: '1' } }, /Shelf\.all .*does not match/],
    ['a URI that is no text', { uri: 1 }, /Shelf\.all .*does not match/],
    ['a title that is no text', one({ title: 1 }), /Shelf\.all .*`title` of shelf:\/\/1 is not a string/],
    ['a size that is no number', one({ size: '5 kB' }), /the `size` of shelf:\/\/1 must be a non-negative int/],
    ['a priority out of range', one({ annotations: { priority: 5 } }), /`annotations\.priority` of .* from 0 to 1/],
    [
      'an audience that is no list',
      one({ annotations: { audience: 'user' } }),
      /`annotations\.audience` of .* an array/,
    ],
  ])('gets a warning about an invalid entry, and the others are listed: %s', async (_name, entry, message) => {
    const { listed, warned } = await listing(() => ['shelf://0', entry, 'shelf://9']);
    expect(listed).toMatchObject(['shelf://0', 'shelf://9', 'other://1'].map((uri) => ({ uri })));
    expect(warned).toEqual([expect.stringMatching(message)]);
  });

  it('that returns no list is an error with its name', async () => {
    for (const none of [undefined, null, 1]) {
      const { listed, reported } = await listing(() => none);
      expect(listed).toMatchObject({ code: -32603 });
      expect(reported[0]?.message).toMatch(/^Shelf\.all returned (?:undefined|null|number)\. Return an array/);
    }
  });
});

describe('a prompt', () => {
  const prompting = async (value: () => unknown) => {
    class Prompts {
      @Prompt({ description: 'A prompt' }) ask() {
        return value();
      }
    }
    const { client, reported } = await serve(new Prompts());
    const result = await client.getPrompt('ask').catch((error: unknown) => error as McpError);
    return 'messages' in result ? result : { code: result.code, reported: reported[0]?.message };
  };
  const says = (role: string, words: string) => ({ role, content: { type: 'text', text: words } });

  const image = { type: 'image', mimeType: 'image/png', data: 'iVBORw0KGgo=' };
  const both = [says('user', 'a'), says('assistant', 'b')];

  it.each<[string, () => unknown, unknown[]]>([
    ['a message whose content is text', () => ({ role: 'assistant', content: 'b' }), both.slice(1)],
    [
      'a message with several contents',
      () => ({ role: 'user', content: ['a', text('b')] }),
      [both[0], says('user', 'b')],
    ],
    ['messages of a result', () => ({ messages: [{ role: 'user', content: 'a' }, assistant('b')] }), both],
    ['texts of a result', () => ({ messages: new Set(['a']) }), both.slice(0, 1)],
    ['a stream', () => Readable.from(['a', 'b']), [says('user', 'ab')]],
    ['a body', () => new Response('a'), both.slice(0, 1)],
    [
      'a generator',
      function* () {
        yield 'a';
        yield assistant('b');
      },
      both,
    ],
    ['a set', () => new Set(['a', 'b']), [both[0], says('user', 'b')]],
    ['bytes', () => ['a', PNG], [both[0], { role: 'user', content: image }]],
  ])('encodes the returned value: %s', async (_name, value, messages) => {
    expect(await prompting(value)).toEqual({ description: 'A prompt', messages });
  });

  it('keeps the description and _meta of a whole result', async () => {
    const whole = { description: 'Another', messages: [user('a')], _meta: { 'example.com/a': 1 } };
    expect(await prompting(() => whole)).toEqual(whole);
  });

  const half = (role: string | undefined, content: unknown) => () => ({ role, content });
  it.each<[string, () => unknown, RegExp]>([
    ['another role', half('system', 'a'), /Prompts\.ask .*role "system"\. Use "user" or "assistant"/],
    ['a role within a result', () => ({ messages: [half('tool', text('a'))()] }), /role "tool"/],
    ['no role', half(undefined, 'a'), /role undefined/],
    ['no content', half('user', undefined), /Prompts\.ask returned undefined where text/],
    ['half a block', half('user', { type: 'image', data: 'AAAA' }), /an object with type, data/],
    ['half a block in a result', () => ({ messages: [half('user', { type: 'text' })()] }), /an object with type/],
    ['a number', () => 5, /returned number where/],
    ['nothing', () => undefined, /returned undefined where/],
    ['null', () => null, /returned null where/],
    ['an object', () => ({ text: 'a' }), /an object with text/],
    ['an instance', () => new WeakMap(), /a WeakMap/],
    ['an error', () => new Error('secret'), /^secret$/],
    [
      'what a generator returns',
      function* () {
        yield 'a';
        return 'b';
      },
      /^A generator returned a value\..*yield/,
    ],
  ])('is checked before it is sent: %s', async (_name, value, message) => {
    expect(await prompting(value)).toEqual({ code: -32603, reported: expect.stringMatching(message) });
  });
});

class Point {
  #x = 1;
  get x() {
    return this.#x;
  }
}

describe('a resource', () => {
  const bytesInContents = { uri: 'shelf://a', blob: Buffer.from('a') };
  const values: Record<string, () => unknown> = {
    bytes: () => bytesInContents,
    bytesList: () => [bytesInContents],
    bytesWhole: () => ({ contents: [bytesInContents] }),
    empty: () => ({ contents: [{ uri: 'shelf://a' }] }),
    half: () => [{ uri: 'shelf://a', text: 'a' }, { uri: 'shelf://b' }],
    tool: () => toolResult({ content: 'a' }),
    async *progress() {
      yield { progress: await Promise.resolve(1) };
      return 'a';
    },
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

    @Resource('text://note', { mimeType: 'text/markdown' }) note() {
      return Buffer.from('# Grüße');
    }

    @Resource('text://broken', { mimeType: 'text/markdown' }) broken() {
      return Buffer.from([0xff]);
    }
  }

  const read = async (uri: string) => {
    const { client, reported } = await serve(Shelf);
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
    ['r://bytes', { uri: 'shelf://a', blob: 'YQ==' }],
    ['r://bytesList', { uri: 'shelf://a', blob: 'YQ==' }],
    ['r://bytesWhole', { uri: 'shelf://a', blob: 'YQ==' }],
    ['text://note', { mimeType: 'text/markdown', text: '# Grüße' }],
    ['text://broken', { mimeType: 'text/markdown', blob: '/w==' }],
  ])('sends what its handler returned: %s', async (uri, contents) => {
    expect(await read(uri)).toMatchObject(contents);
  });

  it.each<[string, number, RegExp | undefined]>([
    ['r://none', -32002, undefined],
    ['r://nothing', -32002, undefined],
    ['r://error', 4711, undefined],
    ['r://point', -32603, /^Shelf\.read .*an instance of Point/],
    ['r://empty', -32603, /^Shelf\.read .*contents\[0\].*`text` or a `blob`/],
    ['r://half', -32603, /contents\[1\]/],
    ['r://tool', -32603, /^Shelf\.read returned a toolResult/],
    ['r://progress', -32603, /^A generator returned a value\..*ctx\.progress\(\)/],
  ])('sends no data for what is none: %s', async (uri, code, reported) => {
    expect(await read(uri)).toEqual({ code, reported: reported && expect.stringMatching(reported) });
  });
});

describe('a completion', () => {
  const completing = async (values: () => unknown) => {
    class Prompts {
      @Prompt({ input: NAME }) greet() {}
      @Completion({ for: 'greet', argument: 'name' }) names(): string[] {
        return values() as string[];
      }
    }
    const { client, reported } = await serve(new Prompts());
    const ref = { type: 'ref/prompt', name: 'greet' };
    const params = { ref, argument: { name: 'name', value: '' } };
    const result = await client.request('completion/complete', params).catch((error: unknown) => error as McpError);
    return result instanceof Error ? { code: result.code, reported: reported[0]?.message } : result['completion'];
  };

  it('may return a set, a generator, or nothing', async () => {
    expect(await completing(() => new Set(['a']))).toEqual({ values: ['a'] });
    expect(await completing(() => ({ values: new Set(['a']), total: 3 }))).toEqual({ values: ['a'], total: 3 });
    const generator = function* () {
      yield 'a';
    };
    expect(await completing(generator)).toEqual({ values: ['a'] });
    expect(await completing(() => undefined)).toEqual({ values: [] });
  });

  it('is checked before it is sent', async () => {
    for (const wrong of [[1], 'text', { values: 'a' }, { values: [null] }, 5]) {
      const { reported } = (await completing(() => wrong)) as { reported: string };
      expect(reported).toMatch(/^Prompts\.names returned values that are not all strings/);
    }
    expect(await completing(() => new Error('secret'))).toEqual({ code: -32603, reported: 'secret' });
  });
});

class Row {
  @IsString() name!: string;
}

const FREE: JsonObject = { type: 'object', properties: {} };

/** What the handlers return. */
let value: unknown;

class Stats {
  @Tool() plain() {
    return value;
  }

  @Tool({ output: FREE }) structured() {
    return value;
  }

  @Tool({ output: FREE, text: false }) withoutText() {
    return value;
  }

  @Tool({ output: FREE }) explicit() {
    return toolResult({ structuredContent: value as JsonObject, _meta: { took: 1 } });
  }

  @Tool() meta() {
    return toolResult({ content: 'done', _meta: { value } });
  }

  @Tool() block() {
    return [{ ...text('done'), annotations: { priority: (value as number[])[0] } }];
  }

  @Tool() failing() {
    throw new McpError('invalid-params', 'No.', { value });
  }

  @Tool() async once(_input: NoInput, ctx: Context) {
    return await ctx.once('value', () => value);
  }

  @Tool() async sample(_input: NoInput, ctx: Context) {
    const { content } = await ctx.sample({ messages: [user('hi')], maxTokens: 1, temperature: Number.NaN });
    return content;
  }

  @Tool() async logs(_input: NoInput, ctx: Context) {
    ctx.log.info({ value });
    for (const total of [Number.NaN, Number.POSITIVE_INFINITY]) ctx.progress(total, total);
    ctx.progress(1, Number.NaN);
    return 'logged';
  }

  @Resource('stats://now') now() {
    return value;
  }

  @Resource('stats://whole') whole() {
    return { contents: [{ uri: 'stats://whole', text: '', _meta: { value } }] };
  }

  @Prompt() ask({ name }: Row) {
    return { messages: [user(embedded({ uri: 'a://b', data: name }))], _meta: { value } };
  }
}

async function open(options: ConnectOptions = {}) {
  const outcomes: RequestOutcome[] = [];
  const plugins = [
    { name: 'observer', ended: (_request: unknown, outcome: RequestOutcome) => void outcomes.push(outcome) },
  ];
  const { server, errors } = reporting({ providers: [Stats], plugins });
  /** The errors since the last call. */
  const logged = () =>
    errors.splice(0).map(({ message, cause }) => (cause instanceof Error ? `${message} ${cause.message}` : message));
  return { client: await connect(server, options), logged, outcomes };
}

const ROWS: readonly (readonly [string, (client: TestClient) => Promise<unknown>, path: string])[] = [
  ['the JSON of a tool', (client) => client.callTool('plain'), 'rows[1].price is NaN'],
  ['structured content', (client) => client.callTool('structured'), 'rows[1].price is NaN'],
  ['structured content without text', (client) => client.callTool('withoutText'), 'rows[1].price is NaN'],
  ['structured content with _meta', (client) => client.callTool('explicit'), 'structuredContent.rows[1].price is NaN'],
  ['the _meta of a tool', (client) => client.callTool('meta'), '_meta.value.rows[1].price is NaN'],
  ['what ctx.once keeps', (client) => client.callTool('once'), 'rows[1].price is NaN'],
  ['the data of an error', (client) => client.callTool('failing'), 'value.rows[1].price is NaN'],
  ['the JSON of a resource', (client) => client.readResource('stats://now'), 'rows[1].price is NaN'],
  [
    'the _meta of a resource',
    (client) => client.readResource('stats://whole'),
    'contents[0]._meta.value.rows[1].price is NaN',
  ],
  ['the _meta of a prompt', (client) => client.getPrompt('ask', { name: 'x' }), '_meta.value.rows[1].price is NaN'],
  ['a question', (client) => client.callTool('sample'), 'temperature is NaN'],
];

describe.each(['2025-06-18', '2026-07-28'])('In %s, a number that JSON lacks', (revision) => {
  it('is a masked error, and the log names its path (#23)', async () => {
    const onSample = () => ({ role: 'assistant', content: { type: 'text', text: '' }, model: 'm' }) as const;
    const { client, logged, outcomes } = await open({ revision, onSample });
    for (const [title, call, path] of ROWS) {
      value = { rows: [{ price: null }, { price: Number.NaN }] };
      const shown = await call(client).catch((error: unknown) => (error as Error).message);
      expect([title, JSON.stringify(shown), logged().join(), outcomes.at(-1)?.cause]).toEqual([
        title,
        expect.stringContaining('Internal error (reference'),
        expect.stringContaining(path),
        'bug',
      ]);
    }
  });

  it('is an error in an annotation, and text in the log of the client (#23)', async () => {
    const { client, logged } = await open({ revision });
    value = [Number.POSITIVE_INFINITY];
    expect(JSON.stringify(await client.callTool('block'))).toContain('Internal error');
    expect(logged().join()).toContain('content[0].annotations.priority is Infinity');
    await client.setLogLevel('info');
    const seen: unknown[] = [];
    await client.callTool('logs', {}, { onProgress: (...progress: unknown[]) => void seen.push(progress) });
    expect(JSON.stringify(client.notifications)).toContain('"data":{"value":["Infinity"]}');
    expect(seen).toEqual([[1, undefined, undefined]]);
  });
});

it('a number that JSON lacks is found if the revision sends structured content only as text (#23)', async () => {
  const { client, logged } = await open({ revision: '2024-11-05' });
  value = { rows: [{ price: Number.NaN }] };
  for (const tool of ['structured', 'withoutText']) {
    expect(JSON.stringify(await client.callTool(tool))).toContain('Internal error');
    expect(logged()).toEqual([expect.stringContaining('structuredContent.rows[0].price is NaN')]);
  }
});

it('null and the text null are kept (#23)', async () => {
  const { client, logged } = await open();
  value = { rows: [null, { price: null, text: 'null', date: new Date(0) }] };
  const expected = { rows: [null, { price: null, text: 'null', date: '1970-01-01T00:00:00.000Z' }] };
  expect((await client.callTool('structured')).structuredContent).toEqual(expected);
  expect(JSON.parse(textOf(await client.callTool('plain')) ?? '')).toEqual(expected);
  expect(logged()).toEqual([]);
});
