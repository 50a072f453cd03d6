import { join, resolve } from 'node:path/posix';

import { describe, expect, it } from '@jest/globals';
import { Completion, type JsonObject, Resource, ToolError, toolResult } from '@decorum/core';
import { IsString } from 'class-validator';
import fc from 'fast-check';

import { overHttp } from '../support/http-transports.js';
import { RawClient } from '../support/raw-client.js';
import { eachRevision, inStateless, type Revision, STATELESS } from '../support/requirements.js';
import { serverOf } from './servers.js';
import { answersAlike, type Probe, type Setting, waysOf } from './ways.js';

const ANY: JsonObject = { type: 'object', properties: { kind: {}, at: {}, path: {}, user: {}, more: {} } };
const WORD: JsonObject = { type: 'object', properties: { word: { type: 'string', pattern: '^[a-z]+$' } } };
const BYTES = Buffer.from([0, 127, 255, 62, 63]);
const DATA = BYTES.toString('base64');

class Named {
  @IsString()
  name!: string;
}

/** The error code for an unknown resource. */
const unknownIn = (revision: Revision) => (revision === STATELESS ? -32602 : -32002);

const connect = (revision: Revision, ...providers: object[]) =>
  RawClient.connect(serverOf({ providers: providers as never }), { revision });
const contentsOf = async (client: RawClient, uri: string) =>
  (await client.result('resources/read', { uri }))['contents'] as JsonObject[];
const listOf = async (client: RawClient) => (await client.result('resources/list'))['resources'] as JsonObject[];

/** Creates a class with one resource or template, which returns its URI. */
const provide = (uri: string) => {
  class One {
    @Resource(uri, { name: uri || 'empty' })
    one() {
      return uri;
    }
  }
  return One;
};

describe('the list of resources', () => {
  eachRevision(['RES-02', 'RES-04', 'RES-16'], 'has a URI, a name and a type for each resource', async (revision) => {
    class Files {
      @Resource('docs://folder', { mimeType: 'inode/directory' })
      folder() {
        return '';
      }

      @Resource('docs://pages/{name}')
      page({ name }: Named) {
        return name;
      }
    }
    const client = await connect(revision, Files);
    expect(await listOf(client)).toEqual([{ uri: 'docs://folder', name: 'folder', mimeType: 'inode/directory' }]);
    expect((await client.result('resources/templates/list'))['resourceTemplates']).toEqual([
      { uriTemplate: 'docs://pages/{name}', name: 'page' },
    ]);
  });
});

const read = (uri: unknown): [method: string, params: JsonObject] => ['resources/read', { uri }];

/** The values and errors of handlers, by their place in the lists. */
function shelfOf(values: readonly unknown[], errors: readonly unknown[], ran: string[] = []) {
  return ({ options, guard }: Setting) => {
    class Shelf {
      @Resource('docs://now/{at}', { input: ANY, ...guard })
      now({ at }: { at: string }) {
        return values[Number(at)];
      }

      @Resource('docs://later/{at}', { input: ANY, ...guard })
      async later({ at }: { at: string }) {
        return await Promise.resolve(values[Number(at)]);
      }

      @Resource('fails://now/{at}', { input: ANY, ...guard })
      fails({ at }: { at: string }): never {
        throw errors[Number(at)];
      }

      @Resource('fails://later/{at}', { input: ANY, ...guard })
      async rejects({ at }: { at: string }): Promise<never> {
        return await Promise.reject(errors[Number(at)]);
      }

      @Resource('words://{word}', { input: WORD, ...guard })
      word({ word }: { word: string }) {
        ran.push(word);
        return word;
      }

      @Resource('file:///{+path}', { input: ANY, ...guard })
      file({ path }: { path: string }) {
        ran.push(path);
        return path;
      }

      @Resource('docs://fixed', guard)
      fixed() {
        return values[0];
      }

      @Resource('docs://lost', guard)
      lost() {
        return null;
      }

      @Resource('docs://broken', guard)
      async broken() {
        return await Promise.reject(new Error('secret'));
      }
    }
    return serverOf({ providers: [Shelf], ...options });
  };
}
const WHEN = ['now', 'later'] as const;

