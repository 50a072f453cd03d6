import { Readable } from 'node:stream';

import { describe, expect, it } from '@jest/globals';
import { audio, image, McpServer, NoInput, Prompt, Resource, text, toolResult, user } from '@decorum/core';
import { connect } from '@decorum/testing';

const said = (...texts: string[]) => texts.map((each) => ({ type: 'text', text: each }));

/** A server whose members return what these functions do; also what its author is told. */
async function serve(returned: () => unknown) {
  class Shop {
    @Prompt() ask() {
      return returned();
    }
    @Resource('shop://all') all() {
      return returned();
    }
    @Resource('shop://{id}', { list: 'ids', input: { type: 'object', properties: { id: { type: 'string' } } } }) one() {
      return 'a';
    }
    ids() {
      return returned();
    }
  }
  const reported: string[] = [];
  const warned: string[] = [];
  const logger = { warn: (_: object, message: string) => warned.push(message), error: () => {} };
  const onError = (error: unknown) => reported.push((error as Error).message);
  const server = new McpServer({ name: 'test', version: '1', providers: [Shop], logger, onError });
  server.addTool({ name: 'tool', input: NoInput }, returned);
  return { client: await connect(server), reported, warned };
}

async function failureOf(returned: () => unknown): Promise<string | undefined> {
  const { client, reported } = await serve(returned);
  expect(await client.callTool('tool')).toMatchObject({ isError: true });
  return reported[0];
}

const contentOf = async (returned: () => unknown) => (await (await serve(returned)).client.callTool('tool')).content;

class NotFound extends Error {
  constructor(readonly id: number) {
    super('not found');
  }
}

describe('an error with members of its own', () => {
  const failed = Object.assign(new Error('open /etc/secret'), { code: 'ENOENT', path: '/etc/secret' });

  it.each<[string, () => unknown]>([
    ['in a list', () => [failed]],
    ['in an object', () => ({ done: ['a'], error: failed })],
    ['beside text', () => [text('done'), failed]],
    ['as the reason of a promise', () => Promise.allSettled([Promise.reject(new NotFound(7))])],
  ])('is not sent as these members alone: %s', async (_name, returned) => {
    expect(await failureOf(returned)).toMatch(/^addTool\.tool .*must not contain an error \(Error\).*Throw it/);
  });

  it('may define its own JSON', async () => {
    const error = Object.assign(new Error('x'), { code: 1, toJSON: () => 'no such id' });
    expect(await contentOf(() => ({ error }))).toEqual(said('{"error":"no such id"}'));
  });
});

it('does not send a promise with members as these members alone', async () => {
  const query = Object.assign(Promise.resolve(1), { sql: 'SELECT 1' });
  expect(await failureOf(() => ({ query }))).toMatch(/must not contain a promise \(in "query"\)\. Await it/);
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

it('sends the text between the blocks of a result', async () => {
  expect(await contentOf(() => ({ content: [text('a'), 'b'] }))).toEqual(said('a', 'b'));
});

describe('a prompt', () => {
  const messagesOf = async (returned: () => unknown) =>
    (await (await serve(returned)).client.getPrompt('ask')).messages;
  const message = (each: string) => ({ role: 'user', content: { type: 'text', text: each } });

  it('may be an async generator of messages', async () => {
    const returned = async function* () {
      yield 'a';
      yield await Promise.resolve(user('b'));
    };
    expect(await messagesOf(returned)).toEqual([message('a'), message('b')]);
  });

  it('reads streams and bodies, each as one message', async () => {
    expect(await messagesOf(() => Readable.from(['a', 'b']))).toEqual([message('ab')]);
    expect(await messagesOf(() => new Response('a'))).toEqual([message('a')]);
  });

  it('takes any list of messages', async () => {
    expect(await messagesOf(() => ({ messages: new Set(['a', 'b']) }))).toEqual([message('a'), message('b')]);
  });

  it('is not what its generator returns', async () => {
    const { client, reported } = await serve(function* () {
      yield 'a';
      return 'b';
    });
    await expect(client.getPrompt('ask')).rejects.toMatchObject({ code: -32603 });
    expect(reported).toEqual([expect.stringMatching(/^A generator returned a value\..*yield/)]);
  });
});

describe('a resource', () => {
  const read = async (returned: () => unknown) => {
    const { client, reported } = await serve(returned);
    const result = await client.readResource('shop://all').catch(() => undefined);
    return result?.contents ?? reported[0];
  };

  it('encodes bytes in its contents', async () => {
    const contents = { uri: 'shop://a', blob: Buffer.from('a') };
    const sent = [{ uri: 'shop://a', blob: 'YQ==' }];
    expect(await read(() => contents)).toEqual(sent);
    expect(await read(() => [contents])).toEqual(sent);
    expect(await read(() => ({ contents: [contents] }))).toEqual(sent);
  });

  it.each<[string, () => unknown, RegExp]>([
    ['nothing to read', () => ({ contents: [{ uri: 'shop://a' }] }), /^Shop\.all .*contents\[0\].*`text` or a `blob`/],
    ['some of them', () => [{ uri: 'shop://a', text: 'a' }, { uri: 'shop://b' }], /contents\[1\]/],
    ['the result of a tool', () => toolResult({ content: 'a' }), /^Shop\.all returned a toolResult/],
    [
      'progress',
      async function* () {
        yield { progress: await Promise.resolve(1) };
        return 'a';
      },
      /^A generator returned a value\..*ctx\.progress\(\)/,
    ],
  ])('does not send its mistakes as data: %s', async (_name, returned, message) => {
    expect(await read(returned)).toMatch(message);
  });
});

describe('the list of a template', () => {
  it('takes URL objects', async () => {
    const { client } = await serve(() => [new URL('shop://1'), { uri: new URL('shop://2'), name: 'two' }]);
    expect(await client.listResources()).toEqual([
      { uri: 'shop://all', name: 'all' },
      { uri: 'shop://1', name: 'shop://1' },
      { uri: 'shop://2', name: 'two' },
    ]);
  });

  it.each<[string, object, string]>([
    ['a size', { size: '5 kB' }, 'the `size` of shop://1 must be a non-negative integer (bytes)'],
    [
      'a priority',
      { annotations: { priority: 5 } },
      'the `annotations.priority` of shop://1 must be a number from 0 to 1',
    ],
    ['an audience', { annotations: { audience: 'user' } }, 'the `annotations.audience` of shop://1 must be an array'],
  ])('leaves out an entry that clients would refuse the page for: %s', async (_name, details, problem) => {
    const { client, warned } = await serve(() => [{ uri: 'shop://1', ...details }, 'shop://2']);
    expect((await client.listResources()).map(({ uri }) => uri)).toEqual(['shop://all', 'shop://2']);
    expect(warned).toEqual([expect.stringContaining(problem)]);
  });
});

describe('a Response', () => {
  it('without a body says nothing', async () => {
    expect(await contentOf(() => new Response(null, { status: 204 }))).toEqual(said(''));
  });

  it('without end is not read on when the call is cancelled', async () => {
    const controller = new AbortController();
    let chunks = 0;
    let closed: () => void = () => {};
    const stopped = new Promise<void>((resolve) => {
      closed = resolve;
    });
    const endless = new ReadableStream({
      pull(stream) {
        if (++chunks === 3) controller.abort();
        stream.enqueue(new Uint8Array(8));
      },
      cancel: () => closed(),
    });
    const { client } = await serve(() => new Response(endless));
    await expect(client.callTool('tool', {}, { signal: controller.signal })).rejects.toThrow('aborted');
    await stopped;
    expect(chunks).toBeLessThan(100);
  });
});
