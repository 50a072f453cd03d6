import { Readable } from 'node:stream';

import { describe, expect, it } from '@jest/globals';
import {
  assistant,
  Completion,
  McpError,
  McpServer,
  Prompt,
  Resource,
  type ResourceListing,
  text,
  toolResult,
  user,
} from '@decorum/core';
import { connect, type TestClient } from '@decorum/testing';
import { IsString } from 'class-validator';

const NAME = { type: 'object', properties: { name: { type: 'string' } } } as const;
const PNG = Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/** Connects to a server with these providers. Returns the warnings for its author too. */
async function serve(...providers: object[]) {
  const warned: string[] = [];
  const reported: Error[] = [];
  const logger = { warn: (_details: object, message: string) => warned.push(message), error: () => {} };
  const onError = (error: unknown) => reported.push(error as Error);
  const client = await connect(new McpServer({ name: 'test', version: '1', providers, logger, onError }));
  return { client, warned, reported };
}

describe('a method that enumerates a template', () => {
  const listing = async (entries: () => unknown) => {
    class Shelf {
      @Resource('shelf://{id}', {
        list: 'all',
        mimeType: 'text/markdown',
        input: NAME && { type: 'object', properties: { id: { type: 'string' } } },
      })
      read() {
        return 'a';
      }
      all() {
        return entries();
      }
    }
    class Other {
      @Resource('other://{id}', { list: 'all', input: { type: 'object', properties: { id: { type: 'string' } } } })
      read() {
        return 'a';
      }
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
    expect(
      (
        await listing(function* () {
          yield 'shelf://1';
        })
      ).listed,
    ).toEqual(one);
    expect((await listing(() => new Set(['shelf://1']))).listed).toEqual(one);
  });

  it.each<[string, unknown, RegExp]>([
    ['nothing', undefined, /Shelf\.all .*neither `uri` nor `variables`/],
    ['null', null, /Shelf\.all .*neither `uri` nor `variables`/],
    ['a number', 1, /Shelf\.all .*neither `uri` nor `variables`/],
    ['an id in place of a URI', 'one', /Shelf\.all .*"?one"? does not match the template/],
    ['a URI of another scheme', { uri: 'x://1' }, /Shelf\.all .*x:\/\/1 does not match/],
    ['variables that the template does not have', { variables: { isbn: '1' } }, /Shelf\.all .*does not match/],
    ['a URI that is no text', { uri: 1 }, /Shelf\.all .*does not match/],
    ['a title that is no text', { uri: 'shelf://1', title: 1 }, /Shelf\.all .*`title` of shelf:\/\/1 is not a string/],
    [
      'a size that is no number',
      { uri: 'shelf://1', size: '5 kB' },
      /the `size` of shelf:\/\/1 must be a non-negative int/,
    ],
    [
      'a priority out of range',
      { uri: 'shelf://1', annotations: { priority: 5 } },
      /the `annotations\.priority` of shelf:\/\/1 must be a number from 0 to 1/,
    ],
    [
      'an audience that is no list',
      { uri: 'shelf://1', annotations: { audience: 'user' } },
      /the `annotations\.audience` of shelf:\/\/1 must be an array/,
    ],
  ])('gets a warning about an invalid entry, and the others are listed: %s', async (_name, entry, message) => {
    const { listed, warned } = await listing(() => ['shelf://0', entry, 'shelf://9']);
    expect((listed as readonly { uri: string }[]).map(({ uri }) => uri)).toEqual([
      'shelf://0',
      'shelf://9',
      'other://1',
    ]);
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

  it.each<[string, () => unknown, unknown[]]>([
    ['a message whose content is text', () => ({ role: 'assistant', content: 'hi' }), [says('assistant', 'hi')]],
    [
      'a message with several contents',
      () => ({ role: 'user', content: ['a', text('b')] }),
      [says('user', 'a'), says('user', 'b')],
    ],
    [
      'messages of a result',
      () => ({ messages: [{ role: 'user', content: 'a' }, assistant('b')] }),
      [says('user', 'a'), says('assistant', 'b')],
    ],
    ['texts of a result', () => ({ messages: new Set(['a']) }), [says('user', 'a')]],
    ['a stream', () => Readable.from(['a', 'b']), [says('user', 'ab')]],
    ['a body', () => new Response('a'), [says('user', 'a')]],
    [
      'a generator',
      function* () {
        yield 'a';
        yield assistant('b');
      },
      [says('user', 'a'), says('assistant', 'b')],
    ],
    ['a set', () => new Set(['a', 'b']), [says('user', 'a'), says('user', 'b')]],
    [
      'bytes',
      () => ['What is this?', PNG],
      [
        says('user', 'What is this?'),
        { role: 'user', content: { type: 'image', mimeType: 'image/png', data: 'iVBORw0KGgo=' } },
      ],
    ],
  ])('encodes the returned value: %s', async (_name, value, messages) => {
    expect(await prompting(value)).toEqual({ description: 'A prompt', messages });
  });

  it('keeps the description and _meta of a whole result', async () => {
    const whole = { description: 'Another', messages: [user('a')], _meta: { 'example.com/a': 1 } };
    expect(await prompting(() => whole)).toEqual(whole);
  });

  it.each<[string, () => unknown, RegExp]>([
    [
      'another role',
      () => ({ role: 'system', content: 'a' }),
      /Prompts\.ask .*role "system"\. Use "user" or "assistant"/,
    ],
    ['a role within a result', () => ({ messages: [{ role: 'tool', content: text('a') }] }), /role "tool"/],
    ['no role', () => ({ role: undefined, content: 'a' }), /role undefined/],
    ['no content', () => ({ role: 'user' }), /Prompts\.ask returned undefined where text/],
    ['half a block', () => ({ role: 'user', content: { type: 'image', data: 'AAAA' } }), /an object with type, data/],
    [
      'half a block in a result',
      () => ({ messages: [{ role: 'user', content: { type: 'text' } }] }),
      /an object with type/,
    ],
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
      @Prompt({ input: NAME }) greet() {
        return '';
      }
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
    expect(
      await completing(function* () {
        yield 'a';
      }),
    ).toEqual({ values: ['a'] });
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

describe('lists and what they name', () => {
  class Page {
    @IsString() path!: string;
  }

  class Library {
    pages = ['a.md', 'b/c.md'];

    @Resource('docs://index', { title: 'Index', size: 5, annotations: { priority: 1, audience: ['user'] } }) index() {
      return 'index';
    }

    @Resource('docs://logo', { mimeType: 'image/png' }) logo() {
      return Buffer.from('abc');
    }

    @Resource('docs://data') data() {
      return { a: 1 };
    }

    @Resource('docs://pages/{+path}', { mimeType: 'text/markdown', list: 'list' }) page({ path }: Page) {
      return this.pages.includes(path) ? `# ${path}` : undefined;
    }

    list(): ResourceListing[] {
      return this.pages.map((path) => ({ variables: { path }, title: path.toUpperCase() }));
    }
  }

  const serverOf = (library = new Library()) => new McpServer({ name: 'test', version: '1', providers: [library] });

  describe('resources', () => {
    it('are listed: the fixed ones, and those that a template enumerates', async () => {
      const client = await connect(serverOf());
      expect(await client.listResources()).toEqual([
        {
          uri: 'docs://index',
          name: 'index',
          title: 'Index',
          size: 5,
          annotations: { priority: 1, audience: ['user'] },
        },
        { uri: 'docs://logo', name: 'logo', mimeType: 'image/png' },
        { uri: 'docs://data', name: 'data' },
        { uri: 'docs://pages/a.md', name: 'docs://pages/a.md', mimeType: 'text/markdown', title: 'A.MD' },
        { uri: 'docs://pages/b/c.md', name: 'docs://pages/b/c.md', mimeType: 'text/markdown', title: 'B/C.MD' },
      ]);
      expect(await client.listResourceTemplates()).toEqual([
        { uriTemplate: 'docs://pages/{+path}', name: 'page', mimeType: 'text/markdown' },
      ]);
    });

    it('are read with the type of their member, or of what it returned', async () => {
      const client = await connect(serverOf());
      for (const [uri, contents] of Object.entries({
        'docs://index': { mimeType: 'text/plain', text: 'index' },
        'docs://logo': { mimeType: 'image/png', blob: 'YWJj' },
        'docs://data': { mimeType: 'application/json', text: '{"a":1}' },
        'docs://pages/b/c.md': { mimeType: 'text/markdown', text: '# b/c.md' },
      })) {
        expect(await client.readResource(uri)).toEqual({ contents: [{ uri, ...contents }] });
      }
    });
  });

  describe('lists', () => {
    it('reject a cursor that was tampered with, or belongs to another list or caller', async () => {
      const server = new McpServer({ name: 'test', version: '1', pageSize: 2, providers: [Library] });
      for (const name of ['a', 'b', 'c']) server.addTool({ name }, () => name);
      const ada = await connect(server, { principal: { subject: 'ada' } });
      const bob = await connect(server, { principal: { subject: 'bob' } });
      const next = (await ada.request('tools/list'))['nextCursor'] as string;
      const pageOf = (client: TestClient, cursor: string) => client.request('tools/list', { cursor });
      const bytes = Buffer.from(next, 'base64url');
      for (let index = 0; index < bytes.length; index++) {
        const changed = Buffer.from(bytes);
        changed[index] = (changed[index] ?? 0) ^ 1;
        await expect(pageOf(ada, changed.toString('base64url'))).rejects.toMatchObject({ code: -32602 });
      }
      for (const padded of [`${next}!!`, ` ${next}`, `${next}\n`, `${next}=`]) {
        await expect(pageOf(ada, padded)).rejects.toMatchObject({ code: -32602 });
      }
      await expect(ada.request('resources/list', { cursor: next })).rejects.toMatchObject({ code: -32602 });
      await expect(pageOf(bob, next)).rejects.toMatchObject({ code: -32602 });
    });
  });

  describe('capabilities', () => {
    it('ignore a provider that was rejected', async () => {
      class Wrong {
        @Prompt() write(_page: Page) {}
        @Completion({ for: 'write', argument: 'path' }) names() {
          return [];
        }
        @Completion({ for: 'write', argument: 'from' }) others() {
          return [];
        }
      }
      const server = new McpServer({ name: 'test', version: '1' });
      expect(() => server.addProvider(Wrong)).toThrow('DECORUM_UNKNOWN_ARGUMENT');
      expect((await connect(server)).initialized?.capabilities).toEqual({ logging: {} });
    });
  });
});