describe('reading a resource, however it is asked for,', () => {
  eachRevision(
    ['RES-07', 'RES-08', 'RES-09', 'RES-11', 'RES-12'],
    'runs handlers of valid URIs only',
    async (revision) => {
      const ran: string[] = [];
      const ways = await waysOf(revision, shelfOf([null, undefined], [], ran));
      const code = unknownIn(revision);
      const missing = (uri: string): Probe => [...read(uri), { code, message: expect.any(String), data: { uri } }];
      const lost = WHEN.flatMap((when) => [0, 1].map((at) => `docs://${when}/${at}`));
      const unknown = 'nothing FIXED fixed/ fixed?a now/%zz now/'.split(' ').map((path) => `docs://${path}`);
      const odd = [
        '',
        'docs',
        '://',
        'constructor',
        'docs:fixed',
        ...['', 'a/b', 'a\n', '%00'].map((at) => `words://${at}`),
      ];
      const outside = ['..', '../a', '%2e%2e/a', 'a/../../b', 'a/%2e%2e%2fb', '..%5ca', '%252e%252e/a', '..%00/a'];
      await answersAlike(ways, [
        ...[...lost, 'docs://fixed', 'docs://lost', ...unknown, ...odd].map(missing),
        ...outside.map((path) => missing(`file:///${path}`)),
        ...[undefined, 7, 0, null, false, [], ['docs://fixed'], {}].map((uri): Probe => [...read(uri), -32602]),
        ...['A', '1', 'a-b', 'a%20b'].map((word): Probe => [...read(`words://${word}`), -32602]),
        [...read(`words://${'a'.repeat(9000)}`), -32602],
      ]);
      expect(ran).toEqual([]);
      for (const { ask } of ways) {
        for (const [uri, text] of [
          ['words://a', 'a'],
          ['file:///a/b%20c', 'a/b c'],
        ] as const) {
          expect(await ask(...read(uri))).toMatchObject({ result: { contents: [{ uri, text }] } });
          expect(ran.pop()).toBe(text);
        }
      }
      expect(ran).toEqual([]);
    },
  );

  eachRevision('RES-10', 'is an internal error without details if its handler fails', async (revision) => {
    const coded = Object.assign(new Error('secret'), { code: -32002 });
    const errors = [new ToolError('No.'), new TypeError('secret'), coded, { code: -32602 }, 'secret', '', 0, null];
    const wrong = [
      toolResult({ content: 'secret' }),
      { contents: [{ uri: 'a:b' }] },
      new Error('secret'),
      () => 'secret',
    ];
    const ways = await waysOf(revision, shelfOf([...wrong, { n: 1n, self: BigInt }], [...errors, undefined]));
    const failed = { code: -32603, message: expect.stringMatching(/^(?!.*secret)./) };
    const uris = WHEN.flatMap((when) => [
      ...[...errors, undefined].map((_error, at) => `fails://${when}/${at}`),
      ...wrong.map((_value, at) => `docs://${when}/${at}`),
    ]);
    await answersAlike(
      ways,
      [...uris, 'docs://broken', 'docs://fixed'].map((uri): Probe => [...read(uri), failed]),
    );
  });

  eachRevision(['RES-05', 'RES-14', 'RES-27'], 'returns text or base64, with a type', async (revision) => {
    const png = { uri: 'docs://inner', mimeType: 'image/png', blob: BYTES };
    const json = (text: string) => ({ mimeType: 'application/json', text });
    const blob = { mimeType: 'application/octet-stream', blob: DATA };
    const values: readonly (readonly [value: unknown, content: object])[] = [
      ['', { mimeType: 'text/plain', text: '' }],
      ['0', { mimeType: 'text/plain', text: '0' }],
      [BYTES, blob],
      [new Uint8Array(BYTES), blob],
      [new Uint8Array(), { ...blob, blob: '' }],
      [0, json('0')],
      [-1.5, json('-1.5')],
      [false, json('false')],
      [[], json('[]')],
      [{}, json('{}')],
      [{ a: null }, json('{"a":null}')],
      [[png], { ...png, blob: DATA }],
      [png, { ...png, blob: DATA }],
      [{ contents: [png] }, { ...png, blob: DATA }],
    ];
    const ways = await waysOf(
      revision,
      shelfOf(
        values.map(([value]) => value),
        [],
      ),
    );
    const contents = (uri: string, content: object) => ({ contents: [{ uri, ...content }] });
    await answersAlike(ways, [
      ...WHEN.flatMap((when) =>
        values.map(([, content], at): Probe => [
          ...read(`docs://${when}/${at}`),
          contents(`docs://${when}/${at}`, content),
        ]),
      ),
      [...read('docs://fixed'), contents('docs://fixed', { mimeType: 'text/plain', text: '' })],
    ]);
  });
});

