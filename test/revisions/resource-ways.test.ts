// Reads of resources, in every way that a request can take.
import { describe, expect } from '@jest/globals';
import { type JsonObject, Resource, ToolError, toolResult } from '@decorum/core';

import { transportsOf } from '../support/http-transports.js';
import { RawClient } from '../support/raw-client.js';
import { eachRevision, eachRevisionOf, STATELESS } from '../support/requirements.js';
import { serverOf } from './servers.js';
import { answersAlike, type Probe, type Setting, waysOf } from './ways.js';

const ANY: JsonObject = { type: 'object', properties: { kind: {}, at: {}, path: {} } };
const WORD: JsonObject = { type: 'object', properties: { word: { type: 'string', pattern: '^[a-z]+$' } } };
const BYTES = Buffer.from([0, 127, 255, 62, 63]);

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
  eachRevisionOf(
    ['RES-07', 'RES-08', 'RES-09', 'RES-11', 'RES-12'],
    'runs a handler only for a valid URI, and says which one was not found',
    async (revision) => {
      const ran: string[] = [];
      const ways = await waysOf(revision, shelfOf([null, undefined], [], ran));
      const code = revision === STATELESS ? -32602 : -32002;
      const missing = (uri: string): Probe => [...read(uri), { code, message: expect.any(String), data: { uri } }];
      const lost = WHEN.flatMap((when) => [0, 1].map((at) => `docs://${when}/${at}`));
      const unknown = [
        'docs://nothing',
        'docs://FIXED',
        'docs://fixed/',
        'docs://fixed?a',
        'words://',
        'words://a/b',
        '',
      ];
      const odd = [
        'docs',
        '://',
        'docs://now/%zz',
        'docs://now/',
        'words://a\n',
        'constructor',
        'docs:fixed',
        'words://%00',
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

  eachRevisionOf(['RES-10'], 'is an internal error without details if its handler fails', async (revision) => {
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

  eachRevisionOf(['RES-05', 'RES-14', 'RES-27'], 'returns text or base64, with a type', async (revision) => {
    const png = { uri: 'docs://inner', mimeType: 'image/png', blob: BYTES };
    const json = (text: string) => ({ mimeType: 'application/json', text });
    const blob = { mimeType: 'application/octet-stream', blob: BYTES.toString('base64') };
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
      [[png], { ...png, blob: BYTES.toString('base64') }],
      [{ contents: [png] }, { ...png, blob: BYTES.toString('base64') }],
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

  eachRevision('RES-14', 'returns the exact bytes of a text that is not UTF-8', async (revision) => {
    const latin = Buffer.from('gr\xfc\xdfe', 'latin1');
    const cut = Buffer.from('Grü').subarray(0, -1);
    class Texts {
      @Resource('docs://note', { mimeType: 'text/markdown' })
      note() {
        return latin;
      }

      @Resource('docs://data', { mimeType: 'application/json' })
      data() {
        return cut;
      }

      @Resource('docs://blob')
      blob() {
        return new Blob([latin], { type: 'image/svg+xml' });
      }

      @Resource('docs://response')
      response() {
        return new Response(cut, { headers: { 'content-type': 'text/plain; charset=utf-8' } });
      }
    }
    const server = serverOf({ providers: [Texts] });
    for (const transport of Object.values(transportsOf(revision))) {
      const client = await RawClient.connect(server, { revision }, transport);
      for (const [uri, mimeType, bytes] of [
        ['docs://note', 'text/markdown', latin],
        ['docs://data', 'application/json', cut],
        ['docs://blob', 'image/svg+xml', latin],
        ['docs://response', 'text/plain', cut],
      ] as const) {
        const { contents } = await client.result(...read(uri));
        expect(contents).toEqual([{ uri, mimeType, blob: bytes.toString('base64') }]);
      }
    }
  });
});

describe('the URI of a resource', () => {
  eachRevision('RES-17', 'is absolute and has only characters of URIs, wherever it comes from', async (revision) => {
    const provide = (uri: string) => {
      class One {
        @Resource(uri, { name: 'one' })
        one() {
          return uri;
        }
      }
      return One;
    };
    const schemes = ['', '/', ':', '1a:', '+a:', '-a:', '.a:', 'a_b:', 'a b:', ' a:', 'é:', 'a%62:', 'a/b:'];
    const paths = [
      '',
      ' ',
      '//a b',
      '//ä',
      '//a"b',
      '//a\\b',
      '//a|b',
      '//a^b',
      '//a`b',
      '//%',
      '//%zz',
      '//a%2',
      '//a\n',
    ];
    const fixed = [...schemes.map((scheme) => `${scheme}//a`), ...paths.map((path) => `docs:${path}`)];
    for (const uri of [...fixed, ...schemes.map((scheme) => `${scheme}//{a}`), '{a}://b', '{+a}']) {
      expect(() => serverOf({ providers: [provide(uri)] })).toThrow('DECORUM_BAD_URI');
      expect(() => serverOf().addProvider(provide(uri))).toThrow('DECORUM_BAD_URI');
    }
    for (const uriPrefix of ['1', ' ', '-', 'a b', 'é', '/', '_']) {
      expect(() => serverOf({ providers: [{ provider: provide('docs://a'), uriPrefix }] })).toThrow(
        '`uriPrefix` must be',
      );
    }
    const valid = [
      'x-y.z+1:a',
      'urn:isbn:0451450523',
      'docs://[::1]/a',
      'docs://%C3%A4?a=b&c#d',
      'DOCS://A',
      "a:!$&'()*+,;=:@~-._",
    ];
    const client = await RawClient.connect(serverOf({ providers: valid.map(provide) }), { revision });
    const { resources } = (await client.result('resources/list')) as { resources: JsonObject[] };
    expect(resources.map(({ uri }) => uri)).toEqual(valid);
    for (const uri of valid) {
      expect(await client.result('resources/read', { uri })).toMatchObject({ contents: [{ uri, text: uri }] });
    }
  });

  eachRevision('RES-17', 'of a template may have any scheme that RFC 3986 allows', async (revision) => {
    const provide = (uri: string) => {
      class Any {
        @Resource(uri, { name: uri })
        any() {
          return uri;
        }
      }
      return Any;
    };
    const schemes = ['a', 'A9', 'x-y', 'x.y', 'x+y', 'x-y.z+1', 'DOCS'];
    const templates = schemes.map((scheme) => `${scheme}://{name}`);
    const client = await RawClient.connect(serverOf({ providers: templates.map(provide) }), { revision });
    const { resourceTemplates } = (await client.result('resources/templates/list')) as {
      resourceTemplates: JsonObject[];
    };
    expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual(templates);
    for (const template of templates) {
      const uri = template.replace('{name}', 'b');
      expect(await client.result('resources/read', { uri })).toMatchObject({ contents: [{ uri, text: template }] });
    }
  });
});
