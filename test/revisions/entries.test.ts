// What the entries of lists and the contents of resources consist of.
import { describe, expect } from '@jest/globals';
import { type JsonObject, Prompt, Resource } from '@decorum/core';
import { IsString } from 'class-validator';

import { RawClient } from '../support/raw-client.js';
import { eachRevision } from '../support/requirements.js';
import { serverOf } from './servers.js';

class Named {
  @IsString()
  name!: string;
}

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

describe('the entry of a prompt', () => {
  eachRevision('PROMPT-02', 'has all that the revision has about it and its arguments', async (revision) => {
    const city = { type: 'string', title: 'City', description: 'Where to' };
    class Described {
      @Prompt({ title: 'Pack a bag', input: { type: 'object', properties: { city, days: {} }, required: ['city'] } })
      pack() {
        return '';
      }

      @Prompt()
      none() {
        return '';
      }
    }
    const client = await RawClient.connect(serverOf({ providers: [Described] }), { revision });
    const hasTitles = revision >= '2025-06-18';
    expect((await client.result('prompts/list'))['prompts']).toEqual([
      {
        name: 'pack',
        ...(hasTitles && { title: 'Pack a bag' }),
        arguments: [
          { name: 'city', ...(hasTitles && { title: 'City' }), description: 'Where to', required: true },
          { name: 'days', required: false },
        ],
      },
      { name: 'none' },
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
    const cases: readonly (readonly [mimeType: string | undefined, value: () => unknown, content: JsonObject])[] = [
      ['text/markdown', () => bytes('ü'), { text: 'ü' }],
      ['text/plain;charset=utf-8', () => bytes('ü'), { text: 'ü' }],
      ['application/json', () => bytes('{"a":1}'), { text: '{"a":1}' }],
      ['image/svg+xml', () => '<svg/>', { text: '<svg/>' }],
      ['text/plain', () => Buffer.from([0xff]), { blob: '/w==' }],
      ['image/png', () => bytes('a'), { blob: 'YQ==' }],
      ['application/octet-stream', async () => new Uint8Array([0]), { blob: 'AA==' }],
      ['text/plain', () => '', { text: '' }],
      ['application/vnd.own', () => ({ a: 1 }), { text: '{"a":1}' }],
      [undefined, () => bytes('a'), { mimeType: 'application/octet-stream', blob: 'YQ==' }],
      [undefined, () => bytes('abc').subarray(1, 2), { mimeType: 'application/octet-stream', blob: 'Yg==' }],
      [undefined, () => 'a', { mimeType: 'text/plain', text: 'a' }],
      [undefined, () => [1], { mimeType: 'application/json', text: '[1]' }],
      [undefined, () => new Blob(['a,b'], { type: 'text/csv' }), { mimeType: 'text/csv', text: 'a,b' }],
      [undefined, () => new Blob(['a'], { type: 'image/gif' }), { mimeType: 'image/gif', blob: 'YQ==' }],
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