describe('reading a resource', () => {
  eachRevision('RES-11', 'rejects a malformed or long URI in every method that takes one', async (revision) => {
    class Completed {
      @Resource('docs://pages/{name}')
      page({ name }: Named) {
        return name;
      }

      @Completion({ for: 'page', argument: 'name' })
      names() {
        return [];
      }
    }
    const client = await connect(revision, Completed);
    const argument = { name: 'name', value: '' };
    const verbs = client.stateless ? ['read'] : ['read', 'subscribe', 'unsubscribe'];
    const requests = verbs.map((verb) => (params?: JsonObject) => client.request(`resources/${verb}`, params));
    requests.push((params) =>
      client.request('completion/complete', { ref: { type: 'ref/resource', ...params }, argument }),
    );
    const longest = `docs://pages/${'a'.repeat(8179)}`;
    const message = 'The URI is longer than 8192 characters.';
    for (const request of requests) {
      expect((await request({ uri: longest })).result).toBeDefined();
      expect((await request({ uri: `${longest}a` })).error).toEqual({ code: -32602, message });
      for (const params of [undefined, {}, { uri: 7 }, { uri: null }, { uri: ['docs://readme'] }]) {
        expect(await request(params)).toMatchObject({ error: { code: -32602 } });
      }
    }
  });

  const ROOT = '/srv/files';
  const ANYTHING = { type: 'object', properties: { path: {}, user: {}, more: {} } };

  /** Whatever a handler that decodes twice makes of a path. */
  function decodeAgain(path: string): string {
    try {
      return decodeURIComponent(path);
    } catch {
      return path;
    }
  }

  /** A fake disk that records opened paths. */
  class Disk {
    readonly opened: string[] = [];

    @Resource('file:///{+path}', { input: ANYTHING })
    file({ path }: { path: string }) {
      return this.open(path);
    }

    @Resource('file:///home/{user}{/more*}', { input: ANYTHING })
    home({ user, more = [] }: { user: string; more?: string[] }) {
      return this.open(['home', user, ...more].join('/'));
    }

    @Resource('file://share/find{?path}', { input: ANYTHING })
    found({ path = '' }: { path?: string }) {
      return this.open(path);
    }

    private open(path: string): string {
      // some handlers decode twice
      for (const each of [path, decodeAgain(path)]) this.opened.push(join(ROOT, each), resolve(ROOT, `./${each}`));
      return path;
    }
  }
  inStateless('RES-12', 'never leads a handler out of its directory', async () => {
    const disk = new Disk();
    const server = serverOf({ providers: [disk] });
    const client = await RawClient.connect(server, { revision: STATELESS });
    const overTheNet = await RawClient.connect(server, { revision: STATELESS }, overHttp);
    const up = ['..', '%2e%2e', '%2E.', '.%2e', '%252e%252e', '%25252e.', '..%00', '%20..'];
    const escapes = up.flatMap((dots) => ['/', '%2F', '%2f', '%5c', '%252f'].map((slash) => dots + slash));
    const uris = escapes.flatMap((escape) => [
      `file:///${escape}${escape}etc/passwd`,
      `file:///a/${escape}${escape}etc/passwd`,
      `file:///home/${escape}etc/passwd`,
      `file:///home/ada/${escape}${escape}passwd`,
      `file://share/find?path=${escape}etc/passwd`,
    ]);
    uris.push('file:///..', 'file:///a/..', 'file:///%2e%2e', 'file:///../../etc/passwd');
    for (const [at, uri] of uris.entries()) {
      const error = { code: -32602, data: { uri } };
      expect(await client.error('resources/read', { uri })).toMatchObject(error);
      if (at % 8 === 4) expect(await overTheNet.error('resources/read', { uri })).toMatchObject(error);
    }
    expect(disk.opened).toEqual([]);
    for (const path of ['a/b.txt', 'a..b', '...', '.hidden', 'home/ada/notes', 'a%20b']) {
      expect(await contentsOf(client, `file:///${path}`)).toMatchObject([{ text: decodeURIComponent(path) }]);
    }
  });

  it('stays in the directory for any path', async () => {
    const disk = new Disk();
    const client = await connect(STATELESS, disk);
    const piece = fc.constantFrom('.', '..', '/', '//', 'a', 'home/', '%2e', '%2F', '%5C', '%25', '2e', '2f', '%00');
    const property = fc.asyncProperty(fc.array(piece, { minLength: 1, maxLength: 8 }), async (pieces) => {
      await client.request('resources/read', { uri: `file:///${pieces.join('')}` });
      expect(disk.opened.filter((path) => path !== ROOT && !path.startsWith(`${ROOT}/`))).toEqual([]);
    });
    await fc.assert(property, { numRuns: 300 });
    expect(disk.opened).not.toEqual([]);
  });

  eachRevision('RES-26', 'finds the best handler for a URI, in whichever order they are added', async (revision) => {
    const uris = ['docs://{+path}', 'docs://in/{at}', 'docs://in/{at}.txt', 'docs://in/a{at}', 'docs://in/abc'];
    for (const order of [uris, [...uris].reverse()]) {
      const client = await connect(revision, ...order.map(provide));
      const found = [];
      for (const path of ['x', 'in/b', 'in/b.txt', 'in/ab', 'in/abc', 'in/b/c', 'in/b%2Fc']) {
        found.push((await contentsOf(client, `docs://${path}`))[0]?.['text']);
      }
      expect(found).toEqual([...uris, uris[0], uris[1]]);
    }
    class Pages {
      @Resource('docs://pages/{name}/raw')
      raw({ name }: Named) {
        return name;
      }
    }
    const client = await connect(revision, Pages);
    for (const [name, text] of [
      ['a', 'a'],
      ['a%2Fb', 'a/b'],
      ['a%252Fb', 'a%2Fb'],
    ]) {
      expect(await contentsOf(client, `docs://pages/${name}/raw`)).toMatchObject([{ text }]);
    }
    for (const uri of ['docs://pages/a/raw/more', 'xdocs://pages/a/raw', 'docs://pages/a/b/raw']) {
      expect(await client.error('resources/read', { uri })).toMatchObject({ code: unknownIn(revision) });
    }
  });
});

describe('the URI of a resource', () => {
  eachRevision('RES-17', 'is absolute and has only characters of URIs, wherever it comes from', async (revision) => {
    const schemes = ['', '/', ':', '1a:', '+a:', '-a:', '.a:', 'a_b:', 'a b:', ' a:', 'é:', 'a%62:', 'a/b:'];
    const paths = [
      '',
      ' ',
      ...['a b', 'ä', 'a"b', 'a\\b', 'a|b', 'a^b', 'a`b', '%', '%zz', 'a%2', 'a\n'].map((path) => `//${path}`),
    ];
    const fixed = ['readme', ...schemes.map((scheme) => `${scheme}//a`), ...paths.map((path) => `docs:${path}`)];
    for (const uri of [...fixed, ...schemes.map((scheme) => `${scheme}//{at}`), '{at}://b', '{+at}']) {
      expect(() => serverOf({ providers: [provide(uri)] })).toThrow('DECORUM_BAD_URI');
      expect(() => serverOf().addProvider(provide(uri))).toThrow('DECORUM_BAD_URI');
    }
    for (const uriPrefix of ['1', ' ', '-', 'a b', 'é', '/', '_']) {
      const prefixed = { provider: provide('docs://a'), uriPrefix };
      expect(() => serverOf({ providers: [prefixed] })).toThrow('`uriPrefix` must be');
    }
    const valid = "x-y.z+1:a urn:isbn:0451450523 docs://[::1]/a docs://%C3%A4?a=b&c#d a:!$&'()*+,;=:@~-._".split(' ');
    const templates = ['a', 'A9', 'x-y', 'x.y', 'x+y', 'x-y.z+1', 'DOCS'].map((scheme) => `${scheme}://{at}`);
    const client = await connect(revision, ...[...valid, ...templates].map(provide));
    expect((await listOf(client)).map(({ uri }) => uri)).toEqual(valid);
    const { resourceTemplates } = await client.result('resources/templates/list');
    expect((resourceTemplates as JsonObject[]).map(({ uriTemplate }) => uriTemplate)).toEqual(templates);
    for (const text of [...valid, ...templates]) {
      const uri = text.replace('{at}', 'b');
      expect(await contentsOf(client, uri)).toMatchObject([{ uri, text }]);
    }
  });
});

describe('the entry of a resource that a template lists', () => {
  eachRevision('RES-24', 'has the fields of its template, and its own', async (revision) => {
    const annotations = { audience: ['user' as const], priority: 0.5 };
    class Listed {
      @Resource('docs://{name}', { mimeType: 'text/plain', annotations, list: 'list' })
      doc({ name }: Named) {
        return name;
      }

      list() {
        const own = { annotations: { priority: 0 }, mimeType: 'text/html', size: 0, description: '' };
        return ['docs://a', { uri: 'docs://b', name: 'B', ...own }, { variables: { name: 'c' }, title: 'C' }];
      }
    }
    const client = await RawClient.connect(serverOf({ providers: [Listed] }), { revision });
    const shared = { mimeType: 'text/plain', annotations };
    const own = { annotations: { priority: 0 }, mimeType: 'text/html', size: 0, description: '' };
    const titled = revision < '2025-06-18' ? { name: 'C' } : { name: 'docs://c', title: 'C' };
    expect((await client.result('resources/list'))['resources']).toEqual([
      { uri: 'docs://a', name: 'docs://a', ...shared },
      { uri: 'docs://b', name: 'B', ...own },
      { uri: 'docs://c', ...titled, ...shared },
    ]);
  });
});

describe('the contents of a resource', () => {
  eachRevision('RES-06', 'may be several of all kinds, in their order', async (revision) => {
    const blob = 'AH//';
    const contents = [
      { uri: 'docs://a', mimeType: 'text/plain', text: 'a' },
      { uri: 'docs://b', mimeType: 'image/png', blob },
      { uri: 'docs://a', text: '' },
      { uri: 'docs://c', mimeType: 'text/html', text: '<p>' },
      { uri: 'docs://b', blob },
    ];
    for (const order of [contents, [...contents].reverse(), contents.slice(1, 2), contents.slice(0, 1)]) {
      class Several {
        @Resource('docs://several')
        several() {
          return order;
        }

        @Resource('docs://{name}')
        async template(_input: Named) {
          return { contents: order.map((each) => (each.blob ? { ...each, blob: Buffer.from(blob, 'base64') } : each)) };
        }
      }
      const client = await RawClient.connect(serverOf({ providers: [Several] }), { revision });
      for (const uri of ['docs://several', 'docs://other']) {
        expect((await client.result('resources/read', { uri }))['contents']).toEqual(order);
      }
    }
  });
});

describe('the content of a resource', () => {
  eachRevision('RES-27', 'is text or bytes as its type says, whatever the handler returns', async (revision) => {
    const bytes = (text: string) => Buffer.from(text);
    // not UTF-8
    const ODD = Buffer.from([0xff]);
    const PLAIN = { 'content-type': 'text/plain; charset=utf-8' };
    const cases: readonly (readonly [mimeType: string | undefined, value: () => unknown, content: JsonObject])[] = [
      ['text/markdown', () => bytes('ü'), { text: 'ü' }],
      ['text/plain;charset=utf-8', () => bytes('ü'), { text: 'ü' }],
      ['application/json', () => bytes('{"a":1}'), { text: '{"a":1}' }],
      ['image/svg+xml', () => '<svg/>', { text: '<svg/>' }],
      ['text/plain', () => ODD, { blob: '/w==' }],
      ['application/json', () => bytes('ü').subarray(0, 1), { blob: 'ww==' }],
      ['image/png', () => bytes('a'), { blob: 'YQ==' }],
      ['application/octet-stream', async () => new Uint8Array([0]), { blob: 'AA==' }],
      ['application/vnd.own', () => ({ a: 1 }), { text: '{"a":1}' }],
      [undefined, () => bytes('a'), { mimeType: 'application/octet-stream', blob: 'YQ==' }],
      [undefined, () => bytes('abc').subarray(1, 2), { mimeType: 'application/octet-stream', blob: 'Yg==' }],
      [undefined, () => new Blob(['a,b'], { type: 'text/csv' }), { mimeType: 'text/csv', text: 'a,b' }],
      [undefined, () => new Blob(['a'], { type: 'image/gif' }), { mimeType: 'image/gif', blob: 'YQ==' }],
      [undefined, () => new Blob([ODD], { type: 'image/svg+xml' }), { mimeType: 'image/svg+xml', blob: '/w==' }],
      [undefined, () => new Response(ODD, { headers: PLAIN }), { mimeType: 'text/plain', blob: '/w==' }],
    ];
    for (const [mimeType, value, content] of cases) {
      class One {
        @Resource('docs://one', mimeType === undefined ? {} : { mimeType })
        one() {
          return value();
        }

        @Resource('docs://{name}', mimeType === undefined ? {} : { mimeType })
        template(_input: Named) {
          return value();
        }
      }
      const client = await RawClient.connect(serverOf({ providers: [One] }), { revision });
      for (const uri of ['docs://one', 'docs://other']) {
        const { contents } = await client.result('resources/read', { uri });
        expect([String(value), contents]).toEqual([
          String(value),
          [{ uri, ...(mimeType !== undefined && { mimeType }), ...content }],
        ]);
      }
    }
  });
});
